"""The keyword options of registrations, written once for type checkers; nothing here is needed when a program runs.

In: nothing. Out: what `**options` holds where a tool or a resource is registered; `MCPServer.add_tool` and
`MCPServer.add_resource` say what each option means.
Spec 2026-07-28: server/tools, "Tool"; server/resources, "Resource".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from ..types import Annotations, Icon
from .calling import Sanitize
from .lists import CacheHint
from .resource_security import ResourceSecurity

__all__ = ["FileKeywords", "ResourceKeywords", "ToolKeywords"]


class ToolKeywords(TypedDict, total=False):
    """Of `MCPServer.add_tool`, `MCPServer.tool` and `leanmcp.tool`."""

    input_schema: dict[str, Any] | None
    output_schema: dict[str, Any] | None
    wrap_result: bool | None
    extra_args: Literal["forbid", "ignore"] | None
    coerce: bool | None
    timeout: float | None  # seconds
    max_concurrency: int | None
    max_result: int | None  # bytes
    sanitize: Sanitize | None
    thread: bool | None


class FileKeywords(TypedDict, total=False):
    """Of `MCPServer.add_file` and `MCPServer.add_directory`."""

    name: str | None
    title: str | None
    description: str | None
    mime_type: str | None
    icons: Sequence[Icon] | None
    annotations: Annotations | None
    meta: dict[str, Any] | None
    cache: CacheHint | None
    max_size: int | None  # bytes


class ResourceKeywords(FileKeywords, total=False):
    """Of `MCPServer.resource` and `MCPServer.add_resource`."""

    size: int | None  # bytes
    security: ResourceSecurity | None
    timeout: float | None  # seconds
    thread: bool | None
