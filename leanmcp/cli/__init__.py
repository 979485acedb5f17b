"""The `leanmcp` command: serve a file, and talk to any server from a shell.

Data goes to standard output, everything else to standard error. Each command is a module with `add_options(parser)` and
`run(options)`, which returns the exit code; or, where it talks to a server, `check(options)` and `work(connection)`.
Modules that a command does not need are not imported.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

from .. import __version__
from .faults import FAILED, INTERRUPTED, OK, USAGE, UsageError, coded, gone_folder, proposal

if TYPE_CHECKING:
    from .options import Parser

COMMANDS = {
    "run": ("serving", "serve the server in a file"),
    "list": ("listing", "show the tools, resources and prompts of a server"),
    "call": ("calling", "call a tool"),
    "read": ("reading", "read a resource"),
    "prompt": ("prompting", "get the messages of a prompt"),
    "discover": ("discovering", "show what a server is and can do"),
    "complete": ("completing", "complete an argument of a prompt or a resource template"),
    "listen": ("listening", "print what changes at a server, until Ctrl-C"),
    "install": ("installing", "add a server to the settings of a host"),
    "check": ("checking", "find mistakes in a server before anybody calls it"),
    "migrate": ("migrating", "change a program of the official SDK into one of ours"),
    "explain": ("explaining", "show the page about a message"),
    "version": ("versions", "show the versions of everything in use"),
    "completion": ("completion", "print the script that completes our commands in a shell"),
}
"""By command: the module that holds it, and one line about it."""
_HELP = ("-h", "--help", "help")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    _escape_output()
    try:
        code = _run(words)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except UsageError as error:
        _complain(str(error))
        return USAGE
    except KeyboardInterrupt:
        if sys.stderr is not None and sys.stderr.isatty():
            print(file=sys.stderr)  # behind the ^C that the terminal shows
        _complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # of `leanmcp call ... | head`
        _drop_output()
        return OK
    except OSError as fault:
        if told := gone_folder(fault):
            _complain(told)
            return USAGE
        if words[:1] == ["run"]:  # of the server
            if _tells(fault):
                return USAGE
            raise
        _drop_output()
        _complain(f"the output cannot be written: {fault.strerror or fault}")
        return FAILED
    except Exception as error:
        if _tells(error):
            return USAGE
        if told := _of_author(error):
            _complain(told)
            return FAILED
        raise


def _escape_output() -> None:
    """Have standard output escape what its encoding lacks."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        from .terminal import ESCAPE  # not of a parent that has set its own way

        sys.stdout.reconfigure(errors=ESCAPE)


def _drop_output() -> None:
    """Have the end of the interpreter write what is left to nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _tells(error: Exception) -> bool:
    """Print what is a mistake in the user's file; return whether it was one. Else leave the user's frames to show."""
    from ..mistakes import shorten

    shorten(error)
    if not any(note.startswith("LM") for note in getattr(error, "__notes__", ())):
        return False
    _complain(str(error))
    return True


def _of_author(error: Exception) -> str:
    """Return what to say of an exception of the author's code; empty for a mistake of ours."""
    from .loading_faults import told_of_author  # of failures only

    return told_of_author(error)


def _complain(text: str) -> None:
    from .terminal import clean, failure

    if sys.stderr is None:  # it was closed; `print` would take standard output instead
        return
    print(failure(clean(f"leanmcp: {coded(text)}"), sys.stderr), file=sys.stderr)


def _run(words: list[str]) -> int:
    name = words[0] if words else "--help"
    if name not in COMMANDS:
        if name in ("-V", "-v", "--version"):
            print(f"leanmcp {__version__}")
            return OK
        if name == "--complete":
            from .completion_words import answer

            return answer(words[1:])
        if name in _HELP and len(words) < 2:
            from .help import overview

            print(overview(COMMANDS), file=sys.stdout if words else sys.stderr)
            return OK if words else USAGE
        if name not in _HELP:
            raise UsageError(_unknown(name))
        words = [words[1], "--help"]
        if words[0] not in COMMANDS:
            raise UsageError(_unknown(words[0]))
    parser, command = command_parser(words[0])
    options = parser.parse_words(words[1:])
    if hasattr(command, "run"):
        return int(command.run(options))
    from .connection import conduct

    return conduct(options, command.check, command.work)


def command_parser(name: str) -> tuple[Parser, Any]:
    """Return the parser of a command, and its module."""
    from importlib import import_module

    from .options import Parser

    module = import_module(f".{COMMANDS[name][0]}", __name__)
    parser = Parser(name, COMMANDS[name][1])
    module.add_options(parser)
    return parser, module


def _unknown(name: str) -> str:
    from .misplaced import command_proposal

    if name.startswith("-"):
        hint = proposal(name, ["--help", "--version"], cutoff=0.8)
        return f"unknown option {name!r}{hint}; options of a command follow it"
    if os.path.exists(name):
        return f"{name!r} is no command; did you mean `leanmcp run {name}` or `leanmcp list {name}`?"
    return f"unknown command {name!r}{command_proposal(name, list(COMMANDS))}"
