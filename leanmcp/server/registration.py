"""From a function and its options to a Tool: names, description, published schemas, plans.

In: a function, what its author said about it, and the server's options. Out: a Tool, or a TypeError or ValueError that
says what to write. Everything a call needs is made here, once.
Spec 2026-07-28: server/tools, "Tool".
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from ..constraints import members
from ..errors import ToolError
from ..logs import logger
from ..types import CallToolResult, Icon, InputRequiredResult, ToolAnnotations
from ..types import Tool as ToolEntry
from .calling import Home, Sanitize, check_sanitize
from .context import Context
from .encoding import encode_json
from .nodes import AnyNode, ForeignNode, Node, NumberNode, walk
from .publish import Options
from .results import BLOCKS, MEDIA, Check, ResultEncoder
from .signature import ArgumentPlan, Output, Signature, derive_output
from .tool import Tool

if typing.TYPE_CHECKING:
    from ..types import Prompt as PromptEntry
    from ..types import Resource as ResourceEntry
    from ..types import ResourceTemplate as TemplateEntry

_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,128}")
_KINDS = {"str": "a string", "object": "a dict", "array": "a list", "bool": "True or False"}
_PORTABLE_NAME_LENGTH = 64  # some model vendors refuse longer ones


class ToolOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The server-wide options that shape a tool."""

    strict_names: bool
    schema_titles: bool
    inline_schemas: bool
    nullable: Literal["anyOf", "type"]
    native_output: bool
    echo_values: bool
    extra_args: Literal["forbid", "ignore"]
    coerce: bool

    def __post_init__(self) -> None:
        _one_of("nullable", self.nullable, ("anyOf", "type"))
        _one_of("extra_args", self.extra_args, ("forbid", "ignore"))
        for name in ("strict_names", "schema_titles", "inline_schemas", "native_output", "echo_values", "coerce"):
            check_switch(name, getattr(self, name))

    @property
    def schemas(self) -> Options:
        """How schemas are written."""
        return Options(schema_titles=self.schema_titles, nullable=self.nullable, inline_schemas=self.inline_schemas)

    def override(self, extra_args: Literal["forbid", "ignore"] | None, coerce: bool | None) -> ToolOptions:
        """Return these options with a tool's own choices put in."""
        return msgspec.structs.replace(
            self,
            extra_args=self.extra_args if extra_args is None else extra_args,
            coerce=self.coerce if coerce is None else coerce,
        )


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={value!r}: give {' or '.join(map(repr, allowed))}")


class ToolSpec(msgspec.Struct, kw_only=True):
    """What the author of one tool said about it; see `MCPServer.add_tool`."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: ToolAnnotations | None = None
    icons: Sequence[Icon] | None = None
    meta: dict[str, Any] | None = None
    structured_output: bool | None = None
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    wrap_result: bool | None = None
    extra_args: Literal["forbid", "ignore"] | None = None
    coerce: bool | None = None
    timeout: float | None = None
    max_concurrency: int | None = None
    max_result: int | None = None
    sanitize: Sanitize | None = None
    thread: bool | None = None

    def __post_init__(self) -> None:
        if self.input_schema is not None and (self.extra_args is not None or self.coerce is not None):
            raise TypeError("extra_args= and coerce= are about derived schemas; input_schema= is enforced as written")
        for name in ("timeout", "max_concurrency", "max_result"):
            check_limit(name, getattr(self, name))
        for name in ("structured_output", "wrap_result", "coerce", "thread"):
            check_switch(name, getattr(self, name))
        check_sanitize(self.sanitize)


def check_options(function: str, options: Iterable[str], known: Sequence[str]) -> None:
    """Refuse an option that a registration does not have, and say which one was probably meant.

    Raises:
        TypeError: the text names the function and the option.
    """
    for name in options:
        if name not in known:
            from ..elsewhere import instead_of_option  # of mistakes only
            from ..mistyped import did_you_mean

            instead = instead_of_option(function, name) or did_you_mean(name, known, cutoff=0.65)
            raise TypeError(f"{function}: unknown option {name!r}{instead}")


def check_switch(name: str, value: object) -> None:
    """Refuse an option that is on or off, and is something else."""
    if not (value is True or value is False or value is None):
        raise TypeError(f"{name}={value!r}: give True or False")


def check_limit(name: str, value: object) -> None:
    """Refuse a limit that is none; a timeout need not be a whole number."""
    kind, noun = ((int, float), "number") if name == "timeout" else (int, "whole number")
    fits = isinstance(value, kind) and not isinstance(value, bool) and 0 < value < math.inf
    if value is not None and not fits:
        raise ValueError(f"{name}={value!r}: give a positive {noun}, or None for no limit")


def make_tool(function: Callable[..., Any], spec: ToolSpec, options: ToolOptions, home: Home) -> Tool:
    """Return the tool that `function` makes.

    Raises:
        TypeError, ValueError: as `MCPServer.add_tool`.
    """
    name = checked_name(function, spec.name, options)
    _lint_hints(name, spec.annotations)
    description, texts = described(function, name, spec.description, sections=spec.input_schema is None)
    signature = _arguments(function, name, spec, options, texts)
    output_schema, results = _output(name, signature, spec, options, home.server_info)
    entry = ToolEntry(
        name=name,
        input_schema=signature.input_schema,
        title=spec.title,
        description=description,
        icons=checked_icons(f"tool {name!r}", spec.icons),
        output_schema=output_schema,
        annotations=spec.annotations,
        meta=spec.meta,
    )
    check_entry(entry)
    return Tool(
        function,
        signature,
        entry,
        results,
        home,
        _both(spec.sanitize, home.sanitize),
        timeout=spec.timeout,
        max_concurrency=spec.max_concurrency,
        in_thread=spec.thread is not False,
    )


def _arguments(
    function: Callable[..., Any], name: str, spec: ToolSpec, options: ToolOptions, descriptions: dict[str, str]
) -> ArgumentPlan:
    """Return the plan of the arguments, from the signature or from a schema written by hand."""
    if spec.input_schema is not None:
        from .given_arguments import GivenArguments  # its reader of schemas is loaded where there is one to read

        return GivenArguments(
            function, spec.input_schema, tool_name=name, echo_values=options.echo_values, context_type=Context
        )
    return Signature(
        function,
        tool_name=name,
        extra_args=options.extra_args,
        coerce=options.coerce,
        echo_values=options.echo_values,
        schemas=options.schemas,
        context_type=Context,
        descriptions=descriptions,
    )


def checked_icons(owner: str, icons: Sequence[Icon] | None) -> list[Icon] | None:
    """Return the icons of a server, tool or prompt, None where there are none; raises as `lint.check_icons`."""
    if not icons:
        return None
    from .lint import check_icons  # most servers have nothing to lint

    return check_icons(owner, icons)


def _lint_hints(name: str, hints: ToolAnnotations | None) -> None:
    if hints is not None:
        from .lint import lint_hints

        lint_hints(name, hints)


def check_entry(entry: ToolEntry | PromptEntry | ResourceEntry | TemplateEntry, noun: str = "tool") -> None:
    """Refuse what cannot be published: one bad entry would take the whole list with it.

    Raises:
        TypeError: a member has the wrong type, or no JSON form.
    """
    try:
        msgspec.convert(msgspec.json.decode(encode_json(msgspec.to_builtins(entry, enc_hook=_no_json))), type(entry))
    except (ToolError, TypeError, ValueError, RecursionError) as fault:
        text = _member_fault(str(fault))
        raise TypeError(f"{noun} {entry.name!r}: its entry in {noun}s/list cannot be published: {text}") from None


def _member_fault(text: str) -> str:
    """Return how a member of an entry is wrong, in words."""
    found = re.fullmatch(r"Expected `(\w+)(?: \| null)?`, got `(\w+)` - at `\$\.(.+)`", text)
    return text if found is None else f"{found[3]} must be {_KINDS.get(found[1], found[1])}, not {found[2]}"


def _no_json(value: object) -> object:
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _both(first: Sanitize | None, second: Sanitize | None) -> Sanitize | None:
    if first is None or second is None:
        return first or second
    return lambda value: second(first(value))


def checked_name(function: Callable[..., Any], name: str | None, options: ToolOptions, noun: str = "tool") -> str:
    """Return the name of what `function` makes.

    Raises:
        TypeError, ValueError: no function, or no name to give.
    """
    if name is not None and not isinstance(name, str):
        from .decorated import wrong_name  # of mistakes only

        raise wrong_name(noun, function, name)
    if isinstance(function, classmethod | staticmethod):
        raise TypeError(unfinished(function, noun))
    if not callable(function):
        of_decorator = "; does the decorator below return one?" if function is None else ""
        raise TypeError(f"a {noun} is a function, not {function!r}{of_decorator}")
    if isinstance(function, type):
        shown = function.__name__
        raise TypeError(f"a {noun} is a function, not the class {shown}; give an object of it, add_{noun}({shown}())")
    if name is None:
        name = name_of(function)
        if name == "<lambda>":
            raise ValueError("a lambda needs name=")
    if not _NAME.fullmatch(name):
        message = f"{noun} name {name!r}: use 1 to 128 of A-Z a-z 0-9 _ . - (strict_names=False only warns)"
        if options.strict_names or not name:
            raise ValueError(message)
        logger.warning("%s", message)
    elif len(name) > _PORTABLE_NAME_LENGTH:
        logger.warning("%s name %r has %d characters; some hosts refuse more than 64", noun, name, len(name))
    refuse_generator(f"{noun} {name!r}", function)
    return name


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called, or the class of an object that is called."""
    target = _named(function)
    return getattr(target, "__name__", None) or type(target).__name__


def refuse_generator(subject: str, function: Callable[..., Any]) -> None:
    """Refuse a function whose call would give nothing to answer with."""
    for called in (function, type(function).__call__):
        if inspect.isasyncgenfunction(called) or inspect.isgeneratorfunction(called):
            raise TypeError(f"{subject} is a generator; return a value, or a list of what it would yield")


def unfinished(function: classmethod[Any, Any, Any] | staticmethod[Any, Any], noun: str) -> str:
    """Return how to register what a decorator has met inside of a class, before there is the class."""
    where = function.__func__.__qualname__.rpartition("<locals>.")[2]
    name, kind = function.__func__.__name__, type(function).__name__
    return f"{noun} {name!r} is a {kind} of a class that is not made yet; register {where} below the class"


def _named(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a `functools.partial` stands for, which has the name and the docstring."""
    while isinstance(function, functools.partial) and not hasattr(function, "__name__"):
        function = function.func
    return function


def described(
    function: Callable[..., Any], name: str, description: str | None, noun: str = "tool", *, sections: bool = True
) -> tuple[str | None, dict[str, str]]:
    """Return the description of what a function makes, and its docstring's texts about the parameters."""
    text = _description(function)
    texts: dict[str, str] = {}
    # A schema written by hand has descriptions of its own.
    if text is not None and sections and (":" in text or "---" in text):
        from .docstrings import documented  # only where a docstring may have sections

        doc = documented(function, text, name, noun)
        text, texts = doc.description, doc.parameters
    return text if description is None else description, texts


def _description(function: Callable[..., Any]) -> str | None:
    function = _named(function)
    if not hasattr(function, "__name__"):
        function = type(function).__call__ if function.__doc__ is None else function
    return inspect.getdoc(function) or None


# --- output -------------------------------------------------------------------------------------------------------

_UNSTRUCTURED = (inspect.Signature.empty, Any, CallToolResult)


def _output(
    name: str, signature: ArgumentPlan, spec: ToolSpec, options: ToolOptions, server_info: bytes
) -> tuple[dict[str, Any] | None, ResultEncoder]:
    """Return the output schema, where there is one, and the encoder of the results."""
    if spec.output_schema is not None:
        return _given_output(name, spec.output_schema, spec, server_info)
    annotation, wanted = _completed(signature.return_annotation), spec.structured_output
    unstructured = ResultEncoder(server_info, max_size=spec.max_result, tool=name)
    if wanted is False or _is_unstructured(annotation):
        if spec.wrap_result is not None:
            raise TypeError(f"tool {name!r}: wrap_result= is about structured content, and the tool sends none")
        if wanted:
            raise TypeError(f"tool {name!r}: structured_output=True needs a return annotation that has a schema")
        return None, unstructured
    try:
        output = derive_output(annotation, tool_name=name, schemas=options.schemas, scope=signature.scope)
    except TypeError as fault:
        if wanted:
            raise
        from .slips import warn_of_output  # of mistakes only

        warn_of_output(str(fault), annotation)
        return None, unstructured
    schema = output.schema
    wrap = _wraps(spec, options, schema)
    if wrap:
        schema = _wrapped(name, schema, options)
    results = ResultEncoder(
        server_info,
        structured=True,
        wrap=wrap,
        check=_checked(name, output),
        text_only=annotation is str,
        max_size=spec.max_result,
        may_hold_nan=any(map(_admits_float, walk(output.node))),
        tool=name,
    )
    return schema, results


def _admits_float(node: Node) -> bool:
    return isinstance(node, AnyNode | ForeignNode) or (isinstance(node, NumberNode) and node.kind == "float")


def _wraps(spec: ToolSpec, options: ToolOptions, schema: dict[str, Any]) -> bool:
    """Return whether values travel as `{"result": value}`; what older clients read must be an object."""
    if spec.wrap_result is not None:
        return spec.wrap_result
    return schema.get("type") != "object" and not options.native_output


def _given_output(
    name: str, written: dict[str, Any], spec: ToolSpec, server_info: bytes
) -> tuple[dict[str, Any], ResultEncoder]:
    """Return an output schema written by hand, which speaks of the structured content as it travels."""
    from .given_arguments import given_output

    if spec.structured_output is False:
        raise TypeError(f"tool {name!r}: structured_output=False sends no structured content; leave output_schema out")
    wrap = spec.wrap_result is True
    schema, check = given_output(written, tool_name=name, wrap=wrap)
    results = ResultEncoder(server_info, structured=True, wrap=wrap, check=check, max_size=spec.max_result, tool=name)
    return schema, results


def _checked(name: str, output: Output) -> Check:
    """Return the check of a result against its declared type; it fails with every fault in words."""

    def check(data: bytes) -> object:
        try:
            return output.decode(data)
        except (msgspec.DecodeError, RecursionError) as fault:
            from .recover import result_text

            raise msgspec.ValidationError(result_text(name, output.node, data, fault)) from None

    return check


def _completed(annotation: Any) -> Any:
    """Return the type of the value that a call ends with.

    The annotation may say that it asks first, `str | InputRequiredResult`, or what a whole result has as structured
    content, `Annotated[CallToolResult, Book]`.
    """
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated and parts[0] is CallToolResult and not isinstance(parts[1], str):
        return Annotated[parts[1:]] if len(parts) > 2 else parts[1]
    union = members(annotation)
    if union is None:
        return inspect.Signature.empty if annotation is InputRequiredResult else annotation
    rest = tuple(member for member in union if member is not InputRequiredResult)
    return annotation if len(rest) == len(union) else typing.Union[rest]  # noqa: UP007  built at run time


def _is_unstructured(annotation: object) -> bool:
    """Return whether a return annotation promises content blocks, or nothing at all."""
    if annotation in _UNSTRUCTURED or annotation in BLOCKS or annotation in MEDIA:
        return True
    return any(_is_unstructured(part) for part in get_args(annotation) if part is not Any and part is not annotation)


def _wrapped(name: str, schema: dict[str, Any], options: ToolOptions) -> dict[str, Any]:
    """Return the schema of `{"result": value}`; definitions stay at the root, where references point."""
    inner = dict(schema)
    definitions = inner.pop("$defs", None)
    if options.schema_titles:
        inner = {"title": "Result", **inner}
    outer: dict[str, Any] = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
    if options.schema_titles:
        outer["title"] = f"{name}Output"
    if definitions:
        outer["$defs"] = definitions
    return outer
