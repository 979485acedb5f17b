"""The TypeScript SDK's client fills in the parameters of the order example, over stdio and over HTTP.

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
from tests.support.rounds import CANCELLED, DECLINED, accepted
from tests.typescript.test_typescript_client import CLIENT_NODE_MAJOR

ORDER = ROOT / "examples" / "order" / "server.py"
SCRIPT = Path(__file__).with_name("rounds.mjs")
DELIVERY = accepted(speed="fast", email="ann@example.com", extras=["wrap"])
ANSWERS = [
    {"many": accepted(count=3), "shall": DELIVERY},
    {"many": accepted(count=3), "shall": DECLINED},
    {"many": CANCELLED, "shall": DELIVERY},
]


@pytest.fixture(scope="module", params=["stdio", "http"])
def report(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the client showed and got, over each transport."""
    try:
        command = [str(find_node(CLIENT_NODE_MAJOR)), str(SCRIPT), str(install("typescript"))]
    except CannotInstall as error:
        pytest.skip(f"no TypeScript client: {error}")
    if request.param == "stdio":
        return _run([*command, "stdio", *stdio_command(ORDER)])
    with http_server(ORDER) as server:
        return _run([*command, "http", server.url])


def _run(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        command, input=msgspec.json.encode(ANSWERS), capture_output=True, timeout=DEADLINE, env=environment(), cwd=ROOT
    )
    assert done.returncode == 0, done.stderr.decode()
    report: dict[str, Any] = msgspec.json.decode(done.stdout)
    return report


def test_both_forms_are_shown(report: dict[str, Any]) -> None:
    """Spec: client/elicitation, "Form Mode Elicitation Requests"."""
    assert len(report["shown"]) == 6
    forms = {form["message"]: form["requestedSchema"] for form in report["shown"]}
    assert forms.keys() == {"How many packs of tea?", "How shall we deliver?"}
    assert forms["How many packs of tea?"]["properties"]["count"]["default"] == 1
    speed = forms["How shall we deliver?"]["properties"]["speed"]
    assert [option["title"] for option in speed["oneOf"]] == ["3 to 5 days", "Tomorrow, 9 extra"]


def test_accept_decline_and_cancel_come_to_their_ends(report: dict[str, Any]) -> None:
    """Spec: client/elicitation, "Response Actions"."""
    whole, picked_up, none = [answer["result"] for answer in report["results"]]
    assert whole["content"][0]["text"] == "3 x tea for 12, fast to ann@example.com."
    assert picked_up["content"][0]["text"] == "3 x tea for 12, to be picked up."
    assert none["isError"]
    assert "closed without an answer" in none["content"][0]["text"]


def test_a_client_without_forms_is_told_what_it_lacks(report: dict[str, Any]) -> None:
    """Spec: basic/patterns/mrtr, "Server Requirements (Basic Workflow)" 7."""
    assert report["refused"]["code"] == -32021
    assert "elicitation" in report["refused"]["message"]
