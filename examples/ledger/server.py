"""A ledger with a transaction around each call: committed when the tool returns, rolled back when it fails.

`Depends` gives a tool what it needs for one call, and cleans up behind it. Run it as examples/bookshop is run.
In a test, `with mcp.override(transaction, fake):` puts another function in its place.
"""

import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated

from leanmcp import Context, Depends, Field, MCPServer, ToolError

Amount = Annotated[int, Field(ge=1, le=1_000_000, description="In cents.")]
one_at_a_time = threading.Lock()


@asynccontextmanager
async def lifespan(server: MCPServer) -> AsyncIterator[sqlite3.Connection]:
    """Open the database when the server starts; a real one would be a file, or a pool of connections."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table accounts (name text primary key, cents integer not null)")
    try:
        yield database
    finally:
        database.close()


mcp = MCPServer("Ledger", version="1.0.0", lifespan=lifespan)


def transaction(ctx: Context[sqlite3.Connection]) -> Iterator[sqlite3.Connection]:
    """Give one call the database for itself. A `def` dependency runs in a worker thread: it may wait for the lock."""
    with one_at_a_time, ctx.lifespan as database:  # commits or rolls back
        yield database


class Account:
    """The account that the tool's argument `account` names."""

    def __init__(self, account: str, db: Annotated[sqlite3.Connection, Depends(transaction)]) -> None:
        self.name, self._db = account, db

    @property
    def cents(self) -> int:
        row = self._db.execute("select cents from accounts where name = ?", (self.name,)).fetchone()
        return row[0] if row else 0

    def book(self, cents: int) -> int:
        """Change what is on the account, and return it."""
        if self.cents + cents < 0:
            raise ToolError(f"{self.name} has {self.cents} cents only")
        self._db.execute("insert or replace into accounts values (?, ?)", (self.name, self.cents + cents))
        return self.cents


Db = Annotated[sqlite3.Connection, Depends(transaction)]
Own = Annotated[Account, Depends(Account)]
Name = Annotated[str, Field(description="Name of the account.")]


@mcp.tool
def balance(account: Name, own: Own) -> int:
    """Tell how much is on an account, in cents."""
    return own.cents


@mcp.tool
def deposit(account: Name, amount: Amount, own: Own) -> int:
    """Put money on an account; returns what is on it then."""
    return own.book(amount)


@mcp.tool
def transfer(account: Name, to: Name, amount: Amount, own: Own, db: Db) -> int:
    """Move money to another account: both sides or none; returns what is left."""
    Account(to, db).book(amount)  # undone where the next line fails: it is one transaction
    return own.book(-amount)


if __name__ == "__main__":
    mcp.run()
