"""The signature of a tool function: published inputSchema, compiled argument decoder, refusals.

In: a callable. Out: `Signature`, made once at registration; a call uses `decode` and, after it failed, `recover`.
Spec 2026-07-28: server/tools, "Tool" (inputSchema) and "Error Handling" (input validation errors are tool errors).
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Struct

from ..constraints import CONTAINERS, FieldExtra, absent, fresh
from ..logs import logger
from ..protocol.jsonrpc import DECODE_FAULTS
from . import classes, metadata
from .derive import Deriver
from .nodes import (
    AnyNode,
    ChoiceNode,
    Node,
    NullNode,
    ObjectNode,
    Property,
    RefNode,
    alternatives,
    checking_decoder,
    typed_decoder,
    walk,
)
from .publish import DEFAULT_OPTIONS, Options, publish, publish_arguments
from .source import Source

if typing.TYPE_CHECKING:
    from ..schema.faults import Fault
    from .calling import Provided

__all__ = ["ArgumentPlan", "InvalidArguments", "Output", "Signature", "derive_output"]

# Defaults of these types are handed to msgspec as they are. Containers are copied for each call: what a function
# puts into one is not there for the next; every other object comes from a factory that returns that very object.
CONSTANTS = (type(None), bool, int, float, str, bytes)
KINDS = inspect.Parameter
_PORTABLE_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,64}").fullmatch


class InvalidArguments(Exception):
    """Arguments were refused.

    Args:
        text: the whole refusal, for the model.
        faults: one by one.
    """

    def __init__(self, text: str, faults: list[Fault]) -> None:
        super().__init__(text)
        self.text = text
        self.faults = faults


class _Loose(msgspec.ValidationError):
    """msgspec took what the published schema refuses; `recover` says why."""


class ArgumentPlan(typing.Protocol):
    """What a tool asks of the arguments of its function, whoever wrote their schema; see `Signature`."""

    input_schema: dict[str, Any]
    positional: bool
    context_parameter: str | None
    provided: Mapping[str, tuple[Provided, Any]]
    return_annotation: Any
    scope: dict[str, Any]

    @property
    def decode(self) -> Callable[[bytes | msgspec.Raw], Any]: ...

    def bind(self, arguments: Any) -> tuple[tuple[Any, ...], dict[str, Any]]: ...

    def recover(self, raw: bytes | msgspec.Raw) -> Any: ...


class Signature:
    """What a tool's function takes.

    Args:
        function: read once.
        schemas: how they are written.
        descriptions: texts for parameters that have none of their own, such as those of the docstring.
        noun, untyped: see `Source`.

    Attributes:
        input_schema: the published schema, an object at the root.
        decode: JSON bytes to the argument Struct; raises what msgspec raises.
        echo_values: whether refusals repeat what was sent.
        positional: `function(*msgspec.structs.astuple(arguments))` is a right call.
        context_parameter: name of the parameter that gets the Context, None when there is none.
        provided: see `Source.provided`.
        return_annotation: resolved, `inspect.Signature.empty` when there is none.
        scope: names that were visible around the function, for `derive_output`.

    Raises:
        TypeError: a parameter cannot be an argument; the text names tool, parameter and the way out.
    """

    __slots__ = (
        "_coerce",
        "_names",
        "_noun",
        "_positional_only",
        "_root",
        "_tool_name",
        "_typed",
        "context_parameter",
        "decode",
        "echo_values",
        "input_schema",
        "positional",
        "provided",
        "return_annotation",
        "scope",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        tool_name: str,
        extra_args: Literal["forbid", "ignore"] = "forbid",
        coerce: bool = True,
        echo_values: bool = True,
        schemas: Options = DEFAULT_OPTIONS,
        context_type: type | None = None,
        descriptions: Mapping[str, str] | None = None,
        noun: str = "tool",
        untyped: Any = inspect.Parameter.empty,
    ) -> None:
        source = Source(function, tool_name, context_type, noun=noun, untyped=untyped)
        self._root = _argument_node(source, descriptions or {}, closed=extra_args == "forbid")
        _check_defaults(source.subject, self._root, source.annotations)
        if noun == "tool":
            _lint_names(tool_name, self._root)
        self._typed: Callable[[bytes | msgspec.Raw], Struct] = typed_decoder(self._root)
        self.decode: Callable[[bytes | msgspec.Raw], Struct] = self._typed
        if not all(node.exact for node in walk(self._root)):
            self.decode = self._checked
        root = self._root.target
        self.input_schema = publish_arguments(tool_name, root.properties, closed=root.closed, options=schemas)
        self._tool_name, self._noun, self._coerce, self.echo_values = tool_name, noun, coerce, echo_values
        self.context_parameter, self.provided = source.context_parameter, source.provided
        self.return_annotation = source.return_annotation
        self.scope = source.scope
        kinds = {parameter.name: parameter.kind for parameter in source.parameters}
        self._positional_only = tuple(name for name, kind in kinds.items() if kind is KINDS.POSITIONAL_ONLY)
        self._names = tuple(name for name, kind in kinds.items() if kind is not KINDS.POSITIONAL_ONLY)
        unprovided = source.context_parameter is None and not source.provided
        self.positional = unprovided and KINDS.KEYWORD_ONLY not in kinds.values()

    def read(self, data: bytes) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what `bind` returns, of arguments in JSON.

        Raises:
            InvalidArguments: every fault, in words.
        """
        try:
            arguments = self.decode(data)
        except DECODE_FAULTS:
            arguments = self.recover(data)
        return self.bind(arguments)

    def bind(self, arguments: Struct) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return positional and keyword arguments for any signature; the caller adds the context parameter by name."""
        positional = tuple(getattr(arguments, name) for name in self._positional_only)
        return positional, {name: getattr(arguments, name) for name in self._names}

    def recover(self, raw: bytes | msgspec.Raw) -> Struct:
        """Return the arguments that `decode` refused but JSON Schema allows.

        Raises:
            InvalidArguments: every fault, in words.
        """
        from .recover import recover

        found = recover(raw, self._root, self.decode, coerce=self._coerce)
        if isinstance(found, list):
            raise InvalidArguments(self.refusal(found), found)
        return found

    def refusal(self, faults: list[Fault]) -> str:
        """Return the whole text about arguments that are refused."""
        from ..schema.faults import phrase

        return phrase(self._tool_name, faults, echo_values=self.echo_values, noun=self._noun)

    @property
    def properties(self) -> list[Property]:
        """The arguments, in order."""
        return self._root.target.properties

    def _checked(self, raw: bytes | msgspec.Raw) -> Struct:
        """Decode, then ask the explainer too: some constraint of this tool is beyond msgspec."""
        from .recover import faults_of

        arguments = self._typed(raw)
        if faults_of(raw, self._root):
            raise _Loose("refused by the published schema")
        return arguments


def _argument_node(source: Source, descriptions: Mapping[str, str], *, closed: bool) -> RefNode:
    """Return the node of the Struct that holds a function's arguments."""
    deriver = Deriver(source.tool_name, source.scope, noun=source.noun)
    properties: list[Property] = []
    fields: list[tuple[str, Any, Any]] = []
    for parameter in source.parameters:
        entry, settings = _property(source, deriver, parameter)
        text = descriptions.get(entry.name)
        if text and not _has_own_text(entry.node):
            entry.node.notes = msgspec.structs.replace(entry.node.notes, description=text)
        properties.append(entry)
        fields.append((entry.name, entry.node.annotation, _struct_field(entry, settings)))
    _check_names(source.subject, properties)
    arguments = msgspec.defstruct(
        f"{source.tool_name}Arguments".replace(".", "_"),
        fields,
        kw_only=True,
        forbid_unknown_fields=closed,
        gc=False,
        module=__name__,
    )
    root = ObjectNode(name="arguments", annotation=arguments, properties=properties, closed=closed)
    return RefNode(target=root, annotation=arguments)


class Output(Struct, frozen=True):
    """What a tool returns.

    Args:
        schema: its JSON Schema; a class stands at the root itself.
        decode: the typed decoder of such a value's JSON.
    """

    node: Node
    schema: dict[str, Any]
    decode: Callable[[bytes | msgspec.Raw], Any]


def derive_output(
    annotation: Any,
    *,
    tool_name: str,
    schemas: Options = DEFAULT_OPTIONS,
    scope: dict[str, Any] | None = None,
) -> Output:
    """Return node, schema and decoder of a return annotation.

    Args:
        schemas: how they are written.
        scope: `Signature.scope`, for classes that were made inside a function.

    Raises:
        TypeError: the type has no JSON form; the text names the tool and the type.
    """
    node = Deriver(tool_name, scope, output=True).derive(annotation, "return value")
    schema = publish(node, msgspec.structs.replace(schemas, output=True))
    return Output(node, schema, checking_decoder(node))


def _property(source: Source, deriver: Deriver, parameter: inspect.Parameter) -> tuple[Property, FieldExtra]:
    """Return the property of a parameter, with `Field` used as its default or in its annotation."""
    annotation, default = source.annotations[parameter.name], parameter.default
    settings = FieldExtra(default=UNSET if default is inspect.Parameter.empty else default)
    marks = metadata.split(annotation)[1]
    as_default = None if default is inspect.Parameter.empty else metadata.field_settings(default)
    if as_default is not None:
        annotation = Annotated[annotation, default]
        settings = as_default
    for mark in marks:
        inner = metadata.field_settings(mark)
        if inner is None:
            continue
        is_ours = not metadata.is_field_info(mark)  # pydantic lets the signature win
        if is_ours and not absent(inner.default) and not absent(settings.default) and inner.default != settings.default:
            raise TypeError(
                f"{source.subject}: parameter {parameter.name!r} has two defaults, "
                f"{settings.default!r} and {inner.default!r}; keep one of them"
            )
        settings.alias = settings.alias or inner.alias
        if settings.default is UNSET and settings.default_factory is None:
            settings.default, settings.default_factory = inner.default, inner.default_factory
    if absent(settings.default):
        settings.default = UNSET
    node = deriver.derive(annotation, f"parameter {parameter.name!r}")
    entry = Property(
        name=parameter.name,
        wire_name=settings.alias or parameter.name,
        node=node,
        required=settings.default is UNSET and settings.default_factory is None,
        default=settings.default,
    )
    return entry, settings


def _has_own_text(node: Node) -> bool:
    """True when the parameter is described; the docstring of an Enum says what all its uses have in common."""
    text = node.notes.description
    return text is not None and not (isinstance(node, ChoiceNode) and text == classes.own_doc(node.annotation))


def _struct_field(entry: Property, settings: FieldExtra) -> Any:
    name = settings.alias
    if settings.default_factory is not None:
        return msgspec.field(default_factory=settings.default_factory, name=name)
    if entry.default is UNSET:
        return msgspec.field(name=name)
    default = entry.default
    if isinstance(default, CONSTANTS):
        return msgspec.field(default=default, name=name)
    if type(default) in CONTAINERS:
        return msgspec.field(default_factory=lambda: fresh(default), name=name)
    return msgspec.field(default_factory=lambda: default, name=name)


def _check_defaults(subject: str, root: RefNode, annotations: Mapping[str, Any]) -> None:
    """Refuse defaults that the published schema refuses, of parameters and of fields inside them."""
    for target in [node.target for node in walk(root) if isinstance(node, RefNode)]:
        for entry in target.properties:
            if entry.default is UNSET or _is_plain(entry):
                continue
            from .defaults import default_fault  # of few parameters

            is_argument = target is root.target
            fault = default_fault(entry, annotations[entry.name] if is_argument else entry.node.annotation)
            if fault is not None:
                where = f"parameter {entry.name!r}" if is_argument else f"field {entry.name!r} of {target.name}"
                raise TypeError(f"{subject}: {where}: {fault}")


def _is_plain(entry: Property) -> bool:
    """Return whether a default fits at first sight: None where null does, or a value of a type without bounds."""
    node, default = entry.node, entry.default
    if default is None:
        return any(isinstance(part, NullNode | AnyNode) for part in alternatives(node))
    kind = _KINDS_OF_VALUES.get(type(default))
    return getattr(node, "kind", None) == kind is not None and not node.limits.given()  # type: ignore[attr-defined]


_KINDS_OF_VALUES = {str: "str", int: "int", float: "float"}  # `kind` of NumberNode and TextNode


def _lint_names(tool_name: str, root: Node) -> None:
    """Warn of names of properties that some model vendors refuse, with the whole tool list."""
    objects = [node.target for node in walk(root) if isinstance(node, RefNode) and not node.target.positional]
    names = [entry.wire_name for target in objects for entry in target.properties]
    for name in dict.fromkeys(names):
        if not _PORTABLE_NAME(name):
            logger.warning(
                "tool %r: some hosts refuse the property name %r; use 1 to 64 of A-Z a-z 0-9 _ . -", tool_name, name
            )


def _check_names(subject: str, properties: list[Property]) -> None:
    """Refuse names that a Struct cannot have, and two arguments, or two mirrored headers, of one name."""
    seen: dict[str, str] = {}
    for entry in properties:
        if entry.name.startswith("__") and entry.name.endswith("__"):
            # The decoder fills the attributes of an object, whose own names these are: it would call or replace them.
            raise TypeError(
                f"{subject}: parameter {entry.name!r} has a name that Python keeps for itself; rename it"
                f" and publish the old name with Field(alias={entry.wire_name!r})"
            )
        header = entry.node.notes.header
        for key in (f"name {entry.wire_name}", None if header is None else f"header {header.lower()}"):
            if key is not None and seen.setdefault(key, entry.name) != entry.name:
                raise TypeError(f"{subject}: parameters {seen[key]!r} and {entry.name!r} share the {key}; rename one")
