"""What resource functions may return, as the contents of resources/read."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from leanmcp import Audio, Context, File, Image, MCPServer, Model, RawJSON
from leanmcp.elicit import Accepted
from leanmcp.server import CacheHint
from leanmcp.types import BlobResourceContents, InputRequiredResult, ReadResourceResult, TextResourceContents
from tests.support.lines import Lines, run
from tests.support.processes import request as rpc
from tests.support.spec import request

URI = "data://x"


def answer(value: Any, **options: Any) -> dict[str, Any]:
    """Return the checked response to reading a resource that gives `value`."""
    mcp = MCPServer("x")

    @mcp.resource(URI, **options)
    async def give() -> Any:
        return value

    return asyncio.run(request(mcp, "resources/read", {"uri": URI}))


def contents(value: Any, **options: Any) -> list[dict[str, Any]]:
    """Return the contents."""
    found: list[dict[str, Any]] = answer(value, **options)["result"]["contents"]
    return found


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Book:
    title: str
    year: int


class Shelf(msgspec.Struct):
    books: list[Book]


class Colour(Model):
    colour: str


@pytest.mark.parametrize(
    ("value", "mime_type", "expected"),
    [
        ("hello", "text/plain", "hello"),
        ("", "text/plain", ""),
        ('"\n\u2028é\U0001f600', "text/plain", '"\n\u2028é\U0001f600'),
        ({"a": 1}, "application/json", '{"a":1}'),
        ([], "application/json", "[]"),
        (["a", "b"], "application/json", '["a","b"]'),
        (5, "application/json", "5"),
        (False, "application/json", "false"),
        (Point(1, 2), "application/json", "[1,2]"),
        (Book("Dune", 1965), "application/json", '{"title":"Dune","year":1965}'),
        (Shelf([Book("Dune", 1965)]), "application/json", '{"books":[{"title":"Dune","year":1965}]}'),
        (RawJSON(b'{"a": 1}'), "application/json", '{"a": 1}'),
    ],
)
def test_values_become_text(value: Any, mime_type: str, expected: str) -> None:
    """Spec: server/resources, "Text Content"; the URI is the one that was asked for."""
    assert contents(value) == [{"uri": URI, "mimeType": mime_type, "text": expected}]
    assert contents(value, mime_type="text/x-own") == [{"uri": URI, "mimeType": "text/x-own", "text": expected}]


@pytest.mark.parametrize("value", [b"", b"\x00\xff", bytes(range(256)), bytearray(b"abc"), memoryview(b"abcd")])
def test_bytes_become_a_blob(value: Any) -> None:
    """Spec: server/resources, "Binary Content": valid base64 of exactly these bytes."""
    [found] = contents(value)
    assert found == {"uri": URI, "mimeType": "application/octet-stream", "blob": found["blob"]}
    assert base64.b64decode(found["blob"], validate=True) == bytes(value)
    assert contents(value, mime_type="image/png")[0]["mimeType"] == "image/png"


def test_media_and_files_keep_their_types(tmp_path: Path) -> None:
    """Ours: what they were given comes before what the resource declares."""
    (tmp_path / "a.md").write_text("# é")
    (tmp_path / "a.bin").write_bytes(b"\xff")
    png = {"uri": URI, "mimeType": "image/png", "blob": "iVBORw=="}
    assert contents(Image(data=b"\x89PNG"), mime_type="text/plain") == [png]
    assert contents(Audio(data=b"\x00")) == [{"uri": URI, "mimeType": "audio/wav", "blob": "AA=="}]
    assert contents(File(tmp_path / "a.md")) == [{"uri": URI, "mimeType": "text/markdown", "text": "# é"}]
    assert contents(tmp_path / "a.md") == [{"uri": URI, "mimeType": "text/markdown", "text": "# é"}]
    [unknown] = contents(tmp_path / "a.bin")
    assert unknown == {"uri": URI, "mimeType": "application/octet-stream", "blob": "/w=="}
    own = File(data="x", uri="data://own", mime_type="text/plain", meta={"a/b": 1})
    assert contents(own) == [{"uri": "data://own", "mimeType": "text/plain", "_meta": {"a/b": 1}, "text": "x"}]
    assert contents(File(data=b"{}", name="x"), mime_type="application/json")[0]["text"] == "{}"


def test_a_list_may_give_several_contents() -> None:
    """Spec: server/resources, "Reading Resources": several contents in one answer."""
    text = TextResourceContents(uri="data://y", text="t", mime_type="text/x", meta={"a/b": 1})
    blob = BlobResourceContents(uri="data://z", blob="AAE=")
    assert contents([text, blob, "plain", b"\x00", {"a": 1}]) == [
        {"uri": "data://y", "text": "t", "mimeType": "text/x", "_meta": {"a/b": 1}},
        {"uri": "data://z", "blob": "AAE="},
        {"uri": URI, "mimeType": "text/plain", "text": "plain"},
        {"uri": URI, "mimeType": "application/octet-stream", "blob": "AA=="},
        {"uri": URI, "mimeType": "application/json", "text": '{"a":1}'},
    ]


def test_a_whole_result_says_more() -> None:
    """Spec: schema page, `ReadResourceResult`; its `_meta` stands beside `serverInfo`."""
    one = TextResourceContents(uri=URI, text="t")
    whole = ReadResourceResult(contents=[one], ttl_ms=9, cache_scope="public", meta={"a/b": 1})
    result = answer(whole)["result"]
    assert result["contents"] == [{"uri": URI, "text": "t"}]
    assert (result["ttlMs"], result["cacheScope"]) == (9, "public")
    assert result["_meta"] == {"a/b": 1, "io.modelcontextprotocol/serverInfo": {"name": "x", "version": ""}}
    assert ReadResourceResult(contents=[{"uri": URI, "text": "t"}]) == ReadResourceResult(contents=[one])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (None, "Resource 'data://x': the resource returned None; return its contents, or raise ResourceNotFoundError"),
        (ReadResourceResult(contents=[]), "at least one element of contents"),
        (BlobResourceContents(uri="data://z", blob="no base64!"), "is no base64"),
        (BlobResourceContents(uri="data://z", blob="AAE"), "is no base64"),
        (BlobResourceContents(uri="data://z", blob="é"), "is no base64"),
        (BlobResourceContents(uri="data://z", blob="AAAA="), "is no base64"),
        (BlobResourceContents(uri="data://z", blob="_-_-"), "is no base64"),
        (BlobResourceContents(uri="data://z", blob="AAAA\n"), "is no base64"),
        ("\ud800", "lone surrogate"),
        ({"a": float("nan")}, "Resource 'data://x': the result has no JSON form at a: nan is no JSON number"),
        (object(), "Resource 'data://x': the result has no JSON form"),
        ({"a": msgspec.Raw(b"{")}, "Resource 'data://x': the result has no JSON form at a: this msgspec.Raw is no JS"),
        (TextResourceContents(uri=URI, text="t", meta={"m": msgspec.Raw(b"[")}), "at _meta.m: this msgspec.Raw is no"),
        (Image(data=b"x", meta={"m": msgspec.Raw(b"[")}), "at _meta.m: this msgspec.Raw is no JSON"),
    ],
)
def test_what_cannot_be_sent_is_an_error_for_its_author(
    value: Any, part: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Spec: server/resources, "Security Considerations" 3 and "Error Handling": never empty, never invalid base64."""
    error = answer(value)["error"]
    assert error["code"] == -32603
    assert part in error["message"]
    assert error["data"] == {"uri": URI}
    assert f"resource {URI}" in caplog.text


@pytest.mark.parametrize(
    "value", ["12345", b"12345", {"a": 1}, BlobResourceContents(uri=URI, blob="AAECAwQ="), File(data="12345", name="a")]
)
def test_max_size_limits_what_is_sent(value: Any) -> None:
    """Ours: RELIABILITY; bytes before they are encoded."""
    error = answer(value, max_size=4)["error"]
    assert error["code"] == -32603
    assert "over the 4 allowed" in error["message"]
    assert "contents" in answer(value, max_size=20)["result"]


def test_a_path_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    """Spec: server/resources, "Error Handling"."""
    assert answer(tmp_path / "none")["error"]["code"] == -32602
    assert answer(tmp_path)["error"]["code"] == -32602
    assert str(tmp_path) not in answer(tmp_path / "none")["error"]["message"]


def test_a_question_is_no_contents() -> None:
    """Spec: server/resources, "Reading Resources"; server/utilities/caching: input_required has no hints."""
    form = {"message": "Which?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
    asked = InputRequiredResult(input_requests={"q": {"method": "elicitation/create", "params": form}})
    message = answer(asked)
    # This client declared nothing, so that it must not be asked.
    assert message["error"]["code"] == -32021


def test_a_template_asks_and_its_state_fits_no_other_uri() -> None:
    """Spec: server/resources, "Reading Resources"; basic/patterns/mrtr; server/utilities/caching, "Cache Key"."""
    mcp = MCPServer("x", cache_hints={"resources/read": CacheHint(1000, "public")})

    @mcp.resource("data://{a}")
    async def fetch(a: str, ctx: Context[Any]) -> str:
        answer = await ctx.elicit("Which colour?", Colour)
        return f"{a} {answer.data.colour}" if isinstance(answer, Accepted) else a

    def reading(uri: str, request_id: int, **retry: Any) -> dict[str, Any]:
        message = rpc("resources/read", {"uri": uri, **retry}, request_id)
        capable = {**message["params"]["_meta"], "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
        return {**message, "params": {**message["params"], "_meta": capable}}

    async def conversation(lines: Lines) -> None:
        asked = (await lines.send(reading("data://x", 1)).answer(1))["result"]
        assert asked["resultType"] == "input_required"
        assert not asked.keys() & {"ttlMs", "cacheScope", "contents"}
        [key] = asked["inputRequests"]
        answers = {key: {"action": "accept", "content": {"colour": "red"}}}
        retry = {"inputResponses": answers, "requestState": asked["requestState"]}
        result = (await lines.send(reading("data://x", 2, **retry)).answer(2))["result"]
        assert result["contents"] == [{"uri": "data://x", "mimeType": "text/plain", "text": "x red"}]
        assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
        error = (await lines.send(reading("data://y", 3, **retry)).answer(3))["error"]
        assert error["code"] == -32602

    run(mcp, conversation)
