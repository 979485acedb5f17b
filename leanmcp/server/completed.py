"""Objects of dataclasses, with the defaults that msgspec leaves to the class.

In: a decoded value. Out: the same value; what a message left out is an attribute of the object itself, as it is after
the class's own `__init__`. Results are written from such attributes alone.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

__all__ = ["complete", "is_left_incomplete"]


_LEAVES = frozenset((str, int, float, bool, bytes, type(None)))


def is_left_incomplete(cls: Any) -> bool:
    """Return whether msgspec makes objects of a class without what has a default: the class has it as an attribute."""
    return is_dataclass(cls) and any(getattr(cls, entry.name, entry) is entry.default for entry in fields(cls))


def complete(value: Any) -> Any:
    """Return a value after all dataclass objects in it were completed."""
    todo, seen = [value], dict[int, Any]()
    while todo:
        item = todo.pop()
        if type(item) in _LEAVES or id(item) in seen:
            continue
        seen[id(item)] = item  # objects may refer to each other, as __post_init__ has it
        if isinstance(item, list | tuple | set | frozenset):
            todo += item
        elif isinstance(item, dict):
            todo += item.values()
        elif isinstance(item, msgspec.Struct):
            todo += (getattr(item, name) for name in item.__struct_fields__)
        elif is_dataclass(item):
            held = {entry.name: getattr(item, entry.name) for entry in fields(item) if hasattr(item, entry.name)}
            todo += held.values()
            own = getattr(item, "__dict__", {})
            if not held.keys() <= own.keys():  # else it may be a default, which other threads read
                held.update(own)
                own.clear()
                own.update(held)  # in the order of the fields
        else:
            todo += (getattr(item, entry.name) for entry in getattr(type(item), "__attrs_attrs__", ()))
    return value
