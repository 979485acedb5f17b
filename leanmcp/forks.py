"""Processes that tools fork, with `os.fork` or `multiprocessing`: their signals, and their end.

Such a fork shares the descriptor through which Python tells an event loop of signals: what is sent to it, such as the
SIGTERM that ends the workers of a `multiprocessing.Pool`, would end the server and not the fork. And one that returned
from its tool, or raised, would go on as a second server on the same descriptors.

In: whether the loop of this process handles its signals. Out: forks that signals end, and that end with their tool:
they watch the frame that has called the tool, as a debugger does, so that calls of functions take them longer.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from opcode import opname
from types import FrameType
from typing import Any, ClassVar, NoReturn

_MAX_CODE = 255
_ENDING = {signal.SIGTERM, signal.SIGINT}
"""Signals that end a program."""
_OURS = (__package__ or "") + "."
_AWAITS = "a forked process cannot await: the event loop is its parent's; let it end with os._exit()"


class _Forks:
    """What a fork of this process has to know; one for the process, because such hooks can only be added."""

    serves = False
    """Whether this process serves, so that its event loop handles its signals."""
    masks: ClassVar[dict[int, set[int]]] = {}
    """By thread that is forking, the signals that it had blocked before."""


def serve_here(serves: bool) -> None:
    """Say whether the event loop of this process handles its signals: then its forks take them back."""
    _Forks.serves = serves


def _hold_signals() -> None:
    """Let what is sent to the fork wait there until it has taken its signals back."""
    if _Forks.serves:
        _Forks.masks[threading.get_ident()] = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def _release_signals() -> None:
    mask = _Forks.masks.pop(threading.get_ident(), None)
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _begin_fork() -> None:
    """Fork: end by a signal as any program does, and with what the tool calls that has forked."""
    if _Forks.serves:
        _Forks.serves = False
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _release_signals()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not (name := str(frame.f_globals.get("__name__"))).startswith(_OURS):
        if name == "multiprocessing.popen_fork":
            return  # it ends by itself
        frame = frame.f_back
    if frame is not None:  # our code that has called the tool; it may be anywhere, and must not look at each call
        frame.f_trace = _end_tool
        sys.settrace(_ignore)


def _ignore(*_: object) -> None:
    """Trace function of the fork: without one, nobody looks at `f_trace`."""


def _end_tool(frame: FrameType, event: str, arg: Any) -> NoReturn:
    """Fork: the tool has returned or raised; or it awaits, which leaves our code, too."""
    if event == "return" and not opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN"):  # it yields
        _end(RuntimeError(_AWAITS))
    if event != "exception" or isinstance(arg[1], StopIteration):  # by which a coroutine returns
        _end(None)
    _end(arg[1].with_traceback(arg[2].tb_next))


def _end(error: BaseException | None) -> NoReturn:
    """End a fork as a program ends that raised `error`; the clean-up of its parent is not its business."""
    code = 0
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there is none, or it is closed
            stream.flush()
    os._exit(code & _MAX_CODE)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_signals, after_in_parent=_release_signals, after_in_child=_begin_fork)
