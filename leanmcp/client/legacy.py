"""Servers of protocol versions 2025-11-25 and 2025-06-18: a handshake, a session, and requests in both directions.

In: a carrier of messages. Out: a Connected that answers like one of this era.
Spec 2025-11-25: basic/lifecycle; basic/transports; client/elicitation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import CallTimeout, InternalError, InvalidResult, MCPError, MethodNotFound, VersionMismatch
from ..logs import logger, warn_seldom
from ..protocol.jsonrpc import encode_error
from ..protocol.meta import SERVER_INFO
from ..protocol.outgoing import Asked, Notified, Renew
from ..types import DiscoverResult, Implementation
from .answers import ClientRequestContext
from .caller import Caller
from .messages import Metadata, ResponseDecoder
from .negotiation import LEGACY_VERSIONS, Connected, Settings
from .transport import LegacyCarrier

_CLOSE_TIME = 2.0  # seconds to tell the server that the session is over
_MAX_ASKED = 100  # requests of the server answered at once


class LegacyMetadata(Metadata):
    """Requests of earlier versions: `_meta` has nothing of the protocol but the progress token."""

    __slots__ = ()

    def __init__(self, version: str, info: Implementation, capabilities: Any) -> None:
        super().__init__(version, info, capabilities)

    def request(self, number: int, method: str, members: bytes, token: int | None = None, more: Any = None) -> bytes:
        """Return a JSON-RPC request; see Metadata."""
        meta = dict(more or {}) if token is None else {**(more or {}), "progressToken": token}
        parts = [b'"_meta":' + msgspec.json.encode(meta)] if meta else []
        parts += [members] if members else []
        return b'{"jsonrpc":"2.0","id":%d,"method":"%s","params":{%s}}' % (number, method.encode(), b",".join(parts))


class _InitializeResult(Struct, rename="camel", kw_only=True):
    protocol_version: str
    capabilities: dict[str, Any] = {}
    server_info: dict[str, Any] | None = None
    instructions: str | None = None
    result_type: str = "complete"


_INITIALIZE = ResponseDecoder("initialize", _InitializeResult)


class LegacySession:
    """One session with one server.

    Args:
        legacy: see Transport.
        settings: of the client.

    Attributes:
        is_greeted: whether the server has answered the handshake.
    """

    def __init__(self, legacy: Callable[[Asked, Notified, Renew], LegacyCarrier], settings: Settings) -> None:
        self._carrier = legacy(self._asked, self._told, self._renew)
        self._settings = settings
        self._version = LEGACY_VERSIONS[0]
        self._tasks: dict[int | str, asyncio.Task[None]] = {}
        self.is_greeted = False

    async def open(self, version: str) -> Connected:
        """Make the handshake.

        Raises:
            VersionMismatch: the server answers with a version that this client does not have.
            MCPError: it refuses, or does not answer.
        """
        carrier, settings = self._carrier, self._settings
        metadata = LegacyMetadata(version, settings.info, settings.answers.capabilities)
        self._caller = caller = Caller(carrier, metadata, settings.patience, settings.watches)
        found = await self._initialize(caller)
        await carrier.listen()
        server_info = {} if found.server_info is None else {SERVER_INFO: found.server_info}
        described = DiscoverResult(
            supported_versions=[found.protocol_version],
            capabilities=found.capabilities,
            instructions=found.instructions,
            meta=server_info or None,
        )
        return Connected(caller, described, self)

    async def _initialize(self, caller: Caller) -> _InitializeResult:
        metadata = caller.metadata
        members = msgspec.json.encode(
            {
                "protocolVersion": metadata.version,
                "capabilities": metadata.capabilities,
                "clientInfo": metadata.info,
            }
        )[1:-1]
        self._carrier.version = None
        found = await caller.request(_INITIALIZE.complete, "initialize", members)
        self.is_greeted = True
        version = found.protocol_version
        if version not in LEGACY_VERSIONS:
            raise VersionMismatch(
                f"{self._carrier.where} and this client have no protocol version in common: the server answers with "
                f"{version[:32]}; after a handshake this client speaks {', '.join(LEGACY_VERSIONS)}",
                [version],
            )
        caller.metadata = metadata.at(version)
        self._carrier.version = version
        seconds = caller.patience.timeout
        try:
            async with asyncio.timeout(seconds):
                await self._carrier.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        except TimeoutError:
            where = self._carrier.where
            raise CallTimeout(f"{where} did not take notifications/initialized in {seconds:g} seconds", where) from None
        return found

    async def _renew(self) -> None:
        """Make the handshake again (basic/transports, "Session Management" 4)."""
        await self._initialize(self._caller)

    async def close(self) -> None:
        """End the session; bounded."""
        for task in self._tasks.values():
            task.cancel()
        try:
            async with asyncio.timeout(_CLOSE_TIME):
                await self._carrier.end()
        except (TimeoutError, MCPError) as fault:
            logger.info("%s was not told of the end of the session: %s", self._carrier.where, fault)

    # --- what the server sends on its own ---------------------------------------------------------------------------

    def _told(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/cancelled":
            identifier = params.get("requestId")
            task = self._tasks.get(identifier) if isinstance(identifier, int | str) else None
            if task is not None:
                task.cancel()
            return
        self._settings.told(method, params)

    def _asked(self, identifier: int | str, method: str, params: dict[str, Any]) -> None:
        if identifier in self._tasks or len(self._tasks) >= _MAX_ASKED:
            warn_seldom("%s asks %.80r more often than it is answered; dropped", self._carrier.where, method)
            return
        task = asyncio.get_running_loop().create_task(self._reply(identifier, method, params))
        self._tasks[identifier] = task
        task.add_done_callback(lambda _: self._tasks.pop(identifier, None))

    async def _reply(self, identifier: int | str, method: str, params: dict[str, Any]) -> None:
        """Answer one request of the server."""
        try:
            result = await self._answer(identifier, method, params)
            message = msgspec.json.encode({"jsonrpc": "2.0", "id": identifier, "result": result})
        except InvalidResult as fault:
            logger.warning("%s", fault)
            message = encode_error(MethodNotFound(f"Not declared by this client: {method[:64]!r}"), identifier)
        except MCPError as error:
            message = encode_error(error, identifier)
        except Exception:
            logger.exception("the answer to %.80r failed", method)
            message = encode_error(InternalError("The client failed to answer"), identifier)
        try:
            await self._carrier.send(message)
        except MCPError as fault:
            logger.warning("%s did not take the answer to %.80r: %s", self._carrier.where, method, fault)

    async def _answer(self, identifier: int | str, method: str, params: dict[str, Any]) -> Any:
        if method == "ping":
            return {}
        if not self._settings.answers.can(method):
            raise MethodNotFound(f"Method not found: {method[:64]!r}")
        return await self._settings.answers.answer(
            ClientRequestContext(self._carrier.where, identifier), method, params
        )
