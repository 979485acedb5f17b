"""A scripted stdio server: what it does with each request is a list of steps, given as JSON on the command line.

Run: `bad_stdio_server.py SCRIPT [STATE]`. SCRIPT is `{"start": STEPS, "answers": [STEPS, ...], "end": STEPS}`: the
first steps of all, those for each request in turn (a good answer where there are no more), those at the end of input
(default: exit). In a text "$ID" stands for the id of the request. STATE is a file that it appends its process ids to,
and what it reads. It ends by itself after a minute, whatever happens.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

LIFE = 60  # seconds; longer than any test
Step = list[Any]


def script(*answers: list[Step], start: list[Step] | None = None, end: list[Step] | None = None) -> str:
    """Return SCRIPT."""
    return json.dumps({"start": start or [], "answers": answers, "end": end or []})


# The steps, as tests write them.


def say(text: str) -> Step:
    """Write a line; characters up to U+00FF become octets."""
    return ["say", text]


def print_raw(text: str) -> Step:
    """Write octets without an end of line."""
    return ["raw", text]


def answer(text: str = "fine", request_id: str = "$ID") -> Step:
    """Write a good answer; `request_id` is JSON."""
    return say(good(text, request_id))


def good(text: str = "fine", request_id: str = "$ID") -> str:
    """Return a good answer."""
    result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
    return f'{{"jsonrpc":"2.0","id":{request_id},"result":{json.dumps(result)}}}'


def complain(text: str) -> Step:
    """Write to standard error."""
    return ["complain", text]


def complain_raw(text: str) -> Step:
    """Write octets to standard error, without an end of line."""
    return ["complain-raw", text]


def wait_for(path: Path) -> Step:
    """Read nothing until there is a file."""
    return ["wait", str(path)]


def leave(code: int = 0) -> Step:
    """Exit."""
    return ["leave", code]


def die(number: int) -> Step:
    """Send oneself a signal."""
    return ["die", number]


def close(fd: int) -> Step:
    """Close a descriptor, and go on."""
    return ["close", fd]


FLOOD: Step = ["flood", 5_000_000]
"""Fill standard error."""
LARGE: Step = ["large", 300_000]
"""Answer with a text of that size."""
DEAF: Step = ["deaf"]
"""Ignore SIGTERM."""
MUTE: Step = ["mute"]
"""Read nothing and say nothing any more."""
READ: Step = ["read"]
"""Read the next message, which gets no answer."""
FORK: Step = ["fork"]
"""Start a process that holds the pipes open and ignores SIGTERM."""


def _do(step: Step, request_id: Any) -> None:
    name: str = step[0]
    value: Any = step[1] if len(step) > 1 else None
    if isinstance(value, str):
        value = value.replace("$ID", json.dumps(request_id))
    if name in ("say", "raw"):
        _write(value.encode("latin-1") + (b"\n" if name == "say" else b""))
    elif name == "large":
        _write(good("x" * value, json.dumps(request_id)).encode() + b"\n")
    elif name == "complain":
        os.write(2, value.encode() + b"\n")
    elif name == "complain-raw":
        os.write(2, value.encode("latin-1"))
    elif name == "wait":
        while not os.path.exists(value):
            time.sleep(0.001)
    elif name == "flood":
        for _ in range(value // 1000):
            os.write(2, b"e" * 999 + b"\n")
    elif name == "leave":
        os._exit(value)
    elif name == "die":
        os.kill(os.getpid(), value)
    elif name == "close":
        os.close(value)
    elif name == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif name == "mute":
        time.sleep(LIFE)
        os._exit(9)
    elif name == "read":
        _note(sys.stdin.readline().rstrip("\n"))
    elif name == "fork":
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.alarm(LIFE)
            _note(f"pid {os.getpid()}")
            while True:
                signal.pause()
        while _notes().count("pid ") < 2:
            time.sleep(0.001)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _note(text: str) -> None:
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a") as file:
            file.write(text + "\n")


def _notes() -> str:
    return Path(sys.argv[2]).read_text()


def _main() -> None:
    signal.alarm(LIFE)
    plan = json.loads(sys.argv[1])
    _note(f"pid {os.getpid()}")
    for step in plan["start"]:
        _do(step, None)
    answers = iter(plan["answers"])
    while line := sys.stdin.readline():
        _note(line.rstrip("\n"))
        message = json.loads(line)
        if "id" not in message:
            continue
        for step in next(answers, [answer()]):
            _do(step, message["id"])
    for step in plan["end"]:
        _do(step, None)


if __name__ == "__main__":
    _main()
