"""Answers: where one ends, and whether it is right.

In: octets of an HTTP connection, or a body and the id that it must carry. Out: whole bodies; an error for a wrong one.
The first answer is the model of all that follow: they are equal to it but for the id, or decode to the same result.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_ID = re.compile(rb'"id": ?(\d{10})')
_decode = msgspec.json.decode


class WrongAnswer(Exception):
    """An answer that is not what the request asked for."""


class Reader:
    """Finds whole answers in what one connection sends.

    Attributes:
        status: of the last answer.
    """

    def __init__(self) -> None:
        self.status = 0
        self._buffered = bytearray()
        self._head = -1  # octets of the head, -1 until it is there
        self._length: int | None = None  # of the body; None where it comes in chunks
        self._chunks: list[bytes] = []
        self._at = 0
        self._same = (-1, 0)  # octets of the answer before and of its head: one of the same length has the same head

    def feed(self, data: bytes) -> bytes | None:
        """Return the body of the answer that `data` completes, None while there is none."""
        size, head = self._same
        if len(data) == size and not self._buffered and data.startswith(b"HTTP/1.1 200"):
            return data[head:]
        self._buffered += data
        if self._head < 0 and not self._read_head():
            return None
        if self._length is None:
            return self._read_chunks()
        end = self._head + self._length
        if len(self._buffered) < end:
            return None
        body = bytes(self._buffered[self._head : end])
        self._same = (end, self._head) if self.status == 200 else (-1, 0)
        self._reset(end)
        return body

    def pieces(self, data: bytes) -> bytes:
        """Return what `data` adds to a body that goes on: that of an event stream."""
        self._buffered += data
        if self._head < 0 and not self._read_head():
            return b""
        if self._length is not None:
            raise WrongAnswer(f"no stream, but {bytes(self._buffered[:500])!r}")
        if self._read_chunks() is not None:
            raise WrongAnswer("the stream has ended")
        added = b"".join(self._chunks)
        self._chunks.clear()
        return added

    def _read_head(self) -> bool:
        end = self._buffered.find(b"\r\n\r\n")
        if end < 0:
            return False
        self._head = self._at = end + 4
        self.status = int(self._buffered[9:12])
        length = _LENGTH.search(self._buffered, 0, end)
        if length is not None:
            self._length = int(length[1])
        elif _CHUNKED.search(self._buffered, 0, end) is None:
            raise WrongAnswer(f"neither length nor chunks: {bytes(self._buffered[:end])!r}")
        return True

    def _read_chunks(self) -> bytes | None:
        while (line := self._buffered.find(b"\r\n", self._at)) >= 0:
            size = int(self._buffered[self._at : line], 16)
            end = line + 4 + size
            if len(self._buffered) < end:
                return None
            self._at = end
            if size == 0:
                body = b"".join(self._chunks)
                self._reset(end)
                return body
            self._chunks.append(bytes(self._buffered[line + 2 : end - 2]))
        return None

    def _reset(self, end: int) -> None:
        del self._buffered[:end]
        self._head, self._length, self._at = -1, None, 0
        self._chunks = []


def events(body: bytes) -> list[Any]:
    """Return the messages of an answer: one, or those of an event stream."""
    if body.lstrip().startswith(b"{"):
        return [_decode(line) for line in body.splitlines() if line.strip()]
    lines = body.replace(b"\r\n", b"\n").split(b"\n")
    return [_decode(line[5:]) for line in lines if line.startswith(b"data:") and line[5:].strip()]


class Model:
    """The first answer to a request, which the others are held against.

    Args:
        body: of the answer.
        echoes: whether it must carry the id of its request.

    Attributes:
        number: that id; None where there is none, or more than one that could be it.
        id_at: where it is in the body.
        notes: notifications in the streams that were checked.
    """

    def __init__(self, body: bytes, *, echoes: bool) -> None:
        self.body = body
        self._echoes = echoes
        found = _ID.findall(body) if echoes else []
        self.number: bytes | None = found[0] if len(found) == 1 else None
        self.id_at = begin = len(body) if self.number is None else body.find(self.number)
        self._exact = (self.number is not None or not echoes) and body.lstrip().startswith(b"{")
        self._prefix, self._suffix = body[:begin], body[begin + 10 :]
        self._result: Any = None
        self.notes = 0

    def check(self, body: bytes, number: bytes) -> None:
        """Take one answer to the request `number`.

        Raises:
            WrongAnswer: it is another one.
        """
        if self._exact and len(body) == len(self.body):
            begin = len(self._prefix)
            if not self._echoes and body == self.body:
                return
            if body[begin : begin + 10] == number and body.startswith(self._prefix) and body.endswith(self._suffix):
                return
        self._check_decoded(body, number)

    def _check_decoded(self, body: bytes, number: bytes) -> None:
        if self._result is None:
            self._result = _outcome(events(self.body))
        messages = events(body)
        if not messages or (self._echoes and messages[-1].get("id") != int(number)):
            raise WrongAnswer(f"the answer to {number!r} is {body[:500]!r}")
        self.notes += len(messages) - 1
        if _outcome(messages) != self._result:
            raise WrongAnswer(f"not the same answer as before: {body[:500]!r} after {self.body[:500]!r}")


def _outcome(messages: list[Any]) -> Any:
    """Return the result or the error; how many notifications came before it is the server's choice."""
    last = messages[-1]
    return last.get("result", last.get("error"))


def reply(body: bytes) -> bytes:
    """Return the members that answer the questions in `body` with yes, from `inputResponses` on.

    Raises:
        WrongAnswer: nothing is asked.
    """
    result = events(body)[-1].get("result", {})
    if result.get("resultType") != "input_required" or not result.get("requestState"):
        raise WrongAnswer(f"no question with a sealed state: {body[:500]!r}")
    yes = {"action": "accept", "content": {"ok": True}}
    members = {"inputResponses": dict.fromkeys(result["inputRequests"], yes), "requestState": result["requestState"]}
    return b"," + msgspec.json.encode(members)[1:-1]
