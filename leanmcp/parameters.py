"""How a server is started as a child process.

In: a command and its surroundings, as a program gives them. Out: the same, checked.
Spec 2026-07-28: basic/transports/stdio.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, StructMeta
from msgspec.structs import force_setattr

if TYPE_CHECKING:
    from typing import Self

__all__ = ["StdioServerParameters"]


class _ParametersMeta(StructMeta):
    """Says how to write what was given without a name, or under one that there is not."""

    if not TYPE_CHECKING:  # type checkers refuse it by themselves

        def __call__(cls, *values: Any, **options: Any) -> Any:  # noqa: N805  a metaclass
            if values:
                raise _unnamed(values)
            try:
                return super().__call__(**options)
            except TypeError as error:
                from .mistyped import wrongly_made  # of mistakes only

                raise wrongly_made(cls, error) from None


class StdioServerParameters(Struct, frozen=True, kw_only=True, metaclass=_ParametersMeta):
    """A command that serves MCP on its standard streams.

    Args:
        command: program, looked up in PATH where it has no slash; no shell is involved.
        args: its arguments.
        env: variables besides the few that are handed on (HOME, LOGNAME, PATH, SHELL, TERM, USER), or instead of them:
            what else this process knows, such as keys for other services, a server does not get by itself.
        cwd: its working directory.
        encoding: always UTF-8.
        encoding_error_handler: "strict" skips lines that are not UTF-8; "replace" and "ignore" mend them.
        stderr: where its standard error goes: "forward" (to this process's), a function that takes each line,
            "capture" (kept for error texts only), or None (the null device). It is read at all times, so that a server
            cannot get stuck on it.
        restart: start a server that has ended again for the next request; requests in flight are lost all the same.
        max_starts: starts in a row without any answer, after which it is not started again.
        shutdown_timeout: seconds to leave by itself when its input has been closed.
        terminate_timeout: seconds between SIGTERM and SIGKILL.
        max_line_size: bytes of one message; longer ones are skipped without being stored.

    Raises:
        TypeError, ValueError: a value that cannot be one of these.
    """

    command: str
    args: Sequence[str] = ()
    env: dict[str, str] | None = None
    cwd: str | os.PathLike[str] | None = None
    encoding: str = "utf-8"
    encoding_error_handler: Literal["strict", "ignore", "replace"] = "strict"
    stderr: Callable[[str], object] | Literal["forward", "capture"] | None = "forward"
    restart: bool = False
    max_starts: int = 5
    shutdown_timeout: float = 2.0
    terminate_timeout: float = 2.0
    max_line_size: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        force_setattr(self, "command", _text("command", self.command))
        if isinstance(self.args, str | bytes) or not isinstance(self.args, Sequence):
            raise TypeError(f"args={self.args!r}: give a list of texts, one for each argument")
        force_setattr(self, "args", [_text("args", argument) for argument in self.args])
        if not self.command:
            raise ValueError("command: give the program to start")
        if not isinstance(self.env, Mapping | None):
            raise TypeError(f"env=<{type(self.env).__name__}>: give a dict of texts, {{'NAME': 'value'}}")
        if not isinstance(self.cwd, str | os.PathLike | None):
            raise TypeError(f"cwd={self.cwd!r}: give the path of a folder")
        if not isinstance(self.restart, bool):
            raise TypeError(f"restart={self.restart!r}: give True or False")
        for name, value in (self.env or {}).items():
            _text("env", name)
            _text(f"env[{name!r}]", value)
        if self.encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
            raise ValueError(f"encoding={self.encoding!r}: MCP on standard streams is UTF-8")
        if self.encoding_error_handler not in ("strict", "ignore", "replace"):
            raise ValueError(f"encoding_error_handler={self.encoding_error_handler!r}: strict, ignore or replace")
        if not callable(self.stderr) and self.stderr not in ("forward", "capture", None):
            raise ValueError(f"stderr={self.stderr!r}: give 'forward', 'capture', None or a function of one line")
        for name in ("max_starts", "shutdown_timeout", "terminate_timeout", "max_line_size"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"{name}={value!r}: give a positive number")

    @classmethod
    def from_command(cls, command: str | Sequence[str], **options: Any) -> Self:
        """Return the parameters of a command as it is typed, such as `python server.py --verbose`.

        Args:
            command: one line, cut into words as a shell does but not expanded, or the words.
            options: the other parameters.

        Raises:
            ValueError: no command, or a quotation mark without its partner.
        """
        try:
            words = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError:
            raise ValueError(f"command {command!r}: a quotation mark has no partner") from None
        if not words:
            raise ValueError("give a command, such as 'python server.py'")
        return cls(command=words[0], args=words[1:], **options)

    def __repr__(self) -> str:
        """Show the names of the variables only: their values are secrets more often than not."""
        shown = [f"command={self.command!r}", f"args={list(self.args)!r}"]
        if self.env:
            shown.append(f"env={{{', '.join(f'{name!r}: ...' for name in self.env)}}}")
        if self.cwd is not None:
            shown.append(f"cwd={self.cwd!r}")
        return f"StdioServerParameters({', '.join(shown)})"


def _unnamed(values: Sequence[Any]) -> TypeError:
    """Return the error of parameters without names: a line as it is typed, or the words of one."""
    words = values[0] if len(values) == 1 and isinstance(values[0], list | tuple) else values
    if len(values) == 2 and isinstance(values[1], list | tuple):
        words = [values[0], *values[1]]
    if not words or not all(isinstance(word, str) for word in words):
        return TypeError("StdioServerParameters: name the values: command='python', args=['server.py']")
    if len(words) == 1 and len(words[0].split()) > 1:
        return TypeError(f"StdioServerParameters: write StdioServerParameters.from_command({words[0]!r})")
    args = f", args={list(words[1:])!r}" if len(words) > 1 else ""
    return TypeError(f"StdioServerParameters: name the values: command={words[0]!r}{args}")


def _text(name: str, value: object) -> str:
    """Return a text that the operating system takes."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        # Bytes and the like may be a secret that travels in them.
        shown = repr(value) if value is None or isinstance(value, int | float) else type(value).__name__
        raise TypeError(f"{name}: give text, not {shown}")
    if "\0" in value:
        raise ValueError(f"{name}: holds a NUL, which no command line can carry")
    return value
