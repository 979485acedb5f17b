"""Arguments that travel in HTTP headers too, because the tool's definition says so.

In: pages of tools/list, calls. Out: the pages without definitions that must be refused; Mcp-Param-* fields.
Spec 2026-07-28: server/tools, "x-mcp-header"; basic/transports/streamable-http, "Custom Headers from Tool Parameters".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from ..errors import HeaderMismatch, MCPError
from ..logs import logger
from ..protocol.headers import ParamHeader, plan_params
from ..protocol.mirror import mirror_params
from ..types import ListToolsResult, Tool

MAX_PAGES = 100  # looked through for one tool
_MAX_KNOWN = 10_000
Page = Callable[[str | None, bool], Awaitable[ListToolsResult]]
"""Returns a page of tools/list: of a cursor, and whether it must not come from the cache."""


class Mirrors:
    """What is known of the mirrored arguments of one server's tools.

    Attributes:
        repeatable: tools that say of themselves that they only read, or may be called twice.
    """

    def __init__(self) -> None:
        self._plans: dict[str, tuple[ParamHeader, ...]] = {}
        self.repeatable: set[str] = set()
        self._refused: dict[str, str] = {}
        self._any = False

    def take(self, page: ListToolsResult) -> ListToolsResult:
        """Learn the tools of a page, and leave out those whose annotations are invalid."""
        if len(self._plans) > _MAX_KNOWN:
            self._plans.clear()
            self.repeatable.clear()
        page.tools = [tool for tool in page.tools if self._learn(tool)]
        return page

    def _learn(self, tool: Tool) -> bool:
        try:
            plan = plan_params(tool.input_schema).params
        except (ValueError, RecursionError) as fault:
            reason = str(fault) or "its schema lies too deep"
            if self._refused.get(tool.name) != reason:
                if len(self._refused) > _MAX_KNOWN:
                    self._refused.clear()
                self._refused[tool.name] = reason
                self._plans.pop(tool.name, None)
                logger.warning("tool %.128r is left out: %.300s", tool.name, reason)
            return False
        self._refused.pop(tool.name, None)
        self._plans[tool.name] = plan
        hints = tool.annotations
        if hints is not None and (hints.read_only_hint or hints.idempotent_hint):
            self.repeatable.add(tool.name)
        else:
            self.repeatable.discard(tool.name)
        self._any = self._any or bool(plan)
        return True

    async def headers(self, name: str, arguments: Any, page: Page) -> dict[str, str]:
        """Return the fields that mirror arguments of a tool.

        A tool that no page has shown is looked for only where others have annotations; else the call itself tells, by
        a refusal, that there is something to mirror.

        Raises:
            InvalidParams: an argument that no header can carry.
        """
        plan = self._plans.get(name)
        if plan is None and self._any:
            await self.look_for(name, page, refresh=False)
            plan = self._plans.get(name)
        return mirror_params(plan, msgspec.to_builtins(arguments)) if plan else {}

    async def again(self, name: str, arguments: Any, page: Page, mismatch: HeaderMismatch) -> Mapping[str, str]:
        """Return the fields after the server has refused others: of the definition as it is now.

        Raises:
            HeaderMismatch: the list cannot be had.
        """
        try:
            await self.look_for(name, page, refresh=True)
        except MCPError as fault:
            raise mismatch from fault
        return await self.headers(name, arguments, page)

    async def look_for(self, name: str, page: Page, *, refresh: bool) -> None:
        """Read the list up to the page that has the tool."""
        if refresh:
            self._plans.pop(name, None)
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            found = await page(cursor, refresh)
            cursor = found.next_cursor
            if name in self._plans or cursor is None or cursor in seen:
                return
            seen.add(cursor)
