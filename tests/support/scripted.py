"""A transport whose server is a function of the test; every request is held against the specification's schema."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import msgspec

from leanmcp.client import Client
from leanmcp.protocol.outgoing import OutgoingRequest

from .spec import AVAILABLE, validator

REQUESTS = {
    "server/discover": "DiscoverRequest",
    "tools/list": "ListToolsRequest",
    "tools/call": "CallToolRequest",
    "subscriptions/listen": "SubscriptionsListenRequest",
    "resources/list": "ListResourcesRequest",
    "resources/templates/list": "ListResourceTemplatesRequest",
    "resources/read": "ReadResourceRequest",
    "prompts/list": "ListPromptsRequest",
    "prompts/get": "GetPromptRequest",
    "completion/complete": "CompleteRequest",
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "private",
}
DONE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}


class Failure(Exception):
    """Makes the answer an error response.

    Args:
        code, message, data: of the error.
        status: of HTTP.
    """

    def __init__(self, code: int, message: str = "no", data: Any = None, status: int = 200) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        self.status = status


class Mute:
    """Makes the answer never come."""


Answer = Callable[[str, dict[str, Any]], Any]
"""Takes method and params; returns a result, raises Failure or what the transport would, or returns bytes."""


class Scripted:
    """A transport.

    Args:
        answer: see Answer; may be a coroutine function.
        over_http: whether requests have headers.

    Attributes:
        requests: the messages that were sent, `server/discover` left out.
        outgoing: the same, as the transport got them.
        cancelled: methods that were given up.
    """

    def __init__(self, answer: Answer, *, over_http: bool = False) -> None:
        self.where = "the scripted server"
        self.has_headers = over_http
        self._answer = answer
        self.requests: list[dict[str, Any]] = []
        self.outgoing: list[OutgoingRequest] = []
        self.cancelled: list[str] = []
        self.closed = 0
        self.cache_key: tuple[object, object] | None = None

    async def start(self) -> None:
        """Nothing to do."""

    async def close(self) -> None:
        """Count."""
        self.closed += 1

    @property
    def methods(self) -> list[str]:
        """The methods that were asked for."""
        return [message["method"] for message in self.requests]

    async def request(self, request: OutgoingRequest, /) -> bytes:
        """Answer a request."""
        message = msgspec.json.decode(request.message)
        check_request(message)
        if message["method"] != "server/discover":
            self.requests.append(message)
            self.outgoing.append(request)
        try:
            result = self._answer(message["method"], message["params"])
            if inspect.isawaitable(result):
                result = await result
            if result is Mute:
                await asyncio.Event().wait()
        except Failure as failure:
            if request.answered is not None:
                request.answered(failure.status, {})
            return encode({"jsonrpc": "2.0", "id": request.id, "error": failure.error})
        except asyncio.CancelledError:
            self.cancelled.append(message["method"])
            raise
        if result is None and message["method"] == "server/discover":
            result = DISCOVERED
        if isinstance(result, bytes):
            return result
        return encode({"jsonrpc": "2.0", "id": request.id, "result": result})

    def client(self, **options: Any) -> Client:
        """Return a client of this, which takes `headers` and `auth` for the caller's credentials."""
        if self.has_headers:
            self.cache_key = self.where, (repr(options.pop("headers", None)), options.pop("auth", None))
        return Client(self, **options)

    def notify(self, method: str, params: dict[str, Any], request: int = -1) -> None:
        """Send a notification on the stream of a request."""
        notified = self.outgoing[request].notified
        assert notified is not None
        notified(method, params)


def encode(message: Any) -> bytes:
    """Return JSON."""
    return msgspec.json.encode(message)


def check_request(message: dict[str, Any]) -> None:
    """Hold a request against the schema.

    Raises:
        jsonschema.ValidationError: it does not fit.
    """
    if AVAILABLE and message["params"].get("_meta", {}).get("io.modelcontextprotocol/protocolVersion"):
        validator("JSONRPCRequest").validate(message)
        if message["method"] in REQUESTS:
            validator(REQUESTS[message["method"]]).validate(message)


def only(**results: Any) -> Answer:
    """Return a server of fixed results, by method with `_` for `/`; further ones of a method come from its list."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        found = results.get(method.replace("/", "_"))
        if isinstance(found, list) and found:
            found = found.pop(0) if len(found) > 1 else found[0]
        if isinstance(found, Exception):
            raise found
        return found

    return answer
