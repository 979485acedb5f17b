"""Middleware: who calls, how often, how long it took, and in which trace; around every method, for every tool.

Run it as examples/bookshop is run. A client signs in with a header, `X-Api-Key: key-of-anna`, on HTTP, or with the
member `com.example/key` of `_meta`, on stdio too. Real keys belong into a vault, and real sign-in is OAuth.
"""

import contextvars
import logging
import sys
import time
from collections import Counter

from leanmcp import Context, MCPError, MCPServer, ToolError
from leanmcp.server import CallNext, Outcome, Request

KEYS = {"key-of-anna": "anna", "key-of-bert": "bert"}
CALLS_A_MINUTE = 100
log = logging.getLogger("guarded")

# A context variable reaches every function that a call runs, those in worker threads too, and only that call's.
user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="guest")
recent: Counter[tuple[str, int]] = Counter()


async def timing(request: Request, call_next: CallNext) -> Outcome:
    """Write a line about every request to standard error."""
    started = time.perf_counter()
    outcome = "failed"
    try:
        answer = await call_next(request)
        outcome = "error" if answer.is_error else "done"
        return answer
    finally:
        trace = request.trace
        milliseconds = (time.perf_counter() - started) * 1000
        where = "no trace" if trace is None else f"trace {trace.trace_id}"
        log.info("%s %s %s in %.1f ms, %s", request.method, request.name or "-", outcome, milliseconds, where)


async def sign_in(request: Request, call_next: CallNext) -> Outcome:
    """Find out who calls; a wrong key is refused, no key is a guest."""
    key = request.headers.get("x-api-key") or request.meta.get("com.example/key")
    if key is not None and key not in KEYS:
        raise MCPError(401, "unknown key; leave it out to be a guest")  # application codes are our own
    user.set("guest" if key is None else KEYS[key])
    return await call_next(request)


async def rate_limit(request: Request, call_next: CallNext) -> Outcome:
    """Let each user make so many calls a minute."""
    if request.method == "tools/call":
        minute = int(time.monotonic() // 60)
        for old in [entry for entry in recent if entry[1] != minute]:
            del recent[old]
        recent[user.get(), minute] += 1
        if recent[user.get(), minute] > CALLS_A_MINUTE:
            raise ToolError("too many calls; wait a minute")  # the model reads this
    return await call_next(request)


mcp = MCPServer("Guarded", version="1.0.0", middleware=[timing, sign_in, rate_limit])


@mcp.tool
def whoami() -> str:
    """Tell who calls; from a worker thread."""
    return user.get()


@mcp.tool
async def trace(ctx: Context[None]) -> str:
    """Tell in which W3C trace the call was made, for whoever works on it next."""
    return "none" if ctx.trace is None else f"{ctx.trace.trace_id}, {'' if ctx.trace.sampled else 'not '}sampled"


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(message)s")
    mcp.run()
