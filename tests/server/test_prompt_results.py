"""Results of prompts: what a function may return, and the messages that it becomes."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from leanmcp import AssistantMessage, Audio, File, Image, MCPServer, UserMessage
from leanmcp.server import Message
from leanmcp.types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    PromptMessage,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from tests.support.prompting import get, refusal

DATA = bytes(range(256))
BASE64 = base64.b64encode(DATA).decode()
NOTE = EmbeddedResource(resource=TextResourceContents(uri="note://1", mime_type="text/plain", text="A note."))


def result_of(value: Any) -> dict[str, Any]:
    """Return the result of a prompt that returns `value`."""
    mcp = MCPServer("x", version="1")
    mcp.add_prompt(lambda: value, "p")
    answer = get(mcp, "p")
    assert "result" in answer, answer
    result: dict[str, Any] = answer["result"]
    return result


def text(words: str, role: str = "user") -> dict[str, Any]:
    """Return a message with a text."""
    return {"role": role, "content": {"type": "text", "text": words}}


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("Hi.", [text("Hi.")]),
        ("", [text("")]),
        ('line\nbreak "quoted" \u2028', [text('line\nbreak "quoted" \u2028')]),
        (UserMessage("Hi."), [text("Hi.")]),
        (AssistantMessage("Hi."), [text("Hi.", "assistant")]),
        (Message("Hi.", role="assistant"), [text("Hi.", "assistant")]),
        (PromptMessage(role="assistant", content=TextContent(text="Hi.")), [text("Hi.", "assistant")]),
        ({"role": "user", "content": "Hi."}, [text("Hi.")]),
        ({"role": "assistant", "content": {"type": "text", "text": "Hi."}}, [text("Hi.", "assistant")]),
        (
            ["a", AssistantMessage("b"), {"role": "user", "content": "c"}],
            [text("a"), text("b", "assistant"), text("c")],
        ),
        (("a", "b"), [text("a"), text("b")]),
        ([], []),
        (TextContent(text="Hi."), [text("Hi.")]),
        (GetPromptResult(messages=[]), []),
    ],
)
def test_whatever_says_a_message_is_one(value: Any, messages: list[dict[str, Any]]) -> None:
    """Spec: server/prompts, "PromptMessage"; an empty list is what its author said."""
    assert result_of(value)["messages"] == messages


@pytest.mark.parametrize(
    ("content", "block"),
    [
        (
            TextContent(text="x", annotations=Annotations(audience=["user"], priority=1)),
            {"type": "text", "text": "x", "annotations": {"audience": ["user"], "priority": 1}},
        ),
        (ImageContent(data=BASE64, mime_type="image/png"), {"type": "image", "data": BASE64, "mimeType": "image/png"}),
        (Image(data=DATA), {"type": "image", "data": BASE64, "mimeType": "image/png"}),
        (AudioContent(data=BASE64, mime_type="audio/wav"), {"type": "audio", "data": BASE64, "mimeType": "audio/wav"}),
        (Audio(data=DATA, format="mp3"), {"type": "audio", "data": BASE64, "mimeType": "audio/mp3"}),
        (
            File(data="text", uri="note://1", mime_type="text/plain"),
            {"type": "resource", "resource": {"uri": "note://1", "mimeType": "text/plain", "text": "text"}},
        ),
        (NOTE, {"type": "resource", "resource": {"uri": "note://1", "mimeType": "text/plain", "text": "A note."}}),
        (ResourceLink(uri="note://1", name="n"), {"type": "resource_link", "uri": "note://1", "name": "n"}),
    ],
)
def test_content_of_every_kind_travels(content: Any, block: dict[str, Any]) -> None:
    """Spec: server/prompts, "PromptMessage": text, image, audio, resource link, embedded resource."""
    assert result_of(content)["messages"] == [{"role": "user", "content": block}]
    assert result_of([AssistantMessage(content)])["messages"] == [{"role": "assistant", "content": block}]
    assert result_of({"role": "user", "content": content})["messages"] == [{"role": "user", "content": block}]


def test_content_written_as_dicts_is_checked() -> None:
    """Ours: a dict of the wire's shape is as good as the block."""
    resource = {"type": "resource", "resource": {"uri": "note://1", "text": "A note."}}
    assert result_of({"role": "user", "content": resource})["messages"] == [{"role": "user", "content": resource}]


def test_a_whole_result_says_everything_itself() -> None:
    """Spec: server/prompts, "Getting a Prompt"; serverInfo stays in `_meta`."""
    result = result_of(
        GetPromptResult(
            description="Today's",
            messages=[PromptMessage(role="user", content=TextContent(text="Hi."))],
            meta={"com.example/x": 1},
        )
    )
    assert result == {
        "resultType": "complete",
        "description": "Today's",
        "messages": [text("Hi.")],
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "x", "version": "1"}, "com.example/x": 1},
    }


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (
            None,
            "Prompt 'p': a prompt returns messages, or a text, a content block, or an Image, Audio or File, "
            "not NoneType; did you forget `return`?",
        ),
        (5, "not int"),
        ([["a"]], "Prompt 'p': a message has one content block, not a list; return a message for each"),
        ({"role": "user", "content": ["a"]}, "Prompt 'p': a message has one content block"),
        ({"role": "system", "content": "x"}, "Prompt 'p': a message has the role 'system'; give 'user' or 'assistant'"),
        ({"rows": 5}, "Prompt 'p': a message has the members 'role' and 'content', not 'rows'"),
        ({"role": "user", "content": {"type": "video"}}, "Prompt 'p': the content of a message is no content block"),
        ("\ud800", "lone surrogate"),
        (UserMessage(TextContent(text="\ud800")), "lone surrogate"),
        (GetPromptResult(messages=[], meta={"x": float("nan")}), "nan is no JSON number"),
        (ImageContent(data="no base64!", mime_type="image/png"), "data of ImageContent is no base64"),
        (UserMessage(AudioContent(data="AAE", mime_type="audio/wav")), "data of AudioContent is no base64"),
        ([EmbeddedResource(resource=BlobResourceContents(uri="a://b", blob="_-_-"))], "blob of 'a://b' is no base64"),
    ],
)
def test_what_is_no_message_is_a_fault_of_the_author(value: Any, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    """Spec: server/prompts, "Error Handling", -32603; the log names the prompt."""
    mcp = MCPServer("x")
    mcp.add_prompt(lambda: value, "p")
    assert fault in refusal(get(mcp, "p"), -32603)
    assert caplog.records[0].getMessage().startswith("prompt p: ")


def test_a_message_refuses_what_it_cannot_hold() -> None:
    """Ours: at the line that made it."""
    content: Any = 5
    with pytest.raises(
        TypeError, match="UserMessage takes a text, a content block, or an Image, Audio or File, not int"
    ):
        UserMessage(content)
    role: Any = "system"
    with pytest.raises(ValueError, match="role='system': give 'user' or 'assistant'"):
        Message("x", role=role)
