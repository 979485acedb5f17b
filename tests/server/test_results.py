"""Results beyond plain values: media, raw JSON, limits, sanitizing, mapping of types, errors with content."""

from __future__ import annotations

import asyncio
import base64
import datetime
import decimal
import enum
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import Audio, File, Image, MCPServer, Model, RawJSON, ToolError
from leanmcp.server.fault_log import FaultLog
from leanmcp.types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from tests.support.spec import request


def returned(value: Any, annotation: Any = None, **options: Any) -> dict[str, Any]:
    """Return the result of a tool that returns `value`."""
    mcp = MCPServer("results")

    async def tool() -> Any:
        if isinstance(value, BaseException):
            raise value
        return value() if isinstance(value, Callable) else value  # type: ignore[arg-type]

    if annotation is not None:
        tool.__annotations__["return"] = annotation
    else:
        del tool.__annotations__["return"]
    mcp.add_tool(tool, **options)
    answer: dict[str, Any] = asyncio.run(request(mcp, "tools/call", {"name": "tool"}))["result"]
    return answer


def texts(answer: dict[str, Any]) -> list[str]:
    """Return the texts of a result's blocks."""
    return [block["text"] for block in answer["content"]]


# --- media --------------------------------------------------------------------------------------------------------

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def test_image_and_audio_travel_as_base64_blocks(tmp_path: Path) -> None:
    """Spec: server/tools, "Image Content" and "Audio Content"."""
    file = tmp_path / "picture.jpeg"
    file.write_bytes(PNG)
    hints = Annotations(audience=["user"], priority=0.9, last_modified="2025-05-03T14:30:00Z")
    answer = returned([Image(data=PNG), Image(file, annotations=hints), Audio(data=b"RIFF"), "caption"])
    data = base64.b64encode(PNG).decode()
    assert answer["content"] == [
        {"type": "image", "data": data, "mimeType": "image/png"},
        {
            "type": "image",
            "data": data,
            "mimeType": "image/jpeg",
            "annotations": {"audience": ["user"], "priority": 0.9, "lastModified": "2025-05-03T14:30:00Z"},
        },
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "text", "text": "caption"},
    ]
    assert "structuredContent" not in answer


def test_base64_of_media_passes_through_no_json_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: made once, spliced between its quotes."""
    segments = Image(data=PNG * 100).segments()
    assert segments[1] == base64.b64encode(PNG * 100)
    assert len(segments) == 3


def test_file_travels_as_text_or_blob(tmp_path: Path) -> None:
    """Spec: server/tools, "Embedded Resources"."""
    text, binary = tmp_path / "a.json", tmp_path / "b.bin"
    text.write_text('{"é":1}')
    binary.write_bytes(b"\x00\xff")
    resources = [
        block["resource"] for block in returned([File(text), File(binary), File(data="hi", name="n.txt")])["content"]
    ]
    assert resources[0] == {"uri": text.as_uri(), "mimeType": "application/json", "text": '{"é":1}'}
    assert resources[1]["blob"] == "AP8="
    assert resources[2] == {"uri": "file:///n.txt", "mimeType": "text/plain", "text": "hi"}


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (Image, "exactly one"),
        (lambda: Image("a.png", b""), "exactly one"),
        (lambda: Image("a.unknown"), "format="),
        (lambda: Image("a.wav"), "format="),
        (lambda: File(data=b"x"), "uri="),
        (lambda: RawJSON(b"{"), "not JSON"),
        (lambda: RawJSON(b"NaN"), "not JSON"),
        (lambda: RawJSON(b'"\xff"'), "not JSON"),
    ],
)
def test_media_that_cannot_be_are_refused_when_made(make: Callable[[], object], text: str) -> None:
    """Ours: the mistake is told where it is made."""
    with pytest.raises(ValueError, match=text):
        make()


def test_file_that_cannot_be_read_is_a_masked_error(tmp_path: Path) -> None:
    """Ours: policy P3; paths do not leave the server."""
    answer = returned(lambda: Image(tmp_path / "missing.png"))
    assert answer["isError"] is True
    assert str(tmp_path) not in texts(answer)[0]


def test_all_block_types_travel_with_their_hints() -> None:
    """Spec: server/tools, "Tool Result"."""
    blocks = [
        TextContent(text="a", annotations=Annotations(priority=1)),
        ResourceLink(uri="file:///x", name="x", mime_type="text/x-rust", meta={"a/b": 1}),
        EmbeddedResource(resource=TextResourceContents(uri="file:///y", text="y", mime_type="text/plain")),
    ]
    assert returned(blocks)["content"] == [
        {"type": "text", "text": "a", "annotations": {"priority": 1}},
        {"type": "resource_link", "uri": "file:///x", "name": "x", "mimeType": "text/x-rust", "_meta": {"a/b": 1}},
        {"type": "resource", "resource": {"uri": "file:///y", "text": "y", "mimeType": "text/plain"}},
    ]


def test_block_with_a_lone_surrogate_is_an_error() -> None:
    """Ours: policy P4."""
    assert returned(TextContent(text="\ud800"))["isError"] is True


NO_BASE64: list[Any] = ["no base64!", "AAE", "AA=A", "AAAA=", "A===", "_-_-", "AAAA\n", "é", "=AAA", 5, None]


@pytest.mark.parametrize("data", NO_BASE64)
def test_what_is_no_base64_does_not_leave(data: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Spec: schema, ImageContent, AudioContent, BlobResourceContents: `format: byte`."""
    blocks: list[ContentBlock] = [
        ImageContent(data=data, mime_type="image/png"),
        AudioContent(data=data, mime_type="audio/wav"),
        EmbeddedResource(resource=BlobResourceContents(uri="data://x", blob=data)),
    ]
    for block in blocks:
        for value in (block, ["before", block], CallToolResult(content=[block])):
            answer = returned(value)
            assert answer["isError"] is True
            assert "is no base64" in texts(answer)[0]
    assert "is no base64" in caplog.text


@pytest.mark.parametrize("data", ["", "AA==", "AAE=", "AAEC", "+/+/"])
def test_base64_leaves_as_it_was_given(data: str) -> None:
    """Spec: schema, ImageContent."""
    [block] = returned(ImageContent(data=data, mime_type="image/png"))["content"]
    assert block == {"type": "image", "data": data, "mimeType": "image/png"}


@pytest.mark.parametrize(
    "annotation", [Image, list[Image], Image | str, list[str | Image], CallToolResult | str, TextContent]
)
def test_return_types_with_blocks_have_no_output_schema(annotation: Any) -> None:
    """Ours: blocks are content, not structured content."""
    mcp = MCPServer("x")

    async def tool() -> Any:
        return "x"

    tool.__annotations__["return"] = annotation
    mcp.add_tool(tool)
    assert next(iter(mcp.tools)).entry.output_schema is None


# --- raw JSON -----------------------------------------------------------------------------------------------------


def test_raw_json_is_spliced_as_it_is() -> None:
    """Ours: not decoded, not encoded again; numbers keep their spelling."""
    answer = asyncio.run(_raw_bytes(RawJSON(b'{"n":1.50,"big":123456789012345678901234567890}')))
    assert b'"structuredContent":{"n":1.50,"big":123456789012345678901234567890}' in answer
    assert returned(RawJSON('[1, "a"]'), list[Any])["structuredContent"] == {"result": [1, "a"]}
    assert returned({"inner": RawJSON("[1]")}, dict[str, Any])["structuredContent"] == {"inner": [1]}
    assert returned({"a": RawJSON("null"), "b": None}, dict[str, Any])["structuredContent"] == {"a": None, "b": None}


def test_raw_json_of_several_lines_stays_one_message() -> None:
    """Spec: basic/transports/stdio: a message holds no newline."""
    answer = asyncio.run(_raw_bytes(RawJSON('{\n  "a": "x\\ny"\r\n}')))
    assert b"\n" not in answer
    assert b"\r" not in answer
    assert b'"structuredContent":{"a":"x\\ny"}' in answer


def test_raw_json_is_checked_against_the_output_schema() -> None:
    """Spec: server/tools, "Output Schema"."""
    assert returned(RawJSON("[1]"), list[int])["structuredContent"] == {"result": [1]}
    assert returned(RawJSON('["x"]'), list[int])["isError"] is True


async def _raw_bytes(value: RawJSON) -> bytes:
    from leanmcp.server.line_endpoint import LineEndpoint
    from tests.support.processes import call, encode

    mcp, sent = MCPServer("x"), []

    async def tool() -> dict[str, Any]:
        return value  # type: ignore[return-value]

    mcp.add_tool(tool)
    endpoint = LineEndpoint(mcp, lambda segments: sent.append(b"".join(segments)))
    endpoint.receive(encode(call("tool")))
    await asyncio.wait(endpoint.calls.values())
    return sent[0]


# --- mapping ------------------------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"


class Level(enum.StrEnum):
    HIGH = "high"


class Pair(NamedTuple):
    a: int
    b: str


@attrs.define
class Attrs:
    x: int


@dataclass
class Data:
    when: datetime.date


class Aliased(Model):
    user_id: int = msgspec.field(name="userId")


@pytest.mark.parametrize(
    ("annotation", "value", "json"),
    [
        (decimal.Decimal, decimal.Decimal("1.10"), "1.10"),
        (datetime.date, datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime, datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC), "2026-01-02T03:04:05Z"),
        (datetime.time, datetime.time(3, 4), "03:04:00"),
        (datetime.timedelta, datetime.timedelta(seconds=90), "PT90S"),
        (uuid.UUID, uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (bytes, b"\x00\xff", "AP8="),
        (Path, Path("/a/b"), "/a/b"),
        (set[int], {1}, [1]),
        (tuple[int, str], (1, "a"), [1, "a"]),
        (Pair, Pair(1, "a"), [1, "a"]),
        (Colour, Colour.RED, "red"),
        (Level, Level.HIGH, "high"),
        (dict[int, str], {1: "a"}, {"1": "a"}),
        (Attrs, Attrs(1), {"x": 1}),
        (Data, Data(datetime.date(2026, 1, 2)), {"when": "2026-01-02"}),
        (Aliased, Aliased(user_id=1), {"userId": 1}),
        (int, 2**70, 2**70),
    ],
)
def test_python_values_have_one_documented_form(annotation: Any, value: Any, json: Any) -> None:
    """Ours: FIELD rows 110 and 113; schema and data use the same names."""
    mcp = MCPServer("x")

    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    mcp.add_tool(tool)
    schema = next(iter(mcp.tools)).entry.output_schema
    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool"}))["result"]
    assert answer["isError"] is False, answer
    structured = answer["structuredContent"]
    assert structured == (json if isinstance(json, dict) else {"result": json})
    assert schema is not None
    Draft202012Validator(msgspec.to_builtins(schema)).validate(structured)
    expected = json if isinstance(value, str) else msgspec.json.encode(json).decode()
    assert texts(answer) == [expected]


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [object()]}, "at a[0]"),
        ([{"deep": {"er": lambda: 1}}], "at [0].deep.er"),
        ({"k": {1: {2, 3}, "x": complex(1)}}, "at k.x"),
        ({b"bytes": 1, ("t",): 2}, "JSON form"),
        (range(3), "its root"),
    ],
)
def test_unknown_type_is_an_error_that_names_path_and_type(value: Any, where: str) -> None:
    """Ours: FIELD row 113."""
    answer = returned(value if not callable(value) else (lambda: value), None)
    assert answer["isError"] is True
    assert where in texts(answer)[0]


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.dates()
    | st.uuids()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=10,
)


@given(_VALUES, st.booleans())
@settings(deadline=None, max_examples=150)
def test_any_value_gives_valid_json_or_an_error(value: Any, structured: bool) -> None:
    """Ours: property; only valid JSON leaves, and text and structured content say the same."""
    answer = returned(value, dict[str, Any] if structured and isinstance(value, dict) else None)
    if answer["isError"]:
        assert texts(answer)[0]
    elif "structuredContent" in answer:
        assert msgspec.json.decode(texts(answer)[0]) == answer["structuredContent"]


# --- limits and hooks ---------------------------------------------------------------------------------------------


def test_result_over_max_result_is_an_error() -> None:
    """Ours: FIELD row 114."""
    assert returned("x" * 100, str, max_result=1000)["isError"] is False
    answer = returned("x" * 1000, str, max_result=1000)
    assert answer["isError"] is True
    assert "over the 1000 allowed" in texts(answer)[0]
    assert returned([Image(data=b"x" * 2000)], max_result=1000)["isError"] is True


def test_sanitizers_of_tool_and_server_see_values_and_error_texts() -> None:
    """Spec: server/tools, "Security Considerations" 1: servers MUST sanitize tool outputs."""
    mcp = MCPServer("x", sanitize=lambda value: value.replace("secret", "***"))

    @mcp.tool(sanitize=str.lower)
    async def tell(fail: bool) -> str:
        if fail:
            raise ToolError("The SECRET failed")
        return "The SECRET"

    for fail, expected in ((False, "the ***"), (True, "the *** failed")):
        answer = asyncio.run(request(mcp, "tools/call", {"name": "tell", "arguments": {"fail": fail}}))["result"]
        assert texts(answer) == [expected]


def test_failing_sanitizer_lets_nothing_out(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: safe by default."""

    def broken(value: Any) -> Any:
        raise RuntimeError("broken")

    assert "secret" not in texts(returned("secret", str, sanitize=broken))[0]
    assert "secret" not in texts(returned(ToolError("secret"), str, sanitize=broken))[0]


# --- errors -------------------------------------------------------------------------------------------------------


def test_tool_error_carries_blocks_of_its_own() -> None:
    """Ours: FIELD row 115."""
    answer = returned(ToolError(content=["what", TextContent(text="why"), Image(data=b"x")]))
    assert answer["isError"] is True
    assert [block["type"] for block in answer["content"]] == ["text", "text", "image"]


def test_error_without_text_still_says_something() -> None:
    """Ours: an empty error text helps nobody."""
    assert texts(returned(ToolError())) == ["Tool 'tool' failed"]


def test_error_whose_block_cannot_be_sent_is_masked() -> None:
    """Ours: the call is answered in any case."""
    assert "failed unexpectedly" in texts(returned(ToolError(content=[TextContent(text="\ud800")])))[0]


def test_error_result_has_no_structured_content() -> None:
    """Ours: FIELD row 109; it is not checked against the output schema either."""
    mcp = MCPServer("x")

    async def tool() -> CallToolResult:
        return CallToolResult(content=[TextContent(text="no")], structured_content={"a": 1}, is_error=True)

    mcp.add_tool(tool)
    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool"}))["result"]
    assert (answer["isError"], texts(answer)) == (True, ["no"])
    assert "structuredContent" not in answer


def test_storm_of_faults_is_logged_once_a_second(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: RELIABILITY, weakness 1 and 9: a failing tool must not fill the log; each answer names a logged id."""
    log = FaultLog()
    with caplog.at_level(logging.WARNING, "leanmcp"):
        ids = {log.report("t", RuntimeError("x"), now=100 + number / 3000) for number in range(2000)}
        assert len(caplog.records) == 1
        second = log.report("t", RuntimeError("x"), now=101.5)
        assert log.report("t", ValueError("x"), now=101.5) not in {second, *ids}
        log.warn("t", TypeError("x"), now=101.5)
        log.warn("t", TypeError("x"), now=101.6)
    assert len(ids) == 1
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR", "ERROR", "WARNING"]
    assert "1999 more like the last one" in caplog.records[1].getMessage()


def test_kinds_of_faults_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: nothing grows with what callers do."""
    monkeypatch.setattr("leanmcp.server.fault_log._MAX_KINDS", 10)
    log = FaultLog()
    for number in range(100):
        log.warn(str(number), RuntimeError(), now=1.0)
    assert len(log._seen) <= 10
