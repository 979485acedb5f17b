"""Requests that a server sends to its client, inside `InputRequiredResult`: what they look like, and who may get them.

In: requests as a function wrote them, and the capabilities that the client declared. Out: plain JSON requests, and
MissingRequiredClientCapability for one that the client could not answer.
Spec 2026-07-28: basic/patterns/mrtr, "Server Requirements (Basic Workflow)" 2 and 7; client/elicitation,
"Capabilities".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from ..errors import MissingRequiredClientCapability
from ..protocol.jsonrpc import DECODE_FAULTS
from ..protocol.meta import decode_late
from ..types import ElicitResult
from .elicitation import Question
from .encoding import encode_json
from .forms import check_form

__all__ = ["check_capabilities", "declares", "read_response", "request_of"]

ELICITATION, SAMPLING, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
_HOW = {
    "elicitation": "a Python client takes elicitation_callback=, a TypeScript one {{elicitation: {{{mode}: {{}}}}}}",
    "sampling": "give the client a model to ask",
    "roots": "give the client folders to work in",
}
_decode_result = msgspec.json.Decoder(ElicitResult).decode


def request_of(value: object) -> dict[str, Any]:
    """Return a value of `input_requests` as the request on the wire.

    Raises:
        TypeError, ValueError: no such request can be sent.
    """
    if isinstance(value, Question):
        return value.request()
    request: Any = None if isinstance(value, type) else json.loads(encode_json(value))
    method = request.get("method") if isinstance(request, dict) else None
    params = request.get("params", {}) if isinstance(request, dict) else None
    if method not in (ELICITATION, SAMPLING, ROOTS) or not isinstance(params, dict):
        raise TypeError(
            f"input_requests holds Elicit, ElicitURL or {{'method': ..., 'params': {{...}}}} with the method "
            f"{ELICITATION}, {SAMPLING} or {ROOTS}, not {value!r}"
        )
    if method == ELICITATION:
        check_form(params)
    found: dict[str, Any] = request
    return found


def read_response(method: str, raw: msgspec.Raw) -> Any:
    """Return the client's answer to a request: ElicitResult, or plain JSON of the others; None where it is none.

    Args:
        method: of the request; empty where that is not known.
    """
    try:
        value = msgspec.json.decode(raw)
        if method == ELICITATION or (not method and isinstance(value, dict) and "action" in value):
            return _decode_result(raw)
    except DECODE_FAULTS:
        return None
    members = {SAMPLING: ("content",), ROOTS: ("roots",)}.get(method, ("content", "roots"))
    fits = isinstance(value, dict) and any(isinstance(value.get(member), list | dict) for member in members)
    return value if fits else None


# --- capabilities ---------------------------------------------------------------------------------------------------


def _required(request: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the capabilities that a client must have declared to be sent a request."""
    params = request.get("params", {})
    if request["method"] == ELICITATION:
        return [("elicitation", "url" if params.get("mode") == "url" else "form")]
    if request["method"] == ROOTS:
        return [("roots",)]
    required: list[tuple[str, ...]] = [("sampling",)]
    if params.get("tools") or params.get("toolChoice"):
        required.append(("sampling", "tools"))
    if params.get("includeContext", "none") != "none":
        required.append(("sampling", "context"))
    return required


def declares(path: tuple[str, ...], capabilities: Mapping[str, msgspec.Raw]) -> bool:
    """Return whether a client declared a capability, such as `("elicitation", "url")`.

    `elicitation` without a mode stands for forms.
    """
    if path[0] not in capabilities:
        return False
    value: Any = decode_late(capabilities[path[0]])
    if path == ("elicitation", "form") and isinstance(value, dict) and "url" not in value:
        return True
    for name in path[1:]:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return isinstance(value, dict)


def missing(paths: list[tuple[str, ...]]) -> MissingRequiredClientCapability:
    """Return the error that names capabilities which the client did not declare."""
    data: dict[str, Any] = {}
    for path in paths:
        part = data
        for name in path:
            part = part.setdefault(name, {})
    named = " and ".join(f"{'.'.join(path)!r}" for path in paths)
    known = [_HOW[path[0]].format(mode=path[-1]) for path in paths if path[0] in _HOW]
    how = f" ({'; '.join(dict.fromkeys(known))})" if known else ""
    return MissingRequiredClientCapability(
        f"This request needs the client capability {named}, which is not in _meta's clientCapabilities{how}; without "
        "it, give what would be asked for in the arguments, where they take it",
        data,
    )


def check_capabilities(requests: Mapping[str, dict[str, Any]], capabilities: Mapping[str, msgspec.Raw]) -> None:
    """Refuse requests that the client did not declare support for.

    Raises:
        MissingRequiredClientCapability: -32021 with `data.requiredCapabilities`, HTTP 400.
    """
    paths = dict.fromkeys(path for request in requests.values() for path in _required(request))
    absent = [path for path in paths if not declares(path, capabilities)]
    if absent:
        raise missing(absent)
