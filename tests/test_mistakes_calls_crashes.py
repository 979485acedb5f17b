"""What a function that fails leaves in the log: one short traceback that ends in its author's line, and a hint."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, NamedTuple

import pytest

from leanmcp.server.fault_hints import hint_for
from tests.support.failing import CRASHED, MOST_LINES, plain, run_calls


class Crash(NamedTuple):
    """A row of the table.

    Args:
        code: of the page about it.
        source: of `tool`.
        line: in the program, of the last frame of the author's.
        function: of that frame.
        text: of that line.
        rest: the lines below it.
    """

    code: str
    source: str
    line: int
    function: str
    text: str
    rest: list[str]


CRASHES = [
    *[
        Crash(
            code,
            f"from leanmcp import Context\n@mcp.tool\nasync def tool(ctx: Context) -> int:\n    {text}\n    return 1\n",
            9,
            "tool",
            text,
            rest,
        )
        for code, text, rest in (
            (
                "LM232",
                "await ctx.elicit('Who?', response_type=str)",
                [
                    "TypeError: Context.elicit() got an unexpected keyword argument 'response_type'",
                    "it is called as ctx.elicit(message, schema, ...)",
                ],
            ),
            (
                "LM232",
                "await ctx.report_progress()",
                [
                    "TypeError: Context.report_progress() missing 1 required positional argument: 'progress'",
                    "it is called as ctx.report_progress(progress, total, message)",
                ],
            ),
            (
                "LM501",
                "ctx.state['user'] = 'anna'",
                [
                    "TypeError: 'types.SimpleNamespace' object does not support item assignment",
                    "ctx.state has attributes, as in `ctx.state.user = name`, and getattr(ctx.state, 'user', None)",
                ],
            ),
            (
                "LM501",
                "ctx.headers['X-User']",
                ["KeyError: 'X-User'", "ctx.headers has its names in lower case: ctx.headers.get('x-user')"],
            ),
        )
    ],
    Crash(
        "LM502",
        "async def fetch() -> int: return 1\n@mcp.tool\nasync def tool() -> bool:\n    return fetch() > 3\n",
        9,
        "tool",
        "return fetch() > 3",
        [
            "TypeError: '>' not supported between instances of 'coroutine' and 'int'",
            "a coroutine stands where its value is meant: did you forget `await` in that line?",
        ],
    ),
    Crash(
        "LM502",
        "async def fetch() -> int: return 1\n@mcp.tool\nasync def tool() -> int:\n    return fetch() + 3\n",
        9,
        "tool",
        "return fetch() + 3",
        [
            "TypeError: unsupported operand type(s) for +: 'coroutine' and 'int'",
            "a coroutine stands where its value is meant: did you forget `await` in that line?",
        ],
    ),
    Crash(
        "LM502",
        'async def fetch() -> int: return 1\n@mcp.tool\nasync def tool() -> int:\n    return fetch()["a"]\n',
        9,
        "tool",
        'return fetch()["a"]',
        [
            "TypeError: 'coroutine' object is not subscriptable",
            "a coroutine stands where its value is meant: did you forget `await` in that line?",
        ],
    ),
    Crash(
        "LM502",
        "async def fetch() -> int: return 1\n@mcp.tool\nasync def tool() -> int:\n    return len(fetch())\n",
        9,
        "tool",
        "return len(fetch())",
        [
            "TypeError: object of type 'coroutine' has no len()",
            "a coroutine stands where its value is meant: did you forget `await` in that line?",
        ],
    ),
    Crash(
        "LM502",
        "async def fetch() -> int: return 1\n"
        "@mcp.tool\n"
        "async def tool() -> int:\n"
        "    return [row for row in fetch()]\n",
        9,
        "tool",
        "return [row for row in fetch()]",
        [
            "TypeError: 'coroutine' object is not iterable",
            "a coroutine stands where its value is meant: did you forget `await` in that line?",
        ],
    ),
    Crash(
        "LM502",
        "async def fetch() -> int: return 1\n@mcp.tool\nasync def tool() -> int:\n    return fetch().real\n",
        9,
        "tool",
        "return fetch().real",
        [
            "AttributeError: 'coroutine' object has no attribute 'real'",
            "fetch(...) is a coroutine: did you forget `await`, as in `await fetch(...)`?",
        ],
    ),
    Crash(
        "LM502",
        "async def fetch() -> int: return 1\n"
        "@mcp.tool\n"
        "async def tool() -> int:\n"
        "    found = fetch()\n"
        "    if not isinstance(found, int):\n"
        '        raise ValueError("no number")\n'
        "    return found\n",
        11,
        "tool",
        'raise ValueError("no number")',
        [
            "ValueError: no number",
            "found = fetch(...) is a coroutine: did you forget `await`, as in `await fetch(...)`?",
        ],
    ),
    Crash(
        "LM502",
        "@mcp.tool\n"
        "async def tool(ctx: Context) -> str:\n"
        '    answer = ctx.elicit("Sure?", Sure)\n'
        "    return answer.action\n",
        9,
        "tool",
        "return answer.action",
        [
            "AttributeError: 'coroutine' object has no attribute 'action'",
            "ctx.elicit(...) is a coroutine: did you forget `await`, as in `await ctx.elicit(...)`?",
        ],
    ),
    Crash(
        "LM501",
        "@mcp.tool\nasync def tool() -> str:\n    raise ValueError\n",
        8,
        "tool",
        "raise ValueError",
        ["ValueError"],
    ),
    Crash(
        "LM501",
        '@mcp.tool\nasync def tool() -> str:\n    return {}["city"]\n',
        8,
        "tool",
        'return {}["city"]',
        ["KeyError: 'city'"],
    ),
    Crash(
        "LM501",
        '@mcp.tool\nasync def tool() -> str:\n    raise RuntimeError("postgres://user:secret@host")\n',
        8,
        "tool",
        'raise RuntimeError("postgres://user:secret@host")',
        ["RuntimeError: postgres://user:secret@host"],
    ),
    Crash(
        "LM501",
        "async def part() -> None:\n"
        '    raise ValueError("inner")\n'
        "@mcp.tool\n"
        "async def tool() -> str:\n"
        "    async with asyncio.TaskGroup() as group:\n"
        "        group.create_task(part())\n"
        '    return ""\n',
        7,
        "part",
        'raise ValueError("inner")',
        ["ValueError: inner"],
    ),
    Crash(
        "LM501",
        "async def part(name: str) -> None:\n"
        "    raise ValueError(name)\n"
        "@mcp.tool\n"
        "async def tool() -> str:\n"
        "    async with asyncio.TaskGroup() as group:\n"
        '        group.create_task(part("a"))\n'
        '        group.create_task(part("b"))\n'
        '    return ""\n',
        7,
        "part",
        "raise ValueError(name)",
        ["ValueError: a", "1 more failed beside it: ValueError: b"],
    ),
    Crash(
        "LM501",
        "@mcp.tool\ndef tool() -> str:\n    return tool()\n",
        8,
        "tool",
        "return tool()",
        ["RecursionError: maximum recursion depth exceeded"],
    ),
    Crash(
        "LM501",
        '@mcp.tool\nasync def tool() -> str:\n    return json.loads("{")\n',
        8,
        "tool",
        'return json.loads("{")',
        [
            "  raised in json/decoder.py, in raw_decode",
            "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ],
    ),
    Crash(
        "LM501",
        "@mcp.tool\n"
        "async def tool() -> str:\n"
        "    try:\n"
        '        return {}["city"]\n'
        "    except KeyError as error:\n"
        '        raise RuntimeError("no such city") from error\n',
        11,
        "tool",
        'raise RuntimeError("no such city") from error',
        ["RuntimeError: no such city", "caused by KeyError: 'city' (server.py:9)"],
    ),
    Crash(
        "LM508",
        '@mcp.tool\nasync def tool() -> str:\n    sys.exit("bye")\n',
        8,
        "tool",
        'sys.exit("bye")',
        ["SystemExit: bye", "sys.exit() ends this call only; raise ToolError(text) to tell the model what is wrong"],
    ),
    Crash(
        "LM509",
        "@mcp.tool\nasync def tool() -> str:\n    raise asyncio.CancelledError\n",
        8,
        "tool",
        "raise asyncio.CancelledError",
        [
            "asyncio.exceptions.CancelledError",
            "nobody cancelled the call: the function raised this, or awaited a task that was cancelled",
        ],
    ),
    Crash(
        "LM510",
        '@mcp.tool\ndef tool() -> str:\n    raise EOFError("EOF when reading a line")\n',
        8,
        "tool",
        'raise EOFError("EOF when reading a line")',
        [
            "EOFError: EOF when reading a line",
            "standard input is not for functions: ask with `await ctx.elicit(...)`, or take a parameter",
        ],
    ),
    Crash(
        "LM511",
        "async def fetch() -> int: return 1\n@mcp.tool\nasync def tool() -> int:\n    return asyncio.run(fetch())\n",
        9,
        "tool",
        "return asyncio.run(fetch())",
        [
            "  raised in asyncio/runners.py, in run",
            "RuntimeError: asyncio.run() cannot be called from a running event loop",
            "an `async def` function runs on the event loop already: write `await` in place of run",
        ],
    ),
    Crash(
        "LM511",
        "@mcp.tool\ndef tool() -> int:\n    return asyncio.get_running_loop().time()\n",
        8,
        "tool",
        "return asyncio.get_running_loop().time()",
        [
            "RuntimeError: no running event loop",
            "a `def` function runs in a thread without an event loop: make it `async def`, and use `await`",
        ],
    ),
    Crash(
        "LM512",
        "def load() -> int: return 1\n@mcp.tool\nasync def tool() -> int:\n    return await load()\n",
        9,
        "tool",
        "return await load()",
        [
            "TypeError: object int can't be used in 'await' expression",
            "only coroutines are awaited, and this is a plain int: take `await` away there",
        ],
    ),
]


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: crash.code)
def test_a_crash_is_told_in_a_short_traceback(crash: Crash) -> None:
    """Ours: goals U11, U15, U17: the model gets tool and id, the log the line of the author and what was forgotten."""
    seen = run_calls(crash.source, {}, "tool")
    assert seen.answer == CRASHED
    lines = plain(seen.log).splitlines()
    assert lines[:2] == [f"ERROR tool tool failed [<id>] [{crash.code}]", "Traceback (most recent call last):"]
    assert lines[2:4] == [f'  File "server.py", line {crash.line}, in {crash.function}', f"    {crash.text}"]
    assert lines[4:] == crash.rest
    assert len(lines) <= MOST_LINES
    assert seen.log.count("Traceback") == 1


def test_a_deep_call_shows_its_innermost_frames() -> None:
    """Ours: goal U11."""
    source = "".join(f"def f{n}() -> str:\n    return f{n + 1}()\n" for n in range(12))
    source += "def f12() -> str:\n    raise ValueError('deep')\n@mcp.tool\nasync def tool() -> str:\n    return f0()\n"
    lines = plain(run_calls(source, {}, "tool").log).splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines if line.startswith("  File")] == ["f8", "f9", "f10", "f11", "f12"]
    assert len(lines) <= MOST_LINES


def test_a_long_text_of_an_exception_is_cut() -> None:
    """Ours: the whole of it is in the record, for a program that logs by itself."""
    source = (
        "@mcp.tool\nasync def tool() -> str:\n    raise ValueError('line ' * 100 + chr(10) + 'row' + chr(10) * 50)\n"
    )
    lines = run_calls(source, {}, "tool").log.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= 300


def test_handlers_of_the_program_see_all_of_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: goal U11: what a terminal shows is short; what was set up by the user has each exception of a group."""
    source = (
        "async def part(name: str) -> None:\n    raise ValueError(name)\n"
        "@mcp.tool\nasync def tool() -> str:\n    async with asyncio.TaskGroup() as group:\n"
        '        group.create_task(part("first"))\n        group.create_task(part("second"))\n    return ""\n'
    )
    log = run_calls(source, {}, "tool").log
    assert "ValueError: second" not in log.splitlines()
    (record,) = caplog.records
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ExceptionGroup)
    whole = logging.Formatter().format(record)  # behind a handler that has shown it short
    assert whole.count("Traceback (most recent call last):") == 3
    assert "ValueError: first" in whole
    assert "ValueError: second" in whole


def test_an_exception_that_has_no_text_to_give_is_logged() -> None:
    """Ours: its class fails while it makes the text, and the failure of the tool is told all the same."""
    source = (
        "class Mute(Exception):\n    def __str__(self) -> str:\n        raise RuntimeError\n"
        "@mcp.tool\nasync def tool() -> str:\n    raise Mute\n"
    )
    seen = run_calls(source, {}, "tool")
    assert seen.answer == CRASHED
    assert plain(seen.log).splitlines()[-1] == "server.Mute: <exception str() failed>"


def test_a_coroutine_that_another_loop_may_run_is_told_of_and_left_alone() -> None:
    """Ours: it was handed on, and the failure of its giver must not end it."""

    async def work() -> str:
        return "done"

    def give() -> None:
        given = work()
        queue.append(given)
        raise ValueError("later")

    queue: list[Coroutine[Any, Any, str]] = []
    with pytest.raises(ValueError, match="later") as caught:
        give()
    code, hint = hint_for(caught.value, caught.tb)
    assert (code, hint.split()[:2]) == ("LM502", ["given", "="])
    assert asyncio.run(queue[0]) == "done"
