"""Words of a command line that are right, at a wrong place or in another tool's spelling.

In: the words as they were typed, and what was wrong. Out: the end of a sentence, or a whole one; empty where nothing
can be said. Imported after a mistake only.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import MCPError
from ..mistyped import closest, did_you_mean
from ..run_mistakes import instead
from .faults import UsageError, proposal

if TYPE_CHECKING:
    from .connection import Connection

_SYNONYMS = {
    **dict.fromkeys(("serve", "server", "start", "dev", "test", "launch", "up"), "run"),
    **dict.fromkeys(
        ("inspect", "inspector", "ls", "show", "tools", "tool", "resources", "resource", "prompts"), "list"
    ),
    **dict.fromkeys(("lint", "validate", "doctor", "verify"), "check"),
    **dict.fromkeys(("invoke", "execute", "exec"), "call"),
    **dict.fromkeys(("info", "ping", "about"), "discover"),
    **dict.fromkeys(("convert", "port", "upgrade"), "migrate"),
    **dict.fromkeys(("docs", "error"), "explain"),
    **dict.fromkeys(("fetch", "get"), "read"),
    "add": "install",
    "config": "install json",
    "watch": "run --reload",
    **dict.fromkeys(("uninstall", "remove", "rm"), "install HOST NAME --remove"),
}
_OPTIONS = {
    "install": {"uninstall": "--remove", "delete": "--remove", "rm": "--remove", "file": "--config"},
    "run": {
        **dict.fromkeys(("address", "bind"), "--host"),
        **dict.fromkeys(("certfile", "ssl", "tls"), "--ssl-cert"),
        "keyfile": "--ssl-key",
        "mode": "--transport",
        "p": "--port",
        "t": "--transport",
        "watch": "--reload",
    },
}
_TALKING = {
    **dict.fromkeys(("arguments", "d", "data", "input", "params"), "give --args JSON"),
    **dict.fromkeys(("m", "module", "server", "u", "url"), "the server stands first, without an option"),
    "command": "the program that starts a server stands at the end, behind `--`",
    **dict.fromkeys(("format", "j", "pretty", "raw"), "give --json, or leave it out"),
    **dict.fromkeys(("host", "http", "p", "port", "transport"), "name a server that runs by its URL, such as {}"),
    **dict.fromkeys(("n", "name", "t", "tool"), "the tool stands behind the server, without an option"),
    **dict.fromkeys(("q", "quiet"), "leave it out: data alone goes to standard output"),
    "debug": "give --verbose",
    "fix": "leave it out: what to write is told, and nothing is changed",
    "o": "give --output FOLDER",
    "select": "rules are left out with --ignore RULE",
}
_URL = "http://127.0.0.1:8000/mcp"
_INSTALLING = {
    **dict.fromkeys(("http", "url"), f"name the server by its URL, {_URL}"),
    **dict.fromkeys(("python", "with"), "leave it out: the entry starts this Python, with its packages"),
    "global": "leave it out: without --project the user's file is written",
}
"""What to do in place of options of other programs that talk to servers, or install them."""
_SENTENCES = {
    **dict.fromkeys(("debug", "v", "verbose"), "leave it out: what fails is told anyhow"),
    "env": "set it in front of the command: NAME=VALUE leanmcp run ...",
    "stdio": "leave it out: stdio is the default",
}
"""What to do in place of options that other programs have for `run`, besides those of `run_mistakes`."""
_HOST = re.compile(
    r"(?:localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\]|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:/\S*)?|[\w.-]+:\d+(?:/\S*)?"
)
_PORT = re.compile(r":?(\d{2,5})(/\S*)?")
_FILES = (".cfg", ".csv", ".html", ".ini", ".ipynb", ".json", ".lock", ".md", ".toml", ".txt", ".xml", ".yaml", ".yml")
"""Endings that are of files: some are of countries, too, but nobody serves MCP at `https://README.md/`."""
_WITHIN = re.compile(r"(.*\.py)[.:]+([A-Za-z_][\w.]*)")  # a file, and something in it that is no plain name
_PROGRAMS = {".cjs": "node", ".jar": "java -jar", ".js": "node", ".mjs": "node", ".pyz": "python", ".sh": "sh"}
_PROGRAMS[".ts"] = "npx tsx"
_CUTOFF = 0.7  # how alike two options must be, without their dashes
_STARTERS = ("python", "python3", "node", "npx", "uv", "uvx", "docker", "deno", "bun", "bunx", "sh", "bash")
_TAKES_ARGUMENTS = ("call", "prompt", "complete")
_VALUE = re.compile(r"[A-Za-z_]\w*=")


def command_proposal(name: str, known: Sequence[str]) -> str:
    """Return what to type instead of a command that there is not; `known` in the order of what is wanted most."""
    if meant := _SYNONYMS.get(name.lower()):
        return f"; did you mean `leanmcp {meant}`?"
    if near := closest(name, known, cutoff=_CUTOFF):
        return f"; did you mean {near!r}?"
    return f"; there is {', '.join(known)}"


def option_proposal(command: str, word: str, words: Sequence[str], known: Sequence[str]) -> str:
    """Return what to type instead of an option that there is not.

    Args:
        command: whose option it would be.
        word: it, with its value where that stands behind an equals sign.
        words: all, as they were typed.
        known: the options.
    """
    name, equals, value = word.partition("=")
    bare = name.lstrip("-")
    if meant := _OPTIONS.get(command, {}).get(bare):
        return f"; did you mean {meant!r}?"
    if command == "run" and bare in _SENTENCES:
        return f"; {_SENTENCES[bare]}"
    if command == "explain" and bare in ("all", "list"):
        return "; leave it out: without a word, all codes are listed"
    if command == "list" and bare in ("prompts", "resources", "templates", "tools"):
        return f"; write it without dashes: {bare}"
    names = {option.lstrip("-"): option for option in known}
    if len(bare) > 1 and (near := closest(bare, names, cutoff=_CUTOFF)):
        return f"; did you mean {names[near]!r}?"
    if command == "run" and (told := instead(bare.replace("-", "_"))):
        return f"; {told}"
    place = words.index(word) if word in words else -1
    following = words[place + 1] if 0 <= place < len(words) - 1 else ""
    starter = next((one for one in words[: max(place, 0)] if os.path.basename(one) in _STARTERS), None)
    if starter is not None and command != "run":
        return f"; the program that starts a server stands at the end, behind `--`, as in `-- {starter} {word} ...`"
    if command == "run" and bare in ("m", "module"):
        return f"; name the module alone: `leanmcp run {following or 'package.module'}`"
    meant = (_INSTALLING if command == "install" else _TALKING).get(bare, "").format(_URL)
    if command in _TAKES_ARGUMENTS and bare:
        given = value if equals else "VALUE" if not following or following.startswith("-") else following
        named = f"an argument has no dashes: {shlex.quote(f'{bare}={given}')}"
        return f"; {meant}; {named}" if meant else f"; {named}"
    if meant and command != "run":
        return f"; {meant}"
    shown = sorted(known)[:30]
    return f"; there is {', '.join(shown)}" if shown else ""


def meant_target(prog: str, words: Sequence[str], known: Sequence[str] = ()) -> str:
    """Return what was probably meant by a word that is no Python file and no module; empty where nobody knows.

    Args:
        prog: the command, "leanmcp call".
        words: it, and those behind it that are no options.
        known: the entries of mcp.json.
    """
    text = words[0]
    extension = os.path.splitext(text)[1]
    if os.path.isfile(text):
        return _other_file(prog, text, extension)
    if " " in text:
        return f"no file {text!r}; to start a server by its command, put `-- {text}` at the end instead"
    if extension in (*_FILES, *_PROGRAMS) or (extension != ".py" and extension.lower() in (".py", ".pyc")):
        folder = os.path.dirname(text) or "."
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return f"no file {text!r}{did_you_mean(os.path.basename(text), names)}"
    if found := _WITHIN.match(text):
        inner = found[2].partition(".")[0]
        return f"no file {text!r}; {inner!r} in {found[1]} is named {found[1]}:{inner}"
    file, slash, tool = text.rpartition("/")
    if slash and file.endswith(".py") and os.path.isfile(file):
        return f"no file {text!r}; a tool is a word of its own: `{prog} {file} {tool}`"
    module, dot, name = text.rpartition(".")
    if dot and name.isidentifier() and _is_alone(module, name):
        return f"no file and no module {text!r}; {name!r} in {module} is named {module}:{name}"
    if text.endswith(".py") or os.path.exists(text):
        return ""
    command = prog.rpartition(" ")[2]
    if command == "run":  # which takes no server elsewhere
        return ""
    talks = command != "install"
    if talks and (told := order_mistake(prog, words)):
        return told
    if match := _PORT.fullmatch(text):
        return f"{text!r} is no URL; did you mean 'http://127.0.0.1:{match[1]}{match[2] or '/mcp'}'?"
    if "://" in text or _HOST.fullmatch(text):
        from ..transports.http_client_url import parse_url

        try:
            parse_url(text)
        except ValueError as fault:
            return str(fault)
    if known:
        return f"no file, module or server {text!r}{proposal(text, known)}"
    if talks and text.isidentifier():
        return f"no file and no module {text!r}, and no mcp.json in this folder names it{_other_config()}"
    return ""


def _other_file(prog: str, text: str, extension: str) -> str:
    """Return what to do with a file that is there, and is no Python file."""
    if extension in _PROGRAMS or (os.access(text, os.X_OK) and extension != ".py"):
        program = f"{_PROGRAMS[extension]} {text}" if extension in _PROGRAMS else os.path.join(".", text)
        return f"{text!r} is no Python file; to start it, put `-- {program}` at the end instead"
    if extension == ".json":
        from .config import find_entry

        name = next(iter(find_entry("", text)[1]), "NAME")
        return f"{text!r} is no Python file; a server that it names is `{prog} {name} --config {text}`"
    if extension == ".ipynb":
        return f"{text!r} is no Python file; make one of it: `jupyter nbconvert --to script {text}`"
    return f"{text!r} is no Python file; its name must end in .py" if extension.lower() in ("", ".py", ".pyw") else ""


def _other_config() -> str:
    """Return the end of a sentence about settings of a host in this folder, empty without any."""
    from .installing_hosts import HOSTS

    path = next((host.project for host in HOSTS.values() if host.project and os.path.isfile(host.project)), None)
    return "" if path is None or os.sep not in path else f"; to look in {path}, give --config {path}"


def _is_alone(module: str, name: str) -> bool:
    """Return whether a module lies below the working folder, and has no module `name` in it."""
    path = module.replace(".", os.sep)
    inner = os.path.join(path, name)
    if os.path.isfile(os.path.join(path, "__init__.py")):
        return not os.path.exists(f"{inner}.py") and not os.path.isdir(inner)
    return os.path.isfile(f"{path}.py")


def order_mistake(prog: str, words: Sequence[str]) -> str:
    """Return what is wrong where the first word behind a command is no server, and another one is.

    Args:
        prog: the command, "leanmcp call".
        words: those that are no options, as they were typed.
    """
    starter = next((place for place, word in enumerate(words) if word in _STARTERS), None)
    if starter is not None:
        length = 2 if starter == 0 else len(words) - starter
        program, others = words[starter : starter + length], [*words[:starter], *words[starter + length :]]
        typed = shlex.join([*prog.split(), *others, "--", *program])
        return f"a program that starts a server stands at the end, behind `--`: `{typed}`"
    for place, word in enumerate(words[1:], 1):
        if _VALUE.match(word) is None and _names_server(word):
            typed = shlex.join([*prog.split(), word, *words[:place], *words[place + 1 :]])
            return f"the server stands first: `{typed}`"
    if prog.endswith(" list") and words[0] in ("prompts", "resources", "templates", "tools"):
        return f"the server stands first: `{prog} server.py {words[0]}`"
    return ""


def _names_server(word: str) -> bool:
    path = word if os.path.isfile(word) else word.rpartition(":")[0]
    return word.startswith(("http://", "https://")) or (path.endswith(".py") and os.path.isfile(path))


def program_mistake(words: Sequence[str], program: Sequence[str]) -> str:
    """Return what is wrong with a program behind `--`, of which a server was asked for, empty where nothing is."""
    first = program[0]
    if len(program) == 1 and os.path.basename(first) in ("bash", "bun", "deno", "node", "python", "python3", "sh"):
        return f"{first} alone reads its program from standard input; name one, such as `-- {first} server.py`"
    if _VALUE.match(first):
        if len(program) > 1 and not _VALUE.match(program[1]):
            return (
                f"{first!r} is no program; a variable of the server's process is given with --env {shlex.quote(first)}"
            )
        return f"{first!r} is no program; arguments stand before `--`, and without it where the server is a file or URL"
    if words and words[0].endswith(".py") and os.path.isfile(words[0]):
        if first.startswith("-"):
            typed = shlex.join(["python", words[0], *program])
            return f"{words[0]} gets no arguments here; to start it as a program with some, write `-- {typed}`"
        return f"{words[0]!r} and `-- {shlex.join(program)}` are two servers; leave out one of them"
    return ""


def extra_word(command: str, word: str, words: Sequence[str]) -> str:
    """Return the end of a sentence about a word too many, without its semicolon."""
    if command == "run":
        if word in ("http", "streamable-http"):
            return "to serve HTTP, write --http"
        if word == "stdio":
            return "leave it out: stdio is the default"
        if word.isdecimal():
            return f"the port is --port {word}" if "--http" in words else f"the port is --http --port {word}"
        if "--" in words or (words and words[0] in _STARTERS):
            return "it serves a Python file itself, and takes no program: `leanmcp run server.py`"
    return f"see `leanmcp {command} --help`"


async def no_such(connection: Connection, command: str, noun: str, names: Sequence[str]) -> UsageError:
    """Return the error of a tool or prompt that there is not, or that the command line does not name."""
    if not connection.options.words:
        hint = tool_behind(connection.options.program or (), names)
        there = ", ".join(names) or "(it has none)"
        return UsageError(f"name a {noun} of {connection.server_name!r}: {there}{hint}")
    word = connection.options.words[0]
    hint = await other_kind(connection, command) or call_form(word, names)
    hint = hint or proposal(word, names) or f"; it has no {noun}s"
    return UsageError(f"no {noun} {word!r} in {connection.target.name}{hint}")


async def other_kind(connection: Connection, command: str) -> str:
    """Return the end of a sentence about a name that the command does not find, and another one would."""
    word, client, target = connection.options.words[0], connection.client, connection.target.name
    kinds = (("tool", "call", client.tools()), ("prompt", "prompt", client.prompts()))
    for noun, other, entries in (*kinds, ("resource", "read", client.resources())):
        if other == command:
            continue
        try:
            uris = [(entry.name, getattr(entry, "uri", entry.name)) async for entry in entries]
        except MCPError:  # what was asked for is not there, whatever else the server cannot tell
            return ""
        if uri := next((uri for name, uri in uris if word in (name, uri)), None):
            return f"; it is a {noun}: `leanmcp {other} {shlex.join([target, uri])}`"
    return ""


def call_form(tool: str, names: Sequence[str]) -> str:
    """Return the end of a sentence about `add(a=1, b=2)`, empty where the text is no such thing."""
    match = re.fullmatch(r"([\w./-]+)\((.*)\)", tool, re.DOTALL)
    if match is None or match[1] not in names:
        return ""
    return f"; arguments are words of their own, as in `{match[1]} name=value`, without parentheses"


def tool_behind(program: Sequence[str], names: Sequence[str]) -> str:
    """Return the end of a sentence where the tool was written behind the program that starts the server."""
    place = next((place for place, word in enumerate(program) if place and word in names), None)
    if place is None:
        return ""
    typed = shlex.join(["leanmcp", "call", *program[place:], "--", *program[:place]])
    return f"; tool and arguments stand before `--`: `{typed}`"


def argument_hint(word: str, words: Sequence[str]) -> str:
    """Return what to write instead of a word that is no argument: the end of a sentence.

    Args:
        word: it.
        words: all words behind the name of the tool.
    """
    place = words.index(word)
    before = words[place - 1] if place else ""
    after, behind = (*words[place + 1 : place + 3], "", "")[:2]
    if word.startswith(("{", "[")):
        return 'all arguments at once are one JSON object behind --args: --args \'{"name": "value"}\''
    if after == "=" and behind:
        return f"write {shlex.quote(f'{word}={behind}')}, without blanks"
    if after.startswith("=") and len(after) > 1:
        return f"write {shlex.quote(word + after)}, without blanks"
    if before.endswith("=") and before != "=":
        return f"write {shlex.quote(before + word)}, without blanks"
    if pair := re.fullmatch(r"([A-Za-z_]\w*):(?!=)(.+)", word):
        return f"write {shlex.quote(f'{pair[1]}={pair[2]}')}"
    if word.endswith(":") and len(word) > 1 and after and "=" not in after:
        return f"write {shlex.quote(f'{word[:-1]}={after}')}"
    if "=" in before and not word.startswith("-"):
        quoted = shlex.quote(f"{before} {word}")
        return f"write name=value, such as {shlex.quote(word)}=true; a text with blanks stands in quotes: {quoted}"
    return "write name=value, or name:=json"
