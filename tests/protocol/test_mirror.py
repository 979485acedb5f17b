"""Header values that mirror the body: written, and read back by the server's rules."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp.errors import InvalidParams
from leanmcp.protocol.headers import check_params, decode_value, plan_params
from leanmcp.protocol.mirror import encode_value, mirror_params

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "where": {"type": "object", "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry-Run"}}},
    },
}
PLAN = plan_params(SCHEMA).params


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("=?base64?open", "=?base64?open"),
        ("=?BASE64?x?=", "=?BASE64?x?="),
        ("in the middle", "in the middle"),
        ("a\tb", "=?base64?YQli?="),
        ("", ""),
        (" ", "=?base64?IA==?="),
        ("x\r\nMcp-Method: tools/list", "=?base64?eA0KTWNwLU1ldGhvZDogdG9vbHMvbGlzdA==?="),
        ("nul\0", "=?base64?bnVsAA==?="),
        ("del\x7f", "=?base64?ZGVsfw==?="),
        ("file:///a b.txt", "file:///a b.txt"),
    ],
)
def test_value_is_plain_where_it_can_be_and_base64_elsewhere(text: str, value: str) -> None:
    """Spec: basic/transports/streamable-http, "Value Encoding", its examples first."""
    assert encode_value(text) == value
    assert decode_value("mcp-name", value) == text


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.text("=?base64 \tx"))
def test_any_text_survives(text: str) -> None:
    """Ours: property; visible ASCII without blanks around it on the wire, the same text at the server."""
    value = encode_value(text)
    assert re.fullmatch(r"([!-~]([ -~]*[!-~])?)?", value)
    assert decode_value("mcp-name", value) == text


def test_half_a_surrogate_pair_is_refused() -> None:
    """Ours: it has no UTF-8, in the body neither."""
    with pytest.raises(UnicodeEncodeError):
        encode_value("\ud800")


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        ({"region": "eu", "count": 3, "where": {"dry": True}},
         {"mcp-param-region": "eu", "mcp-param-count": "3", "mcp-param-dry-run": "true"}),
        ({"region": "é", "where": {"dry": False}},
         {"mcp-param-region": "=?base64?w6k=?=", "mcp-param-dry-run": "false"}),
        ({"region": None, "where": None}, {}),
        ({"where": {}, "count": -7.0}, {"mcp-param-count": "-7"}),
        ({}, {}),
    ],
)  # fmt: skip
def test_arguments_are_mirrored_where_present(arguments: dict[str, Any], fields: dict[str, str]) -> None:
    """Spec: server/tools, "x-mcp-header"; the server's own check agrees."""
    assert mirror_params(PLAN, arguments) == fields
    check_params(PLAN, fields, frozenset(), arguments)


@pytest.mark.parametrize("value", [[1], {"a": 1}, 1.5, 2**53, -(2**53)])
def test_what_no_header_carries_is_named(value: Any) -> None:
    """Spec: server/tools, "x-mcp-header": primitive values, integers within the safe range."""
    with pytest.raises(InvalidParams, match=r"^count: must .* mcp-param-count mirrors it"):
        mirror_params(PLAN, {"count": value})
