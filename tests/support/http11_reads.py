"""Requests as octets, and what the reader makes of them."""

from __future__ import annotations

from collections.abc import Iterable

from leanmcp.limits import Limits
from leanmcp.protocol.http11 import IDLE, HTTPError, Request, RequestReader

HOST = b"Host: localhost:8000\r\n"
POST = b"POST /mcp HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


def head(*fields: bytes, line: bytes = b"POST /mcp HTTP/1.1") -> bytes:
    return b"".join(part + b"\r\n" for part in (line, *fields)) + b"\r\n"


def post(*fields: bytes) -> bytes:
    return head(b"Host: localhost:8000", *fields)


def get(target: bytes, *, method: bytes = b"GET", version: bytes = b"HTTP/1.1") -> bytes:
    return head(b"Host: localhost", line=method + b" " + target + b" " + version)


def read_all(pieces: Iterable[bytes], limits: Limits | None = None) -> tuple[list[Request], int | None, RequestReader]:
    """Feed as a connection does; return the requests, the status of the error that followed, and the reader."""
    reader = RequestReader(limits or Limits())
    requests: list[Request] = []
    try:
        for piece in pieces:
            request = reader.feed(piece)
            while request is not None:
                requests.append(request)
                request = reader.next_request()
    except HTTPError as error:
        return requests, error.status, reader
    return requests, None, reader


def one(raw: bytes, limits: Limits | None = None) -> Request:
    requests, status, reader = read_all([raw], limits)
    assert status is None
    assert reader.phase == IDLE
    [request] = requests
    return request


def status_of(raw: bytes, limits: Limits | None = None) -> int | None:
    """Return the status that refuses `raw`, the same whole and octet by octet; None when nothing is refused."""
    requests, status, _ = read_all([raw], limits)
    bytewise, bytewise_status, _ = read_all([raw[i : i + 1] for i in range(len(raw))], limits)
    assert (len(requests), status) == (len(bytewise), bytewise_status)
    if status is not None:
        assert requests == []
    return status
