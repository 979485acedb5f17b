"""Extensions: what a server declares and adds, and what it asks of the capabilities that a client declared."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from leanmcp import MCPServer
from leanmcp.server import (
    CallNext,
    CallToolRequestParams,
    Extension,
    MethodBinding,
    Outcome,
    Request,
)
from leanmcp.server.extensions import SPECIFIED, check_identifier
from tests.support.extended import (
    SEARCH,
    Ctx,
    Odd,
    Raw,
    Search,
    answer_of,
    ask,
    extended,
)
from tests.support.lines import Lines, run, text_of
from tests.support.processes import META, call, encode, request
from tests.support.spec import AVAILABLE, FOLDER, REASON


@pytest.fixture
def mcp() -> MCPServer:
    """A server with the extension."""
    return MCPServer("extended", extensions=[Search()])


# --- what is declared -------------------------------------------------------------------------------------------------


def test_discover_declares_identifiers_and_settings(mcp: MCPServer) -> None:
    """Spec: basic/versioning, "Extension Negotiation"; nothing where there are none."""

    async def conversation(lines: Lines) -> dict[str, Any]:
        answer = await lines.send(request("server/discover")).answer()
        capabilities: dict[str, Any] = answer["result"]["capabilities"]
        return capabilities

    assert run(mcp, conversation)["extensions"] == {SEARCH: {"languages": ["en", "pt"]}}
    assert "extensions" not in run(MCPServer("plain"), conversation)


def test_its_tools_are_listed_and_called(mcp: MCPServer) -> None:
    """Ours: with their own `_meta`; they need no declaration."""

    async def conversation(lines: Lines) -> None:
        [tool] = (await lines.send(request("tools/list", {}, 1)).answer(1))["result"]["tools"]
        assert (tool["name"], tool["title"]) == ("reindex", "Build the index anew")
        assert tool["_meta"] == {"com.example/internal": True}
        answer = await lines.send(call("reindex", {}, 2)).answer(2)
        assert answer["result"]["structuredContent"] == {"result": "done"}

    run(mcp, conversation)


@pytest.mark.parametrize(
    "identifier",
    ["com.example/search", "a/b", "io.modelcontextprotocol/tasks", "com.ex-ample.x1/a_b.c-d", "A1.B2/0", "x/0-0"],
)
def test_good_identifiers_are_taken(identifier: str) -> None:
    """Spec: basic/index, "`_meta`", "Key name format"."""
    check_identifier(identifier, "Test")


@pytest.mark.parametrize(
    "identifier",
    [
        "search",
        "/search",
        "com.example/",
        "com.example",
        "1com.example/search",
        "com.1example/search",
        "com.-example/search",
        "com-.example/search",
        "com..example/search",
        ".com/search",
        "com.example./search",
        "com_example/search",
        "com.example/-search",
        "com.example/search.",
        "com.example/a b",
        "com.example/a/b",
        "com.exämple/search",
        "com.example/sea\nrch",
        "com.example/search\n",
        "",
        None,
        7,
    ],
)
def test_bad_identifiers_are_refused(identifier: Any) -> None:
    """Spec: basic/versioning: identifiers MUST follow the naming rules, with a mandatory prefix."""
    with pytest.raises(TypeError, match=r"identifier is .*; give a prefix in reverse DNS order"):
        type("Wrong", (Extension,), {"identifier": identifier})
    late = Extension()
    late.identifier = identifier
    with pytest.raises(TypeError, match=r"Extension\.identifier is"):
        MCPServer("wrong", extensions=[late])


def test_a_reserved_prefix_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """Spec: basic/index, "Prefix"; `com.example.mcp/` is not reserved."""
    with caplog.at_level(logging.WARNING, "leanmcp"):
        for identifier in ("com.example.mcp/x", "mcp/x", "io.modelcontextprotocol/ui"):
            check_identifier(identifier, "Test")
        assert caplog.text == ""
        check_identifier("com.mcp.tools/x", "Test")
    assert "prefixes with 'mcp' in second place are reserved for MCP" in caplog.text


def test_an_extension_without_identifier_is_refused() -> None:
    """Ours: a subclass may set it in its constructor, but then it must."""
    with pytest.raises(TypeError, match=r"Extension\.identifier is None"):
        MCPServer("wrong", extensions=[Extension()])
    with pytest.raises(TypeError, match="give objects of subclasses"):
        MCPServer("wrong", extensions=[Search])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"'com\.example/search' is given twice"):
        MCPServer("wrong", extensions=[Search(), Search()])


@pytest.mark.parametrize(
    "settings", [None, [], "x", {"a": float("nan")}, {"a": object()}, {1: "a", "b": {object(): 1}}]
)
def test_settings_are_an_object_that_json_can_carry(settings: Any) -> None:
    """Spec: basic/versioning; "per-extension settings objects"; told at registration."""

    class Wrong(Extension):
        identifier = "com.example/wrong"

        def settings(self) -> Any:
            return settings

    with pytest.raises(TypeError, match=r"extension 'com.example/wrong': settings\(\) .* cannot be declared"):
        MCPServer("wrong", extensions=[Wrong()])


@pytest.mark.skipif(not AVAILABLE, reason=REASON)
def test_names_of_the_specification_are_all_known() -> None:
    """Ours: the table against every `method` in the schema."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            method = value.get("properties", {}).get("method", {}) if isinstance(value.get("properties"), dict) else {}
            found.update([method["const"]] if "const" in method else [])
            for part in value.values():
                walk(part)
        elif isinstance(value, list):
            for part in value:
                walk(part)

    walk(msgspec.json.decode((FOLDER / "schema.json").read_bytes()))
    assert len(found) > 20
    assert found <= SPECIFIED


@pytest.mark.parametrize("name", ["tools/call", "ping", "initialize", "resources/list", "rpc.discover", "", None])
def test_names_of_the_specification_are_not_taken(name: Any) -> None:
    """Ours: served here or not; neither as methods nor as notifications."""

    class Wrong(Extension):
        identifier = "com.example/wrong"
        as_method = True

        def methods(self) -> Sequence[MethodBinding]:
            return [MethodBinding(name, dict, Search().status)] if self.as_method else []

    with pytest.raises(ValueError, match=r"extension 'com.example/wrong' may not define"):
        MCPServer("wrong", extensions=[Wrong()])
    late = Wrong()
    late.as_method, late.notifications = False, [name]
    with pytest.raises(ValueError, match=r"extension 'com.example/wrong' may not define"):
        MCPServer("wrong", extensions=[late])


def test_other_names_that_cannot_be_are_refused() -> None:
    """Ours: two owners, a notification as a method, a result type of the specification."""

    class Named(Extension):
        name = "com.example/search"

        def methods(self) -> Sequence[MethodBinding]:
            return [MethodBinding(self.name, dict, Search().status)]

    second = Named()
    second.identifier = "com.example/second"
    with pytest.raises(ValueError, match=r"method 'com\.example/search' of 'com\.example/second' is taken"):
        MCPServer("wrong", extensions=[Search(), second])
    second.name = "notifications/com.example/search"
    with pytest.raises(ValueError, match="is the name of a notification, not a method"):
        MCPServer("wrong", extensions=[second])
    second.name, second.result_types = "com.example/other", ["complete"]
    with pytest.raises(ValueError, match="resultType 'complete' is the specification's"):
        MCPServer("wrong", extensions=[second])


def test_a_handler_takes_context_and_params() -> None:
    """Ours: told at registration; with the names that it takes."""

    class Wrong(Extension):
        identifier = "com.example/wrong"

        def methods(self) -> Sequence[MethodBinding]:
            return [MethodBinding("com.example/wrong", dict, self.handler)]

        async def handler(self, params: dict[str, Any]) -> None:
            return None

    with pytest.raises(
        TypeError, match=r"method 'com.example/wrong': its handler takes \(ctx, params\), not \(params\)"
    ):
        MCPServer("wrong", extensions=[Wrong()])


# --- result types and notifications -----------------------------------------------------------------------------------


def test_a_result_type_goes_to_clients_only_that_know_it() -> None:
    """Spec: basic/index, "ResultType": values of extensions that are advertised; else -32021."""

    async def task(ctx: Ctx, params: Any) -> Any:
        return {"resultType": "com.example/task", "taskId": "t1"}

    result = answer_of(task, "com.example/odd")["result"]
    assert (result["resultType"], result["taskId"]) == ("com.example/task", "t1")
    error = answer_of(task)["error"]
    assert (error["code"], error["data"]["requiredCapabilities"]) == (-32021, {"extensions": {"com.example/odd": {}}})


def test_a_tool_may_need_an_extension(mcp: MCPServer) -> None:
    """Spec: basic/index, "Per-request protocol fields"; and fall back where it does not."""

    @mcp.tool
    async def strict(ctx: Ctx) -> list[str]:
        ctx.require_extension(SEARCH)
        return list(ctx.client_extensions)

    @mcp.tool
    async def notes(ctx: Ctx) -> bool:
        return await ctx.notify("notifications/com.example/hit", {"rank": 1})

    @mcp.tool
    async def unknown(ctx: Ctx) -> bool:
        return await ctx.notify("notifications/com.example/other")

    [answer] = ask(mcp, call("strict"))
    assert answer["error"]["data"] == {"requiredCapabilities": {"extensions": {SEARCH: {}}}}
    [answer] = ask(mcp, extended(call("strict"), SEARCH))
    assert answer["result"]["structuredContent"] == {"result": [SEARCH]}
    [answer] = ask(mcp, call("notes"))
    assert answer["result"]["structuredContent"] == {"result": False}
    note, answer = ask(mcp, extended(call("notes"), SEARCH))
    assert note["method"] == "notifications/com.example/hit"
    assert answer["result"]["structuredContent"] == {"result": True}
    [answer] = ask(mcp, extended(call("unknown"), SEARCH))
    assert "failed unexpectedly" in text_of(answer)


def test_nothing_is_notified_after_the_answer(mcp: MCPServer) -> None:
    """Ours: the stream of a call ends with its answer, and the next request may use the connection."""
    kept: list[Ctx] = []

    @mcp.tool
    async def keep(ctx: Ctx) -> None:
        kept.append(ctx)

    async def main() -> None:
        lines = Raw(mcp)
        await lines.send(extended(call("keep"), SEARCH)).idle()
        assert not await kept[0].notify("notifications/com.example/hit")
        assert len(lines.messages) == 1

    asyncio.run(main())


class Queue(Extension):
    """Answers slow calls with a result of its own, for clients that know it."""

    identifier = "com.example/queue"
    result_types = ("com.example/queued",)

    def __init__(self, log: list[str]) -> None:
        self._log = log

    async def intercept_tool_call(self, params: CallToolRequestParams, ctx: Request, call_next: CallNext) -> Any:
        self._log.append(f"queue {params.name} {params.arguments}")
        if params.name == "slow" and (self.identifier in ctx.client_extensions or params.arguments.get("always")):
            return {"resultType": "com.example/queued", "place": 1}
        return await call_next(ctx)


# --- taking calls over ------------------------------------------------------------------------------------------------


def test_a_call_may_be_taken_over() -> None:
    """Ours: inside of middleware; clients without the extension get the plain result, or -32021."""
    log: list[str] = []

    async def outer(request: Request, call_next: CallNext) -> Outcome:
        log.append(f"outer {request.method}")
        outcome = await call_next(request)
        log.append(f"outer {outcome.result['resultType']}")
        return outcome

    mcp = MCPServer("queue", extensions=[Queue(log), Search()], middleware=[outer])

    @mcp.tool
    async def slow(always: bool = False) -> str:
        return "plain"

    [answer] = ask(mcp, extended(call("slow"), Queue.identifier))
    assert (answer["result"]["resultType"], answer["result"]["place"]) == ("com.example/queued", 1)
    assert log == ["outer tools/call", "queue slow {}", "outer com.example/queued"]
    [answer] = ask(mcp, call("slow"))
    assert answer["result"]["structuredContent"] == {"result": "plain"}
    [answer] = ask(mcp, call("slow", {"always": True}))
    assert answer["error"]["data"] == {"requiredCapabilities": {"extensions": {Queue.identifier: {}}}}
    [answer] = ask(mcp, {**call("slow"), "params": {"name": "slow", "arguments": 7, "_meta": META}})
    assert answer["error"]["code"] == -32602
    log.clear()
    ask(mcp, request("tools/list"))
    assert log[0] == "outer tools/list"


def test_only_an_extension_that_intercepts_is_asked() -> None:
    """Ours: others leave tools/call as it is."""
    mcp = MCPServer("plain", extensions=[Search()])
    assert mcp.methods["tools/call"].handle == mcp._start_call


def test_the_name_of_a_method_is_mirrored_on_http() -> None:
    """Spec: basic/transports/streamable-http, "Server Validation"; tested over HTTP in test_extensions_http."""
    mcp = MCPServer("odd", extensions=[Odd(Search().status, name_param="taskId")])
    assert mcp.methods["com.example/odd"].mirrored == "taskId"
    [answer] = ask(mcp, request("com.example/odd", {"taskId": "t1"}))
    assert answer["result"]["params"] == {"taskId": "t1"}
    [answer] = ask(mcp, request("com.example/odd"))
    assert answer["error"]["code"] == -32602


def test_an_interceptor_that_fails_is_named_and_answers_for_the_client_alone(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the log says whose it is; a number that nobody can read is the client's fault."""

    class Breaks(Extension):
        identifier = "com.example/breaks"

        async def intercept_tool_call(self, params: CallToolRequestParams, ctx: Request, call_next: CallNext) -> Any:
            raise RuntimeError("secret")

    mcp = MCPServer("x", extensions=[Breaks()])

    @mcp.tool
    async def tool(a: Any = None) -> str:
        return "x"

    assert ask(mcp, call("tool"))[-1]["error"]["code"] == -32603
    assert "Breaks.intercept_tool_call failed" in caplog.text

    async def conversation(lines: Lines) -> Any:
        lines.endpoint.receive(encode(call("tool", {"a": "@"})).replace(b'"@"', b"1e999"))
        return await lines.answer()

    assert run(mcp, conversation)["error"]["code"] == -32602
