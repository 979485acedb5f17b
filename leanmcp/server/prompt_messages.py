"""Results of prompts: messages, encoded once and spliced.

In: what a prompt returned. Out: the segments of one JSON-RPC response.
Spec 2026-07-28: server/prompts, "Getting a Prompt" and "PromptMessage".

What a prompt may return: a text, a content block or an Image, Audio or File, which are one message of the user; a
message: `UserMessage`, `AssistantMessage`, `Message`, `PromptMessage`, or `{"role": ..., "content": ...}`; a list or
tuple of these, empty too; a `GetPromptResult`, which says everything itself.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..limits import NamedMeta
from ..protocol.jsonrpc import RESPONSE_START, RequestId, Segments, encode_id
from ..types import ContentBlock, GetPromptResult, PromptMessage
from .content import Audio, File, Image
from .encoding import ResultError, encode_block, encode_json, own_members, server_member
from .results import BLOCKS, MEDIA

__all__ = ["AssistantMessage", "Message", "MessageEncoder", "UserMessage"]

_RESULT = b',"result":{"resultType":"complete",'
_START = {role: b'{"role":"%s","content":' % role.encode() for role in ("user", "assistant")}
_CONTENT = "a text, a content block, or an Image, Audio or File"
Content = str | ContentBlock | Image | Audio | File


class Message(msgspec.Struct, metaclass=NamedMeta):
    """One message of a prompt.

    Args:
        content: a text, a content block, or an Image, Audio or File.
        role: who says it.

    Raises:
        TypeError, ValueError: the content or the role is none.
    """

    content: Content
    role: Literal["user", "assistant"] = "user"

    def __post_init__(self) -> None:
        if not isinstance(self.content, (str, *BLOCKS, *MEDIA)):
            raise TypeError(f"{type(self).__name__} takes {_CONTENT}, not {type(self.content).__name__}")
        if self.role not in _START:
            raise ValueError(f"role={self.role!r}: give 'user' or 'assistant'")


class UserMessage(Message):
    """What the user says."""


class AssistantMessage(Message):
    """What the model says."""

    role: Literal["user", "assistant"] = "assistant"


class MessageEncoder:
    """Encodes the results of one prompt; every constant is joined at registration.

    Args:
        server_info: the JSON of `serverInfo`, carried in each result's `_meta`.
        description: the prompt's, sent with its messages.
    """

    __slots__ = ("_server", "_start")

    def __init__(self, server_info: bytes, description: str | None) -> None:
        self._start = _start(description)
        self._server = server_member(server_info) + b"}}}"

    def encode(self, value: object, request_id: RequestId) -> Segments:
        """Return the response that carries `value`.

        Raises:
            ResultError: it is no message, or has no JSON form.
        """
        start, own = self._start, b""
        if isinstance(value, GetPromptResult):
            if value.description is not None:
                start = _start(value.description)
            own = own_members(value.meta)
            value = list(value.messages)
        segments = [RESPONSE_START, encode_id(request_id), start]
        for number, item in enumerate(value if isinstance(value, list | tuple) else [value]):
            if number:
                segments.append(b",")
            segments += _message(item)
        segments += [b'],"_meta":{', own, self._server]
        return segments


def _start(description: str | None) -> bytes:
    text = b"" if description is None else b'"description":' + encode_json(description) + b","
    return _RESULT + text + b'"messages":['


def _message(item: object) -> Segments:
    """Return one message as JSON."""
    role: Any = "user"
    content: Any = item
    if isinstance(item, Message | PromptMessage):
        role, content = item.role, item.content
    elif isinstance(item, dict):
        role, content = _members(item)
    if role not in _START:
        raise ResultError(f"A message has the role {role!r}; give 'user' or 'assistant'")
    return [_START[role], *_block(content), b"}"]


def _members(item: dict[Any, Any]) -> tuple[Any, Any]:
    """Return role and content of a message that is a dict, its content block made where that is a dict too."""
    if set(item) != {"role", "content"}:
        raise ResultError(f"A message has the members 'role' and 'content', not {', '.join(map(repr, item))}")
    content = item["content"]
    if isinstance(content, dict):
        try:
            content = msgspec.convert(content, ContentBlock)
        except (msgspec.ValidationError, TypeError, ValueError) as fault:
            raise ResultError(f"The content of a message is no content block: {fault}") from None
    return item["role"], content


def _block(content: Any) -> Segments:
    """Return one content block as JSON."""
    if isinstance(content, MEDIA):
        return content.segments()
    if isinstance(content, BLOCKS):
        return [encode_block(content)]
    if isinstance(content, str):
        return [b'{"type":"text","text":', encode_json(str.__str__(content)), b"}"]
    kind = type(content).__name__
    if isinstance(content, list | tuple):
        raise ResultError("A message has one content block, not a list; return a message for each")
    forgotten = "; did you forget `return`?" if content is None else ""
    raise ResultError(f"A prompt returns messages, or {_CONTENT}, not {kind}{forgotten}")
