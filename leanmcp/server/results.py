"""Results of tool calls, encoded once and spliced: no result is built as a dict and encoded again.

In: what a tool returned. Out: the segments of one JSON-RPC response. A structured value is encoded to bytes once;
its text duplicate is the same bytes as a JSON string.
Spec 2026-07-28: server/tools, "Tool Result"; basic/index, "ResultType".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import orjson

from ..errors import ToolError
from ..protocol.jsonrpc import RequestId, Segments, encode_id
from ..types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

_BLOCKS = (TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource)
_START = b'{"jsonrpc":"2.0","id":'
_RESULT = b',"result":{"resultType":"complete","content":'
_TEXT = b'[{"type":"text","text":'
_OK = b',"isError":false'
_FAILED = b',"isError":true'

Check = Callable[[bytes], object]
"""Takes the JSON of a structured value; raises msgspec.ValidationError where it does not fit the output schema."""


class ResultEncoder:
    """Encodes the results of one tool; every constant is joined at registration.

    Args:
        server_info: the JSON of `serverInfo`, carried in each result's `_meta`.
        structured: whether the tool has an output schema, so that `structuredContent` is sent.
        wrap: whether the value travels as `{"result": value}`.
        check: the output schema's check, None where there is nothing to check.
        text_only: whether the declared return type is `str`.
    """

    __slots__ = ("_after_text", "_check", "_end", "_info", "_structured", "_text_only", "_wrap")

    def __init__(
        self,
        server_info: bytes,
        *,
        structured: bool = False,
        wrap: bool = False,
        check: Check | None = None,
        text_only: bool = False,
    ) -> None:
        self._structured, self._wrap, self._check, self._text_only = structured, wrap, check, text_only
        self._info = b',"_meta":{"io.modelcontextprotocol/serverInfo":' + server_info + b"}"
        self._end = (b"}" if wrap else b"") + _OK + self._info + b"}}"
        self._after_text = b'}],"structuredContent":' + (b'{"result":' if wrap else b"")

    def encode(self, value: object, request_id: RequestId) -> Segments:
        """Return the response that carries `value`.

        Raises:
            ToolError: the value has no JSON form (NaN, a lone surrogate, an unknown type) or does not fit the output
                schema; the text names the path.
        """
        if type(value) is str and self._text_only:
            try:
                text = orjson.dumps(value)
            except orjson.JSONEncodeError:
                raise unencodable(value) from None
            return [_START, encode_id(request_id), _RESULT + _TEXT, text, self._after_text, text, self._end]
        if isinstance(value, CallToolResult):
            return self._encode_whole(value, request_id)
        blocks = _content_blocks(value)
        if blocks is not None:
            return self._wrap_content(request_id, _encode_blocks(blocks), b"", _OK)
        return self._encode_value(value, request_id)

    def error(self, text: str, request_id: RequestId) -> Segments:
        """Return an `isError` response with `text` for the model."""
        blocks = [TextContent(text=text.encode("utf-8", "backslashreplace").decode())]
        return self._wrap_content(request_id, msgspec.json.encode(blocks), b"", _FAILED)

    def _encode_value(self, value: object, request_id: RequestId) -> Segments:
        data = encode_json(value)
        text = data if isinstance(value, str) else orjson.dumps(data.decode())
        if not self._structured:
            return self._wrap_content(request_id, _TEXT + text + b"}]", b"", _OK)
        if self._check is not None:
            try:
                self._check(data)
            except msgspec.DecodeError as fault:
                raise ToolError(f"The result does not fit the tool's output schema: {fault}") from None
        return [_START, encode_id(request_id), _RESULT + _TEXT, text, self._after_text, data, self._end]

    def _encode_whole(self, result: CallToolResult, request_id: RequestId) -> Segments:
        structured = b""
        if result.structured_content is not msgspec.UNSET:
            structured = b',"structuredContent":' + encode_json(result.structured_content)
        flag = _FAILED if result.is_error else _OK
        return self._wrap_content(request_id, _encode_blocks(result.content), structured, flag, result.meta)

    def _wrap_content(
        self, request_id: RequestId, content: bytes, structured: bytes, flag: bytes, meta: dict[str, Any] | None = None
    ) -> Segments:
        info = self._info
        if meta:
            info = self._info[:-1] + b"," + encode_json(meta)[1:]
        return [_START, encode_id(request_id), _RESULT, content, structured, flag, info, b"}}"]


def _content_blocks(value: object) -> list[Any] | None:
    """Return the blocks where a tool returned one, or a list that holds at least one."""
    if isinstance(value, _BLOCKS):
        return [value]
    if isinstance(value, list | tuple) and any(isinstance(item, _BLOCKS) for item in value):
        return [item if isinstance(item, _BLOCKS) else TextContent(text=_as_text(item)) for item in value]
    return None


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else encode_json(value).decode()


def _encode_blocks(blocks: list[Any]) -> bytes:
    try:
        return msgspec.json.encode(blocks)
    except (UnicodeEncodeError, TypeError, ValueError):
        raise unencodable([msgspec.to_builtins(block) for block in blocks]) from None


def encode_json(value: object) -> bytes:
    """Return `value` as JSON.

    Raises:
        ToolError: it has no JSON form; the text names the path.
    """
    try:
        data = msgspec.json.encode(value, enc_hook=_encode_other)
    except (TypeError, ValueError, OverflowError, RecursionError) as fault:
        raise unencodable(value, fault) from None
    # NaN and Infinity are written as null, in silence: only where a null came out is there something to look for.
    if b"null" in data and _first_fault(value) is not None:
        raise unencodable(value)
    return data


def _encode_other(value: object) -> object:
    import os

    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def unencodable(value: object, fault: Exception | None = None) -> ToolError:
    """Return the error that tells where `value` has no JSON form."""
    found = _first_fault(value)
    if found is None:
        return ToolError(f"The result has no JSON form: {fault or type(value).__name__}")
    path, reason = found
    return ToolError(f"The result has no JSON form at {path or 'its root'}: {reason}")


def _first_fault(value: object) -> tuple[str, str] | None:
    """Return path and reason of the first value that JSON cannot carry; None where all can be."""
    for path, item in _leaves(value):
        if isinstance(item, float) and not math.isfinite(item):
            return path, f"{item} is no JSON number"
        if isinstance(item, str) and not _is_unicode(item):
            return path, "the text holds a lone surrogate"
        if item is Ellipsis:
            return path, "a container holds itself or is nested too deeply"
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _leaves(root: object) -> Iterator[tuple[str, object]]:
    """Yield path and value of every leaf and key, without recursion; Ellipsis where the depth has no end."""
    stack: list[tuple[str, object, int]] = [("", root, 0)]
    while stack:
        path, value, depth = stack.pop()
        if depth > 1000:
            yield path[:60], Ellipsis
            return
        children = _children(path, value)
        if children is None:
            yield path, value
        else:
            for key in value if isinstance(value, dict) else ():
                yield path, key
            stack.extend((where, item, depth + 1) for where, item in reversed(children))


def _children(path: str, value: object) -> list[tuple[str, object]] | None:
    if isinstance(value, dict):
        return [(f"{path}.{_is_unicode(str(key)) and key}".lstrip("."), item) for key, item in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    if isinstance(value, msgspec.Struct):
        names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        return [(f"{path}.{shown}".lstrip("."), getattr(value, name)) for name, shown in names]
    names_of = getattr(type(value), "__dataclass_fields__", None) or getattr(type(value), "__attrs_attrs__", None)
    if names_of:
        listed = names_of if isinstance(names_of, dict) else [attribute.name for attribute in names_of]
        return [(f"{path}.{name}".lstrip("."), getattr(value, name, None)) for name in listed]
    return None
