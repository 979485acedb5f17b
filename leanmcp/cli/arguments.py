"""Arguments as they are typed: `name=value`, `name:=json`, `name=@file`, `@file`, `--args`.

In: words and the schema of a tool. Out: JSON values; or everything that is wrong, before anything is sent. A value is
JSON where the schema wants something else than text and it parses; what does not fit is for the server to tell, which
says better what it expects.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ..mistyped import did_you_mean
from ..types import Prompt, Tool
from .faults import UsageError
from .signatures import branches, kinds, prompt_signature, resolved, tool_signature

_ITEMS = re.compile(r"[\w.-]+(?:,[\w.-]+)+")  # without blanks: `Berlin, Germany` is one
_PAIRS = re.compile(r"([^, ]+)[, ] *([A-Za-z_]\w*)=(.*)")
_PAIR = re.compile(r"(\w+)[=:](.+)")
_LIST = re.compile(r"\[[^][]*\]")
# With one of these, names besides those of `properties` may be fine.
_OPEN = ("allOf", "anyOf", "oneOf", "$ref", "if", "patternProperties", "dependentSchemas", "dependencies")
_SPELLINGS = dict.fromkeys(("yes", "y", "on", "1"), "true") | dict.fromkeys(("no", "n", "off", "0"), "false")
_UNSET: Any = object()


def check_words(options: argparse.Namespace) -> None:
    """Look at the arguments behind the name before any server is started.

    Raises:
        UsageError: one is no argument.
    """
    words = options.words[1:]
    for word in words:
        if not word.startswith("@"):
            _split(word, words)


def tool_arguments(options: argparse.Namespace, tool: Tool | None) -> dict[str, Any]:
    """Return the arguments of a tool.

    Args:
        options: with `words` behind the name of the tool, and `args`.
        tool: None where its definition is not known.

    Raises:
        UsageError: something is no argument, unknown or missing.
    """
    schema: dict[str, Any] = {} if tool is None else tool.input_schema
    found = _whole(options)
    named: dict[str, list[Any]] = {}
    for word in options.words[1:]:
        if word.startswith("@"):
            found |= _object(_file(word[1:], word), word)
            continue
        name, value = _typed(word, _node(schema, word), schema)
        named.setdefault(name, []).append(value)
    if tool is not None:
        _check_names(tool, list(named))
    for name, values in named.items():
        found[name] = _joined(name, values, _node(schema, name + "="), schema)
    if tool is not None:
        _check_missing(tool_signature(tool), "tool", tool.name, schema.get("required"), found)
    return found


def prompt_arguments(options: argparse.Namespace, prompt: Prompt | None) -> dict[str, str]:
    """Return the arguments of a prompt, which are texts; otherwise as `tool_arguments`."""
    given = _whole(options)
    for word in options.words[1:]:
        if word.startswith("@"):
            given |= _object(_file(word[1:], word), word)
            continue
        name, text, is_json = _split(word)
        value = _content(text, word)
        given[name] = _json(name, value) if is_json else _text(value, word)
    found = {name: _as_text(value) for name, value in given.items()}
    if prompt is not None:
        known = [argument.name for argument in prompt.arguments or ()]
        for name in found:
            if name not in known:
                hint = did_you_mean(name, known)
                raise UsageError(f"prompt {prompt.name!r} has no argument {name!r}{hint}; {prompt_signature(prompt)}")
        needed = [argument.name for argument in prompt.arguments or () if argument.required]
        _check_missing(prompt_signature(prompt), "prompt", prompt.name, needed, found)
    return found


# --- one word -----------------------------------------------------------------------------------------------------


def _split(word: str, words: Sequence[str] = ()) -> tuple[str, str, bool]:
    """Return name, text and whether it is JSON; `words` are all, for what is said of one that is no argument."""
    name, equals, text = word.partition("=")
    if not equals or not name.rstrip(":") or name.startswith("{"):
        from .misplaced import argument_hint

        raise UsageError(f"argument {word!r}: {argument_hint(word, words or (word,))}")
    return (name[:-1], text, True) if name.endswith(":") else (name, text, False)


def _typed(word: str, node: Any, root: dict[str, Any]) -> tuple[str, Any]:
    """Return name and value of a word."""
    name, text, is_json = _split(word)
    content = _content(text, word)
    if is_json:
        return name, _json(name, content)
    if _takes_bytes(node, root) and text.startswith("@") and not text.startswith("@@"):
        import base64

        return name, base64.b64encode(content).decode()
    return name, _value(name, _text(content, word), node, root)


def _value(name: str, text: str, node: Any, root: dict[str, Any]) -> Any:
    """Return what a text is where the schema is as it is."""
    wanted = kinds(node, root)
    if "string" in wanted and not _is_other_choice(text, node, root):
        return text
    if wanted and wanted <= {"boolean", "null"} and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        value = text  # the server says better what it expects
        if "array" in wanted and _LIST.fullmatch(text):
            typed = (item.strip(" '\"") for item in text[1:-1].split(","))
            items = [_value(name, item, _items(node, root), root) for item in typed if item]
            whole = shlex.quote(f"{name}={_as_text(items)}")
            raise UsageError(
                f"argument {name!r}: {text} is no JSON; write {whole}, or each item as {name}=..."
            ) from None
    if "array" in wanted and not isinstance(value, list | None):
        return _value(name, text, _items(node, root), root)
    return value


def _is_other_choice(text: str, node: Any, root: dict[str, Any]) -> bool:
    """Return whether a text is no choice of an enumeration, but what it is as JSON is one."""
    choices = [value for branch in branches(node, root) for value in branch.get("enum", ())]
    return bool(choices) and text not in choices and any(str(value) == text for value in choices)


def _takes_bytes(node: Any, root: dict[str, Any]) -> bool:
    return any(branch.get("contentEncoding") == "base64" for branch in branches(node, root))


def _joined(name: str, values: list[Any], node: Any, root: dict[str, Any]) -> Any:
    """Return the value of a name that was given so often: an array gets an item each time."""
    wanted = kinds(node, root)
    if "array" in wanted and "string" not in wanted and (len(values) > 1 or not isinstance(values[0], list | None)):
        return values
    if len(values) > 1:
        raise UsageError(f"argument {name!r} is given {len(values)} times")
    return values[0]


def _items(node: Any, root: dict[str, Any]) -> Any:
    return next((branch.get("items", {}) for branch in branches(node, root) if branch.get("type") == "array"), {})


def _node(schema: dict[str, Any], word: str) -> Any:
    properties = resolved(schema, schema).get("properties")
    name = word.partition("=")[0].removesuffix(":")
    return properties.get(name, {}) if isinstance(properties, dict) else {}


def _content(text: str, word: str) -> bytes:
    """Return the value of a word: a file's content behind `@`, where `@@` begins a text with an `@`."""
    if text.startswith("@@"):
        return text[1:].encode()
    return _file(text[1:], word) if text.startswith("@") else text.encode(errors="surrogateescape")


def _file(path: str, word: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as fault:
        hint = "" if word.startswith("@") else "; a text that begins with @ is written with two, @@"
        raise UsageError(f"argument {word!r}: {path or '(no file name)'}: {fault.strerror}{hint}") from None


def _text(content: bytes, word: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise UsageError(f"argument {word.partition('=')[0]!r} is no UTF-8 text") from None


def _json(name: str, text: str | bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        plain = text if isinstance(text, str) else text.decode(errors="replace")
        as_text = "" if plain.lstrip()[:1] in ("{", "[", '"') else f"; a text is given with = alone, {name}={plain:.40}"
        raise UsageError(f"argument {name!r} is not JSON: {_fault_in(text, fault)}{as_text}") from None


def _fault_in(text: str | bytes, fault: Exception) -> str:
    from ..protocol.jsonrpc import malformed  # of mistakes only

    return malformed(text.encode(errors="surrogateescape") if isinstance(text, str) else text, fault)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


# --- all of them --------------------------------------------------------------------------------------------------


def _whole(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `--args`."""
    given: str | None = options.args
    if given is None:
        return {}
    if given == "-":
        return _object(sys.stdin.buffer.read(), "--args -")
    if given.startswith("@"):
        return _object(_file(given[1:], given), f"--args {given}")
    return _object(given.encode(errors="surrogateescape"), "--args")


def _object(content: bytes, where: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        if where == "--args" and (content.endswith(b".json") or os.path.isfile(content)):
            raise UsageError(f"--args is not JSON; a file is given with an @: --args @{content.decode()}") from None
        is_pair = where == "--args" and re.match(rb"[A-Za-z_]\w*:?=", content)
        words = "; name=value stands without --args" if is_pair else ""
        what = where if where.startswith("--args") else f"argument {where!r}"
        raise UsageError(f"{what} is not JSON: {_fault_in(content, fault)}{words}") from None
    if not isinstance(value, dict):
        raise UsageError(f'{where}: a JSON object is expected, such as {{"a": 1}}')
    return value


def doubts(options: argparse.Namespace, tool: Tool | None, failed: bool) -> Iterator[str]:
    """Yield what may be written otherwise than it was meant, for people: after the call, of which it holds nothing up.

    Args:
        options: as above.
        tool: as above.
        failed: whether the result is an error.
    """
    schema: dict[str, Any] = {} if tool is None else tool.input_schema
    given = [_split(word) for word in options.words[1:] if not word.startswith("@")]
    for name, text, is_json in given:
        node = _node(schema, name + "=")
        wanted = kinds(node, schema)
        if is_json or text.startswith("@"):
            continue
        if text == "null" and {"null", "string"} <= wanted:
            yield f"{name} was sent as the text 'null'; null itself is written {name}:=null"
        if not wanted or "string" in wanted:
            continue
        if not text and "array" in wanted:
            yield f"{name} was sent with one empty text; an empty list is written {shlex.quote(f'{name}:=[]')}"
        elif "array" in wanted and sum(name == other for other, _, _ in given) == 1 and _ITEMS.fullmatch(text):
            several = " ".join(f"{name}={item}" for item in text.split(","))
            yield f"{name} was sent with one item, {text!r}; several are written {several}"
        elif failed and (pair := _PAIRS.fullmatch(text)) and _node(schema, pair[2] + "="):
            several = shlex.join([f"{name}={pair[1]}", f"{pair[2]}={pair[3]}"])
            yield f"{shlex.quote(f'{name}={text}')} is one argument; did you mean two, {several}?"
        elif failed and text.startswith("="):
            yield f"{name}={text}: did you mean {shlex.quote(name + text)}?"
        elif failed and (meant := _meant(text, wanted)):
            yield f"{name}={text}: did you mean {shlex.quote(f'{name}={meant}')}?"
        elif failed and text.startswith(("{", "[")) and not _is_json(text):
            yield f"{name}={text} was sent as a text, for it is no JSON"


def _meant(text: str, wanted: set[str]) -> str:
    """Return the JSON that a text of another language stands for; empty where it stands for none."""
    if text in ("None", "nil", "undefined", "NULL", "Null") and "null" in wanted:
        return "null"
    if "boolean" in wanted and text.lower() in _SPELLINGS:
        return _SPELLINGS[text.lower()]
    if "object" in wanted and (pair := _PAIR.fullmatch(text)):
        member = pair[2] if _is_json(pair[2]) else msgspec.json.encode(pair[2]).decode()
        return f'{{"{pair[1]}":{member}}}'
    if "object" in wanted and text.startswith("{") and text.endswith("}") and not _is_json(text):
        import ast

        try:
            quoted = msgspec.json.encode(ast.literal_eval(text)).decode()
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            quoted = re.sub(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)", r'\1"\2"\3', text)
        return quoted if _is_json(quoted) else ""
    return ""


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _check_names(tool: Tool, names: Sequence[str]) -> None:
    schema = tool.input_schema
    properties = schema.get("properties", {})
    additional = schema.get("additionalProperties", _UNSET)
    if not isinstance(properties, dict) or any(keyword in schema for keyword in _OPEN):
        return
    if additional is not _UNSET and additional is not False:
        return
    if additional is _UNSET and not properties:
        return
    for name in names:
        if name not in properties:
            forced = "" if additional is False else " (--args sends it all the same)"
            hint = _whole_value(name, properties, schema) or did_you_mean(name, properties)
            raise UsageError(f"tool {tool.name!r} has no argument {name!r}{hint}; {tool_signature(tool)}{forced}")


def _whole_value(name: str, properties: dict[str, Any], schema: dict[str, Any]) -> str:
    """Return the end of a sentence about a name that is a part of an argument; empty where it is none."""
    found = re.match(r"(\w+)[.[](\w*)", name)
    if found is not None and (node := properties.get(found[1])) is not None:
        if "array" in kinds(node, schema):
            return f"; its items are given one by one: {found[1]}=... {found[1]}=..."
        return f"; it is given as a whole: {found[1]}:='{{\"{found[2] or 'name'}\": ...}}'"
    for owner, node in properties.items():
        if any(name in branch.get("properties", {}) for branch in branches(node, schema)):
            return f"; that is a member of {owner}: {owner}:='{{\"{name}\": ...}}'"
    return ""


def _check_missing(signature: str, noun: str, name: str, required: Any, found: dict[str, Any]) -> None:
    missing = [needed for needed in required if needed not in found] if isinstance(required, list) else []
    if missing:
        raise UsageError(f"{noun} {name!r} needs {', '.join(map(str, missing))}; {signature}")
