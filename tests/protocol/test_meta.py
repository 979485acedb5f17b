"""One-pass decoding of tools/call against the long way, and the faults of `_meta`."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanmcp.errors import InvalidRequest, MalformedMeta, MCPError, ParseError
from leanmcp.limits import DEFAULT_LIMITS, Limits
from leanmcp.protocol import jsonrpc
from leanmcp.protocol.meta import PROTOCOL_VERSION, CallToolParams, decode_call, decode_params
from tests.support.processes import META, call, encode

_params = msgspec.json.Decoder(CallToolParams)


def long_way(message: bytes) -> tuple[Any, CallToolParams] | None:
    """Return id and params as the two-pass decoders read them, None where they refuse or it is no tools/call."""
    try:
        envelope = jsonrpc.decode(message)
        if envelope.id is msgspec.UNSET or envelope.method != "tools/call":
            return None
        return envelope.id, decode_params(envelope.params, _params)
    except MCPError:
        return None


def agree(message: bytes, *, doubled: bool = False) -> None:
    """Hold both ways against each other; an integral float as id and doubled members are left to the long way."""
    try:
        fast = decode_call(message, DEFAULT_LIMITS)
    except (ParseError, InvalidRequest):
        fast = None
    slow = long_way(message)
    if fast is not None:
        assert slow is not None
        assert (fast.id, type(fast.id), fast.params.meta, fast.params.name, bytes(fast.params.arguments)) == (
            slow[0],
            type(slow[0]),
            slow[1].meta,
            slow[1].name,
            bytes(slow[1].arguments),
        )
    elif slow is not None and not doubled:
        assert isinstance(msgspec.json.decode(message)["id"], float)


_ODD = st.sampled_from([None, True, 0, -1, 1.0, 1.5, "", "x", [], {}, [1], {"a": 1}, 2**70, "2.0", "tools/call"])


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_one_pass_accepts_exactly_what_two_passes_accept(data: st.DataObject) -> None:
    """Ours: property; any member of a good request replaced, dropped or doubled."""
    message = call("echo", {"text": "hi"}, data.draw(st.integers() | st.text(max_size=5)))
    holder = data.draw(st.sampled_from(["", "params", "_meta"]))
    target = message if holder == "" else message["params"] if holder == "params" else dict(message["params"]["_meta"])
    if holder == "_meta":
        message["params"]["_meta"] = target
    name = data.draw(st.sampled_from([*target, "other", "result"]))
    if data.draw(st.booleans()):
        target[name] = data.draw(_ODD)
    else:
        target.pop(name, None)
    agree(encode(message))


@given(st.binary(max_size=60), st.integers(0, 300))
@settings(deadline=None, max_examples=300)
def test_one_pass_agrees_on_mutated_bytes(noise: bytes, position: int) -> None:
    """Ours: property; bad UTF-8 where nobody reads included."""
    good = encode(call("echo", {"text": "hi", "note": "é"}))
    agree(good[: position % len(good)] + noise + good[position % len(good) :])


@pytest.mark.parametrize(
    "message",
    [
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"a","_meta":%s}}',
        b'{"method":"x","jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b","name":"a","_meta":%s}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{},"name":"a","_meta":%s}}',
    ],
)
def test_last_of_two_equal_members_wins_on_both_ways(message: bytes) -> None:
    """Ours: policy P5; where the first of the two is wrong, the long way decides."""
    agree(message % msgspec.json.encode(META), doubled=True)


def test_a_fault_in_meta_is_told_beside_a_number_out_of_range() -> None:
    """Ours: such a number is JSON, and none that Python can hold."""
    with pytest.raises(MalformedMeta, match=r"`params\._meta"):
        decode_params(b'{"_meta":{"%s":5},"arguments":{"a":1e999}}' % PROTOCOL_VERSION.encode(), _params)


def test_limits_hold_on_the_short_way_too() -> None:
    """Ours: policy P8."""
    deep = call("echo", {"text": [[[[1]]]]})
    with pytest.raises(InvalidRequest, match="nested"):
        decode_call(encode(deep), Limits(max_depth=5))
    with pytest.raises(ParseError):
        decode_call(encode(call("echo")).replace(b"echo", b"ec\xffo"), DEFAULT_LIMITS)
