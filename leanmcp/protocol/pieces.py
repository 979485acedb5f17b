"""Parts of an answer that are made while it is sent, so that an answer of any size takes little memory.

In: something to read piece by piece. Out: bytes, as many as were announced: a head with Content-Length is out by then.
RFC 9110 8.6.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from .jsonrpc import Segments

__all__ = ["Lazy", "joined"]


class Lazy:
    """A segment that is read when it is sent, and lets go of its source with the last reference to it.

    It may stand among the bytes of `Segments` only in an answer to a request that came over HTTP, where `Exchange.head`
    is not None: that transport sends it, while nothing else can join it with bytes.
    """

    __slots__ = ()

    # Abstract for type checkers only: the isinstance() of an ABCMeta is a Python function, and answers are told by it.
    @abstractmethod
    def __len__(self) -> int:
        """Return how many bytes it gives."""

    @abstractmethod
    async def read(self) -> bytes:
        """Return the next piece, empty at the end.

        Raises:
            OSError: the rest cannot be read, or is not of the length that was announced: the answer must be cut off.
        """

    @abstractmethod
    def whole(self) -> bytes:
        """Return all of it at once, without an end to what `read` gives; for those who look into an answer.

        Raises:
            OSError: as `read`.
        """


def joined(segments: Segments) -> bytes:
    """Return segments as one, lazy ones read here and now."""
    mixed = cast("list[bytes | Lazy]", segments)
    return b"".join(segment if isinstance(segment, bytes) else segment.whole() for segment in mixed)
