"""What a tool may ask about the request it serves.

A parameter annotated `Context` receives it, whatever its name; it never shows in the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from ..errors import MissingRequiredClientCapability
from ..protocol.meta import ClientInfo, Params

if TYPE_CHECKING:
    from ..protocol.http11 import Head  # stdio never loads the HTTP reader

L = TypeVar("L")
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Context(Generic[L]):
    """The request that a tool call belongs to; made only for tools that ask for it."""

    __slots__ = ("_head", "_params", "lifespan", "request_id")

    def __init__(self, request_id: int | str, params: Params, head: Head | None, lifespan: L) -> None:
        self.request_id = request_id
        self.lifespan = lifespan
        self._params = params
        self._head = head

    @property
    def request_context(self) -> Context[L]:
        """Alias for code written against the official SDK: `ctx.request_context.lifespan_context`."""
        return self

    @property
    def lifespan_context(self) -> L:
        """Alias of `lifespan`, the value that `lifespan=` yielded."""
        return self.lifespan

    @property
    def protocol_version(self) -> str:
        """The revision that the request is made in, such as "2026-07-28"."""
        return self._params.meta.protocol_version

    @property
    def client_info(self) -> ClientInfo | None:
        """Name and version that the client reports; not verified, for logs and displays only."""
        info = self._params.meta.client_info
        return info if isinstance(info, ClientInfo) else None

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """The capabilities that the client declared for this request, as plain JSON values."""
        return {name: msgspec.json.decode(raw) for name, raw in self._params.meta.client_capabilities.items()}

    @property
    def headers(self) -> Mapping[str, str]:
        """HTTP header fields, names in lower case; empty on stdio."""
        return _NO_HEADERS if self._head is None else MappingProxyType(self._head.headers)

    def require_capability(self, name: str) -> None:
        """Refuse the request unless the client declared capability `name`.

        Raises:
            MissingRequiredClientCapability: -32021 with `data.requiredCapabilities`, HTTP 400.

        Spec: basic/index, "Per-request protocol fields".
        """
        if name not in self._params.meta.client_capabilities:
            raise MissingRequiredClientCapability(f"This request needs the client capability {name!r}", {name: {}})
