"""The resource methods of MCPServer; everything behind them loads with the first resource.

In: functions, files and folders with their URIs. Out: calls of `resources`.
Spec 2026-07-28: server/resources.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..errors import InvalidParams, explained
from .registration import check_options

if TYPE_CHECKING:
    import os
    from typing import Never, Unpack

    from ..protocol.meta import RequestMeta
    from ..types import BlobResourceContents, TextResourceContents
    from .app import MCPServer
    from .calling import Home
    from .completion import Completions
    from .context import Exchange
    from .keywords import FileKeywords, ResourceKeywords
    from .lists import CacheHint
    from .registration import ToolOptions
    from .resource import ResourceSpec
    from .resources import Resources

F = TypeVar("F", bound=Callable[..., Any])


class ResourceMethods:
    """What MCPServer offers of resources."""

    _home: Home
    _options: ToolOptions
    _hints: dict[str, CacheHint]

    @explained
    def resource(
        self,
        uri: str,
        *misplaced: Never,
        replace: bool = False,
        **options: Unpack[ResourceKeywords],
    ) -> Callable[[F], F]:
        """Register a function as a resource, as `@mcp.resource("data://name")`; options: see `add_resource`."""
        from .resource import ResourceSpec, parsed_uri  # loaded by the first resource

        if misplaced:
            from .decorated import wrong_uri  # of mistakes only

            raise wrong_uri("resource", uri, misplaced)
        parsed_uri(uri)  # a fault in the URI is reported at the decorator
        check_options("resource", options, ResourceSpec.__struct_fields__)
        spec = ResourceSpec(**options)

        @explained
        def register(function: F) -> F:
            self._add_resource(function, uri, spec, replace)
            return function

        return register

    @explained
    def add_resource(
        self,
        fn: Callable[..., Any],
        uri: str = cast(str, None),
        *misplaced: Never,
        replace: bool = False,
        **options: Unpack[ResourceKeywords],
    ) -> None:
        """Register `fn` as what is read at a URI.

        Args:
            fn: function, coroutine function, bound method, partial or callable object. It returns a text, bytes, a
                file, several contents, or anything that has a JSON form; see `leanmcp.server.resource_contents`. It
                raises ResourceNotFoundError for what is not there, ResourceError for what readers may know.
            uri: with a scheme, such as `config://app`; looked up exactly as it stands. With variables, such as
                `users://{user_id}/notes{?limit}`, it is a template (RFC 6570): each variable is a parameter of `fn`, of
                any type that its text can stand for. A value that does not fit its parameter is as good as unknown.
            name: of the resource; default: the function's name.
            title: name for people.
            description: default: the docstring.
            mime_type: media type; default: by the returned value.
            icons: images for user interfaces, at `https:` or `data:` URIs.
            annotations: hints on audience, priority and age.
            meta: the entry's `_meta`.
            size: bytes of the contents before they are encoded; not of a template.
            cache: how long clients may keep what they read; default: `cache_hints["resources/read"]`.
            security: which values of variables are refused; the default refuses what leads out of a folder.
            timeout: seconds that a read may take; then it is cancelled and answers an error that says so.
            max_size: bytes of the largest contents; larger ones are an error that says so.
            thread: a `def` function runs in a worker thread; False runs it on the event loop, for work of microseconds.
            replace: replace a resource of the same URI, in its place in the list, instead of refusing.

        Any thread may call this, `remove_resource`, `disable_resource` and `enable_resource` while the server runs. The
        first resource makes the server declare `resources`; a variable whose type names its values (`Literal`, `Enum`,
        `bool`) makes it complete them.

        Raises:
            TypeError: variables and parameters that do not match, or an option that cannot be; the text has the fix.
            ValueError: no URI, a taken one, or an icon that no client may fetch.

        Spec: server/resources.
        """
        from .resource import ResourceSpec

        if misplaced or uri is None or callable(uri):
            from .decorated import wrong_uri  # of mistakes only

            raise wrong_uri("add_resource", fn, (uri, *misplaced))
        check_options("add_resource", options, ResourceSpec.__struct_fields__)
        self._add_resource(fn, uri, ResourceSpec(**options), replace)

    @explained
    def add_file(
        self,
        uri: str,
        path: str | os.PathLike[str],
        *,
        replace: bool = False,
        **options: Unpack[FileKeywords],
    ) -> None:
        """Register a file as a resource: `mcp.add_file("docs://readme", "README.md")`.

        It is read anew each time: in pieces where it is large and the transport is HTTP; on stdio, 64 MiB are the
        limit. A media type of text sends UTF-8 as text, everything else is a base64 blob.

        Args:
            path: of the file; links are followed.
            options: those of `add_resource` but `size`, `security`, `timeout` and `thread`. `name` is by default the
                name of the file, and `mime_type` goes by it.

        The entry tells the size of now.

        Raises:
            TypeError: an option that there is not.
            OSError: there is no such file.
        """
        from .resource import ResourceSpec
        from .resource_folders import FILE_OPTIONS, file_function

        check_options("add_file", options, FILE_OPTIONS)
        spec = ResourceSpec(**options)
        self._add_resource(file_function(uri, path, spec), uri, spec, replace)

    @explained
    def add_directory(
        self,
        uri_template: str,
        path: str | os.PathLike[str],
        *,
        hidden: bool = False,
        replace: bool = False,
        **options: Unpack[FileKeywords],
    ) -> None:
        """Register a folder, as a template: `mcp.add_directory("docs://{+path}", "docs")`.

        Files are read as in `add_file`. What does not lie in the folder is not found, however its URI is written:
        neither `..` nor a symbolic link leads out, also when the link changes while the file is opened.

        Args:
            uri_template: with one variable for the path: `{+path}` or `{/path*}`, or `{name}` for the files of the
                folder itself only.
            path: of the folder.
            hidden: serve names that begin with a dot, too.
            options: those of `add_file`; `mime_type` holds for every file, and goes by the name of each by default.

        Raises:
            TypeError: an option that there is not.
            OSError: there is no such folder.
        """
        from .resource import ResourceSpec
        from .resource_folders import FILE_OPTIONS, directory_function

        check_options("add_directory", options, FILE_OPTIONS)
        spec = ResourceSpec(**options)
        self._add_resource(directory_function(uri_template, path, spec, hidden=hidden), uri_template, spec, replace)

    @explained
    def remove_resource(self, uri: str) -> None:
        """Take a resource, or a template by its URI template, off its list.

        Raises:
            ValueError: there is no such resource.
        """
        self._served_resources().registry_of(uri).remove(uri)

    @explained
    def disable_resource(self, uri: str) -> None:
        """Hide a resource or template: it is neither listed nor read until `enable_resource`, and keeps its place.

        Raises:
            ValueError: there is no such resource.
        """
        self._served_resources().registry_of(uri).set_enabled(uri, False)

    @explained
    def enable_resource(self, uri: str) -> None:
        """Show a resource or template again that `disable_resource` has hidden.

        Raises:
            ValueError: there is no such resource.
        """
        self._served_resources().registry_of(uri).set_enabled(uri, True)

    def _add_resource(self, function: Callable[..., Any], uri: str, spec: ResourceSpec, replace: bool) -> None:
        resource = self._resources().make(function, uri, spec, self._options)
        self._served_resources().add(resource, replace=replace)
        if resource.variables is not None and any(resource.variables.offered.values()):
            self._served_completions()

    async def read_within(
        self, uri: str, meta: RequestMeta, exchange: Exchange
    ) -> list[TextResourceContents | BlobResourceContents]:
        """Return the contents of a resource, for a function that answers a request; see `Context.read_resource`."""
        return await self._resources().read(uri, meta, exchange)

    def _template_arguments(self, uri: str) -> Mapping[str, Sequence[str]]:
        """Return the variables of a resource template, with the values that their types name."""
        resources: Resources | None = self.__dict__.get("_resource_table")
        known = None if resources is None else resources.variables(uri)
        if known is None:
            raise InvalidParams(f"Unknown resource template: {uri[:128]!r}")
        return known

    def _resources(self) -> Resources:
        """Return the resources; threads that come first at the same time get the same ones."""
        resources: Resources | None = self.__dict__.get("_resource_table")
        if resources is None:
            from .lists import DEFAULT_HINT
            from .resources import Resources

            made = Resources(cast("MCPServer", self), self._home, self._hints.get("resources/read", DEFAULT_HINT))
            resources = self.__dict__.setdefault("_resource_table", made)
        return resources

    def _served_resources(self) -> Resources:
        """Return the resources, served from now on."""
        resources = self._resources()
        resources.serve()
        return resources

    @abstractmethod
    def _served_completions(self) -> Completions:
        """Return what completes arguments, served from now on."""
