"""Uses of a server, a context or a client that leanmcp does not have, found by what our classes have when it runs.

In: a Source, and what its local names mean. Out: what a person has to change. What a variable holds is told by how it
was made in the same file: `mcp = MCPServer(...)`, `ctx: Context`, `async with Client(...) as client`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from ..elsewhere import INSTEAD_OF_MEMBERS, INSTEAD_OF_OPTIONS
from .migrating_source import Left, Source

_SERVER, _CONTEXT, _CLIENT = "leanmcp.MCPServer", "leanmcp.Context", "leanmcp.Client"
_NOUNS = {_SERVER: "the server", _CONTEXT: "the context", _CLIENT: "the client"}
_PYDANTIC = ("model_dump", "model_dump_json", "model_copy", "model_validate", "model_json_schema")
_INSIDE = ("_mcp_server", "_lowlevel_server", "_tool_manager", "_resource_manager", "_prompt_manager")
_DECORATORS = ("tool", "resource", "prompt", "add_tool", "add_resource", "add_prompt")
_OPTIONS_OF_RUN = ("streamable_http_path", "max_request_body_size", "stateless_http", "drain", "transport")


class Uses:
    """What a file does with our classes.

    Args:
        source: the file.
        meanings: local name to what it is here.
    """

    def __init__(self, source: Source, meanings: dict[str, str]) -> None:
        self._nodes = list(ast.walk(source.tree))
        self._classes = {name: kind for name, text in meanings.items() if (kind := _kind(text)) is not None}
        self._variables: dict[str, str] = {}
        for node in self._nodes:
            self._learn(node)

    def left(self) -> Iterator[Left]:
        """Yield what a person has to change."""
        for node in self._nodes:
            if isinstance(node, ast.Call):
                yield from self._call(node)
            elif isinstance(node, ast.Attribute):
                yield from self._attribute(node)
            elif isinstance(node, ast.Subscript) and self._is_wide_context(node):
                yield Left(
                    node.lineno, "the context's types", "it takes one, that of what the lifespan yields: Context[State]"
                )

    # --- what variables hold --------------------------------------------------------------------------------------

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            kind = self._made(node.value)
            for target in targets:
                if kind and isinstance(target, ast.Name):
                    self._variables[target.id] = kind
        elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
            if kind := self._made(node.context_expr):
                self._variables[node.optional_vars.id] = kind
        elif isinstance(node, ast.arg) and (kind := self._annotated(node.annotation)):
            self._variables[node.arg] = kind

    def _made(self, value: ast.expr | None) -> str | None:
        return self._class_of(value.func) if isinstance(value, ast.Call) else None

    def _class_of(self, node: ast.expr) -> str | None:
        return self._classes.get(ast.unparse(node)) if isinstance(node, ast.Name | ast.Attribute) else None

    def _annotated(self, annotation: ast.expr | None) -> str | None:
        if annotation is None:
            return None
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return self._classes.get(annotation.value.partition("[")[0].strip())
        for part in ast.walk(annotation):
            if isinstance(part, ast.Name | ast.Attribute) and (kind := self._class_of(part)):
                return kind
        return None

    def _held(self, node: ast.expr) -> str | None:
        """Return what a name holds, or what is made on the spot."""
        if isinstance(node, ast.Attribute) and node.attr == "request_context":
            return self._held(node.value)
        return self._variables.get(node.id) if isinstance(node, ast.Name) else self._made(node)

    def _is_wide_context(self, node: ast.Subscript) -> bool:
        return isinstance(node.slice, ast.Tuple) and self._class_of(node.value) == _CONTEXT

    # --- what is done with them -----------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Iterator[Left]:
        kind = self._class_of(node.func)
        if kind in (_SERVER, _CLIENT):
            yield from _unknown_options(node, _NOUNS[kind], _options_of(kind))
        if not isinstance(node.func, ast.Attribute) or self._held(node.func.value) != _SERVER:
            return
        method = node.func.attr
        if method in ("run", "run_async"):
            yield from _transport(node)
            yield from _unknown_options(node, f"{method}()", _options_of(method))
        elif method in _DECORATORS:
            yield from _unknown_options(node, f"{method}()", _options_of(method))

    def _attribute(self, node: ast.Attribute) -> Iterator[Left]:
        kind = self._held(node.value)
        if kind is not None:
            if not node.attr.startswith("_") and node.attr not in _members(kind) and isinstance(node.ctx, ast.Load):
                advice = INSTEAD_OF_MEMBERS.get(node.attr, "there is none")
                yield Left(node.lineno, f"{_NOUNS[kind]}'s {node.attr}", advice)
            elif node.attr in _INSIDE:
                yield Left(node.lineno, f"{_NOUNS[kind]}'s {node.attr}", "there is no server below this one")
            return
        if not isinstance(node.ctx, ast.Load):
            return
        if (name := _wire_names().get(node.attr)) is not None:
            yield Left(node.lineno, f".{node.attr}", f"of a type of the protocol, read .{name}")
        elif node.attr in _PYDANTIC and _is_answer(node.value):
            yield Left(node.lineno, f".{node.attr}", "types are Structs here: msgspec.to_builtins(result)")


def _kind(meaning: str) -> str | None:
    name = meaning.rpartition(".")[2]
    return f"leanmcp.{name}" if f"leanmcp.{name}" in _NOUNS and meaning.startswith("leanmcp") else None


def _is_answer(node: ast.expr) -> bool:
    """Return whether a value is called as answers are, `result` or `await client.call_tool(...)`."""
    return isinstance(node, ast.Await) or (isinstance(node, ast.Name) and node.id in ("result", "response", "answer"))


def _transport(node: ast.Call) -> Iterator[Left]:
    given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "transport")]
    if any(isinstance(value, ast.Constant) and value.value == "sse" for value in given):
        yield Left(node.lineno, 'run("sse")', 'the HTTP+SSE transport is not served; write run("http")')


def _unknown_options(node: ast.Call, what: str, known: Sequence[str]) -> Iterator[Left]:
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg not in known:
            advice = INSTEAD_OF_OPTIONS.get(keyword.arg, "there is no such option; leave it out")
            yield Left(keyword.value.lineno, f"{what}'s {keyword.arg}=", advice)


@cache
def _options_of(what: str) -> list[str]:
    """Return the options of a class, of `run` or of a decorator."""
    from ..client import Client
    from ..listen import HTTPOptions
    from ..server.app import MCPServer
    from ..server.prompts import PromptSpec
    from ..server.registration import ToolSpec
    from ..server.resource import ResourceSpec

    if what in (_SERVER, _CLIENT):
        return list(inspect.signature(MCPServer if what == _SERVER else Client).parameters)
    if what.startswith("run"):
        return [*HTTPOptions.__struct_fields__, *_OPTIONS_OF_RUN]
    specs: dict[str, Any] = {"tool": ToolSpec, "resource": ResourceSpec, "prompt": PromptSpec}
    noun = what.removeprefix("add_")
    method = list(inspect.signature(getattr(MCPServer, f"add_{noun}")).parameters)
    return [*specs[noun].__struct_fields__, *method, "replace"]


@cache
def _members(kind: str) -> set[str]:
    from ..client import Client
    from ..errors import Absent
    from ..server.app import MCPServer
    from ..server.context import Context

    made: dict[str, Any] = {_SERVER: MCPServer("any"), _CONTEXT: Context, _CLIENT: Client("http://127.0.0.1/mcp")}
    owner = made[kind]
    return {name for name in dir(owner) if not isinstance(inspect.getattr_static(owner, name, None), Absent)}


@cache
def _wire_names() -> dict[str, str]:
    """Return the wire's names of members that are read by others here."""
    from .. import types

    named = [getattr(types, name) for name in types.__all__]
    structs = [kind for kind in named if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
    return {
        wire: name
        for struct in structs
        for wire, name in zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True)
        if wire != name and not wire.startswith("_")
    }
