"""The end of a process in which tools have left threads behind.

Python waits at its end for threads, those of `asyncio.to_thread` and of executors included. A server whose client has
gone would stay for as long as the slowest of them, or for ever; so it waits for a moment only.

In: the exit code of a server that has ended. Out: the end of its process.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import NoReturn

from .logs import logger

_PATIENCE = 0.3  # seconds that they have, once there is nothing else to wait for
_STEP = 0.1  # seconds between two looks at the main thread
_OURS = "leanmcp-"


def left_threads() -> list[threading.Thread]:
    """Return the threads that Python may wait for. Daemons can be among them: executors join theirs all the same."""
    main = threading.main_thread()
    return [thread for thread in threading.enumerate() if thread is not main and not thread.name.startswith(_OURS)]


def end_in_time(exit_code: int) -> None:
    """End the process with `exit_code` soon after its program has come to its end, whatever threads still run."""
    threading.Thread(target=_end, args=(exit_code,), name=_OURS + "end", daemon=True).start()


def _end(exit_code: int) -> None:
    """Thread: wait for the end of the program, then as long as its threads may take, and end the process."""
    while not _waits_for_threads():
        time.sleep(_STEP)
    time.sleep(_PATIENCE)
    if _waits_for_threads():
        text = "the process ends although threads still run: %s; end them in lifespan=, or make them daemon threads"
        logger.warning(text, ", ".join(thread.name for thread in left_threads()))
        end_process(exit_code)


def end_process(exit_code: int) -> NoReturn:
    """Thread: end the process, whatever the main thread does."""
    atexit._run_exitfuncs()  # it would get to them too late, or never
    os._exit(exit_code)


def _waits_for_threads() -> bool:
    """Return whether the program is over but for its threads: the outermost frame is then that of the wait."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    if frame is None:
        return False  # at the prompt of an interactive session, for one
    while frame.f_back is not None:
        frame = frame.f_back
    return frame.f_globals.get("__name__") == "threading"
