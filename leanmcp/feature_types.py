"""Wire types of resources, prompts, completion and questions, and the results that a client decodes.

`leanmcp.types` is their public home; it loads them when they are used, because a server of tools has no need of them.
Spec 2026-07-28: schema page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from .errors import without
from .types import (
    Annotations,
    BlobResourceContents,
    ContentBlock,
    Icon,
    Tagged,
    TextResourceContents,
    Tool,
    Wire,
    contents_of,
)


class Resource(Wire, kw_only=True):
    """One entry of resources/list.

    Args:
        uri: to read it by, exactly so.
        name, title, description, icons: for people and the model.
        mime_type: media type of the contents, where it is known.
        annotations: hints on audience, priority and age.
        size: bytes of the contents before any encoding.
        meta: the entry's `_meta`.

    Spec: server/resources, "Resource".
    """

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    icons: list[Icon] | None = None
    annotations: Annotations | None = None
    size: int | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class ResourceTemplate(Wire, kw_only=True):
    """One entry of resources/templates/list; `uri_template` is of RFC 6570, the rest as in Resource."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    icons: list[Icon] | None = None
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class ReadResourceResult(Wire, kw_only=True):
    """The whole result of resources/read, for a function that wants to say more than its return value can.

    Args:
        contents: at least one.
        ttl_ms, cache_scope: the cache hint of this one answer, milliseconds; default: that of the resource.
    """

    if TYPE_CHECKING:
        contents: list[TextResourceContents | BlobResourceContents]
    else:
        contents: list[Any]  # as in EmbeddedResource
    ttl_ms: int | None = None
    cache_scope: Literal["public", "private"] | None = None
    result_type: str = "complete"
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    def __post_init__(self) -> None:
        """Make the contents of a decoded result."""
        self.contents = [contents_of(item) for item in self.contents]


without(ReadResourceResult, {name: f"write `.contents[0].{name}`" for name in ("blob", "text")})
without(ReadResourceResult, {"content": "write `.contents`"})


class PromptArgument(Wire, kw_only=True):
    """An argument of a prompt; its value travels as text. `required` left out means that it is not."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


class Prompt(Wire, kw_only=True):
    """One entry of prompts/list."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: list[PromptArgument] | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class PromptMessage(Wire, kw_only=True):
    """One message of a prompt."""

    role: Literal["user", "assistant"]
    content: ContentBlock


without(PromptMessage, {"text": "write `.content.text`"})


class GetPromptResult(Wire, kw_only=True):
    """The whole result of prompts/get, for a prompt that wants to say more than its messages."""

    messages: list[PromptMessage]
    description: str | None = None
    result_type: str = "complete"
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


without(GetPromptResult, dict.fromkeys(("content", "text"), "write `.messages[0].content.text`"))


class PromptReference(Tagged, tag="ref/prompt", kw_only=True):
    """Refers to a prompt by its name."""

    name: str
    title: str | None = None


class ResourceTemplateReference(Tagged, tag="ref/resource", kw_only=True):
    """Refers to a resource template by the URI template itself."""

    uri: str


class CompletionArgument(Wire, kw_only=True):
    """The argument that is being typed, and its text so far."""

    name: str
    value: str


class CompletionContext(Wire, kw_only=True):
    """The values of the arguments that are settled already."""

    arguments: dict[str, str] | None = None


class Completion(Wire, kw_only=True):
    """Values that would complete an argument, best first.

    Args:
        values: at most 100 travel.
        total: how many there are, where that is known.
        has_more: whether there are more than `values`.
    """

    values: list[str]
    total: int | None = None
    has_more: bool | None = None


class ElicitResult(Wire, kw_only=True):
    """What a client answers to `elicitation/create`.

    Args:
        action: what the user did.
        content: what the user entered, for a form that was accepted.

    Raises:
        ValueError: another action.
    """

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.action not in ("accept", "decline", "cancel"):
            raise ValueError(f"action={self.action!r}: give 'accept', 'decline' or 'cancel'")


# --- results that a client decodes --------------------------------------------------------------------------------


class _Cacheable(Wire, kw_only=True):
    """What the results have that a client may keep.

    Args:
        ttl_ms: milliseconds that it may be kept.
        cache_scope: whether others than the one who asked may get it.

    Spec: server/utilities/caching.
    """

    ttl_ms: int = 0
    cache_scope: Literal["public", "private"] = "private"
    result_type: str = "complete"
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class DiscoverResult(_Cacheable, kw_only=True):
    """What a server is and can do.

    Args:
        supported_versions: such as "2026-07-28", the server's order.
        capabilities: settings by capability, as on the wire.
        instructions: how to use the server, for the model.
        ttl_ms: milliseconds that it may be kept; `cache_scope` says by whom.

    Spec: server/discover.
    """

    supported_versions: list[str]
    capabilities: dict[str, Any]
    instructions: str | None = None


class _Page(_Cacheable, kw_only=True):
    """What lists have in common."""

    if not TYPE_CHECKING:  # type checkers refuse them by themselves

        def __iter__(self) -> Any:
            kind = type(self).__name__
            member = self.__struct_fields__[len(_Page.__struct_fields__)]
            raise TypeError(
                f"a {kind} is one page: `for entry in page.{member}`; for all, `async for` over `{member}()`"
            )

        __aiter__ = __iter__


class ListToolsResult(_Page, kw_only=True):
    """One page of the tools; without `next_cursor` the last one."""

    tools: list[Tool]
    next_cursor: str | None = None


class ListResourcesResult(_Page, kw_only=True):
    """One page of the resources; without `next_cursor` the last one."""

    resources: list[Resource]
    next_cursor: str | None = None


class ListResourceTemplatesResult(_Page, kw_only=True):
    """One page of the resource templates; without `next_cursor` the last one."""

    resource_templates: list[ResourceTemplate]
    next_cursor: str | None = None


class ListPromptsResult(_Page, kw_only=True):
    """One page of the prompts; without `next_cursor` the last one."""

    prompts: list[Prompt]
    next_cursor: str | None = None


class CompleteResult(Wire, kw_only=True):
    """What would complete an argument."""

    completion: Completion
    result_type: str = "complete"
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


# --- what a server asks of a client -------------------------------------------------------------------------------


class ElicitRequestFormParams(Wire, kw_only=True):
    """A form that the server wants the user to fill in.

    Args:
        message: why.
        requested_schema: JSON Schema of a flat object.

    Spec: client/elicitation, "Form Mode Elicitation Requests".
    """

    message: str
    requested_schema: dict[str, Any]
    mode: Literal["form"] = "form"
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class ElicitRequestURLParams(Wire, kw_only=True):
    """A page that the server wants the user to visit.

    Args:
        message: why.
        url: whole; show all of it, and open it only after the user has agreed.
        elicitation_id: of protocol version 2025-11-25 only.

    Spec: client/elicitation, "URL Mode Elicitation Requests".
    """

    message: str
    url: str
    mode: Literal["url"] = "url"
    elicitation_id: str | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams
