"""The specification's own JSON Schema, held against every message that tests receive.

The schema lies beside the project, in `../shared`; where it does not, messages are not checked and the tests that are
about it skip.
"""

from __future__ import annotations

import base64
import functools
from pathlib import Path
from typing import Any

import msgspec
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import MCPServer

from . import in_process

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "spec" / "2026-07-28"
AVAILABLE = (FOLDER / "schema.json").is_file()
REASON = "the specification's schema is not beside the project (../shared/spec)"

RESULTS = {
    "server/discover": "DiscoverResultResponse",
    "tools/list": "ListToolsResultResponse",
    "tools/call": "CallToolResultResponse",
    "subscriptions/listen": "SubscriptionsListenResultResponse",
    "resources/list": "ListResourcesResultResponse",
    "resources/templates/list": "ListResourceTemplatesResultResponse",
    "resources/read": "ReadResourceResultResponse",
    "prompts/list": "ListPromptsResultResponse",
    "prompts/get": "GetPromptResultResponse",
    "completion/complete": "CompleteResultResponse",
}
MEMBERS = {
    "supportedVersions": "server/discover",
    "tools": "tools/list",
    "content": "tools/call",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "contents": "resources/read",
    "prompts": "prompts/list",
    "messages": "prompts/get",
    "completion": "completion/complete",
}
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
def _definitions() -> Any:
    return msgspec.json.decode((FOLDER / "schema.json").read_bytes())["$defs"]


def definition(name: str) -> Any:
    """Return one definition of the schema."""
    return _definitions()[name]


@functools.cache
def validator(name: str) -> Any:
    """Return a validator of one definition of the schema."""
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": _definitions()})


def check_response(message: dict[str, Any], method: str | None = None) -> dict[str, Any]:
    """Return a response after holding it against the schema of its method, or of its error code.

    Raises:
        jsonschema.ValidationError: it does not fit.
    """
    _check_beyond_the_schema(message)
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
        result = message["result"]
        if result.get("resultType") == "input_required":
            validator("InputRequiredResult").validate(result)
            assert result.keys() & {"inputRequests", "requestState"}, "nothing to answer, and nothing to come back with"
            return message
        name = RESULTS[method or _method_of(result)]
        validator(name).validate(message)
        # The response's schema takes InputRequiredResult too, and that takes any object with a `resultType`.
        validator(name.removesuffix("Response")).validate(result)
    return message


def _check_beyond_the_schema(message: dict[str, Any]) -> None:
    """Hold a response against what the specification says in words, or as a `format`.

    Spec: basic/index, "Error Codes"; schema, `format: byte` of what is base64.
    """
    if "error" in message:
        code = message["error"]["code"]
        assert code not in (-32002, -32042), "a code of an earlier version"
        assert code in ERRORS or not -32099 <= code <= -32020, "a reserved code"
        return
    found: list[Any] = [message["result"]]
    for value in found:
        if isinstance(value, dict):
            if value.get("type") in ("image", "audio"):
                base64.b64decode(value["data"], validate=True)
            if isinstance(value.get("blob"), str) and "uri" in value:
                base64.b64decode(value["blob"], validate=True)
            # What a tool calls `structuredContent` is its own, and so is `_meta`.
            found += [inner for name, inner in value.items() if name not in ("structuredContent", "_meta")]
        elif isinstance(value, list):
            found += value


def _method_of(result: dict[str, Any]) -> str:
    """Return the method that a result answers, told by the member that only its results have."""
    if result.keys() == {"resultType", "_meta"} and "io.modelcontextprotocol/subscriptionId" in result["_meta"]:
        return "subscriptions/listen"
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
    return check_response(await in_process.request(mcp, method, params), method)
