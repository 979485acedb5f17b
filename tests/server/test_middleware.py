"""Middleware: what it sees, what it may answer, in which order, and that nobody pays for a chain that is empty."""

from __future__ import annotations

import functools
import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leanmcp import MCPError, MCPServer, ToolError
from leanmcp.server import CacheHint, CallNext, Middleware, Outcome, Request
from leanmcp.types import CallToolResult, InputRequiredResult, TextContent
from tests.support.lines import Lines, run, text_of
from tests.support.middleware import Log, answering, ask, make
from tests.support.processes import META, call, request


def noting(log: Log, name: str) -> Middleware:
    """Return a middleware that notes when it is passed, in and out."""

    async def note(request: Request, call_next: CallNext) -> Outcome:
        log.append(f"{name} in {request.method} {request.name}")
        outcome = await call_next(request)
        log.append(f"{name} out {outcome.is_error}")
        return outcome

    return note


# --- nothing around nothing -------------------------------------------------------------------------------------------


def test_an_empty_chain_wraps_nothing() -> None:
    """Ours: the very functions that a server without middleware has are called."""
    mcp = make()
    assert len(mcp.middleware) == 0  # looking at it changes nothing
    assert mcp.methods["tools/call"].handle == mcp._start_call
    assert mcp.methods["tools/list"].handle == mcp._list_tools
    assert mcp.methods["server/discover"].handle == mcp._discover
    method = mcp.methods["tools/list"]
    mcp.serve_method("com.example/later", method)
    assert mcp.methods["com.example/later"] is method


# --- what it sees -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (request("server/discover"), None),
        (request("tools/list"), None),
        (call("echo", {"text": "hi"}), "echo"),
        (call("unknown"), "unknown"),
        (request("resources/list"), None),
        (request("resources/templates/list"), None),
        (request("resources/read", {"uri": "text://a"}), "text://a"),
        (request("resources/read", {"uri": "other://a"}), "other://a"),
        (request("prompts/list"), None),
        (request("prompts/get", {"name": "greet", "arguments": {"name": "anna"}}), "greet"),
    ],
    ids=lambda value: value["method"] if isinstance(value, dict) else "",
)
def test_it_sees_every_method(message: dict[str, Any], name: str | None) -> None:
    """Ours: with the name that the request is about."""
    seen: list[tuple[str, str | None, dict[str, Any]]] = []

    async def see(request: Request, call_next: CallNext) -> Outcome:
        seen.append((request.method, request.name, request.params))
        return await call_next(request)

    with_it, without = ask(make(see), message), ask(make(), message)
    assert with_it == without
    assert seen == [(message["method"], name, message["params"])]


@pytest.mark.parametrize(
    "message",
    [
        request("no/such/method"),
        request("initialize"),
        {**request("tools/list"), "params": {}},
        request("tools/call", {"arguments": {}}),
        request("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}}),
    ],
    ids=["unknown", "legacy", "no meta", "no name", "version"],
)
def test_what_is_refused_before_dispatch_is_not_seen(message: dict[str, Any]) -> None:
    """Ours: so the names of methods that a counter meets are few."""
    log: Log = []
    answer = ask(make(noting(log, "a")), message)
    assert "error" in answer
    assert log == []


def test_the_first_is_outermost() -> None:
    """Ours: as in the official SDK."""
    log: Log = []
    ask(make(noting(log, "a"), noting(log, "b"), noting(log, "c")), call("echo", {"text": "hi"}))
    names = [line.split()[0] for line in log]
    assert names == ["a", "b", "c", "c", "b", "a"]


def test_it_may_be_added_while_the_server_runs() -> None:
    """Ours: by decorator or `append`, innermost; requests after that see it, methods added later too."""
    log: Log = []
    mcp = make()

    async def conversation(lines: Lines) -> None:
        await lines.send(call("echo", {"text": "hi"}, 1)).answer(1)
        mcp.middleware(noting(log, "a"))
        await lines.send(call("echo", {"text": "hi"}, 2)).answer(2)
        mcp.middleware.append(noting(log, "b"))
        await lines.send(request("tools/list", {}, 3)).answer(3)

        @mcp.completion
        async def complete(ref: Any, argument: Any, context: Any) -> list[str]:
            return ["x"]

        params = {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": ""}}
        await lines.send(request("completion/complete", params, 4)).answer(4)

    run(mcp, conversation)
    assert [line for line in log if " in " in line] == [
        "a in tools/call echo",
        "a in tools/list None",
        "b in tools/list None",
        "a in completion/complete None",
        "b in completion/complete None",
    ]
    assert len(list(mcp.middleware)) == 2


def test_it_may_be_any_callable_with_a_coroutine() -> None:
    """Ours: objects, methods and partials; a plain function is refused with the fix."""
    log: Log = []

    class Counting:
        async def __call__(self, request: Request, call_next: CallNext) -> Outcome:
            log.append("object")
            return await call_next(request)

        async def method(self, request: Request, call_next: CallNext) -> Outcome:
            log.append("method")
            return await call_next(request)

    async def partial(word: str, request: Request, call_next: CallNext) -> Outcome:
        log.append(word)
        return await call_next(request)

    ask(make(Counting(), Counting().method, functools.partial(partial, "partial")), request("tools/list"))
    assert log == ["object", "method", "partial"]

    def plain(request: Request, call_next: CallNext) -> Awaitable[Outcome]:
        return call_next(request)

    for wrong in (plain, None, "name"):
        with pytest.raises(TypeError, match=r"write `async def middleware\(request, call_next\)`"):
            make(wrong)  # type: ignore[arg-type]


def test_it_knows_what_a_context_knows() -> None:
    """Ours: id, client, capabilities, `_meta`, trace, and the value of `lifespan=`."""
    seen: dict[str, Any] = {}

    @asynccontextmanager
    async def lifespan(server: MCPServer) -> AsyncIterator[str]:
        yield "alive"

    async def see(request: Request, call_next: CallNext) -> Outcome:
        trace = request.trace
        assert trace is not None
        assert request.client_info is not None
        seen.update(
            id=request.request_id,
            version=request.protocol_version,
            client=request.client_info.name,
            capabilities=request.client_capabilities,
            extensions=request.client_extensions,
            headers=dict(request.headers),
            meta=request.meta["com.example/key"],
            trace=trace.trace_id,
            baggage=dict(request.baggage),
            lifespan=request.lifespan,
        )
        return await call_next(request)

    mcp = make(see, lifespan=lifespan)
    message = request("tools/list", request_id="x")
    capabilities = {"roots": {}, "extensions": {"com.example/search": {"deep": True}, "com.example/odd": 7}}
    message["params"]["_meta"] = {
        **META,
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "com.example/key": {"a": [1]},
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        "baggage": "user=anna",
    }
    mcp.lifespan_value = "alive"
    ask(mcp, message)
    assert seen == {
        "id": "x",
        "version": "2026-07-28",
        "client": "tester",
        "capabilities": capabilities,
        "extensions": {"com.example/search": {"deep": True}},
        "headers": {},
        "meta": {"a": [1]},
        "trace": "0af7651916cd43dd8448eb211c80319c",
        "baggage": {"user": "anna"},
        "lifespan": "alive",
    }


def test_it_sees_how_a_request_ended() -> None:
    """Ours: error results as outcomes, protocol errors as exceptions, both of which it may leave alone."""
    log: Log = []

    async def see(request: Request, call_next: CallNext) -> Outcome:
        try:
            outcome = await call_next(request)
        except MCPError as error:
            log.append(f"{request.name}: {error.code}")
            raise
        log.append(f"{request.name}: {outcome.is_error} {outcome.result['content'][0]['text']} {outcome.is_stream}")
        return outcome

    mcp = make(see)
    for message in (call("echo", {"text": "hi"}), call("fails"), call("breaks"), call("unknown"), call("echo", {})):
        assert ask(mcp, message) == ask(make(), message)
    assert log[:4] == ["echo: False hi False", "fails: True no luck False", "breaks: 4711", "unknown: -32602"]
    assert log[4].startswith("echo: True Invalid arguments for tool echo")


# --- what it may answer -----------------------------------------------------------------------------------------------


def test_a_dict_is_a_whole_result() -> None:
    """Ours: what every result must have is filled in; the schema of the method holds."""
    content = [{"type": "text", "text": "cached"}]
    answer = ask(make(answering({"content": content, "_meta": {"com.example/hit": True}})), call("echo", {"text": "x"}))
    result = answer["result"]
    assert (result["content"], result["resultType"]) == (content, "complete")
    assert result["_meta"]["com.example/hit"] is True
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "around"
    listed = ask(make(answering({"tools": []})), request("tools/list"))["result"]
    assert (listed["tools"], listed["ttlMs"], listed["cacheScope"]) == ([], 0, "private")


def test_a_result_may_be_changed_on_its_way_out() -> None:
    """Ours: a list that hides a tool keeps what the server said of it."""

    async def hide(request: Request, call_next: CallNext) -> Any:
        outcome = await call_next(request)
        if request.method != "tools/list":
            return outcome
        tools = [tool for tool in outcome.result["tools"] if tool["name"] != "breaks"]
        return {**outcome.result, "tools": tools}

    changed = ask(make(hide), request("tools/list"))["result"]
    plain = ask(make(), request("tools/list"))["result"]
    assert [tool["name"] for tool in changed["tools"]] == ["echo", "fails"]
    assert {**changed, "tools": []} == {**plain, "tools": []}


def admin(request: Request) -> bool:
    """Return whether the caller says so in its `_meta`."""
    return bool(request.params["_meta"].get("com.example/role") == "admin")


async def hide_from_others(request: Request, call_next: CallNext) -> Any:
    """Leave out what only an admin may see."""
    outcome = await call_next(request)
    if request.method not in ("tools/list", "resources/read") or admin(request):
        return outcome
    result = outcome.result
    assert "cacheScope" not in result
    return {**result, **{name: [] for name in ("tools", "contents") if name in result}}


def as_admin(message: dict[str, Any]) -> dict[str, Any]:
    """Return a request of an admin."""
    params = message["params"]
    return {**message, "params": {**params, "_meta": {**params["_meta"], "com.example/role": "admin"}}}


@pytest.mark.parametrize(
    ("method", "params"), [("tools/list", {}), ("resources/read", {"uri": "text://a"})], ids=["list", "read"]
)
def test_what_is_changed_for_some_callers_is_private_for_all(
    method: str, params: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Spec: server/utilities/caching, "Choosing a Cache Scope" (filtered results) and "Interaction with Pagination"."""
    hint = CacheHint(60_000, "public")
    mcp = make(hide_from_others, cache_hints={method: hint, "prompts/list": hint})
    message = request(method, params)

    def hint_of(message: dict[str, Any]) -> tuple[int, str]:
        result = ask(mcp, message)["result"]
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "around"
        return result["ttlMs"], result["cacheScope"]

    assert hint_of(message) == (60_000, "private")
    assert not caplog.records
    assert hint_of(as_admin(message)) == (60_000, "private")
    assert hint_of(as_admin(message)) == (60_000, "private")
    [record] = caplog.records
    assert record.getMessage().startswith(f"middleware changes some answers of {method}, whose cache hint says public")
    assert hint_of(request("prompts/list")) == (60_000, "public")


def test_middleware_that_changes_nothing_leaves_the_hint_alone() -> None:
    """Ours: whether an answer depends on the caller is told by its being changed."""
    mcp = make(hide_from_others, cache_hints={"tools/list": CacheHint(60_000, "public")})
    assert ask(mcp, as_admin(request("tools/list")))["result"]["cacheScope"] == "public"


def test_a_changed_list_may_be_called_public() -> None:
    """Ours: where every caller gets the same change."""

    async def shorten(request: Request, call_next: CallNext) -> Any:
        return {**(await call_next(request)).result, "tools": [], "cacheScope": "public"}

    mcp = make(shorten, cache_hints={"tools/list": CacheHint(5, "private")})
    result = ask(mcp, request("tools/list"))["result"]
    assert (result["tools"], result["ttlMs"], result["cacheScope"]) == ([], 5, "public")


def test_a_call_tool_result_is_a_whole_result() -> None:
    """Ours: with the blocks that tools may return."""
    result = CallToolResult(content=[TextContent(text="stop")], is_error=True)
    assert text_of(ask(make(answering(result)), call("echo", {"text": "x"}))) == "stop"


def test_errors_of_its_own() -> None:
    """Ours: MCPError anywhere; ToolError is an error result of a tool, and -32603 elsewhere."""
    log: Log = []
    answer = ask(make(noting(log, "a"), answering(ToolError("slow down"))), call("echo", {"text": "x"}))
    assert text_of(answer) == "slow down"
    assert log == ["a in tools/call echo", "a out True"]
    answer = ask(make(answering(ToolError(content=[TextContent(text="block")]))), call("echo", {"text": "x"}))
    assert text_of(answer) == "block"
    assert ask(make(answering(ToolError("slow down"))), request("tools/list"))["error"] == {
        "code": -32603,
        "message": "slow down",
    }
    assert ask(make(answering(MCPError(4711, "no", [1]))), request("tools/list"))["error"] == {
        "code": 4711,
        "message": "no",
        "data": [1],
    }


def test_its_error_texts_pass_the_sanitizer() -> None:
    """Ours: `sanitize=` sees the texts of errors, whoever wrote them."""
    mcp = make(answering(ToolError("secret")), sanitize=lambda value: value.replace("secret", "***"))
    assert text_of(ask(mcp, call("echo", {"text": "x"}))) == "***"


@pytest.mark.parametrize(
    ("value", "logged"),
    [
        (RuntimeError("postgres://secret"), "postgres://secret"),
        (None, "the middleware returned None; end it with `return await call_next(request)`"),
        ("text", "a result is an object, and str is none"),
        ({"resultType": "com.example/other"}, "no extension has the resultType"),
        (InputRequiredResult(request_state="x"), "is no result"),
    ],
    ids=["exception", "None", "str", "result type", "question"],
)
def test_its_mistakes_are_masked_and_logged(value: Any, logged: str, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: policy P3; the log names the function."""
    with caplog.at_level(logging.ERROR, "leanmcp"):
        error = ask(make(answering(value)), call("echo", {"text": "x"}))["error"]
    assert error["code"] == -32603
    assert "failed unexpectedly; the server's log has the details under id" in error["message"]
    assert "secret" not in error["message"]
    assert "middleware answering.<locals>.answer failed" in caplog.text
    assert logged in caplog.text


def test_it_may_try_again() -> None:
    """Ours: `call_next` runs what stands behind it each time."""
    count = 0
    mcp = MCPServer("again")

    @mcp.tool
    async def flaky() -> int:
        nonlocal count
        count += 1
        if count < 3:
            raise ToolError("not yet")
        return count

    @mcp.middleware
    async def retry(request: Request, call_next: CallNext) -> Outcome:
        outcome = await call_next(request)
        while outcome.is_error:
            outcome = await call_next(request)
        return outcome

    assert ask(mcp, call("flaky"))["result"]["structuredContent"] == {"result": 3}
