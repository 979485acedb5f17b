"""What a read runs: context, threads, failures, reads from tools, changes, cache hints."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest

from leanmcp import Context, Depends, MCPError, MCPServer, ResourceError, ResourceNotFoundError, ToolError
from leanmcp.server import CacheHint, ResourceSecurity
from leanmcp.types import ReadResourceResult, TextResourceContents
from tests.support.lines import Lines, asking, run
from tests.support.processes import call
from tests.support.resource_reads import NOT_FOUND, Colour, ask, capabilities, failure, read, text

INTERNAL = -32603


# --- context, threads, failures ---------------------------------------------------------------------------------------


def test_static_and_template_functions_get_a_context() -> None:
    """Ours: FEATURES U10; by annotation, whatever its name."""
    mcp = MCPServer("x")

    @mcp.resource("data://x")
    def static(ctx: Context[Any]) -> str:
        return f"{ctx.request_id} {ctx.protocol_version}"

    @mcp.resource("data://y/{a}")
    async def template(a: int, c: Context[Any]) -> str:
        return f"{a} {c.request_id}"

    assert text(mcp, "data://x") == "1 2026-07-28"
    assert text(mcp, "data://y/5") == "5 1"


def test_def_functions_run_in_a_thread_unless_told_otherwise() -> None:
    """Ours: as for tools."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda: threading.current_thread().name, "data://thread", name="a")
    mcp.add_resource(lambda: threading.current_thread().name, "data://loop", name="b", thread=False)
    assert text(mcp, "data://thread") != threading.main_thread().name
    assert text(mcp, "data://loop") == threading.main_thread().name


class _Secret(Exception):
    pass


@pytest.mark.parametrize(
    ("raised", "code", "part"),
    [
        (ResourceNotFoundError("no user 5"), NOT_FOUND, "Resource not found: 'data://x': no user 5"),
        (ResourceNotFoundError(), NOT_FOUND, "Resource not found: 'data://x'"),
        (ResourceError("the disk is full"), INTERNAL, "the disk is full"),
        (ToolError("the disk is full"), INTERNAL, "the disk is full"),
        (ResourceError(), INTERNAL, "Resource 'data://x' failed"),
        (_Secret("password"), INTERNAL, "Resource 'data://x' failed unexpectedly; the server's log has the details"),
        (FileNotFoundError("/etc/secret"), INTERNAL, "failed unexpectedly"),
        (asyncio.CancelledError("password"), INTERNAL, "failed unexpectedly"),
        (KeyboardInterrupt("password"), INTERNAL, "failed unexpectedly"),
    ],
)
def test_failures(raised: BaseException, code: int, part: str, caplog: pytest.LogCaptureFixture) -> None:
    """Spec: server/resources, "Error Handling"; policy P3: nothing that nobody meant to send gets out."""
    mcp = MCPServer("x")

    @mcp.resource("data://x")
    async def fail() -> str:
        raise raised

    with caplog.at_level(logging.INFO):
        error = failure(mcp, "data://x")
    assert error["code"] == code
    assert part in error["message"]
    assert "password" not in error["message"]
    assert "secret" not in error["message"]
    assert ("resource data://x failed [" in caplog.text) == ("unexpectedly" in part)


def test_an_mcp_error_passes_as_it_is() -> None:
    """Ours: an application's own code and data."""
    mcp = MCPServer("x")

    @mcp.resource("data://x")
    async def fail() -> str:
        raise MCPError(7, "later", {"after": 5})

    assert ask(mcp, "resources/read", uri="data://x")["error"] == {"code": 7, "message": "later", "data": {"after": 5}}


def test_a_read_that_takes_too_long_is_ended() -> None:
    """Ours: `timeout=`."""
    mcp = MCPServer("x")

    @mcp.resource("data://x", timeout=0.01)
    async def slow() -> str:
        await asyncio.Event().wait()
        return ""

    error = failure(mcp, "data://x")
    assert (error["code"], error["message"]) == (INTERNAL, "Resource 'data://x' did not finish within 0.01 seconds")


# --- reading from a tool ----------------------------------------------------------------------------------------------


def test_a_tool_reads_resources_of_its_server() -> None:
    """Ours: `Context.read_resource`; what fails there is an error that the tool may catch, or the model reads."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda: "hello", "data://x", name="x")
    mcp.add_resource(lambda: b"\x00\x01", "data://y", name="y")

    @mcp.resource("data://broken")
    def broken() -> str:
        raise _Secret("password")

    @mcp.tool
    async def look(ctx: Context[Any], uri: str) -> str:
        [contents] = await ctx.read_resource(uri)
        return contents.text if isinstance(contents, TextResourceContents) else contents.blob

    def called(uri: str) -> tuple[bool, str]:
        result = ask(mcp, "tools/call", name="look", arguments={"uri": uri})["result"]
        return result["isError"], result["content"][0]["text"]

    assert called("data://x") == (False, "hello")
    assert called("data://y") == (False, "AAE=")
    assert called("data://z")[0]
    assert "Resource not found: 'data://z'" in called("data://z")[1]
    assert called("data://broken")[0]
    assert "password" not in called("data://broken")[1]


def test_a_resource_inside_of_a_call_sees_its_request_but_reports_nothing() -> None:
    """Spec: basic/patterns/progress: values rise; two reporters of one token would break that."""
    mcp = MCPServer("x")

    @mcp.resource("data://x")
    async def inner(ctx: Context[Any]) -> str:
        await ctx.report_progress(1)
        return str(ctx.request_id)

    @mcp.tool
    async def outer(ctx: Context[Any]) -> str:
        await ctx.report_progress(5)
        [contents] = await ctx.read_resource("data://x")
        assert isinstance(contents, TextResourceContents)
        return contents.text

    async def conversation(lines: Lines) -> tuple[str, list[Any]]:
        answer = await lines.send(asking(call("outer", request_id="me"))).answer("me")
        return answer["result"]["content"][0]["text"], lines.progress

    assert run(mcp, conversation) == ("me", [5])


def test_sanitize_sees_what_resources_give() -> None:
    """Ours: as of tools and prompts; an error's text, too, but not what is inside of a file."""
    mcp = MCPServer("x", sanitize=lambda value: value.replace("secret", "***") if isinstance(value, str) else value)
    mcp.add_resource(lambda: "a secret", "data://x", name="x")

    @mcp.resource("data://y")
    def fail() -> str:
        raise ResourceError("the secret is out")

    assert text(mcp, "data://x") == "a ***"
    assert failure(mcp, "data://y")["message"] == "the *** is out"


def test_a_tool_of_a_server_without_resources_finds_none() -> None:
    """Ours: asking for one declares nothing."""
    mcp = MCPServer("x")

    @mcp.tool
    async def look(ctx: Context[Any]) -> str:
        try:
            await ctx.read_resource("data://x")
        except ResourceNotFoundError:
            return "none"
        return "some"

    assert ask(mcp, "tools/call", name="look")["result"]["content"][0]["text"] == "none"
    assert "resources" not in capabilities(mcp)


# --- changes ----------------------------------------------------------------------------------------------------------


def test_changes_notify_and_take_effect() -> None:
    """Spec: server/resources, "List Changed Notification"; from any thread, hidden ones are as good as unknown."""
    mcp = MCPServer("x")
    told: list[str] = []
    mcp.notify_resources_changed = lambda: told.append(threading.current_thread().name)  # type: ignore[method-assign]
    mcp.add_resource(lambda: "x", "data://x", name="x")
    mcp.add_resource(lambda a: a, "data://t/{a}", name="t")

    def change() -> None:
        mcp.disable_resource("data://x")
        mcp.disable_resource("data://t/{a}")
        mcp.add_resource(lambda: "y", "data://y", name="y")

    thread = threading.Thread(target=change, name="other")
    thread.start()
    thread.join(5)
    assert told == ["MainThread", "MainThread", "other", "other", "other"]
    assert failure(mcp, "data://x")["code"] == NOT_FOUND
    assert failure(mcp, "data://t/1")["code"] == NOT_FOUND
    assert [entry["name"] for entry in ask(mcp, "resources/list")["result"]["resources"]] == ["y"]
    mcp.enable_resource("data://x")
    mcp.remove_resource("data://y")
    mcp.remove_resource("data://t/{a}")
    assert [entry["name"] for entry in ask(mcp, "resources/list")["result"]["resources"]] == ["x"]
    assert len(told) == 8
    for change_one in (mcp.remove_resource, mcp.disable_resource, mcp.enable_resource):
        with pytest.raises(ValueError, match="there is no resource 'data://gone'"):
            change_one("data://gone")


def test_threads_that_come_first_together_share_one_table() -> None:
    """Ours: no resource is lost to a race of first registrations."""
    mcp = MCPServer("x")
    barrier = threading.Barrier(8)

    def add(number: int) -> None:
        barrier.wait(5)
        mcp.add_resource(lambda: str(number), f"data://{number}", name=str(number))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert {entry["name"] for entry in ask(mcp, "resources/list")["result"]["resources"]} == set("01234567")


# --- cache hints ------------------------------------------------------------------------------------------------------


def test_every_read_carries_its_cache_hint() -> None:
    """Spec: server/utilities/caching; of the answer, else the resource, else the server, else stale and private."""
    mcp = MCPServer("x", cache_hints={"resources/read": CacheHint(1000, "public")})
    mcp.add_resource(lambda: "", "data://server", name="a")
    mcp.add_resource(lambda: "", "data://own", name="b", cache=CacheHint(5))
    one = TextResourceContents(uri="data://once", text="")
    mcp.add_resource(lambda: ReadResourceResult(contents=[one], ttl_ms=7), "data://once", name="c")
    hints = {
        uri: (read(mcp, uri)["ttlMs"], read(mcp, uri)["cacheScope"])
        for uri in ("data://server", "data://own", "data://once")
    }
    assert hints == {"data://server": (1000, "public"), "data://own": (5, "private"), "data://once": (7, "public")}
    plain = MCPServer("x")
    plain.add_resource(lambda: "", "data://x", name="x")
    assert (read(plain, "data://x")["ttlMs"], read(plain, "data://x")["cacheScope"]) == (0, "private")


def test_what_depends_on_answers_is_kept_by_nobody() -> None:
    """Spec: server/utilities/caching, "Cache Key"; a retry's result is no answer to the same URI."""
    mcp = MCPServer("x", cache_hints={"resources/read": CacheHint(1000, "public")})
    mcp.add_resource(lambda: "", "data://x", name="x")
    result = ask(mcp, "resources/read", uri="data://x", inputResponses={})["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


def test_a_malformed_hint_of_an_answer_is_masked() -> None:
    """Ours: a negative ttl must not reach the wire."""
    mcp = MCPServer("x")
    one = TextResourceContents(uri="data://x", text="")
    mcp.add_resource(lambda: ReadResourceResult(contents=[one], ttl_ms=-1), "data://x", name="x")
    assert failure(mcp, "data://x")["code"] == INTERNAL


def test_security_options_are_checked() -> None:
    """Ours: a text instead of a set would exempt its letters."""
    with pytest.raises(TypeError, match="give a set of names"):
        ResourceSecurity(exempt_params="path")


# --- with the other features ------------------------------------------------------------------------------------------


def test_types_that_name_their_values_are_completed() -> None:
    """Spec: server/utilities/completion; `ref/resource` is the template as it is listed."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda a: a, "data://{a}", name="plain")
    assert "completions" not in capabilities(mcp)

    @mcp.resource("paint://{colour}/{layer*}")
    def paint(colour: Colour, layer: list[str]) -> str:
        return f"{colour} {layer}"

    def completed(uri: str, name: str, value: str) -> Any:
        reference = {"type": "ref/resource", "uri": uri}
        answer = ask(mcp, "completion/complete", ref=reference, argument={"name": name, "value": value})
        return answer["result"]["completion"]["values"] if "result" in answer else answer["error"]["code"]

    assert "completions" in capabilities(mcp)
    assert completed("paint://{colour}/{layer*}", "colour", "r") == ["red"]
    assert completed("paint://{colour}/{layer*}", "layer", "") == []
    assert completed("data://{a}", "a", "x") == []
    assert completed("data://{b}", "b", "x") == NOT_FOUND
    mcp.disable_resource("paint://{colour}/{layer*}")
    assert completed("paint://{colour}/{layer*}", "colour", "r") == NOT_FOUND


def test_dependencies_are_provided() -> None:
    """Ours: `Depends`, cleaned up behind the read; it is no variable."""
    mcp = MCPServer("x")
    events: list[str] = []

    async def session() -> AsyncIterator[str]:
        events.append("open")
        yield "session"
        events.append("closed")

    @mcp.resource("data://{a}")
    async def fetch(a: str, s: Annotated[str, Depends(session)]) -> str:
        events.append("read")
        return f"{a} {s}"

    assert text(mcp, "data://x") == "x session"
    assert events == ["open", "read", "closed"]
