"""The arguments of a tool whose input schema is written by hand, and the check of results against a given schema.

In: a callable and a schema. Out: `GivenArguments`, which stands where `Signature` stands for derived schemas.
The seam to the validator is `given.compile_schema`; nothing else here knows keywords beyond the root's own.
Spec 2026-07-28: server/tools, "Tool" (inputSchema, outputSchema) and "Output Schema".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from ..constraints import CONTAINERS, fresh
from ..logs import logger
from ..schema.faults import Fault, path_text, phrase
from .derive import Deriver
from .given import Given, compile_schema
from .nodes import finished, foreign_hook
from .recover import UNREADABLE, own_sentence
from .signature import InvalidArguments
from .source import Source

if TYPE_CHECKING:
    from .calling import Provided

__all__ = ["GivenArguments", "given_output"]

WHOLE = "arguments"  # a sole parameter of this name takes all arguments as they are
KINDS = inspect.Parameter
UNIONS = ("anyOf", "oneOf", "allOf")
Convert = Callable[[Any], Any]


class _Refused(msgspec.ValidationError):
    """The schema has something against the arguments; `recover` says what."""


class GivenArguments:
    """What a tool's function takes, by a schema written by hand.

    Policies P1 and P2 do not apply: no text is read as JSON, and unknown names are the schema's business.

    Args:
        function: takes `arguments: dict`, or parameters named like properties, and `**` for the properties without one.
        schema: an object at the root.
        echo_values: repeat what was sent in the text about invalid arguments.

    Raises:
        TypeError: the function's parameters do not fit the schema.
        ValueError: no JSON Schema, or one that cannot be enforced.
    """

    positional = False
    provided: Mapping[str, tuple[Provided, Any]]

    def __init__(
        self,
        function: Callable[..., Any],
        schema: dict[str, Any],
        *,
        tool_name: str,
        echo_values: bool,
        context_type: type | None,
    ) -> None:
        label = f"tool {tool_name!r}: input_schema"
        self._given = compile_schema(schema, label)
        self.input_schema = self._given.schema
        if self.input_schema.get("type") != "object":
            raise ValueError(f'{label} must have "type": "object" at its root')
        for keyword in UNIONS:
            if keyword in self.input_schema:
                hint = "some model vendors refuse the whole list of tools for it"
                logger.warning("%s has %s at its root; %s", label, keyword, hint)
        source = Source(function, tool_name, context_type, given=True)
        self.context_parameter, self.provided = source.context_parameter, source.provided
        self.return_annotation = source.return_annotation
        self.scope = source.scope
        self._tool_name, self._echo_values = tool_name, echo_values
        self._takes_rest = source.takes_rest
        self._parameters = source.parameters
        self._takes_whole = _takes_whole(source)
        self._converters: dict[str, Convert] = {}
        if not self._takes_whole:
            self._match(label)
            self._converters = _converters(source)

    def _match(self, label: str) -> None:
        """Make sure that every valid call finds its parameters, and every property a parameter."""
        properties = self.input_schema.get("properties", {})
        required = self.input_schema.get("required", [])
        names = [parameter.name for parameter in self._parameters]
        for parameter in self._parameters:
            if parameter.name not in properties:
                raise TypeError(f"{label} has no property {parameter.name!r}, but the function has such a parameter")
            if parameter.default is KINDS.empty and parameter.name not in required:
                raise TypeError(f"{label} does not require {parameter.name!r}; give the parameter a default")
        if self.context_parameter in properties:
            raise TypeError(f"{label} has a property {self.context_parameter!r}; rename the context parameter")
        without = [name for name in properties if name not in names]
        if without and not self._takes_rest:
            raise TypeError(
                f"{label} has the property {without[0]!r}, but the function has no such parameter; add it, or take "
                f"**kwargs or a single `{WHOLE}: dict`"
            )

    def decode(self, raw: bytes | msgspec.Raw) -> dict[str, Any]:
        """Return the arguments as the function gets them.

        Raises:
            msgspec.DecodeError, RecursionError: the bytes are no JSON, or the schema refuses them.
        """
        arguments: dict[str, Any] = msgspec.json.decode(raw)
        if not self._given.takes(arguments) or self._convert(arguments):
            raise _Refused("refused by the published schema")
        return arguments

    def recover(self, raw: bytes | msgspec.Raw) -> dict[str, Any]:
        """Return the arguments, or say everything that is wrong with them.

        Raises:
            InvalidArguments: every fault, in words.
        """
        try:
            found = self._read(raw)
        except UNREADABLE as error:
            found = [own_sentence(error)]
        if isinstance(found, list):
            raise InvalidArguments(phrase(self._tool_name, found, echo_values=self._echo_values), found)
        return found

    def bind(self, arguments: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return positional and keyword arguments; the caller adds the context parameter by name."""
        if self._takes_whole:
            by_name = self._parameters[0].kind is not KINDS.POSITIONAL_ONLY
            return ((), {WHOLE: arguments}) if by_name else ((arguments,), {})
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter in self._parameters:
            if parameter.kind is KINDS.POSITIONAL_ONLY:
                positional.append(arguments.pop(parameter.name, fresh(parameter.default)))
            elif parameter.name in arguments:
                named[parameter.name] = arguments.pop(parameter.name)
            elif type(parameter.default) in CONTAINERS:
                named[parameter.name] = fresh(parameter.default)
        if self._takes_rest:
            named |= arguments
        return tuple(positional), named

    def _read(self, raw: bytes | msgspec.Raw) -> dict[str, Any] | list[Fault]:
        arguments = msgspec.json.decode(raw)
        return self._given.faults(arguments) or self._convert(arguments) or arguments

    def _convert(self, arguments: dict[str, Any]) -> list[Fault]:
        """Make of plain values what the parameters are annotated with, in place."""
        found: list[Fault] = []
        if self._takes_rest and self.context_parameter is not None and self.context_parameter in arguments:
            found.append(Fault(path_text([self.context_parameter]), "Extra inputs are not permitted"))
        for name, convert in self._converters.items():
            if name in arguments:
                try:
                    arguments[name] = convert(arguments[name])
                except UNREADABLE as error:
                    found.append(own_sentence(error).below(path_text([name])))
        return found


def _takes_whole(source: Source) -> bool:
    """True for a function whose sole parameter is `arguments`, unannotated or a dict."""
    if source.takes_rest or [parameter.name for parameter in source.parameters] != [WHOLE]:
        return False
    annotation = source.annotations[WHOLE]
    base = getattr(annotation, "__origin__", annotation)
    return base is Any or (isinstance(base, type) and issubclass(dict, base))


def _converters(source: Source) -> dict[str, Convert]:
    """Return how plain values become what each annotated parameter wants."""
    deriver = Deriver(source.tool_name, source.scope)
    converters: dict[str, Convert] = {}
    for parameter in source.parameters:
        annotation = source.annotations[parameter.name]
        if annotation is not Any:
            converters[parameter.name] = _converter(deriver, annotation, f"parameter {parameter.name!r}")
    return converters


def _converter(deriver: Deriver, annotation: Any, where: str) -> Convert:
    node = deriver.derive(annotation, where)
    return finished(node, partial(msgspec.convert, type=node.annotation, str_keys=True, dec_hook=foreign_hook(node)))


def given_output(
    schema: dict[str, Any], *, tool_name: str, wrap: bool
) -> tuple[dict[str, Any], Callable[[bytes], None]]:
    """Return an output schema as it is published, and the check of results that is made of it.

    Args:
        wrap: results travel as `{"result": value}`, which is what the schema is about then.

    Raises:
        ValueError: no JSON Schema, or one that cannot be enforced.
    """
    given = compile_schema(schema, f"tool {tool_name!r}: output_schema")

    def check(data: bytes) -> None:
        found = _result_faults(given, data, wrap)
        if found:
            raise msgspec.ValidationError(phrase(tool_name, found, what="result of"))

    return given.schema, check


def _result_faults(given: Given, data: bytes, wrap: bool) -> list[Fault]:
    try:
        value = msgspec.json.decode(data)
    except UNREADABLE as error:
        return [own_sentence(error)]
    return given.faults({"result": value} if wrap else value)
