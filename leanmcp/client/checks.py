"""Results and definitions looked at before anybody uses them; whoever wrote them is a stranger.

In: results of tools/call, pages of tools/list. Out: the same, or InvalidResult; what is merely odd is flagged.
Spec 2026-07-28: server/tools, "Output Schema" and "Security Considerations"; basic/index, "JSON Schema Usage" and
"`icons`".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal

import msgspec

from .. import schema
from ..errors import InvalidResult, MCPError
from ..logs import logger, warn_seldom
from ..schema.faults import TOO_COMPLEX
from ..types import CallToolResult, EmbeddedResource, ResourceLink, TextContent, TextResourceContents, Tool
from .gate import Call, Gate
from .strangers import hidden_characters, safe_icons, uri_fault, without_hidden

FLAGS = "leanmcp/flags"
"""Member of a result's `_meta` that holds what is odd about it, a list of sentences; nobody else's word is in it."""

_MAX_VALIDATORS = 1000


class ResultChecks:
    """Checks what servers say.

    A result whose `structuredContent` does not fit the tool's `outputSchema`, or lacks it, that is too large, or that
    has a URI which a user interface must not follow, is refused: InvalidResult. An error (`isError`) needs no
    structured content. What is merely odd is flagged: a sentence each in `result.meta["leanmcp/flags"]` and in the
    audit log. Icons that must not be shown are left out.

    Args:
        unchecked: what becomes of structured content whose schema cannot be enforced (it refers to something
            elsewhere, is of an unknown dialect, or costs too much): "flag" or "refuse". The tool stays.
        list_tools: ask the server for its tools where it is not known yet what this one promises, once; else results
            of tools that were never listed go unchecked.
        max_size: bytes of JSON that the structured content may have, and characters of all texts and data together.
        max_blocks: content blocks.
        hidden_text: what becomes of control characters, of those that turn the direction of writing, and of those that
            do not show, in texts: "flag", "strip" them, or "keep" quiet about them.
        schemes: the URI schemes that links may have; None: all but those that can run something, such as
            `javascript:`.

    Raises:
        ValueError: a word that is none of these.
    """

    def __init__(
        self,
        *,
        unchecked: Literal["flag", "refuse"] = "flag",
        list_tools: bool = True,
        max_size: int = 16 * 1024 * 1024,
        max_blocks: int = 1000,
        hidden_text: Literal["flag", "strip", "keep"] = "flag",
        schemes: Collection[str] | None = None,
    ) -> None:
        if unchecked not in ("flag", "refuse"):
            raise ValueError(f"unchecked={unchecked!r}: give 'flag' or 'refuse'")
        if hidden_text not in ("flag", "strip", "keep"):
            raise ValueError(f"hidden_text={hidden_text!r}: give 'flag', 'strip' or 'keep'")
        self.unchecked = unchecked
        self.list_tools = list_tools
        self.max_size = max_size
        self.max_blocks = max_blocks
        self.hidden_text = hidden_text
        self.schemes = None if schemes is None else frozenset(scheme.lower().rstrip(":") for scheme in schemes)

    def gate(self, origin: str | None = None) -> Gate:
        """Return the gate that makes these checks of one server.

        Args:
            origin: URL of the server; None where it has none.
        """
        return _CheckGate(self, origin)


class _CheckGate(Gate):
    def __init__(self, checks: ResultChecks, origin: str | None) -> None:
        self._checks = checks
        self._origin = origin
        self._warned: set[str] = set()
        self._validators: dict[str, tuple[dict[str, Any], schema.Validator | str]] = {}

    async def after(self, call: Call, result: CallToolResult) -> CallToolResult:
        if not isinstance(result, CallToolResult):
            return result  # questions, for a program that answers them by hand
        flags: list[str] = []
        structured = result.structured_content
        encoded = msgspec.json.encode(structured) if result.has_structured_content else b""
        _check_size(result.content, len(encoded), self._checks)
        if not result.is_error:
            await self._check_structured(call, result, flags)
        for block in result.content:
            self._check_block(block, flags)
        if self._checks.hidden_text != "keep":
            self._check_texts(result, encoded, flags)
        if flags or (result.meta and FLAGS in result.meta):
            flags = list(dict.fromkeys(flags))
            call.flags += flags
            meta = {name: value for name, value in (result.meta or {}).items() if name != FLAGS}
            result.meta = {**meta, **({FLAGS: flags} if flags else {})} or None
        return result

    # --- structured content -------------------------------------------------------------------------------------------

    async def _check_structured(self, call: Call, result: CallToolResult, flags: list[str]) -> None:
        tool = await self._definition(call, flags)
        if tool is None or tool.output_schema is None:
            return
        if not result.has_structured_content:
            raise InvalidResult(
                f"Tool {call.tool!r} of {call.server} has an outputSchema, but answered without structuredContent"
            )
        why = self._fault(call.tool, tool.output_schema, result.structured_content)
        if why is None:
            return
        text, certain = why
        if certain:
            raise InvalidResult(
                f"The structuredContent of tool {call.tool!r} of {call.server} does not fit its outputSchema:\n{text}"
            )
        if self._checks.unchecked == "refuse":
            raise InvalidResult(
                f"The structuredContent of tool {call.tool!r} of {call.server} cannot be checked: {text}"
            )
        flags.append(f"structuredContent is unchecked: {text}")

    async def _definition(self, call: Call, flags: list[str]) -> Tool | None:
        if not self._checks.list_tools:
            return call.known()
        try:
            return await call.define()
        except MCPError as error:
            flags.append(f"structuredContent is unchecked: the server's tools cannot be listed: {error.message[:200]}")
            return None

    def _fault(self, name: str, output_schema: dict[str, Any], value: Any) -> tuple[str, bool] | None:
        """Return what is wrong, and whether that is certain; None: nothing."""
        validator = self._validator(name, output_schema)
        if isinstance(validator, str):
            return validator, False
        try:
            if validator.is_valid(value):
                return None
            faults = validator.faults(value)
        except RecursionError:
            return "it lies too deep", False
        if any(fault.message == TOO_COMPLEX for fault in faults):
            return "it takes too many steps to check", False
        return validator.explain(value), True

    def _validator(self, name: str, output_schema: dict[str, Any]) -> schema.Validator | str:
        """Return the validator of a tool's results, or why there is none."""
        known = self._validators.get(name)
        if known is not None and known[0] is output_schema:
            return known[1]
        made: schema.Validator | str
        try:
            made = schema.compile(output_schema, profile="untrusted")
        except schema.SchemaError as fault:
            made = f"its schema cannot be enforced: {fault}"
            warn_seldom("the outputSchema of tool %.128r cannot be enforced: %.300s", name, fault)
        if len(self._validators) >= _MAX_VALIDATORS:
            self._validators.clear()
        self._validators[name] = output_schema, made
        return made

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _check_block(self, block: Any, flags: list[str]) -> None:
        if isinstance(block, ResourceLink):
            uri = block.uri
            if block.icons:
                block.icons = safe_icons(block.icons, self._origin) or None
        elif isinstance(block, EmbeddedResource):
            uri = block.resource.uri
        else:
            if isinstance(block, dict):
                flags.append(f"content has a block of the unknown type {str(block.get('type'))[:40]!r}")
            return
        fault = uri_fault(uri, self._checks.schemes)
        if fault is not None:
            raise InvalidResult(f"The result has a {block.type} whose URI {uri[:100]!r} {fault}")

    def _check_texts(self, result: CallToolResult, encoded: bytes, flags: list[str]) -> None:
        for block in result.content:
            for holder, name, text in _texts(block):
                found = hidden_characters(text)
                if not found:
                    continue
                if self._checks.hidden_text == "strip":
                    setattr(holder, name, without_hidden(text))
                    flags.append(f"{found} were taken out of a text")
                else:
                    flags.append(f"a text has {found}")
        found = hidden_characters(encoded.decode(), in_json=True)
        if found and self._checks.hidden_text == "strip":
            try:
                result.structured_content = _stripped(result.structured_content)
            except RecursionError:
                raise InvalidResult(f"The result has {found} in structuredContent that lies too deep") from None
            flags.append(f"{found} were taken out of structuredContent")
        elif found:
            flags.append(f"structuredContent has {found}")

    # --- definitions --------------------------------------------------------------------------------------------------

    def entries(self, listed: Sequence[Any]) -> None:
        for entry in listed:
            if entry.icons:
                entry.icons = safe_icons(entry.icons, self._origin) or None

    async def listed(
        self, server: str, tools: Sequence[Tool], *, cursor: str | None, next_cursor: str | None
    ) -> Sequence[Tool]:
        for tool in tools:
            if tool.icons:
                tool.icons = safe_icons(tool.icons, self._origin) or None
            if self._checks.hidden_text == "strip":
                tool.title = without_hidden(tool.title) if tool.title else tool.title
                tool.description = without_hidden(tool.description) if tool.description else tool.description
            if self._checks.hidden_text != "keep":
                self._warn_of_hidden(server, tool)
        return tools

    def _warn_of_hidden(self, server: str, tool: Tool) -> None:
        """Tell once of hidden characters anywhere in a definition; descriptions go to models too."""
        text = msgspec.json.encode(tool).decode()
        found = hidden_characters(text, in_json=True)
        if found and text not in self._warned and len(self._warned) < _MAX_VALIDATORS:
            self._warned.add(text)
            logger.warning("the definition of tool %.128r of %s has %s", tool.name, server, found)


def _check_size(content: list[Any], size: int, checks: ResultChecks) -> None:
    """Refuse what is too large; `size`: bytes of the structured content."""
    if len(content) > checks.max_blocks:
        raise InvalidResult(
            f"The result has {len(content)} content blocks, over {checks.max_blocks} (ResultChecks(max_blocks=))"
        )
    total = 0
    for block in content:
        total += len(block.text) if isinstance(block, TextContent) else sum(map(len, _payloads(block)))
    size = max(size, total)  # one usually repeats the other
    if size > checks.max_size:
        raise InvalidResult(f"The result has {size} bytes, over {checks.max_size} (ResultChecks(max_size=))")


def _payloads(block: Any) -> Iterator[str]:
    """Yield the long texts of a block."""
    if isinstance(block, dict):
        yield msgspec.json.encode(block).decode()
        return
    for holder in (block, getattr(block, "resource", None)):
        for name in ("text", "data", "blob", "description"):
            text = getattr(holder, name, None)
            if isinstance(text, str):
                yield text


def _texts(block: Any) -> Iterator[tuple[Any, str, str]]:
    """Yield holder, attribute and text of what people or models read in a block."""
    if isinstance(block, TextContent):
        yield block, "text", block.text
    elif isinstance(block, ResourceLink):
        for name in ("name", "title", "description"):
            text = getattr(block, name)
            if text:
                yield block, name, text
    elif isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
        yield block.resource, "text", block.resource.text


def _stripped(value: Any) -> Any:
    if isinstance(value, str):
        return without_hidden(value)
    if isinstance(value, list):
        return [_stripped(item) for item in value]
    if isinstance(value, dict):
        return {_stripped(name): _stripped(inner) for name, inner in value.items()}
    return value
