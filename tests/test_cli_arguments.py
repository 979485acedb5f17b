"""`name=value` and the schemas of strangers: what is sent, and what a tool takes in a line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp.cli.arguments import prompt_arguments, tool_arguments
from leanmcp.cli.config import find_entry
from leanmcp.cli.faults import UsageError
from leanmcp.cli.signatures import prompt_signature, tool_signature
from leanmcp.types import Prompt, PromptArgument, Tool


def given(words: list[str], properties: dict[str, Any], **schema: Any) -> dict[str, Any]:
    """Return the arguments that words become for a tool with such properties."""
    tool = Tool(name="t", input_schema={"type": "object", "properties": properties, **schema})
    return tool_arguments(argparse.Namespace(words=["t", *words], args=None), tool)


INTEGERS = {"type": "array", "items": {"type": "integer"}}
TEXTS = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("node", "words", "value"),
    [
        ({"type": "string"}, ["x=5"], "5"),
        ({"type": "string"}, ["x=null"], "null"),
        ({"type": "string"}, ["x="], ""),
        ({"type": "string"}, ["x=a=b"], "a=b"),
        ({"type": "integer"}, ["x=5"], 5),
        ({"type": "integer"}, ["x=five"], "five"),
        ({"type": "number"}, ["x=1e3"], 1000.0),
        ({"type": "boolean"}, ["x=True"], True),
        ({"type": "boolean"}, ["x=yes"], "yes"),
        ({"type": ["boolean", "null"]}, ["x=FALSE"], False),
        ({"type": ["integer", "null"]}, ["x=null"], None),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ["x=null"], "null"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ["x=7"], 7),
        ({"type": "object"}, ['x={"a":1}'], {"a": 1}),
        ({}, ["x=5"], 5),
        ({}, ["x=hello"], "hello"),
        ({"enum": ["a", "b"]}, ["x=a"], "a"),
        ({"enum": [1, 2]}, ["x=1"], 1),
        ({"enum": ["a", 1]}, ["x=1"], 1),
        ({"enum": ["1", 1]}, ["x=1"], "1"),
        ({"const": "a"}, ["x=a"], "a"),
        ({"$ref": "#/$defs/text"}, ["x=5"], "5"),
        ({"$ref": "#/$defs/loop"}, ["x=5"], 5),
        ({"$ref": "https://example.com/s"}, ["x=5"], 5),
        ({"allOf": [{"$ref": "#/$defs/text"}]}, ["x=5"], "5"),
        (INTEGERS, ["x=[1,2]"], [1, 2]),
        (INTEGERS, ["x=1"], [1]),
        (INTEGERS, ["x=1", "x=2"], [1, 2]),
        (TEXTS, ["x=1"], ["1"]),
        (TEXTS, ["x=1.0", "x=true"], ["1.0", "true"]),
        (TEXTS, ['x=["a"]'], ["a"]),
        (TEXTS, ["x=a,b"], ["a,b"]),
        ({"type": "string"}, ["x:=5"], 5),
        ({"type": "integer"}, ['x:="5"'], "5"),
    ],
)
def test_value_is_what_the_schema_wants(node: dict[str, Any], words: list[str], value: Any) -> None:
    """Ours: U1; strings stay strings, JSON is read where something else is wanted."""
    definitions = {"text": {"type": "string"}, "loop": {"$ref": "#/$defs/loop"}}
    found = given(words, {"x": node}, **{"$defs": definitions})
    assert found == {"x": value}
    assert type(found["x"]) is type(value)


def test_bytes_of_a_file_become_base64(tmp_path: Path) -> None:
    """Ours: where the schema says `contentEncoding`."""
    (tmp_path / "picture").write_bytes(b"\x00\xff")
    node = {"type": "string", "contentEncoding": "base64"}
    assert given([f"x=@{tmp_path}/picture"], {"x": node}) == {"x": "AP8="}
    assert given(["x=AP8="], {"x": node}) == {"x": "AP8="}


@pytest.mark.parametrize(
    "schema",
    [
        {"additionalProperties": True},
        {"additionalProperties": {"type": "string"}},
        {"patternProperties": {"^y": {}}},
        {"allOf": [{"properties": {"y": {}}}]},
    ],
)
def test_names_that_may_be_fine_are_sent(schema: dict[str, Any]) -> None:
    """Ours: what the schema does not rule out is for the server to tell."""
    assert given(["y=1"], {"x": {}}, **schema) == {"y": 1}


def test_unknown_names_are_refused_but_can_be_forced() -> None:
    """Ours: JSON Schema allows them where nothing is said, but most servers drop them in silence."""
    with pytest.raises(UsageError, match=r"has no argument 'xx'; did you mean 'x'\?; t\(x\?: any\) \(--args sends it"):
        given(["xx=1"], {"x": {}})
    with pytest.raises(UsageError, match=r"t\(x\?: any\)$"):
        given(["xx=1"], {"x": {}}, additionalProperties=False)
    tool = Tool(name="t", input_schema={"type": "object", "properties": {"x": {}}})
    assert tool_arguments(argparse.Namespace(words=["t"], args='{"y": 1}'), tool) == {"y": 1}
    assert given(["y=1"], {}) == {"y": 1}
    assert tool_arguments(argparse.Namespace(words=["t", "y=1"], args=None), None) == {"y": 1}


def test_arguments_of_prompts_are_texts() -> None:
    """Spec: server/prompts: arguments are strings."""
    prompt = Prompt(name="p", arguments=[PromptArgument(name="a", required=True), PromptArgument(name="b")])
    options = argparse.Namespace(words=["p", "a=5", "b:=[1]"], args='{"a": 1}')
    assert prompt_arguments(options, prompt) == {"a": "5", "b": "[1]"}
    assert prompt_signature(prompt) == "p(a, b?)"


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "object"}, "t()"),
        ({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, "t(a: integer)"),
        ({"properties": {"a": {"type": "integer", "default": 3}}}, "t(a: integer = 3)"),
        ({"properties": {"a": {"type": ["string", "null"], "default": None}}}, "t(a?: string)"),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, "t(a?: string)"),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}, "t(a?: string | integer)"),
        ({"properties": {"a": {"enum": ["x", "y"]}}}, "t(a?: x|y)"),
        ({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}, "t(a?: array of string)"),
        ({"properties": {"a": True, "b": 5}}, "t(a?: any, b?: any)"),
        ({"properties": {"a\x1b": {"type": "x\x1b\ny"}}}, "t(a\\x1b?: x\\x1b y)"),
        ({"properties": {"a": {"enum": ["x" * 100]}}}, f"t(a?: {'x' * 57}...)"),
        ({"properties": []}, "t()"),
    ],
)
def test_signature_is_one_clean_line(schema: dict[str, Any], shown: str) -> None:
    """Ours: whatever a server calls a schema."""
    assert tool_signature(Tool(name="t", input_schema=schema)) == shown


def test_entry_is_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: variables in every text of an entry, defaults for empty ones, folders beside the file."""
    monkeypatch.setenv("HOST", "h")
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("HOME", "/home/anna")
    config = tmp_path / "mcp.json"
    entries = {
        "http": {"url": "https://${HOST}/${EMPTY:-mcp}", "headers": {"X": "${env:HOST}${EMPTY}"}},
        "stdio": {"command": "${userHome}/x", "args": ["${workspaceFolder}"], "cwd": "sub", "unknown": [1]},
    }
    config.write_bytes(msgspec.json.encode({"mcpServers": entries}))
    http, _ = find_entry("http", str(config))
    assert http is not None
    assert (http.url, http.headers) == ("https://h/mcp", {"X": "h"})
    stdio, _ = find_entry("stdio", str(config))
    assert stdio is not None
    assert (stdio.command, stdio.args, stdio.cwd) == ("/home/anna/x", [str(tmp_path)], str(tmp_path / "sub"))
    assert find_entry("none", str(config)) == (None, ["http", "stdio"])
