"""One resource, or one template of resources: a function, the plan of its variables, and the way of one read.

In: a URI's values, and the params and Exchange of resources/read. Out: the segments of one response, or MCPError.
Everything that can be known at registration is worked out there.
Spec 2026-07-28: server/resources.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..errors import InternalError, InvalidParams, MCPError, ResourceNotFoundError
from ..protocol.jsonrpc import DECODE_FAULTS, Segments
from ..protocol.meta import RetryParams
from ..protocol.uri_template import NO_URI, InvalidUriTemplate, UriTemplate, Values, Variable
from ..schema.faults import listing
from ..types import Annotations, Icon
from ..types import Resource as ResourceEntry
from ..types import ResourceTemplate as TemplateEntry
from .calling import Callee, Home, InputRequired
from .context import Context, Exchange
from .failures import protocol_error
from .lists import CacheHint
from .nodes import ArrayNode, Node, admits_string, alternatives
from .registration import (
    ToolOptions,
    check_entry,
    check_limit,
    checked_icons,
    described,
    name_of,
    refuse_generator,
    unfinished,
)
from .resource_contents import ContentsEncoder
from .resource_files import StoredFile
from .resource_security import DEFAULT_RESOURCE_SECURITY, ResourceSecurity
from .signature import InvalidArguments, Signature
from .texts import argument_reader, offered, read_texts, text_reader

__all__ = ["ReadResourceParams", "Resource", "ResourceSpec", "Variables", "make_resource"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_MIME_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+\-]+/[A-Za-z0-9!#$&^_.+\-]+( *; *[A-Za-z0-9!#$&^_.+\-]+=[ -~]+)*")


class ReadResourceParams(RetryParams, frozen=True, kw_only=True):
    """Params of resources/read."""

    uri: str


# --- variables --------------------------------------------------------------------------------------------------------


class Variables:
    """The variables of one template as parameters of its function.

    What a text stands for tells `leanmcp.server.texts`; an exploded variable is a list of texts. An empty text that
    stands for nothing, as in `?limit=`, is left out where its parameter has a default.

    Args:
        template: the template.
        signature: of the function.

    Attributes:
        offered: by name, the values that the types spell out.

    Raises:
        TypeError: variables and parameters do not match; the text says what to write.
    """

    def __init__(self, template: UriTemplate, signature: Signature) -> None:
        self._signature = signature
        properties = {entry.wire_name: entry for entry in signature.properties}
        _check_match(template, {name: (entry.node, entry.required) for name, entry in properties.items()})
        self.offered = {name: offered(properties[name].node) for name in template.variable_names}
        self._readers = {
            name: reader
            for name, entry in properties.items()
            if (reader := _list_reader(entry.node) if _array(entry.node) else argument_reader(entry)) is not None
        }

    def bind(self, values: Values) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of the function.

        Raises:
            InvalidArguments: a value does not fit its parameter.
        """
        return self._signature.read(read_texts(self._readers, values))

    def explain(self, refusal: InvalidArguments) -> str:
        """Return one line about values that did not fit."""
        return listing(refusal.faults, echo_values=self._signature.echo_values).replace("\n", "; ")


def _check_match(template: UriTemplate, parameters: dict[str, tuple[Node, bool]]) -> None:
    subject = f"resource {template.template!r}"
    for variable in template.variables:
        name = variable.name
        if name not in parameters:
            alias = "" if name.isidentifier() else f"; for another name, annotate with Field(alias={name!r})"
            raise TypeError(
                f"{subject}: variable {{{name}}} has no parameter; add {_as_parameter(variable)} to the function{alias}"
            )
        node, required = parameters[name]
        if variable.explode is not (_array(node) is not None):
            raise TypeError(
                f"{subject}: {{{name}*}} gives a list; annotate it, as in {name}: list[str]"
                if variable.explode
                else f"{subject}: {{{name}}} gives one value, and the parameter is a list; write {{{name}*}}"
            )
        if required and name in template.query_variable_names:
            raise TypeError(f"{subject}: a URI may leave {name!r} out of its query; give the parameter a default")
    for name in parameters.keys() - set(template.variable_names):
        where = f"write {{{name}}} into it, as in {template.template.rstrip('/')}/{{{name}}}"
        raise TypeError(f"{subject}: parameter {name!r} has no place in the URI; {where}, or leave it out")


def _as_parameter(variable: Variable) -> str:
    name = variable.name if variable.name.isidentifier() else "a parameter"
    return f"{name}: list[str]" if variable.explode else f"{name}: str"


def _array(node: Node) -> ArrayNode | None:
    return next((part for part in alternatives(node) if isinstance(part, ArrayNode)), None)


def _list_reader(node: Node) -> Callable[[list[str]], Any] | None:
    """Return what turns the texts of items into JSON values, None where the texts are the values.

    The decoder of arguments reads a text as JSON only where it is a whole argument.
    """
    array = _array(node)
    item = None if array is None else array.items
    reader = None if item is None else text_reader(item)
    if item is None or reader is None:
        return None

    def read(text: str) -> Any:
        value = reader(text)
        if value is not text or admits_string(item):
            return value
        try:
            return msgspec.json.decode(text)
        except DECODE_FAULTS:
            return text

    return lambda texts: [read(text) for text in texts]


# --- resources --------------------------------------------------------------------------------------------------------


class Resource:
    """A registered resource or template.

    Args:
        callee: its function.
        entry: what resources/list or resources/templates/list says of it.
        contents: encodes what the function returns.
        template: None for a resource with one URI.
        variables: those of the template.
        security: what values may hold.

    Attributes:
        name: the URI, or the URI template, by which it is found.
    """

    __slots__ = ("_callee", "_contents", "_security", "entry", "name", "template", "variables")

    def __init__(
        self,
        callee: Callee,
        entry: ResourceEntry | TemplateEntry,
        contents: ContentsEncoder,
        template: UriTemplate | None = None,
        variables: Variables | None = None,
        security: ResourceSecurity = DEFAULT_RESOURCE_SECURITY,
    ) -> None:
        self.name = entry.uri if isinstance(entry, ResourceEntry) else entry.uri_template
        self.entry = entry
        self.template = template
        self.variables = variables
        self._callee = callee
        self._contents = contents
        self._security = security

    def refusal(self, values: Values) -> str | None:
        """Return why a URI with these values must not be read, None where it may."""
        return None if self.template is None else self._security.fault(values, self.template.variables)

    async def answer(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], params: ReadResourceParams, exchange: Exchange
    ) -> Segments:
        """Return what `read` does, or the response that asks the client first."""
        try:
            return await self.read(args, kwargs, params, exchange, lazy=exchange.head is not None)
        except InputRequired as asked:
            return self._callee.ask(asked, params, exchange)

    async def read(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        params: ReadResourceParams,
        exchange: Exchange,
        *,
        lazy: bool,
    ) -> Segments:
        """Run the function and return the response that carries its contents.

        Args:
            args: of the function.
            kwargs: likewise.
            lazy: whether large files may be lazy segments.

        Raises:
            InputRequired: the client has to answer first.
            InvalidParams: there is no such resource after all.
            MCPError: the function failed; see `failures.protocol_error`.
        """
        callee = self._callee
        try:
            value = await callee.call(args, kwargs, params, exchange)
            if callee.home.sanitize is not None and not isinstance(value, StoredFile):
                value = callee.home.sanitize(value)
            return await self._contents.encode(
                value,
                params.uri,
                exchange.id,
                callee.home.threads,
                lazy=lazy,
                retried=params.request_state is not msgspec.UNSET or params.input_responses is not msgspec.UNSET,
            )
        except InputRequired:
            raise
        except ResourceNotFoundError as error:
            raise not_found(params.uri, str(error)) from None
        except BaseException as error:
            answer = protocol_error(error, "resource", params.uri[:128], callee.home)
            if isinstance(answer, InternalError) and not isinstance(error, MCPError):
                answer.data = {"uri": params.uri}
            raise answer from None


def not_found(uri: str, reason: str = "") -> InvalidParams:
    """Return the error for a resource that does not exist.

    Spec: server/resources, "Error Handling".
    """
    return InvalidParams(f"Resource not found: {uri[:128]!r}" + (f": {reason}" if reason else ""), {"uri": uri})


class ResourceSpec(msgspec.Struct, kw_only=True):
    """What the author of one resource said about it; see `MCPServer.add_resource`."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    icons: Sequence[Icon] | None = None
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = None
    size: int | None = None
    cache: CacheHint | None = None
    security: ResourceSecurity | None = None
    timeout: float | None = None
    max_size: int | None = None
    thread: bool | None = None

    def check(self, subject: str) -> None:
        """Refuse options that cannot be.

        Raises:
            TypeError, ValueError: the text names the resource and the option.
        """
        if self.mime_type is not None and not (
            isinstance(self.mime_type, str) and _MIME_TYPE.fullmatch(self.mime_type)
        ):
            raise ValueError(f"{subject}: mime_type={self.mime_type!r}; give one such as 'text/plain'")
        if self.size is not None and (type(self.size) is not int or self.size < 0):
            raise ValueError(f"{subject}: size={self.size!r}; give a number of bytes")
        if self.cache is not None and not isinstance(self.cache, CacheHint):
            raise TypeError(f"{subject}: cache={self.cache!r}; give CacheHint(ttl_ms=..., scope=...)")
        if self.security is not None and not isinstance(self.security, ResourceSecurity):
            raise TypeError(f"{subject}: security={self.security!r}; give ResourceSecurity(...)")
        check_limit("timeout", self.timeout)
        check_limit("max_size", self.max_size)
        if self.annotations is not None:
            _check_annotations(subject, self.annotations)


def _check_annotations(subject: str, annotations: Annotations) -> None:
    if not isinstance(annotations, Annotations):
        raise TypeError(f"{subject}: annotations={annotations!r}; give leanmcp.types.Annotations(...)")
    priority = annotations.priority
    if priority is not None and not (isinstance(priority, int | float) and 0 <= priority <= 1):
        raise ValueError(f"{subject}: priority={priority!r}; give a number from 0 to 1")


def make_resource(
    function: Callable[..., Any], uri: str, spec: ResourceSpec, options: ToolOptions, home: Home, hint: CacheHint
) -> Resource:
    """Return the resource, or the template, that `function` makes.

    Raises:
        TypeError, ValueError: as `MCPServer.add_resource`.
    """
    template = parsed_uri(uri)
    subject = f"resource {uri!r}"
    spec.check(subject)
    if isinstance(function, classmethod | staticmethod):
        raise TypeError(unfinished(function, "resource"))
    if not callable(function):
        raise TypeError(f"{subject}: a resource is a function, not {function!r}")
    refuse_generator(subject, function)
    if template is not None and spec.size is not None:
        raise TypeError(f"{subject}: a template has no size; each of its resources has one of its own")
    description, texts = described(function, uri, spec.description, "resource")
    signature = Signature(
        function,
        tool_name=uri,
        echo_values=options.echo_values,
        context_type=Context,
        descriptions=texts,
        noun="resource",
        untyped=str,
    )
    variables = Variables(template or UriTemplate.parse(uri), signature)
    members: dict[str, Any] = {
        "name": _checked_name(function, spec.name, subject),
        "title": spec.title,
        "description": description,
        "mime_type": spec.mime_type,
        "icons": checked_icons(subject, spec.icons),
        "annotations": spec.annotations,
        "meta": spec.meta,
    }
    entry = (
        ResourceEntry(uri=uri, size=spec.size, **members)
        if template is None
        else TemplateEntry(uri_template=uri, **members)
    )
    check_entry(entry, "resource")
    in_thread = spec.thread is not False
    callee = Callee(
        function, signature, home, method="resources/read", name=uri, timeout=spec.timeout, in_thread=in_thread
    )
    contents = ContentsEncoder(spec.mime_type, spec.cache or hint, home.server_info, spec.max_size)
    security = spec.security or DEFAULT_RESOURCE_SECURITY
    return Resource(callee, entry, contents, template, variables if template else None, security)


def parsed_uri(uri: object) -> UriTemplate | None:
    """Return the template that a URI is, None for one without variables.

    Raises:
        TypeError: no string.
        ValueError: no URI, and no template of one.
    """
    if callable(uri):
        raise TypeError("@mcp.resource needs a URI: @mcp.resource('data://name'), or '.../{name}' with a variable")
    if not isinstance(uri, str):
        raise TypeError(f"the URI of a resource is a string such as 'data://name', not {uri!r}")
    if _SCHEME.match(uri) is None:
        raise ValueError(f"resource {uri!r} has no scheme; write it as in 'data://{uri.lstrip('/') or 'name'}'")
    if "{" in uri or "}" in uri:
        try:
            return UriTemplate.parse(uri)
        except InvalidUriTemplate as fault:
            raise InvalidUriTemplate(f"resource {uri!r}: {fault}", template=uri, position=fault.position) from None
    wrong = NO_URI.search(uri)
    if wrong is not None:
        raise ValueError(f"resource {uri!r}: {wrong[0]!r} cannot stand in a URI; percent-encode it")
    return None


def _checked_name(function: Callable[..., Any], name: str | None, subject: str) -> str:
    if name is None:
        name = name_of(function)
        if name == "<lambda>":
            raise ValueError(f"{subject}: a lambda needs name=")
    if not isinstance(name, str) or not name:
        raise TypeError(f"{subject}: name={name!r}; give a text")
    return name
