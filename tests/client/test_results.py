"""What the client makes of responses: results, errors, and what is neither."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from leanmcp import MCPError, ToolError
from leanmcp.errors import (
    HeaderMismatch,
    InternalError,
    InvalidParams,
    InvalidResult,
    MethodNotFound,
    MissingRequiredClientCapability,
    UnknownResource,
)
from leanmcp.types import CallToolResult, EmbeddedResource, TextContent, TextResourceContents
from tests.support.scripted import DONE, Failure, Scripted, only


def run(answer: Any, use: Callable[[Any], Any], **options: Any) -> Any:
    """Return what `use` makes of a client of a scripted server."""

    async def main() -> Any:
        async with asyncio.timeout(10), Scripted(answer).client(**options) as client:
            return await use(client)

    return asyncio.run(main())


def call(result: Any, **options: Any) -> Any:
    """Return what a tools/call gives that is answered with `result`."""
    return run(only(tools_call=result), lambda client: client.call_tool("t", **options))


def test_a_result_is_typed() -> None:
    """Spec: server/tools, "Tool Result"."""
    result = call(
        {
            "resultType": "complete",
            "content": [{"type": "text", "text": "a"}, {"type": "resource", "resource": {"uri": "x:y", "text": "b"}}],
            "structuredContent": {"n": 1},
            "_meta": {"a/b": 2},
        }
    )
    assert result == CallToolResult(
        content=[TextContent(text="a"), EmbeddedResource(resource=TextResourceContents(uri="x:y", text="b"))],
        structured_content={"n": 1},
        meta={"a/b": 2},
    )


def test_a_missing_result_type_stands_for_complete() -> None:
    """Spec: basic/index, "ResultType": servers of earlier versions send none."""
    assert call({"content": []}) == CallToolResult(content=[])


@pytest.mark.parametrize("kind", ["task", "", "Complete", 5, None])
def test_an_unknown_result_type_is_an_error(kind: Any) -> None:
    """Spec: basic/index, "ResultType": clients must treat unrecognized types as invalid."""
    with pytest.raises(InvalidResult):
        call({"resultType": kind, "content": []})


@pytest.mark.parametrize("method", ["list_tools", "list_prompts", "discover"])
def test_input_required_is_an_error_where_nothing_may_be_asked(method: str) -> None:
    """Spec: basic/patterns/mrtr, "Supported Requests"."""
    asked = {"resultType": "input_required", "requestState": "s"}
    with pytest.raises(InvalidResult, match=r"asks for input|does not know"):
        run(
            lambda name, _: None if name == "server/discover" and method != "discover" else asked,
            lambda client: getattr(client, method)(),
            mode="2026-07-28",
        )


def test_unknown_content_blocks_stay_as_they_are() -> None:
    """Ours: what a later revision adds does not make a result unreadable (acceptance D)."""
    block = {"type": "video", "data": "AA==", "frames": [1, 2]}
    result = call({**DONE, "content": [{"type": "text", "text": "a"}, block]})
    assert result.content == [TextContent(text="a"), block]

    messages = [{"role": "user", "content": block}, {"role": "assistant", "content": {"type": "text", "text": "b"}}]
    prompt = run(only(prompts_get={"messages": messages}), lambda client: client.get_prompt("p"))
    assert [message.content for message in prompt.messages] == [block, TextContent(text="b")]
    assert [message.role for message in prompt.messages] == ["user", "assistant"]


@pytest.mark.parametrize(
    "result",
    [
        {"resultType": "complete"},
        {**DONE, "content": {}},
        {**DONE, "content": ["text"]},
        {**DONE, "content": [{"text": "a"}]},
        {**DONE, "content": [{"type": "text"}]},
        {**DONE, "content": [{"type": "video"}, {"type": "image", "data": 1}]},
        {**DONE, "content": [{"type": "resource", "resource": "a:b"}]},
        {**DONE, "content": [{"type": "resource", "resource": None}]},
        {**DONE, "content": [{"type": "resource", "resource": [{"uri": "a:b", "text": "x"}]}]},
        {**DONE, "isError": "no"},
        [],
        "text",
        None,
    ],
)
def test_what_is_no_result_is_refused(result: Any) -> None:
    """Ours: InvalidResult says so, and nothing half decoded gets out."""
    with pytest.raises(InvalidResult):
        call(result)


@pytest.mark.parametrize("inner", [b"1e400", b"[" * 100_000 + b"]" * 100_000, b'"\xff"', b'"\\ud800"'])
def test_what_cannot_be_decoded_is_refused_in_any_result(inner: bytes) -> None:
    """Ours: `request`, which knows no type of its result, raises InvalidResult too, and nothing of the decoder's."""

    async def main() -> None:
        transport = Scripted(
            lambda method, _: b'{"jsonrpc":"2.0","id":2,"result":{"x":%b}}' % inner if method else None
        )
        async with transport.client(mode="2026-07-28") as client:
            with pytest.raises(InvalidResult):
                await client.request("tasks/get")

    asyncio.run(main())


@pytest.mark.parametrize("contents", ["a:b", None, 5, {"text": "no uri"}])
def test_contents_of_a_resource_that_are_none_are_refused(contents: Any) -> None:
    """Ours: what has no `uri` is nothing that a program could look at."""
    transport = Scripted(only(resources_read={"resultType": "complete", "contents": [contents]}))

    async def main() -> None:
        async with transport.client() as client:
            with pytest.raises(InvalidResult):
                await client.read_resource("a:b")

    asyncio.run(main())


@pytest.mark.parametrize("message", [b"", b"{}", b"[]", b"\xff", b'{"jsonrpc":"2.0","id":1}', b"[" * 100_000, b"null"])
def test_what_is_no_response_is_refused(message: bytes) -> None:
    """Ours: whatever a transport hands on."""
    with pytest.raises(InvalidResult):
        call(message)


@pytest.mark.parametrize(
    "error", ['{"code":"E1","message":"disk full"}', '{"code":5,"message":null}', '"disk full"', '["\xff"]', "{}"]
)
def test_an_error_of_another_shape_says_what_it_says(error: str) -> None:
    """Ours: what went wrong at the server is in there, whatever it looks like."""
    with pytest.raises(InvalidResult, match=r"^The server's error is no JSON-RPC error") as caught:
        call(f'{{"jsonrpc":"2.0","id":1,"error":{error}}}'.encode())
    assert caught.value.message.endswith(error)


@pytest.mark.parametrize("error", ['{"code":5}', '{"code":5,"message":""}'])
def test_an_error_without_a_message_has_one(error: str) -> None:
    """Ours: an empty line in a log helps nobody."""
    with pytest.raises(MCPError, match=r"^The server's error 5 has no message$"):
        call(f'{{"jsonrpc":"2.0","id":1,"error":{error}}}'.encode())


def test_an_error_beside_a_result_is_one() -> None:
    """Spec: basic/index, "Responses": never both. Ours: null is as good as nothing."""
    both = '{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","content":[]}},"error":{}}}'
    with pytest.raises(MCPError, match="no"):
        call(both.format('{"code":5,"message":"no"}').encode())
    assert call(both.format("null").encode()).content == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (-32601, MethodNotFound),
        (-32602, InvalidParams),
        (-32603, InternalError),
        (-32020, HeaderMismatch),
        (-32021, MissingRequiredClientCapability),
        (-32002, UnknownResource),
        (17, MCPError),
        (-32099, MCPError),
    ],
)
def test_errors_have_their_class_text_and_data(code: int, kind: type[MCPError]) -> None:
    """Spec: basic/index, "Error Codes"."""
    with pytest.raises(MCPError) as caught:
        call(Failure(code, "why not", {"requiredCapabilities": {}}))
    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.message) == (code, "why not")
    assert caught.value.data == {"requiredCapabilities": {}}


@pytest.mark.parametrize("failure", [Failure(-32002, "not found"), Failure(-32602, "not found", {"uri": "file:///x"})])
def test_an_unknown_resource_is_told_by_either_code(failure: Failure) -> None:
    """Spec: server/resources, "Error Handling": -32002 of earlier versions is accepted."""
    with pytest.raises(UnknownResource):
        run(only(resources_read=failure), lambda client: client.read_resource("file:///x"))


def test_invalid_params_of_a_read_stay_what_they_are() -> None:
    """Ours: only `data.uri` tells that it is the resource that is missing."""
    with pytest.raises(InvalidParams) as caught:
        run(only(resources_read=Failure(-32602, "bad")), lambda client: client.read_resource("file:///x"))
    assert type(caught.value) is InvalidParams


def test_a_failing_tool_is_a_result() -> None:
    """Spec: server/tools, "Error Handling": the model reads it; `raise_on_error` and `type` raise it."""
    failed = {"content": [{"type": "text", "text": "no such city"}], "isError": True}
    assert call(failed).is_error
    for options in ({"raise_on_error": True}, {"type": str}):
        with pytest.raises(ToolError, match="no such city") as caught:
            call(failed, **options)
        assert caught.value.content == [TextContent(text="no such city")]


def test_entries_of_a_list_that_are_none_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: one bad definition does not hide the good ones."""
    tools = [{"name": "bad"}, {"name": "good", "inputSchema": {"type": "object"}}, 7]
    page = run(only(tools_list={"tools": tools, "ttlMs": 1.5, "cacheScope": "who knows"}), lambda c: c.list_tools())
    assert [tool.name for tool in page.tools] == ["good"]
    assert (page.ttl_ms, page.cache_scope) == (1, "private")
    assert "left out" in caplog.text


# --- structured content as a type ---------------------------------------------------------------------------------


class Book(msgspec.Struct):
    """A type of the test."""

    title: str
    year: int = 0


@dataclass
class Outcome:
    """A type with a member that others wrap values in."""

    result: int


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ({"title": "Emma", "year": 1815}, Book, Book("Emma", 1815)),
        ({"result": {"title": "Emma"}}, Book, Book("Emma")),
        ({"result": [{"title": "Emma"}]}, list[Book], [Book("Emma")]),
        ({"result": "text"}, str, "text"),
        ({"result": 5}, Outcome, Outcome(5)),
        ({"result": 5}, dict[str, int], {"result": 5}),
        ([1, 2], list[int], [1, 2]),
        (None, type(None), None),
    ],
)
def test_structured_content_becomes_a_type(value: Any, kind: Any, expected: Any) -> None:
    """Ours: FEATURES N28; a value that is no object is taken out of `{"result": value}`."""
    assert call({**DONE, "structuredContent": value}, type=kind) == expected


def test_structured_content_becomes_a_pydantic_model() -> None:
    """Ours: looked up by what it can do, never imported."""
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Film", title=(str, ...))
    assert call({**DONE, "structuredContent": {"title": "Heat"}}, type=model).title == "Heat"
    with pytest.raises(InvalidResult, match="no Film"):
        call({**DONE, "structuredContent": {}}, type=model)


@pytest.mark.parametrize("members", [{}, {"structuredContent": {"title": 7}}, {"structuredContent": "text"}])
def test_structured_content_of_another_type_is_refused(members: dict[str, Any]) -> None:
    """Ours."""
    with pytest.raises(InvalidResult, match=r"[Tt]ool 't'"):
        call({**DONE, **members}, type=Book)


def test_absent_structured_content_is_none_and_null_can_be_told() -> None:
    """Spec: server/tools, "Structured Content": any JSON value, null too. Ours: who asks for it gets None for both."""
    absent, null = call(DONE), call(DONE | {"structuredContent": None})
    assert (absent.structured_content, absent.has_structured_content) == (None, False)
    assert (null.structured_content, null.has_structured_content) == (None, True)
    assert b"structuredContent" not in msgspec.json.encode(absent)
    assert b'"structuredContent":null' in msgspec.json.encode(null)
