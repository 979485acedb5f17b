"""The tools of leanmcp besides echo: a server of echo alone must not pay for them."""

from __future__ import annotations

from typing import Annotated

import material

from leanmcp import Context, Field, Image, MCPServer, Model
from leanmcp.elicit import Accepted


class Customer(Model):
    name: str
    email: str


class Line(Model):
    sku: str
    quantity: Annotated[int, Field(ge=1, le=100)]
    price: float


class Order(Model):
    customer: Customer
    lines: list[Line]
    note: str | None = None


class Amount(Model):
    sku: str
    amount: float


class Receipt(Model):
    customer: str
    items: int
    total: float
    lines: list[Amount]


class Consent(Model):
    ok: bool


def register(mcp: MCPServer) -> None:
    """Register the tools of all workloads."""
    text: str = material.text()
    image: bytes = material.image()

    @mcp.tool
    def echo_thread(text: str) -> str:
        """Return the text, from a worker thread."""
        return text

    @mcp.tool(thread=False)
    def echo_inline(text: str) -> str:
        """Return the text, on the event loop."""
        return text

    @mcp.tool
    async def order(order: Order) -> Receipt:
        """Add up an order."""
        lines = [Amount(sku=line.sku, amount=line.quantity * line.price) for line in order.lines]
        items = sum(line.quantity for line in order.lines)
        return Receipt(customer=order.customer.name, items=items, total=sum(line.amount for line in lines), lines=lines)

    @mcp.tool(structured_output=False)
    async def long_text() -> str:
        """Return 256 KiB of text."""
        return text

    @mcp.tool
    async def picture() -> Image:
        """Return a picture of 5 MiB."""
        return Image(data=image, format="png")

    @mcp.tool
    async def progress(count: int, ctx: Context) -> str:
        """Report progress so many times."""
        for number in range(count):
            await ctx.report_progress(number + 1, count)
        return "done"

    @mcp.tool
    async def confirm(ctx: Context) -> str:
        """Ask before doing it."""
        answer = await ctx.elicit("Do it?", Consent)
        return "done" if isinstance(answer, Accepted) and answer.data.ok else "left"

    @mcp.resource(material.THING)
    async def thing() -> str:
        """What changes."""
        return "a thing"

    @mcp.tool
    async def touch() -> str:
        """Tell that the thing has changed."""
        mcp.notify_resource_updated(material.THING)
        return "touched"

    if material.COUNTING:
        counter = material.Counter()

        @mcp.tool
        async def entries() -> int:
            """Return the function entries since the last call of this tool."""
            counted: int = counter.restart()
            return counted


def register_many(mcp: MCPServer, count: int) -> None:
    """Register more tools."""

    async def search(query: str, limit: Annotated[int, Field(ge=1, le=50)] = 10) -> str:
        return query

    for number in range(count):
        mcp.add_tool(search, f"search_{number:04}", description=f"Search catalog {number} by title or author.")
