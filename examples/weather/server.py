"""Weather as structured output: return objects, and clients get typed data beside the text.

Run it on stdio, as a host starts it:   python examples/weather/server.py
Or on HTTP:                             leanmcp run examples/weather/server.py --http
"""

import enum
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

from leanmcp import Field, MCPServer, ToolError

mcp = MCPServer("Weather", version="1.0.0")


class Sky(enum.Enum):
    CLEAR = "clear"
    CLOUDS = "clouds"
    RAIN = "rain"


@dataclass
class Day:
    """One day's forecast; its fields are the output schema."""

    day: date
    high: float  # degrees Celsius
    low: float
    sky: Sky


CLIMATE = {"Lisbon": (24.5, 15.0, Sky.CLEAR), "Bergen": (11.0, 6.5, Sky.RAIN), "Vienna": (18.0, 9.0, Sky.CLOUDS)}


@mcp.tool
async def forecast(
    city: Annotated[str, Field(description="Lisbon, Bergen or Vienna.")],
    days: Annotated[int, Field(ge=1, le=14, description="How many.")] = 3,
    start: Annotated[date | None, Field(description="First day; default: today.")] = None,
) -> list[Day]:
    """Forecast the weather of a city, day by day."""
    high, low, sky = _climate(city)
    first = start or date.today()
    return [Day(first + timedelta(days=number), high + number % 3, low, sky) for number in range(days)]


@mcp.tool
async def extremes(cities: Annotated[set[str], Field(min_length=1)]) -> dict[str, float]:
    """Tell the highest temperature of each city.

    Args:
        cities: some of Lisbon, Bergen and Vienna.
    """
    return {city: _climate(city)[0] for city in sorted(cities)}


def _climate(city: str) -> tuple[float, float, Sky]:
    if city not in CLIMATE:
        raise ToolError(f"city: no weather for {city!r}; known are {', '.join(CLIMATE)}")
    return CLIMATE[city]


if __name__ == "__main__":
    mcp.run()
