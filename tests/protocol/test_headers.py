"""Mirrored headers, and the Host and Origin rules."""

from __future__ import annotations

from typing import Any

import pytest

from leanmcp.errors import HeaderMismatch
from leanmcp.protocol.headers import HostRule, check_params, decode_value, plan_params

_NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("us-west1", "us-west1"),
        ("", ""),
        ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"),
        ("=?base64?IHBhZGRlZCA=?=", " padded "),
        ("=?base64?bGluZTEKbGluZTI=?=", "line1\nline2"),
        ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="),
        ("=?base64??=", ""),
        ("=?base64?only-the-prefix", "=?base64?only-the-prefix"),
        ("only-the-suffix?=", "only-the-suffix?="),
        ("=?BASE64?YQ==?=", "=?BASE64?YQ==?="),
        ("=?base64?=", "=?base64?="),
    ],
)
def test_value_is_decoded_as_the_clients_encoded_it(sent: str, text: str) -> None:
    """Spec: streamable-http, "Value Encoding"; the marks are case-sensitive and come in pairs."""
    assert decode_value("Mcp-Name", sent) == text


@pytest.mark.parametrize(
    "sent",
    [
        "é",
        "\x80",
        "=?base64?YQ?=",
        "=?base64?YQ=?=",
        "=?base64?Y Q==?=",
        "=?base64?_-8=?=",
        "=?base64?YR==?=",
        "=?base64?/w==?=",
    ],
)
def test_value_that_cannot_be_decoded_is_a_mismatch(sent: str) -> None:
    """Spec: strict alphabet and padding, canonical, UTF-8; and no byte outside ASCII."""
    with pytest.raises(HeaderMismatch) as caught:
        decode_value("Mcp-Name", sent)
    assert (caught.value.code, caught.value.http_status) == (-32020, 400)


def _schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_plan_finds_annotations_along_properties() -> None:
    """Spec: streamable-http, "Schema Extension"."""
    schema = _schema(
        region={"type": "string", "x-mcp-header": "Region"},
        other={"type": "string"},
        nested=_schema(count={"type": "integer", "x-mcp-header": "Count"}),
        data={"default": {"x-mcp-header": "not a schema"}, "type": "object"},
    )
    plan = plan_params(schema)
    assert [(param.header, param.path, param.kind) for param in plan.params] == [
        ("mcp-param-region", ("region",), "string"),
        ("mcp-param-count", ("nested", "count"), "integer"),
    ]
    assert plan.warnings == ()


_STRING = {"type": "string"}


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {**_STRING, "x-mcp-header": ""}},
        {"a": {**_STRING, "x-mcp-header": "has space"}},
        {"a": {**_STRING, "x-mcp-header": "col:on"}},
        {"a": {**_STRING, "x-mcp-header": "Größe"}},
        {"a": {**_STRING, "x-mcp-header": "a\r\nb"}},
        {"a": {**_STRING, "x-mcp-header": 5}},
        {"a": {**_STRING, "x-mcp-header": "R"}, "b": {**_STRING, "x-mcp-header": "r"}},
        {"a": {"type": "number", "x-mcp-header": "R"}},
        {"a": {"type": "object", "x-mcp-header": "R"}},
        {"a": {"type": "array", "x-mcp-header": "R"}},
        {"a": {"type": "null", "x-mcp-header": "R"}},
        {"a": {"x-mcp-header": "R"}},
        {"a": {"type": ["string", "null"], "x-mcp-header": "R"}},
        {"a": {"type": "array", "items": {**_STRING, "x-mcp-header": "R"}}},
        {"a": {"anyOf": [{**_STRING, "x-mcp-header": "R"}]}},
        {"a": {"oneOf": [{**_STRING, "x-mcp-header": "R"}]}},
        {"a": {"allOf": [_schema(b={**_STRING, "x-mcp-header": "R"})]}},
        {"a": {"additionalProperties": {**_STRING, "x-mcp-header": "R"}}},
        {"a": {"patternProperties": {"x": {**_STRING, "x-mcp-header": "R"}}}},
    ],
)
def test_registration_refuses_annotations_that_clients_must_reject(properties: dict[str, Any]) -> None:
    """Spec: server/tools, "x-mcp-header" constraints."""
    with pytest.raises(ValueError, match="x-mcp-header"):
        plan_params(_schema(**properties))


def test_registration_refuses_an_annotation_behind_a_reference() -> None:
    """Spec: the chain must not pass through `$ref`."""
    schema = _schema(book={"$ref": "#/$defs/Book"}) | {"$defs": {"Book": _schema(a={**_STRING, "x-mcp-header": "A"})}}
    with pytest.raises(ValueError, match="properties"):
        plan_params(schema)


@pytest.mark.parametrize("name", ["password", "api_key", "Authorization", "accessToken"])
def test_plan_warns_of_names_that_look_secret(name: str) -> None:
    """Spec: server/tools, "x-mcp-header" warning."""
    assert plan_params(_schema(**{name: {**_STRING, "x-mcp-header": "X"}})).warnings
    assert plan_params(_schema(plain={**_STRING, "x-mcp-header": name})).warnings


_PLAN = plan_params(
    _schema(
        s={"type": "string", "x-mcp-header": "S"},
        i={"type": "integer", "x-mcp-header": "I"},
        b={"type": "boolean", "x-mcp-header": "B"},
        deep=_schema(s={"type": "string", "x-mcp-header": "Deep"}),
    )
).params


@pytest.mark.parametrize(
    ("headers", "arguments"),
    [
        ({}, {}),
        ({}, {"s": None, "i": None}),
        ({"mcp-param-s": "x"}, {"s": "x"}),
        ({"mcp-param-s": ""}, {"s": ""}),
        ({"mcp-param-s": "=?base64?w6k=?="}, {"s": "é"}),
        ({"mcp-param-i": "42"}, {"i": 42}),
        ({"mcp-param-i": "42.0"}, {"i": 42}),
        ({"mcp-param-i": "42"}, {"i": 42.0}),
        ({"mcp-param-i": "-7"}, {"i": -7}),
        ({"mcp-param-i": "9007199254740993"}, {"i": 9007199254740993}),
        ({"mcp-param-b": "true"}, {"b": True}),
        ({"mcp-param-deep": "x"}, {"deep": {"s": "x"}}),
        ({"mcp-param-unknown": "x"}, {}),
        ({}, []),
    ],
)
def test_headers_that_mirror_their_arguments_pass(headers: dict[str, str], arguments: Any) -> None:
    """Spec: "Server Behavior for Custom Headers"; integers compare numerically, unknown headers are ignored."""
    check_params(_PLAN, headers, _NONE, arguments)


@pytest.mark.parametrize(
    ("headers", "arguments"),
    [
        ({}, {"s": "x"}),
        ({"mcp-param-s": "y"}, {"s": "x"}),
        ({"mcp-param-s": "X"}, {"s": "x"}),
        ({"mcp-param-s": "x"}, {}),
        ({"mcp-param-s": "x"}, {"s": None}),
        ({"mcp-param-s": "null"}, {"s": None}),
        ({"mcp-param-s": "é"}, {"s": "é"}),
        ({"mcp-param-s": "=?base64?!?="}, {"s": "!"}),
        ({"mcp-param-i": "9007199254740992"}, {"i": 9007199254740993}),
        ({"mcp-param-i": "42.5"}, {"i": 42}),
        ({"mcp-param-i": "4_2"}, {"i": 42}),
        ({"mcp-param-i": "+42"}, {"i": 42}),
        ({"mcp-param-i": "0x2a"}, {"i": 42}),
        ({"mcp-param-i": "1"}, {"i": True}),
        ({"mcp-param-b": "True"}, {"b": True}),
        ({"mcp-param-b": "1"}, {"b": True}),
        ({"mcp-param-deep": "x"}, {"deep": {"s": "y"}}),
        ({"mcp-param-deep": "x"}, {"deep": "x"}),
        ({"mcp-param-s": "x"}, {"s": ["x"]}),
    ],
)
def test_headers_that_differ_are_a_mismatch(headers: dict[str, str], arguments: Any) -> None:
    """Spec: "Server Behavior for Custom Headers"."""
    with pytest.raises(HeaderMismatch):
        check_params(_PLAN, headers, _NONE, arguments)


def test_repeated_mirror_is_a_mismatch() -> None:
    """Ours: two values of one header have no single meaning."""
    with pytest.raises(HeaderMismatch, match="more than once"):
        check_params(_PLAN, {"mcp-param-s": "x, x"}, frozenset({"mcp-param-s"}), {"s": "x, x"})


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:8000", "[::1]", "[::1]:8000", "127.0.0.1"])
def test_loopback_hosts_are_ours_on_any_port(host: str) -> None:
    """Ours: policy P9."""
    assert HostRule().host(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.com",
        "localhost.evil.com",
        "evil-localhost",
        "127.0.0.1.evil.com",
        "",
        "[::2]",
        "::1",
        "0.0.0.0",
        "localhost:",
    ],
)
def test_foreign_hosts_are_not(host: str) -> None:
    """Spec: "Security & Endpoint"; no prefix and no suffix match."""
    assert not HostRule().host(host)


def test_allowed_hosts_match_with_or_without_port() -> None:
    """Ours: policy P9; a port counts only where the entry has one."""
    rule = HostRule(["mcp.example.com", "other.example.com:8443"])
    assert rule.host("MCP.example.com:9000")
    assert rule.host("other.example.com:8443")
    assert not rule.host("other.example.com:1")
    assert not rule.host("sub.mcp.example.com")
    assert HostRule(["*"]).host("anything")


@pytest.mark.parametrize(
    "origin", ["http://localhost", "https://127.0.0.1:5173", "http://[::1]:80", "HTTP://LOCALHOST:3000"]
)
def test_loopback_origins_may_call(origin: str) -> None:
    """Ours: policy P9."""
    assert HostRule().origin(origin)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example.com",
        "http://localhost.evil.com",
        "http://localhost@evil.com",
        "http://localhost:80@evil.com",
        "http://evil.com/localhost",
        "http://localhost, http://localhost",
        "file://localhost",
        "http://localhost/",
        "http://127.0.0.1.nip.io",
    ],
)
def test_foreign_origins_may_not(origin: str) -> None:
    """Spec: "Security & Endpoint" 1."""
    assert not HostRule().origin(origin)


def test_null_is_no_origin_of_anybody() -> None:
    """Ours: sandboxed pages and files of any kind say `null`; not even `*` admits them."""
    assert HostRule(allowed_origins=["*"]).origin("https://any.example.com")
    assert not HostRule(allowed_origins=["*", "null"]).origin("null")


def test_allowed_origins_match_exactly() -> None:
    """Ours: scheme, host and port all count."""
    rule = HostRule(allowed_origins=["https://app.example.com"])
    assert rule.origin("https://APP.example.com")
    assert not rule.origin("http://app.example.com")
    assert not rule.origin("https://app.example.com:8443")
    assert not rule.origin("https://app.example.com.evil.com")
