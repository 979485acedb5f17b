"""Progress of a call: to whom it goes, in which order, how often, and when it ends."""

from __future__ import annotations

import asyncio
import math
import threading
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest

from leanmcp import Context, MCPServer, ToolError
from leanmcp.server.progress import Progress
from tests.support.lines import Lines, asking, call_once, cancelled, run, text_of
from tests.support.processes import DEADLINE, call
from tests.support.spec import read

Ctx = Context[None]


@pytest.fixture
def mcp() -> MCPServer:
    """A server with tools that report what they are told."""
    mcp = MCPServer("progress")

    @mcp.tool
    async def report(values: list[float], ctx: Ctx) -> str:
        for value in values:
            await ctx.report_progress(value)
        return "done"

    @mcp.tool
    def report_in_thread(values: list[float], ctx: Ctx) -> str:
        for value in values:
            ctx.progress(value)
        return "done"

    @mcp.tool(thread=False)
    def report_inline(values: list[float], ctx: Ctx) -> str:
        for value in values:
            ctx.progress(value)
        return "done"

    return mcp


TOOLS = ["report", "report_in_thread", "report_inline"]


# --- tokens -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [0, 1, -7, 2**53 + 1, 2**70, "", "abc", "é\u2028日本", "0"])
@pytest.mark.parametrize("tool", TOOLS)
def test_progress_carries_the_token_as_it_came(mcp: MCPServer, tool: str, token: Any) -> None:
    """Spec: basic/patterns/progress; 0 and the empty string are tokens, and a number of any size is exact."""
    lines = call_once(mcp, tool, {"values": [1, 2, 3]}, token)
    *notes, answer = lines.messages
    assert [note["params"] for note in notes] == [{"progressToken": token, "progress": value} for value in (1, 2, 3)]
    assert all(type(note["params"]["progressToken"]) is type(token) for note in notes)
    assert answer["result"]["structuredContent"] == {"result": "done"}


@pytest.mark.parametrize("tool", TOOLS)
def test_without_a_token_nothing_is_sent(mcp: MCPServer, tool: str) -> None:
    """Spec: notifications MUST only reference tokens that were provided."""
    lines = call_once(mcp, tool, {"values": [1, 2, 3]})
    assert [message["id"] for message in lines.messages] == [1]


@pytest.mark.parametrize("token", [None, 1.5, True, [], {}])
def test_a_token_of_another_type_is_refused(mcp: MCPServer, token: Any) -> None:
    """Spec: progress tokens MUST be a string or integer value."""

    async def conversation(lines: Lines) -> dict[str, Any]:
        return await lines.send(asking(call("report", {"values": [1]}), token)).answer()

    assert run(mcp, conversation)["error"]["code"] == -32602


def test_calls_in_flight_keep_their_tokens_apart(mcp: MCPServer) -> None:
    """Spec: tokens are unique across all active requests, and so is what is sent under them."""

    async def conversation(lines: Lines) -> Lines:
        for number in range(30):
            values = [number + 1, number + 2]
            lines.send(asking(call(TOOLS[number % 3], {"values": values}, number), f"token {number}"))
        return await lines.idle()

    sent: dict[str, list[float]] = {}
    for message in run(mcp, conversation).messages:
        if "method" in message:
            sent.setdefault(message["params"]["progressToken"], []).append(message["params"]["progress"])
    assert sent == {f"token {number}": [number + 1, number + 2] for number in range(30)}


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", TOOLS)
def test_progress_rises_strictly(mcp: MCPServer, tool: str) -> None:
    """Spec: the value MUST increase with each notification; what does not is dropped, and the call goes on."""
    values = [-2, -2, 0, 0.5, 0.25, 0.5, 3, 2, 10**9, 5]
    lines = call_once(mcp, tool, {"values": values}, 1)
    assert lines.progress == [-2, 0, 0.5, 3, 10**9]
    assert "result" in lines.messages[-1]


@pytest.mark.parametrize("total", [False, True])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("token", [None, "t"])
@pytest.mark.parametrize("in_thread", [False, True])
def test_a_number_that_is_not_finite_is_refused(in_thread: bool, token: Any, value: float, total: bool) -> None:
    """Ours: JSON has no such number; the tool learns it where it reports, whoever calls and from whichever thread."""
    mcp = MCPServer("progress")
    caught: list[str] = []
    numbers = (1, value) if total else (value, 1)

    if in_thread:

        @mcp.tool
        def report(ctx: Ctx) -> str:
            with pytest.raises(ValueError, match="no finite number") as error:
                ctx.progress(*numbers)
            caught.append(str(error.value))
            return "ok"
    else:

        @mcp.tool(name="report")
        async def report_on_loop(ctx: Ctx) -> str:
            with pytest.raises(ValueError, match="no finite number") as error:
                await ctx.report_progress(*numbers)
            caught.append(str(error.value))
            return "ok"

    lines = call_once(mcp, "report", token=token)
    assert len(caught) == 1
    assert [message["result"]["content"][0]["text"] for message in lines.messages] == ["ok"]


class Float(float):
    """As numpy's float64 is one."""


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (10**30, 10**30),
        (10**400, 10**400),
        (True, 1),
        (Decimal("0.5"), 0.5),
        (Float(2.5), 2.5),
        (1e308, 1e308),
    ],
)
def test_any_kind_of_number_travels_as_one(value: Any, sent: float) -> None:
    """Ours: an integer of any size, and the numbers of other libraries."""
    mcp = MCPServer("progress")

    @mcp.tool
    async def report(ctx: Ctx) -> str:
        await ctx.report_progress(value, value)
        return "ok"

    [note, answer] = call_once(mcp, "report", token=1).messages
    assert note["params"] == {"progressToken": 1, "progress": sent, "total": sent}
    assert not isinstance(note["params"]["progress"], bool)
    assert answer["result"]["content"][0]["text"] == "ok"


class Step(StrEnum):
    LOAD = "load"


@pytest.mark.parametrize(
    ("message", "sent"),
    [("", ""), ("two\nlines\r\n\u2028", "two\nlines\r\n\u2028"), (Step.LOAD, "load"), ("name \udcff", "name \\udcff")],
)
def test_a_message_never_fails_the_call(message: str, sent: str) -> None:
    """Ours: line ends stay inside the message, and half a character pair of a file's name is shown."""
    mcp = MCPServer("progress")

    @mcp.tool
    async def report(ctx: Ctx) -> str:
        await ctx.report_progress(1, message=message)
        return "ok"

    [note, answer] = call_once(mcp, "report", token=1).messages
    assert note["params"] == {"progressToken": 1, "progress": 1, "message": sent}
    assert answer["result"]["content"][0]["text"] == "ok"


# --- rate -------------------------------------------------------------------------------------------------------------


def reports(count: int, finish: bool) -> list[Any]:
    """Return the values that leave of `count` reports in a row: at the end of the call, or while it goes on."""

    async def main() -> list[Any]:
        sent: list[Any] = []
        came = asyncio.Event()

        def notify(notification: bytes) -> None:
            sent.append(read(notification)["params"]["progress"])
            came.set()

        progress = Progress("t", notify)
        for value in range(count):
            progress.report(value, None, None)
        came.clear()
        if finish:
            progress.finish()
        else:
            await asyncio.wait_for(came.wait(), DEADLINE)
        progress.report(count + 1, None, None)
        progress.drop()
        return sent

    return asyncio.run(main())


def test_a_burst_goes_out_at_once_then_the_rate_is_limited_and_the_last_value_kept() -> None:
    """Spec: both parties SHOULD implement rate limiting; ours: the newest report is never lost."""
    assert reports(10, finish=True) == [*range(10)]
    for finish in (True, False):
        sent = reports(1000, finish=finish)
        assert sent[:10] == [*range(10)]
        assert 999 in sent[10:]
        assert len(sent) < 100  # a machine that is busy may let one or the other through


def test_a_tool_that_reports_without_end_neither_floods_nor_holds_anybody_up(mcp: MCPServer) -> None:
    """Ours: 20,000 reports are a few notifications; others are answered in between, and the last value arrives."""

    async def conversation(lines: Lines) -> Lines:
        for number, tool in enumerate(TOOLS[:2]):
            lines.send(asking(call(tool, {"values": list(range(20_000))}, tool), number))
        lines.send(call("report", {"values": []}, "other"))
        return await lines.idle()

    messages = run(mcp, conversation).messages
    for number, tool in enumerate(TOOLS[:2]):
        notes = [m["params"]["progress"] for m in messages if "method" in m and m["params"]["progressToken"] == number]
        assert notes == sorted(set(notes))
        assert notes[-1] == 19_999
        assert 1 < len(notes) < 1000
        assert [m.get("id") for m in messages].index("other") < [m.get("id") for m in messages].index(tool)


def test_reports_of_many_threads_rise_and_end_with_the_greatest() -> None:
    """Ours: any thread may report; what is overtaken is dropped."""
    mcp = MCPServer("progress")

    @mcp.tool
    def spread(ctx: Ctx) -> str:
        def work(first: int) -> None:
            for value in range(first, 4000, 8):
                ctx.progress(value)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ctx.progress(4000)
        return "done"

    lines = call_once(mcp, "spread", token="t")
    assert lines.progress == sorted(set(lines.progress))
    assert lines.progress[-1] == 4000


# --- the end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reports", [1, 3, 50])
@pytest.mark.parametrize("failing", [False, True])
def test_what_is_held_back_goes_out_before_the_answer_and_nothing_after_it(failing: bool, reports: int) -> None:
    """Spec: progress MUST stop after completion."""
    mcp = MCPServer("progress")
    kept: list[Ctx] = []

    @mcp.tool
    async def report(ctx: Ctx) -> str:
        kept.append(ctx)
        for value in range(reports):
            await ctx.report_progress(value)
        if failing:
            raise ToolError("no")
        return "done"

    async def conversation(lines: Lines) -> Lines:
        await lines.send(asking(call("report"))).idle()
        await kept[0].report_progress(100)
        kept[0].progress(101)
        await asyncio.to_thread(kept[0].progress, 102)
        await lines.send(call("report", {}, 2)).idle()
        return lines

    lines = run(mcp, conversation)
    assert lines.progress[-1] == reports - 1
    assert [message.get("id") for message in lines.messages[-2:]] == [1, 2]


def test_nothing_is_sent_after_a_cancellation() -> None:
    """Spec: basic/transports/stdio, "Cancellation": MUST NOT send any further messages, of the clean-up neither."""
    mcp = MCPServer("progress")
    ended = asyncio.Event()

    @mcp.tool
    async def work(ctx: Ctx) -> str:
        value = 0.0
        try:
            while True:  # more than the rate allows, so that one is always held back
                value += 1
                await ctx.report_progress(value)
        finally:
            await ctx.report_progress(value + 1, message="cleaning up")
            ctx.progress(value + 2)
            await asyncio.sleep(0.1)  # longer than a report is held back
            await ctx.report_progress(value + 3)
            ended.set()

    async def conversation(lines: Lines) -> Lines:
        lines.send(asking(call("work")))
        await lines.message(12)
        lines.send(cancelled())
        count = len(lines.messages)
        await ended.wait()
        await lines.idle()
        assert len(lines.messages) == count
        return lines

    assert all("method" in message for message in run(mcp, conversation).messages)


def test_a_thread_that_outlives_its_cancelled_call_reports_to_nobody() -> None:
    """Spec: only tokens of in-progress operations; the thread sees `cancelled` and may go."""
    mcp = MCPServer("progress")
    go_on, ended = threading.Event(), threading.Event()

    @mcp.tool
    def work(ctx: Ctx) -> str:
        ctx.progress(1)
        assert go_on.wait(DEADLINE)
        ctx.progress(2)
        ended.set()
        return str(ctx.cancelled)

    async def conversation(lines: Lines) -> Lines:
        lines.send(asking(call("work")))
        await lines.message(0)
        await lines.send(cancelled()).idle()
        go_on.set()
        await asyncio.to_thread(ended.wait, DEADLINE)
        await lines.send(call("work", {}, 2)).answer(2)
        return lines

    assert run(mcp, conversation).progress == [1]


def test_a_timed_out_call_reports_no_further() -> None:
    """Ours: the answer that names the time is the end of the call."""
    mcp = MCPServer("progress")
    go_on = threading.Event()

    @mcp.tool(timeout=0.05)
    def work(ctx: Ctx) -> str:
        ctx.progress(1)
        assert go_on.wait(DEADLINE)
        ctx.progress(2)
        return "late"

    async def conversation(lines: Lines) -> Lines:
        answer = await lines.send(asking(call("work"))).answer()
        assert "did not finish within 0.05 seconds" in text_of(answer)
        go_on.set()
        return await lines.idle()

    assert run(mcp, conversation).progress == [1]
