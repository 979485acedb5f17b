"""What the source of a server's files says that nobody can ask the server: questions, and calls that hold it up.

In: a file that has been imported, and the names of its module. Out: questions and calls, where they are sure: a name
that a function gives a meaning of its own is left alone, and so is whatever is worked out while the program runs.
Spec 2026-07-28: client/elicitation, "User Interaction Model".
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from ..server.elicitation import Elicit
from ..server.form_rules import secret_in, secret_word
from ..server.forms import check_form, form_of
from .record import Place, Question

__all__ = ["Source"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ASKS = re.compile(r"(?i)\b(enter|type|paste|provide|give|send|supply|tell|what is|what's|need|confirm)\b")
_ASKS_NOT = re.compile(r"(?i)\b(never|not|no|without)\b|n't\b")
# Functions that return when somebody else has done something. Only those of modules that are loaded can be meant.
_BLOCKING = {
    "time": ("sleep",),
    "builtins": ("input",),
    "os": ("system", "waitpid"),
    "subprocess": ("run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
    "urllib.request": ("urlopen", "urlretrieve"),
    "requests": ("get", "post", "put", "patch", "delete", "head", "options", "request"),
    "httpx": ("get", "post", "put", "patch", "delete", "head", "options", "request", "stream"),
}


class Source:
    """One file.

    Args:
        path: of the file.
        shown: what texts call it.
        names: of its module.

    Raises:
        OSError, SyntaxError, ValueError: it cannot be read any more.
    """

    def __init__(self, path: str, shown: str, names: Mapping[str, Any]) -> None:
        with open(path, "rb") as file:
            self._tree = ast.parse(file.read())
        self._shown = shown
        self._names = names
        self._own: dict[Function, set[str]] = {}

    def line_of(self, text: str) -> int:
        """Return the first line where a text stands as a literal, 0 where none does."""
        lines = [node.lineno for node in ast.walk(self._tree) if isinstance(node, ast.Constant) and node.value == text]
        return min(lines, default=0)

    def line_of_call(self, function: object) -> int:
        """Return the first line where a function or class is called, 0 where none does."""
        calls = [node for node in ast.walk(self._tree) if isinstance(node, ast.Call)]
        return min((call.lineno for call in calls if self._meant(call.func, ()) is function), default=0)

    # --- questions ----------------------------------------------------------------------------------------------------

    def questions(self) -> Iterator[Question]:
        """Yield the questions that ask for a secret, or that no client could show."""
        for node, path in _nodes(self._tree):
            if isinstance(node, ast.Call):
                yield from self._asked(node, path)
            elif isinstance(node, ast.Dict):
                yield from self._by_hand(node, path)

    def _asked(self, call: ast.Call, path: tuple[Function, ...]) -> Iterator[Question]:
        if not _is_context(call.func, path) and self._meant(call.func, path) is not Elicit:
            return
        owner, place = _owner(path), Place(self._shown, call.lineno)
        message, form = _argument(call, 0, "message"), _argument(call, 1, "schema")
        if isinstance(message, ast.Constant) and isinstance(message.value, str):
            word = _asked_for(message.value)
            if word:
                yield Question(owner=owner, place=place, secret=f"the message of a form asks for a secret ({word})")
        local = _local_class(form, path)
        kind = None if form is None else self._meant(form, path)
        if local is not None:
            fields = [field.target for field in local.body if isinstance(field, ast.AnnAssign)]
            for name in [field.id for field in fields if isinstance(field, ast.Name)]:
                found = secret_word(name, {})
                if found:
                    text = f"field {name!r} of the form {local.name} asks for a secret ({found})"
                    yield Question(owner=owner, place=place, secret=text)
        elif isinstance(kind, type):
            try:
                form_of(kind)
            except ValueError as fault:
                yield Question(owner=owner, place=place, secret=str(fault).partition(";")[0])
            except Exception as fault:  # a TypeError that names the field, or whatever makes its defaults
                yield Question(owner=owner, place=place, unfit=str(fault))

    def _by_hand(self, literal: ast.Dict, path: tuple[Function, ...]) -> Iterator[Question]:
        """Yield what is wrong with a request that is written out as a dict."""
        try:
            request = ast.literal_eval(literal)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return  # it is worked out while the program runs
        if request.get("method") != "elicitation/create" or not isinstance(request.get("params"), dict):
            return
        owner, place = _owner(path), Place(self._shown, literal.lineno)
        try:
            check_form(request["params"])
        except ValueError as fault:
            yield Question(owner=owner, place=place, secret=str(fault).partition(";")[0])
        except TypeError as fault:
            yield Question(owner=owner, place=place, unfit=str(fault))

    # --- calls that block ---------------------------------------------------------------------------------------------

    def stalls(self, line: int) -> list[tuple[Place, str]]:
        """Return the calls that hold the event loop up, in the coroutine function that begins in a line."""
        return self._stalls.get(line, [])

    @cached_property
    def _stalls(self) -> dict[int, list[tuple[Place, str]]]:
        found: dict[int, list[tuple[Place, str]]] = {}
        for node, path in _nodes(self._tree):
            if isinstance(node, ast.Call) and path and isinstance(path[-1], ast.AsyncFunctionDef):
                name = self._blocking(node, path)
                if name:
                    found.setdefault(_first_line(path[-1]), []).append((Place(self._shown, node.lineno), name))
        return found

    def _blocking(self, call: ast.Call, path: tuple[Function, ...]) -> str:
        meant = self._meant(call.func, path)
        if meant is None:
            return ""
        for module, names in _BLOCKING.items():
            loaded = sys.modules.get(module)
            name = next((name for name in names if getattr(loaded, name, None) is meant), None)
            if name is not None:
                return name if module == "builtins" else f"{module}.{name}"
        return ""

    # --- names --------------------------------------------------------------------------------------------------------

    def _meant(self, node: ast.expr, path: tuple[Function, ...]) -> Any:
        """Return what a name of the module stands for, None where that is not sure."""
        if isinstance(node, ast.Attribute):
            owner = self._meant(node.value, path)
            is_plain = isinstance(owner, type | type(sys))
            return vars(owner).get(node.attr) if is_plain else None
        if not isinstance(node, ast.Name) or any(node.id in self._own_names(function) for function in path):
            return None
        return self._names.get(node.id, getattr(builtins, node.id, None))

    def _own_names(self, function: Function) -> set[str]:
        if function not in self._own:
            self._own[function] = _own_names(function)
        return self._own[function]


def _nodes(tree: ast.AST) -> Iterator[tuple[ast.AST, tuple[Function, ...]]]:
    """Yield every node with the functions that it stands in, in the order of the text."""
    todo: list[tuple[ast.AST, tuple[Function, ...]]] = [(tree, ())]
    while todo:
        node, path = todo.pop()
        yield node, path
        inside = (*path, node) if isinstance(node, Function) else path
        if isinstance(node, ast.Lambda):
            inside = (*path, _as_function(node))
        todo += [(child, inside) for child in reversed(list(ast.iter_child_nodes(node)))]


def _as_function(node: ast.Lambda) -> ast.FunctionDef:
    """Return a lambda as a function: what stands in it runs some other time."""
    return ast.FunctionDef(
        name="<lambda>", args=node.args, body=[], decorator_list=[], lineno=node.lineno, col_offset=0
    )


def _is_context(asks: ast.expr, path: tuple[Function, ...]) -> bool:
    """Return whether it is `elicit` of a parameter that is annotated as a Context."""
    if not (isinstance(asks, ast.Attribute) and asks.attr == "elicit" and isinstance(asks.value, ast.Name)):
        return False
    for function in reversed(path):
        arguments = function.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if argument.arg == asks.value.id:
                return argument.annotation is not None and "Context" in ast.unparse(argument.annotation)
    return False


def _owner(path: tuple[Function, ...]) -> str:
    return f"function {path[0].name!r}" if path else "module"


def _first_line(function: Function) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def _own_names(function: Function) -> set[str]:
    """Return the names that a function gives a meaning of its own."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    found = {argument.arg for argument in named if argument is not None}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.ClassDef | Function) and node is not function:
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    return found


def _local_class(node: ast.expr | None, path: tuple[Function, ...]) -> ast.ClassDef | None:
    """Return the class that a function defines for its own use."""
    if not isinstance(node, ast.Name):
        return None
    inner = (child for function in reversed(path) for child in function.body)
    return next((child for child in inner if isinstance(child, ast.ClassDef) and child.name == node.id), None)


def _argument(call: ast.Call, index: int, name: str) -> ast.expr | None:
    if len(call.args) > index:
        return None if any(isinstance(given, ast.Starred) for given in call.args) else call.args[index]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _asked_for(message: str) -> str:
    """Return the words of a message that ask for a secret; empty for one that only speaks of it."""
    for sentence in re.split(r"[.!?\n]+", message):
        word = secret_in(sentence)
        if word and _ASKS.search(sentence) and not _ASKS_NOT.search(sentence):
            return word
    return ""
