"""What is wrong with an mcp.json, and how it is mended; imported after a mistake, or for members that nobody knows.

In: the bytes of a file, or an entry of one, and what the decoder said. Out: the end of a sentence.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ..mistyped import closest
from ..protocol.jsonrpc import malformed

_MAPS = {"env": '{"NAME": "value"}', "headers": '{"Name": "value"}'}
_OTHERS = {
    **dict.fromkeys(("cmd", "executable", "program"), "command"),
    **dict.fromkeys(("arguments", "params"), "args"),
    **dict.fromkeys(("environment", "variables"), "env"),
    **dict.fromkeys(("endpoint", "httpUrl", "serverUrl", "uri"), "url"),
    **dict.fromkeys(("workdir", "workingDirectory"), "cwd"),
}
"""Members that hosts and people have other names for."""
_ALIKE = 0.75  # of a member and one that we know; hosts have more of their own


def no_json(content: bytes, fault: Exception) -> str:
    """Return why a file is no JSON, with its line and column where they can be told.

    Args:
        content: of the file.
        fault: of the decoder, where nothing else is found.
    """
    if not content.strip():
        return "it is empty"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is UTF-16; save it as UTF-8"
    if content.startswith(b"\xef\xbb\xbf"):
        return "it begins with a byte order mark; save it as UTF-8 without one"
    try:
        text = content.decode()
        json.loads(text)  # unlike msgspec, it tells line and column
    except json.JSONDecodeError as found:
        place = f"line {found.lineno} column {found.colno}"
        rest = text[found.pos :].lstrip()
        if rest.startswith(("//", "/*", "#")):
            return f"{place}: it has no comments; take them out"
        if rest.startswith(("}", "]")) or re.search(r",\s*$", text[: found.pos]):
            return f"{place}: a comma stands behind the last entry; take it out"
        if rest.startswith("'"):
            return f"{place}: texts stand between double quotation marks"
        if found.msg == "Invalid \\escape":
            return f"{place}: a backslash is written twice, as in C:\\\\Python"
        return f"{place}: {found.msg}"
    except (UnicodeDecodeError, RecursionError):
        pass  # in the words of the other decoder, as for what this one takes, such as NaN
    return malformed(content, fault)


def misshapen(value: Any, fault: Exception) -> str:
    """Return what is wrong with an entry whose members have other types than they should.

    Args:
        value: the entry.
        fault: of the decoder, where nothing else is found. Values may be secrets, and are shown of `args` only.
    """
    if isinstance(value, str):
        words = shlex.split(value) if value.count('"') % 2 == 0 and value.count("'") % 2 == 0 else [value]
        entry = json.dumps({"command": words[0], "args": words[1:]} if words else {"command": ""})
        return f"an entry is an object; write {entry}"
    if not isinstance(value, dict):
        return 'an entry is an object, such as {"command": "python", "args": ["server.py"]}'
    for name in ("command", "url", "cwd", "type"):
        if not isinstance(value.get(name), str | None):
            more = '; what stands behind it goes into "args"' if name == "command" else ""
            return f"`{name}` is one text{more}"
    args = value.get("args", [])
    if not isinstance(args, list):
        words = args.split() if isinstance(args, str) else ["server.py"]
        return f"`args` is a list of texts: write {json.dumps(words)}"
    for item in args:
        if not isinstance(item, str):
            return f"`args` is a list of texts: write {json.dumps(json.dumps(item))} for {json.dumps(item)}"
    for name, form in _MAPS.items():
        members = value.get(name, {})
        if not isinstance(members, dict):
            return f"`{name}` is an object of texts: write {form}"
        wrong = next((key for key, text in members.items() if not isinstance(text, str)), None)
        if wrong is not None:
            return f"`{name}` is an object of texts: put the value of {wrong} between quotation marks"
    return str(fault)


def misspelt(value: Mapping[str, Any], known: Sequence[str]) -> str:
    """Return what a member was probably meant to be, empty where all others are of hosts.

    Args:
        value: the entry.
        known: the members that there are.
    """
    for name in value:
        if name in known:
            continue
        meant = _OTHERS.get(name) or closest(name, known, cutoff=_ALIKE)
        if meant is not None and meant not in value:
            return f"there is no member {name!r}; did you mean {meant!r}?"
    return ""
