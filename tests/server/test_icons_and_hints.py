"""Icons that clients may fetch, and behaviour hints that say something."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from leanmcp import MCPServer
from leanmcp.types import Icon, ToolAnnotations
from tests.support.spec import request

PNG = "data:image/png;base64,iVBORw0KGgo="


async def noop() -> str:
    """Do nothing."""
    return ""


def test_icons_travel_as_they_were_given() -> None:
    """Spec: basic/index, "`icons`"."""
    icons = [
        Icon(src="https://example.com/i.svg?v=1#x", mime_type="image/svg+xml", sizes=["any"], theme="dark"),
        Icon(src=PNG, sizes=["48x48", "96x96"]),
        Icon(src="HTTPS://[::1]:8443/i.png"),
        Icon(src="data:image/svg+xml;charset=utf-8;base64,PHN2Zz4="),
    ]
    mcp = MCPServer("icons", icons=icons)
    mcp.add_tool(noop, icons=icons)
    wire = [
        {
            "src": "https://example.com/i.svg?v=1#x",
            "mimeType": "image/svg+xml",
            "sizes": ["any"],
            "theme": "dark",
        },
        {"src": PNG, "sizes": ["48x48", "96x96"]},
        {"src": "HTTPS://[::1]:8443/i.png"},
        {"src": "data:image/svg+xml;charset=utf-8;base64,PHN2Zz4="},
    ]
    listed = asyncio.run(request(mcp, "tools/list", {}))["result"]
    assert listed["tools"][0]["icons"] == wire
    assert listed["_meta"]["io.modelcontextprotocol/serverInfo"]["icons"] == wire


@pytest.mark.parametrize(
    "src",
    [
        "http://example.com/i.png",
        "javascript:alert(1)",
        "java\nscript:alert(1)",
        "file:///etc/passwd",
        "ftp://example.com/i.png",
        "ws://example.com/i",
        "myapp://icon",
        "/i.png",
        "i.png",
        "",
        "https://",
        "https:///i.png",
        "https:example.com",
        "https:\\\\example.com",
        "https://example.com/a b",
        "https://example.com/\n",
        " https://example.com/i.png",
        "data:text/html;base64,PGI+",
        "data:image/png,raw",
        "data:image/png;base64,",
        "data:image/png;base64,@@",
        "data:,x",
        None,
        5,
    ],
)
def test_icon_that_clients_must_reject_is_refused(src: Any) -> None:
    """Spec: basic/index, "`icons`": https and data URIs only; refused where the author sees it."""
    with pytest.raises(ValueError, match=r"the server: icon .* must be an https"):
        MCPServer("icons", icons=[Icon(src=src)])
    mcp = MCPServer("icons")
    with pytest.raises(ValueError, match="tool 'noop': icon"):
        mcp.add_tool(noop, icons=[Icon(src=src)])
    assert list(mcp.tools) == []


@pytest.mark.parametrize(
    "members",
    [
        {"sizes": "48x48"},
        {"sizes": ["48"]},
        {"sizes": ["48X48"]},
        {"sizes": ["0x48"]},
        {"sizes": ["all"]},
        {"sizes": [48]},
        {"theme": "blue"},
        {"theme": True},
        {"mime_type": "text/html"},
        {"mime_type": "png"},
    ],
)
def test_icon_members_have_the_shape_of_the_specification(members: dict[str, Any]) -> None:
    """Spec: basic/index, "`icons`"."""
    with pytest.raises(ValueError, match=next(iter(members))):
        MCPServer("icons", icons=[Icon(src=PNG, **members)])


def test_something_else_than_an_icon_is_refused() -> None:
    """Ours: U12."""
    icons: Any = [{"src": PNG}]
    with pytest.raises(TypeError, match="Icon"):
        MCPServer("icons", icons=icons)


# Hints --------------------------------------------------------------------------------------------------------------


def warnings_of(hints: ToolAnnotations, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the registration of a tool with these hints warns of."""
    caplog.clear()
    with caplog.at_level(logging.WARNING, "leanmcp"):
        MCPServer("hints").add_tool(noop, annotations=hints)
    assert all(record.name == "leanmcp" for record in caplog.records)
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize(
    "hints",
    [
        {},
        {"read_only_hint": True, "open_world_hint": False},
        {"read_only_hint": False, "destructive_hint": False, "idempotent_hint": True},
        {"destructive_hint": True},
        {"title": "x"},
    ],
)
def test_hints_that_fit_together_are_silent(hints: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    """Spec: schema page, `ToolAnnotations`."""
    assert warnings_of(ToolAnnotations(**hints), caplog) == []


@pytest.mark.parametrize(
    ("hints", "words"),
    [
        ({"destructive_hint": True}, ["contradict"]),
        ({"destructive_hint": False}, ["destructive_hint means nothing"]),
        ({"idempotent_hint": True}, ["idempotent_hint means nothing"]),
        ({"idempotent_hint": False}, ["idempotent_hint means nothing"]),
        ({"destructive_hint": True, "idempotent_hint": True}, ["contradict", "idempotent_hint means nothing"]),
    ],
)
def test_hints_about_writing_on_a_read_only_tool_are_warned_of(
    hints: dict[str, Any], words: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Spec: schema page, `ToolAnnotations`: meaningful only when readOnlyHint is false."""
    found = warnings_of(ToolAnnotations(read_only_hint=True, **hints), caplog)
    assert len(found) == len(words)
    for warning, word in zip(found, words, strict=True):
        assert word in warning
        assert "'noop'" in warning


@pytest.mark.parametrize("hints", [{"readOnlyHint": True}, ToolAnnotations(read_only_hint="yes")])  # type: ignore[arg-type]
def test_hints_of_the_wrong_type_are_refused(hints: Any) -> None:
    """Ours: they would travel as they are."""
    with pytest.raises(TypeError, match="'noop'"):
        MCPServer("hints").add_tool(noop, annotations=hints)


def test_hints_travel_as_given_and_nothing_is_added() -> None:
    """Spec: a hint that is left out has its pessimistic default on the client."""
    mcp = MCPServer("hints")
    mcp.add_tool(noop, annotations=ToolAnnotations(destructive_hint=False))
    listed = asyncio.run(request(mcp, "tools/list", {}))["result"]["tools"]
    assert listed[0]["annotations"] == {"destructiveHint": False}
