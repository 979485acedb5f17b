"""JSON-RPC frames: what is told apart, and what ids keep."""

from __future__ import annotations

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanmcp import logs
from leanmcp.errors import InvalidRequest, MCPError, MethodNotFound, ParseError
from leanmcp.limits import Limits
from leanmcp.protocol import jsonrpc

_REQUEST = b'{"jsonrpc":"2.0","id":%s,"method":"m","params":{"a":[1]}}'


@pytest.mark.parametrize(
    ("raw", "value"),
    [(b'"1"', "1"), (b"0", 0), (b'""', ""), (b"1", 1), (b"-7", -7), (b"18446744073709551617", 2**64 + 1), (b"1.0", 1)],
)
def test_id_keeps_type_and_value(raw: bytes, value: int | str) -> None:
    """Spec: basic/index, "Requests"; an integral float is an integer to JSON Schema."""
    envelope = jsonrpc.decode(_REQUEST % raw)
    assert envelope.id == value
    assert type(envelope.id) is type(value)
    assert msgspec.json.decode(jsonrpc.encode_id(envelope.id)) == value


def test_params_stay_bytes_until_the_method_is_known() -> None:
    """Ours: each byte is parsed once."""
    assert bytes(jsonrpc.decode(_REQUEST % b"1").params) == b'{"a":[1]}'
    assert bytes(jsonrpc.decode(b'{"jsonrpc":"2.0","id":1,"method":"m"}').params) == b"{}"


def test_message_without_id_is_a_notification() -> None:
    """Spec: basic/index, "Notifications"."""
    assert jsonrpc.decode(b'{"jsonrpc":"2.0","method":"m"}').id is msgspec.UNSET


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"nope",
        b"{",
        b'{"jsonrpc":"2.0","id":1,"method":"m"} x',
        b"\xef\xbb\xbf{}",
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\xff"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":01,"method":"m"}',
        b"{'jsonrpc':'2.0'}",
    ],
)
def test_bytes_that_are_no_json_are_a_parse_error(message: bytes) -> None:
    """Spec: JSON-RPC 2.0, -32700; invalid UTF-8 anywhere counts, also where nothing reads it."""
    with pytest.raises(ParseError) as caught:
        jsonrpc.decode(message)
    assert caught.value.code == -32700
    assert caught.value.request_id is None


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (b" \n", "there is nothing, where JSON is expected"),
        (b"\xef\xbb\xbf{}", "it begins with a byte order mark; write UTF-8 without one"),
        (b'{"a":1', "the JSON ends too early"),
        (b'{"a":NaN}', "JSON has no NaN and no Infinity, at byte 5"),
        (b'{"a":-Infinity}', "JSON has no NaN and no Infinity, at byte 6"),
        (b"{'a':1}", "JSON has double quotes, at byte 1"),
        (b'{"a":1,}', "trailing comma in object, at byte 7"),
        (b"[1,]", "trailing comma in array, at byte 3"),
        (b'{"a":1}x', "trailing characters, at byte 8"),
    ],
)
def test_parse_error_tells_what_to_mend(message: bytes, text: str) -> None:
    """Ours: of what people write by hand; the first fault of the JSON, not of what it would mean."""
    with pytest.raises(ParseError) as caught:
        jsonrpc.decode(message)
    assert str(caught.value) == f"Parse error: {text}"


@pytest.mark.parametrize(
    ("message", "request_id"),
    [
        (b"[]", None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"m"}]', None),
        (b"5", None),
        (b"null", None),
        (b'"text"', None),
        (b'{"foo":1}', None),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":{},"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":1e400,"method":"m"}', None),
        (b'{"jsonrpc":"1.0","id":4,"method":"m"}', 4),
        (b'{"id":"a","method":"m"}', "a"),
        (b'{"jsonrpc":2.0,"id":5,"method":"m"}', 5),
        (b'{"jsonrpc":"2.0","id":5}', 5),
        (b'{"jsonrpc":"2.0","id":5,"method":7}', 5),
        (b'{"jsonrpc":"2.0","id":5,"Method":"m"}', 5),
        (b'{"jsonrpc":"2.0","id":5,"result":{}}', None),
        (b'{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":""}}', None),
    ],
)
def test_json_that_is_no_request_is_an_invalid_request(message: bytes, request_id: int | str | None) -> None:
    """Spec: JSON-RPC 2.0, -32600; member names are exact; a readable id is kept for the answer."""
    with pytest.raises(InvalidRequest) as caught:
        jsonrpc.decode(message)
    assert caught.value.code == -32600
    assert caught.value.request_id == request_id


def test_last_of_two_equal_member_names_wins() -> None:
    """Ours: policy P5."""
    assert jsonrpc.decode(b'{"jsonrpc":"2.0","id":1,"method":"a","method":"b","id":2}') == jsonrpc.Envelope(
        "2.0", "b", 2
    )


@pytest.mark.parametrize("message", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 600 + b"]" * 600])
def test_deep_nesting_is_refused_before_it_is_built(message: bytes) -> None:
    """Ours: policy P8, depth 512."""
    with pytest.raises(InvalidRequest, match="nested"):
        jsonrpc.decode(message)


def test_nesting_that_only_the_decoder_cannot_bear_is_refused_too() -> None:
    """Ours: a higher limit than the decoder's."""
    with pytest.raises(InvalidRequest, match="nested"):
        jsonrpc.decode(_REQUEST % (b"[" * 5000 + b"]" * 5000), Limits(max_depth=10_000))


def test_depth_at_the_limit_is_taken_and_brackets_in_strings_do_not_count() -> None:
    """Ours: policy P8; the limit is exact."""
    limits = Limits(max_depth=5)
    nested = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":%s}}'
    assert jsonrpc.decode(nested % b"[[[]]]", limits).method == "m"
    with pytest.raises(InvalidRequest, match="nested"):
        jsonrpc.decode(nested % b"[[[[]]]]", limits)
    text = b'"%s"' % (b'[[[{{{\\"[[[[' * 100)
    assert jsonrpc.decode(nested % text, limits).method == "m"


def test_number_of_values_is_limited() -> None:
    """Ours: policy P8; commas inside strings do not count."""
    limits = Limits(max_elements=100, max_depth=50)
    message = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":%s}}'
    assert jsonrpc.decode(message % (b"[" + b"1," * 80 + b"1]"), limits).method == "m"
    assert jsonrpc.decode(message % (b'"' + b"," * 500 + b'"'), limits).method == "m"
    with pytest.raises(InvalidRequest, match="values"):
        jsonrpc.decode(message % (b"[" + b"1," * 200 + b"1]"), limits)


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_any_bytes_give_a_message_or_a_protocol_error(message: bytes) -> None:
    """Ours: the fuzz invariant."""
    with suppress(ParseError, InvalidRequest):
        assert jsonrpc.decode(message).jsonrpc == "2.0"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "other"]), _JSON)
    | st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "method": st.text()}, optional={"id": _JSON, "params": _JSON})
)
@settings(deadline=None)
def test_any_object_gives_a_message_or_an_invalid_request(message: dict[str, object]) -> None:
    """Ours: accepted exactly where the members have the shapes of the specification."""
    try:
        data = msgspec.json.encode(message)
    except (UnicodeEncodeError, msgspec.EncodeError):
        return
    try:
        envelope = jsonrpc.decode(data)
    except InvalidRequest:
        request_id = message.get("id", 1)
        whole = isinstance(request_id, int | str | float) and not isinstance(request_id, bool)
        if isinstance(request_id, float):
            whole = request_id.is_integer()
        assert not (message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str) and whole)
    else:
        assert envelope.method == message["method"]


def test_error_without_readable_id_has_no_id_member() -> None:
    """Ours: policy P11; the schema knows no null id."""
    assert b'"id"' not in jsonrpc.encode_error(ParseError("x"), None)
    assert msgspec.json.decode(jsonrpc.encode_error(MethodNotFound("x", {"a": 1}), "")) == {
        "jsonrpc": "2.0",
        "id": "",
        "error": {"code": -32601, "message": "x", "data": {"a": 1}},
    }


@pytest.mark.parametrize(
    ("code", "sent"),
    [
        (-32002, -32602),
        (-32042, -32603),
        (-32023, -32603),
        (-32099, -32603),
        (-32020, -32020),
        (-32021, -32021),
        (-32022, -32022),
        (-32019, -32019),
        (-32100, -32100),
        (-32603, -32603),
        (-1, -1),
        (0, 0),
        (2**31, 2**31),
    ],
)
def test_reserved_codes_are_not_sent(
    code: int, sent: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec: basic/index, "Error Codes": codes of earlier versions, and undefined ones of -32020 to -32099, MUST NOT."""
    monkeypatch.setattr(logs, "_said", {})  # the same warning is not said twice in a second
    answer = msgspec.json.decode(jsonrpc.encode_error(MCPError(code, "x", {"a": 1}), "id"))
    assert answer == {"jsonrpc": "2.0", "id": "id", "error": {"code": sent, "message": "x", "data": {"a": 1}}}
    assert (f"the reserved code {code}" in caplog.text) == (code != sent)


def test_error_is_one_line_whatever_its_data_is() -> None:
    """Spec: basic/transports/stdio; what follows a line feed would be taken for a message of its own."""
    data = {"a": msgspec.Raw(b'{\n"b":\r\n1}'), "c": "\n"}
    assert b'"data":{"a":{"b":1},"c":"\\n"}' in jsonrpc.encode_error(MCPError(7, "boom", data), 1)


@pytest.mark.parametrize("data", [object(), float, {1: object()}, "\ud800", ["\udfff"], msgspec.Raw(b"x\n{}")])
def test_error_whose_data_is_no_json_still_travels(data: object) -> None:
    """Ours: a mistake in `data` must not cost the peer its answer."""
    answer = msgspec.json.decode(jsonrpc.encode_error(MCPError(7, "boom \ud800", data), 1))
    assert answer["error"]["code"] == 7
    assert answer["error"]["message"].startswith("boom ")
