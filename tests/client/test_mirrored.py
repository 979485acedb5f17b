"""Arguments that travel in headers too, and tools whose definitions must be refused for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from leanmcp.errors import HeaderMismatch, InvalidParams
from tests.support.scripted import DONE, Failure, Scripted

STRING = {"type": "string"}


def tool(name: str, **properties: Any) -> dict[str, Any]:
    """Return a definition."""
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


def marked(header: str, kind: str = "string") -> dict[str, Any]:
    """Return a property that is mirrored."""
    return {"type": kind, "x-mcp-header": header}


def server(*pages: list[dict[str, Any]], check: Any = None, over_http: bool = True) -> Scripted:
    """Return a server whose tools/list has these pages; `check(name, headers)` may refuse a call."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method == "tools/list":
            number = int(params.get("cursor", 0))
            page: dict[str, Any] = {"tools": pages[number]}
            return page if number + 1 == len(pages) else {**page, "nextCursor": str(number + 1)}
        if method == "tools/call" and check is not None:
            check(params["name"], dict(transport.outgoing[-1].headers))
        return DONE if method == "tools/call" else None

    transport = Scripted(answer, over_http=over_http)
    return transport


def run(transport: Scripted, use: Any) -> Any:
    """Return what `use` makes of a client."""

    async def main() -> Any:
        async with asyncio.timeout(10), transport.client() as client:
            return await use(client)

    return asyncio.run(main())


async def _list_and_call(client: Any, name: str, arguments: dict[str, Any]) -> None:
    await client.list_tools()
    await client.call_tool(name, arguments)


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        ("string", "us-west1", "us-west1"),
        ("string", "", ""),
        ("string", "Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        ("string", " padded ", "=?base64?IHBhZGRlZCA=?="),
        ("string", "line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("string", "=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("integer", 42, "42"),
        ("integer", -7, "-7"),
        ("boolean", True, "true"),
        ("boolean", False, "false"),
        ("string", None, None),
    ],
)
def test_arguments_are_mirrored_and_encoded(kind: str, value: Any, sent: str | None) -> None:
    """Spec: basic/transports/streamable-http, "Value Encoding"; CONFORMANCE 6.1: look-alikes are encoded."""
    transport = server([tool("t", a=marked("Region", kind), b=STRING)])
    run(transport, lambda client: _list_and_call(client, "t", {"a": value, "b": "not mirrored"}))
    assert dict(transport.outgoing[-1].headers) == ({} if sent is None else {"mcp-param-region": sent})


def test_nested_arguments_are_mirrored_and_absent_ones_are_not() -> None:
    """Spec: "Schema Extension": a chain of `properties`; CONFORMANCE 6.1: nested annotations."""
    nested = {"type": "object", "properties": {"deep": {"type": "object", "properties": {"x": marked("Deep")}}}}
    transport = server([tool("t", outer=nested, a=marked("A"))])
    run(transport, lambda client: _list_and_call(client, "t", {"outer": {"deep": {"x": "y"}}}))
    assert dict(transport.outgoing[-1].headers) == {"mcp-param-deep": "y"}
    run(transport, lambda client: _list_and_call(client, "t", {"outer": 5}))
    assert dict(transport.outgoing[-1].headers) == {}


@pytest.mark.parametrize("value", [2**53, 1.5, [], {}])
def test_what_no_header_can_carry_is_told_before_anything_is_sent(value: Any) -> None:
    """Spec: server/tools, "x-mcp-header": integers within the safe range, primitive types."""
    transport = server([tool("t", a=marked("A", "integer"))])
    with pytest.raises(InvalidParams, match="mirrors it"):
        run(transport, lambda client: _list_and_call(client, "t", {"a": value}))
    assert transport.methods == ["tools/list"]


BAD = {
    "empty": tool("bad", a=marked("")),
    "blank": tool("bad", a=marked("a b")),
    "colon": tool("bad", a=marked("a:b")),
    "line": tool("bad", a=marked("a\r\nb")),
    "umlaut": tool("bad", a=marked("größe")),
    "no text": tool("bad", a={"type": "string", "x-mcp-header": 7}),
    "number": tool("bad", a=marked("A", "number")),
    "object": tool("bad", a=marked("A", "object")),
    "several types": tool("bad", a={"type": ["string", "null"], "x-mcp-header": "A"}),
    "twice": tool("bad", a=marked("A"), b=marked("a")),
    "under items": tool("bad", a={"type": "array", "items": marked("A")}),
    "under oneOf": tool("bad", a={"oneOf": [marked("A")]}),
    "under anyOf of the root": {"name": "bad", "inputSchema": {"anyOf": [{"properties": {"a": marked("A")}}]}},
    "under $defs": {
        "name": "bad",
        "inputSchema": {"$defs": {"x": marked("A")}, "properties": {"a": {"$ref": "#/$defs/x"}}},
    },
    "under then": {"name": "bad", "inputSchema": {"if": {}, "then": {"properties": {"a": marked("A")}}}},
}


@pytest.mark.parametrize("kind", BAD)
def test_tools_with_invalid_annotations_are_left_out(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Spec: server/tools, "x-mcp-header": excluded from tools/list, with a warning; CONFORMANCE 6.1: items, oneOf."""
    good = [tool("good", a=marked("A")), tool("plain", a=STRING)]
    transport = server([BAD[kind], *good])

    async def names(client: Any) -> list[list[str]]:
        return [[found.name for found in (await client.list_tools()).tools] for _ in range(2)]

    assert run(transport, names) == [["good", "plain"]] * 2
    assert len([record for record in caplog.records if "'bad' is left out" in record.getMessage()]) == 1


def test_kept_pages_are_filtered_too() -> None:
    """Ours: a page from the cache teaches the same."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method == "tools/list":
            return {"tools": [BAD["empty"], tool("t", a=marked("A"))], "ttlMs": 60_000, "cacheScope": "private"}
        return DONE if method == "tools/call" else None

    async def use(client: Any) -> None:
        for _ in range(2):
            assert [found.name async for found in client.tools()] == ["t"]
        await client.call_tool("t", {"a": "x"})

    transport = Scripted(answer, over_http=True)
    run(transport, use)
    assert transport.methods == ["tools/list", "tools/call"]
    assert dict(transport.outgoing[-1].headers) == {"mcp-param-a": "x"}


def test_other_transports_ignore_annotations() -> None:
    """Spec: server/tools: "Clients using other transports (e.g., stdio) MAY ignore" them."""
    transport = server([BAD["empty"], tool("t", a=marked("A"))], over_http=False)

    async def use(client: Any) -> None:
        assert [found.name for found in (await client.list_tools()).tools] == ["bad", "t"]
        await client.call_tool("t", {"a": "x"})

    run(transport, use)
    assert dict(transport.outgoing[-1].headers) == {}


# --- what is not known yet, or not any more -----------------------------------------------------------------------


def _requires(name: str, header: str) -> Any:
    def check(called: str, headers: dict[str, str]) -> None:
        if called == name and header not in headers:
            raise Failure(-32020, f"{header} is missing", status=400)

    return check


def test_a_call_without_a_list_costs_one_request() -> None:
    """Ours: most servers mirror nothing."""
    transport = server([tool("t", a=STRING)])
    run(transport, lambda client: client.call_tool("t", {"a": "x"}))
    assert transport.methods == ["tools/call"]


def test_a_refusal_refreshes_the_list_and_tries_once_more() -> None:
    """Spec: basic/transports/streamable-http, "Client Behavior": list, then retry with the appropriate headers."""
    transport = server([tool("x")], [tool("t", a=marked("A"))], check=_requires("t", "mcp-param-a"))
    run(transport, lambda client: client.call_tool("t", {"a": "x"}))
    assert transport.methods == ["tools/call", "tools/list", "tools/list", "tools/call"]
    assert len({message["id"] for message in transport.requests}) == 4


def test_a_changed_definition_is_noticed() -> None:
    """Spec: the same; a fresh list in the cache is not asked."""
    pages = [tool("t", a=marked("Old"))]

    async def use(client: Any) -> None:
        await client.list_tools()
        await client.call_tool("t", {"a": "x"})
        pages[0] = tool("t", a=marked("New"))
        await client.call_tool("t", {"a": "x"})
        await client.call_tool("t", {"a": "x"})

    def check(name: str, headers: dict[str, str]) -> None:
        wanted = "mcp-param-" + pages[0]["inputSchema"]["properties"]["a"]["x-mcp-header"].lower()
        if wanted not in headers:
            raise Failure(-32020, status=400)

    transport = server(pages, check=check)
    run(transport, use)
    assert transport.methods == ["tools/list", "tools/call", "tools/call", "tools/list", "tools/call", "tools/call"]


def test_a_changed_definition_is_found_on_its_page() -> None:
    """Ours: what was known of the tool does not end the search."""
    pages = [[tool("x")], [tool("t", a=marked("Old"))]]

    async def use(client: Any) -> None:
        assert len([found async for found in client.tools()]) == 2
        pages[1][0] = tool("t", a=marked("New"))
        await client.call_tool("t", {"a": "x"})

    transport = server(*pages, check=_requires("t", "mcp-param-new"))
    run(transport, use)
    assert transport.methods == ["tools/list", "tools/list", "tools/call", "tools/list", "tools/list", "tools/call"]


def test_a_second_refusal_is_told() -> None:
    """Ours: once, no loop."""

    def check(name: str, headers: dict[str, str]) -> None:
        raise Failure(-32020, "never", status=400)

    transport = server([tool("t", a=marked("A"))], check=check)
    with pytest.raises(HeaderMismatch, match="never"):
        run(transport, lambda client: client.call_tool("t", {"a": "x"}))
    assert transport.methods == ["tools/call", "tools/list", "tools/call"]


def test_a_refusal_is_told_where_the_list_cannot_be_had() -> None:
    """Ours."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method == "server/discover":
            return None
        raise Failure(-32020 if method == "tools/call" else -32603, method)

    with pytest.raises(HeaderMismatch, match="tools/call"):
        run(Scripted(answer, over_http=True), lambda client: client.call_tool("t"))


def test_an_unknown_tool_is_looked_for_where_others_are_annotated() -> None:
    """Ours: the rest of the list is read before the call, since a server need not refuse."""
    transport = server([tool("first", a=marked("A"))], [tool("second", b=marked("B"))])
    run(transport, lambda client: _list_and_call(client, "second", {"b": "y"}))
    assert transport.methods == ["tools/list", "tools/list", "tools/list", "tools/call"]
    assert dict(transport.outgoing[-1].headers) == {"mcp-param-b": "y"}


def test_tools_that_may_be_called_twice_say_so() -> None:
    """Ours: RFC 9110 9.2.2, "some means to know"; what a tool says last counts, and nothing means no."""
    hints = [{"readOnlyHint": True}, {"idempotentHint": True}, {"readOnlyHint": False}, None]
    tools = [{**tool(f"t{number}"), **({"annotations": hint} if hint else {})} for number, hint in enumerate(hints)]
    transport = server(tools)

    async def use(client: Any) -> list[bool]:
        await client.call_tool("t0")
        await client.list_tools()
        for number in range(4):
            await client.call_tool(f"t{number}")
        tools[0]["annotations"] = {"destructiveHint": True}
        await client.list_tools(cache_mode="refresh")
        await client.call_tool("t0")
        return [sent.repeatable for sent in transport.outgoing if sent.method == "tools/call"]

    assert run(transport, use) == [False, True, True, False, False, False]
