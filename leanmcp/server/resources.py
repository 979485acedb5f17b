"""Resources: resources/list, resources/templates/list and resources/read.

In: the params of one request. Out: segments, or MCPError raised. A URI is looked up exactly as it was sent, without
normalisation: `data://x` and `DATA://x` are two resources, as are `%7E` and `~`. First comes the resource that is
registered under this very URI, at a cost that does not depend on how many there are; then the templates, in order of
registration: the first whose pattern fits and whose parameters take the values. One whose values are refused
(`ResourceSecurity`) ends the search, so that a laxer template behind it is no way around.
Spec 2026-07-28: server/resources; server/utilities/pagination; server/utilities/caching.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import InvalidParams, MCPError, ResourceError, ResourceNotFoundError
from ..logs import logger, one_line
from ..mistyped import closest
from ..protocol.jsonrpc import Segments
from ..protocol.meta import ListParams, RequestMeta
from ..types import BlobResourceContents, TextResourceContents
from .app import Method
from .calling import Home, InputRequired
from .context import Exchange
from .lists import CacheHint, Registry
from .registration import ToolOptions
from .resource import ReadResourceParams, Resource, ResourceSpec, make_resource, not_found, parsed_uri
from .resource_contents import contents_of
from .signature import InvalidArguments

if TYPE_CHECKING:
    from .app import MCPServer

__all__ = ["Resources"]

_MAX_URI = 8192  # characters of a URI that templates are asked about, RFC 9110 4.1; each of them reads all of it
_MAX_CANDIDATES = 200  # resources among which one with a similar URI is looked for
Found = tuple[Resource, tuple[Any, ...], dict[str, Any]]


class Resources:
    """The resources and templates of one server, and the methods that serve them.

    Args:
        server: told of changes by the registries; nothing is served before `serve`.
        home: what functions need of it.
        hint: of resources/read, for resources without one of their own.
    """

    def __init__(self, server: MCPServer, home: Home, hint: CacheHint) -> None:
        self._server = server
        self._home = home
        self._hint = hint
        changed = server.notify_resources_changed
        self.registry: Registry[Resource] = Registry("resource", changed, "another URI")
        self.templates: Registry[Resource] = Registry("resource template", changed, "another URI template")
        self._pages = server.pages("resources/list", "resources", self.registry)
        self._template_pages = server.pages("resources/templates/list", "resourceTemplates", self.templates)
        self._version = -1
        self._warned_of: set[str] = set()
        self._ordered: list[Resource] = []

    def serve(self) -> None:
        """Declare the capability and answer the methods."""
        server = self._server
        if "resources/read" in server.methods:
            return
        server.declare("resources", {"subscribe": True, "listChanged": True})
        lists = msgspec.json.Decoder(ListParams)
        server.serve_method("resources/list", Method(lists, self._list, source=self.registry))
        server.serve_method("resources/templates/list", Method(lists, self._list_templates, source=self.templates))
        server.serve_method("resources/read", Method(msgspec.json.Decoder(ReadResourceParams), self._read, "uri"))

    def make(self, function: Callable[..., Any], uri: str, spec: ResourceSpec, options: ToolOptions) -> Resource:
        """Return the resource or template that a function makes; errors as `MCPServer.add_resource`."""
        return make_resource(function, uri, spec, options, self._home, self._hint)

    def add(self, resource: Resource, *, replace: bool) -> None:
        """Register a resource or template.

        Raises:
            ValueError: its URI is taken.
        """
        (self.registry if resource.template is None else self.templates).add(resource, replace=replace)

    def registry_of(self, uri: str) -> Registry[Resource]:
        """Return where a URI or URI template is registered."""
        return self.registry if parsed_uri(uri) is None else self.templates

    def variables(self, template: str) -> Mapping[str, Sequence[str]] | None:
        """Return the variables of a template, with the values that their types name; None where there is none."""
        resource = self.templates.visible.get(template)
        return None if resource is None or resource.variables is None else resource.variables.offered

    def find(self, uri: str) -> Found:
        """Return the resource at `uri`, and the arguments of its function.

        Raises:
            InvalidParams: there is none, with `data.uri`.
        """
        resource = self.registry.visible.get(uri)
        if resource is not None:
            return resource, (), {}
        if len(uri) > _MAX_URI:
            raise not_found(uri, f"no template takes over {_MAX_URI} characters")
        reason = ""
        for resource in self._templates():
            values = None if resource.template is None else resource.template.match(uri)
            if values is None or resource.variables is None:
                continue
            refusal = resource.refusal(values)
            if refusal is not None:
                raise not_found(uri, refusal)
            try:
                return resource, *resource.variables.bind(values)
            except InvalidArguments as fault:
                reason = reason or resource.variables.explain(fault)
        raise not_found(uri, reason or self._hint_at(uri))

    def warn_unless_served(self, uri: str) -> None:
        """Warn, once for each URI, of changes in what nobody can read."""
        if uri in self._warned_of:
            return
        try:
            self.find(uri)
        except InvalidParams as fault:
            if len(self._warned_of) < _MAX_CANDIDATES:
                self._warned_of.add(uri)
                logger.warning("notify_resource_updated: %s", one_line(fault.message))

    async def read(self, uri: str, meta: RequestMeta, exchange: Exchange) -> list[Contents]:
        """Return the contents of a resource, for another function.

        Raises:
            ResourceNotFoundError: there is none.
            ResourceError: it failed, or asks the client, which only a request of its own can do.
        """
        params = ReadResourceParams(meta=meta, uri=uri)
        try:
            resource, args, kwargs = self.find(uri)
            # Its progress would mix with that of the function that asks.
            silent = msgspec.structs.replace(exchange, channel=None)
            segments = await resource.read(args, kwargs, params, silent, lazy=False)
        except InputRequired:
            raise ResourceError(f"resource {uri!r} asks the client; it cannot be read inside of a call") from None
        except InvalidParams as error:
            raise ResourceNotFoundError(error.message) from None
        except MCPError as error:
            raise ResourceError(error.message) from None
        return contents_of(b"".join(segments))

    def _templates(self) -> list[Resource]:
        if self._version != self.templates.version:
            self._version, places = self.templates.snapshot()
            self._ordered = [resource for _, resource in places]
        return self._ordered

    def _hint_at(self, uri: str) -> str:
        if "{" in uri:
            return "put a value in place of each {variable} of the template"
        if near := _near(uri, [known.name for known in self._templates()[:_MAX_CANDIDATES]]):
            return near
        if len(self.registry.visible) > _MAX_CANDIDATES:
            return ""
        meant = closest(uri, [known.name for known in self.registry])
        return "" if meant is None else f"did you mean {meant!r}?"

    def _list(self, params: ListParams, exchange: Exchange) -> Segments:
        return self._pages.answer(params.cursor, exchange.id)

    def _list_templates(self, params: ListParams, exchange: Exchange) -> Segments:
        return self._template_pages.answer(params.cursor, exchange.id)

    def _read(self, params: ReadResourceParams, exchange: Exchange) -> Coroutine[Any, Any, Segments]:
        resource, args, kwargs = self.find(params.uri)
        return resource.answer(args, kwargs, params, exchange)


def _near(uri: str, templates: Iterable[str]) -> str:
    """Return why a template does not take a URI that it was probably meant for, empty where no template is near."""
    for template in templates:
        start, _, rest = template.partition("{")
        name, _, end = rest.partition("}")
        if not uri.startswith(start):
            continue
        if (
            name.isidentifier()
            and "{" not in end
            and uri.endswith(end)
            and "/" in uri[len(start) : len(uri) - len(end)]
        ):
            return f"{{{name}}} of {template!r} takes no '/'; as {{+{name}}} it would"
        path, mark, query = template.partition("?")
        if mark and not path.endswith("{") and "?" not in uri and path.count("/") == uri.count("/"):
            names = ",".join(part.partition("}")[0] for part in query.split("{")[1:])
            return f"{template!r} needs its query; written {{?{names}}} it may be left out"
    return ""


Contents = TextResourceContents | BlobResourceContents
