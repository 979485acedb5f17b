"""Files as contents of resources: opened safely, and read while they are sent.

In: a path. Out: the segments of a `text` or `blob` member; large ones are lazy: base64 and JSON escapes are made piece
by piece, in worker threads.
Spec 2026-07-28: server/resources, "Security Considerations" 3 and 5.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, cast

import msgspec
import orjson

from ..errors import ResourceError, ResourceNotFoundError
from ..protocol.jsonrpc import Segments
from ..protocol.pieces import Lazy
from .content import encode_base64, guess_type, is_text_type
from .threads import ThreadPool

__all__ = ["StoredFile", "read_file"]

PIECE = 192 * 1024  # bytes; a multiple of three, so that base64 has no padding in between
MAX_WHOLE = 64 * 1024 * 1024  # bytes of a file where answers are not sent in pieces
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY  # a FIFO or terminal must not hold the thread up


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is read when it is sent.

    Args:
        path: absolute.
        root: folder that the file must lie in, links followed; without symbolic links itself.
        mime_type: default: told by the name; else text/plain for UTF-8 without NUL, application/octet-stream otherwise.
        uri: of the contents; default: the one that was asked for.
    """

    path: str
    root: str | None = None
    mime_type: str | None = None
    uri: str | None = None

    @property
    def media_type(self) -> str | None:
        """The media type, where it is known without a look into the file."""
        return self.mime_type or guess_type(self.path)


class _Open:
    """An open regular file, closed with the last reference to it."""

    __slots__ = ("fd", "size")

    def __init__(self, fd: int, size: int) -> None:
        self.fd = fd
        self.size = size

    def read(self, at: int, size: int) -> bytes:
        return os.pread(self.fd, size, at)

    def close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            with contextlib.suppress(OSError):
                os.close(fd)

    __del__ = close


def _open(file: StoredFile) -> _Open:
    """Thread: open the file, and make sure that what was opened is what may be read.

    Raises:
        ResourceNotFoundError: there is no such regular file below the root.
        OSError: it may not be read.
    """
    try:
        if not stat.S_ISREG(os.stat(file.path).st_mode):  # opening a device may do something already
            raise ResourceNotFoundError
        opened = _Open(os.open(file.path, _FLAGS), 0)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # a NUL in the path, a lone surrogate
        raise ResourceNotFoundError from None
    except OSError as error:
        if file.root is not None:  # a name that is too long, a loop of links, a file that the server may not read
            raise ResourceNotFoundError from error
        raise
    found = os.fstat(opened.fd)
    if not stat.S_ISREG(found.st_mode) or not (file.root is None or _lies_in(file.root, file.path, found)):
        raise ResourceNotFoundError
    opened.size = found.st_size
    return opened


def _lies_in(root: str, path: str, opened: os.stat_result) -> bool:
    """Return whether an open file lies in a folder.

    Asked after opening: the path without links is taken now, must lie in the folder, and must be the very file that
    was opened; so a link that is changed in between is no way out.
    """
    try:
        real = os.path.realpath(path)  # fails on a link that becomes a file meanwhile
        return os.path.commonpath((root, real)) == root and os.path.samestat(os.lstat(real), opened)
    except (OSError, ValueError):
        return False


async def read_file(
    file: StoredFile, threads: ThreadPool, *, lazy: bool, max_size: int | None = None
) -> tuple[str, bytes, Segments]:
    """Return media type, name of the member (`text` or `blob`), and the JSON string that it holds.

    Args:
        file: what to read.
        threads: do the work.
        lazy: whether lazy segments may be sent; without them, 64 MiB are the limit.
        max_size: bytes of the largest file, None for no limit.

    Raises:
        ResourceNotFoundError: there is no such file.
        ResourceError: it is too large.
        OSError: it cannot be read.
    """

    kind = file.media_type
    may_be_text = kind is None or is_text_type(kind)

    def load() -> tuple[bytes, Segments]:
        opened = _open(file)
        most = min((size for size in (max_size, None if lazy else MAX_WHOLE) if size is not None), default=None)
        if most is not None and opened.size > most:
            raise ResourceError(f"The file has {opened.size} bytes, over the {most} allowed")
        if lazy and opened.size > PIECE:
            length = _escaped_length(opened, known=kind is not None) if may_be_text else None
            if length is None:
                return b"blob", cast("Segments", [b'"', _Base64(opened, threads), b'"'])
            return b"text", cast("Segments", [b'"', _Text(opened, threads, length), b'"'])
        # One of size 0 is empty, or made up by the kernel while it is read, as those in /proc are.
        data = _read_all(opened) if opened.size else _read_on(opened, min(max_size or MAX_WHOLE, MAX_WHOLE))
        return _whole(data, may_be_text and (kind is not None or b"\0" not in data))

    member, data = await threads.run(load)
    return kind or ("text/plain" if member == b"text" else "application/octet-stream"), member, data


def _read_all(opened: _Open) -> bytes:
    pieces: list[bytes] = []
    at = 0
    while at < opened.size and (piece := opened.read(at, opened.size - at)):
        pieces.append(piece)
        at += len(piece)
    opened.close()
    return b"".join(pieces)


def _read_on(opened: _Open, most: int) -> bytes:
    """Return what a file holds that does not say how much it is; ResourceError over `most` bytes."""
    data = bytearray()
    while piece := opened.read(len(data), PIECE):
        data += piece
        if len(data) > most:
            raise ResourceError(f"The file has more than the {most} bytes allowed")
    opened.close()
    return bytes(data)


def _whole(data: bytes, is_text: bool) -> tuple[bytes, Segments]:
    if is_text:
        try:
            return b"text", [orjson.dumps(data.decode())]
        except UnicodeDecodeError:
            pass  # another encoding than its type promises: the bytes go as they are
    return b"blob", [b'"', encode_base64(data), b'"']


def _escaped_length(opened: _Open, *, known: bool) -> int | None:
    """Thread: return the length of the text as a JSON string without quotes.

    None where it is no UTF-8, or, where it is not known to be a text at all, has a NUL in it.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    length, at = 0, 0
    try:
        while at < opened.size:
            data = opened.read(at, min(PIECE, opened.size - at))
            if not data or (not known and b"\0" in data):
                return None
            at += len(data)
            length += len(_escape(decode(data, at >= opened.size)))
    except UnicodeDecodeError:
        return None
    return length


def _escape(text: str) -> bytes:
    return orjson.dumps(text)[1:-1]


class _FilePieces(Lazy):
    """Reads a file piece by piece, as long as it was when it was opened."""

    __slots__ = ("_at", "_file", "_length", "_sent", "_threads")

    def __init__(self, file: _Open, threads: ThreadPool, length: int) -> None:
        self._file = file
        self._threads = threads
        self._length = length
        self._at = 0
        self._sent = 0

    def __len__(self) -> int:
        return self._length

    async def read(self) -> bytes:
        piece: bytes = await self._threads.run(self._next)
        self._sent += len(piece)
        if self._sent > self._length or (not piece and self._sent < self._length):
            raise OSError("the file has changed while it was sent")
        return piece

    def whole(self) -> bytes:
        return b"".join(iter(self._again()._next, b""))

    @abstractmethod
    def _again(self) -> _FilePieces:
        """Return the same, not begun."""

    def _next(self) -> bytes:
        """Thread: read and encode one piece; empty at the end of the file only."""
        piece = b""
        while not piece and self._at < self._file.size:
            data = self._file.read(self._at, min(PIECE, self._file.size - self._at))
            if not data:  # it has become shorter
                break
            self._at += len(data)
            piece = self._encode(data)
        return piece

    @abstractmethod
    def _encode(self, data: bytes) -> bytes:
        """Return a piece of the file as it stands in the answer."""


class _Base64(_FilePieces):
    __slots__ = ("_rest",)

    def __init__(self, file: _Open, threads: ThreadPool) -> None:
        super().__init__(file, threads, (file.size + 2) // 3 * 4)
        self._rest = b""

    def _again(self) -> _FilePieces:
        return _Base64(self._file, self._threads)

    def _encode(self, data: bytes) -> bytes:
        data = self._rest + data
        cut = len(data) if self._at >= self._file.size else len(data) - len(data) % 3
        self._rest = data[cut:]
        return encode_base64(data[:cut])


class _Text(_FilePieces):
    __slots__ = ("_decode",)

    def __init__(self, file: _Open, threads: ThreadPool, length: int) -> None:
        super().__init__(file, threads, length)
        self._decode: Callable[[bytes, bool], str] = codecs.getincrementaldecoder("utf-8")().decode

    def _again(self) -> _FilePieces:
        return _Text(self._file, self._threads, self._length)

    def _encode(self, data: bytes) -> bytes:
        try:
            return _escape(self._decode(data, self._at >= self._file.size))
        except UnicodeDecodeError:
            raise OSError("the file has changed while it was sent") from None


def stored(path: os.PathLike[str] | str, **options: Any) -> StoredFile:
    """Return the file at a path that a function gave."""
    return StoredFile(path=os.path.abspath(os.fspath(path)), **options)
