"""A server as a user writes it, with resources, prompts, questions, dependencies, middleware and an extension.

Clean under strict type checkers, and it runs; `test_user_server.py` checks and starts it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, assert_type

from leanmcp import (
    AssistantMessage,
    Context,
    Depends,
    Field,
    Image,
    MCPError,
    MCPServer,
    Model,
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UserMessage,
    run_child,
)
from leanmcp.elicit import (
    Accepted,
    Cancelled,
    Declined,
    Elicit,
    ElicitationResult,
    ElicitURL,
    Resolve,
    titled,
)
from leanmcp.server import (
    CacheHint,
    CallNext,
    CallToolRequestParams,
    Extension,
    MemoryStateStore,
    Message,
    MethodBinding,
    Outcome,
    Request,
    RequestStateSecurity,
    ResourceSecurity,
    ToolBinding,
)
from leanmcp.server.subscriptions import InMemorySubscriptionBus, ServerEvent
from leanmcp.types import (
    Annotations,
    BlobResourceContents,
    CallToolResult,
    CompleteResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptResult,
    InputRequiredResult,
    PromptMessage,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

# --- around every method --------------------------------------------------------------------------------------------


async def sign_in(request: Request, call_next: CallNext) -> Outcome:
    if request.headers.get("x-user") == "mallory":
        raise MCPError(403, "not you")
    request.state.user = request.name
    return await call_next(request)


class Counted(Model):
    to: int = Field(ge=1)


class Counting(Extension):
    identifier = "com.example/counting"
    notifications = ("notifications/com.example/counted",)
    result_types = ("com.example/counted",)

    def settings(self) -> dict[str, Any]:
        return {"most": 10}

    def methods(self) -> Sequence[MethodBinding]:
        return [MethodBinding("com.example/count", Counted, self.count, timeout=5)]

    def tools(self) -> Sequence[ToolBinding]:
        return [ToolBinding(self.count_slowly, meta={"com.example/slow": True}, kwargs={"title": "Count"})]

    async def count(self, ctx: Context, params: Counted) -> dict[str, Any]:
        was_sent = await ctx.notify("notifications/com.example/counted", {"number": params.to})
        return {"counted": params.to, "sent": was_sent}

    async def count_slowly(self, to: int) -> int:
        return to

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: Request, call_next: CallNext
    ) -> CallToolResult | Outcome:
        if params.name == "none":
            return CallToolResult(content=[TextContent(text="none")])
        return await call_next(ctx)


bus = InMemorySubscriptionBus()
heard: list[ServerEvent] = []
stop = bus.subscribe(heard.append)

mcp = MCPServer(
    "Features",
    middleware=[sign_in],
    extensions=[Counting()],
    subscriptions=bus,
    request_state_security=RequestStateSecurity(
        keys=[b"0" * 32],
        ttl=60,
        bind_principal=lambda ctx: ctx.headers.get("x-user"),
        single_use=MemoryStateStore(),
    ),
)


@mcp.middleware
async def changed(request: Request, call_next: CallNext) -> Outcome | dict[str, Any]:
    outcome = await call_next(request)
    if request.method == "tools/call" and outcome.is_error:
        return {**outcome.result, "isError": True}
    return outcome


# --- resources ------------------------------------------------------------------------------------------------------


@mcp.resource("library://hours", title="Hours", cache=CacheHint(ttl_ms=1000, scope="public"), size=9)
async def hours() -> str:
    return "9 to 18"


@mcp.resource(
    "library://books/{number}{?language}",
    name="book",
    mime_type="application/json",
    annotations=Annotations(audience=["user"]),
    security=ResourceSecurity(),
    timeout=5,
    max_size=10_000,
)
def book(number: int, ctx: Context, language: Literal["en", "de"] = "en") -> dict[str, str]:
    if number == 0:
        raise ResourceNotFoundError(f"there is no book {number}")
    if number < 0:
        raise ResourceError("numbers begin with 1")
    return {"title": f"Book {number}", "language": language, "request": str(ctx.request_id)}


@mcp.resource("library://both")
def both() -> list[TextResourceContents | BlobResourceContents | Path | Image]:
    return [TextResourceContents(uri="library://both", text="one"), Path(__file__)]


mcp.add_file("library://this", __file__)
mcp.add_directory("library://here/{+path}", Path(__file__).parent)
mcp.add_resource(lambda: b"\x00", "library://nothing", name="nothing", replace=False)
mcp.disable_resource("library://nothing")
mcp.enable_resource("library://nothing")
mcp.remove_resource("library://nothing")


# --- prompts and completion -----------------------------------------------------------------------------------------


@mcp.prompt
def review(code: str, day: date | None = None, focus: Literal["bugs", "speed"] = "bugs") -> list[Message]:
    return [UserMessage(f"Look for {focus}."), UserMessage(code), AssistantMessage(Image(data=b"", format="png"))]


@mcp.prompt("whole", "Whole", meta={"com.example/x": 1}, timeout=5)
async def whole(ctx: Context, topic: str = "") -> GetPromptResult:
    message = PromptMessage(role="user", content=TextContent(text=f"{topic} {ctx.request_id}"))
    return GetPromptResult(messages=[message], description="whole")


@mcp.completion("review", "code")
def codes(value: str, arguments: dict[str, str]) -> list[str]:
    return [value, *arguments]


@mcp.completion("library://books/{number}{?language}", "number")
async def numbers() -> Completion:
    return Completion(values=["1", "2"], total=2, has_more=False)


@mcp.completion()
def rest(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion | None:
    return None if context is None else Completion(values=[argument.value])


# --- questions ------------------------------------------------------------------------------------------------------


class Seats(Model):
    count: int = Field(ge=1, le=8)
    where: str = Field(default="front", json_schema_extra=titled({"front": "At the front", "back": "At the back"}))


def ask_seats(show: str) -> Elicit[Seats] | Seats:
    return Seats(count=1) if show == "" else Elicit(f"How many seats for {show}?", Seats)


async def ask_page(ctx: Context) -> ElicitURL:
    return ElicitURL("Pay", f"https://example.com/{ctx.request_id}")


@mcp.tool(timeout=10, max_concurrency=4)
async def reserve(show: str, seats: Annotated[Seats, Resolve(ask_seats)]) -> str:
    return f"{seats.count} {seats.where} for {show}"


@mcp.tool
def maybe(
    show: str,
    seats: Annotated[Accepted[Seats] | Declined | Cancelled, Resolve(ask_seats)],
    paid: Annotated[ElicitationResult[None], Resolve(ask_page)],
) -> str:
    return str(seats.data.count) if isinstance(seats, Accepted) else f"{seats.action} {paid.action}"


@mcp.tool
async def twice(ctx: Context) -> str:
    first = await ctx.elicit("How many?", Seats, key="first")
    assert_type(first, Accepted[Seats] | Declined | Cancelled)
    if isinstance(first, Accepted):
        assert_type(first.data, Seats)
        return str(first.data.count)
    page = await ctx.elicit_url("Pay", "https://example.com")
    charged = await ctx.once("charge", lambda: 5, type=int)
    return f"{page.action} {charged}"


@mcp.tool
def hand(ctx: Context) -> str | InputRequiredResult:
    if ctx.input_responses is None:
        return InputRequiredResult(
            input_requests={"seats": Elicit("How many?", Seats).request()}, request_state={"n": 1}
        )
    return str(ctx.request_state)


# --- dependencies ---------------------------------------------------------------------------------------------------


def opened() -> Iterator[list[str]]:
    yield []


@asynccontextmanager
async def transaction(ctx: Context) -> AsyncIterator[int]:
    yield len(str(ctx.request_id))


@contextmanager
def locked() -> Iterator[None]:
    yield None


class Account:
    def __init__(self, owner: str, rows: Annotated[list[str], Depends(opened)]) -> None:
        self.owner = owner
        self.rows = rows


@mcp.tool
async def note(
    owner: str,
    account: Annotated[Account, Depends(Account)],
    number: Annotated[int, Depends(transaction, use_cache=False)],
    lock: Annotated[None, Depends(locked, thread=False)],
    ctx: Context,
) -> list[str]:
    if owner == "":
        raise ToolError("owner: say whose")
    await ctx.report_progress(1, 2, "half")
    await ctx.notify_tools_changed()
    ctx.progress(2, 2)
    mcp.notify_resource_updated("library://hours")
    trace = None if ctx.trace is None else ctx.trace.trace_id
    return [account.owner, *account.rows, str(number), trace or "no trace"]


@mcp.tool
async def listing() -> str:
    done = await run_child("ls", timeout=5)
    return done.stdout.decode()


with mcp.override(opened, lambda: ["fake"]):
    pass

assert_type(review("x"), list[Message])
assert_type(ask_seats("x"), Elicit[Seats] | Seats)
assert_type(CompleteResult(completion=Completion(values=[])).completion.values, list[str])
