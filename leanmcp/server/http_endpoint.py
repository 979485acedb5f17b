"""The Streamable HTTP binding: one Request in, one Response out.

Checks run in the order of the specification's clauses: Host and Origin, path and method, content type, JSON, `_meta`,
protocol version, mirrored headers, method. What depends on the head alone is worked out once for each distinct head
and kept on it, because a client on a kept connection sends the same head again and again.
Spec 2026-07-28: basic/transports/streamable-http.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import msgspec

from ..calls import Stream
from ..errors import (
    HeaderMismatch,
    InternalError,
    InvalidParams,
    InvalidRequest,
    MalformedMeta,
    MCPError,
    UnsupportedProtocolVersion,
)
from ..logs import logger, warn_seldom
from ..protocol import jsonrpc, sse
from ..protocol.headers import HostRule, decode_value
from ..protocol.http11 import Head, Request
from ..protocol.jsonrpc import DECODE_FAULTS, RequestId, Segments
from ..protocol.meta import (
    MODERN_VERSIONS,
    Params,
    decode_call,
    decode_params,
    decode_plain_call,
    method_not_found,
)
from ..protocol.response import HTML, JSON, NOTHING, RETRY_LATER, SSE, Answer, EventStream, Response, refusal
from . import hints
from .app import MCPServer, Method
from .context import Channel, Exchange

if TYPE_CHECKING:
    from .repeats import Repeats

_JSON_RANGES = ("application/json", "application/*", "*/*")  # RFC 9110 12.5.1: the first of them that is there decides
_EVENT_RANGES = ("text/event-stream", "text/*", "*/*")
_MAX_RANGES = 100  # a field of 64 KB may hold as many
_EXCLUDED = re.compile(r";[ \t]*q=0(?:\.0*)?[ \t]*(?:;|$)")
_ACCEPTED = Response(202, [], NOTHING)
_any_params = msgspec.json.Decoder(Params)


class Plan:
    """What the head of a request says, checked as far as a head can be."""

    __slots__ = (
        "calls",
        "direct",
        "fault",
        "listens",
        "method",
        "name",
        "refusal",
        "repeats",
        "sse",
        "streams",
        "version",
    )

    def __init__(self) -> None:
        self.refusal: Response | None = None
        self.version: str | None = None
        self.method: str | None = None
        self.name: str | None = None
        self.fault: str | None = None
        """What is wrong with the mirrored headers by themselves; a text: an exception would keep requests alive."""
        self.calls = False
        """Whether the head announces a tools/call that is right as far as a head can be."""
        self.direct = False
        """Whether the result of such a call is the answer as it is."""
        self.sse = False
        """Whether the client takes nothing but event streams."""
        self.listens = False
        """Whether it takes event streams at all."""
        self.streams = False
        """Whether it gets one in place of an answer."""
        self.repeats: Repeats | None = None
        """The last request for a list with this head."""


class HTTPEndpoint:
    """Answers the requests of every connection of one server.

    Args:
        server: whose methods are served.
        path: the MCP endpoint; both slash forms are served.
        rule: which Host and Origin may call.
        json_response: never answer with an event stream, except to a client that accepts nothing else; subscriptions
            have no other form, and keep it.
    """

    _direct = True
    """Whether nothing is added to answers."""

    def __init__(
        self, server: MCPServer, path: str = "/mcp", rule: HostRule | None = None, *, json_response: bool = False
    ) -> None:
        if not path.startswith("/"):
            raise ValueError(f"path={path!r}: an endpoint path starts with '/', such as '/mcp'")
        self._server = server
        self._methods = server.methods
        self._limits = server.limits
        self._max_depth = server.limits.max_depth
        self._rule = rule or HostRule()
        self._json_response = json_response
        self.path = path.rstrip("/") or "/"
        self._paths = {self.path, self.path.rstrip("/") + "/"}

    # --- the head ---------------------------------------------------------------------------------------------------

    def admit(self, head: Head) -> Response | None:
        """Return the refusal of a request whose body need not be read, or None."""
        return self._plan(head).refusal

    def _plan(self, head: Head) -> Plan:
        plan = head.plan
        if not isinstance(plan, Plan):
            plan = head.plan = Plan()
            plan.refusal = self._refusal(head)
            if plan.refusal is None:
                self._read_mirrors(head, plan)
                kinds = head.headers.get("accept", "").lower().split(",", _MAX_RANGES)
                accepted = {kind.partition(";")[0].strip(" \t"): _EXCLUDED.search(kind) is None for kind in kinds}
                plan.listens = _takes(accepted, _EVENT_RANGES)
                plan.sse = plan.listens and not _takes(accepted, _JSON_RANGES)
                plan.streams = plan.listens and not self._json_response
                plan.direct = self._direct and not plan.sse
        return plan

    def _refusal(self, head: Head) -> Response | None:
        """Steps 1 and 2: Host, Origin, path, method, content type."""
        host, origin = head.headers.get("host", ""), head.headers.get("origin")
        if not self._rule.host(host) and "host" in head.headers:  # HTTP/1.0 may leave it out; no browser does
            text = f"Host {host[:100]!r} is not served here; add it with allowed_hosts=[{host[:100]!r}]"
            warn_seldom("refused a request: %s", text)
            return refusal(421, text)
        if origin is not None and not self._rule.origin(origin):
            text = f"Origin {origin[:100]!r} may not call this server"
            if origin.lower() != "null":  # nobody's own: sandboxed pages of any site say so
                text += f"; add it with allowed_origins=[{origin[:100]!r}]"
            warn_seldom("refused a request: %s", text)
            return refusal(403, text)
        if head.path == "*":
            return Response(204, [], NOTHING, b"Allow: POST\r\n")  # RFC 9110 9.3.7: of the server, not of a path
        if head.path not in self._paths:
            if head.path == "/" and head.method in ("GET", "HEAD"):
                return Response(200, [hints.page(self._server.name, self.path)], HTML)
            return refusal(404, f"Nothing is served at {head.path[:100]}; the MCP endpoint is POST {self.path}")
        if head.method != "POST":
            method = "GET" if head.method == "HEAD" else head.method  # RFC 9110 8.6: as long as the answer to GET
            text = f"{method} is not served; the MCP endpoint takes POST {self.path}. {hints.curl(head, self.path)}"
            return refusal(405, text, b"Allow: POST\r\n")
        media_type = head.headers.get("content-type", "").partition(";")[0].strip(" \t").lower()
        if media_type != "application/json":
            missing = ", ".join(hints.missing_headers(head, None))
            text = f"Content-Type must be application/json, not {media_type[:100]!r}."
            if missing:
                text += f" Missing: {missing}."
            return refusal(415, f"{text} {hints.curl(head, self.path)}")
        coding = head.headers.get("content-encoding", "identity")
        if coding.lower() != "identity":
            text = f"Content-Encoding {coding[:100]!r} is not read; send the body as it is"
            return refusal(415, text, b"Accept-Encoding: identity\r\n")  # RFC 9110 15.5.16
        return None

    def _read_mirrors(self, head: Head, plan: Plan) -> None:
        headers = head.headers
        plan.version = headers.get("mcp-protocol-version")
        plan.method = headers.get("mcp-method")
        name = headers.get("mcp-name")
        try:
            for field in ("mcp-protocol-version", "mcp-method", "mcp-name"):
                if field in head.repeated:
                    raise HeaderMismatch(f"{field} is sent more than once")
                if not headers.get(field, "").isascii():
                    raise HeaderMismatch(f"{field} holds a byte outside ASCII")
            plan.name = None if name is None else decode_value("Mcp-Name", name)
            plan.calls = plan.method == "tools/call" and plan.version in MODERN_VERSIONS
        except HeaderMismatch as fault:
            plan.fault = fault.message

    def stream_fields(self, head: Head) -> bytes | None:
        """Return the header lines of an event stream in place of the answer.

        None where the client takes none (policy P6): then its answer stays JSON, and notifications are not sent.
        """
        return sse.FIELDS if self._plan(head).streams else None

    def fields(self, headers: dict[str, str]) -> bytes:
        """Return the header lines of an answer that the connection gives by itself."""
        return b""

    # --- the whole request --------------------------------------------------------------------------------------------

    def respond(self, request: Request, channel: Channel) -> Answer | Coroutine[Any, Any, Any]:
        """Return the answer to `request`, a coroutine that gives it once the tool has run, or one that goes on.

        `channel` takes notifications before the answer, where the client accepts an event stream.
        """
        head = request.head
        plan = head.plan
        if type(plan) is not Plan:
            plan = self._plan(head)
        if not plan.calls:
            return plan.refusal or self._respond_slowly(request, channel, plan)
        body = request.body
        request_id: RequestId | None = None
        try:
            if len(body) > self._max_depth or not body.isascii():
                jsonrpc.check_bytes(body, self._limits)
            try:
                call = decode_plain_call(body)
            except DECODE_FAULTS:
                return self._respond_slowly(request, channel, plan)
            params = call.params
            if params.meta.protocol_version != plan.version or params.name != plan.name:
                return self._respond_slowly(request, channel, plan)
            request_id = call.id
            exchange = Exchange(request_id, head, channel if plan.streams else None, body)
            answer: Any = self._methods["tools/call"].handle(params, exchange)
            return answer if plan.direct else self._finish(answer, request_id, request, plan)
        except Exception as error:
            return self._failure(error, request_id, request, plan)

    def _respond_slowly(
        self, request: Request, channel: Channel, plan: Plan
    ) -> Answer | Coroutine[Any, Any, Response | EventStream]:
        """Answer what is no plain tools/call, or is wrong in some way."""
        head = request.head
        if plan.repeats is not None:
            repeated = plan.repeats.answer(head.raw + request.body)
            if repeated is not None:
                return Response(200, [*repeated], again=plan.repeats.answer)
        request_id: RequestId | None = None
        try:
            envelope = jsonrpc.decode(request.body, self._limits)
            if envelope.id is msgspec.UNSET:
                if envelope.method in self._methods:  # what cannot be accepted is a 4xx, not a silent 202
                    raise jsonrpc.refuse(f'{envelope.method} is a request, and needs an "id"')
                if bytes(envelope.params)[:1] not in (b"{", b"n"):  # null is as good as nothing
                    raise jsonrpc.refuse("params must be an object")
                return _ACCEPTED
            request_id = envelope.id
            method = self._methods.get(envelope.method)
            params = _checked_params(plan, envelope, method)
            if method is None:
                raise method_not_found(envelope.method, self._methods)
            if method.mirrored is not None and plan.name != getattr(params, method.mirrored):
                raise _differs("Mcp-Name", plan.name, getattr(params, method.mirrored), f"params.{method.mirrored}")
            exchange = Exchange(request_id, head, channel if plan.streams else None, request.body)
            if method.source is not None and plan.direct:
                if plan.repeats is None:
                    from .repeats import Repeats  # of clients that ask for lists

                    plan.repeats = Repeats(self._methods, self._limits)
                answer = plan.repeats.ask(request.body, envelope, method, params, exchange, head.raw)
                if plan.repeats.knows:
                    return Response(200, answer, again=plan.repeats.answer)
            else:
                answer = method.handle(params, exchange)
        except Exception as error:
            return self._failure(error, request_id, request, plan)
        if plan.direct and isinstance(answer, list):
            return answer
        if isinstance(answer, list | Stream):
            return _answer(answer, request_id, plan)
        return self._finish(answer, request_id, request, plan)

    async def _finish(
        self, answer: Coroutine[Any, Any, Segments | Stream], request_id: RequestId, request: Request, plan: Plan
    ) -> Response | EventStream:
        try:
            return _answer(await answer, request_id, plan)  # a stream, where middleware let one through
        except Exception as error:
            return self._failure(error, request_id, request, plan)

    def failure(self, error: Exception, request: Request) -> Response:
        """Return the answer to a tools/call that has raised `error`, while that is being handled."""
        call = decode_call(request.body, self._limits)
        return self._failure(error, None if call is None else call.id, request, self._plan(request.head))

    def _failure(self, error: Exception, request_id: RequestId | None, request: Request, plan: Plan) -> Response:
        """Return the error response; what is missing is listed with one complete call."""
        if not isinstance(error, MCPError):
            logger.exception("a request failed inside leanmcp")
            error = InternalError("Internal error")
        if request_id is None:
            request_id = error.request_id
        if isinstance(error, MalformedMeta | HeaderMismatch):
            error = hints.with_missing(error, request, self.path)
        fields = RETRY_LATER if error.http_status == 503 else b""
        response = Response(error.http_status, [jsonrpc.encode_error(error, request_id)], JSON, fields)
        return _as_event(response.body) if plan.sse and error.http_status == 200 else response


def _checked_params(plan: Plan, envelope: jsonrpc.Envelope, method: Method | None) -> Any:
    """Return the params of a request, decoded for its method, once steps 6 to 8 have been taken.

    Raises:
        MCPError: the first step that fails.
    """
    try:
        params = decode_params(envelope.params, _any_params if method is None else method.decoder)
    except InvalidParams as fault:
        if not isinstance(fault, MalformedMeta):  # steps 6 to 8 come before the shape of the other params
            _check_mirrors(plan, envelope.method, decode_params(envelope.params, _any_params))
        raise
    if (
        plan.fault is not None
        or plan.version != params.meta.protocol_version
        or plan.version not in MODERN_VERSIONS
        or plan.method != envelope.method
    ):
        _check_mirrors(plan, envelope.method, params)
    return params


def _takes(accepted: dict[str, bool], ranges: tuple[str, ...]) -> bool:
    """Return whether the first of `ranges` that a client names has a weight above 0; False if it names none."""
    return next((accepted[kind] for kind in ranges if kind in accepted), False)


def _check_mirrors(plan: Plan, method: str, params: Params) -> None:
    """Raise the first of steps 6 to 8 that fails."""
    version = params.meta.protocol_version
    if plan.fault is not None:
        raise HeaderMismatch(plan.fault)
    if plan.version != version:
        raise _differs("MCP-Protocol-Version", plan.version, version, "params._meta protocolVersion")
    if plan.version not in MODERN_VERSIONS:
        raise UnsupportedProtocolVersion(version, MODERN_VERSIONS)
    if plan.method != method:
        raise _differs("Mcp-Method", plan.method, method, "method")


def _differs(header: str, sent: str | None, expected: str, member: str) -> HeaderMismatch:
    if sent is None:
        return HeaderMismatch(f"Header mismatch: {header} is missing; it must mirror {member} {expected[:100]!r}")
    return HeaderMismatch(f"Header mismatch: {header} is {sent[:100]!r} but {member} is {expected[:100]!r}")


def _answer(answer: Segments | Stream, request_id: RequestId, plan: Plan) -> Response | EventStream:
    """Return an answer in the form that the client reads, or refuse one that cannot read a stream (policy P6)."""
    if isinstance(answer, list):
        return _as_event(answer) if plan.sse else Response(200, answer)
    if plan.listens:
        return EventStream(answer, sse.FIELDS)
    text = "subscriptions/listen answers with an event stream; send Accept: application/json, text/event-stream"
    return Response(406, [jsonrpc.encode_error(InvalidRequest(text), request_id)])


def _as_event(segments: Segments) -> Response:
    """Return the answer as an event stream of one event, for a client that accepts nothing else (policy P6)."""
    return Response(200, sse.event(segments), SSE, sse.FIELDS)
