"""A protected MCP server and an authorization server of our own, both on this loop, both scripted by what tests set."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from leanmcp.oauth import AuthorizationCodeResult, OAuthClientMetadata, OAuthClientProvider

from .processes import DEADLINE

REDIRECT_URI = "http://127.0.0.1:3030/callback"
RESOURCE = "/.well-known/oauth-protected-resource"
OAUTH = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"


class Got:
    """A request as it came."""

    def __init__(self, line: str, fields: dict[str, str], body: bytes) -> None:
        self.method, self.target, _ = line.split(" ")
        self.path = self.target.partition("?")[0]
        self.fields = fields
        self.body = body

    @property
    def form(self) -> dict[str, str]:
        """Return the body as a form; no parameter comes twice."""
        given = parse_qs(self.body.decode(), strict_parsing=True)
        assert all(len(values) == 1 for values in given.values()), given
        return {name: values[0] for name, values in given.items()}


class Reply:
    """An answer: a status and JSON, or text."""

    def __init__(self, status: int, body: Any = None, **fields: str) -> None:
        self.status = status
        self.fields = fields
        self.body = body if isinstance(body, bytes) else msgspec.json.encode(body)

    def encode(self) -> bytes:
        """Return it as HTTP."""
        lines = [f"HTTP/1.1 {self.status} -", f"Content-Length: {len(self.body)}"]
        fields = {"Content_Type": "application/json", **self.fields}
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


class Host:
    """A server on a port of its own.

    Attributes:
        got: the requests in their order.
        replies: by path; they come instead of what `answer` would say.
    """

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.replies: dict[str, Reply] = {}
        self.port = 0
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        """What was asked for."""
        return [got.path for got in self.got]

    async def answer(self, got: Got) -> Reply:
        """Return what belongs on the path."""
        raise NotImplementedError

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while head := await _head(reader):
                line, *lines = head.split("\r\n")
                fields = {name.lower(): value for name, _, value in (field.partition(": ") for field in lines)}
                body = await reader.readexactly(int(fields.get("content-length", "0")))
                got = Got(line, fields, body)
                self.got.append(got)
                reply = self.replies.get(got.path) or await self.answer(got)
                writer.write(reply.encode())
                await writer.drain()
        except ConnectionError:
            return
        finally:
            self._open.discard(writer)
            writer.close()

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[None]:
        """Serve while the block runs."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            async with asyncio.timeout(DEADLINE):
                while self._open:
                    await asyncio.sleep(0)
                await server.wait_closed()


async def _head(reader: asyncio.StreamReader) -> str:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").removesuffix("\r\n\r\n")
    except asyncio.IncompleteReadError:
        return ""


class AuthorizationServer(Host):
    """Issues tokens that can be told apart, and holds clients to PKCE, resource and rotation.

    Attributes:
        path: of the issuer.
        extra: members of the metadata; None leaves one out.
        lifetime: `expires_in` of tokens, None leaves it out.
        refreshes: whether refresh tokens are issued.
        valid: access tokens that are good, with their scopes.
        denies: the next token requests that are answered by an error.
    """

    def __init__(self, path: str = "") -> None:
        super().__init__()
        self.path = path
        self.extra: dict[str, Any] = {}
        self.lifetime: Any = 3600
        self.refreshes = True
        self.valid: dict[str, str] = {}
        self.denies: list[Reply] = []
        self.clients: list[dict[str, Any]] = []
        self.asked: list[dict[str, str]] = []
        self._codes: dict[str, dict[str, str]] = {}
        self._refresh_tokens: dict[str, str] = {}
        self._count = 0

    @property
    def issuer(self) -> str:
        """The identifier."""
        return self.origin + self.path

    @property
    def token_requests(self) -> list[dict[str, str]]:
        """The forms that came to the token endpoint."""
        return [got.form for got in self.got if got.path == "/token"]

    def metadata(self) -> dict[str, Any]:
        """Return what the server publishes."""
        members = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "registration_endpoint": f"{self.origin}/register",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            **self.extra,
        }
        return {name: value for name, value in members.items() if value is not None}

    def authorize(self, url: str, **changes: str | None) -> AuthorizationCodeResult:
        """Be the browser of somebody who agrees: return the parameters of the redirect, some changed by the test."""
        assert url.startswith(f"{self.origin}/authorize?")
        parameters = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.asked.append(parameters)
        assert parameters["response_type"] == "code"
        assert parameters["code_challenge_method"] == "S256"
        code = f"code-{len(self.asked)}"
        self._codes[code] = parameters
        return AuthorizationCodeResult(**{"code": code, "state": parameters["state"], **changes})  # type: ignore[arg-type]

    async def answer(self, got: Got) -> Reply:
        """Serve metadata, registrations and tokens."""
        if got.path == OAUTH + self.path:
            return Reply(200, self.metadata())
        if got.path == "/register":
            client = {**msgspec.json.decode(got.body), "client_id": f"client-{self.port}-{len(self.clients)}"}
            self.clients.append(client)
            return Reply(201, client)
        if got.path == "/token":
            return self.denies.pop(0) if self.denies else self._token(got.form)
        return Reply(404)

    def _token(self, form: dict[str, str]) -> Reply:
        grant = form["grant_type"]
        if grant == "authorization_code":
            asked = self._codes.pop(form["code"])
            digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
            assert digest.decode().rstrip("=") == asked["code_challenge"]
            assert (form["redirect_uri"], form["resource"]) == (asked["redirect_uri"], asked["resource"])
            scope = asked.get("scope", "")
        elif grant == "refresh_token":
            known = self._refresh_tokens.pop(form["refresh_token"], None)  # each is good once
            if known is None:
                return Reply(400, {"error": "invalid_grant"})
            scope = known
        else:
            scope = form.get("scope", "")
        return self.issue(scope, with_refresh=grant != "client_credentials")

    def issue(self, scope: str = "", with_refresh: bool = True) -> Reply:
        """Return a new token."""
        self._count += 1
        token = f"access-{self.port}-{self._count}"
        self.valid[token] = scope
        members: dict[str, Any] = {"access_token": token, "token_type": "bearer"}
        if self.lifetime is not None:
            members["expires_in"] = self.lifetime
        if self.refreshes and with_refresh:
            members["refresh_token"] = f"refresh-{self.port}-{self._count}"
            self._refresh_tokens[members["refresh_token"]] = scope
        return Reply(200, members)


class ProtectedServer(Host):
    """An MCP server that takes tokens of one authorization server, and answers lists of tools.

    Attributes:
        issuer: the authorization server in charge.
        needs: scopes for a call of a tool.
        challenge: parameters of the challenge of a 401; None leaves one out.
        hints: whether challenges name the metadata.
        extra: members of the metadata.
    """

    def __init__(self, issuer: AuthorizationServer) -> None:
        super().__init__()
        self.issuer = issuer
        self.needs = ""
        self.challenge: dict[str, str] = {}
        self.hints = True
        self.extra: dict[str, Any] = {}

    @property
    def url(self) -> str:
        """The MCP endpoint."""
        return f"{self.origin}/mcp"

    @property
    def tokens(self) -> list[str]:
        """What came as Authorization with each MCP request, empty where nothing did."""
        return [got.fields.get("authorization", "") for got in self.got if got.path == "/mcp"]

    async def answer(self, got: Got) -> Reply:
        """Serve metadata, and results to those who may have them."""
        if got.path == f"{RESOURCE}/mcp":
            metadata = {"resource": self.url, "authorization_servers": [self.issuer.issuer], **self.extra}
            return Reply(200, metadata)
        if got.path != "/mcp":
            return Reply(404)
        granted = self.issuer.valid.get(got.fields.get("authorization", "").removeprefix("Bearer "))
        if granted is None:
            return self._refuse(401, **self.challenge)
        request = msgspec.json.decode(got.body)
        if request["method"] == "tools/call" and not set(self.needs.split()) <= set(granted.split()):
            return self._refuse(403, error="insufficient_scope", scope=self.needs)
        result = {"resultType": "complete", "tools": [], "content": [], "ttlMs": 0, "cacheScope": "private"}
        return Reply(200, {"jsonrpc": "2.0", "id": request["id"], "result": result})

    def _refuse(self, status: int, **parameters: str) -> Reply:
        if self.hints:
            parameters["resource_metadata"] = f"{self.origin}{RESOURCE}/mcp"
        told = ", ".join(f'{name}="{value}"' for name, value in parameters.items())
        return Reply(status, b"", WWW_Authenticate=f"Bearer {told}".strip())


class World:
    """Both servers, and people who agree.

    Attributes:
        logins: how often somebody was asked.
        changes: made to each redirect by the test.
        gate: what a login waits for.
    """

    def __init__(self) -> None:
        self.issuer = AuthorizationServer()
        self.server = ProtectedServer(self.issuer)
        self.logins = 0
        self.changes: dict[str, str | None] = {}
        self.gate: asyncio.Event | None = None
        self.opened = asyncio.Event()
        self._stack = AsyncExitStack()
        self._result: Callable[[], AuthorizationCodeResult] | None = None

    async def add(self, issuer: AuthorizationServer) -> AuthorizationServer:
        """Start another authorization server."""
        await self._stack.enter_async_context(issuer.listen())
        return issuer

    async def open_url(self, url: str) -> None:
        """Lead the user to a URL."""
        self.logins += 1
        issuer = self.server.issuer
        self._result = lambda: issuer.authorize(url, **self.changes)
        self.opened.set()

    async def come_back(self) -> AuthorizationCodeResult:
        """Wait for the redirect."""
        if self.gate is not None:
            await self.gate.wait()
        assert self._result is not None
        return self._result()

    def provider(self, **options: Any) -> OAuthClientProvider:
        """Return a provider for the server."""
        described = options.pop("client_metadata", None) or OAuthClientMetadata(redirect_uris=[REDIRECT_URI])
        storage = options.pop("storage", None)
        return OAuthClientProvider(self.server.url, described, storage, self.open_url, self.come_back, **options)


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    """Run both servers while the block runs; nothing in it takes longer than the deadline."""
    made = World()
    async with asyncio.timeout(DEADLINE), made._stack:
        await made.add(made.issuer)
        await made._stack.enter_async_context(made.server.listen())
        yield made


def redirect(parameters: dict[str, str]) -> str:
    """Return a request line of a browser that comes back."""
    return f"GET /callback?{urlencode(parameters)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
