"""What a server has, for `completion_words`: asked for as long as a user at a prompt waits.

In: the place of the cursor. Out: words with a few others about each. A Python file is loaded here, without its
lifespan; a URL is asked. A program is never started: it may do anything, and nobody has pressed Enter.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from .completion_words import Place, Word, is_debugging, seconds

if TYPE_CHECKING:
    from ..client import Client

T = TypeVar("T")
_MOST = 1000  # entries of a list
_VARIABLES = re.compile(r"\{[+#./;?&]?([^}]*)\}")


def servers(config: str | None) -> list[str]:
    """Return the names that mcp.json has."""
    from .config import find_entry

    return find_entry("", config)[1]


def objects_of(path: str) -> list[str]:
    """Return the names of what a file makes with `MCPServer(...)`; it is read, not run."""
    import ast

    if not os.path.isfile(path):
        return []
    with open(path, "rb") as file:
        tree = ast.parse(file.read())
    found = []
    for statement in tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            continue
        value = statement.value
        if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "MCPServer":
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found += [target.id for target in targets if isinstance(target, ast.Name)]
    return found


def entries(place: Place, *kinds: str) -> list[Word]:
    """Return names, or URIs, of what the server has of some kinds, see `listing.KINDS`."""

    async def listed(client: Client) -> list[Word]:
        return [_word(entry) for kind in kinds for entry in await _list(client, kind)]

    return _asked(place, listed) or []


def tool_words(place: Place) -> list[Word]:
    """Return `name=` for each argument of the tool that is named, or the values that the one at the cursor has."""

    async def listed(client: Client) -> list[Any]:
        return [tool for tool in await _list(client, "tools") if tool.name == place.words[1]]

    found = _asked(place, listed)
    return list(_tool_words(found[0].input_schema, place)) if found else []


def prompt_words(place: Place) -> list[Word]:
    """Return `name=` for each argument of a prompt or template, or what the server completes its value to."""
    from .completing import completed

    reference = place.words[1]
    is_template = "://" in reference
    name, equals, _ = place.current.partition("=")

    async def asked(client: Client) -> list[Word]:
        if equals:
            result = await completed(client, reference, place.current, *place.words[2:])
            return [Word(f"{name}={text}") for text in result.completion.values]
        if is_template:
            listed = [part for group in _VARIABLES.findall(reference) for part in group.split(",")]
            return [Word(f"{variable.partition(':')[0].rstrip('*')}=") for variable in listed]
        prompts = [prompt for prompt in await _list(client, "prompts") if prompt.name == reference]
        used = {word.partition("=")[0] for word in place.words[2:]}
        arguments = [argument for prompt in prompts for argument in prompt.arguments or ()]
        return [Word(f"{item.name}=", item.description or "") for item in arguments if item.name not in used]

    return _asked(place, asked) or []


def _asked(place: Place, ask: Callable[[Client], Awaitable[T]]) -> T | None:
    """Return what a server says; None where it is not asked, says nothing in time, or something is wrong."""
    if place.options is None or place.options.program is not None or not seconds():
        return None
    try:
        return _converse(place, ask)
    except Exception:  # also the user's file may raise anything
        if is_debugging():
            raise
        return None


def _converse(place: Place, ask: Callable[[Client], Awaitable[T]]) -> T | None:
    from ..client import Client, StdioServerParameters
    from .screen import Screen
    from .target import find_target

    options = place.options
    assert options is not None
    options.login, options.timeout = False, seconds()  # no browser is opened from here
    target = find_target(options, Screen())
    if isinstance(target.server, StdioServerParameters):
        return None
    if target.local:
        target.server.lifespan = None  # lists need no database, and this process answers nothing else

    async def talk() -> T:
        async with asyncio.timeout(seconds()), Client(target.server, mode=options.mode) as client:
            return await ask(client)

    return asyncio.run(talk())


async def _list(client: Client, kind: str) -> list[Any]:
    """Return what there is of a kind, up to a bound: a server may have more than anybody looks through."""
    from .listing import every

    found: list[Any] = []
    async for entry in every(client, kind):
        found.append(entry)
        if len(found) == _MOST:
            break
    return found


def _word(entry: Any) -> Word:
    name = getattr(entry, "uri", None) or getattr(entry, "uri_template", None) or entry.name
    return Word(name, entry.description or entry.title or "")


# --- the schema of a tool -----------------------------------------------------------------------------------------


def _tool_words(schema: dict[str, Any], place: Place) -> Iterator[Word]:
    from .signatures import kinds, resolved

    properties = resolved(schema, schema).get("properties")
    if not isinstance(properties, dict):
        return
    name, equals, _ = place.current.partition("=")
    if equals:
        node = properties.get(name.removesuffix(":"), {})
        yield from (Word(f"{name}={text}") for text in _choices(node, schema, as_json=name.endswith(":")))
        return
    used = {word.partition("=")[0].removesuffix(":") for word in place.words[2:]}
    for name, node in properties.items():
        types = kinds(node, schema)
        if name not in used or "array" in types:
            about = node.get("description") if isinstance(node, dict) else None
            yield Word(f"{name}=", str(about or " | ".join(sorted(types - {"null"}))))


def _choices(node: Any, root: dict[str, Any], as_json: bool, is_item: bool = False) -> Iterator[str]:
    """Yield the values of an enumeration, or of a boolean, as they are typed; of an array those of its items."""
    import msgspec

    from .signatures import branches

    for branch in branches(node, root):
        values: Any = branch.get("enum", [branch["const"]] if "const" in branch else [])
        if branch.get("type") == "boolean" and not values:
            values = [True, False]
        for value in values if isinstance(values, list) else ():
            is_text = isinstance(value, str) and not as_json
            yield value if is_text else msgspec.json.encode(value).decode()
        if branch.get("type") == "array" and not as_json and not is_item:
            yield from _choices(branch.get("items"), root, as_json, is_item=True)
