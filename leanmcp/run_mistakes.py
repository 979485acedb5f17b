"""What is said of a transport or an option of `run()` that there is not; loaded by mistakes only.

In: what was given. Out: the text of the exception.
"""

from __future__ import annotations

from collections.abc import Iterable

from .mistyped import did_you_mean

_NOT_HERE = {
    "reload": "the command reloads: leanmcp run server.py --http --reload",
    "workers": "a server is one process; start several behind a proxy",
    "log_level": "set it with logging.getLogger('leanmcp').setLevel(...)",
    "debug": "errors and their tracebacks are logged always",
}
"""Options of other servers: what there is in their place."""


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Return what is said of a name that is none of `known`."""
    known = list(known)
    if kind == "option" and name in _NOT_HERE:
        return f"unknown option {name!r}; {_NOT_HERE[str(name)]}"
    hint = did_you_mean(str(name), known) or f"; there is {', '.join(map(repr, known))}"
    return f"unknown {kind} {name!r}{hint}"


def unnamed(value: object) -> str:
    """Return what is said of a value behind the transport that has no name."""
    name = "port" if isinstance(value, int) else "path" if str(value).startswith("/") else "host"
    return f"run: an option has no name; write {name}={value!r}"
