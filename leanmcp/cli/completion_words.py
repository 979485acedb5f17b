"""`leanmcp --complete SHELL WORD ...`: what may stand in place of the last word; asked by the scripts of `completion`.

In: the words behind `leanmcp` up to the cursor, as a shell has them (bash: as they are typed, quotes included). Out: a
line `KIND|PATTERN|SKIP|PATH`, where KIND is `files`, `folders` or `none`, PATTERN which files, PATH what is typed of
one, behind SKIP characters of the word (bash: what to insert before it); then a line for each word: for bash what to
insert, else `WORD<tab>about`.

Nobody has asked for an error in the middle of a line: whatever goes wrong, and whatever takes longer than the time
there is, prints nothing, and so does the file of a server that is loaded here.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TextIO

from .faults import FAILED, OK, UsageError
from .terminal import line

if TYPE_CHECKING:
    from .options import Parser

SECONDS = 1.5
_MOST_SECONDS = 3600.0
_VALUES = {
    "mode": ("auto", "legacy", "2026-07-28", "2025-11-25", "2025-06-18"),
    "transport": ("stdio", "http", "streamable-http"),
}
"""Of options that take others too, or say themselves what is wrong."""
_FILE, _FOLDER = ("FILE", "PATH"), ("FOLDER",)  # in the metavar of an option
_PYTHON = "*.py"
_ABOUT = 80  # characters
_LONGEST = 1000  # characters of a description that are looked at; a server may send more


class Word(NamedTuple):
    """A word that may stand at the cursor.

    Args:
        text: the whole of it.
        about: a few words, for the shells that show them.
    """

    text: str
    about: str = ""


class Found(NamedTuple):
    """Everything that may stand at the cursor.

    Args:
        words: of them those count that begin as what is typed.
        kind, pattern: of files that may stand there too.
        skip: characters of the word before the file.
    """

    words: list[Word]
    kind: str = "none"
    pattern: str = ""
    skip: int = 0


class Place(NamedTuple):
    """Where in a command line the cursor is.

    Args:
        command: its name.
        parser: of it.
        options: what stands before the cursor, as the command itself would see it; None where it would refuse that.
        words: those before the cursor that are no options.
        current: the word at the cursor, as far as it is typed.
    """

    command: str
    parser: Parser
    options: argparse.Namespace | None
    words: list[str]
    current: str


def answer(arguments: list[str]) -> int:
    """Print what may stand in place of the last word."""
    shell, *raw = arguments or [""]
    if not raw:
        return OK
    with _silent() as out:
        typed = [_unquoted(word) for word in raw] if shell == "bash" else list(raw)
        for index, word in enumerate(raw[:-1]):
            if word.startswith("~/"):
                typed[index] = os.path.expanduser(typed[index])
        try:
            found = _found(typed)
        except (Exception, SystemExit):  # also the user's file may raise anything
            if is_debugging():
                raise
            return FAILED
        current = typed[-1]
        words = [word for word in found.words if word.text.startswith(current) and word.text.isprintable()]
        skip: int | str = found.skip
        if shell == "bash":
            kept = _kept_by_bash(raw[-1])
            skip = current[kept : found.skip]
            lines = list(_for_bash(words, raw[-1], kept, found.kind != "none"))
        else:
            lines = [f"{word.text}\t{line(word.about[:_LONGEST])[:_ABOUT]}" for word in words]
        out.write(f"{found.kind}|{found.pattern}|{skip}|{current[found.skip :]}\n")
        out.writelines(f"{text}\n" for text in lines)
    return OK


@contextmanager
def _silent() -> Iterator[TextIO]:
    """Give a way to standard output to us alone, for as long as a user at a prompt waits; then the process ends."""
    import faulthandler

    sys.dont_write_bytecode = True
    out = open(os.dup(1), "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
    kept = os.dup(2)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    # A thread of the interpreter: it ends us even where a file computes for ever and lets no other thread run.
    faulthandler.dump_traceback_later(max(seconds(), 0.1) + 1.0, exit=True, file=nothing)
    try:
        with out:
            yield out
    finally:
        os.dup2(kept, 2)


def seconds() -> float:
    """Return how long a server may take; 0 where none is to be asked."""
    try:
        given = float(os.environ.get("LEANMCP_COMPLETE_SECONDS", SECONDS))
    except ValueError:
        return SECONDS
    return given if 0 <= given <= _MOST_SECONDS else SECONDS


def is_debugging() -> bool:
    """Return whether somebody wants to see what goes wrong."""
    return bool(os.environ.get("LEANMCP_COMPLETE_DEBUG"))


# --- where the cursor is ------------------------------------------------------------------------------------------


def _found(typed: list[str]) -> Found:
    from . import COMMANDS, command_parser

    current = typed[-1]
    if len(typed) == 1:
        words = [Word(name, about) for name, (_, about) in COMMANDS.items()]
        return Found([*words, Word("help", "show how a command is used"), Word("--help"), Word("--version")])
    command = typed[0]
    if command == "help" and len(typed) == 2:
        return Found([Word(name, about) for name, (_, about) in COMMANDS.items()])
    if command not in COMMANDS:
        return Found([])
    parser, _ = command_parser(command)
    return _at(command, parser, typed[1:-1], current)


def _at(command: str, parser: Parser, before: list[str], current: str) -> Found:
    """Return what may stand behind some words of a command."""
    if parser.takes_program and "--" in before:
        return Found([], "files")
    known = parser._option_string_actions
    words: list[str] = []
    used: set[str] = set()
    awaiting: argparse.Action | None = None
    is_plain = False  # behind `--` of a command that starts no program
    for word in before:
        if awaiting is not None:
            awaiting = None
        elif word == "--":
            is_plain = True
        elif word.startswith("-") and len(word) > 1 and not is_plain:
            name, equals, _ = word.partition("=")
            action = known.get(name)
            used.add(name)
            awaiting = action if action is not None and action.nargs != 0 and not equals else None
        else:
            words.append(word)
    if awaiting is not None:
        return _values(awaiting, "")
    if current.startswith("-") and not is_plain:
        name, equals, _ = current.partition("=")
        if equals:
            return _values(known[name], name + "=") if name in known else Found([])
        return Found(list(_options(parser, used)))
    place = Place(command, parser, _parsed(parser, before), words, current)
    positional = _POSITIONAL.get(command)
    return _declared(place) if positional is None else positional(place)


def _parsed(parser: Parser, before: list[str]) -> argparse.Namespace | None:
    try:
        return parser.parse_words(list(before))
    except (UsageError, SystemExit):  # `--help` among them
        return None


def _options(parser: Parser, used: set[str]) -> Iterator[Word]:
    for action in parser._actions:
        names = action.option_strings
        if names and (isinstance(action, argparse._AppendAction) or not used & set(names)):
            about = (action.help or "").replace("%(default)s", str(action.default))
            yield from (Word(name, about) for name in names if name.startswith("--"))


def _values(action: argparse.Action, prefix: str) -> Found:
    """Return the values of an option or of a positional argument."""
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.choices is not None:
        return Found([Word(f"{prefix}{choice}") for choice in action.choices])
    if action.dest in _VALUES:
        return Found([Word(prefix + value) for value in _VALUES[action.dest]])
    if any(name in metavar for name in _FILE):
        return Found([], "files", "" if action.option_strings else _PYTHON, len(prefix))
    return Found([], "folders" if any(name in metavar for name in _FOLDER) else "none", "", len(prefix))


def _declared(place: Place) -> Found:
    """Return what the parser of a command knows of its words."""
    positional = [action for action in place.parser._actions if not action.option_strings]
    if not positional:
        return Found([])
    last = positional[-1]
    if len(place.words) >= len(positional) and last.nargs not in ("*", "+"):
        return Found([])
    action = positional[min(len(place.words), len(positional) - 1)]
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return _target(place) if "TARGET" in metavar else _values(action, "")


# --- the words of commands that talk to a server ------------------------------------------------------------------


def _target(place: Place) -> Found:
    """Return files, and the servers of mcp.json."""
    from .completion_target import objects_of, servers

    path, colon, _ = place.current.rpartition(":")
    if colon and path.endswith(".py"):
        return Found([Word(f"{path}:{name}") for name in objects_of(path)])
    if "://" in place.current:
        return Found([])
    config = None if place.options is None else getattr(place.options, "config", None)
    return Found([Word(name, "server of mcp.json") for name in servers(config)], "files", _PYTHON)


def _at_server(then: Callable[[Place], Found]) -> Callable[[Place], Found]:
    return lambda place: then(place) if place.words else _target(place)


def _choice(kinds: tuple[str, ...]) -> Callable[[Place], Found]:
    def found(place: Place) -> Found:
        return Found([Word(kind) for kind in kinds if kind not in place.words])

    return found


def _listen(place: Place) -> Found:
    from .completion_target import entries

    lists = [Word(name, "the list") for name in ("tools", "resources", "prompts") if name not in place.words]
    return Found(lists + entries(place, "resources"))


def _call(place: Place) -> Found:
    from .completion_target import entries, tool_words

    if len(place.words) == 1:
        return Found(entries(place, "tools"))
    return _file_of(place.current) or Found(tool_words(place))


def _prompt(place: Place) -> Found:
    from .completion_target import entries, prompt_words

    if len(place.words) == 1:
        return Found(entries(place, "prompts"))
    return _file_of(place.current) or Found(prompt_words(place))


def _read(place: Place) -> Found:
    from .completion_target import entries

    return Found(entries(place, "resources", "templates") if len(place.words) == 1 else [])


def _complete(place: Place) -> Found:
    from .completion_target import entries, prompt_words

    return Found(entries(place, "prompts", "templates") if len(place.words) == 1 else prompt_words(place))


def _install(place: Place) -> Found:
    from .installing_hosts import HOSTS

    if not place.words:
        return Found([Word(name) for name in (*HOSTS, "json")])
    return Found([], "files", _PYTHON) if len(place.words) == 1 else Found([])


def _explain(place: Place) -> Found:
    from ..explanations import PAGES

    return Found([] if place.words else [Word(page.code, page.title) for page in PAGES.values()])


def _file_of(current: str) -> Found | None:
    """Return the files that `@PATH` and `name=@PATH` may mean; None for other words."""
    head, at, _ = current.partition("@")
    is_path = bool(at) and (not head or head.endswith("=")) and not current[len(head) + 1 :].startswith("@")
    return Found([], "files", "", len(head) + 1) if is_path else None


_POSITIONAL: dict[str, Callable[[Place], Found]] = {
    "list": _at_server(_choice(("tools", "resources", "templates", "prompts"))),
    "call": _at_server(_call),
    "read": _at_server(_read),
    "prompt": _at_server(_prompt),
    "complete": _at_server(_complete),
    "listen": _at_server(_listen),
    "discover": _at_server(lambda place: Found([])),
    "check": _at_server(lambda place: Found([])),
    "explain": _explain,
    "install": _install,
}
"""By command; the words of others are told by their parsers."""


# --- what a shell wants -------------------------------------------------------------------------------------------


def _unquoted(word: str) -> str:
    """Return a word of bash without its quotes, of which the last one may be open."""
    if not any(mark in word for mark in "'\"\\"):
        return word
    import shlex

    for end in ("", "'", '"', "\\"):
        try:
            return "".join(shlex.split(word + end))
        except ValueError:
            continue
    return word


def _kept_by_bash(raw: str) -> int:
    """Return how many characters of a word stay: bash replaces what is behind the last of its word breaks.

    An open quote begins a word too. An `@` breaks words, but is replaced with what stands behind it.
    """
    plain, quote = _quotes(raw)
    if quote is not None:
        return len(_unquoted(raw[: quote - 1]))
    breaks = set(os.environ.get("LEANMCP_WORDBREAKS", "")) - set(" \t\n\"'")
    cut = max((index + (raw[index] != "@") for index in plain if raw[index] in breaks), default=0)
    return len(_unquoted(raw[:cut]))


def _for_bash(words: list[Word], raw: str, kept: int, as_files: bool) -> Iterator[str]:
    """Yield what bash is to insert; beside files it quotes that itself, and ends the word."""
    is_open = _quotes(raw)[1] is not None
    for text in (word.text for word in words):
        rest = text[kept:]
        if as_files or is_open:
            yield rest
        else:
            yield _quoted(rest) + ("" if text.endswith(("=", "/", ":")) else " ")


def _quotes(raw: str) -> tuple[list[int], int | None]:
    """Return where the characters are that no quote takes, and where the text of an open quote begins."""
    mark, start, is_escaped = "", 0, False
    plain: list[int] = []
    for index, character in enumerate(raw):
        if is_escaped:
            is_escaped = False
        elif character == "\\" and mark != "'":
            is_escaped = True
        elif character == mark:
            mark = ""
        elif not mark and character in "'\"":
            mark, start = character, index + 1
        elif not mark:
            plain.append(index)
    return plain, start if mark else None


def _quoted(text: str) -> str:
    """Return a text with a backslash before what means something to bash."""
    return "".join(f"\\{letter}" if letter in " \t!\"#$&'()*;<>?[\\]^`{|}~" else letter for letter in text)
