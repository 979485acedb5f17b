"""Wire types that server and client share: msgspec Structs, snake_case in Python, camelCase on the wire.

Every constructor takes both spellings: `ToolAnnotations(read_only_hint=True)` and `ToolAnnotations(readOnlyHint=True)`.
Spec 2026-07-28: schema page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

__all__ = [
    "Annotations",
    "AudioContent",
    "BlobResourceContents",
    "CallToolResult",
    "ContentBlock",
    "EmbeddedResource",
    "Icon",
    "ImageContent",
    "Implementation",
    "ResourceLink",
    "TextContent",
    "TextResourceContents",
    "Tool",
    "ToolAnnotations",
]


class _WireMeta(msgspec.StructMeta):
    """Lets a constructor take the wire's spelling of a field too."""

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
            return super().__call__(*args, **values)


class _Wire(msgspec.Struct, metaclass=_WireMeta, rename="camel", omit_defaults=True, kw_only=True):
    """Base of the wire types; unset optional members do not travel."""


class Icon(_Wire, kw_only=True):
    """An image for user interfaces. `src` is an `https:` or `data:` URI."""

    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: Literal["light", "dark"] | None = None


class Implementation(_Wire, kw_only=True):
    """Name and version of a server or client, as it reports them itself."""

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: list[Icon] | None = None


class Annotations(_Wire, kw_only=True):
    """Hints on one content block: who it is for, how much it matters (0 to 1), when it changed (ISO 8601)."""

    audience: list[Literal["user", "assistant"]] | None = None
    priority: float | None = None
    last_modified: str | None = None


class ToolAnnotations(_Wire, kw_only=True):
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


class Tool(_Wire, kw_only=True):
    """One entry of tools/list."""

    name: str
    input_schema: dict[str, Any]
    title: str | None = None
    description: str | None = None
    icons: list[Icon] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: ToolAnnotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class _Block(_Wire, tag_field="type", kw_only=True):
    """Base of the content blocks; `type` tells them apart on the wire."""

    annotations: Annotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    @property
    def type(self) -> str:
        """The wire's `type` member: `text`, `image`, `audio`, `resource_link` or `resource`."""
        return str(self.__struct_config__.tag)


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
    """A pointer to a resource that the client can read by its URI."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: list[Icon] | None = None


class TextResourceContents(_Wire, kw_only=True):
    """The text of a resource."""

    uri: str
    text: str
    mime_type: str | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class BlobResourceContents(_Wire, kw_only=True):
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
        contents: Any = self.resource
        if not isinstance(contents, TextResourceContents | BlobResourceContents):
            is_text = isinstance(contents, dict) and "text" in contents
            kind: Any = TextResourceContents if is_text else BlobResourceContents
            self.resource = msgspec.convert(contents, kind)


ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


class CallToolResult(_Wire, kw_only=True):
    """The whole result of a tool call, for a tool that wants to say more than its return value can."""

    content: list[ContentBlock]
    structured_content: Any = msgspec.UNSET
    is_error: bool = False
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")
