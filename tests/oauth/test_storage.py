"""Tokens on disk."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from leanmcp.oauth import FileTokenStorage, InMemoryTokenStorage, OAuthClientInformationFull, OAuthToken
from tests.oauth.test_discovery import list_tools
from tests.support.authorization import world

URL = "https://mcp.example/mcp"


def client(name: str, issuer: str | None) -> OAuthClientInformationFull:
    """Return a client."""
    return OAuthClientInformationFull(client_id=name, client_secret="hidden", issuer=issuer)


def test_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Spec: security-considerations, "Token Theft"."""

    async def main() -> None:
        path = tmp_path / "deep" / "tokens.json"
        storage = FileTokenStorage(path, URL)
        assert await storage.get_tokens() is None
        assert await storage.get_client_info() is None
        assert not path.parent.exists()
        before = os.umask(0)
        try:
            await storage.set_tokens(OAuthToken(access_token="t", expires_at=5.5))
        finally:
            os.umask(before)
        assert [stat.S_IMODE(file.stat().st_mode) for file in (path, path.parent)] == [0o600, 0o700]
        assert await FileTokenStorage(path, URL).get_tokens() == OAuthToken(access_token="t", expires_at=5.5)
        path.chmod(0o640)
        for work in (storage.get_tokens(), storage.set_tokens(OAuthToken(access_token="u"))):
            with pytest.raises(PermissionError, match=f"chmod 600 {path}"):
                await work

    asyncio.run(main())


def test_servers_share_a_file_and_issuers_are_kept_apart(tmp_path: Path) -> None:
    """Spec: client-registration, "Authorization Server Binding"."""

    async def main() -> None:
        path = tmp_path / "tokens.json"
        one, two = FileTokenStorage(path, URL), FileTokenStorage(path, "https://other.example/mcp")
        await asyncio.gather(
            one.set_tokens(OAuthToken(access_token="1")),
            two.set_tokens(OAuthToken(access_token="2")),
            *(one.set_client_info(client(f"c{n}", f"https://as{n}.example")) for n in range(5)),
        )
        tokens = [await storage.get_tokens() for storage in (one, two)]
        assert [token and token.access_token for token in tokens] == ["1", "2"]
        for n in range(5):
            assert await one.get_client_info_for(f"https://as{n}.example") == client(f"c{n}", f"https://as{n}.example")
        assert await two.get_client_info_for("https://as1.example") is None
        assert sorted(file.name for file in tmp_path.iterdir()) == ["tokens.json", "tokens.json.lock"]

    asyncio.run(main())


def test_file_that_is_none_is_not_overwritten(tmp_path: Path) -> None:
    """Ours: somebody else's file stays as it is."""

    async def main() -> None:
        path = tmp_path / "notes.txt"
        path.write_text("dear diary")
        path.chmod(0o600)
        with pytest.raises(ValueError, match="no file of tokens"):
            await FileTokenStorage(path, URL).set_tokens(OAuthToken(access_token="t"))
        assert path.read_text() == "dear diary"
        assert sorted(file.name for file in tmp_path.iterdir()) == ["notes.txt", "notes.txt.lock"]

    asyncio.run(main())


def test_memory_keeps_issuers_apart() -> None:
    """Spec: "Authorization Server Binding"."""

    async def main() -> None:
        storage = InMemoryTokenStorage()
        assert await storage.get_client_info() is None
        await storage.set_client_info(client("a", "https://a.example"))
        await storage.set_client_info(client("b", "https://b.example"))
        assert await storage.get_client_info() == client("b", "https://b.example")
        assert await storage.get_client_info_for("https://a.example") == client("a", "https://a.example")

    asyncio.run(main())


def test_second_run_needs_no_login(tmp_path: Path) -> None:
    """Ours: what FileTokenStorage is for."""

    async def main() -> None:
        async with world() as made:
            for _ in range(2):
                await list_tools(made, storage=FileTokenStorage(tmp_path / "tokens.json", made.server.url))
            assert made.logins == 1
            assert made.server.tokens[0] == ""
            assert all(made.server.tokens[1:])

    asyncio.run(main())
