"""The sockets that HTTP is served on: TCP, a Unix socket, or a descriptor that somebody else has opened; TLS on top.

In: HTTPOptions. Out: a listening asyncio server, and the URL to show.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from .errors import BindError

if TYPE_CHECKING:
    from .server.app import MCPServer

_BACKLOG = 2048
_PAIR = 2
_PORT = 8000
_HANDSHAKE = 15.0  # seconds; a TLS client that says nothing holds a connection that no limit counts
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]+/?")
_WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104  these are recognised, not bound

_NO_FOLDER = "there is no such folder; make it first"
_OF_SOCKETS = {
    errno.EADDRINUSE: "a file is there, or a server that uses it; remove it, or choose another path",
    errno.ENOENT: _NO_FOLDER,
    errno.ENOTDIR: _NO_FOLDER,
}
"""Why a Unix socket cannot be bound, by error number."""
_OF_DESCRIPTORS = {
    errno.EBADF: "it is not open; it is for a socket that a supervisor hands over",
    errno.ENOTSOCK: "it is no socket; it is for one that a supervisor hands over",
    errno.EINVAL: "it is a connection; have the supervisor hand the listening socket over, as systemd with Accept=no",
    errno.EOPNOTSUPP: "it is a socket without connections; give one of TCP, or a Unix stream socket",
}
"""Why a descriptor cannot be served."""


class HTTPOptions(msgspec.Struct, kw_only=True, frozen=True):
    """How HTTP is served.

    Args:
        host: address to bind; loopback by default.
        port: TCP port, 0 for a free one.
        path: the MCP endpoint; both slash forms are served.
        uds: path of a Unix socket, instead of host and port.
        uds_mode: its permissions, such as 0o660.
        uds_owner: its owner, `(uid, gid)`; -1 leaves one as it is.
        fd: descriptor of a socket that listens already (socket activation), instead of host and port.
        ssl: an `ssl.SSLContext`, or the paths of certificate chain and key.
        allowed_hosts: Host names besides the loopback ones, `name` or `name:port`; `*` for any.
        allowed_origins: Origins besides loopback ones, `https://name`; `*` for any.
        cors: True answers the preflight requests of web pages of allowed origins; a list allows further origins too.
        json_response: never answer with an event stream; progress is not sent.
        sse_keep_alive: seconds between two comments on a silent event stream.
    """

    host: str = "127.0.0.1"
    port: int = _PORT
    path: str = "/mcp"
    uds: str | os.PathLike[str] | None = None
    uds_mode: int | None = None
    uds_owner: tuple[int, int] | None = None
    fd: int | None = None
    ssl: Any = None
    allowed_hosts: Iterable[str] = ()
    allowed_origins: Iterable[str] = ()
    cors: bool | Iterable[str] = False
    json_response: bool = False
    sse_keep_alive: float = 15.0

    def __post_init__(self) -> None:
        if type(self.port) is not int or not 0 <= self.port <= 65535:
            raise ValueError(f"port={self.port!r}: give a number from 0 to 65535")
        for name in ("host", "path"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name}={getattr(self, name)!r}: give a string")
        if self.ssl is not None and not (hasattr(self.ssl, "wrap_bio") or _is_pair(self.ssl)):
            raise TypeError(f"ssl={self.ssl!r}: give the paths of certificate chain and key, (chain, key)")
        if not isinstance(self.json_response, bool):
            raise TypeError(f"json_response={self.json_response!r}: give True or False")
        _check_kinds(self)
        _check_host("host", self.host)
        _check_path(self.path)
        _check_place(self)
        for host in self.allowed_hosts:
            _check_host("allowed host", host)
        for origin in self.origins():
            _check_origin(origin)

    def hosts(self) -> list[str]:
        """Return the Host names that are served: an address that was bound on purpose is one of them."""
        hosts = (*self.allowed_hosts, *(() if self.host in _WILDCARDS else (self.host,)))
        return [f"[{host}]" if host.count(":") > 1 and host[0] != "[" else host for host in hosts]

    def origins(self) -> list[str]:
        """Return the origins whose pages may call."""
        return [*self.allowed_origins, *(() if isinstance(self.cors, bool) else self.cors)]


def options_of(server: MCPServer, given: dict[str, Any]) -> HTTPOptions:
    """Return the options of HTTP, given under our names or the official SDK's; a limit among them goes to the server.

    Raises:
        TypeError: an unknown one.
    """
    options = dict(given)
    options.pop("stateless_http", None)  # always so
    if "streamable_http_path" in options:
        options["path"] = options.pop("streamable_http_path")
    if "max_request_body_size" in options:
        server.limits = msgspec.structs.replace(server.limits, max_body_size=options.pop("max_request_body_size"))
    known = HTTPOptions.__struct_fields__
    for name in options:
        if name not in known:
            from .run_mistakes import unknown  # of mistakes only

            raise TypeError(unknown("option", name, known))
    return HTTPOptions(**options)


def _check_kinds(options: HTTPOptions) -> None:
    """Refuse values that would fail where they are used, and name the option."""
    for name in ("allowed_hosts", "allowed_origins", "cors"):
        value = getattr(options, name)
        if name == "cors" and isinstance(value, bool):
            continue
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise TypeError(f"{name}={value!r}: give a list, [{value if isinstance(value, str) else '...'!r}]")
        msgspec.structs.force_setattr(options, name, tuple(value))  # it may be an iterator
        if not all(isinstance(entry, str) for entry in getattr(options, name)):
            raise TypeError(f"{name}={value!r}: give a list of texts")
    for name in ("fd", "uds_mode"):
        value = getattr(options, name)
        if value is not None and (type(value) is not int or value < 0):
            raise ValueError(f"{name}={value!r}: give a whole number, such as {'3' if name == 'fd' else '0o660'}")
    if options.uds is not None and (not isinstance(options.uds, str | os.PathLike) or not os.fspath(options.uds)):
        raise ValueError(f"uds={options.uds!r}: give the path of a Unix socket, such as '/run/mcp.sock'")
    if isinstance(seconds := options.sse_keep_alive, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise ValueError(f"sse_keep_alive={seconds!r}: give a positive number of seconds")


def _check_path(path: str) -> None:
    """Refuse what no request would ever be at."""
    if path.startswith("/") and (found := re.search(r"[^!$&-;=@-Z_a-z~%]|%(?![0-9A-Fa-f]{2})", path)):
        cut, wrong = path[: found.start()], found[0]
        hint = f"write {cut!r}" if wrong in "?# \n" else "that is ASCII letters, digits, -._~, and others as %C3%B6"
        raise ValueError(f"path={path!r}: {wrong!r} is no part of a path; {hint}")


def _check_place(options: HTTPOptions) -> None:
    """Refuse a second place to listen at, which nobody would reach: a socket has no port."""
    given = [name for name in ("uds", "fd") if getattr(options, name) is not None]
    if given and options.port != _PORT:
        given.append("port")
    if len(given) > 1:
        raise ValueError(f"{' and '.join(f'{name}={getattr(options, name)!r}' for name in given)}: give one of them")


def _is_pair(given: object) -> bool:
    return isinstance(given, tuple | list) and len(given) == _PAIR


def _check_host(what: str, host: str) -> None:
    """Refuse a URL, and a port where it has an option of its own: no request would ever match, or nothing be bound."""
    if not host:
        raise ValueError(f"{what} '': a host is a name or an address, such as '127.0.0.1', or '0.0.0.0' for all")
    name = host.rpartition("://")[2].partition("/")[0]
    if name != host:
        raise ValueError(f"{what} {host!r}: a host is a name alone, {name!r}")
    bare, colon, port = host.rpartition(":")
    if what == "host" and colon and ":" not in bare and port.isdecimal():
        raise ValueError(f"{what} {host!r}: a host is a name alone, {bare!r}; the port is an option of its own")


def _check_origin(origin: str) -> None:
    """Refuse what no page's Origin can be."""
    if origin == "*" or _ORIGIN.fullmatch(origin):
        return
    scheme, _, rest = origin.rpartition("://")
    right = f"{scheme or 'https'}://{rest.partition('/')[0]}"
    raise ValueError(f"allowed origin {origin!r}: an origin is a scheme and a name, {right!r}")


class Listener:
    """An open socket that connections are accepted from.

    Args:
        server: what accepts them.
        where: the URL to show.
        path: of a Unix socket; its file goes when this is closed, unless another server has replaced it.
    """

    def __init__(self, server: asyncio.Server, where: str, path: str | None = None) -> None:
        self.where = where
        self._server = server
        self._path = path
        self._file = None if path is None else os.stat(path)

    def close(self) -> None:
        """Stop accepting; connections go on."""
        self._server.close()
        if self._path is not None and self._file is not None:
            with suppress(OSError):
                if os.path.samestat(os.stat(self._path), self._file):
                    os.unlink(self._path)


async def listen(factory: Callable[[], asyncio.Protocol], options: HTTPOptions) -> Listener:
    """Listen; connections are made by `factory`.

    Raises:
        BindError: the address cannot be bound, or the certificate not used.
    """
    loop = asyncio.get_running_loop()
    context = _context(options.ssl)
    tls = {} if context is None else {"ssl": context, "ssl_handshake_timeout": _HANDSHAKE}
    try:
        sock = _socket_of(options)
        if options.uds is not None:
            server = await loop.create_unix_server(factory, sock=sock, backlog=_BACKLOG, **tls)
            return Listener(server, _where(options, 0), os.fspath(options.uds))
        if sock is not None:
            server = await loop.create_server(factory, sock=sock, backlog=_BACKLOG, **tls)
            return Listener(server, _where(options, 0))
        server = await loop.create_server(factory, options.host, options.port, backlog=_BACKLOG, **tls)
    except (OSError, ValueError) as error:
        raise BindError(f"cannot listen on {_place(options)}: {_reason(error, options)}") from None
    return Listener(server, _where(options, server.sockets[0].getsockname()[1]))


def bind(options: HTTPOptions) -> tuple[socket.socket, str]:
    """Return a socket that listens, for servers that get its descriptor one after the other; and the URL to show.

    Raises:
        BindError: the address cannot be bound.
    """
    try:
        if (sock := _socket_of(options)) is not None:
            return sock, _where(options, 0)
        kind, flags = socket.SOCK_STREAM, socket.AI_PASSIVE
        found = socket.getaddrinfo(options.host or None, options.port, type=kind, flags=flags)
        # One descriptor is one address: of a name that has several, such as localhost, that of IPv4.
        family, *_, address = min(found, key=lambda info: info[0] != socket.AF_INET)
        sock = socket.create_server(address, family=family, backlog=_BACKLOG)
    except (OSError, ValueError) as error:
        raise BindError(f"cannot listen on {_place(options)}: {_reason(error, options)}") from None
    return sock, _where(options, sock.getsockname()[1])


def _socket_of(options: HTTPOptions) -> socket.socket | None:
    """Return a listening socket, a Unix one or that behind a descriptor; None where a TCP port is to be bound."""
    if options.uds is not None:
        sock = _unix_socket(options)
    elif options.fd is not None:
        sock = socket.socket(fileno=os.dup(options.fd))
    else:
        return None
    try:
        sock.listen(_BACKLOG)  # uvloop would not tell that it cannot
    except OSError:
        sock.close()
        raise
    return sock


def _where(options: HTTPOptions, port: int) -> str:
    """Return the URL to show."""
    scheme = "http" if options.ssl is None else "https"
    if options.uds is not None:
        return f"{scheme}+unix:{os.fspath(options.uds)}:{options.path}"
    if options.fd is not None:
        return f"{scheme} on descriptor {options.fd}, path {options.path}"
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"{scheme}://{host}:{port}{options.path}"


def _context(given: Any) -> Any:
    """Return an SSLContext, None without TLS."""
    if not isinstance(given, tuple | list):
        return given
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        chain, key = given
        context.load_cert_chain(chain, key, password=_ask_nobody)
    except OSError as error:
        shown = " and ".join(map(str, given))
        raise BindError(f"cannot use the certificate and key {shown}: {_of_tls(error, given)}") from None
    return context


def _ask_nobody() -> str:
    """Refuse the password of a key, for which TLS would ask on a terminal."""
    raise PermissionError(errno.EPERM, "the key has a password; remove it, or give ssl= a context that knows it")


def _of_tls(error: OSError, given: Sequence[Any]) -> str:
    """Return why a certificate chain and its key cannot be used."""
    for path, kind in zip(given, ("CERTIFICATE", "PRIVATE KEY"), strict=True):
        try:
            with open(path, "rb") as file:
                text = file.read()
        except OSError as fault:
            return f"{path}: {fault.strerror}"
        if f"{kind}-----".encode() not in text:
            return f"{path} holds no {kind} in PEM form, which begins with -----BEGIN"
    if getattr(error, "reason", "") == "KEY_VALUES_MISMATCH":
        return "the key belongs to another certificate"
    return error.strerror or str(error)


def _unix_socket(options: HTTPOptions) -> socket.socket:
    """Return a bound Unix socket with its owner and mode; a socket file that nobody serves any more is replaced."""
    path = os.fspath(options.uds or "")
    _remove_stale(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Nobody may connect before the mode is right.
    mask = os.umask(0o177)
    try:
        sock.bind(path)
    except OSError:
        sock.close()
        raise
    finally:
        os.umask(mask)
    try:
        if options.uds_owner is not None:
            os.chown(path, *options.uds_owner)
        os.chmod(path, 0o666 & ~mask if options.uds_mode is None else options.uds_mode)
    except OSError:
        sock.close()
        os.unlink(path)
        raise
    return sock


def _remove_stale(path: str) -> None:
    try:
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return  # bind says that something else is there
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)  # else a server that is too busy to accept would hold us up
        try:
            probe.connect(path)
        except BlockingIOError:
            return  # its queue is full: it is served
        except ConnectionRefusedError:
            with suppress(FileNotFoundError):
                os.unlink(path)


def _place(options: HTTPOptions) -> str:
    if options.uds is not None:
        return str(os.fspath(options.uds))
    return f"{options.host}:{options.port}" if options.fd is None else f"descriptor {options.fd}"


def _reason(error: OSError | ValueError, options: HTTPOptions) -> str:
    if isinstance(error, ValueError):
        return str(error)  # no socket of connections
    if options.uds is not None and (said := _OF_SOCKETS.get(error.errno or 0)):
        return said
    if options.fd is not None and (said := _OF_DESCRIPTORS.get(error.errno or 0)):
        return said
    if options.uds is not None and "path too long" in str(error):
        return "the path is too long; the system takes about 100 characters"
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; choose another with port= (--port), or 0 for a free one"
    if error.errno == errno.EACCES:
        return "not permitted; choose a port above 1023, or a path that you may write"
    if isinstance(error, socket.gaierror):
        return "the name does not resolve; give an address of this machine, or 0.0.0.0 for all"
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address; give one of its own, or 0.0.0.0 for all"
    return error.strerror or str(error)
