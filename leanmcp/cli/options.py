"""How the words of a command line are read: options anywhere, what stands behind `--` left alone.

In: words. Out: a namespace with `words`, what is no option, and `program`, what stands behind `--`.
"""

from __future__ import annotations

import argparse
import math
import os
import re
from typing import NoReturn

from .faults import EXIT_CODES, UsageError, proposal
from .help import TARGETS
from .terminal import columns_of

_MAX_COLUMNS = 120
_VARIABLE = re.compile(r"[A-Za-z_][\w.()-]*")  # as `ProgramFiles(x86)`
DEFAULT_TIMEOUT = 60.0  # seconds, as the client's


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Knows its width, for which argparse would load shutil and all kinds of compression with every option."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=min(columns_of(1), _MAX_COLUMNS) - 2)


class Parser(argparse.ArgumentParser):
    """The parser of one command.

    Args:
        name: of the command.
        about: one line.
    """

    def __init__(self, name: str, about: str) -> None:
        super().__init__(
            prog=f"leanmcp {name}",
            description=f"{about[:1].upper()}{about[1:]}.",
            formatter_class=_Formatter,
            allow_abbrev=False,
        )
        self.takes_program = False
        self.command = name

    def add_json(self) -> None:
        """Add the option for programs."""
        self.add_argument("--json", action="store_true", help="print JSON, of the shape below")

    def add_surroundings(self) -> None:
        """Add what a server is given on the way: variables of its process, header fields."""
        self.add_argument(
            "--env", action="append", default=[], metavar="NAME[=VALUE]", help="variable of the server's process"
        )
        self.add_argument("--header", action="append", default=[], metavar="'NAME: VALUE'", help="HTTP header to send")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            name = action.option_strings[-1] if action.option_strings else action.dest
            known = [str(choice) for choice in action.choices]
            raise UsageError(f"unknown {name} {value!r}{proposal(str(value), known)}")

    def error(self, message: str) -> NoReturn:
        """Raise a mistake instead of printing the usage and ending the program."""
        if match := re.search(r"argument (--\w+): ignored explicit argument '(.*)'", message):
            port = f"; the port is --port {match[2]}" if match[1] == "--http" else ""
            raise UsageError(f"argument {match[1]}: it takes no value{port}; see `{self.prog} --help`")
        message = re.sub(r"invalid int value: ('.*')", r"\1 is no whole number", message)
        raise UsageError(f"{message}; see `{self.prog} --help`")

    def parse_words(self, words: list[str]) -> argparse.Namespace:
        """Return the options of a command line."""
        program: list[str] | None = None
        typed = words
        if self.takes_program and "--" in words:
            cut = words.index("--")
            words, program = words[:cut], words[cut + 1 :]
            if not program:
                raise UsageError(
                    "behind `--` the command that starts a server is expected, such as `-- python server.py`"
                )
        options, unknown = self.parse_known_intermixed_args(words)
        for word in unknown:
            self._refuse(word, typed)
        options.program = program
        options.prog = self.prog
        return options

    def _refuse(self, word: str, words: list[str]) -> NoReturn:
        from .misplaced import extra_word, option_proposal

        if not word.startswith("-") or "--" in words[: words.index(word) + 1 if word in words else 0]:
            raise UsageError(f"{word!r} is one word too many; {extra_word(self.command, word, words)}")
        known = [option for option in self._option_string_actions if option.startswith("--")]
        told = option_proposal(self.command, word, words, known)
        raise UsageError(f"unknown option {word.partition('=')[0]!r}{told}")


def add_target(parser: Parser, usage: str, example: str, words: str = "") -> None:
    """Add what every command that talks to a server has.

    Args:
        parser: of the command.
        usage: what stands between the target and the options.
        example: more of the epilog.
        words: help of the words, when they need any.
    """
    parser.takes_program = True
    tail = f" {usage}" if usage else ""
    parser.usage = f"{parser.prog} TARGET{tail} [OPTION ...]\n       {parser.prog}{tail} [OPTION ...] -- PROGRAM ..."
    parser.epilog = f"{example}\n{TARGETS}\n{EXIT_CODES}".lstrip()
    parser.add_argument("words", nargs="*", metavar="TARGET", help=words or "see below")
    parser.add_json()
    parser.add_surroundings()
    parser.add_argument(
        "--token", metavar="TOKEN", help="send `Authorization: Bearer TOKEN` (for a URL also LEANMCP_TOKEN)"
    )
    parser.add_argument(
        "--login", action="store_true", help="log in with a browser where the server wants that (OAuth)"
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help="of one request; progress starts it again; 0 waits for ever (default: 60)",
    )
    parser.add_argument(
        "--mode",
        default="auto",
        help='protocol version: "auto", "legacy" for a handshake first, or one such as 2026-07-28',
    )
    parser.add_argument("--cwd", metavar="FOLDER", help="working folder of the server's process")
    parser.add_argument("--config", metavar="FILE", help="mcp.json that has NAME")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell more on standard error; whole descriptions")


def add_output(parser: Parser) -> None:
    """Add where files go."""
    parser.add_argument(
        "--output", metavar="FOLDER", help="write images, sound and files there, under names of their own"
    )


def add_arguments(parser: Parser) -> None:
    """Add the option that gives all arguments at once."""
    parser.add_argument(
        "--args",
        metavar="JSON",
        help="all arguments as a JSON object, @FILE, or - for standard input; sent as they are",
    )


def _seconds(text: str) -> float | None:
    """Return seconds, None for 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return seconds or None


def variables(given: list[str]) -> dict[str, str]:
    """Return the variables of `--env`; a name alone hands on the one that this process has.

    Raises:
        UsageError: it has none.
    """
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name:
            raise UsageError(f"--env {text!r}: write NAME=VALUE, or NAME to hand on a variable")
        if not _VARIABLE.fullmatch(name) and name not in os.environ:
            raise UsageError(f"--env {name!r}: a variable's name has letters, digits and _ only, and no digit in front")
        if not equals:
            if name not in os.environ:
                raise UsageError(f"--env {name}: there is no such variable here to hand on; write {name}=VALUE")
            value = os.environ[name]
        found[name] = value
    return found


def headers(given: list[str], token: str | None) -> dict[str, str]:
    """Return the fields of `--header` and `--token`.

    Raises:
        UsageError: one is no field, or both set Authorization.
    """
    found = {}
    for text in given:
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise UsageError(f"--header {name!r}: write 'Name: value'")
        found[name.strip()] = value.strip()
    if token is not None:
        if any(name.lower() == "authorization" for name in found):
            raise UsageError("--token and --header both set Authorization; give one of them")
        found["Authorization"] = f"Bearer {bare_token(token, '--token')}"
    return found


def bare_token(text: str, where: str) -> str:
    """Return a token without the `Bearer` that belongs to the header.

    Raises:
        UsageError: what is left is of another scheme, or no token.
    """
    scheme, _, rest = text.strip().partition(" ")
    token = rest.strip() if scheme.lower() == "bearer" and rest else text
    if " " in token.strip():
        raise UsageError(f"{where}: a token has no blanks; for another scheme give --header 'Authorization: ...'")
    return token
