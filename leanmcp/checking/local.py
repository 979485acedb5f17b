"""A server in this process, described: nothing of it is started, no function of it is called.

In: an MCPServer, and the file that it was loaded from. Out: a `Server`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

import msgspec

from ..frames import owner_of
from ..server.app import MCPServer
from ..server.calling import Callee, code_of
from ..server.resource import Resource
from .record import Completed, Part, Place, Server
from .sources import Source

__all__ = ["describe", "place_of", "shown_path"]

_MOST_WRAPPERS = 20  # that are looked into
_PLAIN_TEXT = {"type", "title", "description", "default"}  # all that the schema of a parameter for any text may have


def describe(server: MCPServer, file: str, names: Mapping[str, Any], logged: list[tuple[Place, str]]) -> Server:
    """Return the description of a server.

    Args:
        server: registered, not started.
        file: that it was loaded from.
        names: of the module of the file.
        logged: what registration warned of.
    """
    return _Describer(server, file, names).describe(logged)


def shown_path(file: str) -> str:
    """Return a path as users write it: relative to the working folder where it lies below it."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative


def is_own(file: str) -> bool:
    """Return whether a file is one of the user's: neither ours, nor of Python, nor installed."""
    return owner_of(os.path.abspath(file)) == "author"


def place_of(code: CodeType | None) -> Place | None:
    """Return where a function stands, None where it is not the user's."""
    if code is None or not is_own(code.co_filename) or not os.path.isfile(code.co_filename):
        return None
    return Place(shown_path(code.co_filename), code.co_firstlineno)


class _Describer:
    """Describes one server."""

    def __init__(self, server: MCPServer, file: str, names: Mapping[str, Any]) -> None:
        self._server = server
        self._sources: dict[str, Source | None] = {}
        self._main = self._source(file, names)
        line = 0 if self._main is None else self._main.line_of_call(type(server))
        self._place = Place(shown_path(file), line)
        prompts = server.__dict__.get("_prompts")
        table = server.__dict__.get("_resource_table")
        self._prompts = [] if prompts is None else list(prompts.registry)
        self._resources: list[Resource] = [] if table is None else [*table.registry, *table.templates]

    def describe(self, logged: list[tuple[Place, str]]) -> Server:
        """Return the description."""
        server = self._server
        parts = [*self._tools(), *self._other_parts()]
        # Parts first: what they need, their files, is where the questions are looked for.
        questions = [question for source in self._sources.values() if source for question in source.questions()]
        return Server(
            label="the server",
            place=self._place,
            info=msgspec.json.decode(server.server_info),
            instructions=server.instructions or "",
            parts=parts,
            questions=questions,
            completed=list(self._completed()),
            enforced=True,
            logged=[(place if place.file else self._place, text) for place, text in logged],
            tools_bytes=len(msgspec.json.encode([tool.entry for tool in server.tools])),
        )

    def _tools(self) -> Iterator[Part]:
        for tool in self._server.tools:
            yield self._part("tool", tool.entry, tool._callee)

    def _other_parts(self) -> Iterator[Part]:
        for prompt in self._prompts:
            yield self._part("prompt", prompt.entry, prompt._callee)
        for resource in self._resources:
            part = self._part("resource" if resource.template is None else "template", resource.entry, resource._callee)
            if resource.variables is not None:
                part.unguarded, part.takes_any_text = _unguarded(resource), _takes_any_text(resource)
            yield part

    def _part(self, kind: Any, entry: Any, callee: Callee) -> Part:
        part = Part(kind=kind, entry=msgspec.to_builtins(entry), place=self._place)
        code = code_of(callee.function)
        place = place_of(code)
        if place is None or code is None:
            part.place = self._named_place(part.name)
            return part
        part.place = place
        part.on_loop = not callee.is_async and not callee._in_thread
        part.covered = _is_covered(callee.function)
        source = self._source(code.co_filename, _globals(callee.function))
        for marker, _ in callee.provided.values():  # their functions may stand in files of their own
            function = getattr(marker, "fn", None) or getattr(marker, "function", None)
            inner = code_of(function) if callable(function) else None
            if inner is not None:
                self._source(inner.co_filename, _globals(function))
        if callee.is_async and source is not None:
            part.stalls = source.stalls(code.co_firstlineno)
        return part

    def _named_place(self, name: str) -> Place:
        """Return where a name is written, for what has no function of the user's."""
        line = 0 if self._main is None else self._main.line_of(name)
        return Place(self._place.file, line) if line else self._place

    def _completed(self) -> Iterator[Completed]:
        completions = self._server.__dict__.get("_completions")
        if completions is None:
            return
        known: dict[tuple[str, str], Any] = {("ref/prompt", prompt.name): prompt.arguments for prompt in self._prompts}
        known |= {("ref/resource", resource.name): resource.variables for resource in self._resources}
        for (kind, name, argument), completer in completions._completers.items():
            owner = known.get((kind, name))
            yield Completed(
                owner=f"{'prompt' if kind == 'ref/prompt' else 'template'} {name!r}",
                argument=argument,
                place=place_of(code_of(completer.function)) or self._place,
                known=None if owner is None else tuple(owner.offered),
            )

    def _source(self, file: str, names: Mapping[str, Any]) -> Source | None:
        """Return a file of the user's, None where it cannot be read, such as that of a notebook's cell."""
        if file not in self._sources and is_own(file):
            try:
                self._sources[file] = Source(file, shown_path(file), names)
            except (OSError, SyntaxError, ValueError):
                self._sources[file] = None
        return self._sources.get(file)


def _globals(function: Any) -> dict[str, Any]:
    """Return the names of the module that a function stands in."""
    while not hasattr(function, "__globals__"):
        inner = getattr(function, "func", None) or getattr(function, "__func__", None)
        function = inner or vars(type(function)).get("__call__")
        if function is None:
            return {}
    found: dict[str, Any] = function.__globals__
    return found


def _is_covered(function: Any) -> bool:
    """Return whether the name of a function stands in its module for what a decorator has made of it since.

    Decorators leave what they were given in `__wrapped__`, as functools.wraps does, in `func`, or in a closure.
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    todo = [getattr(sys.modules.get(str(module)), name, function)] if name.isidentifier() else []
    seen = 0
    while todo and seen < _MOST_WRAPPERS:
        found, seen = todo.pop(), seen + 1
        if found is function:
            return seen > 1
        own = getattr(found, "__dict__", {})
        todo += [own[key] for key in ("__wrapped__", "func") if key in own]
        if isinstance(found, FunctionType) and "__wrapped__" not in own:
            todo += [cell.cell_contents for cell in found.__closure__ or () if _is_function(cell)]
    return False


def _is_function(cell: CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, FunctionType)
    except ValueError:  # nothing is in it yet
        return False


def _unguarded(resource: Resource) -> tuple[str, ...]:
    """Return the variables whose texts are not checked for what leads out of a folder."""
    security = resource._security
    texts = [name for name, schema in _properties(resource) if _is_text(schema)]
    if not (security.reject_path_traversal and security.reject_absolute_paths):
        return tuple(texts)
    return tuple(name for name in texts if name in security.exempt_params)


def _takes_any_text(resource: Resource) -> bool:
    return all(schema.keys() <= _PLAIN_TEXT and _is_text(schema) for _, schema in _properties(resource))


def _is_text(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "string" and "enum" not in schema and "const" not in schema


def _properties(resource: Resource) -> list[tuple[str, dict[str, Any]]]:
    assert resource.variables is not None
    return list(resource.variables._signature.input_schema["properties"].items())
