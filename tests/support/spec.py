"""The specification's own JSON Schema, held against every message that tests receive.

The schema lies beside the project, in `../shared`; where it does not, messages are not checked and the tests that are
about it skip.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import msgspec
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import MCPServer, run

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "spec" / "2026-07-28"
AVAILABLE = (FOLDER / "schema.json").is_file()
REASON = "the specification's schema is not beside the project (../shared/spec)"

RESULTS = {
    "server/discover": "DiscoverResultResponse",
    "tools/list": "ListToolsResultResponse",
    "tools/call": "CallToolResultResponse",
}
MEMBERS = {"supportedVersions": "server/discover", "tools": "tools/list", "content": "tools/call"}
ERRORS = {
    -32020: "HeaderMismatchError",
    -32021: "MissingRequiredClientCapabilityError",
    -32022: "UnsupportedProtocolVersionError",
    -32600: "InvalidRequestError",
    -32601: "MethodNotFoundError",
    -32602: "InvalidParamsError",
    -32603: "InternalError",
    -32700: "ParseError",
}


@functools.cache
def validator(name: str) -> Any:
    """Return a validator of one definition of the schema."""
    schema = msgspec.json.decode((FOLDER / "schema.json").read_bytes())
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def check_response(message: dict[str, Any], method: str | None = None) -> dict[str, Any]:
    """Return a response after holding it against the schema of its method, or of its error code.

    Raises:
        jsonschema.ValidationError: it does not fit.
    """
    if not AVAILABLE:
        return message
    validator("JSONRPCResponse").validate(message)
    if "error" in message:
        error = ERRORS.get(message["error"]["code"])
        if error in ("HeaderMismatchError", "MissingRequiredClientCapabilityError", "UnsupportedProtocolVersionError"):
            validator(error).validate(message)
        else:
            validator("Error").validate(message["error"])
            validator(error or "Error").validate(message["error"])
    else:
        validator(RESULTS[method or _method_of(message["result"])]).validate(message)
    return message


def _method_of(result: dict[str, Any]) -> str:
    """Return the method that a result answers, told by the member that only its results have."""
    return next(method for member, method in MEMBERS.items() if member in result)


def read(data: bytes) -> Any:
    """Return the message that `data` holds, a response or a notification, after holding it against the schema.

    Raises:
        jsonschema.ValidationError: it does not fit.
    """
    message = msgspec.json.decode(data)
    if "method" not in message:
        return check_response(message)
    if AVAILABLE:
        validator("JSONRPCNotification").validate(message)
        validator("ServerNotification").validate(message)
    return message


async def request(mcp: MCPServer, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the response to one request in this process, checked."""
    return check_response(await run.request(mcp, method, params), method)
