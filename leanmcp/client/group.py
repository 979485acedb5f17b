"""Several servers behind one object: `weather.get` is the tool `get` of the server that the program calls `weather`.

In: servers under local names. Out: the tools, prompts and resources of all of them, and calls that find their way.
Spec 2026-07-28: server/tools, "Tool Names": whoever joins servers tells equal names apart by names of its own, not by
those that servers give themselves.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

from ..errors import Absent, CannotConnect, ConnectionLost, InvalidParams, MCPError, MethodNotFound
from ..logs import logger, one_line
from ..types import (
    CallToolResult,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    Prompt,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    Tool,
)
from .client import Client

if TYPE_CHECKING:
    from typing import Self

T = TypeVar("T")
# What URI schemes and the names of tools have in common, so that each prefixed name is still one.
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_\-]{0,63}")


class ClientGroup:
    """Clients of several servers, each under a label.

    One server that cannot be reached takes nothing away from the others: it is logged, `failures` says why, and its
    tools are missing from lists. A call to one of its tools tries to connect again.

    Args:
        servers: by label, what `Client` takes, or a Client that is not connected; its label becomes this one.
        separator: between label and name.
        connect_timeout: seconds for each server; they connect side by side.
        options: of every Client that is made here; see Client.

    Labels are letters, digits, `-` and `_`. In lists, tools and prompts are named `label.name`, and resources have URIs
    such as `label.file:///x`; their other members, and results, are as the server sent them.

    Raises:
        ValueError: a label that is none, or two that cannot be told apart.
    """

    def __init__(
        self,
        servers: Mapping[str, Any] | None = None,
        *,
        separator: str = ".",
        connect_timeout: float = 30.0,
        **options: Any,
    ) -> None:
        if not isinstance(servers, Mapping | None):
            raise TypeError(
                f"ClientGroup(<{type(servers).__name__}>): give the servers by label, such as "
                "{'books': 'https://books.example.com/mcp', 'films': mcp}"
            )
        if not separator:
            raise ValueError("separator='': names of different servers could not be told apart")
        self._separator = separator
        self._connect_timeout = connect_timeout
        self._options = options
        self._members: dict[str, _Member] = {}
        self._is_open = False
        for label, server in (servers or {}).items():
            self._enrol(label, server, {})

    async def __aenter__(self) -> Self:
        self._is_open = True
        try:
            await asyncio.gather(*(self._try(member) for member in self._members.values()))
        except BaseException:
            await self.close()
            raise
        return self

    if not TYPE_CHECKING:  # type checkers refuse them by themselves

        def __enter__(self) -> Any:
            raise TypeError("use `async with ClientGroup(...) as group`")

        def __exit__(self, *error: object) -> None:  # without it, `with` would not ask for the other one
            pass

        def __await__(self) -> Any:
            raise TypeError("a group is entered, not awaited: use `async with ClientGroup(...) as group`")

        def __iter__(self) -> Any:  # else Python would try its labels, 0, 1, 2, ...
            raise TypeError("a group is no list: its clients by label are `group.clients`, its tools `group.tools()`")

        connect = Absent("its block connects, `async with ClientGroup(...) as group`")
        connect_to_server = Absent("give it to `await group.add(label, server)`")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of every server; what goes wrong with one is logged."""
        self._is_open = False
        leaving = [asyncio.ensure_future(_leave(member)) for member in self._members.values()]
        if not leaving:
            return
        try:
            await asyncio.wait(leaving)
        except asyncio.CancelledError:
            # By now each has begun; `gather` would have cancelled them before that, and closed nothing.
            for task in leaving:
                task.cancel()
            await asyncio.wait(leaving)
            raise

    # --- members ------------------------------------------------------------------------------------------------------

    @property
    def clients(self) -> dict[str, Client]:
        """The clients that are connected, by label."""
        return {label: member.client for label, member in self._members.items() if member.is_connected}

    @property
    def failures(self) -> dict[str, Exception]:
        """Why a server is missing, or the last list of it failed, by label; gone when it works again."""
        return {label: member.failure for label, member in self._members.items() if member.failure is not None}

    def __getitem__(self, label: str) -> Client:
        """Return the client of one server, for what a group does not do: `listen`, `complete`, `discover`."""
        if label not in self._members:
            known = ", ".join(map(repr, self._members)) or "none"
            raise KeyError(f"no server {label!r} in this group; there is {known}")
        return self._members[label].client

    async def add(self, label: str, server: Any, **options: Any) -> Client:
        """Add a server, and connect to it where the group is connected.

        Args:
            label: new in this group.
            server: as in the constructor.
            options: of its Client, over those of the group.

        Raises:
            MCPError: it cannot be reached; it is not added.
        """
        member = self._enrol(label, server, options)
        if self._is_open:
            try:
                await self._connect(member)
            except BaseException:
                self._members.pop(label, None)
                raise
        return member.client

    async def remove(self, label: str) -> None:
        """Let go of one server; what runs there fails."""
        await _leave(self._members.pop(label))

    def _enrol(self, label: str, server: Any, options: Mapping[str, Any]) -> _Member:
        if not _LABEL.fullmatch(label) or self._separator in label:
            raise ValueError(
                f"label {label!r}: give a letter, then up to 63 more, digits, '-' or '_', without {self._separator!r}"
            )
        start = label + self._separator
        for other in self._members:
            if start.startswith(other + self._separator) or (other + self._separator).startswith(start):
                raise ValueError(f"label {label!r} cannot be told apart from {other!r}; choose another one")
        if isinstance(server, Client):
            client = server
            client.set_label(label)
        else:
            client = Client(server, **{**self._options, "label": label, **options})
        member = self._members[label] = _Member(label, client)
        return member

    async def _connect(self, member: _Member) -> None:
        """Connect to a server, unless somebody has done so meanwhile.

        Raises:
            MCPError: it cannot be reached.
        """
        async with member.turn:
            if member.is_connected:
                return
            try:
                async with asyncio.timeout(self._connect_timeout):
                    await member.client.__aenter__()
            except TimeoutError:
                member.failure = CannotConnect(
                    f"server {member.label!r} did not answer within {self._connect_timeout:g} seconds (connect_timeout)"
                )
                raise member.failure from None
            except Exception as error:
                member.failure = error
                raise
            if not self._is_open or self._members.get(member.label) is not member:
                await member.client.close()
                raise ConnectionLost(f"server {member.label!r} was taken out of the group while it was being connected")
            member.has_joined, member.failure = True, None

    async def _try(self, member: _Member) -> None:
        try:
            await self._connect(member)
        except Exception as error:
            logger.warning("server %r is left out: %s", member.label, one_line(error))

    async def _routed(self, name: str, noun: str) -> tuple[Client, str]:
        """Return whose a prefixed name is, connected, and the name there.

        Raises:
            InvalidParams: nobody's.
        """
        for label, member in self._members.items():
            start = label + self._separator
            if name.startswith(start):
                return await self._ready(member), name[len(start) :]
        known = ", ".join(repr(label + self._separator) for label in self._members) or "none: it is empty"
        raise InvalidParams(f"{noun} {name!r} is no server's of this group; names begin with {known}")

    async def _ready(self, member: _Member) -> Client:
        if not self._is_open:
            raise RuntimeError("the group is not connected; use it as `async with ClientGroup(...) as group`")
        if not member.is_connected:
            await self._connect(member)
        return member.client

    # --- lists --------------------------------------------------------------------------------------------------------

    def tools(self) -> AsyncIterator[Tool]:
        """Yield every tool of every server, under its local name."""
        return self._every("tools", "name")

    def prompts(self) -> AsyncIterator[Prompt]:
        """Yield every prompt of every server, under its local name."""
        return self._every("prompts", "name")

    def resources(self) -> AsyncIterator[Resource]:
        """Yield every resource of every server, under its local URI."""
        return self._every("resources", "uri")

    def resource_templates(self) -> AsyncIterator[ResourceTemplate]:
        """Yield every resource template of every server, which makes local URIs."""
        return self._every("resource_templates", "uri_template")

    async def _every(self, method: str, field: str) -> AsyncIterator[Any]:
        """Yield what a method of each client yields, with a label in front of one field."""
        for label, entries in (await self._collect(method)).items():
            for entry in entries:
                name = f"{label}{self._separator}{getattr(entry, field)}"
                yield msgspec.structs.replace(entry, **{field: name})

    async def list_tools(self) -> ListToolsResult:
        """Return all tools of all servers as one page."""
        return ListToolsResult(tools=[tool async for tool in self.tools()])

    async def list_prompts(self) -> ListPromptsResult:
        """Return all prompts of all servers as one page."""
        return ListPromptsResult(prompts=[prompt async for prompt in self.prompts()])

    async def list_resources(self) -> ListResourcesResult:
        """Return all resources of all servers as one page."""
        return ListResourcesResult(resources=[resource async for resource in self.resources()])

    async def list_resource_templates(self) -> ListResourceTemplatesResult:
        """Return all resource templates of all servers as one page."""
        return ListResourceTemplatesResult(
            resource_templates=[template async for template in self.resource_templates()]
        )

    async def _collect(self, method: str) -> dict[str, list[Any]]:
        """Return what each connected server lists, all asked at once; one that fails is left out."""
        if not self._is_open:
            raise RuntimeError("the group is not connected; use it as `async with ClientGroup(...) as group`")

        async def of(member: _Member) -> list[Any]:
            try:
                found = [entry async for entry in getattr(member.client, method)()]
            except MethodNotFound:
                found = []  # it has no such things
            except MCPError as error:
                member.failure = error
                logger.warning("the list of server %r is left out: %s", member.label, one_line(error))
                return []
            member.failure = None
            return found

        members = [member for member in self._members.values() if member.is_connected]
        lists = await asyncio.gather(*(of(member) for member in members))
        return {member.label: found for member, found in zip(members, lists, strict=True)}

    # --- calls --------------------------------------------------------------------------------------------------------

    @overload
    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, *args: Any, type: type[T], **options: Any
    ) -> T: ...
    @overload
    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, *args: Any, type: None = None, **options: Any
    ) -> CallToolResult: ...
    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, *args: Any, **options: Any) -> Any:
        """Call a tool by its local name.

        Args:
            name: such as `weather.get`.
            arguments, args, options: as `Client.call_tool`.

        Raises:
            InvalidParams: the name is no server's.
            MCPError: the server cannot be reached; and see Client.
        """
        client, tool = await self._routed(name, "tool")
        return await client.call_tool(tool, arguments, *args, **options)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, **options: Any
    ) -> GetPromptResult:
        """Get a prompt by its local name; see `call_tool`."""
        client, prompt = await self._routed(name, "prompt")
        return await client.get_prompt(prompt, arguments, **options)

    async def read_resource(self, uri: str, *, server: str | None = None, **options: Any) -> ReadResourceResult:
        """Read a resource.

        Args:
            uri: local, as the group lists it; or the server's own, such as one of a link in a result.
            server: the label, where the URI is the server's own.
            options: as `Client.read_resource`.
        """
        if server is not None:
            if server not in self._members:
                raise InvalidParams(f"server={server!r}: this group has {', '.join(self._members) or 'no servers'}")
            client = await self._ready(self._members[server])
        else:
            client, uri = await self._routed(uri, "resource")
        return await client.read_resource(uri, **options)


class _Member:
    """One server of a group."""

    def __init__(self, label: str, client: Client) -> None:
        self.label = label
        self.client = client
        self.has_joined = False
        self.failure: Exception | None = None
        self.turn = asyncio.Lock()

    @property
    def is_connected(self) -> bool:
        """Whether it can be asked; the program may have closed the client by itself."""
        return self.has_joined and self.client._connected is not None


async def _leave(member: _Member) -> None:
    member.has_joined = False
    try:
        await member.client.close()
    except Exception:
        logger.exception("server %r could not be closed", member.label)
