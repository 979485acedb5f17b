"""An entry in the text of a JSON file, and every other byte as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp.cli.faults import UsageError
from leanmcp.cli.installing_file import JSONFile


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "s": {\n    "a": {\n      "b": 1\n    }\n  }\n}\n'),
        ("{}\n", '{\n  "s": {\n    "a": {\n      "b": 1\n    }\n  }\n}\n'),
        ('{"x": 1}', '{"x": 1, "s": {"a": {"b": 1}}}'),
        ('{"s": {"x": 2}}', '{"s": {"x": 2, "a": {"b": 1}}}'),
        ('{\n\t"s": {}\n}', '{\n\t"s": {\n\t\t"a": {\n\t\t\t"b": 1\n\t\t}\n\t}\n}'),
        ('{\r\n  "x": 1\r\n}', '{\r\n  "x": 1,\r\n  "s": {\r\n    "a": {\r\n      "b": 1\r\n    }\r\n  }\r\n}'),
        ('{"s": {"a": [1, {"x": "}"}]}, "y": 1}', '{"s": {"a": {"b": 1}}, "y": 1}'),
        ('{"s": {"\\u0061": 5}}', '{"s": {"\\u0061": {"b": 1}}}'),
        ('\ufeff{"s": {}}', '\ufeff{"s": {\n  "a": {\n    "b": 1\n  }\n}}'),
    ],
)
def test_an_entry_looks_like_its_surroundings(before: str, after: str) -> None:
    """Ours: indentation, tabs, line ends, one line, and a mark at the beginning."""
    file = JSONFile("f", before.encode())
    file.put("s", "a", {"b": 1})
    assert file.content().decode() == after


_names = st.text(max_size=3)
_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: st.dictionaries(_names, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(_names, _values, max_size=4),
    st.dictionaries(_names, _values, max_size=4),
    _names,
    st.sampled_from([None, 2, "\t"]),
    st.booleans(),
)
def test_adding_and_removing_gives_the_value_that_was(
    others: dict[str, Any], entries: dict[str, Any], name: str, indent: int | str | None, last: bool
) -> None:
    """Ours: property; and every other entry is the same before, between and after."""
    content: dict[str, Any] = {**others, "s": entries} if last else {"s": entries, **others}
    content["s"] = entries
    file = JSONFile("f", json.dumps(content, indent=indent).encode())
    file.put("s", name, {"b": [1]})
    assert json.loads(file.content()) == {**content, "s": {**entries, name: {"b": [1]}}}
    file.remove("s", name)
    del_entries = {key: value for key, value in entries.items() if key != name}
    assert json.loads(file.content()) == {**content, "s": del_entries}


def test_an_entry_that_is_there_twice_is_removed_twice() -> None:
    """Ours: the first one would count again."""
    file = JSONFile("f", b'{"s": {"a": 1, "b": 2, "a": 3}}')
    file.remove("s", "a")
    assert file.content() == b'{"s": {"b": 2}}'


def test_too_deep_a_file_is_refused() -> None:
    """Ours: no traceback of the parser."""
    with pytest.raises(UsageError, match=r"f: too deep; it is left as it is"):
        JSONFile("f", b'{"a":' + b"[" * 200_000)
