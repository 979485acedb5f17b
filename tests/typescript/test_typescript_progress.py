"""The TypeScript SDK's client sees progress and cancels calls, over stdio and over HTTP.

This client (2.4.0) loses notes that arrive in one piece with the answer: it handles notes a turn later than answers.
How many these are is a matter of how busy the machine is, so that the tests ask for those of some time before.
Skipped where Node or the package cannot be had; both are installed once, see `tests/conformance/node.py`.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.conformance.node import CannotInstall, find_node, install
from tests.support.processes import DEADLINE, ROOT, environment, http_server, stdio_command
from tests.typescript.test_typescript_client import CLIENT_NODE_MAJOR

LONGJOB = ROOT / "examples" / "longjob" / "server.py"
SCRIPT = Path(__file__).with_name("progress.mjs")


@pytest.fixture(scope="module", params=["stdio", "http"])
def report(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the client got, over each transport."""
    try:
        command = [str(find_node(CLIENT_NODE_MAJOR)), str(SCRIPT), str(install("typescript"))]
    except CannotInstall as error:
        pytest.skip(f"no TypeScript client: {error}")
    if request.param == "stdio":
        return _run([*command, "stdio", *stdio_command(LONGJOB)])
    with http_server(LONGJOB) as server:
        return _run([*command, "http", server.url])


def _run(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, timeout=DEADLINE, env=environment(), cwd=ROOT)
    assert done.returncode == 0, done.stderr.decode()
    report: dict[str, Any] = msgspec.json.decode(done.stdout)
    return report


def test_progress_reaches_the_callback(report: dict[str, Any]) -> None:
    """Spec: basic/patterns/progress."""
    expected = [{"progress": page, "total": 4, "message": f"page {page} of 4"} for page in (1, 2, 3, 4)]
    assert report["notes"] == expected[: len(report["notes"])]
    assert report["notes"]
    assert report["result"]["content"][0]["text"] == "A report of 4 pages."


def test_jobs_at_once_report_to_their_own_callback(report: dict[str, Any]) -> None:
    """Spec: tokens are unique across active requests; the client's first one is 0."""
    for pages, found in enumerate(report["together"], 10):
        assert found["text"] == f"A report of {pages} pages."
        values = found["values"]
        assert values == sorted(set(values) & set(range(1, pages + 1)))
        assert len(values) >= 5


def test_an_aborted_job_ends_and_the_client_goes_on(report: dict[str, Any]) -> None:
    """Spec: basic/patterns/cancellation."""
    assert len(report["draftsWhileRunning"]) == 1
    assert "enough" in report["aborted"]["failed"]
    assert report["abortedCleanedUp"]
    assert report["last"]["content"][0]["text"] == "A report of 2 pages."


def test_a_job_that_takes_too_long_for_the_client_is_cancelled(report: dict[str, Any]) -> None:
    """Spec: "Timeouts"."""
    assert "timed out" in report["timedOut"]["failed"].lower()
    assert report["timedOutCleanedUp"]
