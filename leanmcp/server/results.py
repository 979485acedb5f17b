"""Results of tool calls, encoded once and spliced: no result is built as a dict and encoded again.

In: what a tool returned. Out: the segments of one JSON-RPC response. A structured value is encoded to bytes once;
its text duplicate is the same bytes as a JSON string.
Spec 2026-07-28: server/tools, "Tool Result"; basic/index, "ResultType".

What Python values become in JSON, in text and structured content alike: Struct, dataclass, attrs and pydantic objects
under the names that the schema publishes; NamedTuple and tuple arrays; set an array; Enum its value; date, time and
datetime ISO 8601; timedelta ISO 8601 duration; UUID, Decimal and Path text; bytes base64; int keys text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from ..logs import logger
from ..protocol.jsonrpc import RESPONSE_START, RequestId, Segments, encode_id
from ..types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    ResourceLink,
    TextContent,
)
from .calling import InputRequired
from .content import Audio, File, Image
from .encoding import ResultError, encode_block, encode_json, own_members, server_member, unencodable

BLOCKS = (TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource)
MEDIA = (Image, Audio, File)
_RESULT = b',"result":{"resultType":"complete","content":'
_META = b',"_meta":{'
_TEXT = b'[{"type":"text","text":'
_RESULT_TEXT = _RESULT + _TEXT
_JOIN_SIZE = 16 * 1024  # bytes; copying less is cheaper than handing seven pieces on
_NOTEWORTHY = 1_000_000  # bytes; about 250,000 tokens
_OK = b',"isError":false'
_FAILED = b',"isError":true'

Check = Callable[[bytes], object]
"""Takes the JSON of a structured value; raises msgspec.ValidationError, in words, where the output schema refuses."""


class ResultEncoder:
    """Encodes the results of one tool; every constant is joined at registration.

    Args:
        server_info: the JSON of `serverInfo`, carried in each result's `_meta`.
        structured: whether the tool has an output schema, so that `structuredContent` is sent.
        wrap: whether the value travels as `{"result": value}`.
        check: the output schema's check of the value before it is wrapped, None where there is nothing to check.
        text_only: whether the declared return type is `str`.
        max_size: bytes of the largest response, None for no limit.
        may_hold_nan: whether a float may be in a structured value.
        tool: its name, for the one warning about a large result; empty where there is none to warn of.
    """

    __slots__ = (
        "_after_text",
        "_check",
        "_end",
        "_failure",
        "_failure_text",
        "_info",
        "_max_size",
        "_may_hold_nan",
        "_noteworthy",
        "_plain",
        "_server",
        "_structured",
        "_text_only",
        "_tool",
        "_wrap",
    )

    def __init__(
        self,
        server_info: bytes,
        *,
        structured: bool = False,
        wrap: bool = False,
        check: Check | None = None,
        text_only: bool = False,
        max_size: int | None = None,
        may_hold_nan: bool = True,
        tool: str = "",
    ) -> None:
        self._tool = tool
        self._noteworthy = max_size or (_NOTEWORTHY if tool else math.inf)
        self._structured, self._wrap, self._check, self._text_only = structured, wrap, check, text_only
        self._max_size = max_size
        self._may_hold_nan = may_hold_nan
        self._failure_text: str | None = None
        self._failure = b""
        self._server = server_member(server_info) + b"}"
        self._info = _META + self._server
        self._end = (b"}" if wrap else b"") + _OK + self._info + b"}}"
        self._after_text = b'}],"structuredContent":' + (b'{"result":' if wrap else b"")
        pieces = [RESPONSE_START, b"%d", _RESULT_TEXT, b"%b", self._after_text, b"%b", _literal(self._end)]
        self._plain = b"".join(pieces)

    def encode(self, value: object, request_id: RequestId) -> Segments:
        """Return the response that carries `value`.

        Raises:
            InputRequired: the value asks the client first.
            ResultError: the value has no JSON form (NaN, a lone surrogate, an unknown type), does not fit the output
                schema or is too large; the text says where.
        """
        if type(value) is str and self._text_only:
            try:
                text = orjson.dumps(value)
            except orjson.JSONEncodeError:
                raise unencodable(value) from None
            if type(request_id) is int and len(text) <= _JOIN_SIZE:
                segments = [self._plain % (request_id, text, text)]
            else:
                start = [RESPONSE_START, encode_id(request_id), _RESULT_TEXT]
                segments = [*start, text, self._after_text, text, self._end]
        elif isinstance(value, CallToolResult):
            segments = self._encode_whole(value, request_id)
        elif isinstance(value, InputRequiredResult):
            raise InputRequired(value)
        elif self._structured:
            segments = self._encode_structured(value, request_id)
        else:
            segments = self._join(request_id, _content(value), [], _OK)
            if type(value) is dict and "isError" in value:
                self._tell_shape(value)
        # One segment is a small text: nothing to look at, unless the author has set a limit.
        if (len(segments) > 1 or self._max_size is not None) and sum(map(len, segments)) > self._noteworthy:
            self._tell_size(sum(map(len, segments)))
        return segments

    def _tell_size(self, size: int) -> None:
        """Refuse a result that is over the author's limit; without one, warn once of a result that few can use."""
        if self._max_size is not None:
            raise ResultError(f"The result has {size} bytes, over the {self._max_size} allowed; ask for less at once")
        self._noteworthy = math.inf
        logger.warning(
            "tool %s: a result of %s bytes is more than most models and hosts take; return less, in pages, or a "
            "ResourceLink; max_result= sets a limit [LM506]",
            self._tool,
            f"{size:,}",
        )

    def _tell_shape(self, value: dict[Any, Any]) -> None:
        """Warn once of a dict that is probably meant as a whole result."""
        if self._tool and isinstance(value["isError"], bool) and isinstance(value.get("content"), list):
            logger.warning(
                "tool %s: it returned a dict with content and isError, which is sent as data; to fail, raise "
                "ToolError(text), or return CallToolResult(content=[...], is_error=True) [LM523]",
                self._tool,
            )
            self._tool = ""

    def error(self, blocks: list[Any], request_id: RequestId) -> Segments:
        """Return an `isError` response with `blocks` for the model, texts or content blocks."""
        return self._join(request_id, _blocks([_readable(block) for block in blocks]), [], _FAILED)

    def failure(self, text: str, request_id: RequestId) -> Segments:
        """Return what `error` does for one text, encoded once as long as the text stays the same."""
        if text != self._failure_text:
            self._failure_text = text
            self._failure = b"".join(self.error([text], 0)[2:])
        return [RESPONSE_START, encode_id(request_id), self._failure]

    def _encode_structured(self, value: object, request_id: RequestId) -> Segments:
        data = encode_json(value, may_hold_nan=self._may_hold_nan, is_read_again=self._check is not None)
        self._verify(data)
        if type(value) is dict and "isError" in value:
            self._tell_shape(value)
        text = data if isinstance(value, str) else orjson.dumps(data.decode())
        return [RESPONSE_START, encode_id(request_id), _RESULT_TEXT, text, self._after_text, data, self._end]

    def _encode_whole(self, result: CallToolResult, request_id: RequestId) -> Segments:
        """Encode a result that the tool put together itself; an error is never checked against the output schema."""
        structured: Segments = []
        if result.is_error:
            return self._join(request_id, _blocks(result.content), structured, _FAILED, result.meta)
        content = result.structured_content
        # As in the official SDK, None is nothing, unless an output schema asks for a value.
        if content is not None or (self._structured and result.has_structured_content):
            data = encode_json(content)
            self._verify(_unwrapped(data) if self._wrap else data)
            structured = [b',"structuredContent":', data]
        elif self._structured:
            raise ResultError("The result has no structured content, but the tool has an output schema")
        return self._join(request_id, _blocks(result.content), structured, _OK, result.meta)

    def _verify(self, data: bytes) -> None:
        if self._check is not None:
            try:
                self._check(data)
            except msgspec.ValidationError as fault:
                raise ResultError(str(fault)) from None

    def _join(
        self,
        request_id: RequestId,
        content: Segments,
        structured: Segments,
        flag: bytes,
        meta: dict[str, Any] | None = None,
    ) -> Segments:
        info = self._info if meta is None else _META + own_members(meta) + self._server
        return [RESPONSE_START, encode_id(request_id), _RESULT, *content, *structured, flag, info, b"}}"]


def _literal(data: bytes) -> bytes:
    """Return `data` as it stands in a format."""
    return data.replace(b"%", b"%%")


def _readable(block: Any) -> Any:
    """Return an error text without what JSON cannot carry: the model must get it in any case."""
    return block.encode("utf-8", "backslashreplace").decode() if type(block) is str else block


def _unwrapped(data: bytes) -> bytes:
    """Return the value inside `{"result": value}`; a missing one fails the check that follows."""
    try:
        return bytes(msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("result", b""))
    except msgspec.DecodeError:
        return b""


# --- content ------------------------------------------------------------------------------------------------------


def _content(value: object) -> Segments:
    """Return the content array for a value of a tool without output schema."""
    if isinstance(value, BLOCKS + MEDIA):
        return _blocks([value])
    if isinstance(value, list | tuple) and any(isinstance(item, BLOCKS + MEDIA) for item in value):
        return _blocks(list(value))
    return _blocks([value if isinstance(value, str) else encode_json(value).decode()])


def _blocks(items: list[Any]) -> Segments:
    """Return the JSON array of content blocks; plain values among them become text blocks."""
    segments = [b"["]
    for item in items:
        if len(segments) > 1:
            segments.append(b",")
        if isinstance(item, MEDIA):
            segments += item.segments()
        elif isinstance(item, BLOCKS):
            segments.append(encode_block(item))
        else:
            segments += [_TEXT[1:], _text(item), b"}"]
    segments.append(b"]")
    return segments


def _text(value: object) -> bytes:
    if not isinstance(value, str):
        return orjson.dumps(encode_json(value).decode())
    try:
        return orjson.dumps(str.__str__(value))  # a subclass such as StrEnum stands for its text
    except orjson.JSONEncodeError:
        raise unencodable(value) from None
