"""Results as a person reads them, and as JSON.

In: content blocks and contents of resources. Out: lines; files where a folder is given. Bytes are described, never put
on a terminal.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from ..types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from .saving import Folder
from .screen import Screen
from .terminal import line

_MAX_SHOWN = 256  # characters of base64 in JSON on a terminal


def octets(data: str) -> bytes | None:
    """Return what base64 stands for, None where it is none."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


class Shower:
    """Shows the content of one result.

    Args:
        screen: where to.
        folder: where files go, None to describe them only.
        name: of files that have none of their own.
    """

    def __init__(self, screen: Screen, folder: Folder | None, name: str) -> None:
        self._screen = screen
        self._folder = folder
        self._name = name

    def result(self, result: CallToolResult) -> None:
        """Print the result of a tool; a failure goes to standard error."""
        put = self._screen.complain if result.is_error else self._screen.data
        for block in result.content:
            put(self.block(block))
        if result.has_structured_content and not _is_told(result):
            put(msgspec.json.format(msgspec.json.encode(result.structured_content), indent=2).decode())

    def block(self, block: Any) -> str:
        """Return a content block as text."""
        if isinstance(block, TextContent):
            return block.text
        if isinstance(block, ImageContent | AudioContent):
            return self._bytes(block.type, "", block.mime_type, block.data)
        if isinstance(block, ResourceLink):
            return _link(block)
        if isinstance(block, EmbeddedResource):
            return self.contents(block.resource)
        return f"[{line(str(block.get('type')))}] {msgspec.json.encode(block).decode()}"

    def contents(self, contents: TextResourceContents | BlobResourceContents) -> str:
        """Return the contents of a resource as text, under a line that names them."""
        if isinstance(contents, BlobResourceContents):
            return self._bytes("resource", contents.uri, contents.mime_type, contents.blob)
        if self._folder is not None:
            return self._saved("resource", contents.uri, contents.mime_type or "text/plain", contents.text.encode())
        kind = f" {line(contents.mime_type)}" if contents.mime_type else ""
        return f"[resource {line(contents.uri)}{kind}]\n{contents.text}"

    def _bytes(self, noun: str, uri: str, mime_type: str | None, data: str) -> str:
        content = octets(data)
        named = f"{noun} {line(uri)}".rstrip() + (f" {line(mime_type)}" if mime_type else "")
        if content is None:
            return f"[{named}: no valid base64]"
        if self._folder is not None:
            return self._saved(noun, uri, mime_type or "application/octet-stream", content)
        return f"[{named}, {_size(len(content))}; --output FOLDER saves it]"

    def _saved(self, noun: str, uri: str, mime_type: str, content: bytes) -> str:
        assert self._folder is not None
        path = self._folder.save(content, uri or self._name, mime_type)
        named = f"{noun} {line(uri)}".rstrip()
        return f"[{named} {line(mime_type)}, {_size(len(content))}: {path}]"

    # --- JSON ---------------------------------------------------------------------------------------------------------

    def plain(self, value: Any) -> Any:
        """Return blocks or contents as plain JSON values.

        What is saved has `file` instead of its data; on a terminal, long base64 is left out.
        """
        plain = msgspec.to_builtins(value)
        self._lighten(plain)
        return plain

    def _lighten(self, value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                self._lighten(item)
        elif isinstance(value, dict):
            for member in ("data", "blob"):
                if isinstance(value.get(member), str) and ("mimeType" in value or "uri" in value):
                    self._lighten_data(value, member)
            for item in value.values():
                if isinstance(item, dict | list):
                    self._lighten(item)

    def _lighten_data(self, value: dict[str, Any], member: str) -> None:
        content = octets(value[member])
        if content is None:
            return
        if self._folder is not None:
            kind = str(value.get("mimeType", "application/octet-stream"))
            value["file"] = self._folder.save(content, str(value.get("uri") or self._name), kind)
            del value[member]
        elif self._screen.shows_data and len(value[member]) > _MAX_SHOWN:
            value[member] = f"({_size(len(content))}; not shown on a terminal)"


def _link(block: ResourceLink) -> str:
    known = [line(fact) for fact in (block.mime_type, None if block.size is None else _size(block.size)) if fact]
    facts = f" ({', '.join(known)})" if known else ""
    text = f"[link {line(block.uri)} {line(block.title or block.name)}{facts}]"
    return f"{text} {line(block.description)}" if block.description else text


def _size(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"


def _is_told(result: CallToolResult) -> bool:
    """Return whether the text says all that the structured content does."""
    structured = result.structured_content
    wanted = [structured]
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        wanted.append(structured["result"])
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    for text in ["\n".join(texts), *texts]:
        if text in wanted:
            return True
        try:
            if msgspec.json.decode(text) in wanted:
                return True
        except (msgspec.DecodeError, RecursionError):
            continue
    if isinstance(structured, dict) and isinstance(structured.get("result"), list) and len(structured) == 1:
        return bool([_read(text) for text in texts] == structured["result"])  # a block for each item
    return not result.content and structured == {"result": None}


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
