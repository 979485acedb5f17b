"""From what a user calls a server to what a Client takes.

In: the words of a command line, and its options. Out: a Target. One grammar for every command; see `help.TARGETS`.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .faults import UsageError, proposal
from .options import bare_token, headers, variables

if TYPE_CHECKING:
    from .screen import Screen

_OF_HTTP = ("header", "token", "login")


class Target:
    """A server to talk to.

    Args:
        server: what `Client` takes.
        name: what the user calls it, for texts.
        label: what mcp.json calls it, empty elsewhere.
        local: whether it is in this process.
    """

    def __init__(self, server: Any, name: str, label: str = "", local: bool = False) -> None:
        self.server = server
        self.name = name
        self.label = label
        self.local = local


def find_target(options: argparse.Namespace, screen: Screen, ask: Callable[[str], Any] | None = None) -> Target:
    """Return the server that a command line names, and take its word away from `options.words`.

    Args:
        options: see `options.add_target`.
        screen: where the server prints what it has to say.
        ask: shows the page of a login.

    Raises:
        UsageError: there is no such server, or an option that it has no use for.
    """
    if options.program is not None:
        from .misplaced import program_mistake

        if told := program_mistake(options.words, options.program):
            raise UsageError(told)
        return _program(options, options.program, {}, None, screen)
    if not options.words:
        raise UsageError(
            "name a server first: a Python file, a URL, an entry of mcp.json, or `-- PROGRAM ...` at the end"
        )
    text = options.words.pop(0)
    if text.lower().startswith(("http://", "https://", "unix:", "http:", "https:")):
        return _http(options, text, {}, "", ask)
    known: list[str] = []
    is_file = os.path.isfile(text) or os.path.isfile(text.rpartition(":")[0])
    if not (is_file or text.endswith(".py") or ".py:" in text) or options.config is not None:
        from .config import find_entry

        entry, known = find_entry(text, options.config)
        if entry is not None and entry.url is not None:
            return _http(options, entry.url, entry.headers, text, ask)
        if entry is not None:
            return _program(options, [entry.command or "", *entry.args], entry.env, entry.cwd, screen, text)
        if options.config is not None and not is_file:
            raise UsageError(f"{options.config} has no server {text!r}{proposal(text, known)}")
    return _python(options, text, known)


def _refuse(options: argparse.Namespace, names: Sequence[str], of: str) -> None:
    if given := next((name for name in names if getattr(options, name)), None):
        raise UsageError(f"--{given} is an option of {of}")


# --- a server in this process -------------------------------------------------------------------------------------


def _python(options: argparse.Namespace, text: str, known: list[str]) -> Target:
    os.environ.update(variables(options.env))
    if options.cwd is not None:
        if os.path.exists(text.rpartition(":")[0] or text):
            text = os.path.abspath(text)
        try:
            os.chdir(options.cwd)
        except OSError as fault:
            raise UsageError(f"--cwd {options.cwd}: {fault.strerror}") from None
    from .loading import load

    server = load(text, options.prog, options.words, known)
    _refuse(options, _OF_HTTP, f"HTTP; {text} runs in this process")
    return Target(server, text, local=True)


# --- a child process ----------------------------------------------------------------------------------------------


def _program(
    options: argparse.Namespace,
    words: list[str],
    given: dict[str, str],
    cwd: str | None,
    screen: Screen,
    label: str = "",
) -> Target:
    from ..parameters import StdioServerParameters

    _refuse(options, _OF_HTTP, "HTTP; this server is started on stdio")
    parameters = StdioServerParameters(
        command=words[0],
        args=words[1:],
        env={**given, **variables(options.env)} or None,
        cwd=cwd if options.cwd is None else options.cwd,
        stderr=screen.note,
    )
    return Target(parameters, label or shlex.join(words), label)


# --- HTTP ---------------------------------------------------------------------------------------------------------


def _http(
    options: argparse.Namespace,
    url: str,
    given: dict[str, str],
    label: str,
    ask: Callable[[str], Any] | None,
) -> Target:
    _refuse(options, ("env", "cwd"), f"servers that are started here; {url} runs already")
    from .. import __version__
    from ..limits import HTTPClientLimits
    from ..transports.http_client import HTTPTransport

    own = headers(options.header, options.token)
    fields = {name: value for name, value in given.items() if name.lower() not in {key.lower() for key in own}} | own
    token = os.environ.get("LEANMCP_TOKEN")
    # An entry of mcp.json says itself what to send: one server's token is not for all that a file lists.
    if token and not label and not options.login and not any(name.lower() == "authorization" for name in fields):
        fields["Authorization"] = f"Bearer {bare_token(token, 'LEANMCP_TOKEN')}"
    address, socket = url, ""
    if url.lower().startswith("unix:"):
        address, socket = "http://localhost/mcp", url[5:].removeprefix("//")
        if not socket.startswith("/"):
            socket = os.path.abspath(socket)
    limits = HTTPClientLimits()
    if options.timeout is not None and options.timeout < limits.connect_timeout:
        limits = HTTPClientLimits(connect_timeout=options.timeout)
    try:
        auth = _login(address, ask) if options.login else None
        transport = HTTPTransport(
            address, headers=fields, auth=auth, uds=socket, limits=limits, user_agent=f"leanmcp/{__version__}"
        )
    except ValueError as fault:
        from .wording import translated  # of mistakes only

        raise UsageError(translated(str(fault))) from None
    return Target(transport, label or transport.where, label)


def _login(url: str, ask: Callable[[str], Any] | None) -> Any:
    """Return what logs in with a browser, and remembers it for the next time."""
    from ..oauth import FileTokenStorage, LoopbackRedirect, OAuthClientMetadata, OAuthClientProvider

    browser = LoopbackRedirect() if ask is None else LoopbackRedirect(ask)
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join("~", ".config")
    return OAuthClientProvider(
        url,
        OAuthClientMetadata(client_name="leanmcp", redirect_uris=[browser.redirect_uri]),
        FileTokenStorage(os.path.join(folder, "leanmcp", "tokens.json"), url),
        browser.redirect_handler,
        browser.callback_handler,
    )
