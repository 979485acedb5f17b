"""One HTTP request by itself, to a host that a stranger named: metadata, registration, tokens.

In: a URL and what it may lead to. Out: the whole answer, within limits.
Spec 2026-07-28: basic/authorization/security-considerations, "Communication Security".

The connection is used once and shares nothing with those to the MCP server. An address that is not admitted is found
out on the connected socket, before an octet of a request is sent: a name that is looked up beforehand can change its
mind in between.
"""

from __future__ import annotations

import asyncio
import ssl as tls
from collections.abc import Callable, Mapping

from msgspec import Struct

from ..errors import NotAnMCPServer, TransportError
from ..limits import HTTPClientLimits
from .http_client_pool import Pool
from .http_client_sender import encode_fields, request_line
from .http_client_url import Target

_ONE = HTTPClientLimits(max_connections=1)


class HTTPAnswer(Struct):
    """A whole answer.

    Args:
        status: HTTP status.
        headers: names in lower case, repeated ones joined by commas.
        body: as it came.
    """

    status: int
    headers: dict[str, str]
    body: bytes


async def fetch(
    method: str,
    target: Target,
    *,
    headers: Mapping[str, str],
    body: bytes = b"",
    max_size: int,
    timeout: float,
    ssl: tls.SSLContext | None = None,
    admit: Callable[[str], None] | None = None,
) -> HTTPAnswer:
    """Send a request on a connection of its own and return the whole answer, whatever its status.

    Args:
        method: GET or POST.
        target: where to; redirects are not followed.
        headers: besides Host and the length.
        body: sent whole.
        max_size: bytes of the answer.
        timeout: seconds for all of it.
        ssl: context for https instead of the system's certificates.
        admit: takes the address of the peer, and raises where it must not be talked to.

    Raises:
        CannotConnect: nobody there.
        TransportError: no answer, not in time, or one over `max_size`.
    """
    where = target.shown
    head = request_line(method, target) + encode_fields(headers)
    if body or method == "POST":
        head += b"Content-Length: %d\r\n" % len(body)
    pool = Pool(_ONE, ssl)
    try:
        async with asyncio.timeout(timeout):
            connection = await pool.connect(target.origin, where)
            if admit is not None:
                for address in await connection.addresses():
                    admit(address)
            answer = await connection.exchange(head + b"\r\n" + body)
            if answer.fields.get(b"content-encoding", b"identity").lower() != b"identity":
                raise NotAnMCPServer(f"{where} sent a compressed answer, which this client did not ask for", where)
            content = await connection.rest_of_body(max_size, answer)
    except TimeoutError:
        raise TransportError(f"{where} did not answer within {timeout:g} seconds", where) from None
    finally:
        await pool.close(f"the connection to {where} was closed by this client")
    return HTTPAnswer(answer.status, answer.text(), content)
