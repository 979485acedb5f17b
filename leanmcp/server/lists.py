"""Answers that change only with the registry: encoded once, then prefix + id + suffix.

Spec 2026-07-28: server/discover; server/tools, "Listing Tools"; server/utilities/caching.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..protocol.jsonrpc import RequestId, Segments, encode_id

_START = b'{"jsonrpc":"2.0","id":'
_RESULT = b',"result":'


class CacheHint(msgspec.Struct, frozen=True):
    """How long, and for whom, a client may keep a result.

    Args:
        ttl_ms: milliseconds that the result stays fresh; 0 is stale at once.
        scope: `public` where every caller gets the same answer, else `private`.

    Raises:
        ValueError: a negative ttl or an unknown scope.
    """

    ttl_ms: int = 0
    scope: Literal["public", "private"] = "private"

    def __post_init__(self) -> None:
        if self.ttl_ms < 0:
            raise ValueError(f"CacheHint(ttl_ms={self.ttl_ms}): give 0 or more milliseconds")
        if self.scope not in ("public", "private"):
            raise ValueError(f"CacheHint(scope={self.scope!r}): give 'public' or 'private'")


DEFAULT_HINT = CacheHint()


class EncodedResult:
    """A cacheable result that waits for an id.

    Args:
        members: the members of the result besides `resultType`, the cache hint and `_meta`.
        hint: `ttlMs` and `cacheScope`.
        server_info: the JSON of `serverInfo`.
    """

    __slots__ = ("_rest",)

    def __init__(self, members: dict[str, Any], hint: CacheHint, server_info: bytes) -> None:
        result = {
            "resultType": "complete",
            **members,
            "ttlMs": hint.ttl_ms,
            "cacheScope": hint.scope,
            "_meta": {"io.modelcontextprotocol/serverInfo": msgspec.Raw(server_info)},
        }
        self._rest = _RESULT + msgspec.json.encode(result) + b"}"

    def answer(self, request_id: RequestId) -> Segments:
        """Return the response to the request `request_id`."""
        return [_START, encode_id(request_id), self._rest]
