"""From what a user calls a server to what a Client takes.

In: the words of a command line, and its options. Out: a Target. One grammar for every command; see `help.TARGETS`.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..mistyped import did_you_mean
from .faults import UsageError, proposal
from .options import bare_token, headers, variables

if TYPE_CHECKING:
    from .screen import Screen

_HOST = re.compile(
    r"(?:localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\]|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:/\S*)?|[\w.-]+:\d+(?:/\S*)?"
)
_PORT = re.compile(r":?(\d{2,5})(/\S*)?")
_FILES = (".cfg", ".csv", ".html", ".ini", ".ipynb", ".json", ".lock", ".md", ".toml", ".txt", ".xml", ".yaml", ".yml")
"""Endings that are of files: some are of countries, too, but nobody serves MCP at `https://README.md/`."""
_WITHIN = re.compile(r"(.*\.py)[.:]+([A-Za-z_][\w.]*)")  # a file, and something in it that is no plain name
_PROGRAMS = {".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "npx tsx", ".sh": "sh", ".jar": "java -jar"}


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
    is_file = os.path.isfile(text) or os.path.isfile(text.rpartition(":")[0])
    known: list[str] = []
    names_file = is_file or text.endswith(".py") or ".py:" in text
    if not names_file or options.config is not None:
        from .config import find_entry

        entry, known = find_entry(text, options.config)
        if entry is not None and entry.url is not None:
            return _http(options, entry.url, entry.headers, text, ask)
        if entry is not None:
            return _program(options, [entry.command or "", *entry.args], entry.env, entry.cwd, screen, text)
    _check_python(text, known, is_file, options)
    return _python(options, text)


# --- a server in this process -------------------------------------------------------------------------------------


def _python(options: argparse.Namespace, text: str) -> Target:
    for name in ("header", "token", "login"):
        if getattr(options, name):
            raise UsageError(f"--{name} is an option of HTTP; {text} runs in this process")
    os.environ.update(variables(options.env))
    if options.cwd is not None:
        if os.path.exists(text.rpartition(":")[0] or text):
            text = os.path.abspath(text)
        try:
            os.chdir(options.cwd)
        except OSError as fault:
            raise UsageError(f"--cwd {options.cwd}: {fault.strerror}") from None
    from .loading import load

    return Target(load(text), text, local=True)


def _check_python(text: str, known: list[str], is_file: bool, options: argparse.Namespace) -> None:
    """Tell what was probably meant by a word that is no Python file, module or entry.

    Raises:
        UsageError: it can be none of them.
    """
    extension = os.path.splitext(text)[1]
    if is_file:
        if extension in _PROGRAMS or (os.access(text, os.X_OK) and extension != ".py" and os.path.isfile(text)):
            program = f"{_PROGRAMS[extension]} {text}" if extension in _PROGRAMS else os.path.join(".", text)
            raise UsageError(f"{text!r} is no Python file; to start it, put `-- {program}` at the end instead")
        return
    if options.config is not None:
        raise UsageError(f"{options.config} has no server {text!r}{proposal(text, known)}")
    if " " in text:
        raise UsageError(f"no file {text!r}; to start a server by its command, put `-- {text}` at the end instead")
    if extension in _FILES or extension in _PROGRAMS or (extension != ".py" and extension.lower() in (".py", ".pyc")):
        folder = os.path.dirname(text) or "."
        names = os.listdir(folder) if os.path.isdir(folder) else []
        raise UsageError(f"no file {text!r}{did_you_mean(os.path.basename(text), names)}")
    if found := _WITHIN.match(text):
        inner = found[2].partition(".")[0]
        raise UsageError(f"no file {text!r}; {inner!r} in {found[1]} is named {found[1]}:{inner}")
    file, slash, tool = text.rpartition("/")
    if slash and file.endswith(".py") and os.path.isfile(file):
        raise UsageError(f"no file {text!r}; a tool is a word of its own: `{options.prog} {file} {tool}`")
    module, dot, name = text.rpartition(".")
    if dot and name.isidentifier() and _is_alone(module, name):
        raise UsageError(f"no file and no module {text!r}; {name!r} in {module} is named {module}:{name}")
    if text.endswith(".py") or os.path.exists(text) or _is_module(text):
        return
    from .misplaced import order_mistake

    if told := order_mistake(options.prog, [text, *options.words]):
        raise UsageError(told)
    if match := _PORT.fullmatch(text):
        raise UsageError(f"{text!r} is no URL; did you mean 'http://127.0.0.1:{match[1]}{match[2] or '/mcp'}'?")
    if "://" in text or _HOST.fullmatch(text):
        from ..transports.http_client_url import parse_url

        try:
            parse_url(text)
        except ValueError as fault:
            raise UsageError(str(fault)) from None
    if known and text.isidentifier():
        raise UsageError(f"no file, module or server {text!r}{proposal(text, known)}")
    if text.isidentifier():
        raise UsageError(f"no file and no module {text!r}, and in this folder no mcp.json that could name it")


def _is_alone(module: str, name: str) -> bool:
    """Return whether a module lies below the working folder, and has no module `name` in it."""
    path = module.replace(".", os.sep)
    inner = os.path.join(path, name)
    if os.path.isfile(os.path.join(path, "__init__.py")):
        return not os.path.exists(f"{inner}.py") and not os.path.isdir(inner)
    return os.path.isfile(f"{path}.py")


def _is_module(text: str) -> bool:
    from importlib.util import find_spec

    sys.path.insert(0, "")
    try:
        return find_spec(text) is not None
    except (ImportError, ValueError, AttributeError):
        return False
    finally:
        sys.path.remove("")


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

    for name in ("header", "token", "login"):
        if getattr(options, name):
            raise UsageError(f"--{name} is an option of HTTP; this server is started on stdio")
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
    for name in ("env", "cwd"):
        if getattr(options, name):
            raise UsageError(f"--{name} is an option of servers that are started here; {url} runs already")
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
