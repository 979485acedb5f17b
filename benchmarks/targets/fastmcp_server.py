"""The workloads on fastmcp; the command line is that of `material`.

As its documentation advises for load: stateless, JSON answers, an ASGI server of one's own choice (uvicorn on uvloop,
with httptools), no access log. JSON answers carry no progress, so that workload is served with event streams.
"""

from __future__ import annotations

import os
from typing import Annotated

import material
from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel, Field

OPTIONS = material.arguments()
mcp: FastMCP = FastMCP(material.NAME, version=material.VERSION)


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


CONSENT = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@mcp.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


def workloads() -> None:
    """Register the tools besides echo."""
    text: str = material.text()
    image: bytes = material.image()

    @mcp.tool
    def echo_thread(text: str) -> str:
        """Return the text, from a worker thread."""
        return text

    @mcp.tool(run_in_thread=False)
    def echo_inline(text: str) -> str:
        """Return the text, on the event loop."""
        return text

    @mcp.tool
    async def order(order: Order) -> Receipt:
        """Add up an order."""
        lines = [Amount(sku=line.sku, amount=line.quantity * line.price) for line in order.lines]
        items = sum(line.quantity for line in order.lines)
        return Receipt(customer=order.customer.name, items=items, total=sum(line.amount for line in lines), lines=lines)

    @mcp.tool(output_schema=None)
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
    async def confirm(ctx: Context) -> str | InputRequiredResult:
        """Ask before doing it."""
        if ctx.input_responses is None:
            asked = ElicitRequest(params=ElicitRequestFormParams(message="Do it?", requested_schema=CONSENT))
            return InputRequiredResult(input_requests={"consent": asked}, request_state="asked")
        answer = ctx.input_responses["consent"]
        return "done" if ctx.request_state == "asked" and answer.content == {"ok": True} else "left"

    if material.COUNTING:
        counter = material.Counter()

        @mcp.tool
        async def entries() -> int:
            """Return the function entries since the last call of this tool."""
            counted: int = counter.restart()
            return counted


def many(count: int) -> None:
    """Register more tools."""

    async def search(query: str, limit: Annotated[int, Field(ge=1, le=50)] = 10) -> str:
        return query

    for number in range(count):
        mcp.tool(search, name=f"search_{number:04}", description=f"Search catalog {number} by title or author.")


if OPTIONS.tools:
    many(OPTIONS.tools - 1)
else:
    workloads()


def main() -> None:
    """Serve the transport that the command line names."""
    if OPTIONS.transport == "stdio":
        return mcp.run(show_banner=False)
    import uvicorn  # only here: the start of stdio must not pay for it

    app = mcp.http_app(stateless_http=True, json_response="BENCH_STREAMS" not in os.environ)
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
