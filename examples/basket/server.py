"""A shopping basket as an MCP server: state between calls, without sessions.

`create_basket` returns a handle, the other tools take it. Run it as examples/bookshop is run.
"""

from typing import Annotated

from leanmcp import Field, Handles, Model, ToolError
from leanmcp.server import MCPServer

mcp = MCPServer("Basket", version="1.0.0")

# Without sign-in whoever knows a handle may use it. With sign-in, add owner=lambda ctx: <who calls>: a handle is a name
# then, and no right. Baskets live in this process; StoredHandles keeps them where several processes find them.
baskets: Handles[dict[str, int]] = Handles(kind="basket", ttl=24 * 3600)

BasketId = Annotated[str, Field(description="From create_basket.")]


class Basket(Model):
    basket_id: str
    items: dict[str, int]


@mcp.tool(description=f"Create a shopping basket. {baskets.retention}")
async def create_basket() -> Basket:
    return Basket(basket_id=baskets.create({}), items={})


@mcp.tool
async def add_item(
    basket_id: BasketId,
    sku: Annotated[str, Field(min_length=1, max_length=40, description="Number of the article.")],
    count: Annotated[int, Field(ge=1, le=100, description="How many of it.")] = 1,
) -> Basket:
    """Put something into a basket."""
    items = baskets.get(basket_id)
    if sku not in items and len(items) == 100:
        raise ToolError("sku: this basket has 100 different things already; create another one")
    items[sku] = items.get(sku, 0) + count
    return Basket(basket_id=basket_id, items=items)


@mcp.tool
async def show_basket(basket_id: BasketId) -> Basket:
    """Tell what is in a basket."""
    return Basket(basket_id=basket_id, items=baskets.get(basket_id))


@mcp.tool
async def delete_basket(basket_id: BasketId) -> str:
    """Throw a basket away."""
    baskets.delete(basket_id)
    return "Deleted."


if __name__ == "__main__":
    mcp.run()
