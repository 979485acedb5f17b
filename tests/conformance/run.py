"""Run scenarios of the official MCP conformance suite against the fixture, one by one.

    python tests/conformance/run.py [SCENARIO ...] [--url URL] [--allow-warning CHECK] [--output DIR]

Out: one line per scenario, the checks that did not pass, and a last line `N passed, N failed`. What counts is the
record of checks that the suite writes, never its exit code alone: a scenario that leaves no record, or one without a
passed check about the server, has failed. Exit codes: 0 all passed, 1 a scenario failed, 2 nothing could be run.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.conformance.node import CannotInstall, find_node, home, install  # noqa: E402  a script finds the project only now
from tests.support.processes import call, encode, http_server  # noqa: E402

SUITE = "@modelcontextprotocol/conformance"
SPEC_VERSION = "2026-07-28"
FIXTURE = Path(__file__).with_name("fixture.py")
SCENARIO_TIMEOUT = 30.0  # seconds
SCENARIOS = (
    "server-stateless",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "http-header-validation",
    "http-custom-header-server-validation",
    "json-schema-2020-12",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "sep-2164-resource-not-found",
    "caching",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "completion-complete",
    "input-required-result-non-tool-request",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-result-type",
    "input-required-result-unsupported-methods",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
)
# The suite counts its own outgoing messages under this check, so that it passes without any server.
SELF_MADE = "wire-schema-valid"


class Check(NamedTuple):
    """One check of a scenario, as the suite recorded it."""

    name: str
    status: str
    text: str


class Verdict(NamedTuple):
    """What one scenario came to; `reason` is empty where it passed."""

    scenario: str
    checks: list[Check]
    reason: str

    def count(self, status: str) -> int:
        """Return how many checks have that status."""
        return sum(1 for check in self.checks if check.status == status)

    def __str__(self) -> str:
        counts = f"{self.count('SUCCESS')} passed, {self.count('FAILURE')} failed, {self.count('WARNING')} warnings"
        skipped = self.count("SKIPPED")
        line = f"{'FAIL' if self.reason else 'ok':4} {self.scenario:38} {counts}"
        line += f", {skipped} skipped" if skipped else ""
        return line + (f" ({self.reason})" if self.reason else "")


class Suite:
    """The installed suite, pointed at one server or client.

    Args:
        leg: what is tested, as the suite's command line says it: `server --url URL` or `client --command COMMAND`.
        spec_version: protocol revision.
        output: takes the records.
        allowed_warnings: names of checks that may warn.
    """

    def __init__(self, leg: Sequence[str], spec_version: str, output: Path, allowed_warnings: Sequence[str]) -> None:
        self._node = find_node()
        self._program = install("suite") / SUITE / "dist" / "index.js"
        # A quarter of a scenario goes into compiling the suite: Node keeps what it compiled.
        self._environment = {**os.environ, "NODE_COMPILE_CACHE": str(home() / "compiled")}
        self._leg = leg
        self._spec_version = spec_version
        self._output = output
        self._allowed_warnings = allowed_warnings

    def run(self, scenario: str) -> Verdict:
        """Run one scenario and judge the checks it recorded."""
        folder = Path(tempfile.mkdtemp(prefix=scenario.replace("/", "-") + "-", dir=self._output))
        command = [str(self._node), str(self._program), *self._leg, "--scenario", scenario]
        command += ["--spec-version", self._spec_version, "--timeout", str(int(SCENARIO_TIMEOUT * 1000))]
        try:
            done = subprocess.run(
                [*command, "-o", str(folder)],
                capture_output=True,
                text=True,
                timeout=SCENARIO_TIMEOUT + 15,
                env=self._environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Verdict(scenario, [], "the suite did not come to an end")
        checks = read_checks(folder)
        said = " ".join((done.stderr or done.stdout).split())[:160]
        return Verdict(scenario, checks, judge(checks, done.returncode, said, self._allowed_warnings))


def judge(checks: list[Check], exit_code: int, said: str, allowed_warnings: Sequence[str] = ()) -> str:
    """Return why a scenario failed, empty where it passed.

    Args:
        checks: what the suite recorded.
        exit_code: the suite's; a warning makes it 1 too.
        said: the suite's output, for a scenario that did not run.
        allowed_warnings: names of checks that may warn.
    """
    warnings = [check for check in checks if check.status == "WARNING"]
    if not checks:
        return f"did not run: {said or f'exit code {exit_code}'}"
    if any(check.status == "FAILURE" for check in checks):
        return "checks failed"
    if any(check.name not in allowed_warnings for check in warnings):
        return "warnings"
    if not any(check.status == "SUCCESS" and check.name != SELF_MADE for check in checks):
        return "no check about the server passed"
    return f"exit code {exit_code}" if exit_code and not warnings else ""


def read_checks(folder: Path) -> list[Check]:
    """Return the checks of all records below `folder`; none where the suite wrote no record."""
    records = [json.loads(file.read_text()) for file in sorted(folder.rglob("checks.json"))]
    return [
        Check(check["id"], check["status"], str(check.get("errorMessage") or check.get("description") or ""))
        for record in records
        for check in record
    ]


def answers(url: str) -> bool:
    """Tell whether an MCP server answers at `url`: without one, a third of the suite's checks pass."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)
    body = encode(call("test_simple_text"))
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": SPEC_VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "test_simple_text",
    }
    try:
        connection.request("POST", parts.path, body, headers)
        response = connection.getresponse()
        return response.status == 200 and "result" in json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()


def report(verdict: Verdict) -> None:
    """Print the line of a scenario, and what did not pass in it."""
    print(verdict, flush=True)
    for check in verdict.checks:
        if check.status in ("FAILURE", "WARNING"):
            print(f"     {check.status} {check.name}: {check.text.partition(chr(10))[0][:200]}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the named scenarios, or all that leanmcp serves; return the exit code."""
    parser = argparse.ArgumentParser(description="Run scenarios of the official MCP conformance suite.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="default: all that leanmcp serves")
    parser.add_argument("--url", help="a server that runs already, on a loopback address (default: the fixture)")
    parser.add_argument("--spec-version", default=SPEC_VERSION, help="protocol revision (default: %(default)s)")
    parser.add_argument("--allow-warning", action="append", default=[], metavar="CHECK", help="may warn, by check name")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the suite's records there")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        output = options.output or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        output.mkdir(parents=True, exist_ok=True)
        url = options.url or stack.enter_context(http_server(FIXTURE)).url
        if not answers(url):
            print(f"no MCP server answers at {url}", file=sys.stderr)
            return 2
        try:
            suite = Suite(["server", "--url", url], options.spec_version, output, options.allow_warning)
        except CannotInstall as error:
            print(f"cannot install the suite: {error}", file=sys.stderr)
            return 2
        failed = 0
        scenarios = options.scenarios or SCENARIOS
        for scenario in scenarios:
            verdict = suite.run(scenario)
            report(verdict)
            failed += bool(verdict.reason)
    print(f"{len(scenarios) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
