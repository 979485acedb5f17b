# %% [markdown]
# A server from a notebook: no `await`, no event loop, no `with`. Run the cells in Jupyter, VS Code or Spyder, or all of
# them with `python examples/notebook/cells.py`.

# %%
import sys
from pathlib import Path

from leanmcp import StdioServerParameters, SyncClient, ToolError

root = Path(__file__).resolve().parents[2]
bookshop = StdioServerParameters(
    command=sys.executable, args=["-m", "leanmcp", "run", "examples/bookshop/server.py"], cwd=root
)
client = SyncClient(bookshop)  # connects with the first call

# %%
for tool in client.tools():
    print(f"{tool.name:14}", (tool.description or "").splitlines()[0])

# %%
print(client.call_tool("search_books", {"query": "dune", "limit": 5}, type=str))

# %%
stock = client.call_tool("check_stock", {"title": "Dune"}).structured_content
print(stock["title"], stock["copies"])

# %%
try:
    client.call_tool("search_books", {"query": "dune", "limit": 999}, raise_on_error=True)
except ToolError as error:
    print(error)

# %%
client.close()  # or restart the kernel
