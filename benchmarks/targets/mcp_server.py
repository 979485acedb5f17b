"""The workloads on the official Python SDK; the command line is that of `material`.

As its documentation advises for load: stateless, JSON answers, an ASGI server of one's own choice (uvicorn on uvloop,
with httptools), no access log. JSON answers carry no progress, so that workload is served with event streams.
"""

from __future__ import annotations

import os
from typing import Annotated

import material
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Image, Resolve
from pydantic import BaseModel, Field

OPTIONS = material.arguments()
mcp = MCPServer(material.NAME, version=material.VERSION, log_level="WARNING")


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


class Amount(BaseModel):
    sku: str
    amount: float


class Receipt(BaseModel):
    customer: str
    items: int
    total: float
    lines: list[Amount]


class Consent(BaseModel):
    ok: bool


async def ask() -> Elicit[Consent]:
    """Ask before doing it."""
    return Elicit("Do it?", Consent)


@mcp.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


def workloads() -> None:
    """Register the tools besides echo."""
    text: str = material.text()
    image: bytes = material.image()

    @mcp.tool()
    def echo_thread(text: str) -> str:
        """Return the text, from a worker thread."""
        return text

    @mcp.tool()
    async def order(order: Order) -> Receipt:
        """Add up an order."""
        lines = [Amount(sku=line.sku, amount=line.quantity * line.price) for line in order.lines]
        items = sum(line.quantity for line in order.lines)
        return Receipt(customer=order.customer.name, items=items, total=sum(line.amount for line in lines), lines=lines)

    @mcp.tool(structured_output=False)
    async def long_text() -> str:
        """Return 256 KiB of text."""
        return text

    @mcp.tool()
    async def picture() -> Image:
        """Return a picture of 5 MiB."""
        return Image(data=image, format="png")

    @mcp.tool()
    async def progress(count: int, ctx: Context) -> str:
        """Report progress so many times."""
        for number in range(count):
            await ctx.report_progress(number + 1, count)
        return "done"

    @mcp.tool()
    async def confirm(consent: Annotated[Consent, Resolve(ask)]) -> str:
        """Ask before doing it."""
        return "done" if consent.ok else "left"

    @mcp.resource(material.THING)
    async def thing() -> str:
        """What changes."""
        return "a thing"

    @mcp.tool()
    async def touch(ctx: Context) -> str:
        """Tell that the thing has changed."""
        await ctx.notify_resource_updated(material.THING)
        return "touched"

    if material.COUNTING:
        counter = material.Counter()

        @mcp.tool()
        async def entries() -> int:
            """Return the function entries since the last call of this tool."""
            counted: int = counter.restart()
            return counted


def many(count: int) -> None:
    """Register more tools."""

    async def search(query: str, limit: Annotated[int, Field(ge=1, le=50)] = 10) -> str:
        return query

    for number in range(count):
        mcp.add_tool(search, f"search_{number:04}", description=f"Search catalog {number} by title or author.")


if OPTIONS.tools:
    many(OPTIONS.tools - 1)
else:
    workloads()


def main() -> None:
    """Serve the transport that the command line names."""
    if OPTIONS.transport == "stdio":
        return mcp.run()
    import uvicorn  # only here: the start of stdio must not pay for it

    app = mcp.streamable_http_app(stateless_http=True, json_response="BENCH_STREAMS" not in os.environ)
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=OPTIONS.port,
        loop="uvloop",
        log_level="warning",
        access_log=False,
        timeout_keep_alive=120,  # 5 by default, less than it takes to open 10,000 connections
    )


if __name__ == "__main__":
    main()
