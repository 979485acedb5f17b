"""Run the client scenarios of the official MCP conformance suite, which starts `client.py` against its own servers.

    python tests/conformance/run_client.py [SCENARIO ...] [--spec-version VERSION] [--output DIR]

Out: as `run.py`. A program that exits with an error fails its scenario too, although the suite does not mind.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.conformance.node import CannotInstall  # noqa: E402  a script finds the project only now
from tests.conformance.run import Suite, report  # noqa: E402

PROGRAM = Path(__file__).with_name("client.py")
AUTHORIZATION = (
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
)
SCENARIOS = {
    "2026-07-28": (
        "tools_call",
        "request-metadata",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
        "sep-2322-client-request-state",
        *AUTHORIZATION,
        "auth/resource-mismatch",
        "auth/offline-access-scope",
        "auth/offline-access-not-supported",
        "auth/authorization-server-migration",
        "auth/iss-supported",
        "auth/iss-not-advertised",
        "auth/iss-supported-missing",
        "auth/iss-wrong-issuer",
        "auth/iss-unexpected",
        "auth/iss-normalized",
        "auth/metadata-issuer-mismatch",
    ),
    "2025-11-25": (
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "json-schema-2020-12-preservation",
        *AUTHORIZATION,
    ),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the named scenarios, or all that there are for a revision; return the exit code."""
    parser = argparse.ArgumentParser(description="Run client scenarios of the official MCP conformance suite.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="default: all of the revision")
    parser.add_argument("--spec-version", choices=SCENARIOS, help="protocol revision (default: each)")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the suite's records there")
    options = parser.parse_args(arguments)
    leg = ["client", "--command", f"{sys.executable} {PROGRAM}"]
    ran = failed = 0
    with ExitStack() as stack:
        output = options.output or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        output.mkdir(parents=True, exist_ok=True)
        for version in [options.spec_version] if options.spec_version else SCENARIOS:
            try:
                suite = Suite(leg, version, output, ())
            except CannotInstall as error:
                print(f"cannot install the suite: {error}", file=sys.stderr)
                return 2
            for scenario in options.scenarios or SCENARIOS[version]:
                verdict = suite.run(scenario)
                report(verdict)
                ran += 1
                failed += bool(verdict.reason)
    print(f"{ran - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
