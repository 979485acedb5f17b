"""What holds for every method alike: ids, `_meta` both ways, common members of results, lists, and what is declared."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import pytest

from leanmcp import Context, MCPServer
from leanmcp.server import Extension, MethodBinding
from leanmcp.types import CallToolResult, GetPromptResult, InputRequiredResult, ReadResourceResult, TextResourceContents
from tests.fixtures.everything import HINTS, LEVELS, mcp
from tests.support.every import CLIENT, FAULTS, KINDS, LISTS, METHODS, PREFIX, SERVER_INFO, Kind, tool
from tests.support.lines import Lines, run
from tests.support.listening import ALL, SUBSCRIPTION_ID, listen, same_id
from tests.support.processes import VERSION, request
from tests.support.spec import AVAILABLE, REASON, definition, validator

Message = dict[str, Any]
IDS = [0, 7, -1, 2**53 + 1, "", "7", "é\u2028"]
of_every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


def ask(server: MCPServer, message: Message) -> Message:
    """Return the answer to one request, which is all that is sent."""

    async def conversation(lines: Lines) -> Message:
        await lines.send(message).idle()
        [answer] = lines.messages
        return answer

    return run(server, conversation)


def code(answer: Message) -> int | None:
    """Return the code of an error, None of a result."""
    found: int | None = answer.get("error", {}).get("code")
    return found


def members_of(union: str) -> set[str]:
    """Return the names of the definitions in a union of the schema."""
    return {reference["$ref"].rpartition("/")[2] for reference in definition(union)["anyOf"]}


def methods_of(union: str) -> set[str]:
    """Return the methods of the messages in a union of the schema."""
    return {definition(name)["properties"]["method"]["const"] for name in members_of(union)}


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not AVAILABLE, reason=REASON)
def test_every_result_of_the_schema_is_asked_for_here() -> None:
    """Ours: the tests below leave out no result that a server sends."""
    assert {kind.definition for kind in KINDS} == members_of("ServerResult") - {"Result", "SubscriptionsListenResult"}
    assert {*METHODS, "subscriptions/listen"} == methods_of("ClientRequest")


@pytest.mark.skipif(not AVAILABLE, reason=REASON)
def test_every_notification_of_the_schema_is_sent() -> None:
    """Ours: each is held against the schema as it is read; only log messages, which are deprecated, are never sent."""

    async def conversation(lines: Lines) -> set[str]:
        lines.send(listen("stream", uris=["static://a"], **ALL))
        await lines.send(tool("talk").message("call", CLIENT | {"progressToken": 0})).answer("call")
        mcp.notify_tools_changed()
        mcp.notify_prompts_changed()
        mcp.notify_resources_changed()
        mcp.notify_resource_updated("static://a")
        lines.endpoint.send(lines.endpoint.end_streams())
        return {message["method"] for message in lines.messages if "method" in message}

    assert run(mcp, conversation) == methods_of("ServerNotification") - {"notifications/message"}


@of_every_kind
def test_every_result_says_its_type_and_its_server(kind: Kind) -> None:
    """Spec: basic/index, "ResultType", "Per-response protocol fields"; server/utilities/caching."""
    result = ask(mcp, kind.message())["result"]
    asks = kind.definition == "InputRequiredResult"
    assert result["resultType"] == ("input_required" if asks else "complete")
    assert result["_meta"][PREFIX + "serverInfo"] == SERVER_INFO
    if AVAILABLE:
        validator(kind.definition).validate(result)
    if kind.method in HINTS and not asks:
        hint = HINTS[kind.method]
        assert (result["ttlMs"], result["cacheScope"]) == (hint.ttl_ms, hint.scope)
        assert type(result["ttlMs"]) is int
    else:
        assert not result.keys() & {"ttlMs", "cacheScope"}
    assert "serverInfo" not in result


@pytest.mark.parametrize("request_id", IDS, ids=repr)
def test_every_answer_has_the_id_of_its_request(request_id: int | str) -> None:
    """Spec: basic/index, "Result Responses" and "Error Responses": the same id, with its type."""
    faults = [(request(method, params, request_id), code) for method, params, code in FAULTS]
    for message, expected in [*[(kind.message(request_id), None) for kind in KINDS], *faults]:
        answer = ask(mcp, message)
        assert (type(answer["id"]), answer["id"]) == (type(request_id), request_id), message
        assert code(answer) == expected, message


@pytest.mark.parametrize("request_id", IDS, ids=repr)
def test_every_message_of_a_stream_has_the_id_of_its_request(request_id: int | str) -> None:
    """Spec: basic/patterns/subscriptions, "Receiving Notifications"; serverInfo is in the result, beside the id."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen(request_id))
        lines.endpoint.send(lines.endpoint.end_streams())
        acknowledged, result, cancelled = lines.messages
        assert all(same_id(message, request_id) for message in lines.messages)
        assert (type(result["id"]), result["id"]) == (type(request_id), request_id)
        assert result["result"]["_meta"] == {PREFIX + "serverInfo": SERVER_INFO, SUBSCRIPTION_ID: request_id}
        assert result["result"]["resultType"] == "complete"
        assert not result["result"].keys() & {"ttlMs", "cacheScope"}
        assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
        assert (type(cancelled["params"]["requestId"]), cancelled["params"]["requestId"]) == (
            type(request_id),
            request_id,
        )

    run(mcp, conversation)


# --- `_meta` ----------------------------------------------------------------------------------------------------------


def meta(**members: Any) -> Message:
    """Return `_meta` with reserved members replaced."""
    return CLIENT | {PREFIX + name: value for name, value in members.items()}


BAD_META = [
    {},
    {PREFIX + "protocolVersion": VERSION},
    {PREFIX + "clientCapabilities": {}},
    meta(protocolVersion=None),
    meta(protocolVersion=20260728),
    meta(protocolVersion=[VERSION]),
    meta(clientCapabilities=None),
    meta(clientCapabilities=True),
    meta(clientCapabilities=[]),
    meta(clientInfo=None),
    meta(clientInfo="me"),
    meta(clientInfo={"name": "me"}),
    meta(clientInfo={"name": 1, "version": "1"}),
    meta(logLevel=None),
    meta(logLevel="verbose"),
    meta(logLevel="DEBUG"),
    meta(logLevel=5),
    CLIENT | {"progressToken": None},
    CLIENT | {"progressToken": 1.5},
    CLIENT | {"progressToken": True},
]


@pytest.mark.parametrize("bad", BAD_META, ids=repr)
def test_every_method_refuses_a_malformed_meta(bad: Message) -> None:
    """Spec: basic/index, "Per-request protocol fields": -32602, whatever is asked for."""
    kinds = [*KINDS, Kind("subscriptions/listen", {"notifications": {}}, ""), Kind("nope/x", {}, "")]
    assert {code(ask(mcp, kind.message(meta=bad))) for kind in kinds} == {-32602}


@pytest.mark.parametrize("version", ["2025-11-25", "2024-11-05", "2026-07-29", "DRAFT-2026", ""])
def test_every_method_refuses_other_versions(version: str) -> None:
    """Spec: basic/versioning, "Protocol Version Negotiation": -32022 with the supported versions, discover included."""
    kinds = [*KINDS, Kind("subscriptions/listen", {"notifications": {}}, ""), Kind("nope/x", {}, "")]
    for kind in kinds:
        error = ask(mcp, kind.message(meta=meta(protocolVersion=version)))["error"]
        assert error["code"] == -32022
        assert error["data"] == {"supported": [VERSION], "requested": version}


UNKNOWN = {"com.example/unknown": {"deep": [1, None, "é"]}, "plain": 0, PREFIX + "future": [True], "": "empty"}


def test_unknown_members_of_meta_are_ignored_and_preserved() -> None:
    """Spec: basic/index, "`_meta`": no assumptions about values; functions see all of it, as it came."""
    sent = CLIENT | UNKNOWN | {PREFIX + "clientInfo": {"name": "a", "version": "1", "icons": [], "other": 1}}
    answer = ask(mcp, tool("sender").message(meta=sent))
    assert answer["result"]["structuredContent"]["meta"] == sent
    prompt = ask(mcp, Kind("prompts/get", {"name": "sender_prompt"}, "").message(meta=sent))
    assert prompt["result"]["messages"][0]["content"]["text"] == str(UNKNOWN["com.example/unknown"])
    resource = ask(mcp, Kind("resources/read", {"uri": "sender://unknown"}, "").message(meta=sent))
    assert resource["result"]["contents"][0]["text"] == str(UNKNOWN["com.example/unknown"])
    for kind in KINDS:
        assert "result" in ask(mcp, kind.message(meta=sent))


def handing_on(meta: Any) -> MCPServer:
    """Return a server whose functions return whole results with a `_meta` of their own."""
    server = MCPServer("here", version="1")

    @server.tool
    async def done() -> CallToolResult:
        return CallToolResult(content=[], meta=meta)

    @server.tool
    async def failed() -> CallToolResult:
        return CallToolResult(content=[], is_error=True, meta=meta)

    @server.tool
    async def asked() -> InputRequiredResult:
        return InputRequiredResult(request_state="x", meta=meta)

    @server.prompt
    def prompt() -> GetPromptResult:
        return GetPromptResult(messages=[], meta=meta)

    @server.resource("data://a")
    def resource() -> ReadResourceResult:
        return ReadResourceResult(contents=[TextResourceContents(uri="data://a", text="")], meta=meta)

    return server


HANDED_ON = [
    *[tool(name) for name in ("done", "failed", "asked")],
    Kind("prompts/get", {"name": "prompt"}, "GetPromptResult"),
    Kind("resources/read", {"uri": "data://a"}, "ReadResourceResult"),
]


@pytest.mark.parametrize("kind", HANDED_ON, ids=str)
def test_the_own_meta_of_a_result_stands_beside_server_info(kind: Kind) -> None:
    """Spec: basic/index, "Per-response protocol fields"; ours: a result of another server may be handed on, and no
    object has one name twice.
    """
    info = PREFIX + "serverInfo"
    server = handing_on({info: {"name": "there", "version": "2"}, "com.example/x": [1]})

    async def conversation(lines: Lines) -> list[str]:
        await lines.send(kind.message()).idle()
        assert lines.messages[0]["result"]["_meta"] == {info: {"name": "here", "version": "1"}, "com.example/x": [1]}
        return [name for octets in lines.octets for name in re.findall(r'"([^"]+)":', octets.decode())]

    names = run(server, conversation)
    assert names.count(info) == 1
    assert names.count("_meta") == 1


@pytest.mark.parametrize("meta", [[], [1], "", "x", 5, False])
def test_a_meta_that_is_no_object_never_leaves(meta: Any) -> None:
    """Spec: basic/index, "`_meta`"; ours: a mistake of the author becomes an error, and what leaves is JSON."""
    server = handing_on(meta)
    for kind in HANDED_ON:
        answer = ask(server, kind.message())
        assert answer["result"]["isError"] if kind.params.get("name") in ("done", "failed") else code(answer) == -32603


# --- logging ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [None, *LEVELS])
def test_no_log_message_is_ever_sent(level: str | None) -> None:
    """Spec: server/utilities/logging (deprecated): none without `logLevel`; ours: there is no such feature, so that
    none is sent at any level, and nothing says otherwise.
    """
    wanted = CLIENT if level is None else meta(logLevel=level)

    async def conversation(lines: Lines) -> list[str | None]:
        await lines.send(tool("talk").message(meta=wanted | {"progressToken": "t"})).idle()
        return [message.get("method") for message in lines.messages]

    *notes, answer = run(mcp, conversation)
    assert answer is None
    assert set(notes) == {"notifications/progress"}
    for kind in KINDS:
        assert "result" in ask(mcp, kind.message(meta=wanted))
    assert "logging" not in ask(mcp, request("server/discover"))["result"]["capabilities"]
    assert code(ask(mcp, request("logging/setLevel", {"level": "debug"}))) == -32601


# --- lists ------------------------------------------------------------------------------------------------------------


def walk(method: str) -> tuple[list[list[str]], list[str]]:
    """Return the names on each page of a list, and the cursors between."""
    pages: list[list[str]] = []
    cursors: list[str] = []
    while True:
        result = ask(mcp, request(method, {"cursor": cursors[-1]} if cursors else {}))["result"]
        pages.append([entry["name"] for entry in result[LISTS[method]]])
        if "nextCursor" not in result:
            return pages, cursors
        cursors.append(result["nextCursor"])


EXPECTED = {
    "tools/list": ["text", "record", "whole", "refuse", "boom", "order", "sender", "talk", "place"],
    "prompts/list": ["greet", "ask_first", "sender_prompt"],
    "resources/list": ["a", "b", "c"],
    "resources/templates/list": ["blob", "stock", "sender_resource"],
}


@pytest.mark.parametrize("method", LISTS)
def test_every_list_comes_in_pages_and_whole(method: str) -> None:
    """Spec: server/utilities/pagination, "Pagination Flow"; twice the same, in the order of registration."""
    for _ in range(2):
        pages, cursors = walk(method)
        assert [len(page) for page in pages] == [2] * (len(pages) - 1) + [len(EXPECTED[method]) - 2 * len(cursors)]
        assert [name for page in pages for name in page] == EXPECTED[method]


@pytest.mark.parametrize("method", LISTS)
def test_every_list_refuses_cursors_that_are_not_its_own(method: str) -> None:
    """Spec: server/utilities/pagination, "Error Handling": -32602, never a page."""
    own = walk(method)[1][0]
    others = [walk(other)[1][0] for other in LISTS if other != method]
    bad: list[Any] = [*others, "", "x", "2", own + "=", own[:-1], own.swapcase(), own * 2, 2, None, [own], {}]
    assert {code(ask(mcp, request(method, {"cursor": cursor}))) for cursor in bad} == {-32602}


# --- what is declared -------------------------------------------------------------------------------------------------


async def plain(item: str) -> str:
    """Return a text."""
    return item


async def choice(item: Literal["a", "b"]) -> str:
    """Return a text of a few."""
    return item


async def nothing() -> str:
    """Return a text."""
    return "x"


class Jobs(Extension):
    """Adds a method."""

    identifier = "com.example/jobs"

    def methods(self) -> list[MethodBinding]:
        return [MethodBinding("com.example/list", dict, self.jobs)]

    async def jobs(self, ctx: Context[Any], params: dict[str, Any]) -> dict[str, Any]:
        return {"jobs": []}


COMPLETION = {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "item", "value": ""}}
SERVED: dict[str, list[tuple[str, Message]]] = {
    "tools": [("tools/list", {}), ("tools/call", {"name": "x"})],
    "prompts": [("prompts/list", {}), ("prompts/get", {"name": "x"})],
    "resources": [
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "x://x"}),
    ],
    "completions": [("completion/complete", COMPLETION)],
}


def check_declared(server: MCPServer, *expected: str) -> None:
    """Hold what discover declares against what is served."""
    declared = ask(server, request("server/discover"))["result"]["capabilities"]
    assert declared.keys() == set(expected)
    for capability, requests in SERVED.items():
        for method, params in requests:
            assert (code(ask(server, request(method, params))) != -32601) == (capability in declared), method
    told = any(settings.get("listChanged") or settings.get("subscribe") for settings in declared.values())
    answer = ask(server, request("subscriptions/listen", {"notifications": 5}))
    assert (code(answer) != -32601) == told == server.listen


Step = tuple[Callable[[MCPServer], Any], tuple[str, ...]]
STEPS: dict[str, Step] = {
    "a tool": (lambda server: server.add_tool(plain), ()),
    "a prompt": (lambda server: server.add_prompt(plain), ("prompts",)),
    "a prompt with choices": (lambda server: server.add_prompt(choice), ("prompts", "completions")),
    "a resource": (lambda server: server.add_resource(nothing, "data://a"), ("resources",)),
    "a template": (lambda server: server.add_resource(plain, "data://{item}"), ("resources",)),
    "a template with choices": (
        lambda server: server.add_resource(choice, "pick://{item}"),
        ("resources", "completions"),
    ),
    "a handler of completion": (
        lambda server: server.completion()(lambda ref, argument, context: None),
        ("completions",),
    ),
}


@pytest.mark.parametrize("listen", [True, False])
@pytest.mark.parametrize("step", STEPS)
def test_what_is_declared_is_served_before_and_after_a_registration(step: str, listen: bool) -> None:
    """Spec: server/discover, "Capabilities"; of each feature: declared and served, or neither."""
    server = MCPServer("x", listen=listen)
    check_declared(server, "tools")
    register, added = STEPS[step]
    register(server)
    check_declared(server, "tools", *added)


def test_what_is_declared_is_served_with_everything_together() -> None:
    """Spec: server/discover, "Capabilities"; and what becomes empty again stays served."""
    server = MCPServer("x")
    expected = {"tools"}
    for register, added in STEPS.values():
        register(server)
        expected |= set(added)
        check_declared(server, *expected)
    for name in ("plain", "choice"):
        server.remove_prompt(name)
    server.remove_tool("plain")
    server.remove_resource("data://a")
    check_declared(server, *expected)
    check_declared(mcp, *expected)


def test_an_extension_is_declared_where_its_methods_are_served() -> None:
    """Spec: basic/versioning, "Extension Negotiation"; a client that does not declare it learns what it lacks."""
    assert code(ask(MCPServer("x"), request("com.example/list"))) == -32601
    server = MCPServer("x", extensions=[Jobs()])
    assert ask(server, request("server/discover"))["result"]["capabilities"]["extensions"] == {"com.example/jobs": {}}
    assert code(ask(server, request("com.example/list"))) == -32021
