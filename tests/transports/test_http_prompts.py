"""Prompts and completion over HTTP: what travels in headers, and what a wrong one costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.endpoint import refused
from tests.support.events import events_of
from tests.support.processes import ROOT, HTTPProcess, http, http_server, request
from tests.support.wire import Answer, ask

REVIEWER = ROOT / "examples" / "reviewer" / "server.py"
GUIDE = request("prompts/get", {"name": "guide", "arguments": {"language": "python"}})
COMPLETE = request(
    "completion/complete",
    {"ref": {"type": "ref/prompt", "name": "review"}, "argument": {"name": "language", "value": "py"}},
)


@pytest.fixture(scope="module")
def server() -> Iterator[HTTPProcess]:
    """The example of prompts."""
    with http_server(REVIEWER) as process:
        yield process


def send(server: HTTPProcess, message: dict[str, Any], **fields: str) -> Answer:
    """Send one request and return the answer, held against the schema."""
    return ask(server.port, http(message, **fields))


def test_a_prompt_is_got_with_its_name_in_the_header(server: HTTPProcess) -> None:
    """Spec: basic/transports/streamable-http, "Standard Headers": Mcp-Name mirrors params.name of prompts/get."""
    answer = send(server, GUIDE)
    assert answer.status == 200
    assert answer.message["result"]["messages"][1]["content"]["resource"]["uri"] == "guide://python"
    encoded = send(server, GUIDE, mcp_name="=?base64?Z3VpZGU=?=")
    assert encoded.status == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"mcp_name": ""},
        {"mcp_name": "review"},
        {"mcp_name": "Guide"},
        {"mcp_name": "=?base64?cmV2aWV3?="},
        {"mcp_name": "=?base64?!?="},
        {"mcp_method": "prompts/list"},
        {"mcp_method": "tools/call"},
        {"mcp_method": ""},
    ],
)
def test_a_header_that_says_otherwise_is_refused(server: HTTPProcess, fields: dict[str, str]) -> None:
    """Spec: basic/transports/streamable-http, "Server Validation": -32020 and 400, for prompts as for tools."""
    refused(send(server, GUIDE, **fields), 400, -32020)


def test_an_unknown_prompt_is_an_error_of_the_request(server: HTTPProcess) -> None:
    """Spec: server/prompts, "Error Handling"; policy P10: after dispatch, HTTP 200."""
    refused(send(server, request("prompts/get", {"name": "guid"})), 200, -32602)
    refused(send(server, request("prompts/get", {"name": "guide"})), 200, -32602)


@pytest.mark.parametrize("method", ["prompts/list", "completion/complete"])
def test_a_request_without_name_needs_no_header_for_one(server: HTTPProcess, method: str) -> None:
    """Spec: basic/transports/streamable-http, "Standard Headers": Mcp-Name for the three methods only."""
    message = COMPLETE if method == "completion/complete" else request(method)
    answer = send(server, message)
    assert (answer.status, "result" in answer.message) == (200, True)


def test_completion_answers_over_http(server: HTTPProcess) -> None:
    """Spec: server/utilities/completion, "Requesting Completions"."""
    assert send(server, COMPLETE).message["result"]["completion"] == {
        "values": ["python"],
        "total": 1,
        "hasMore": False,
    }


def test_a_prompt_answers_as_an_event_to_a_client_of_streams(server: HTTPProcess) -> None:
    """Ours: policy P6."""
    answer = send(server, GUIDE, accept="text/event-stream")
    assert answer.headers["content-type"] == "text/event-stream"
    [event] = events_of(answer.body)
    assert event["result"] == send(server, GUIDE).message["result"]
