"""What a server asks of the client, answered by the program's callbacks: elicitation, and anything else raw.

In: method and params of one question. Out: the JSON value of its answer. Nothing is answered that no callback stands
for, and no URL is opened or fetched here.
Spec 2026-07-28: client/elicitation; basic/patterns/mrtr, "InputRequests". 2025-11-25: the same as requests.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from ..errors import InvalidResult, MCPError
from ..types import ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams, ElicitResult

ELICIT = "elicitation/create"
_MODES = ("form", "url")
_DECLARED = {"sampling/createMessage": "sampling", "roots/list": "roots"}


class ClientRequestContext(Struct, frozen=True):
    """Who asks, for whoever answers.

    Args:
        where: URL, command or name of the server; show it to the user.
        request_id: the key of the question, or the id of the request in earlier protocol versions.
        method: of the request that cannot be completed without the answer, such as `tools/call`; empty where unknown.
        name: of the tool or prompt, or the URI of the resource; empty where unknown.
        meta: `_meta` of the question.
    """

    where: str
    request_id: int | str
    method: str = ""
    name: str = ""
    meta: dict[str, Any] | None = None


ElicitationCallback = Callable[
    [ClientRequestContext, ElicitRequestParams], Awaitable[ElicitResult | MCPError] | ElicitResult | MCPError
]
"""Answers a form or a URL. `accept` of a URL says that the user has agreed to open it; opening it is the callback's."""
InputCallback = Callable[[ClientRequestContext, dict[str, Any]], Any]
"""Takes the params of any other question and returns the members of its answer."""


class Answers:
    """The callbacks of one client.

    Args:
        elicitation: answers `elicitation/create`.
        modes: what it can show: "form", "url" or both.
        others: by method, what answers other questions.
        capabilities: further ones to declare, such as extensions.

    Attributes:
        capabilities: what the client declares.

    Raises:
        ValueError: a mode that there is not.
    """

    def __init__(
        self,
        elicitation: ElicitationCallback | None = None,
        modes: Sequence[str] = _MODES,
        others: Mapping[str, InputCallback] | None = None,
        capabilities: Mapping[str, Any] | None = None,
    ) -> None:
        if not modes or any(mode not in _MODES for mode in modes):
            raise ValueError(f"elicitation_modes={modes!r}: give 'form', 'url' or both")
        self._elicitation = elicitation
        self._modes = tuple(modes)
        self._others = dict(others or {})
        self.capabilities: dict[str, Any] = dict(capabilities or {})
        if elicitation is not None:
            self.capabilities["elicitation"] = {mode: {} for mode in modes}
        for method in self._others:
            self.capabilities.setdefault(_DECLARED.get(method, method.partition("/")[0]), {})

    def can(self, method: str) -> bool:
        """Return whether there is a callback for such a question."""
        return method in self._others or (method == ELICIT and self._elicitation is not None)

    async def answer(self, context: ClientRequestContext, method: str, params: dict[str, Any]) -> Any:
        """Return the answer to a question, ready to be encoded.

        Raises:
            InvalidResult: the server may not ask this.
            MCPError: the callback returned or raised one.
            ValueError: the callback's answer does not fit the form.
        """
        meta = params.get("_meta")
        if isinstance(meta, dict):
            context = msgspec.structs.replace(context, meta=meta)
        other = self._others.get(method)
        if other is not None:
            return await _called(other(context, params))
        if method != ELICIT or self._elicitation is None:
            hint = (
                "pass elicitation_callback=" if method == ELICIT else f"pass input_callbacks={{{method[:64]!r}: ...}}"
            )
            raise InvalidResult(
                f"{context.where} asks for {method[:64]!r}, which this client has not declared; to answer it, {hint}"
            )
        mode = params.get("mode", "form")
        if mode not in self._modes:
            raise InvalidResult(f"{context.where} asks with mode {mode!r}, which this client has not declared")
        if mode == "url":
            question: ElicitRequestParams = _url_params(params, context.where)
        else:
            question = _form_params(params, context.where)
        result = await _called(self._elicitation(context, question))
        return _checked(result, question)


async def _called(result: Any) -> Any:
    if inspect.isawaitable(result):
        result = await result
    if isinstance(result, MCPError):
        raise result
    return result


def _form_params(params: dict[str, Any], where: str) -> ElicitRequestFormParams:
    from ..schema import SchemaError
    from ..schema import compile as compile_schema  # few calls ask anything

    try:
        question = msgspec.convert(params, ElicitRequestFormParams)
        compile_schema(question.requested_schema, profile="untrusted")
    except (msgspec.ValidationError, SchemaError) as fault:
        raise InvalidResult(f"{where} asks with a form that is none: {fault}") from None
    return question


def _url_params(params: dict[str, Any], where: str) -> ElicitRequestURLParams:
    try:
        question = msgspec.convert(params, ElicitRequestURLParams)
        parts = urlsplit(question.url)
    except (msgspec.ValidationError, ValueError) as fault:
        raise InvalidResult(f"{where} asks to visit a URL that is none: {fault}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not question.url.isprintable():
        raise InvalidResult(f"{where} asks to visit {question.url[:200]!r}, which is no web page")
    return question


def _checked(result: Any, question: ElicitRequestParams) -> ElicitResult:
    """Return what travels: content only with an accepted form, complete and valid."""
    if isinstance(result, dict):
        try:
            result = msgspec.convert(result, ElicitResult)
        except msgspec.ValidationError as fault:
            raise TypeError(
                f"elicitation_callback returned {result!r:.200}: give {{'action': 'accept', 'content': {{...}}}}, or "
                f"'decline' or 'cancel' ({fault})"
            ) from None
    action, content = getattr(result, "action", None), getattr(result, "content", None)
    if action not in ("accept", "decline", "cancel"):
        raise TypeError(
            f"elicitation_callback must return an ElicitResult, not {result!r:.200}; its action is 'accept', 'decline' "
            "or 'cancel'"
        )
    if action != "accept" or isinstance(question, ElicitRequestURLParams):
        return ElicitResult(action=action)
    content = with_defaults(content or {}, question.requested_schema)
    from ..schema import compile as compile_schema

    faults = compile_schema(question.requested_schema, profile="untrusted").explain(content)
    if faults:
        raise ValueError(f"the answer of elicitation_callback does not fit the form: {faults}")
    return ElicitResult(action="accept", content=content)


def with_defaults(content: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a form with the defaults of members that it does not mention."""
    filled = dict(content)
    properties = schema.get("properties")
    for name, node in properties.items() if isinstance(properties, dict) else ():
        if name not in filled and isinstance(node, dict) and "default" in node:
            filled[name] = node["default"]
    return filled
