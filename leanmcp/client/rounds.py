"""Requests that the server answers with questions: ask, answer, ask again.

In: a result that asks, and a way to send the request once more. Out: the complete result.
Spec 2026-07-28: basic/patterns/mrtr, "Client Requirements (Basic Workflow)".
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from ..errors import InvalidResult, RoundLimit
from ..mistyped import did_you_mean
from ..protocol.jsonrpc import DECODE_FAULTS
from ..types import InputRequiredResult, Tool
from .answers import Answers, ClientRequestContext
from .keywords import RetryKeywords
from .messages import Asked

T = TypeVar("T")
Send = Callable[[bytes], Awaitable[T | Asked]]
"""Sends the request again, with these further members of its params, and returns its result."""

_PAUSES = (0.0, 0.05, 0.2, 0.5)  # seconds before a retry that answers nothing; the last one goes on

_OWN = {
    "call_tool": ("arguments", "read_timeout_seconds", "progress_callback", "type", "raise_on_error"),
    "call_tool_once": ("arguments", "read_timeout_seconds", "progress_callback"),
    "get_prompt": ("arguments",),
}
"""The options of methods that take arguments, beside those that continue a request."""
_MAX_QUESTIONS = 100  # of one round; each may be a window in front of a person


class _Question(msgspec.Struct):
    method: str
    params: dict[str, Any] = {}


_decode_question = msgspec.json.Decoder(_Question).decode


async def answer_rounds(asked: Asked, send: Send[T], answers: Answers, context: ClientRequestContext, most: int) -> T:
    """Answer questions until the result is complete.

    Args:
        asked: the first result that asks.
        send: see Send.
        answers: the callbacks.
        context: of the request.
        most: rounds.

    Raises:
        RoundLimit: there was no end to the questions.
        MCPError: see `Answers.answer`; and what `send` raises.
    """
    silent = 0
    for _ in range(most):
        members = await _members(asked, answers, context)
        if asked.input_requests:
            silent = 0
        else:
            await asyncio.sleep(_PAUSES[min(silent, len(_PAUSES) - 1)])
            silent += 1
        result = await send(members)
        if not isinstance(result, Asked):
            return result
        asked = result
    raise RoundLimit(
        f"{context.where} asked {most} times about {context.method} {context.name!r} without completing it; "
        "input_required_max_rounds= sets the limit"
    )


async def _members(asked: Asked, answers: Answers, context: ClientRequestContext) -> bytes:
    """Return the members of the retry's params that answer what was asked."""
    members = []
    if asked.input_requests:
        answered = await _all_answers(asked.input_requests, answers, context)
        members.append(b'"inputResponses":' + msgspec.json.encode(answered))
    if bytes(asked.request_state):
        # The text as it came, so that nothing about it can change.
        members.append(b'"requestState":' + bytes(asked.request_state))
    return b",".join(members)


async def _all_answers(
    requests: Mapping[str, msgspec.Raw], answers: Answers, context: ClientRequestContext
) -> dict[str, Any]:
    """Answer every question, all at once; the first one that fails ends the others."""
    if len(requests) > _MAX_QUESTIONS:
        raise InvalidResult(f"{context.where} asks {len(requests)} questions at once, over {_MAX_QUESTIONS}")
    questions: dict[str, _Question] = {}
    for key, raw in requests.items():
        try:
            questions[key] = _decode_question(raw)
        except DECODE_FAULTS as fault:
            raise InvalidResult(f"{context.where} asks {key[:64]!r}, which is no request: {fault}") from None
    tasks = {
        key: asyncio.ensure_future(
            answers.answer(msgspec.structs.replace(context, request_id=key), question.method, dict(question.params))
        )
        for key, question in questions.items()
    }
    try:
        found = await asyncio.gather(*tasks.values())
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
    return dict(zip(tasks, found, strict=True))


def retry_members(responses: Mapping[str, Any] | None, state: str | None) -> bytes:
    """Return the members that continue a request by hand, with a comma in front of each."""
    members = b""
    if responses is not None:
        members += b',"inputResponses":' + msgspec.json.encode(responses)
    if state is not None:
        members += b',"requestState":' + msgspec.json.encode(state)
    return members


def check_retry(method: str, retry: Mapping[str, object]) -> None:
    """Refuse an option that no request is continued with, and say which one was probably meant.

    Raises:
        TypeError: the text names the method and the option.
    """
    meta = retry.get("meta")
    if not isinstance(meta, Mapping | None):
        raise TypeError(f"{method}: meta={meta!r}: give a dict of members of `_meta`")
    known = RetryKeywords.__annotations__
    unknown = [name for name in retry if name not in known]
    if not unknown:
        return
    name = unknown[0]
    own = _OWN.get(method, ())
    if name == "timeout" and "read_timeout_seconds" in own:
        meant = "; did you mean 'read_timeout_seconds'?"
    else:
        meant = did_you_mean(name, [*known, *own])
    if not meant and method in _OWN:
        given = ", ".join(f"{name!r}: ..." for name in unknown)
        meant = f"; arguments are one dict behind the name: {{{given}}}"
    raise TypeError(f"{method}: unknown option {name!r}{meant}")


def by_hand(asked: Asked) -> InputRequiredResult:
    """Return what is asked, for a program that answers by itself."""
    try:
        return msgspec.json.decode(asked.raw, type=InputRequiredResult)
    except DECODE_FAULTS as fault:
        raise InvalidResult(f"The server's questions are invalid: {fault}") from None


def miscalled(name: object, arguments: Any) -> TypeError:
    """Return the error of a call whose name or arguments cannot be sent."""
    if isinstance(name, Tool):
        return TypeError(f"call_tool(<Tool>): give the name of the tool, a text; did you mean {name.name!r}?")
    if not isinstance(name, str):
        meant = f"; did you mean {name.__name__!r}?" if callable(name) and hasattr(name, "__name__") else ""
        return TypeError(f"call_tool({name!r}): give the name of the tool, a text{meant}")
    if not isinstance(arguments, Mapping):
        return TypeError(f"call_tool({name!r}): arguments={arguments!r}: give a dict, such as {{'name': value}}")
    wrong = {key: value for key, value in arguments.items() if not _has_json(value)}
    shown = {key: f"{value!r}" if isinstance(value, float) else type(value).__name__ for key, value in wrong.items()}
    named = ", ".join(f"{key!r} ({kind})" for key, kind in shown.items())
    return TypeError(f"call_tool({name!r}): arguments that have no JSON form: {named or 'a key'}")


def _has_json(value: object) -> bool:
    try:
        msgspec.json.encode(value)
    except (TypeError, UnicodeEncodeError):
        return False
    return not _is_endless(msgspec.to_builtins(value, enc_hook=repr))  # for msgspec.Raw, which is JSON already


def refuse_unsendable(name: str, arguments: Any) -> None:
    """Refuse what JSON does not have, and numbers for which null would be sent.

    Raises:
        TypeError: the text names the arguments.
    """
    if not _has_json(arguments):
        raise miscalled(name, arguments)


def _is_endless(value: object) -> bool:
    """Return whether a value is NaN or infinite, or holds such a number."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(map(_is_endless, value.values()))
    return isinstance(value, list | tuple) and any(map(_is_endless, value))
