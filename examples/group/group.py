"""A group of servers under local names: their tools side by side, and one that is down.

    python examples/group/group.py

Two servers here know the same tool; what tells them apart is how this program calls them.
"""

import asyncio
import logging
import sys
from pathlib import Path

from leanmcp import ClientGroup, MCPServer, StdioServerParameters

ROOT = Path(__file__).resolve().parents[2]
BOOKSHOP = StdioServerParameters(
    command=sys.executable, args=["-m", "leanmcp", "run", "examples/bookshop/server.py"], cwd=ROOT
)
films = MCPServer("Films")


@films.tool
def check_stock(title: str) -> int:
    """Tell how many copies of a film there are.

    Args:
        title: of the film, as on its poster.
    """
    return len(title)


async def main() -> None:
    logging.basicConfig(stream=sys.stdout, level=logging.WARNING, format="%(levelname)s %(message)s")
    servers = {"books": BOOKSHOP, "films": films, "maps": "http://127.0.0.1:9/mcp"}
    async with ClientGroup(servers, connect_timeout=10) as group:
        async for tool in group.tools():
            print(tool.name)
        calls = [group.call_tool(name, {"title": "Dune"}) for name in ("books.check_stock", "films.check_stock")]
        for result in await asyncio.gather(*calls):
            print(result.structured_content)
        print("missing:", ", ".join(group.failures))


if __name__ == "__main__":
    asyncio.run(main())
