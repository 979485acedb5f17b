"""Where tokens and registrations live between two runs.

In: tokens and clients. Out: the same, later; on disk only where the user alone can read them.
Spec 2026-07-28: basic/authorization/security-considerations, "Token Theft"; client-registration, "Authorization Server
Binding".
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct, field

from ..private_files import replace_file
from .models import OAuthClientInformationFull, OAuthToken

T = TypeVar("T")


class TokenStorage(Protocol):
    """Keeps what authorization came to, for one MCP server.

    A storage may have `async def get_client_info_for(issuer)` besides, if it keeps clients of several authorization
    servers apart; without it, the client of a server that is no longer in charge is forgotten.
    """

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens kept last."""

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the client kept last."""

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a client."""


class _Kept(Struct, omit_defaults=True):
    tokens: OAuthToken | None = None
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    latest: str = ""


class InMemoryTokenStorage:
    """Keeps tokens as long as the program runs."""

    def __init__(self) -> None:
        self._kept = _Kept()

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens kept last."""
        return self._kept.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        self._kept.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the client kept last."""
        return self._kept.clients.get(self._kept.latest)

    async def get_client_info_for(self, issuer: str) -> OAuthClientInformationFull | None:
        """Return the client of one authorization server."""
        return self._kept.clients.get(issuer)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a client, beside those of other authorization servers."""
        _keep_client(self._kept, client_info)


class FileTokenStorage:
    """Keeps tokens in a JSON file that only its owner can read (mode 0600).

    Args:
        path: of the file; made with its folder when there is something to keep.
        server_url: of the MCP server: several can share a file.

    Raises:
        PermissionError: others may read or write the file.
    """

    def __init__(self, path: str | os.PathLike[str], server_url: str) -> None:
        self._path = Path(path).expanduser()
        self._server_url = server_url

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens kept last."""
        return (await self._load()).tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""

        def change(kept: _Kept) -> None:
            kept.tokens = tokens

        await asyncio.to_thread(self._change, change)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the client kept last."""
        kept = await self._load()
        return kept.clients.get(kept.latest)

    async def get_client_info_for(self, issuer: str) -> OAuthClientInformationFull | None:
        """Return the client of one authorization server."""
        return (await self._load()).clients.get(issuer)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a client, beside those of other authorization servers."""
        await asyncio.to_thread(self._change, lambda kept: _keep_client(kept, client_info))

    async def _load(self) -> _Kept:
        everything = await asyncio.to_thread(self._read)
        return everything.get(self._server_url) or _Kept()

    def _read(self) -> dict[str, _Kept]:
        try:
            with self._path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                if stat.S_IMODE(mode) & 0o077:
                    raise PermissionError(
                        f"{self._path} holds tokens, and others can open it; run: chmod 600 {self._path}"
                    )
                content = file.read()
        except FileNotFoundError:
            return {}
        try:
            return msgspec.json.decode(content, type=dict[str, _Kept])
        except msgspec.DecodeError as fault:
            raise ValueError(f"{self._path} is no file of tokens ({fault}); move it away") from None

    def _change(self, change: Callable[[_Kept], None]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(self._path.with_name(self._path.name + ".lock")):
            everything = self._read()
            change(everything.setdefault(self._server_url, _Kept()))
            replace_file(self._path, msgspec.json.encode(everything))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes from changing the file at the same time."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _keep_client(kept: _Kept, client: OAuthClientInformationFull) -> None:
    kept.latest = client.issuer or ""
    kept.clients[kept.latest] = client
