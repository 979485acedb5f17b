"""The workloads on aiohttp-tiny-mcp, on uvloop; the command line is that of `material`.

Its tools are coroutines that take one pydantic model, so there is no `def` tool; a model result is structured.
"""

from __future__ import annotations

import base64
from typing import Annotated

import material
import uvloop
from aiohttp_tiny_mcp import CallToolResult, Exchange, ImageContent, NeedInput, Registry, elicit, run_stdio
from aiohttp_tiny_mcp.storage import hub as hubs
from pydantic import BaseModel, Field, create_model

OPTIONS = material.arguments()
registry = Registry(material.NAME, material.VERSION, page_size=OPTIONS.page or None)


class Text(BaseModel):
    text: str


class Customer(BaseModel):
    name: str
    email: str


class Line(BaseModel):
    sku: str
    quantity: Annotated[int, Field(ge=1, le=100)]
    price: float


class Order(BaseModel):
    customer: Customer
    lines: list[Line]
    note: str | None = None


class OrderCall(BaseModel):
    order: Order


class Amount(BaseModel):
    sku: str
    amount: float


class Receipt(BaseModel):
    customer: str
    items: int
    total: float
    lines: list[Amount]


class Nothing(BaseModel):
    pass


class Count(BaseModel):
    count: int


CONSENT = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@registry.tool
async def echo(args: Text) -> str:
    """Return the text."""
    return args.text


def workloads() -> None:
    """Register the tools besides echo."""
    text, image = material.text(), material.image()

    @registry.tool
    async def order(args: OrderCall) -> Receipt:
        """Add up an order."""
        order = args.order
        lines = [Amount(sku=line.sku, amount=line.quantity * line.price) for line in order.lines]
        items = sum(line.quantity for line in order.lines)
        return Receipt(customer=order.customer.name, items=items, total=sum(line.amount for line in lines), lines=lines)

    @registry.tool
    async def long_text(args: Nothing) -> str:
        """Return 256 KiB of text."""
        return text

    @registry.tool
    async def picture(args: Nothing) -> CallToolResult:
        """Return a picture of 5 MiB."""
        data = base64.b64encode(image).decode()
        return CallToolResult(content=[ImageContent(data=data, mime_type="image/png")])

    @registry.tool(streaming=True)
    async def progress(args: Count, ex: Exchange) -> str:
        """Report progress so many times."""
        for number in range(args.count):
            await ex.progress(number + 1, args.count)
        return "done"

    @registry.tool
    async def confirm(args: Nothing, ex: Exchange) -> str:
        """Ask before doing it."""
        if not ex.answered("consent"):
            raise NeedInput({"consent": elicit("Do it?", CONSENT)}, state="asked")
        return "done" if ex.state == "asked" and ex.accepted("consent") else "left"

    @registry.resource(material.THING)
    async def thing(args: Nothing) -> str:
        """What changes."""
        return "a thing"

    @registry.tool
    async def touch(args: Nothing) -> str:
        """Tell that the thing has changed."""
        message = {
            "jsonrpc": "2.0",
            "method": "notifications/resources/updated",
            "params": {"uri": material.THING},
        }
        await registry.hub.publish(hubs.topic(hubs.NOTIFICATIONS), message)
        return "touched"

    if material.COUNTING:
        counter = material.Counter()

        @registry.tool
        async def entries(args: Nothing) -> str:
            """Return the function entries since the last call of this tool."""
            return str(counter.restart())


def many(count: int) -> None:
    """Register more tools."""
    model = create_model("Search", query=str, limit=(Annotated[int, Field(ge=1, le=50)], 10))

    async def search(args: model) -> str:  # type: ignore[valid-type]
        return "found"

    search.__annotations__["args"] = model
    for number in range(count):
        registry.tool(search, name=f"search_{number:04}", description=f"Search catalog {number} by title or author.")


if OPTIONS.tools:
    many(OPTIONS.tools - 1)
else:
    workloads()


def main() -> None:
    """Serve the transport that the command line names."""
    if OPTIONS.transport == "stdio":
        return uvloop.run(run_stdio(registry))
    from aiohttp import web  # only here: the start of stdio must not pay for it
    from aiohttp_tiny_mcp import Endpoint

    app = Endpoint(registry, compress=False).app("/mcp")
    web.run_app(app, host="127.0.0.1", port=OPTIONS.port, loop=uvloop.new_event_loop(), access_log=None, print=None)


if __name__ == "__main__":
    main()
