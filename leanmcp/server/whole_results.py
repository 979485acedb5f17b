"""Results that are no feature's own: what middleware answers with, and what the methods of extensions return.

In: a dict or an object with fields. Out: the segments of one response, with everything that a result must have.
Spec 2026-07-28: basic/index, "ResultType", "Per-response protocol fields"; server/utilities/caching.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .. import types
from ..protocol.jsonrpc import RESPONSE_START, RequestId, Segments, encode_id
from ..types import CallToolResult, InputRequiredResult
from .encoding import encode_json, own_members, server_member
from .lists import CACHEABLE, DEFAULT_HINT
from .results import ResultEncoder

CORE_RESULT_TYPES = ("complete", "input_required")
_SHAPES = {
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "completion/complete": "CompleteResult",
}


def encode_result(value: object, method: str, request_id: RequestId, server_info: bytes) -> tuple[Segments, str]:
    """Return the response that carries a whole result, and its `resultType`.

    Args:
        value: the members of the result, as a mapping, Struct, dataclass or pydantic model; `resultType`, `_meta` with
            `serverInfo` and, of cacheable methods, a cache hint are filled in.
        server_info: the JSON of `serverInfo`.

    Raises:
        TypeError: the value is no result.
        ResultError: a member has no JSON form.
    """
    if isinstance(value, CallToolResult):
        return ResultEncoder(server_info).encode(value, request_id), "complete"
    if value is None or isinstance(value, InputRequiredResult):
        raise TypeError(f"{method}: {value!r} is no result; return its members as a dict")
    members = members_of(value, method)
    result_type = members.setdefault("resultType", "complete")
    if method in CACHEABLE:
        members.setdefault("ttlMs", DEFAULT_HINT.ttl_ms)
        members.setdefault("cacheScope", DEFAULT_HINT.scope)
    meta = members.pop("_meta", {})
    if not isinstance(meta, Mapping):
        raise TypeError(f"{method}: `_meta` of a result is an object, and {type(meta).__name__} is none")
    data, own = encode_json(members), own_members(dict(meta))
    _check(data, method, result_type)
    end = b',"_meta":{' + own + server_member(server_info) + b"}}}"
    return [RESPONSE_START, encode_id(request_id), b',"result":', data[:-1], end], result_type


def _check(data: bytes, method: str, result_type: object) -> None:
    """Refuse, with TypeError, what clients could not read as a result of a method of the specification."""
    shape = _SHAPES.get(method) if result_type == "complete" else None
    if shape is not None:
        try:
            msgspec.json.decode(data, type=getattr(types, shape))
        except msgspec.ValidationError as fault:
            raise TypeError(f"{method}: this is no {shape}: {fault}") from None


def members_of(value: object, method: str) -> dict[str, Any]:
    """Return the members of an object result as they travel.

    Raises:
        TypeError: the value is no object in JSON.
        ResultError: it has no JSON form.
    """
    if isinstance(value, Mapping):
        return dict(value)
    data = encode_json(value)
    if not data.startswith(b"{"):
        raise TypeError(f"{method}: a result is an object, and {type(value).__name__} is none; return a dict")
    members: dict[str, Any] = msgspec.json.decode(data)
    return members
