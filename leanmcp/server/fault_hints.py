"""What was probably forgotten where a function failed: a line below its exception in the log, for its author.

In: an exception that nobody raised on purpose. Out: the hint and the code of the page about it, as "explanations" has
it; that package is not loaded here, because a failure costs a server nothing but its line in the log.
Ours: a mistake is told so that it is mended at once.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Mapping
from types import CoroutineType, TracebackType
from typing import Any

from ..brief import text_of

__all__ = ["drop", "hint_for"]

_USED_AS_VALUE = re.compile(r"['\"]coroutine['\"]|not coroutine\b|coroutine found")
_NOT_AWAITABLE = re.compile(r"object (\w+) can't be used in 'await' expression")
_OF_CONTEXT = re.compile(r"(?:Context|RequestView)\.(\w+)\(\) (?:missing|takes|got) ")
_RUNNING = ("asyncio.run() cannot be called", "This event loop is already running", "Cannot run the event loop while")
_NO_LOOP = ("There is no current event loop", "no running event loop")


Hint = tuple[str, str]
"""The code of a page, and what was probably forgotten; the text may be empty."""

NOT_AWAITED, UNEXPECTED = "LM502", "LM501"


def hint_for(error: BaseException, trace: TracebackType | None) -> Hint:
    """Return what the author of a function probably forgot.

    Args:
        error: what the function raised.
        trace: from the function's first frame on.
    """
    text = text_of(error)
    if isinstance(error, AttributeError) and isinstance(error.obj, CoroutineType):
        drop(error.obj)
        return NOT_AWAITED, _not_awaited(error.obj)
    if isinstance(error, TypeError) and (found := _NOT_AWAITABLE.search(text)):
        return "LM512", f"only coroutines are awaited, and this is a plain {found[1]}: take `await` away there"
    if (told := _about(error, text)) != (UNEXPECTED, ""):
        return told
    if isinstance(error, KeyError) and text != text.lower() and "headers" in _last_names(trace):
        return UNEXPECTED, "ctx.headers has its names in lower case: ctx.headers.get('x-user')"
    if "'NoneType' object" in text and (found_none := _no_lifespan(trace)):
        return "LM524", found_none
    name, coroutine = _forgotten(trace)
    if coroutine is not None:
        return NOT_AWAITED, f"{name} = {_not_awaited(coroutine)}"
    if isinstance(error, TypeError) and _USED_AS_VALUE.search(text):
        return NOT_AWAITED, "a coroutine stands where its value is meant: did you forget `await` in that line?"
    return UNEXPECTED, ""


def _about(error: BaseException, text: str) -> Hint:
    """Return the hint of an exception that tells by itself what was done."""
    if isinstance(error, SystemExit):
        return "LM508", "sys.exit() ends this call only; raise ToolError(text) to tell the model what is wrong"
    if isinstance(error, asyncio.CancelledError):
        return "LM509", "nobody cancelled the call: the function raised this, or awaited a task that was cancelled"
    if isinstance(error, EOFError):
        return "LM510", "standard input is not for functions: ask with `await ctx.elicit(...)`, or take a parameter"
    if isinstance(error, RuntimeError) and text.startswith(_RUNNING):
        return "LM511", "an `async def` function runs on the event loop already: write `await` in place of run"
    if isinstance(error, RuntimeError) and text.startswith(_NO_LOOP):
        return "LM511", "a `def` function runs in a thread without an event loop: make it `async def`, and use `await`"
    if isinstance(error, TypeError) and (found := _OF_CONTEXT.match(text)):
        from ..mistakes import call_of
        from .context import Context

        return "LM232", f"it is called as ctx.{call_of(getattr(Context, found[1]), all_by_position=True)}"
    if isinstance(error, TypeError | AttributeError) and "'types.SimpleNamespace' object" in text:
        return (
            UNEXPECTED,
            "ctx.state has attributes, as in `ctx.state.user = name`, and getattr(ctx.state, 'user', None)",
        )
    if type(error).__module__.startswith("mcp."):
        from ..elsewhere import official  # of few failures

        return UNEXPECTED, official(type(error))
    return UNEXPECTED, ""


def _no_lifespan(trace: TracebackType | None) -> str:
    """Return why `ctx.lifespan` is None, where the function that failed uses it; else an empty text."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not {"lifespan", "lifespan_context"} & {*trace.tb_frame.f_code.co_names}:
        return ""
    for value in list(trace.tb_frame.f_locals.values()):
        callee = getattr(value, "_callee", None)
        if callee is not None and hasattr(value, "lifespan_context") and value.lifespan is None:
            lifespan = callee.home.host.lifespan
            if lifespan is None:
                return "ctx.lifespan is None: the server has no lifespan="
            code = getattr(getattr(lifespan, "__wrapped__", lifespan), "__code__", None)
            where = "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"
            return f"ctx.lifespan is None: lifespan= yields no value{where}"
    return ""


def _last_names(trace: TracebackType | None) -> tuple[str, ...]:
    """Return the names that the function uses in which an exception was raised."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return () if trace is None else trace.tb_frame.f_code.co_names


def _not_awaited(coroutine: CoroutineType[Any, Any, Any]) -> str:
    name = coroutine.__qualname__.rpartition("<locals>.")[2].replace("Context.", "ctx.")
    return f"{name}(...) is a coroutine: did you forget `await`, as in `await {name}(...)`?"


def _forgotten(trace: TracebackType | None) -> tuple[str, CoroutineType[Any, Any, Any] | None]:
    """Return a variable of the frames of a traceback, the innermost first, that holds a coroutine nobody awaits.

    It is not closed: another loop may be about to run it.
    """
    frames = []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(frames):
        values: Mapping[str, Any] = frame.f_locals
        for name, value in list(values.items()):
            if isinstance(value, CoroutineType) and _is_forgotten(value):
                return name, value
    return "", None


def _is_forgotten(coroutine: CoroutineType[Any, Any, Any]) -> bool:
    if inspect.getcoroutinestate(coroutine) != inspect.CORO_CREATED:
        return False
    try:
        return all(task.get_coro() is not coroutine for task in asyncio.all_tasks())
    except RuntimeError:  # outside of a loop there are no tasks
        return True


def drop(coroutine: CoroutineType[Any, Any, Any]) -> None:
    """Close a coroutine that was never awaited: Python's own warning would name a line of ours."""
    if _is_forgotten(coroutine):
        coroutine.close()
