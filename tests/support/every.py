"""One request for each method and each kind of result, to the server of `tests/fixtures/everything.py`."""

from __future__ import annotations

from typing import Any, NamedTuple

from .processes import META, request

PREFIX = "io.modelcontextprotocol/"
CLIENT = META | {PREFIX + "clientCapabilities": {"elicitation": {}}}
SERVER_INFO = {"name": "everything", "version": "2.0"}
REFERENCE = {"type": "ref/prompt", "name": "greet"}
LISTS: dict[str, str] = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


class Kind(NamedTuple):
    """A request, and the definition of the schema that its result has to fit."""

    method: str
    params: dict[str, Any]
    definition: str

    def message(self, request_id: int | str = 1, meta: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the request, of a client that takes forms unless `meta` is given."""
        return request(self.method, {**self.params, "_meta": CLIENT if meta is None else meta}, request_id)

    def __str__(self) -> str:
        return " ".join([self.method, *[value for value in self.params.values() if isinstance(value, str)]])


def tool(name: str, /, definition: str = "CallToolResult", **arguments: Any) -> Kind:
    """Return a call of a tool."""
    return Kind("tools/call", {"name": name, "arguments": arguments}, definition)


KINDS = [
    Kind("server/discover", {}, "DiscoverResult"),
    Kind("tools/list", {}, "ListToolsResult"),
    tool("text", word="é"),
    tool("text", word=5),
    tool("record", word="é"),
    tool("whole"),
    tool("refuse"),
    tool("boom"),
    tool("order", "InputRequiredResult", item="tea"),
    Kind("prompts/list", {}, "ListPromptsResult"),
    Kind("prompts/get", {"name": "greet", "arguments": {"name": "anna"}}, "GetPromptResult"),
    Kind("prompts/get", {"name": "ask_first", "arguments": {"item": "tea"}}, "InputRequiredResult"),
    Kind("resources/list", {}, "ListResourcesResult"),
    Kind("resources/templates/list", {}, "ListResourceTemplatesResult"),
    Kind("resources/read", {"uri": "static://a"}, "ReadResourceResult"),
    Kind("resources/read", {"uri": "blob://7"}, "ReadResourceResult"),
    Kind("resources/read", {"uri": "stock://tea"}, "InputRequiredResult"),
    Kind("completion/complete", {"ref": REFERENCE, "argument": {"name": "name", "value": "x"}}, "CompleteResult"),
    Kind("completion/complete", {"ref": REFERENCE, "argument": {"name": "style", "value": ""}}, "CompleteResult"),
]
METHODS = [*dict.fromkeys(kind.method for kind in KINDS)]
FAULTS: list[tuple[str, dict[str, Any], int]] = [
    ("nope/x", {}, -32601),
    ("tools/list", {"cursor": "x"}, -32602),
    ("tools/call", {"name": "nope"}, -32602),
    ("tools/call", {"name": "text", "arguments": []}, -32602),
    ("tools/call", {"name": "text", "arguments": {"word": ""}, "requestState": "x"}, -32602),
    ("prompts/list", {"cursor": "x"}, -32602),
    ("prompts/get", {"name": "nope"}, -32602),
    ("prompts/get", {"name": "greet"}, -32602),
    ("resources/list", {"cursor": "x"}, -32602),
    ("resources/templates/list", {"cursor": "x"}, -32602),
    ("resources/read", {"uri": "nope://a"}, -32602),
    ("completion/complete", {"ref": REFERENCE, "argument": {"name": "nope", "value": ""}}, -32602),
    ("subscriptions/listen", {}, -32602),
]
