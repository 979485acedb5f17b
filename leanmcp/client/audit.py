"""A line for every tool call: who was called with what, who allowed it, and what came of it.

In: calls on their way out, and what they end with. Out: records, without secrets; as JSON Lines in a file, or to a
function.
Spec 2026-07-28: server/tools, "Security Considerations": clients should log tool usage for audit purposes.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import os
import re
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import msgspec

from ..errors import CallDenied, CallTimeout, InvalidResult, MCPError, ToolChanged
from ..logs import logger
from ..types import CallToolResult
from .gate import Call, Gate

AuditSink = str | os.PathLike[str] | Callable[[dict[str, Any]], Awaitable[None] | None]
"""A path; or a function that takes a record."""
Redact = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Takes the name of a tool and a copy of its arguments, and returns what may be written of them."""

SECRETS = (
    r"^pass$|passwor[dt]|passphrase|passcode|passwd|^pwd$|secret|token|credential|authorization|^auth$|cookie|api.?key"
    r"|access.?key|private.?key|signing.?key|^otp$|^pin$|cvv|cvc|card.?number|iban|^ssn$"
)
"""Names of members whose values are not written, as a regular expression that is searched for in them, in any case."""
HIDDEN = "[redacted]"

MAX_WAITING = 10_000  # lines that the disk is behind with
_PATIENCE = 1.0  # seconds that a call waits for its line


class Audit:
    """Writes down every tool call.

    A record has `time` (of the call, UTC), `server`, `tool`, `arguments` (as sent, without secrets, clipped),
    `decision` ("allowed", "edited", "consented", "remembered", "denied", "refused", or two of them), `outcome` ("ok",
    "tool_error", "error", "invalid_result", "denied", "tool_changed", "timeout", "cancelled" or "failed"),
    `duration_ms`, and, where there are any, `result` (`size` in bytes and `digest` of its JSON), `error` (`code`,
    `type`, `message`) and `flags`.

    The line is in the file before the caller has the result. Where writing takes more than a second or fails, the call
    goes on, and the fault is logged as an error and counted in `failures`.

    Args:
        sink: a path, to which lines are appended, mode 0600 where it is new; or a function, which gets the records.
        redact: takes what is not to be written out of the arguments, before names are looked at.
        secrets: a regular expression of member names whose values are not written.
        max_value: characters of a text that are written; so are 50 members and items, 6 levels deep.

    Raises:
        OSError: the file cannot be opened for writing.
    """

    def __init__(
        self,
        sink: AuditSink,
        *,
        redact: Redact | None = None,
        secrets: str = SECRETS,
        max_value: int = 200,
    ) -> None:
        self._sink = sink if callable(sink) else _File(sink)
        self._redact = redact
        self._secrets = re.compile(secrets, re.IGNORECASE)
        self._max_value = max_value
        self.failures = 0

    def gate(self) -> Gate:
        """Return the gate that keeps this log."""
        return _AuditGate(self)

    async def write(self, record: dict[str, Any]) -> None:
        """Write a record down; a fault is logged."""
        try:
            if isinstance(self._sink, _File):
                await self._sink.write(record)
            else:
                taken = self._sink(record)
                if inspect.isawaitable(taken):
                    await taken
        except Exception as fault:
            self.failures += 1
            logger.error(
                "the audit log lost a line about tool %r: %s: %s",
                record.get("tool"),
                type(fault).__name__,
                fault,
                exc_info=not isinstance(fault, OSError),
            )

    async def close(self) -> None:
        """Wait until everything is written."""
        if isinstance(self._sink, _File):
            await self._sink.flush()

    def shown(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Return what is written of arguments."""
        if self._redact is not None:
            try:
                arguments = self._redact(tool, msgspec.json.decode(msgspec.json.encode(arguments)))
            except Exception:
                logger.exception("the function redact= of the audit log failed; the arguments of %r are left out", tool)
                return HIDDEN
        return self._clipped(msgspec.to_builtins(arguments), 0)

    def without_secrets(self, arguments: Any, text: str) -> str:
        """Return a text, such as an error that repeats arguments, without the values that are not written."""
        waiting: list[tuple[bool, Any]] = [(False, arguments)]
        while waiting:
            hidden, value = waiting.pop()
            if isinstance(value, dict):
                waiting += [(hidden or bool(self._secrets.search(name)), inner) for name, inner in value.items()]
            elif isinstance(value, list):
                waiting += [(hidden, inner) for inner in value]
            elif hidden and isinstance(value, str) and len(value) > 3:
                text = text.replace(value, HIDDEN)
        return text

    def _clipped(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            if len(value) <= self._max_value:
                return value
            return f"{value[: self._max_value]}... ({len(value)} characters)"
        if not isinstance(value, dict | list):
            return value
        if depth == 6:
            return f"... ({len(value)} inside)"
        left = len(value) - 50
        if isinstance(value, list):
            items = [self._clipped(item, depth + 1) for item in value[:50]]
            return items if left <= 0 else [*items, f"... ({left} more)"]
        members: dict[str, Any] = {}
        for name, inner in list(value.items())[:50]:
            hidden = self._secrets.search(name) and inner is not None
            members[self._clipped(name, 0)] = HIDDEN if hidden else self._clipped(inner, depth + 1)
        return members if left <= 0 else {**members, "...": f"{left} more"}


class _File:
    """Appends lines, one after another, in a thread of its own: a slow disk must not hold up the event loop."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._waiting: set[Future[None]] = set()
        os.close(self._open())  # a log that cannot be written is found out before the first call
        # Its thread starts with the first line, and the interpreter waits for it at its end.
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="leanmcp-audit")

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    async def write(self, record: dict[str, Any]) -> None:
        """Append a line; return when it is in the file.

        Raises:
            OSError: it is not.
        """
        line = msgspec.json.encode(record, enc_hook=repr) + b"\n"
        if len(self._waiting) >= MAX_WAITING:
            raise OSError(f"{len(self._waiting)} lines are waiting for the disk")
        written = self._writer.submit(self._append, line)
        self._waiting.add(written)
        written.add_done_callback(self._waiting.discard)
        done, _ = await asyncio.wait([asyncio.wrap_future(written)], timeout=_PATIENCE)
        if done:
            written.result()
            return
        logger.error("the audit log %s is slow: a line has waited for %g seconds", self._path, _PATIENCE)
        written.add_done_callback(self._late)

    def _late(self, written: Future[None]) -> None:
        if (fault := written.exception()) is not None:
            logger.error("the audit log %s lost a line that had waited: %s", self._path, fault)

    def _append(self, line: bytes) -> None:
        # Opened for each line, so that a log that was moved away goes on under its own name.
        file = self._open()
        try:
            if os.write(file, line) != len(line):  # one write: lines of several programs do not mix
                raise OSError(f"the disk took only a part of a line of {len(line)} bytes")
        finally:
            os.close(file)

    async def flush(self) -> None:
        """Return when every line so far is in the file, or lost."""
        if self._waiting:
            await asyncio.wrap_future(self._writer.submit(lambda: None))


class _AuditGate(Gate):
    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    async def before(self, call: Call) -> Call:
        call.kept[self] = time.time(), time.perf_counter()
        return call

    async def after(self, call: Call, result: CallToolResult) -> CallToolResult:
        encoded = msgspec.json.encode(result, enc_hook=repr)
        failed = getattr(result, "is_error", False)
        asks = not isinstance(result, CallToolResult)
        await self._write(
            call,
            "input_required" if asks else "tool_error" if failed else "ok",
            result={"size": len(encoded), "digest": "sha256:" + hashlib.sha256(encoded).hexdigest()},
        )
        return result

    async def failed(self, call: Call, error: BaseException) -> None:
        message = self._audit.without_secrets(call.arguments, str(error))
        if len(message) > 500:
            message = f"{message[:500]}..."
        said: dict[str, Any] = {"type": type(error).__name__, "message": message}
        if isinstance(error, MCPError):
            said["code"] = error.code
        await self._write(call, _outcome(error), error=said)

    async def _write(self, call: Call, outcome: str, **more: Any) -> None:
        started = call.kept.pop(self, None)
        if started is None:
            return  # its line is written; this was cancelled while it waited for the disk
        now, tick = started
        record = {
            "time": datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
            "server": call.server,
            "tool": call.tool,
            "arguments": self._audit.shown(call.tool, call.arguments),
            "decision": call.decision,
            "outcome": outcome,
            "duration_ms": round((time.perf_counter() - tick) * 1000, 3),
            **more,
        }
        if call.flags:
            record["flags"] = call.flags
        await self._audit.write(record)

    async def close(self) -> None:
        await self._audit.close()


def _outcome(error: BaseException) -> str:
    for kind, outcome in (
        (CallDenied, "denied"),
        (ToolChanged, "tool_changed"),
        (InvalidResult, "invalid_result"),
        (CallTimeout, "timeout"),
        (MCPError, "error"),
        (asyncio.CancelledError, "cancelled"),
    ):
        if isinstance(error, kind):
            return outcome
    return "failed"


def audit_gate(given: Audit | AuditSink) -> Gate:
    """Return the gate of what `audit=` stands for."""
    return (given if isinstance(given, Audit) else Audit(given)).gate()
