"""What a tool may return besides plain values: pictures, sound, files, and JSON that is bytes already.

In: bytes, a path, or text. Out: the segments of one content block. base64 is made once and spliced between its
quotes; it never passes through a JSON escaper.
Spec 2026-07-28: server/tools, "Tool Result".
"""

from __future__ import annotations

import binascii
import os
from typing import Any

import msgspec

from ..protocol.jsonrpc import Segments
from ..types import Annotations

__all__ = ["Audio", "File", "Image", "RawJSON", "encode_base64", "guess_type", "is_text_type"]


class RawJSON:
    """A value that is JSON already: `RawJSON(b'{"rows":[1,2]}')`.

    Args:
        data: UTF-8 JSON, bytes or text. It is checked, and put on one line, but never decoded into objects.

    Raises:
        ValueError: the data is not JSON.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes | str) -> None:
        raw = data.encode() if isinstance(data, str) else bytes(data)
        try:
            msgspec.json.decode(raw, type=msgspec.Raw)
            raw.decode()
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise ValueError(f"RawJSON: not JSON: {fault}") from None
        # A line feed between tokens is legal JSON, but would end the message on stdio.
        self.data = msgspec.json.format(raw, indent=-1) if b"\n" in raw or b"\r" in raw else raw


class _Media:
    """Bytes with a media type, from memory or from a file.

    Args:
        path: file to read, at once: in the thread of a `def` tool, not on the event loop.
        data: the bytes themselves; exactly one of `path` and `data` is given.
        format: subtype such as "png"; default: from the name of the file.
        mime_type: the whole media type, instead of `format`.
        annotations: hints on audience, priority and age.
        meta: the block's `_meta`.

    Raises:
        ValueError: not exactly one source, or a media type that cannot be told.
        OSError: the file cannot be read.
    """

    kind: str
    default_format: str

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        data: bytes | None = None,
        format: str | None = None,  # noqa: A002  the official SDK's name
        *,
        mime_type: str | None = None,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        _one_source(self, path, data)
        self._path: str | None = None if path is None else os.fspath(path)
        self.mime_type = mime_type or self._guess(format)
        self._data = _read(self._path, data)
        self._annotations = annotations
        self._meta = meta

    def _guess(self, subtype: str | None) -> str:
        if subtype is None and self._path is not None:
            guessed = guess_type(self._path)
            if guessed is None or not guessed.startswith(f"{self.kind}/"):
                raise ValueError(f"{type(self).__name__}({self._path!r}): give format= or mime_type=")
            return guessed
        return f"{self.kind}/{subtype or self.default_format}"

    @property
    def size(self) -> int:
        """Bytes of the data."""
        return len(self._data)

    def contents(self, uri: str) -> Segments:
        """Return the contents of the resource `uri` as JSON."""
        start = b"{" + _members(uri=uri, mimeType=self.mime_type, _meta=self._meta)
        return [start + b',"blob":"', encode_base64(self._data), b'"}']

    def segments(self) -> Segments:
        """Return the content block as JSON."""
        rest = _members(mimeType=self.mime_type, annotations=self._annotations, _meta=self._meta)
        return [b'{"type":"%s","data":"' % self.kind.encode(), encode_base64(self._data), b'",' + rest + b"}"]


class Image(_Media):
    """A picture, sent as an image block; `format` defaults to png for bytes."""

    kind, default_format = "image", "png"


class Audio(_Media):
    """Sound, sent as an audio block; `format` defaults to wav for bytes."""

    kind, default_format = "audio", "wav"


class File:
    """A file, sent as an embedded resource: text as `text`, anything else as a base64 `blob`.

    Args:
        path: file to read, at once: in the thread of a `def` tool, not on the event loop.
        data: text, or bytes, instead of a path; then give `uri` or `name`.
        uri: default: the `file:` URI of the path, or of the name.
        name: file name, where there is no path.
        mime_type: default: from the name.
        annotations: hints on audience, priority and age.
        meta: the block's `_meta`.

    Raises:
        ValueError: not exactly one source, or no name for it.
        OSError: the file cannot be read.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        data: bytes | str | None = None,
        *,
        uri: str | None = None,
        name: str | None = None,
        mime_type: str | None = None,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        _one_source(self, path, data)
        self._path: str | None = None if path is None else os.fspath(path)
        self._data = _read(self._path, data)
        label = self._path or name
        if uri is None and label is None:
            raise ValueError("File(data=...): give uri= or name= too")
        self.given_uri = uri
        self.uri = uri or _file_uri(os.path.abspath(label or "") if self._path else f"/{label}")
        self.mime_type = mime_type or (None if label is None else guess_type(label))
        self._annotations = annotations
        self._meta = meta

    def segments(self) -> Segments:
        """Return the content block as JSON."""
        end = _members(annotations=self._annotations, _meta=self._meta)
        start = b'{"type":"resource","resource":{' + _members(uri=self.uri, mimeType=self.mime_type)
        return [start, *self._data_member(), b"}" + (b"," + end if end else b"") + b"}"]

    @property
    def size(self) -> int:
        """Bytes of the data, or characters of a text."""
        return len(self._data)

    def contents(self, uri: str, mime_type: str | None = None) -> Segments:
        """Return the contents of a resource as JSON.

        Args:
            uri: for a file that was given none of its own.
            mime_type: likewise.
        """
        start = _members(uri=self.given_uri or uri, mimeType=self.mime_type or mime_type, _meta=self._meta)
        return [b"{" + start, *self._data_member(mime_type), b"}"]

    def _data_member(self, mime_type: str | None = None) -> Segments:
        data = self._data
        text = data if isinstance(data, str) else _text(data, self.mime_type or mime_type)
        if text is not None:
            return [b',"text":', msgspec.json.encode(text)]
        return [b',"blob":"', encode_base64(data), b'"']


def _one_source(owner: object, path: object, data: object) -> None:
    if (path is None) == (data is None):
        raise ValueError(f"{type(owner).__name__}: give exactly one of path= and data=")
    if isinstance(path, bytes | bytearray | memoryview):
        raise TypeError(f"{type(owner).__name__}: bytes are given with a name, data=...")
    if isinstance(data, str) and isinstance(owner, _Media):
        raise TypeError(f"{type(owner).__name__}: data= holds bytes, not a text; decode base64, or give a path")


def _read(path: str | None, data: bytes | str | None) -> Any:
    if path is None:
        return data
    with open(path, "rb") as file:
        return file.read()


def _file_uri(path: str) -> str:
    from pathlib import PurePath  # six modules that only files need

    return PurePath(path).as_uri()


def is_text_type(mime_type: str | None) -> bool:
    """Tell whether what has this media type is text."""
    kind = (mime_type or "").partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind in _TEXT_TYPES or kind.endswith(("+json", "+xml"))


def _text(data: bytes, mime_type: str | None) -> str | None:
    """Return the text of a file whose type is one of text, None for anything else."""
    if not is_text_type(mime_type):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


_TEXT_TYPES = {"application/json", "application/xml", "application/javascript", "application/x-sh"}


def encode_base64(data: bytes | bytearray | memoryview) -> bytes:
    """Return the base64 of bytes, on one line."""
    return binascii.b2a_base64(data, newline=False)


def _members(**members: Any) -> bytes:
    """Return the members that are set, without braces; ResultError where one has no JSON form."""
    from .encoding import encode_json  # which knows RawJSON

    return encode_json({name: value for name, value in members.items() if value is not None})[1:-1]


def guess_type(path: str) -> str | None:
    """Return the media type that the name of a file tells, None where it tells none."""
    import mimetypes  # reads the machine's tables; only files need it

    return mimetypes.guess_type(os.path.basename(path))[0]
