"""Markers where they have no effect: a parameter that the server was to fill must never become an argument of clients.

In: one parameter of a function. Out: why its markers cannot be meant, and the right spelling. Loaded for parameters
that have a marker in a wrong place only.
Ours: nobody may choose a value that the author thinks is the server's, such as who is logged in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from ..constraints import members
from .derive import type_text
from .metadata import is_marker, split

__all__ = ["misplaced"]

_QUESTIONS = ("Elicit", "ElicitURL", "Question")
_OUTCOMES = ("Accepted", "Declined", "Cancelled")
_OURS = ("Depends", "Resolve")


def misplaced(name: str, annotation: Any, default: Any, *, may_take_outcome: bool) -> str | None:
    """Return what is wrong with a parameter, None where its markers are where they belong.

    Args:
        name: of the parameter.
        annotation: resolved.
        default: of the parameter.
        may_take_outcome: whether the type may be how a question ended without a marker beside it.
    """
    kind, marks = split(annotation)
    candidates = [mark for mark in (default, *marks) if is_marker(mark)]
    providers = [mark for mark in candidates if hasattr(type(mark), "provide")]
    written = _written(kind)
    for mark in candidates:
        if mark not in providers:
            return _wrong_mark(name, written, mark)
    if len(providers) > 1:
        return f"{' and '.join(map(_shown, providers))} both give the value; keep one of them"
    for part, is_mark in _parts(kind):
        text = _named(part)
        if _is_context(part) and not any(map(_is_context, members(kind) or (kind,))):
            return f"Context stands inside the type, where it has no effect; write {name}: Context"
        if is_mark and is_marker(part):
            right = f"write {name}: Annotated[{written}, {_shown(part)}]"
            return f"{_shown(part)} stands inside the type, where it has no effect; {right}, around the whole of it"
        if not is_mark and _is_no_type(part) and (text not in _OUTCOMES or not (providers or may_take_outcome)):
            return _wrong_type(name, part)
    return None


def _written(kind: Any) -> str:
    """Return a type as its author would write it, dots for one with markers inside."""
    text = type_text(kind)
    return "..." if is_marker(kind) or "<" in text else text.rpartition("<locals>.")[2]


def _is_no_type(part: Any) -> bool:
    """True for markers where a type belongs; a class of the author's may have a method `provide`."""
    if isinstance(part, type) and not part.__module__.startswith("leanmcp."):
        return False
    return is_marker(part) and _named(part) != "Context"


def _is_context(part: Any) -> bool:
    """True for Context, and for Context[...]."""
    return _named(part) == "Context" and is_marker(get_origin(part) or part)


def _wrong_mark(name: str, written: str, mark: Any) -> str:
    text = _named(mark)
    if text in _QUESTIONS:
        return f"{text} cannot stand beside a type; {_asked(name, written)}"
    if text == "Context":
        return f"Context is the type itself; write {name}: Context"
    if getattr(type(mark), "__name__", "") in ("Depends", "Security"):
        return f"{text} of {type(mark).__module__} has no effect here; from leanmcp import Depends"
    argument = "..." if text not in _OURS else "function"
    return f"{text} is not called, and so has no effect; write {name}: Annotated[{written}, {text}({argument})]"


def _wrong_type(name: str, part: Any) -> str:
    text = _named(part)
    if text in _QUESTIONS:
        return f"{text} is no type of a value; {_asked(name, 'YourForm')}"
    if text in _OUTCOMES:
        return f"{text} is how a question ends, which clients do not send; {_asked(name, f'{text}[...]')}"
    call = _shown(part) if hasattr(type(part), "provide") else f"{text}(function)"
    return f"{call} is no type; write {name}: Annotated[YourType, {call}]"


def _asked(name: str, written: str) -> str:
    return (
        f"write {name}: Annotated[{written}, Resolve(ask)], where `ask` is a function that returns "
        "Elicit(message, YourForm)"
    )


def _shown(mark: Any) -> str:
    """Return a marker as its author would write it."""
    function = getattr(mark, "function", None) or getattr(mark, "fn", None)
    inside = getattr(function, "__name__", "...")
    return f"{_named(mark)}({'...' if inside == '<lambda>' else inside})"


def _named(thing: Any) -> str:
    """Return the name of a marker: of an instance that of its class."""
    thing = get_origin(thing) or thing
    found = getattr(thing, "__name__", None) or type(thing).__name__
    return "Depends" if found == "Dependency" else str(found)


def _parts(kind: Any) -> Iterator[tuple[Any, bool]]:
    """Yield the types in a type, itself included, and what stands beside them in `Annotated`."""
    todo, seen = [kind], 0
    while todo and seen < 1000:  # an alias may contain itself
        part, seen = todo.pop(0), seen + 1
        if get_origin(part) is Annotated:
            yield from ((mark, True) for mark in split(part)[1])
            todo.append(split(part)[0])
        elif isinstance(part, list):  # the parameters of a Callable
            todo.extend(part)
        elif get_origin(part) is not Literal:
            yield part, False
            todo.extend(get_args(part))
            if type(part).__name__ == "TypeAliasType":
                todo.append(part.__value__)
