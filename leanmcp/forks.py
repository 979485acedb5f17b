"""Processes that tools fork, with `os.fork` or `multiprocessing`: their signals, and their end.

Such a fork shares the descriptor through which Python tells an event loop of signals: what is sent to it, such as the
SIGTERM that ends the workers of a `multiprocessing.Pool`, would end the server and not the fork. And one that returned
from its tool, or raised, would go on as a second server on the same descriptors.

In: whether this process serves, and what a tool has raised. Out: forks that signals end, and that end with their tool.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import ClassVar, NoReturn

_MAX_CODE = 255
_ENDING = {signal.SIGTERM, signal.SIGINT}
"""Signals that end a program."""


class _Forks:
    """What a fork of this process has to know; one for the process, because such hooks can only be added."""

    serves = False
    """Whether this process serves, so that its event loop handles its signals."""
    inside = False
    """Whether this process was forked by one that serves."""
    registered = False
    """Whether the hooks are in place."""
    masks: ClassVar[dict[int, set[int]]] = {}
    """By thread that is forking, the signals that it had blocked before."""


def serve_here(serves: bool) -> None:
    """Say whether the event loop of this process handles its signals: then its forks take them back."""
    _Forks.serves, _Forks.inside = serves, False
    if not _Forks.registered and hasattr(os, "register_at_fork"):
        _Forks.registered = True
        os.register_at_fork(before=_hold_signals, after_in_parent=_release_signals, after_in_child=_take_signals_back)


def end_if_fork(error: BaseException) -> None:
    """End a process that was forked by one that serves: it may not answer for what a tool has raised in it."""
    if _Forks.inside:
        end_fork(error)


def end_fork(error: BaseException | None) -> NoReturn:
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


def _hold_signals() -> None:
    """Let what is sent to the fork wait there until it has taken its signals back."""
    if _Forks.serves:
        _Forks.masks[threading.get_ident()] = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def _release_signals() -> None:
    mask = _Forks.masks.pop(threading.get_ident(), None)
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _take_signals_back() -> None:
    """Fork: end by a signal as any program does."""
    if _Forks.serves:
        _Forks.serves, _Forks.inside = False, True
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _release_signals()
