"""The results of each method as typed values, and what becomes of those with something odd in them.

In: response messages. Out: the Structs of `leanmcp.types`. Content blocks that this revision does not know stay plain
dicts; a list entry that cannot be one is left out with a warning, so that the others can be used.
Spec 2026-07-28: schema page; server/utilities/caching, "Cacheable Model".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from ..errors import InvalidResult, ToolError
from ..logs import warn_seldom
from ..types import (
    CallToolResult,
    CompleteResult,
    ContentBlock,
    DiscoverResult,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    Prompt,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    Tool,
)
from .messages import ResponseDecoder

T = TypeVar("T")
_BLOCKS = ("text", "image", "audio", "resource_link", "resource")


def block_of(value: Any) -> Any:
    """Return a content block, typed where its type is known, as a plain dict where it is not."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise msgspec.ValidationError("Expected content blocks to be objects with a `type`")
    if value["type"] not in _BLOCKS:
        return value
    return msgspec.convert(value, ContentBlock)


def _blocks(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise msgspec.ValidationError("Expected `content` to be an array")
    return [block_of(item) for item in value]


def _call_result(members: dict[str, Any]) -> CallToolResult:
    content = _blocks(members.get("content", UNSET))
    result = msgspec.convert({**members, "content": []}, CallToolResult)
    result.content = content
    return result


def _prompt_result(members: dict[str, Any]) -> GetPromptResult:
    found = members.get("messages")
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise msgspec.ValidationError("Expected `messages` to be an array of objects")
    messages = []
    for item in found:
        message = msgspec.convert({**item, "content": {"type": "text", "text": ""}}, PromptMessage)
        message.content = block_of(item.get("content"))
        messages.append(message)
    result = msgspec.convert({**members, "messages": []}, GetPromptResult)
    result.messages = messages
    return result


def _with_sound_hints(members: dict[str, Any]) -> dict[str, Any]:
    """Return a result whose cache hints, if they are none, say not to keep it."""
    ttl = members.get("ttlMs", 0)
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not abs(ttl) < 2**63:
        ttl = 0
    scope = members.get("cacheScope")
    return {**members, "ttlMs": int(ttl), "cacheScope": scope if scope == "public" else "private"}


def _page_repair(member: str, entry: type[Any], kind: type[T]) -> Callable[[dict[str, Any]], T]:
    def repair(members: dict[str, Any]) -> T:
        found = members.get(member)
        if not isinstance(found, list):
            raise msgspec.ValidationError(f"Expected `{member}` to be an array")
        entries = []
        for value in found:
            try:
                entries.append(msgspec.convert(value, entry))
            except msgspec.ValidationError as fault:
                name = value.get("name") if isinstance(value, dict) else None
                warn_seldom("an entry of %s is left out, because it is invalid: %.80r: %s", member, name, fault)
        page = msgspec.convert({**_with_sound_hints(members), member: []}, kind)
        setattr(page, "resource_templates" if member == "resourceTemplates" else member, entries)
        return page

    return repair


def _repair(kind: type[T]) -> Callable[[dict[str, Any]], T]:
    return lambda members: msgspec.convert(_with_sound_hints(members), kind)


DISCOVER = ResponseDecoder("server/discover", DiscoverResult, _repair(DiscoverResult))
TOOLS = ResponseDecoder("tools/list", ListToolsResult, _page_repair("tools", Tool, ListToolsResult))
RESOURCES = ResponseDecoder(
    "resources/list", ListResourcesResult, _page_repair("resources", Resource, ListResourcesResult)
)
TEMPLATES = ResponseDecoder(
    "resources/templates/list",
    ListResourceTemplatesResult,
    _page_repair("resourceTemplates", ResourceTemplate, ListResourceTemplatesResult),
)
PROMPTS = ResponseDecoder("prompts/list", ListPromptsResult, _page_repair("prompts", Prompt, ListPromptsResult))
CALL = ResponseDecoder("tools/call", CallToolResult, _call_result)
READ = ResponseDecoder("resources/read", ReadResourceResult, _repair(ReadResourceResult))
PROMPT = ResponseDecoder("prompts/get", GetPromptResult, _prompt_result)
COMPLETE = ResponseDecoder("completion/complete", CompleteResult)


# --- structured content -------------------------------------------------------------------------------------------


def failure_of(result: CallToolResult) -> ToolError:
    """Return the exception of a result that says `isError`."""
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    return ToolError("\n".join(texts) or "The tool failed without saying why", content=result.content)


def typed_content(result: CallToolResult, kind: type[T], name: str) -> T:
    """Return the structured content of a result as a `kind`.

    What is no object travels as `{"result": value}` from many servers; it is unwrapped unless `kind` has such a member.

    Raises:
        ToolError: the result says `isError`.
        InvalidResult: there is no structured content, or it is no `kind`.
    """
    if result.is_error:
        raise failure_of(result)
    value = result.structured_content
    if not result.has_structured_content:
        raise InvalidResult(f"Tool {name!r} answered without structuredContent; call it without type=")
    if isinstance(value, dict) and value.keys() == {"result"} and not _has_result(kind):
        value = value["result"]
    try:
        validate = getattr(kind, "model_validate", None)
        if validate is not None:  # a pydantic model
            made: T = validate(value)
            return made
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, ValueError) as fault:
        raise InvalidResult(f"The structuredContent of tool {name!r} is no {_name(kind)}: {fault}") from None
    except TypeError:
        if isinstance(kind, str):
            raise TypeError(f"call_tool({name!r}): type={kind!r}: give the type itself, such as int") from None
        raise


def _has_result(kind: Any) -> bool:
    if kind in (dict, Any) or getattr(kind, "__origin__", None) is dict:
        return True
    fields = getattr(kind, "__struct_fields__", None) or getattr(kind, "__annotations__", {})
    return "result" in fields


def _name(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind))
