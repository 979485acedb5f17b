"""Where a browser comes back to: a listener on this machine, for command lines and desktop programs.

In: one redirect of a browser. Out: its parameters.
Spec 2026-07-28: basic/authorization/security-considerations, "Communication Security" 2; RFC 8252 7.3, 8.3.
"""

from __future__ import annotations

import asyncio
import inspect
import socket
import sys
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlsplit

from ..errors import CannotConnect
from .errors import OAuthFlowError
from .models import AuthorizationCodeResult

_MAX_HEAD = 16 * 1024  # bytes
_PATIENCE = 10.0  # seconds for the head of one request
_PAGE = (
    "<!doctype html><meta charset=utf-8><title>{0}</title><body style='font:16px sans-serif;margin:4em'><h1>{0}</h1>"
    "<p>You can close this window and go back to the program."
)
_ANSWER = (
    "HTTP/1.1 {0}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {1}\r\nCache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\nReferrer-Policy: no-referrer\r\n"
    "Connection: close\r\n\r\n{2}"
)


def print_url(url: str) -> None:
    """Ask on standard error to open `url`."""
    print(f"To let this program use the server, open this page:\n\n{url}\n", file=sys.stderr, flush=True)


def _bind(port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
    except OSError as fault:
        sock.close()
        raise CannotConnect(f"port {port} of 127.0.0.1 cannot be listened on: {fault.strerror}") from None
    return sock


class LoopbackRedirect:
    """Receives the redirect of an authorization server on this machine.

    Pass `redirect_uri`, `redirect_handler` and `callback_handler` on to OAuthClientProvider. Nothing opens a browser by
    itself: pass `show=webbrowser.open` if your user wants that.

    Args:
        show: takes the URL that the user must open; default: prints it on standard error.
        port: 0 picks a free one. Authorization servers must take any port of 127.0.0.1 (RFC 8252 7.3); where one does
            not, fix it.
        path: of the redirect.
        timeout: seconds that the user has.

    Raises:
        CannotConnect: the port is taken.
    """

    def __init__(
        self,
        show: Callable[[str], Awaitable[object] | object] = print_url,
        *,
        port: int = 0,
        path: str = "/callback",
        timeout: float = 300.0,
    ) -> None:
        self._show = show
        self._path = path
        self._timeout = timeout
        self._socket: socket.socket | None = _bind(port)  # bound, so that the port is known; it listens when asked
        self._port = self._socket.getsockname()[1]
        self.redirect_uri = f"http://127.0.0.1:{self._port}{path}"
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[AuthorizationCodeResult] | None = None
        self._state = ""

    async def redirect_handler(self, url: str) -> None:
        """Listen, then show the user where to go.

        Raises:
            CannotConnect: somebody else listens on the port by now.
        """
        self._state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        self._answer = asyncio.get_running_loop().create_future()
        if self._server is None:
            sock, self._socket = self._socket or _bind(self._port), None
            self._server = await asyncio.start_server(self._serve, sock=sock, limit=_MAX_HEAD)
        shown = self._show(url)
        if inspect.isawaitable(shown):
            await shown

    async def callback_handler(self) -> AuthorizationCodeResult:
        """Wait for the redirect, then stop listening.

        Raises:
            OAuthFlowError: the user did not come back in time.
        """
        if self._answer is None:
            raise RuntimeError("redirect_handler comes first")
        try:
            async with asyncio.timeout(self._timeout):
                return await self._answer
        except TimeoutError:
            raise OAuthFlowError(
                f"nobody came back from the authorization server within {self._timeout:g} seconds; try again"
            ) from None
        finally:
            self.close()

    def close(self) -> None:
        """Stop listening and give the port back; legal more than once, and before the next login."""
        self._answer = None
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                status, title = self._take(head.decode("latin-1").split("\r\n")[0])
                page = _PAGE.format(title)
                writer.write(_ANSWER.format(status, len(page), page).encode())
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            writer.transport.abort()  # no browser, or one that left
        finally:
            writer.close()

    def _take(self, line: str) -> tuple[str, str]:
        """Return status and title of the answer to a request line; others than the awaited redirect change nothing."""
        method, _, rest = line.partition(" ")
        parts = urlsplit(rest.partition(" ")[0])
        if method != "GET" or parts.path != self._path:
            return "404 Not Found", "Nothing here"
        given = {name: values[0] for name, values in parse_qs(parts.query).items() if len(values) == 1}
        if self._answer is None or self._answer.done() or not self._state or given.get("state") != self._state:
            return "400 Bad Request", "This is no answer to a question of ours"
        self._answer.set_result(
            AuthorizationCodeResult(
                code=given.get("code", ""),
                state=given["state"],
                iss=given.get("iss"),
                error=given.get("error"),
                error_description=given.get("error_description"),
            )
        )
        return "200 OK", "Back to the program" if "code" in given else "Not authorized"
