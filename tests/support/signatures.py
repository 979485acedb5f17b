"""A signature as a call uses it: decoded, recovered, or refused in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from leanmcp.server.signature import InvalidArguments, Signature
from tests.support.deriving import with_schemas


def of(function: Callable[..., Any], **options: Any) -> Signature:
    """Return the signature of a function, as the tool `tool` unless `tool_name` says otherwise."""
    return Signature(function, tool_name=options.pop("tool_name", "tool"), **with_schemas(options))


def call(signature: Signature, arguments: Any) -> Any:
    """Return arguments as a dict, decoded or recovered, as a call does it."""
    raw = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    try:
        decoded = signature.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        decoded = signature.recover(raw)
    return msgspec.structs.asdict(decoded)


def refusal(signature: Signature, arguments: Any) -> list[str]:
    """Return the lines of the refusal below its head."""
    with pytest.raises(InvalidArguments) as error:
        call(signature, arguments)
    return error.value.text.splitlines()[1:]
