"""What `lifespan=` takes, checked where it is given; loaded by servers that have one.

In: what the author gave. Out: nothing, or a TypeError that says what to write instead.
Ours: a mistake in it would else stop the server only when it starts.
"""

from __future__ import annotations

import inspect

__all__ = ["check_lifespan"]

_HOW = "write @asynccontextmanager above `async def lifespan(server)`, which yields once"


def check_lifespan(lifespan: object) -> None:
    """Refuse what cannot give an async context manager when it is called with the server.

    Raises:
        TypeError: the text says what it is instead.
    """
    if hasattr(lifespan, "__aenter__") and not isinstance(lifespan, type):
        raise TypeError("lifespan= is given what the function returns; give the function itself, without calling it")
    if not callable(lifespan):
        raise TypeError(f"lifespan={lifespan!r} is no function; {_HOW}")
    name = getattr(lifespan, "__name__", type(lifespan).__name__)
    if inspect.isasyncgenfunction(lifespan):
        raise TypeError(f"lifespan={name}: it yields, but is no context manager; write @asynccontextmanager above it")
    if inspect.iscoroutinefunction(lifespan):
        raise TypeError(f"lifespan={name}: it does not yield; {_HOW}")
    wrapped = getattr(lifespan, "__wrapped__", None)
    if inspect.iscoroutinefunction(wrapped) and _is_context_manager(lifespan):
        raise TypeError(f"lifespan={name}: it does not yield; write `yield value` in place of `return`")
    if inspect.isgeneratorfunction(lifespan) or inspect.isgeneratorfunction(wrapped):
        raise TypeError(f"lifespan={name}: it is no async context manager; {_HOW}")
    try:
        inspect.signature(lifespan).bind(None)
    except TypeError:
        raise TypeError(f"lifespan={name}: it is called with the server; write {name}(server)") from None
    except ValueError:
        return  # of a builtin, which shows no signature


def _is_context_manager(function: object) -> bool:
    """Return whether @asynccontextmanager made a function; others may wrap what does not yield."""
    return getattr(function, "__globals__", {}).get("__name__") == "contextlib"
