"""Orders as an MCP server: tools that ask the user, by a form or by a page, in the three ways to write it.

A call ends with the question, and begins again with the answer: nothing is kept on the server in between. Run it as
examples/bookshop is run, with a client that shows forms.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from leanmcp import Context, Field, MCPServer, Model
from leanmcp.elicit import Accepted, Cancelled, Declined, Elicit, Resolve, titled
from leanmcp.types import InputRequiredResult

mcp = MCPServer("Orders", version="1.0.0")

Item = Annotated[Literal["tea", "coffee", "champagne"], Field(description="What to order.")]
PRICES = {"tea": 4, "coffee": 6, "champagne": 90}
reserved: list[str] = []


class Quantity(Model):
    count: int = Field(1, ge=1, le=20, title="How many")


class Delivery(Model):
    speed: str = Field("slow", json_schema_extra=titled({"slow": "3 to 5 days", "fast": "Tomorrow, 9 extra"}))
    email: str = Field(json_schema_extra={"format": "email"}, description="Where we tell you when it is on its way.")
    extras: list[str] = Field([], json_schema_extra=titled({"wrap": "Gift wrap", "card": "A card"}, multiple=True))


@dataclass
class Confirm:
    confirmed: bool


# 1. Declarative: a parameter that the user fills in. Both questions are asked in one round.
def ask_quantity(item: Item) -> Elicit[Quantity]:
    return Elicit(f"How many packs of {item}?", Quantity)


def ask_delivery() -> Elicit[Delivery]:
    return Elicit("How shall we deliver?", Delivery)


@mcp.tool
async def order(
    item: Item,
    quantity: Annotated[Quantity, Resolve(ask_quantity)],
    delivery: Annotated[Accepted[Delivery] | Declined | Cancelled, Resolve(ask_delivery)],
) -> str:
    """Order something; the user says how much of it, and how to deliver it."""
    how = f"{delivery.data.speed} to {delivery.data.email}" if isinstance(delivery, Accepted) else "to be picked up"
    return f"{quantity.count} x {item} for {quantity.count * PRICES[item]}, {how}."


# 2. Top to bottom: ask where the answer is needed. What must not be done twice stands in `once`.
@mcp.tool
async def buy(item: Item, ctx: Context) -> str:
    """Buy something that may be expensive; the user confirms it, and pays on a page of ours."""
    price = PRICES[item]

    def reserve() -> str:
        reserved.append(item)
        return f"R{len(reserved)}"

    number = await ctx.once("reserve", reserve)
    if price > 50:
        answer = await ctx.elicit(f"{item} costs {price}. Go on?", Confirm)
        if not (isinstance(answer, Accepted) and answer.data.confirmed):
            return f"Nothing was bought; reservation {number} is free again."
    paid = await ctx.elicit_url(f"Please pay {price}.", f"https://shop.example.com/pay/{number}")
    return f"Bought {item}, reservation {number}." if isinstance(paid, Accepted) else "Nothing was bought."


# 3. By hand: look at the answers, and return the questions.
CONFIRM = Elicit("Delete all your orders?", Confirm)


@mcp.tool
async def delete_orders(ctx: Context) -> str | InputRequiredResult:
    """Delete all orders, after the user has said so."""
    answer = CONFIRM.read((ctx.input_responses or {}).get("confirm"))
    if answer is None:
        return InputRequiredResult(input_requests={"confirm": CONFIRM}, request_state={"orders": len(reserved)})
    if not (isinstance(answer, Accepted) and answer.data.confirmed):
        return "Nothing was deleted."
    return f"{ctx.request_state['orders']} orders deleted."


if __name__ == "__main__":
    mcp.run()
