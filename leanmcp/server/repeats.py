"""Requests for a list that are the same as the last one but for their id.

In: the octets of a request. Out: the answer, made without decoding it again; or None, and it has to be decoded.
Ours: hosts ask for the same page again and again, and to read the question takes longer than to write the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..errors import MCPError
from ..limits import Limits
from ..protocol import jsonrpc
from ..protocol.jsonrpc import NO_PARAMS, RESPONSE_START
from .app import Method
from .context import Exchange

_MAX_DIGITS = 15  # of an id that is not read; every JSON decoder reads as many
_MAX_SIZE = 4096  # bytes of a request that is kept
_ZERO = ord("0")


class Repeats:
    """The last request for a list of one client, or of all that send the same HTTP head.

    Args:
        methods: that are served.
        limits: of the server.
    """

    __slots__ = (
        "_after",
        "_before",
        "_id_end",
        "_id_start",
        "_limits",
        "_method",
        "_methods",
        "_name",
        "_params",
        "_rest",
        "_version",
    )

    _method: Method
    _version: int
    _rest: bytes

    def __init__(self, methods: Mapping[str, Method], limits: Limits) -> None:
        self._methods = methods
        self._limits = limits
        self._name = ""
        self._params = NO_PARAMS
        self._before = self._after = b""  # the octets before and after the digits of its id
        self._id_start = self._id_end = 0

    @property
    def knows(self) -> bool:
        """Whether `answer` has the answer to the request that was asked last."""
        return self._id_start > 0

    def answer(self, octets: bytes) -> tuple[bytes, bytes, bytes] | None:
        """Return the answer to a request; None if it is another one, or its list has changed since."""
        if not self._id_start or not octets.startswith(self._before) or not octets.endswith(self._after):
            return None
        digits = octets[self._id_start : self._id_end]
        if not digits.isdigit() or len(digits) > _MAX_DIGITS or (digits[0] == _ZERO and len(digits) > 1):
            return None
        method = self._methods.get(self._name)
        if method is not self._method or method.source is None or method.source.version != self._version:
            return None
        return RESPONSE_START, digits, self._rest

    def ask(
        self,
        message: bytes,
        envelope: jsonrpc.Envelope,
        method: Method,
        params: Any,
        exchange: Exchange,
        head: bytes = b"",
    ) -> Any:
        """Return what `method` answers; once the same has been asked twice, the third one is answered here.

        Args:
            message: a request for a list.
            envelope: the same, decoded.
            method: that it asks for, with a `source`.
            params: its params, decoded for the method.
            exchange: of the request.
            head: what comes before the message in the octets that `answer` will be given.
        """
        source = method.source
        version = -1 if source is None else source.version  # another thread may change the list meanwhile
        answer = method.handle(params, exchange)
        if isinstance(answer, list) and len(message) <= _MAX_SIZE:
            known = envelope.method == self._name and envelope.params == self._params
            self._name, self._params, self._id_start = envelope.method, envelope.params, 0
            if known:
                self._keep(message, envelope, head)
                self._method, self._version, self._rest = method, version, b"".join(answer[2:])
        return answer

    def _keep(self, message: bytes, envelope: jsonrpc.Envelope, head: bytes) -> None:
        """Find the id in a message: digits whose change changes the id, and nothing else."""
        request_id = envelope.id
        if type(request_id) is not int or request_id < 0:
            return
        digits, other = b"%d" % request_id, b"%d" % (request_id + 1)
        for name in (b'"id":', b'"id": '):
            before, found, after = message.partition(name + digits)
            if found and self._says(
                before + name + other + after, msgspec.structs.replace(envelope, id=request_id + 1)
            ):
                self._before, self._after = head + before + name, after
                self._id_start, self._id_end = len(self._before), -len(after)

    def _says(self, message: bytes, envelope: jsonrpc.Envelope) -> bool:
        """Return whether `message` is that request."""
        try:
            return jsonrpc.decode(message, self._limits) == envelope
        except MCPError:
            return False
