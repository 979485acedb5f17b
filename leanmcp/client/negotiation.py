"""Which protocol version, and which era, a server speaks.

In: a started transport and what the user wants. Out: a Connected: who sends requests, and what is known of the server.
Spec 2026-07-28: basic/versioning; basic/transports/stdio and streamable-http, "Backward Compatibility".
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ..errors import (
    CallTimeout,
    Forbidden,
    HeaderMismatch,
    HTTPStatusError,
    InvalidResult,
    MCPError,
    MethodNotFound,
    MissingRequiredClientCapability,
    TransportError,
    Unauthorized,
    UnsupportedProtocolVersion,
    VersionMismatch,
)
from ..protocol.meta import MODERN_VERSIONS, SERVER_INFO
from ..types import DiscoverResult, Implementation
from .answers import Answers
from .caller import Caller, NotificationCallback, Patience, supported_versions
from .messages import Metadata
from .results import DISCOVER
from .transport import Transport

if TYPE_CHECKING:
    from .legacy import LegacySession

LEGACY_VERSIONS = ("2025-11-25", "2025-06-18")
"""Versions that begin with a handshake, newest first."""

_MODERN_CODES = tuple(
    kind.error_code for kind in (HeaderMismatch, MissingRequiredClientCapability, UnsupportedProtocolVersion)
)
_PROBE_TIME = 10.0  # seconds for a server on a pipe to say anything to what it may not know
_NOT_ABOUT_ERAS = (408, 425, 429)

_MAX_LEGACY_SERVERS = 256


class _LegacyServers:
    """Where servers of an earlier era have been met, those that were met last; any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, None] = {}  # in the order of the last meeting

    def __contains__(self, where: str) -> bool:
        return where in self._places

    def add(self, where: str) -> None:
        """Note a meeting; the place where none has been for the longest time is forgotten."""
        with self._lock:
            self._places.pop(where, None)
            self._places[where] = None
            if len(self._places) > _MAX_LEGACY_SERVERS:
                del self._places[next(iter(self._places))]

    def discard(self, where: str) -> None:
        """Forget one place."""
        with self._lock:
            self._places.pop(where, None)

    def clear(self) -> None:
        """Forget every place."""
        with self._lock:
            self._places.clear()


_legacy_servers = _LegacyServers()
"""Of this process (basic/versioning: "Clients SHOULD cache")."""


class Settings(Struct):
    """What a client says of itself, and how it waits."""

    info: Implementation
    answers: Answers
    patience: Patience
    told: NotificationCallback
    """Takes notifications that belong to no request."""
    watches: NotificationCallback | None
    """Takes notifications of requests, where the program wants them."""


class Connected:
    """A client that has agreed on a version with its server.

    Args:
        caller: sends requests.
        found: what server/discover said, or the handshake; None where nothing was asked.
        session: of an earlier era, None in this one.
    """

    def __init__(self, caller: Caller, found: DiscoverResult | None, session: LegacySession | None = None) -> None:
        self.caller = caller
        self.found = found
        self.session = session

    @property
    def server_info(self) -> Implementation | None:
        """Name and version that the server reports; not verified."""
        info = ((self.found and self.found.meta) or {}).get(SERVER_INFO)
        try:
            return None if info is None else msgspec.convert(info, Implementation)
        except msgspec.ValidationError:
            return None


def check_mode(mode: str) -> str:
    """Return `mode`.

    Raises:
        ValueError: there is no such mode.
    """
    if mode not in ("auto", "legacy", *MODERN_VERSIONS, *LEGACY_VERSIONS):
        versions = ", ".join((*MODERN_VERSIONS, *LEGACY_VERSIONS))
        raise ValueError(f"mode={mode!r}: give 'auto', 'legacy' or a version: {versions}")
    return mode


async def connect(transport: Transport, mode: str, prior: DiscoverResult | None, settings: Settings) -> Connected:
    """Agree on a version.

    Args:
        transport: started.
        mode: "auto" asks `server/discover`, and falls back to the handshake of earlier versions; "legacy" begins with
            that; a version is spoken without asking.
        prior: what `server/discover` said at another time, so that it need not be asked again.
        settings: of the client.

    Raises:
        VersionMismatch: there is no version in common.
        MCPError: the server cannot be reached, or answers nothing that makes sense.
    """
    if mode == "legacy" or mode in LEGACY_VERSIONS:
        return await _shake_hands(transport, LEGACY_VERSIONS[0] if mode == "legacy" else mode, settings)
    version = MODERN_VERSIONS[0] if mode == "auto" else mode
    metadata = Metadata(version, settings.info, settings.answers.capabilities)
    caller = Caller(transport, metadata, settings.patience, settings.watches)
    if prior is not None:
        if mode == "auto":
            caller.adopt(prior.supported_versions)
        return Connected(caller, prior)
    if mode != "auto":
        return Connected(caller, None)
    if transport.where in _legacy_servers:
        try:
            return _remember(transport, await _shake_hands(transport, LEGACY_VERSIONS[0], settings))
        except MCPError as error:
            if isinstance(error, TransportError) and not isinstance(error, HTTPStatusError):
                raise
            _legacy_servers.discard(transport.where)  # it has been replaced, perhaps
    return await _probe(transport, caller, settings)


async def _probe(transport: Transport, caller: Caller, settings: Settings) -> Connected:
    """Ask server/discover, and fall back where the answer is not one of this era."""
    status: int | None = None

    def answered(code: int, headers: Any) -> None:
        nonlocal status
        status = code

    is_known, on_pipe = getattr(transport, "is_modern", False), not getattr(transport, "has_headers", False)
    patience = settings.patience
    if on_pipe and not is_known and (patience.timeout is None or patience.timeout > _PROBE_TIME):
        patience = Patience(_PROBE_TIME)
    try:
        found = await caller.request(DISCOVER.complete, "server/discover", patience=patience, answered=answered)
        caller.adopt(found.supported_versions)
        return Connected(caller, found)
    except VersionMismatch as mismatch:
        mutual = next((version for version in LEGACY_VERSIONS if version in mismatch.supported), None)
        if mutual is None or is_known:
            raise
        return _remember(transport, await _shake_hands(transport, mutual, settings))
    except MCPError as error:
        if is_known or not _is_legacy_sign(error, status, on_pipe):
            raise
        first = error
    return await _fall_back(transport, caller, settings, first, status)


async def _fall_back(
    transport: Transport, caller: Caller, settings: Settings, first: MCPError, status: int | None
) -> Connected:
    """Try the handshake, once; a server that refuses it, too, is of this era or none."""
    session = _session(transport, LEGACY_VERSIONS[0], settings)
    try:
        return _remember(transport, await _open(session, LEGACY_VERSIONS[0]))
    except MCPError as second:
        if any(version in MODERN_VERSIONS for version in supported_versions(second)):
            # It was slow to start, and is of this era after all.
            found = await caller.request(DISCOVER.complete, "server/discover")
            caller.adopt(found.supported_versions)
            return Connected(caller, found)
        if isinstance(first, MethodNotFound) and status == 404 and isinstance(second, MethodNotFound):
            return Connected(caller, None)  # of this era, but for its lack of server/discover
        knows_it = session.is_greeted or (isinstance(first, MethodNotFound) and not isinstance(second, MethodNotFound))
        if knows_it or isinstance(second, VersionMismatch | CallTimeout) or isinstance(first, CallTimeout):
            raise
        raise first from None


async def _shake_hands(transport: Transport, version: str, settings: Settings) -> Connected:
    return await _open(_session(transport, version, settings), version)


def _session(transport: Transport, version: str, settings: Settings) -> LegacySession:
    legacy = getattr(transport, "legacy", None)
    if legacy is None:
        raise VersionMismatch(
            f"{transport.where} speaks {', '.join(MODERN_VERSIONS)}; this transport cannot speak {version}",
            MODERN_VERSIONS,
        )
    from .legacy import LegacySession  # servers of this era do without

    return LegacySession(legacy, settings)


async def _open(session: LegacySession, version: str) -> Connected:
    try:
        return await session.open(version)
    except BaseException:
        await session.close()
        raise


def _remember(transport: Transport, connected: Connected) -> Connected:
    _legacy_servers.add(transport.where)
    return connected


def _is_legacy_sign(error: MCPError, status: int | None, on_pipe: bool) -> bool:
    """Return whether an answer to server/discover means an earlier era.

    Anything does that is no error of this era ("Anything else identifies a legacy server"), but for what says nothing
    about the era: who may call, how busy the server is, that there is none, or no MCP at all.
    """
    if isinstance(error, CallTimeout):
        return on_pipe
    if isinstance(error, Unauthorized | Forbidden):
        return False
    if isinstance(error, HTTPStatusError):
        return error.status is not None and 400 <= error.status < 500 and error.status not in _NOT_ABOUT_ERAS
    if isinstance(error, TransportError):
        return False
    if isinstance(error, InvalidResult):
        return True
    return error.code not in _MODERN_CODES and (status is None or (status < 500 and status not in _NOT_ABOUT_ERAS))
