"""A client that answers questions: rounds of one request, against a server in this process or over a real transport."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from leanmcp import MCPServer

from .lines import run
from .processes import VERSION

FORMS: dict[str, Any] = {"elicitation": {}}
PAGES: dict[str, Any] = {"elicitation": {"url": {}}}
EVERYTHING: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
Message = dict[str, Any]


def message(
    name: str,
    arguments: dict[str, Any] | None = None,
    *,
    method: str = "tools/call",
    capabilities: dict[str, Any] = EVERYTHING,
    request_id: int | str = 1,
    **more: Any,
) -> Message:
    """Return a request of one of the three methods that may ask; `more` are members of its params."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    target = {"uri": name} if method == "resources/read" else {"name": name, "arguments": arguments or {}}
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"_meta": meta, **target, **more}}


def retry(request: Message, answer: Message, responses: Any, **more: Any) -> Message:
    """Return the next round of a request: the same params, the answers, the state, and an id of its own."""
    state = answer["result"]["requestState"]
    params = {**request["params"], "inputResponses": responses, "requestState": state, **more}
    return {**request, "id": f"{request['id']}'", "params": params}


def send(mcp: MCPServer, request: Message) -> Message:
    """Return the answer to one request, in an event loop of its own: nothing is left of a round but its state."""
    return run(mcp, lambda lines: lines.send(request).answer(request["id"]))


def questions(answer: Message) -> dict[str, Any]:
    """Return the requests in an answer that asks for input."""
    assert answer["result"]["resultType"] == "input_required", answer
    found: dict[str, Any] = answer["result"].get("inputRequests", {})
    return found


def only(answer: Message) -> str:
    """Return the key of the one question of an answer."""
    [key] = questions(answer)
    return key


def accepted(**content: Any) -> dict[str, Any]:
    """Return the result of a form that was filled in."""
    return {"action": "accept", "content": content}


DECLINED: dict[str, Any] = {"action": "decline"}
CANCELLED: dict[str, Any] = {"action": "cancel"}


def play(mcp: MCPServer, request: Message, *answers: dict[str, Any]) -> list[Message]:
    """Return the answers of all rounds; each of `answers` answers every question of its round."""
    rounds = [send(mcp, request)]
    for given in answers:
        rounds.append(send(mcp, retry(request, rounds[-1], dict.fromkeys(questions(rounds[-1]), given))))
    return rounds


def text(answer: Message) -> str:
    """Return the text of a complete result."""
    assert answer["result"]["resultType"] == "complete", answer
    [block] = answer["result"]["content"]
    found: str = block["text"]
    return found


def error(answer: Message) -> tuple[int, str]:
    """Return code and text of an error."""
    return answer["error"]["code"], answer["error"]["message"]


def payload(answer: Message) -> dict[str, Any]:
    """Return what is inside a state that is signed only."""
    text = answer["result"]["requestState"].partition(".")[0]
    found: dict[str, Any] = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found
