"""All entries of a list, page after page.

In: a way to fetch one page. Out: entries. An absent cursor is the end, "" is not, a repeated one is an error.
Spec 2026-07-28: server/utilities/pagination; server/utilities/caching, "Interaction with Pagination".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import InvalidParams, InvalidResult

E = TypeVar("E")
MAX_PAGES = 1000  # then a list counts as endless


class Entries(AsyncIterator[E]):
    """The entries of a list: `async for tool in client.tools()`.

    Args:
        entries: yields them.
        member: method of the client that returns them.
    """

    def __init__(self, entries: AsyncGenerator[E, None], member: str) -> None:
        self._entries = entries
        self._member = member

    def __aiter__(self) -> AsyncGenerator[E, None]:
        return self._entries

    def __anext__(self) -> Awaitable[E]:
        return self._entries.__anext__()

    def aclose(self) -> Awaitable[None]:
        """End it before it is read to its end."""
        return self._entries.aclose()

    if not TYPE_CHECKING:  # type checkers refuse both by themselves

        def __await__(self) -> Any:
            raise TypeError(f"{self._member}() has nothing to await: {self._spelling}")

        def __iter__(self) -> Any:
            raise TypeError(f"{self._member}() has pages to wait for: {self._spelling}")

    @property
    def _spelling(self) -> str:
        call = f"client.{self._member}()"
        return f"write `async for entry in {call}`, or `[entry async for entry in {call}]`"


async def every_entry(
    fetch: Callable[[str | None], Awaitable[Any]], member: str, key: str, noun: str
) -> AsyncGenerator[Any, None]:
    """Yield the entries of every page.

    A cursor that the server no longer knows, of a page that was kept perhaps, starts the list again, once; what has
    been yielded is not yielded again.

    Args:
        fetch: returns the page of a cursor.
        member: attribute of the page that has the entries.
        key: attribute that tells entries apart.
        noun: for error texts.

    Raises:
        InvalidResult: the pages have no end.
    """
    cursor: str | None = None
    seen: set[str] = set()
    yielded: set[Any] = set()
    restarted = False
    for _ in range(MAX_PAGES):
        try:
            page = await fetch(cursor)
        except InvalidParams:
            if cursor is None or restarted:
                raise
            restarted, cursor = True, None
            seen.clear()
            continue
        for entry in getattr(page, member):
            name = getattr(entry, key)
            if restarted and name in yielded:
                continue
            yielded.add(name)
            yield entry
        cursor = page.next_cursor
        if cursor is None:
            return
        if cursor in seen:
            raise InvalidResult(f"The server's list of {noun} does not end: it gave the cursor {cursor[:64]!r} twice")
        seen.add(cursor)
    raise InvalidResult(f"The server's list of {noun} has more than {MAX_PAGES} pages")
