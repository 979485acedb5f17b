"""Multi round trips: a request that the client has to answer questions for.

In: what a retry carries, and the questions of the function. Out: answers, and the response that asks for those that are
missing. Nothing is kept between two rounds: what is known travels in the sealed `requestState`, and the function runs
again from its first line, where each question that has been answered returns at once.
Spec 2026-07-28: basic/patterns/mrtr.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import orjson
from msgspec import UNSET

from ..errors import InternalError, InvalidParams, ToolError
from ..protocol.jsonrpc import RESPONSE_START, Segments, encode_id
from ..protocol.meta import RetryParams
from ..types import ElicitResult, InputRequiredResult
from .calling import NOUNS, Callee, InputRequired
from .client_requests import check_capabilities, read_response, request_of
from .context import Context, Exchange
from .derive import Deriver
from .elicitation import Question
from .encoding import encode_json, own_members, server_member
from .forms import InvalidAnswer
from .nodes import typed_decoder
from .request_state import Binding, StateTooLarge, digest, refused

if TYPE_CHECKING:
    from .request_state import RequestStateSecurity

T = TypeVar("T")


class Carried(msgspec.Struct):
    """What is known when a round ends; travels in `requestState`."""

    round: int = 0
    """How often the client has been asked."""
    asked: dict[str, tuple[str, str]] = {}
    """By key, method and digest of the questions of the last round."""
    answers: dict[str, tuple[str, ElicitResult]] = {}
    """By key, digest of the question and its result."""
    done: dict[str, Any] = {}
    """By key, what the steps of `Context.once` returned."""
    state: Any = None
    """The function's own."""


class Rounds:
    """The rounds of one request.

    Attributes:
        carried: what earlier rounds have left, and what this one adds.
        questions: by key, requests that the client has to answer before the request can be completed.
    """

    def __init__(self, context: Context[Any], params: RetryParams, callee: Callee) -> None:
        if callee.method not in NOUNS:
            raise TypeError(f"{callee.method} cannot ask the client; only {', '.join(NOUNS)} can")
        self._context = context
        self._params = params
        self._callee = callee
        self._security: RequestStateSecurity = callee.home.state_security
        self._order: Counter[str] = Counter()
        self._steps: dict[str, asyncio.Lock] = {}
        self._fingerprints: dict[str, str] = {}
        self._used: set[str] = set()
        self._token: tuple[str, float] | None = None
        self.questions: dict[str, dict[str, Any]] = {}
        self.carried = Carried()
        if params.request_state is not UNSET:
            state, token_id, expires = self._security.open(
                params.request_state, self._binding(), time.time(), callee.home.host.name
            )
            self._token = token_id, expires
            self.carried = msgspec.convert(state, Carried)
        self.responses = self._responses()

    def _binding(self) -> Binding:
        params: Any = self._params
        principal = None if self._security.bind_principal is None else self._security.bind_principal(self._context)
        raw = bytes(getattr(params, "arguments", b"{}"))
        try:
            arguments = json.loads(raw) or {}  # null stands for no arguments
        except ValueError:  # more digits than Python reads, in an argument that the tool ignores
            raise InvalidParams("Invalid params: `arguments` has a number that is out of range") from None
        return Binding(
            principal or "",
            self._callee.method,
            params.uri if hasattr(params, "uri") else params.name,
            arguments,
        )

    async def claim(self) -> None:
        """Use the state up, where it may be used once only.

        Raises:
            InvalidParams: it has been used.
        """
        if self._security.single_use is None or self._token is None:
            return
        if not await self._security.single_use.claim(*self._token):
            raise refused("used before")

    def _responses(self) -> dict[str, Any]:
        """Return the well-formed answers to questions of the last round; all others are as if they had not come.

        Without a state nobody knows what was asked, and an answer is taken for what its key says: a client that makes
        answers up could make them up in a second round, too.
        """
        sent = self._params.input_responses
        if isinstance(sent, msgspec.UnsetType):
            return {}
        asked = self.carried.asked if self._token is not None else dict.fromkeys(sent, ("", ""))
        found = {key: read_response(asked[key][0], raw) for key, raw in sent.items() if key in asked}
        return {key: response for key, response in found.items() if response is not None}

    # --- questions ------------------------------------------------------------------------------------------------

    async def ask(self, question: Question, key: str | None, name: str = "") -> Any:
        """Return how a question ended: Accepted, Declined or Cancelled.

        Args:
            key: names it on the wire; without one, its text does, with `name` or its place among those of one text: of
                parallel tasks, another one may come first in each round.

        Raises:
            InputRequired: it has to be asked first.
            MissingRequiredClientCapability: the client cannot be asked that.
            RuntimeError: the call has been answered already.
        """
        request = question.request()
        fingerprint = digest(request)
        if key is None:
            self._order[fingerprint] += not name
            key = f"{name or self._order[fingerprint]}-{fingerprint[:8]}"
        if key in self._used:
            raise ValueError(f"two questions of one call have the key {key!r}; give each a key of its own, or none")
        self._used.add(key)
        result = self._answer(key, fingerprint)
        if result is not None:
            try:
                outcome = question.outcome(result)
            except InvalidAnswer as fault:
                request = _with_faults(request, str(fault))
            else:
                self.carried.answers[key] = fingerprint, question.kept(result)
                return outcome
        if self._context.is_over():
            raise RuntimeError(f"the call of {self._callee.name!r} has been answered: nobody can be asked any more")
        check_capabilities({key: request}, self._params.meta.client_capabilities)
        self._fingerprints[key] = fingerprint
        self.questions[key] = request
        await asyncio.sleep(0)  # questions of parallel tasks are asked in one round
        raise InputRequired(InputRequiredResult(input_requests={key: request}), self._context)

    def _answer(self, key: str, fingerprint: str) -> ElicitResult | None:
        """Return the answer to a question, given now or earlier; None where the question changed since it was asked."""
        known, kept = self.carried.answers.get(key, ("", None))
        if kept is not None and known == fingerprint:
            return kept
        result = self.responses.get(key)
        unchanged = self._token is None or self.carried.asked.get(key, ("", ""))[1] == fingerprint
        return result if unchanged and isinstance(result, ElicitResult) else None

    # --- steps ----------------------------------------------------------------------------------------------------

    async def once(self, key: str, function: Callable[[], Any], kind: Any) -> Any:
        """Return what `function` returned, in this round or in an earlier one; see `Context.once`."""
        if not callable(function):
            raise TypeError(f"ctx.once({key!r}): give the function itself, without calling it, not {function!r:.60}")
        async with self._steps.setdefault(key, asyncio.Lock()):
            if key not in self.carried.done:
                data = encode_json(await self._callee.home.run(function))
                self.carried.done[key] = json.loads(data)
        plain = self.carried.done[key]
        if kind is None:
            return plain
        node = Deriver(self._callee.name, kept=True).derive(kind, f"step {key!r}")
        return typed_decoder(node)(msgspec.json.encode(plain))

    # --- the response ---------------------------------------------------------------------------------------------

    def response(self, result: InputRequiredResult, exchange: Exchange) -> Segments:
        """Return the response that asks the client."""
        carried, ended_by_question = self.carried, bool(self.questions)
        for key, value in _requests_in(result).items():
            if key in self.questions and self.questions[key] is not value:
                raise ValueError(f"two questions of one round have the key {key!r}; give each a key of its own")
            request = self.questions[key] = self.questions.get(key) or request_of(value)
            self._fingerprints.setdefault(key, digest(request))
        check_capabilities(self.questions, self._params.meta.client_capabilities)
        if carried.round >= self._security.max_rounds:
            raise InvalidParams(
                f"Invalid params: this request has been asked about {carried.round} times without an end "
                "(RequestStateSecurity.max_rounds); start again without `requestState`"
            )
        carried.round += 1
        carried.asked = {key: (self.questions[key]["method"], mark) for key, mark in self._fingerprints.items()}
        if result.request_state is not UNSET or not ended_by_question:
            carried.state = None if result.request_state is UNSET else result.request_state
        token = self._seal(carried)
        meta = own_members(result.meta) + server_member(self._callee.home.server_info)
        requests = b'"inputRequests":%s,' % encode_json(self.questions) if self.questions else b""
        return [
            RESPONSE_START,
            encode_id(exchange.id),
            b',"result":{"resultType":"input_required",',
            requests,
            b'"requestState":%s,"_meta":{%s}}}' % (orjson.dumps(token), meta),
        ]

    def _seal(self, carried: Carried) -> str:
        state = json.loads(encode_json(carried))
        return self._security.seal(state, self._binding(), time.time(), self._callee.home.host.name)


def _requests_in(result: InputRequiredResult) -> dict[str, Any]:
    """Return what a result asks; TypeError where that is no dict with keys that are texts."""
    requests: Any = {} if result.input_requests is None else result.input_requests
    if not isinstance(requests, dict) or not all(isinstance(key, str) for key in requests):
        raise TypeError(
            "InputRequiredResult(input_requests=...) takes a dict, of a key of yours to its question, as in "
            f'{{"size": Elicit(message, YourForm)}}, not {requests!r}'
        )
    return requests


def _with_faults(request: dict[str, Any], faults: str) -> dict[str, Any]:
    """Return a question that tells what was wrong with the last answer to it."""
    params = request["params"]
    return {**request, "params": {**params, "message": f"{params['message']}\n\nPlease correct: {faults}"}}


def input_required(asked: InputRequired, callee: Callee, params: RetryParams, exchange: Exchange) -> Segments:
    """Return the response that asks the client.

    Raises:
        MissingRequiredClientCapability: for something that it did not declare.
        InvalidParams: it has been asked too often.
        InternalError: what is asked cannot be sent; the log says why.
    """
    context = asked.context or Context(params, exchange, callee)
    try:
        return context.rounds.response(asked.result, exchange)
    except (ToolError, TypeError, ValueError) as fault:  # ToolError: it has no JSON form
        log_id = callee.home.faults.report(callee.name, fault, noun="question of")
        text = "too large" if isinstance(fault, StateTooLarge) else "no question that a client understands"
        raise InternalError(
            f"{callee.name!r} asks for input, but what it asks is {text}; the server's log has the details under id "
            f"{log_id}"
        ) from None
