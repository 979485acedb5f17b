"""Registration, discovery and lists."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from leanmcp import Limits, MCPServer
from leanmcp.server import CacheHint
from leanmcp.types import Icon, ToolAnnotations
from tests.support.spec import request


def ask(mcp: MCPServer, method: str, **params: Any) -> dict[str, Any]:
    """Return the whole response to one request."""
    return asyncio.run(request(mcp, method, params))


async def noop() -> str:
    """Do nothing."""
    return ""


def test_discover_tells_versions_capabilities_and_instructions() -> None:
    """Spec: server/discover, "DiscoverResult"; serverInfo travels in `_meta`, with the user's version."""
    mcp = MCPServer("shop", title="Shop", version="1.2", instructions="Be kind.", website_url="https://example.com")
    assert ask(mcp, "server/discover")["result"] == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": True}},
        "instructions": "Be kind.",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {
            "io.modelcontextprotocol/serverInfo": {
                "name": "shop",
                "version": "1.2",
                "title": "Shop",
                "websiteUrl": "https://example.com",
            }
        },
    }


def test_tools_are_listed_in_order_of_registration_with_all_that_was_said() -> None:
    """Spec: server/tools, "Tool"; golden check 9."""
    mcp = MCPServer("x")
    mcp.add_tool(noop, "b")
    mcp.add_tool(
        noop,
        "a",
        "Title",
        "Text",
        ToolAnnotations(read_only_hint=True, open_world_hint=False),
        [Icon(src="https://example.com/i.png", mime_type="image/png", sizes=["48x48"])],
        {"com.example/x": 1},
    )
    listed = ask(mcp, "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["b", "a"]
    assert listed[0]["description"] == "Do nothing."
    assert listed[1] | {"inputSchema": 0, "outputSchema": 0} == {
        "name": "a",
        "title": "Title",
        "description": "Text",
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
        "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
        "_meta": {"com.example/x": 1},
        "inputSchema": 0,
        "outputSchema": 0,
    }


def test_list_follows_registration_and_removal() -> None:
    """Ours: lists are encoded once for each state of the registry."""
    mcp = MCPServer("x")
    mcp.add_tool(noop, "a")
    assert [tool["name"] for tool in ask(mcp, "tools/list")["result"]["tools"]] == ["a"]
    mcp.add_tool(noop, "b")
    mcp.remove_tool("a")
    assert [tool["name"] for tool in ask(mcp, "tools/list")["result"]["tools"]] == ["b"]
    with pytest.raises(ValueError, match="'a'"):
        mcp.remove_tool("a")


def test_list_is_encoded_once_for_each_state_of_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: answered as prefix, id, suffix."""
    mcp = MCPServer("x")
    mcp.add_tool(noop)
    ask(mcp, "tools/list")

    def fail(*_: Any) -> None:
        raise AssertionError("encoded again")

    monkeypatch.setattr("leanmcp.server.lists.EncodedResult", fail)
    assert ask(mcp, "tools/list")["result"]["tools"]


@pytest.mark.parametrize("cursor", ["", "@@not-ours@@", "eyJwYWdlIjogMn0="])
def test_foreign_cursor_is_invalid_params(cursor: str) -> None:
    """Spec: server/utilities/pagination, "Error Handling"."""
    assert ask(MCPServer("x"), "tools/list", cursor=cursor)["error"]["code"] == -32602


def test_cache_hints_are_set_per_method() -> None:
    """Spec: server/utilities/caching; policy P12."""
    mcp = MCPServer("x", cache_hints={"tools/list": CacheHint(ttl_ms=5000, scope="public")})
    listed = ask(mcp, "tools/list")["result"]
    assert (listed["ttlMs"], listed["cacheScope"]) == (5000, "public")
    assert ask(mcp, "server/discover")["result"]["ttlMs"] == 0
    with pytest.raises(ValueError, match="tools/lst"):
        MCPServer("x", cache_hints={"tools/lst": CacheHint()})
    with pytest.raises(ValueError, match="ttl_ms"):
        CacheHint(ttl_ms=-1)


def test_decorator_works_with_and_without_parentheses_and_keeps_the_function() -> None:
    """Ours: U8b."""
    mcp = MCPServer("x")
    assert mcp.tool(noop) is noop
    assert mcp.tool()(_other) is _other
    assert mcp.tool("third", description="d")(noop) is noop
    assert [tool.name for tool in mcp.tools] == ["noop", "_other", "third"]


async def _other() -> str:
    """Do nothing else."""
    return ""


@pytest.mark.parametrize("name", ["a/b", "a b", "", "x" * 129, "größe", "a\n"])
def test_bad_name_is_refused_at_registration(name: str) -> None:
    """Ours: FIELD row 103."""
    with pytest.raises(ValueError, match="tool name"):
        MCPServer("x").add_tool(noop, name)


def test_loose_names_only_warn(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: `strict_names=False`; a name over 64 characters warns in any case."""
    mcp = MCPServer("x", strict_names=False)
    mcp.add_tool(noop, "a/b")
    mcp.add_tool(noop, "x" * 65)
    assert len(caplog.records) == 2


def test_taken_name_is_refused_unless_replaced() -> None:
    """Ours: FIELD row 104."""
    mcp = MCPServer("x")
    mcp.add_tool(noop)
    with pytest.raises(ValueError, match="replace=True"):
        mcp.add_tool(noop)
    mcp.add_tool(noop, description="new", replace=True)
    assert [tool.entry.description for tool in mcp.tools] == ["new"]


def test_generators_classes_and_lambdas_are_refused_with_a_reason() -> None:
    """Ours: U12, all signature mistakes stop at registration."""
    mcp = MCPServer("x")

    async def stream() -> Any:
        yield 1

    with pytest.raises(TypeError, match="generator"):
        mcp.add_tool(stream)
    with pytest.raises(ValueError, match="lambda"):
        mcp.add_tool(lambda: 1)
    with pytest.raises(TypeError, match="function"):
        mcp.add_tool(5)  # type: ignore[arg-type]


def test_no_argument_tool_has_a_closed_object_schema() -> None:
    """Spec: server/tools, "Tool"; FIELD row 96: `properties` is always there."""
    mcp = MCPServer("x")
    mcp.add_tool(noop)
    schema = ask(mcp, "tools/list")["result"]["tools"][0]["inputSchema"]
    assert schema == {"type": "object", "properties": {}, "title": "noopArguments", "additionalProperties": False}


def test_schema_titles_can_be_dropped() -> None:
    """Ours: `schema_titles=False` saves tokens."""
    mcp = MCPServer("x", schema_titles=False)

    @mcp.tool
    async def tool(a: int) -> int:
        return a

    entry = ask(mcp, "tools/list")["result"]["tools"][0]
    assert "title" not in msgspec.json.encode(entry).decode()


@pytest.mark.parametrize("option", [{"nullable": "both"}, {"extra_args": "drop"}])
def test_unknown_option_value_is_refused(option: dict[str, Any]) -> None:
    """Ours: a mistake in an option is told at once."""
    with pytest.raises(ValueError, match=next(iter(option))):
        MCPServer("x", **option)


@pytest.mark.parametrize("limit", [{"max_depth": 0}, {"threads": -1}, {"head_timeout": "5"}, {"max_fields": True}])
def test_limits_must_be_positive_numbers(limit: dict[str, Any]) -> None:
    """Ours: a limit that limits nothing is a mistake."""
    with pytest.raises(ValueError, match=next(iter(limit))):
        Limits(**limit)


def test_unknown_and_legacy_methods_are_not_found() -> None:
    """Spec: basic/versioning: the error for `initialize` names the versions."""
    mcp = MCPServer("x")
    assert ask(mcp, "nope/x")["error"]["code"] == -32601
    error = ask(mcp, "initialize", protocolVersion="2025-11-25")["error"]
    assert error["code"] == -32601
    assert "2026-07-28" in error["message"]
    for method in ("ping", "logging/setLevel", "resources/subscribe", "resources/list", "prompts/list"):
        assert ask(mcp, method)["error"]["code"] == -32601


@pytest.mark.parametrize(
    "meta",
    [
        {"io.modelcontextprotocol/protocolVersion": 5},
        {"io.modelcontextprotocol/clientCapabilities": []},
        {"io.modelcontextprotocol/clientCapabilities": None},
        {"io.modelcontextprotocol/clientInfo": "me"},
        {"io.modelcontextprotocol/clientInfo": {"name": "me"}},
        {"io.modelcontextprotocol/logLevel": "verbose"},
        {"progressToken": 1.5},
        {"progressToken": None},
        {"progressToken": []},
    ],
)
def test_meta_members_of_the_wrong_type_are_invalid_params(meta: dict[str, Any]) -> None:
    """Spec: basic/index, "Per-request protocol fields"."""
    from leanmcp.errors import MalformedMeta
    from leanmcp.protocol.meta import ListParams, decode_params
    from tests.support.processes import META

    raw = msgspec.json.encode({"_meta": META | meta})
    with pytest.raises(MalformedMeta) as caught:
        decode_params(raw, msgspec.json.Decoder(ListParams))
    assert (caught.value.code, caught.value.http_status) == (-32602, 400)


def test_unknown_meta_members_are_left_alone() -> None:
    """Spec: basic/index, "`_meta`"."""
    from leanmcp.protocol.meta import ListParams, decode_params
    from tests.support.processes import META

    raw = msgspec.json.encode({"_meta": META | {"traceparent": "00-x", "com.example/y": [1]}, "other": 1})
    assert decode_params(raw, msgspec.json.Decoder(ListParams)).meta.protocol_version == "2026-07-28"


@pytest.mark.parametrize(
    "options",
    [
        {"meta": {"x": object()}},
        {"meta": {"x": float("nan")}},
        {"meta": [1]},
        {"title": 5},
        {"description": "\ud800"},
        {"annotations": {"readOnlyHint": "yes"}},
    ],
)
def test_entry_that_cannot_be_published_is_refused_at_registration(options: dict[str, Any]) -> None:
    """Ours: one bad entry must not take the whole list with it."""
    mcp = MCPServer("x")
    with pytest.raises(TypeError, match="tool 'noop'"):
        mcp.add_tool(noop, **options)
    assert ask(mcp, "tools/list")["result"]["tools"] == []


def test_cache_hint_of_the_wrong_type_is_refused() -> None:
    """Ours: told where it is written, not at the first list."""
    hints: dict[str, Any] = {"tools/list": {"ttl_ms": 5}}
    with pytest.raises(TypeError, match="CacheHint"):
        MCPServer("x", cache_hints=hints)
    with pytest.raises(ValueError, match="ttl_ms"):
        CacheHint(ttl_ms=1.5)  # type: ignore[arg-type]


def test_what_is_declared_while_discover_is_answered_shows_in_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: any thread may add the first prompt; the answer of before must not be kept for good."""
    mcp = MCPServer("x")
    describe = mcp._describe

    def described() -> dict[str, Any]:
        before = describe()
        before["capabilities"] = dict(before["capabilities"])
        mcp.declare("prompts", {"listChanged": True})  # as if another thread did so now
        return before

    monkeypatch.setattr(mcp, "_describe", described)
    ask(mcp, "server/discover")
    monkeypatch.undo()
    assert "prompts" in ask(mcp, "server/discover")["result"]["capabilities"]
