"""Requests built field by field, and the two outcomes that a strict server knows: served, or refused and closed."""

from __future__ import annotations

from .processes import VERSION, call, encode, http
from .wire import Answer, Wire

BODY = encode(call("echo", {"text": "hello"}))
FIELDS = {
    "Host": "127.0.0.1",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": VERSION,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "echo",
    "Content-Length": str(len(BODY)),
}
GOOD = http(call("echo", {"text": "next"}, "next"))


def post(
    line: str = "POST /mcp HTTP/1.1", *extra: bytes, drop: str = "", body: bytes = BODY, **changes: str | None
) -> bytes:
    """Return a request with some fields dropped, changed (underscores for dashes; None drops) or added as they are."""
    changed = {name.replace("_", "-"): value for name, value in changes.items()}
    fields = {**FIELDS, **changed}
    lines = [
        f"{name}: {value}".encode("latin-1") for name, value in fields.items() if value is not None and name != drop
    ]
    return b"\r\n".join([line.encode("latin-1"), *lines, *extra, b"", b""]) + body


def chunked(body: bytes, line: str = "POST /mcp HTTP/1.1", coding: str = "chunked") -> bytes:
    """Return a request whose body is sent as it is, under Transfer-Encoding."""
    return post(line, Content_Length=None, Transfer_Encoding=coding, body=body)


def chunks(*pieces: bytes, extension: bytes = b"", trailers: bytes = b"") -> bytes:
    """Return pieces in chunked coding."""
    return b"".join(b"%x%s\r\n%s\r\n" % (len(p), extension, p) for p in pieces) + b"0\r\n" + trailers + b"\r\n"


def refused(port: int, raw: bytes, *statuses: int) -> Answer:
    """Send `raw` with a good request behind it: one answer, `Connection: close`, the end, and no reset."""
    with Wire(port) as wire:
        answer = wire.send(raw + GOOD).answer()
        assert answer.status in statuses
        assert answer.headers["connection"] == "close"
        assert wire.ended()
    return answer


def accepted(port: int, raw: bytes) -> Answer:
    """Send `raw` with a good request behind it: both are answered, in order."""
    with Wire(port) as wire:
        answer = wire.send(raw + GOOD).answer()
        assert (answer.status, answer.text) == (200, "hello")
        assert wire.answer().message["id"] == "next"
    return answer
