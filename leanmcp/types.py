"""Wire types that server and client share: msgspec Structs, snake_case in Python, camelCase on the wire.

Every constructor takes both spellings: `ToolAnnotations(read_only_hint=True)` and `ToolAnnotations(readOnlyHint=True)`.
Spec 2026-07-28: schema page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from .errors import OF_PYDANTIC, Absent, without

if TYPE_CHECKING:
    from .feature_types import (
        CompleteResult,
        Completion,
        CompletionArgument,
        CompletionContext,
        DiscoverResult,
        ElicitRequestFormParams,
        ElicitRequestParams,
        ElicitRequestURLParams,
        ElicitResult,
        GetPromptResult,
        ListPromptsResult,
        ListResourcesResult,
        ListResourceTemplatesResult,
        ListToolsResult,
        Prompt,
        PromptArgument,
        PromptMessage,
        PromptReference,
        ReadResourceResult,
        Resource,
        ResourceTemplate,
        ResourceTemplateReference,
    )

__all__ = [
    "Annotations",
    "AudioContent",
    "BlobResourceContents",
    "CallToolResult",
    "CompleteResult",
    "Completion",
    "CompletionArgument",
    "CompletionContext",
    "ContentBlock",
    "DiscoverResult",
    "ElicitRequestFormParams",
    "ElicitRequestParams",
    "ElicitRequestURLParams",
    "ElicitResult",
    "EmbeddedResource",
    "GetPromptResult",
    "Icon",
    "ImageContent",
    "Implementation",
    "InputRequiredResult",
    "ListPromptsResult",
    "ListResourceTemplatesResult",
    "ListResourcesResult",
    "ListToolsResult",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "PromptReference",
    "ReadResourceResult",
    "Resource",
    "ResourceLink",
    "ResourceTemplate",
    "ResourceTemplateReference",
    "TextContent",
    "TextResourceContents",
    "Tool",
    "ToolAnnotations",
]


class _WireMeta(msgspec.StructMeta):
    """Lets a constructor take the wire's spelling of a field too; as an attribute, it raises what to write instead."""

    def __init__(cls, *args: Any, **options: Any) -> None:  # noqa: N805  a metaclass
        super().__init__(*args)
        renamed = zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True)
        without(cls, {wire_name: f"write `.{name}`" for wire_name, name in renamed if wire_name != name})

    if not TYPE_CHECKING:  # pyright takes what a metaclass's `__call__` returns, Any, for the type of every instance

        def __call__(cls, *args: Any, **values: Any) -> Any:  # noqa: N805  a metaclass
            if values:
                # The official SDK's blocks are made with their `type`, which is ours already.
                if "type" in values and values["type"] == cls.__struct_config__.tag:
                    del values["type"]
                fields = zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True)
                for wire_name, name in fields:
                    if wire_name != name and wire_name in values:
                        values[name] = values.pop(wire_name)
            try:
                return super().__call__(*args, **values)
            except TypeError as error:
                from .mistyped import wrongly_made  # of mistakes only

                raise wrongly_made(cls, error) from None


class Wire(msgspec.Struct, metaclass=_WireMeta, rename="camel", omit_defaults=True, kw_only=True):
    """Base of the wire types; unset optional members do not travel."""

    if not TYPE_CHECKING:  # type checkers refuse it by themselves
        __iter__ = None  # else Python would try the numbers

        def __getitem__(self, key: object) -> Any:
            from .mistyped import no_dict  # of mistakes only

            raise no_dict(self, key)


without(Wire, OF_PYDANTIC)


class Icon(Wire, kw_only=True):
    """An image for user interfaces.

    Args:
        src: an `https:` or `data:` URI.
        mime_type: such as "image/png".
        sizes: pixels, such as "48x48", or "any" for what scales.
        theme: the background that it is made for; None: any.

    Spec: basic/index, "`icons`".
    """

    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: Literal["light", "dark"] | None = None


class Implementation(Wire, kw_only=True):
    """Name and version of a server or client, as it reports them itself."""

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: list[Icon] | None = None


class Annotations(Wire, kw_only=True):
    """Hints on one content block: who it is for, how much it matters (0 to 1), when it changed (ISO 8601)."""

    audience: list[Literal["user", "assistant"]] | None = None
    priority: float | None = None
    last_modified: str | None = None


class ToolAnnotations(Wire, kw_only=True):
    """Behaviour hints of a tool. They are hints, never a safeguard: a client believes them of servers it trusts only.

    A hint that is left out stands for the worst: a tool writes, destroys, has another effect each time, and reaches out
    into the open world.

    Args:
        title: name for people; a tool's own title comes first.
        read_only_hint: the tool changes nothing; default False.
        destructive_hint: it may delete or overwrite, not only add; default True. Of tools that are not read-only.
        idempotent_hint: the same call again has no further effect; default False. Of tools that are not read-only.
        open_world_hint: it deals with things outside of a closed domain, such as the web; default True.
    """

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class Tool(Wire, kw_only=True):
    """One entry of tools/list.

    Args:
        name: what calls say; `title` is for people, `description` for the model.
        input_schema: JSON Schema of the arguments, an object.
        output_schema: JSON Schema of the structured content; None: none is promised.
        annotations: hints, never a safeguard.
        icons: for user interfaces.
        meta: the entry's `_meta`.

    Spec: server/tools, "Tool".
    """

    name: str
    input_schema: dict[str, Any]
    title: str | None = None
    description: str | None = None
    icons: list[Icon] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: ToolAnnotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class Tagged(Wire, tag_field="type", kw_only=True):
    """Base of what is one of several kinds; `type` tells them apart on the wire."""

    @property
    def type(self) -> str:
        """The wire's `type` member, such as `text`, `resource_link` or `ref/prompt`."""
        return str(self.__struct_config__.tag)


class _Block(Tagged, kw_only=True):
    """Base of the content blocks."""

    annotations: Annotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class TextContent(_Block, tag="text", kw_only=True):
    """Text for the model."""

    text: str


class ImageContent(_Block, tag="image", kw_only=True):
    """An image; `data` is base64."""

    data: str
    mime_type: str


class AudioContent(_Block, tag="audio", kw_only=True):
    """Sound; `data` is base64."""

    data: str
    mime_type: str


class ResourceLink(_Block, tag="resource_link", kw_only=True):
    """A pointer to a resource that the client can read by its URI; `size` is bytes, before any encoding."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: list[Icon] | None = None


class TextResourceContents(Wire, kw_only=True):
    """The text of a resource."""

    uri: str
    text: str
    mime_type: str | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class BlobResourceContents(Wire, kw_only=True):
    """The bytes of a resource; `blob` is base64."""

    uri: str
    blob: str
    mime_type: str | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class EmbeddedResource(_Block, tag="resource", kw_only=True):
    """A resource carried inside a result."""

    if TYPE_CHECKING:
        resource: TextResourceContents | BlobResourceContents
    else:
        resource: Any  # msgspec tells untagged Structs apart by nothing: __post_init__ does, by `text` or `blob`

    def __post_init__(self) -> None:
        """Make the contents of a decoded block."""
        self.resource = contents_of(self.resource)


def contents_of(value: Any) -> Any:
    """Return the contents that a decoded object holds, or those that are contents already.

    Raises:
        TypeError: neither; a decoder makes a ValidationError of that.
    """
    if isinstance(value, TextResourceContents | BlobResourceContents):
        return value
    if not isinstance(value, dict):
        raise TypeError(f"Expected the contents of a resource, got {type(value).__name__}")
    return msgspec.convert(value, TextResourceContents if "text" in value else BlobResourceContents)


ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


_VALUE = "the value is `result.structured_content`, or the result of call_tool(..., type=...)"


class CallToolResult(Wire, kw_only=True):
    """The whole result of a tool call; for a tool, when it wants to say more than its return value can.

    Args:
        content: what the model reads. At a client, blocks of unknown types are plain dicts.
        structured_content: a JSON value. None where there is none, and for null, which `has_structured_content` tells
            apart. A tool sends None as null where it has an output schema, and as nothing where it has none.
        is_error: the tool failed, and `content` says why.
        result_type: "complete", or an extension's.
        meta: `_meta`.

    Spec: server/tools, "Tool Result".
    """

    content: list[ContentBlock]
    structured_content: Any = msgspec.UNSET
    is_error: bool = False
    result_type: str = "complete"
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    if not TYPE_CHECKING:  # type checkers refuse them by themselves
        text = Absent("`result.content` is a list: `result.content[0].text`; the value: call_tool(..., type=str)")
        data = Absent(_VALUE)

    @property
    def has_structured_content(self) -> bool:
        """Whether `structured_content` was sent or set, be it to null."""
        return _stored_content(self) is not msgspec.UNSET


def _read_content(result: CallToolResult) -> Any:
    value = _stored_content(result)
    return None if value is msgspec.UNSET else value


# The field keeps null and nothing apart, which is encoded as it was decoded; who reads it gets None for both.
_content_field: Any = CallToolResult.structured_content
_stored_content: Callable[[CallToolResult], Any] = _content_field.__get__
CallToolResult.structured_content = property(_read_content, _content_field.__set__)


without(CallToolResult, dict.fromkeys(("output", "result", "value"), _VALUE))
without(CallToolResult, {"contents": "write `.content`", "error": "write `.is_error`; the text is in `.content`"})
without(Tool, dict.fromkeys(("parameters", "schema"), "write `.input_schema`"))


class InputRequiredResult(Wire, kw_only=True):
    """The result of a request that cannot be completed before the client has answered.

    Args:
        input_requests: by a key of your choice, requests to the client: `elicitation/create` and the like, as
            `{"method": ..., "params": {...}}`; or `Elicit` and `ElicitURL`, of `leanmcp.elicit`.
        request_state: any JSON value, which comes back with the retry as `Context.request_state`; sealed on the way.

    Raises:
        ValueError: neither is given.

    Spec: basic/patterns/mrtr, "InputRequiredResult"; "Server Requirements (Basic Workflow)" 6.
    """

    input_requests: dict[str, Any] | None = None
    request_state: Any = msgspec.UNSET
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    def __post_init__(self) -> None:
        """Refuse a result that gives the client nothing to answer and nothing to come back with."""
        if not self.input_requests and (self.request_state is None or self.request_state is msgspec.UNSET):
            raise ValueError("InputRequiredResult: give input_requests, request_state or both")


def __getattr__(name: str) -> object:
    """Load the types of resources, prompts, completion and questions when one of them is used."""
    if name == "__path__":  # every `from ... import` asks whether this is a package
        raise AttributeError(name)
    if name not in __all__:
        from .elsewhere import no_name  # of mistakes only

        raise no_name(__name__, name, __all__, sys._getframe(1))
    from . import feature_types

    value = globals()[name] = getattr(feature_types, name)
    return value
