"""The Streamable HTTP endpoint on a real socket: what is refused, in which order, with which status and code."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from tests.support.endpoint import ECHO, PREFIX, raw, refused
from tests.support.processes import META, VERSION, call, encode, http, request
from tests.support.wire import Wire, ask


def meta(**changes: Any) -> dict[str, Any]:
    """Return `_meta` with some reserved members changed; None leaves one out."""
    members = META | {PREFIX + name: value for name, value in changes.items()}
    return {name: value for name, value in members.items() if value is not None}


def with_meta(value: Any, method: str = "tools/list") -> dict[str, Any]:
    """Return a request with the `_meta` given."""
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"_meta": value}}


# --- the table, row by row --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.:1", "127.0.0.2", "[::2]:80"])
def test_step_1_a_foreign_host_is_421(port: int, host: str) -> None:
    """Ours: policy P9; the text names the option."""
    answer = ask(port, http(ECHO, host=host, content_type="text/plain"))
    assert answer.status == 421
    assert "allowed_hosts" in answer.text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:65535", "LOCALHOST:8000"])
def test_step_1_loopback_names_are_served_on_any_port(port: int, host: str) -> None:
    """Ours: policy P9."""
    assert ask(port, http(ECHO, host=host)).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "localhost",
        "file://",
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/nope"])
def test_step_1_a_foreign_origin_is_403(port: int, origin: str, path: str) -> None:
    """Spec: basic/transports/streamable-http, "Security & Endpoint" 1."""
    answer = ask(port, http(ECHO, origin=origin, path=path))
    assert answer.status == 403
    assert ("allowed_origins" in answer.text) == (origin != "null")  # which none may add
    assert "id" not in answer.message


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"])
def test_step_1_a_loopback_origin_is_served(port: int, origin: str) -> None:
    """Ours: policy P9."""
    assert ask(port, http(ECHO, origin=origin)).status == 200


def test_step_2_path_and_method(port: int) -> None:
    """Spec: 404 and 405; the texts name the endpoint."""
    answer = ask(port, http(ECHO, path="/nope"))
    assert (answer.status, "/mcp" in answer.text) == (404, True)
    for method in (b"GET", b"DELETE", b"PUT", b"PATCH", b"OPTIONS", b"TRACE"):
        answer = ask(port, http(ECHO, content_type="text/plain").replace(b"POST", method))
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
        assert "POST /mcp" in answer.text


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"; x=y',
    ],
)
def test_step_2_the_media_type_is_compared_without_parameters_and_case(port: int, kind: str) -> None:
    """Spec: RFC 9110 8.3.1."""
    assert ask(port, http(ECHO, content_type=kind)).status == 200


@pytest.mark.parametrize("kind", ["", "text/plain", "application/jsonx", "application", "application/json, text/plain"])
def test_step_2_another_media_type_is_415(port: int, kind: str) -> None:
    """Ours: FIELD 60."""
    refused(ask(port, http(ECHO, content_type=kind)), 415, -32600, None)


def test_step_2_a_coded_body_is_415(port: int) -> None:
    """Spec: RFC 9110 8.4, 15.5.16; no client has a reason to code small requests."""
    answer = ask(port, http(ECHO, content_encoding="gzip"))
    refused(answer, 415, -32600, None)
    assert answer.headers["accept-encoding"] == "identity"
    assert ask(port, http(ECHO, content_encoding="identity")).text == "hello"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"not json",
        b"{'a':1}",
        b'{"a":1,}',
        b"\xef\xbb\xbf{}",
        b'{"a":"\xff"}',
        b"{}{}",
        b'{"a":NaN}',
        b'{"a":01}',
    ],
)
def test_step_3_a_body_that_is_not_json_is_32700(port: int, body: bytes) -> None:
    """Spec: JSON-RPC 5.1; policy P11: no id."""
    refused(ask(port, raw(body, mcp_method="", mcp_protocol_version="")), 400, -32700, None)


@pytest.mark.parametrize(
    ("message", "request_id"),
    [
        ({"foo": 1}, None),
        ([ECHO], None),
        ([], None),
        ("text", None),
        (5, None),
        (None, None),
        (ECHO | {"jsonrpc": "1.0"}, 1),
        ({name: value for name, value in ECHO.items() if name != "jsonrpc"}, 1),
        (ECHO | {"method": 5}, 1),
        (ECHO | {"id": None}, None),
        (ECHO | {"id": True}, None),
        (ECHO | {"id": 1.5}, None),
        (ECHO | {"id": [1]}, None),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, None),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}, None),
        ({"jsonrpc": "2.0", "id": "a", "Method": "tools/list"}, "a"),
    ],
)
def test_step_3_json_that_is_no_request_is_32600(port: int, message: Any, request_id: Any) -> None:
    """Spec: basic/index, "Messages"; a batch and a response are none."""
    refused(ask(port, raw(msgspec.json.encode(message))), 400, -32600, request_id)


@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/x", "x"])
def test_step_4_a_notification_is_202_without_body(port: int, method: str) -> None:
    """Spec: basic/transports/streamable-http, "Sending Messages" 5; no header is demanded of it."""
    with Wire(port) as wire:
        answer = wire.send(raw(encode({"jsonrpc": "2.0", "method": method}), mcp_protocol_version="")).answer()
        assert (answer.status, answer.body) == (202, b"")
        assert "content-type" not in answer.headers
        assert wire.send(http(ECHO)).answer().text == "hello"


def test_step_4_a_request_without_an_id_is_400(port: int) -> None:
    """Spec: basic/transports/streamable-http, "Sending Messages" 5; a 202 would tell nobody."""
    answer = ask(port, raw(encode({"jsonrpc": "2.0", "method": "tools/call"})))
    refused(answer, 400, -32600, None)
    assert answer.message["error"]["message"] == 'Invalid request: tools/call is a request, and needs an "id"'


@pytest.mark.parametrize(("params", "status"), [([1], 400), (5, 400), ("x", 400), (None, 202), ({"a": 1}, 202)])
def test_step_4_params_of_a_notification_are_an_object(port: int, params: Any, status: int) -> None:
    """Spec: basic/transports/streamable-http, "Sending Messages" 5; JSON-RPC 4.2."""
    assert ask(port, raw(encode({"jsonrpc": "2.0", "method": "notifications/x", "params": params}))).status == status


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        "x",
        None,
        meta(protocolVersion=None),
        meta(protocolVersion=5),
        meta(protocolVersion=["2026-07-28"]),
        meta(clientCapabilities=None),
        meta(clientCapabilities=[]),
        meta(clientCapabilities="x"),
        meta(clientInfo="x"),
        meta(logLevel="loud"),
    ],
)
@pytest.mark.parametrize("method", ["tools/list", "nope/x"])
def test_step_5_a_faulty_meta_is_400_32602(port: int, value: Any, method: str) -> None:
    """Spec: basic/index, "Per-request protocol fields"; before headers and method are looked at."""
    refused(ask(port, http(with_meta(value, method), mcp_protocol_version="", mcp_method="")), 400, -32602, 7)


@pytest.mark.parametrize("params", [None, [], 5, "x"])
def test_step_5_params_that_are_no_object_are_400_32602(port: int, params: Any) -> None:
    """Spec: basic/index; there is no `_meta` in them."""
    refused(ask(port, raw(encode(ECHO | {"params": params}))), 400, -32602)


def test_step_5_optional_and_unknown_members_are_let_through(port: int) -> None:
    """Spec: basic/index, "_meta"."""
    extra = meta(clientInfo={"name": "a", "version": "1", "x": 1}, logLevel="debug", unknown=[1]) | {
        "other": {"a": None}
    }
    assert ask(port, http(with_meta(extra))).status == 200


@pytest.mark.parametrize("header", ["", "2025-11-25", "2026-07-28 x", "2026-07-28, 2026-07-28"])
@pytest.mark.parametrize("method", ["tools/list", "nope/x", "initialize"])
def test_step_6_the_version_header_mirrors_meta(port: int, header: str, method: str) -> None:
    """Spec: "Protocol Version Header"."""
    refused(ask(port, http(with_meta(META, method), mcp_protocol_version=header, mcp_method="")), 400, -32020, 7)


@pytest.mark.parametrize("version", ["2025-11-25", "1900-01-01", "v999.0.0", "2026-07-29", ""])
@pytest.mark.parametrize("method", ["tools/list", "nope/x", "server/discover", "ping"])
def test_step_7_an_unsupported_version_is_told_the_supported_ones(port: int, version: str, method: str) -> None:
    """Spec: basic/versioning; whatever the method, and before Mcp-Method is looked at."""
    message = with_meta(meta(protocolVersion=version), method)
    answer = ask(port, http(message, mcp_protocol_version=version or " ", mcp_method=""))
    refused(answer, 400, -32022, 7)
    assert answer.message["error"]["data"] == {"supported": [VERSION], "requested": version}


@pytest.mark.parametrize("header", ["", "Tools/call", "tools/list", "tools/call x"])
def test_step_8_mcp_method_mirrors_the_method(port: int, header: str) -> None:
    """Spec: "Standard Request Headers"; values are case-sensitive."""
    refused(ask(port, http(ECHO, mcp_method=header, mcp_name="")), 400, -32020)
    refused(ask(port, http(request("nope/x"), mcp_method=header)), 400, -32020)


@pytest.mark.parametrize(
    "header", ["", "Echo", "add", "=?base64?YWRk?=", "=?base64?ZWNobw?=", "=?base64?ZWNobw===?=", "=?base64?_w==?="]
)
def test_step_9_mcp_name_mirrors_the_name(port: int, header: str) -> None:
    """Spec: "Value Encoding"; strict base64."""
    refused(ask(port, http(ECHO, mcp_name=header)), 400, -32020)


@pytest.mark.parametrize("header", ["=?base64?ZWNobw==?=", "  echo\t"])
def test_step_9_mcp_name_is_decoded_and_trimmed(port: int, header: str) -> None:
    """Spec: "Value Encoding"."""
    assert ask(port, http(ECHO, mcp_name=header)).text == "hello"
    name = "naïve 工具"
    encoded = f"=?base64?{base64.b64encode(name.encode()).decode()}?="
    refused(ask(port, http(call(name), mcp_name=encoded)), 200, -32602)


@pytest.mark.parametrize("field", ["MCP-PROTOCOL-VERSION", "mcp-method", "Mcp-Name", "Mcp-Param-Region"])
def test_steps_6_to_10_a_repeated_or_non_ascii_field_is_a_mismatch(port: int, field: str) -> None:
    """Spec: "Server Validation": invalid characters; ours: repeated, even with one value."""
    good = http(call("region", {"region": "eu"}), mcp_param_region="eu", mcp_param_count="")
    good = http(call("region", {"region": "eu", "count": 0}), mcp_param_region="eu", mcp_param_count="0")
    assert ask(port, good).status == 200
    lines = good.split(b"\r\n")
    number = next(n for n, line in enumerate(lines) if line.lower().startswith(field.lower().encode() + b":"))
    refused(ask(port, b"\r\n".join([*lines[:number], lines[number], *lines[number:]])), 400, -32020)
    refused(ask(port, b"\r\n".join([*lines[:number], lines[number] + b"\xe9", *lines[number + 1 :]])), 400, -32020)


@pytest.mark.parametrize(
    ("arguments", "region", "count", "good"),
    [
        ({"region": "us-west1"}, "us-west1", "", True),
        ({"region": "us-west1"}, "=?base64?dXMtd2VzdDE=?=", "", True),
        ({"region": "世界"}, "=?base64?5LiW55WM?=", "", True),
        ({"region": "a", "count": 42}, "a", "42.0", True),
        ({"region": "a", "count": 9007199254740993}, "a", "9007199254740993", True),
        ({"region": "=?base64?"}, "=?base64?", "", True),
        ({"region": "us-west1"}, "", "", False),
        ({"region": "us-west1"}, "US-WEST1", "", False),
        ({"region": "us-west1"}, "=?base64?dXMtd2VzdDE?=", "", False),
        ({"region": "a", "count": 42}, "a", "", False),
        ({"region": "a", "count": 42}, "a", "42.5", False),
        ({"region": "a", "count": 42}, "a", "+42", False),
        ({"region": "a", "count": 9007199254740993}, "a", "9007199254740992", False),
        ({"region": "a"}, "a", "1", False),
        ({}, "a", "", False),
    ],
)
def test_step_10_mcp_param_fields_mirror_arguments(
    port: int, arguments: dict[str, Any], region: str, count: str, good: bool
) -> None:
    """Spec: "Server Behavior for Custom Headers"."""
    answer = ask(port, http(call("region", arguments), mcp_param_region=region, mcp_param_count=count))
    if good:
        assert (answer.status, answer.text) == (200, f"{arguments['region']} {arguments.get('count', 0)}")
    else:
        refused(answer, 400, -32020)


def test_step_10_a_null_argument_has_no_header(port: int) -> None:
    """Spec: "Server Behavior for Custom Headers": null is like absent, so only the schema refuses it."""
    answer = ask(port, http(call("region", {"region": "a", "count": None}), mcp_param_region="a"))
    assert (answer.status, answer.message["result"]["isError"]) == (200, True)
    refused(ask(port, http(call("region", {"region": None}), mcp_param_region="a")), 400, -32020)


@pytest.mark.parametrize(
    "method",
    [
        "nope/x",
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "",
        "Tools/List",
    ],
)
def test_step_11_an_unknown_method_is_404_32601(port: int, method: str) -> None:
    """Spec: "Protocol Version Header"; removed methods are unknown, too."""
    message = request(method, request_id="a")
    refused(ask(port, http(message, mcp_method=method or " ")), 404, -32601, "a")


def test_step_12_an_undeclared_capability_is_400_32021(port: int) -> None:
    """Spec: basic/index; `data.requiredCapabilities` is an object."""
    answer = ask(port, http(call("needs", {"capability": "sampling"})))
    refused(answer, 400, -32021)
    assert answer.message["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}
    message = call("needs", {"capability": "sampling"})
    message["params"]["_meta"] = meta(clientCapabilities={"sampling": {}})
    assert ask(port, http(message)).text == "ok"


@pytest.mark.parametrize(
    "message",
    [
        call("nope"),
        request("tools/list", {"cursor": ""}),
        request("tools/list", {"cursor": "@@not-ours@@"}),
        request("tools/list", {"cursor": 5}),
        request("tools/call", {"name": "echo", "arguments": [1]}),
        request("tools/call", {"name": "echo", "arguments": "x"}),
    ],
)
def test_step_13_what_names_nothing_here_is_200_32602(port: int, message: dict[str, Any]) -> None:
    """Ours: policy P10."""
    refused(ask(port, http(message)), 200, -32602)


@pytest.mark.parametrize(
    ("message", "fields", "code"),
    [
        (request("tools/call", {"name": 5}), {"mcp_protocol_version": "", "mcp_name": ""}, -32020),
        (request("tools/list", {"cursor": 5}), {"mcp_method": "tools/call"}, -32020),
        (
            request("tools/call", {"name": 5, "_meta": meta(protocolVersion="2027-01-01")}),
            {"mcp_protocol_version": "2027-01-01", "mcp_name": ""},
            -32022,
        ),
    ],
)
def test_steps_6_to_8_come_before_the_shape_of_params(
    port: int, message: dict[str, Any], fields: dict[str, str], code: int
) -> None:
    """Ours: CONFORMANCE 3.1, steps 6 to 8 before 13."""
    refused(ask(port, http(message, **fields)), 400, code)


@pytest.mark.parametrize("meta", [5, True, "x", [1], None])
def test_meta_of_any_shape_is_refused_with_400(port: int, meta: Any) -> None:
    """Spec: basic/index, "`_meta`"; the hint about what is missing must not fail on it."""
    message = request("tools/list") | {"params": {"_meta": meta}}
    refused(ask(port, http(message)), 400, -32602)
