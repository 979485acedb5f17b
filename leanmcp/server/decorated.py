"""What a registering decorator was given in place of a function or a name; loaded for the unusual only.

In: the argument of `@mcp.tool` or `add_tool`, and the frame of the author's. Out: nothing, or a TypeError.
"""

from __future__ import annotations

import linecache
from types import FrameType
from typing import Any

from ..errors import explained
from ..limits import Limits
from .registration import unfinished

__all__ = ["check_decorated", "check_setting", "wrong_name", "wrong_uri"]


def check_decorated(given: object, noun: str, frame: FrameType) -> None:
    """Refuse what is neither a function nor a name; None is no function where no parentheses call the decorator.

    Args:
        given: no text, and nothing that can be called.
        frame: of the author's code.
    """
    if isinstance(given, classmethod):
        raise TypeError(unfinished(given, noun))
    if isinstance(given, property):
        name = getattr(given.fget, "__name__", "it")
        raise TypeError(f"{noun} {name!r} is a property; take @property away: a {noun} is a function that is called")
    if isinstance(given, list | tuple):
        kind = type(given).__name__
        raise TypeError(f"a {noun} is a function, not a {kind}; call mcp.add_{noun}(function) for each of them")
    if given is not None:
        raise TypeError(f"{noun} name must be a string, not {given!r}")
    if _is_bare(frame):
        raise TypeError(
            f"a {noun} is a function, not None; let the decorator below @mcp.{noun} return the function that it makes"
        )


def _is_bare(frame: FrameType) -> bool:
    """Return whether a decorator is called as `@mcp.tool`, without parentheses of its own."""
    position = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    first, last, _, end = position
    if first is None or last is None or end is None:
        return False  # Python runs without columns
    line = linecache.getline(frame.f_code.co_filename, last, frame.f_globals).encode()[:end]
    return bool(line) and not line.endswith(b")")


def wrong_name(noun: str, function: Any, name: object) -> TypeError:
    """Return the error about a name that is no text, or that stands where the function belongs."""
    if isinstance(function, str) and callable(name):
        shown = getattr(name, "__name__", "function")
        return TypeError(f'add_{noun}: the function comes first; write add_{noun}({shown}, "{function}")')
    return TypeError(f"{noun} name must be a string, not {name!r}")


@explained
def check_setting(name: str, value: Any) -> None:
    """Refuse an attribute of a server that would have no effect, or would fail later.

    Raises:
        AttributeError, TypeError: the text says where it is given.
    """
    if name == "lifespan":
        from .lifespans import check_lifespan

        return None if value is None else check_lifespan(value)
    if name == "limits":
        if not isinstance(value, Limits):
            raise TypeError(f"limits={value!r}: give Limits(max_body_size=..., ...)")
        return None
    from ..elsewhere import INSTEAD_OF_OPTIONS

    instead = INSTEAD_OF_OPTIONS.get(name, f"give it to MCPServer({name}=...), or to mcp.run")
    if name == "middleware":
        instead = "write mcp.middleware.append(function)"
    raise AttributeError(f"mcp.{name} cannot be set; {instead}")


def wrong_uri(called: str, first: object, rest: tuple[object, ...]) -> TypeError:
    """Return the error about a function and a URI that are not where they belong."""
    if called == "resource":
        return TypeError(f"@mcp.resource takes the URI alone; write @mcp.resource({first!r}) above the function")
    if callable(first):
        return TypeError('add_resource: the URI is missing; write add_resource(function, "data://name")')
    function = rest[0] if rest and callable(rest[0]) else None
    shown = getattr(function, "__name__", "function")
    shown = "function" if shown == "<lambda>" else shown
    return TypeError(f"add_resource: the function comes first; write add_resource({shown}, {first!r})")
