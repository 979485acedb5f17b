"""What a resource function may return, as the `contents` of resources/read.

In: a value. Out: the segments of one response. One value gives one element of `contents`, with the URI that was asked
for; a list with contents, media, files or bytes in it gives one for each item.

- `str`: text, as text/plain unless the resource says otherwise;
- `bytes`, Image, Audio: a base64 blob, as application/octet-stream unless it is said otherwise;
- File, and a Path, which is read while it is sent: text or blob, by the media type;
- TextResourceContents, BlobResourceContents: as they are;
- everything else that has a JSON form: its JSON, as application/json;
- ReadResourceResult: all of it, with a cache hint of its own.

None is refused: what is not there has to be said by ResourceNotFoundError.
Spec 2026-07-28: server/resources, "Reading Resources" and "Error Handling"; server/utilities/caching.
"""

from __future__ import annotations

import os
from typing import Any

import msgspec
import orjson

from ..errors import ResourceError
from ..protocol.jsonrpc import RESPONSE_START, RequestId, Segments, encode_id
from ..types import BlobResourceContents, ReadResourceResult, TextResourceContents
from .content import Audio, File, Image, encode_base64
from .encoding import ResultError, check_base64, encode_json, own_members, server_member, unencodable
from .lists import CacheHint
from .resource_files import StoredFile, read_file, stored
from .threads import ThreadPool

__all__ = ["ContentsEncoder", "contents_of"]

_RESULT = b',"result":{"resultType":"complete","contents":['
_SEPARATE = (TextResourceContents, BlobResourceContents, Image, Audio, File, StoredFile, os.PathLike, bytes, bytearray)
_ONCE = CacheHint()
"""Of an answer that depends on what a client was asked: nobody may keep it (server/utilities/caching, "Cache Key")."""


class ContentsEncoder:
    """Encodes what one resource gives.

    Args:
        mime_type: as declared, None where it depends on the value.
        hint: the resource's.
        server_info: the JSON of `serverInfo`.
        max_size: bytes of the largest text or blob, before it is encoded; None for no limit.
    """

    __slots__ = ("_hint", "_info", "_max_size", "_mime_type")

    def __init__(self, mime_type: str | None, hint: CacheHint, server_info: bytes, max_size: int | None) -> None:
        self._mime_type = mime_type
        self._hint = hint
        self._info = server_member(server_info) + b"}}}"
        self._max_size = max_size

    async def encode(
        self, value: object, uri: str, request_id: RequestId, threads: ThreadPool, *, lazy: bool, retried: bool
    ) -> Segments:
        """Return the response that carries `value`.

        Args:
            uri: that was asked for.
            threads: read files.
            lazy: whether large files may be read while they are sent.
            retried: whether the value depends on answers of the client.

        Raises:
            ResourceNotFoundError: a file that is not there.
            ResultError: the value has no JSON form, is None, or a blob is no base64.
            ResourceError: too large.
        """
        hint, meta = self._hint, None
        items: list[Any] = [value]
        if isinstance(value, ReadResourceResult):
            items, meta = list(value.contents), value.meta
            hint = CacheHint(hint.ttl_ms if value.ttl_ms is None else value.ttl_ms, value.cache_scope or hint.scope)
        elif isinstance(value, list | tuple) and any(isinstance(item, _SEPARATE) for item in value):
            items = list(value)
        if not items:
            raise ResultError("A resource has at least one element of contents; raise ResourceNotFoundError instead")
        segments: Segments = [RESPONSE_START, encode_id(request_id), _RESULT]
        for number, item in enumerate(items):
            if number:
                segments.append(b",")
            segments += await self._element(item, uri, threads, lazy)
        hint = _ONCE if retried else hint
        own = own_members(meta)
        end = b'],"ttlMs":%d,"cacheScope":"%s","_meta":{' % (hint.ttl_ms, hint.scope.encode())
        segments.append(end + own + self._info)
        return segments

    async def _element(self, value: Any, uri: str, threads: ThreadPool, lazy: bool) -> Segments:
        """Return one element of `contents`."""
        if type(value) is str:
            return self._text(value, uri)
        if isinstance(value, bytes | bytearray | memoryview):
            self._check_size(len(value))
            start = _start(uri, self._mime_type or "application/octet-stream")
            return [start + b',"blob":"', encode_base64(value), b'"}']
        if isinstance(value, TextResourceContents | BlobResourceContents):
            return self._whole(value)
        if isinstance(value, Image | Audio | File):
            self._check_size(value.size)
            return value.contents(uri, self._mime_type) if isinstance(value, File) else value.contents(uri)
        if isinstance(value, os.PathLike):
            value = stored(value, mime_type=self._mime_type)
        if isinstance(value, StoredFile):
            kind, member, data = await read_file(value, threads, lazy=lazy, max_size=self._max_size)
            return [_start(value.uri or uri, kind) + b',"%s":' % member, *data, b"}"]
        if value is None:
            raise ResultError("The resource returned None; return its contents, or raise ResourceNotFoundError")
        if isinstance(value, str):
            return self._text(str.__str__(value), uri)  # a subclass such as StrEnum stands for its text
        text = encode_json(value)
        self._check_size(len(text))
        start = _start(uri, self._mime_type or "application/json")
        return [start + b',"text":', orjson.dumps(text.decode()), b"}"]

    def _text(self, text: str, uri: str) -> Segments:
        try:
            data = orjson.dumps(text)
        except orjson.JSONEncodeError:
            raise unencodable(text) from None
        self._check_size(len(data) - 2)
        return [_start(uri, self._mime_type or "text/plain") + b',"text":', data, b"}"]

    def _whole(self, contents: TextResourceContents | BlobResourceContents) -> Segments:
        if isinstance(contents, TextResourceContents):
            self._check_size(len(contents.text))
        else:
            self._check_size(check_base64(contents.blob, f"blob of {contents.uri!r}"))
        return [encode_json(contents)]

    def _check_size(self, size: int) -> None:
        if self._max_size is not None and size > self._max_size:
            raise ResourceError(f"The resource has {size} bytes, over the {self._max_size} allowed")


def _start(uri: str, mime_type: str) -> bytes:
    """Return the first members of an element, without what closes it."""
    return b'{"uri":%s,"mimeType":%s' % (msgspec.json.encode(uri), msgspec.json.encode(mime_type))


class _ReadMessage(msgspec.Struct):
    result: ReadResourceResult


def contents_of(response: bytes) -> list[TextResourceContents | BlobResourceContents]:
    """Return the contents in a response, for a function that reads another resource."""
    return msgspec.json.decode(response, type=_ReadMessage).result.contents
