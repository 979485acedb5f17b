"""Cross-origin requests of web pages, as an option.

In: what HTTPEndpoint answers. Out: the same with the fields that a browser wants to see, on errors too; preflight
requests are answered without authorization.
Fetch standard, "HTTP-CORS protocol"; spec 2026-07-28: basic/transports/streamable-http, "Security & Endpoint".
"""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import Any

import msgspec

from ..protocol.http11 import Head, Request
from ..protocol.response import NOTHING, Answer, EventStream, Response
from .context import Channel
from .http_endpoint import HTTPEndpoint

_ALLOWED_HEADER = re.compile(
    r"mcp-[a-z0-9!#$%&'*+.^_`|~-]+|accept|authorization|content-type|last-event-id|baggage|traceparent|tracestate"
)
_EXPOSED = b"WWW-Authenticate, Retry-After"
_MAX_AGE = b"7200"  # seconds; what browsers keep a preflight answer for at most


class CORSEndpoint(HTTPEndpoint):
    """Answers web pages of the allowed origins; pages of other origins are refused as ever (403)."""

    _direct = False

    def admit(self, head: Head) -> Response | None:
        """Return the refusal of a request whose body need not be read, or the answer to a preflight, or None."""
        refusal = super().admit(head)
        if refusal is not None and refusal.status == 405 and head.method == "OPTIONS" and "origin" in head.headers:
            vary = b"Origin, Access-Control-Request-Headers"
            return Response(204, [], NOTHING, self.fields(head.headers, vary) + _preflight(head))
        return None if refusal is None else self._with_fields(refusal, head)

    def respond(self, request: Request, channel: Channel) -> Answer | Coroutine[Any, Any, Answer]:
        """Return the answer to `request`, a coroutine that gives it once the tool has run, or one that goes on."""
        early = self.admit(request.head)
        if early is not None:
            return early
        answer = super().respond(request, channel)
        if isinstance(answer, Coroutine):
            return self._later(answer, request.head)
        return self._whichever(answer, request.head)

    def stream_fields(self, head: Head) -> bytes | None:
        """Return the header lines of an event stream in place of the answer, None where the client takes none."""
        fields = super().stream_fields(head)
        return None if fields is None else fields + self.fields(head.headers)

    async def _later(self, answer: Coroutine[Any, Any, Answer], head: Head) -> Answer:
        return self._whichever(await answer, head)

    def _whichever(self, answer: Answer, head: Head) -> Answer:
        if isinstance(answer, EventStream):
            return EventStream(answer.source, answer.fields + self.fields(head.headers))
        return self._with_fields(Response(200, answer) if isinstance(answer, list) else answer, head)

    def _with_fields(self, response: Response, head: Head) -> Response:
        return msgspec.structs.replace(response, fields=response.fields + self.fields(head.headers))

    def fields(self, headers: dict[str, str], vary: bytes = b"Origin") -> bytes:
        """Return the fields of an answer; `Vary` always, because the answer to another origin differs."""
        origin = headers.get("origin")
        if origin is None or not (self._rule.origin(origin) and origin.isascii() and origin.isprintable()):
            return b"Vary: %s\r\n" % vary
        return b"Access-Control-Allow-Origin: %s\r\nAccess-Control-Expose-Headers: %s\r\nVary: %s\r\n" % (
            origin.encode("ascii"),
            _EXPOSED,
            vary,
        )


def _preflight(head: Head) -> bytes:
    asked = head.headers.get("access-control-request-headers", "").lower()
    names = [name for part in asked.split(",") if _ALLOWED_HEADER.fullmatch(name := part.strip(" \t"))]
    allowed = ", ".join(names) or "content-type, mcp-protocol-version, mcp-method, mcp-name"
    lines = (
        b"Access-Control-Allow-Methods: POST",
        b"Access-Control-Allow-Headers: " + allowed.encode("ascii"),
        b"Access-Control-Max-Age: " + _MAX_AGE,
    )
    return b"".join(line + b"\r\n" for line in lines)
