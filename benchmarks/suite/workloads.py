"""The workloads: what is asked, how often and how, and what a right answer is.

A check takes the decoded messages of the first answer and raises WrongAnswer; the load generator holds all others
against that one. Patterns of `--only` match the names.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from benchmarks.generator.answers import WrongAnswer
from benchmarks.generator.job import Mode

Check = Callable[[list[Any]], None]
Kind = Literal["load", "start", "import", "entries", "wrk", "h2load"]

TEXT = "hello"
THING = "bench://thing"
NOTES = 100
_PROGRESS = "notifications/progress"
TEXT_SIZE, IMAGE_SIZE = 256 * 1024, 5 * 1024 * 1024
MANY = 5000
ORDER = {
    "customer": {"name": "Ann", "email": "ann@example.com"},
    "lines": [{"sku": f"A-{number}", "quantity": number + 1, "price": 2.5} for number in range(5)],
    "note": "quickly, please",
}
WRONG_ORDER = {"customer": {"name": "Ann"}, "lines": [{"sku": "A-1", "quantity": 0, "price": "cheap"}], "note": None}


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is measured.

    Args:
        name: as `--only` and the tables name it.
        title: one line for the reader.
        transports: where it is measured; "process" for what needs no transport.
        tool: that is called; "" asks for the list of tools.
        arguments: of the call.
        check: of the first answer.
        kind: "load" for the load generator; the others have a function of their own.
        mode: of the load generator.
        tools: how many the server has; 0 for those of the workloads.
        page: how many tools are on a page of the list; 0 for all.
        connections, window: see `generator.job.Job`.
        rate: calls per second of an open loop; 0 for half of what the server can do.
        calls: ends the timed part; 0 where time does.
        floor: the floors are measured too; they send as many octets as leanmcp does.
        rivals: names of those that it is for; empty for all.
    """

    name: str
    title: str
    transports: tuple[str, ...] = ("http", "stdio")
    tool: str = "echo"
    arguments: dict[str, Any] = {}
    check: Check
    kind: Kind = "load"
    mode: Mode = "closed"
    tools: int = 0
    page: int = 0
    connections: int = 32
    window: int = 64
    rate: float = 0
    calls: int = 0
    floor: bool = False
    rivals: tuple[str, ...] = ()

    @property
    def rounds(self) -> bool:
        """Whether a call is a round trip."""
        return self.tool == "confirm"


# --- checks -----------------------------------------------------------------------------------------------------------


def _result(messages: list[Any]) -> dict[str, Any]:
    last: dict[str, Any] = messages[-1] if messages else {"error": "no answer"}
    if "result" not in last:
        raise WrongAnswer(f"an error: {str(last.get('error', last))[:300]}")
    result: dict[str, Any] = last["result"]
    return result


def _expect(right: bool, what: str, messages: list[Any]) -> None:
    if not right:
        raise WrongAnswer(f"{what}: {str(messages[-1])[:300]}")


def says(text: str) -> Check:
    """Return the check of an answer whose first content is `text`."""

    def check(messages: list[Any]) -> None:
        result = _result(messages)
        content = result.get("content") or [{}]
        right = content[0].get("text") == text and not result.get("isError", False)
        _expect(right, f"not the text {text[:20]!r}", messages)

    return check


def receipt(messages: list[Any]) -> None:
    """Check the sum of the order."""
    data = _result(messages).get("structuredContent") or {}
    right = data.get("customer") == "Ann" and data.get("items") == 15 and data.get("total") == 37.5
    _expect(right and len(data.get("lines", ())) == 5, "no receipt", messages)


def refusal(messages: list[Any]) -> None:
    """Check that the wrong order was refused, and that the model is told of each fault."""
    last = messages[-1]
    refused = last.get("error", {}).get("code") == -32602 or last.get("result", {}).get("isError") is True
    words = str(last)
    _expect(refused and all(name in words for name in ("email", "quantity", "price")), "no explanation", messages)


def long_text(messages: list[Any]) -> None:
    """Check the length of the text."""
    result = _result(messages)
    _expect(len(result["content"][0].get("text", "")) == TEXT_SIZE, "not 256 KiB of text", messages)


def picture(messages: list[Any]) -> None:
    """Check type and size of the picture."""
    content = _result(messages)["content"][0]
    _expect(content.get("type") == "image" and content.get("mimeType") == "image/png", "no picture", messages)
    _expect(len(base64.b64decode(content["data"])) == IMAGE_SIZE, "not 5 MiB", messages)


def listed(count: int, *, more: bool = False) -> Check:
    """Return the check of a list of `count` tools; with `more`, that there is a next page."""

    def check(messages: list[Any]) -> None:
        result = _result(messages)
        tools = result.get("tools", [])
        _expect(len(tools) == count, f"{len(tools)} tools, not {count}", [{"result": "..."}])
        _expect(bool(result.get("nextCursor")) == more, "the wrong number of pages", [{"result": "..."}])
        _expect(all("inputSchema" in tool for tool in tools), "a tool without a schema", [{"result": "..."}])

    return check


def progressed(messages: list[Any]) -> None:
    """Check that notes came before the result, rising, up to the last; a server may leave out some in between."""
    steps = [message["params"]["progress"] for message in messages if message.get("method") == _PROGRESS]
    _expect(bool(steps) and steps == sorted(set(steps)) and steps[-1] == NOTES, f"progress {steps}", messages)
    says("done")(messages)


# --- the table --------------------------------------------------------------------------------------------------------

ECHO = says(TEXT)
_HELLO = {"text": TEXT}


def _echo(name: str, title: str, **options: Any) -> Workload:
    alone = 0 if options.get("tool") or options.get("kind") == "entries" else 1  # one tool: memory of echo alone
    return Workload(name=name, title=title, arguments=_HELLO, check=ECHO, **{"tools": alone, **options})


def _list(name: str, title: str, tools: int, **options: Any) -> Workload:
    return Workload(name=name, title=title, tool="", tools=tools, **options)


WORKLOADS = (
    _echo("start", "start to first answer", kind="start", floor=True),
    _echo(
        "import", "import alone (floor: asyncio, msgspec, orjson)", kind="import", transports=("process",), floor=True
    ),
    _echo("echo", "echo, async def", floor=True),
    _echo("echo-1", "echo, one at a time", connections=1, window=1, floor=True),
    _echo("echo-256", "echo, 256 in flight", connections=256, window=256, floor=True),
    _echo("echo-thread", "echo, def in a thread", tool="echo_thread"),
    _echo("echo-inline", "echo, def on the loop", tool="echo_inline"),
    _echo("echo-5000-tools", "echo, among 5,000 tools", tools=MANY),
    Workload(
        name="nested",
        title="nested arguments, structured output",
        tool="order",
        arguments={"order": ORDER},
        check=receipt,
    ),
    Workload(name="invalid", title="invalid arguments", tool="order", arguments={"order": WRONG_ORDER}, check=refusal),
    Workload(
        name="text-256k",
        title="256 KiB of text",
        tool="long_text",
        check=long_text,
        connections=8,
        window=4,
        floor=True,
    ),
    Workload(
        name="image-5m",
        title="image of 5 MiB",
        tool="picture",
        check=picture,
        connections=2,
        window=1,
        floor=True,
    ),
    _list("list-1", "tools/list, 1 tool", 1, check=listed(1), floor=True),
    _list("list-100", "tools/list, 100 tools", 100, check=listed(100), floor=True),
    _list("list-5000", "tools/list, 5,000 tools", MANY, check=listed(MANY), connections=4, window=2, floor=True),
    _list(
        "list-5000-paged", "tools/list, 5,000 in pages of 100", MANY, check=listed(100, more=True), page=100, floor=True
    ),
    Workload(
        name="progress",
        title="100 progress notes",
        tool="progress",
        arguments={"count": NOTES},
        check=progressed,
        connections=8,
        window=4,
    ),
    Workload(name="round-trip", title="question and answer, sealed state", tool="confirm", check=says("done")),
    Workload(
        name="listen",
        title="1,000 listen streams, one change",
        transports=("http",),
        tool="touch",
        check=says("touched"),
        mode="listen",
        connections=1000,
    ),
    _echo("idle", "10,000 idle connections", transports=("http",), mode="idle", connections=10_000, floor=True),
    _echo("fresh", "a connection for each call", transports=("http",), mode="fresh", floor=True),
    _echo(
        "fresh-100k",
        "100,000 calls on fresh connections",
        transports=("http",),
        mode="fresh",
        calls=100_000,
        rivals=("leanmcp",),
    ),
    _echo("open-half", "open loop, half of saturation", mode="open", connections=64, floor=True),
    *(
        _echo(f"open-{rate}", f"open loop, {rate:,} calls/s", mode="open", connections=64, rate=rate, floor=True)
        for rate in (500, 2000, 10_000, 40_000)
    ),
    _echo("wrk", "echo, measured with wrk", transports=("http",), kind="wrk", floor=True),
    _echo("h2load-half", "half of saturation, with h2load", transports=("http",), kind="h2load", floor=True),
    _echo("entries", "Python function entries", kind="entries"),
)
