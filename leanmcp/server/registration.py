"""From a function and its options to a Tool: names, description, published schemas, plans.

Everything a call needs is made here, once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from ..logs import logger
from ..types import CallToolResult, ContentBlock, Icon, ToolAnnotations
from ..types import Tool as ToolEntry
from .context import Context
from .results import ResultEncoder
from .signature import Signature, derive_output
from .threads import ThreadPool
from .tool import Tool, is_async

_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,128}")
_PORTABLE_NAME_LENGTH = 64  # some model vendors refuse longer ones


class ToolOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The server-wide options that shape a tool."""

    strict_names: bool
    schema_titles: bool
    inline_schemas: bool
    nullable: Literal["anyOf", "type"]
    echo_values: bool
    extra_args: Literal["forbid", "ignore"]
    coerce: bool

    def __post_init__(self) -> None:
        _one_of("nullable", self.nullable, ("anyOf", "type"))
        _one_of("extra_args", self.extra_args, ("forbid", "ignore"))

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
    thread: bool | None = None


class Home(msgspec.Struct, frozen=True):
    """What a tool needs of the server that it belongs to.

    Args:
        server_info: the JSON of `serverInfo`.
        threads: pool for `def` functions.
        lifespan: returns the value that `lifespan=` yielded.
    """

    server_info: bytes
    threads: ThreadPool
    lifespan: Callable[[], Any]


def make_tool(function: Callable[..., Any], spec: ToolSpec, options: ToolOptions, home: Home) -> Tool:
    """Return the tool that `function` makes.

    Raises:
        TypeError, ValueError: as `MCPServer.add_tool`.
    """
    name = _checked_name(function, spec.name, options)
    signature = Signature.of(
        function,
        tool_name=name,
        extra_args=options.extra_args,
        coerce=options.coerce,
        echo_values=options.echo_values,
        schema_titles=options.schema_titles,
        nullable=options.nullable,
        inline_schemas=options.inline_schemas,
        context_type=Context,
    )
    output_schema, results = _output(name, signature, spec.structured_output, options, home.server_info)
    entry = ToolEntry(
        name=name,
        input_schema=signature.input_schema,
        title=spec.title,
        description=_description(function) if spec.description is None else spec.description,
        icons=list(spec.icons) if spec.icons else None,
        output_schema=output_schema,
        annotations=spec.annotations,
        meta=spec.meta,
    )
    in_thread = not is_async(function) and spec.thread is not False
    return Tool(function, signature, entry, results, home.threads if in_thread else None, home.lifespan)


def _checked_name(function: Callable[..., Any], name: str | None, options: ToolOptions) -> str:
    if not callable(function):
        raise TypeError(f"a tool is a function, not {function!r}")
    if name is None:
        target = function
        while hasattr(target, "func") and not hasattr(target, "__name__"):
            target = target.func  # functools.partial
        name = getattr(target, "__name__", None) or type(target).__name__
        if name == "<lambda>":
            raise ValueError("a lambda needs name=")
    if not _NAME.fullmatch(name):
        message = f"tool name {name!r}: use 1 to 128 of A-Z a-z 0-9 _ . - (strict_names=False only warns)"
        if options.strict_names or not name:
            raise ValueError(message)
        logger.warning("%s", message)
    elif len(name) > _PORTABLE_NAME_LENGTH:
        logger.warning("tool name %r has %d characters; some hosts refuse more than 64", name, len(name))
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError(f"tool {name!r} is a generator; return a value, or a list of what it would yield")
    return name


def _description(function: Callable[..., Any]) -> str | None:
    while hasattr(function, "func") and not hasattr(function, "__name__"):
        function = function.func
    if not hasattr(function, "__name__"):
        function = type(function).__call__ if function.__doc__ is None else function
    return inspect.getdoc(function) or None


# --- output -------------------------------------------------------------------------------------------------------

_UNSTRUCTURED = (inspect.Signature.empty, Any, CallToolResult)


def _output(
    name: str, signature: Signature, wanted: bool | None, options: ToolOptions, server_info: bytes
) -> tuple[dict[str, Any] | None, ResultEncoder]:
    """Return the output schema, where there is one, and the encoder of the results."""
    annotation = signature.return_annotation
    if wanted is False or _is_unstructured(annotation):
        if wanted:
            raise TypeError(f"tool {name!r}: structured_output=True needs a return annotation that has a schema")
        return None, ResultEncoder(server_info)
    try:
        node = derive_output(
            annotation,
            tool_name=name,
            schema_titles=options.schema_titles,
            nullable=options.nullable,
            inline_schemas=options.inline_schemas,
            scope=signature.scope,
        )
    except TypeError:
        if wanted:
            raise
        return None, ResultEncoder(server_info)
    schema = node.schema
    wrap = schema.get("type") != "object"
    if wrap:
        schema = _wrapped(name, schema, options)
    results = ResultEncoder(server_info, structured=True, wrap=wrap, check=node.decode, text_only=annotation is str)
    return schema, results


def _is_unstructured(annotation: object) -> bool:
    blocks = getattr(ContentBlock, "__args__", ())
    parts = (annotation, *getattr(annotation, "__args__", ()))
    return annotation in _UNSTRUCTURED or any(part in blocks for part in parts)


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
