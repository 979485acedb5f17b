"""JSON that is the same for equal values, as something to take digests of.

In: JSON values. Out: bytes; the order of members, and how a text was escaped on the wire, make no difference.
Ours; close to RFC 8785, but numbers stay as Python writes them, and names are sorted by code points.
"""

from __future__ import annotations

import json

__all__ = ["canonical_json"]


def canonical_json(value: object) -> bytes:
    """Return the JSON of a value in UTF-8, members sorted by name, without white space.

    Raises:
        TypeError, ValueError: the value has no JSON form.
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")  # half a surrogate pair is no UTF-8, but JSON can hold it
