"""One text for equal JSON values."""

from __future__ import annotations

import json

import pytest

from leanmcp.protocol.canonical import canonical_json


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{ "b": 1, "a": {"d": [1, 2], "c": null} }', b'{"a":{"c":null,"d":[1,2]},"b":1}'),
        (r'{"\u00e9": "\u20ac"}', '{"é":"€"}'.encode()),
        (r'"\ud800"', b'"\xed\xa0\x80"'),
        ("[1.0, 1, true]", b"[1.0,1,true]"),
    ],
)
def test_order_and_escapes_make_no_difference(text: str, expected: bytes) -> None:
    """Ours: digests of requests and of tool definitions are taken of this."""
    assert canonical_json(json.loads(text)) == expected


def test_what_has_no_json_form_is_refused() -> None:
    """Ours: two values of that kind would have one digest."""
    with pytest.raises(TypeError):
        canonical_json({"x": object()})
