"""The options of a client, looked at before they are used: each mistake is told where it was made.

In: what the constructor was given. Out: nothing, or a TypeError that says what to give.
Ours: an error tells how to mend the program.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any

from ..types import DiscoverResult, Implementation
from .cache import ResponseCache

_CALLED_WITH = ("elicitation_callback", "notification_callback", "on_call")  # two values each
MISSING = {
    **dict.fromkeys(("call", "execute_tool", "invoke", "run", "tool"), "write `client.call_tool(name, {...})`"),
    **dict.fromkeys(("capabilities", "get_server_capabilities"), "it is `client.server_capabilities`"),
    **dict.fromkeys(("get_resource", "read", "read_file"), "write `client.read_resource(uri)`"),
    **dict.fromkeys(
        ("get_tool", "has_tool"), "write `[tool async for tool in client.tools()]`, and look at `tool.name`"
    ),
    **dict.fromkeys(("initialize_result", "serverInfo"), "it is `client.server_info`, or client.discover()"),
    **dict.fromkeys(("send_notification", "send_roots_list_changed"), "a client of 2026-07-28 tells of nothing"),
    "list": "write `client.list_tools()`, or list_resources, list_prompts",
    "prompt": "write `client.get_prompt(name, {...})`",
    **dict.fromkeys(
        ("list_roots", "roots"), "deprecated; a server asks for them: input_callbacks={'roots/list': ...} answers"
    ),
    "send_request": "write `client.request(method, {...})`",
    "session_id": "there are no sessions",
    "call_tool_mcp": "call_tool without type= returns the whole result",
    "ping": "there is none; `client.discover(cache_mode='bypass')` asks whether the server answers",
}
"""Methods that other clients have: what to write here."""
_AUTH_METHODS = ("headers", "challenged")


def unknown_options(unknown: Iterable[str], constructor: Callable[..., None]) -> TypeError:
    """Return the error of options that the constructor of a client does not have, with what was probably meant."""
    from ..elsewhere import OF_CLIENTS  # of mistakes only
    from ..mistyped import did_you_mean

    known = [name for name in inspect.signature(constructor).parameters if name not in ("self", "unknown")]
    likely = {"timeout": "read_timeout_seconds"}
    name = next(iter(unknown))
    instead = OF_CLIENTS.get(name)
    near = f"; did you mean {likely[name]!r}?" if name in likely else did_you_mean(name, known)
    meant = near if instead is None else f"; {instead}"
    return TypeError(f"Client: unknown option {name!r}{meant}")


def check_options(given: Mapping[str, Any]) -> None:
    """Refuse options of a wrong kind.

    Args:
        given: options of `Client` by name, as they were given, and whatever else.

    Raises:
        TypeError: one of them is of a wrong kind; the text never holds what may be a secret.
    """
    for name, (is_right, expected) in _KINDS.items():
        value: Any = given.get(name)
        if value is None and (name != "cache" or name not in given):
            continue
        if not is_right(value):
            secret = name in ("headers", "auth")
            shown = f"a {type(value).__name__}" if secret else f"{value!r:.100}"
            raise TypeError(f"{name}={'...' if secret else shown}: give {expected}{f', not {shown}' if secret else ''}")
        if name in _CALLED_WITH:
            _check_parameters(name, value, expected)
        elif name == "input_callbacks":
            for method, callback in value.items():
                _check_parameters(f"{name}[{method!r}]", callback, "a function: `async def answer(context, params)`")


def _check_parameters(name: str, callback: Callable[..., Any], expected: str) -> None:
    """Refuse a function that cannot take the two values that callbacks are called with.

    Raises:
        TypeError: it takes more, or less.
    """
    if hasattr(callback, "__wrapped__") or hasattr(callback, "__signature__"):
        return  # a decorator may add values that this signature tells of
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # of builtin functions: Python does not know
        return
    try:
        signature.bind(None, None)
    except TypeError:
        called = getattr(callback, "__name__", type(callback).__name__)
        taken = ", ".join(str(taken.replace(annotation=taken.empty)) for taken in signature.parameters.values())
        raise TypeError(f"{name}={called}({taken}): give {expected}") from None


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike) and bool(os.fspath(value))


def _makes_gate(value: Any) -> bool:
    """Return whether it is a Policy, Audit, Pins or ResultChecks, whose modules few clients load."""
    return callable(getattr(value, "gate", None)) and not isinstance(value, type)


def _texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(text, str) for name, text in value.items()
    )


def _is_auth(value: Any) -> bool:
    return not isinstance(value, type) and all(callable(getattr(value, name, None)) for name in _AUTH_METHODS)


_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "prior_discover": (
        lambda value: isinstance(value, DiscoverResult),
        "the DiscoverResult that `client.discover()` returned",
    ),
    "elicitation_callback": (callable, "a function: `async def answer(context, params) -> ElicitResult`"),
    "input_callbacks": (
        lambda value: (
            isinstance(value, Mapping)
            and all(isinstance(method, str) and "/" in method for method in value)
            and all(map(callable, value.values()))
        ),
        "functions by method, {'sampling/createMessage': answer}",
    ),
    "capabilities": (lambda value: isinstance(value, Mapping), "a dict, such as {'extensions': {...}}"),
    "notification_callback": (callable, "a function: `def told(method, params)`"),
    "input_required_max_rounds": (
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
        "the number of rounds of questions, 0 or more",
    ),
    "label": (lambda value: isinstance(value, str), "a text"),
    "cache": (lambda value: isinstance(value, bool | ResponseCache), "True, False or a ResponseCache"),
    "headers": (_texts, "a dict of texts, {'Authorization': 'Bearer ...'}"),
    "auth": (
        _is_auth,
        "a provider of leanmcp.oauth, or an object with `headers` and `challenged`; for a token, "
        "headers={'Authorization': 'Bearer ...'}",
    ),
    "client_info": (
        lambda value: isinstance(value, Implementation),
        "Implementation(name=..., version=...) of leanmcp.types",
    ),
    "on_call": (callable, "a function: `def on_call(tool, arguments)`, which returns True, False or a dict"),
    "trust": (_makes_gate, "a Policy of leanmcp.client"),
    "audit": (
        lambda value: _is_path(value) or _makes_gate(value) or callable(value),
        "a path, a function that takes records, or an Audit of leanmcp.client",
    ),
    "pin": (
        lambda value: _is_path(value) or _makes_gate(value) or isinstance(value, MutableMapping),
        "a path, a dict, or Pins of leanmcp.client",
    ),
    "check": (
        lambda value: isinstance(value, bool) or _makes_gate(value),
        "True, False or ResultChecks of leanmcp.client",
    ),
}
