"""What happens after msgspec refused arguments: accept them after all where JSON Schema would, or say what is wrong.

In: the raw argument bytes and the root node of the tool. Out: bytes that the typed decoder takes, or faults.
Loaded by the first refused call. Policy P1: 5.0 is an integer; a text is read as JSON once, at the top, where no
string fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import msgspec

from ..protocol.meta import CallToolParams
from ..schema import faults as say
from ..schema.faults import Fault, path_text
from .branches import branch, is_integral
from .explain import explain
from .nodes import (
    ArrayNode,
    ChoiceNode,
    MapNode,
    Node,
    NumberNode,
    RefNode,
    UnionNode,
    admits_string,
)

__all__ = ["UNREADABLE", "faults_of", "of_other_params", "own_sentence", "recover", "result_text"]

MAX_NUMBER_TEXT = 400


def _number(text: str) -> float | Decimal:
    """Keep the digits that a float would lose, for Decimal parameters."""
    value = float(text)
    if value == 0 or math.isinf(value) or len(text) > MAX_NUMBER_TEXT or repr(value) == text:
        return value
    return Decimal(text)


_plain = msgspec.json.Decoder(float_hook=_number).decode
_encode = msgspec.json.Encoder(decimal_format="number").encode
UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeError)


def recover(
    raw: bytes | msgspec.Raw, root: RefNode, decode: Callable[[bytes], msgspec.Struct], *, coerce: bool
) -> msgspec.Struct | list[Fault]:
    """Return the decoded arguments after all, or everything that is wrong with them.

    Args:
        decode: the typed decoder that refused `raw`.
        coerce: read strings as JSON where the parameter admits no string.
    """
    try:
        arguments = _plain(raw)
    except UNREADABLE as error:
        return [own_sentence(error)]
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        return [Fault("", say.expected("object"), arguments, "type")]
    if coerce:
        _read_texts(root, arguments)
    faults = explain(root, arguments)
    if faults:
        return faults
    try:
        return decode(_encode(_fold(root, arguments)))
    except UNREADABLE as error:
        return [own_sentence(error)]
    except ValueError as error:
        return [Fault("", f"Input cannot be read: {error}")]


def faults_of(raw: bytes | msgspec.Raw, root: RefNode) -> list[Fault]:
    """Return what the schema has against arguments that the typed decoder took."""
    return explain(root, _plain(raw), max_steps=None)


def result_text(tool_name: str, node: Node, data: bytes, error: Exception) -> str:
    """Say what is wrong with a result that the typed decoder of its declared type refused with `error`."""
    try:
        found = explain(node, _plain(data))
    except UNREADABLE as unreadable:
        found = [own_sentence(unreadable)]
    return say.phrase(tool_name, found or [own_sentence(error)], what="result of")


def _read_texts(root: RefNode, arguments: dict[str, Any]) -> None:
    for entry in root.target.properties:
        text = arguments.get(entry.wire_name)
        if not isinstance(text, str) or admits_string(entry.node):
            continue
        try:
            value = _plain(text)
        except UNREADABLE:
            continue
        # A text that means another type is reported as the text that was sent.
        if not any(fault.kind == "type" and not fault.path for fault in explain(entry.node, value)):
            arguments[entry.wire_name] = value


def _fold(root: Node, arguments: Any) -> Any:
    """Turn 5.0 into 5 in place wherever an integer is asked for and a float is not."""
    holder = [arguments]
    todo: list[Iterator[tuple[Any, Any, Node]]] = [iter(((holder, 0, root),))]
    while todo:
        work = next(todo[-1], None)
        if work is None:
            todo.pop()
            continue
        container, key, node = work
        value = container[key]
        if isinstance(node, UnionNode):
            parts = branch(node, value)
            if len(parts) > 1 and not isinstance(value, dict | list):
                parts = [part for part in parts if not _takes_integer(part)] or parts
            node = parts[0] if parts else node
        if isinstance(value, float | Decimal):
            if _takes_integer(node) and is_integral(value):
                container[key] = int(value)
        elif isinstance(value, list | dict):
            todo.append(_inside(node, value))
    return holder[0]


def _takes_integer(node: Node) -> bool:
    return isinstance(node, ChoiceNode) or (isinstance(node, NumberNode) and node.kind == "int")


def _inside(node: Node, value: list[Any] | dict[str, Any]) -> Iterator[tuple[Any, Any, Node]]:
    """Yield the places below a value with their nodes."""
    if isinstance(value, list):
        if isinstance(node, ArrayNode) and node.items is not None:
            items = node.items
            yield from ((value, at, items) for at in range(len(value)))
        elif isinstance(node, ArrayNode):
            yield from ((value, at, part) for at, part in enumerate(node.prefix[: len(value)]))
        elif isinstance(node, RefNode) and node.target.positional:
            shift = node.target.tag_field is not None
            entries = node.target.properties[: max(0, len(value) - shift)]
            yield from ((value, at + shift, entry.node) for at, entry in enumerate(entries))
    elif isinstance(node, MapNode):
        yield from ((value, name, node.value) for name in value)
    elif isinstance(node, RefNode):
        present = (entry for entry in node.target.properties if entry.wire_name in value)
        yield from ((value, entry.wire_name, entry.node) for entry in present)


# msgspec's own sentences, for what the nodes do not know: a class's own checks, limits of the decoder ----------------


def own_sentence(error: BaseException) -> Fault:
    if isinstance(error, RecursionError):
        return Fault("", say.TOO_DEEP)
    text = str(error)
    if not isinstance(error, msgspec.ValidationError):
        detail = text.removeprefix("JSON is malformed: ")
        return Fault("", f"Input is not valid JSON: {detail}")
    message, _, place = text.rpartition(" - at `")
    if not message or not place.endswith("`"):
        message, place = text, "$`"
    return Fault(path_text(_place(place.removesuffix("`"))), _reworded(message))


def _place(text: str) -> list[str | int]:
    """Read `$.books[0].year`."""
    parts: list[str | int] = []
    for piece in text.removeprefix("key` in `").removeprefix("$").replace("[", ".[").split("."):
        index = piece.strip("[]")
        if index:
            parts.append(int(index) if piece.startswith("[") and index.isdecimal() else index)
    return parts


def _reworded(message: str) -> str:
    words = {"int": "integer", "float": "number", "str": "string", "bool": "boolean", "null": "null"}
    if message.startswith("Expected `"):
        inner = message.removeprefix("Expected `").partition("`, got")[0].strip("`")
        names = [words.get(name.strip(), name.strip()) for name in inner.split("|")]
        return say.expected(*names)
    if message == "Number out of range":
        return say.NOT_FINITE
    return message.replace("`", "'")


class _AnyParams(msgspec.Struct):
    params: dict[str, msgspec.Raw]


_decode_params = msgspec.json.Decoder(_AnyParams).decode
_OF_A_CALL = ("_meta", "arguments", "inputResponses", "name", "requestState")


def of_other_params(params: CallToolParams, message: bytes) -> str:
    """Return the end of a refusal where a call has its arguments elsewhere, such as in `args`; else nothing."""
    if bytes(params.arguments) != b"{}":
        return ""
    found = [name for name in _decode_params(message).params if name not in _OF_A_CALL]
    return f"\nparams has {found[0][:64]!r}; arguments stand in params.arguments" if found else ""
