"""What a client gets when the function behind a prompt or a completion fails: a protocol error, and nothing inside it.

In: whatever the function raised. Out: the MCPError to answer with; what nobody raised on purpose is logged whole.
Spec 2026-07-28: server/prompts, "Error Handling"; server/utilities/completion, "Error Handling".
"""

from __future__ import annotations

import asyncio

from ..errors import InternalError, MCPError, ToolError
from ..types import TextContent
from .calling import Home
from .encoding import ResultError
from .tool import is_cancelled

__all__ = ["protocol_error"]


def protocol_error(error: BaseException, noun: str, name: str, home: Home) -> MCPError:
    """Return the error that answers for what a function raised.

    Args:
        error: an MCPError passes through; the text of a ToolError goes out as -32603, because only its author knows
            whether the params were at fault; anything else becomes a fixed text with a log id (policy P3).
        noun: what the function is, such as "prompt".
        name: what it is called.
        home: its server's log and `sanitize`.

    Raises:
        BaseException: `error` itself, where it is the end of a call that was cancelled.
    """
    if isinstance(error, asyncio.CancelledError | GeneratorExit) and is_cancelled():
        raise error
    if isinstance(error, MCPError):
        return error
    if isinstance(error, ResultError):
        home.faults.warn(name, error, noun=noun)
    if isinstance(error, ToolError):
        try:
            own = error.of(noun, name) if isinstance(error, ResultError) else _text(error)
            text = own or f"{noun.capitalize()} {name!r} failed"
            return InternalError(text if home.sanitize is None else str(home.sanitize(text)))
        except Exception as second:  # of the sanitizer, or of a text that cannot even be made
            error = second
    log_id = home.faults.report(name, error, noun=noun)
    return InternalError(
        f"{noun.capitalize()} {name!r} failed unexpectedly; the server's log has the details under id {log_id}"
    )


def _text(error: ToolError) -> str:
    """Return the text of an error, or that of its blocks: a protocol error carries nothing else."""
    blocks = error.content or []
    texts = [block.text if isinstance(block, TextContent) else block for block in blocks]
    return str(error) or "\n".join(text for text in texts if isinstance(text, str))
