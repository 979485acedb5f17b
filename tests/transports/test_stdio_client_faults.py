"""What servers on standard streams do wrong, each with the error it gives; the next call works all the same."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from leanmcp import logs
from leanmcp.errors import AnswerTooLarge, ConnectionLost, InvalidResult
from tests.support.bad_stdio_server import (
    FORK,
    LARGE,
    MUTE,
    READ,
    Step,
    answer,
    close,
    complain,
    die,
    good,
    leave,
    print_raw,
    say,
    wait_for,
)
from tests.support.outgoing import outgoing
from tests.support.stdio_talk import ask, both_loops, has_ended, noted, pids, received, run, talking

CANCELLED = "notifications/cancelled"


@pytest.fixture(autouse=True)
def _all_warnings(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(logs, "_said", {})
    caplog.set_level(logging.WARNING, "leanmcp")


# --- lines that are no answer -----------------------------------------------------------------------------------------


@both_loops
@pytest.mark.parametrize("other", ['"$ID"', "$ID.0", "true", "null", "99", '"x"', "[1]", "1e400"])
def test_ids_match_by_type_and_value(loop: str, other: str) -> None:
    """Spec: basic/index, "Responses"; what answers nobody is dropped, and the answer still comes."""

    async def main() -> None:
        async with talking([say(good("wrong", other)), answer()]) as transport:
            assert await ask(transport) == "fine"

    run(loop, main())


BANNERS: list[Step] = [
    say("Server listening on stdio!"),
    say(""),
    say("  \r"),
    say("[1, 2]"),
    say("{}"),
    say('{"jsonrpc":"2.0"'),
    say("\xff\xfe\xfa"),
    say("[" * 20_000),
    say('{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\xe9"}}'),
    say('{"jsonrpc":"2.0","method":"notifications/message","params":[1]}'),
    say('{"jsonrpc":"2.0","id":7,"method":"roots/list"}'),
]


@both_loops
@pytest.mark.parametrize("banner", BANNERS, ids=range(len(BANNERS)))
def test_lines_that_are_no_message_are_skipped(loop: str, banner: Step) -> None:
    """Spec: basic/transports/stdio, "MUST NOT write anything to its stdout that is not a valid MCP message"; ours:
    many do, and the rest of what they say is heard; before, between and in the middle of answers."""

    async def main() -> None:
        async with talking([banner, answer()], [banner, banner, answer("second")], start=[banner]) as transport:
            assert await ask(transport) == "fine"
            assert await ask(transport, 2) == "second"

    run(loop, main())


def test_bad_lines_are_logged_once_a_second(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: a server that prints must not fill the log; the first line is shown, clipped."""

    async def main() -> None:
        async with talking([*[say("debug: " + "x" * 500)] * 100, answer()]) as transport:
            assert await ask(transport) == "fine"

    run("uvloop", main())
    lines = [record.getMessage() for record in caplog.records]
    assert 1 <= len(lines) <= 20
    assert "bad_stdio_server.py" in lines[0]
    assert "debug: xxx" in lines[0]
    assert len(lines[0]) < 500


@pytest.mark.parametrize("shape", ["\xef\xbb\xbf{}", "{}\r", "  {}  "], ids=["mark", "cr", "blanks"])
def test_harmless_additions_are_taken(shape: str) -> None:
    """Ours: a byte order mark in front, or CRLF behind, does not spoil a message."""

    async def main() -> None:
        async with talking([say(shape.replace("{}", good()))]) as transport:
            assert await ask(transport) == "fine"

    run("uvloop", main())


@both_loops
@pytest.mark.parametrize(
    "line",
    [
        good("caf\xe9".encode().decode("latin-1")).replace("caf", "caf\xff"),
        good() + "garbage",
        '{"jsonrpc":"2.0","id":$ID,"result":{"content":',
        '{"result":{"text":"\xe9"},"jsonrpc":"2.0","id":$ID}',
        '{"jsonrpc":"2.0","id":$ID,"error":{"code":-1,"message":"\xff"}}',
    ],
)
def test_answer_that_cannot_be_read_fails_its_request_at_once(loop: str, line: str) -> None:
    """Ours: nothing better will come, so nobody waits for the timeout; the next call works."""

    async def main() -> None:
        async with talking([say(line)]) as transport:
            with pytest.raises(InvalidResult, match="cannot be read"):
                await ask(transport)
            assert await ask(transport, 2) == "fine"

    run(loop, main())


@pytest.mark.parametrize(("handler", "found"), [("replace", "caf\ufffd"), ("ignore", "caf")])
def test_bad_octets_are_mended_where_asked_for(handler: str, found: str) -> None:
    """Ours: `encoding_error_handler`, as in the official SDK."""

    async def main() -> None:
        line = good("caf?").replace("?", "\xe9")
        async with talking([say(line)], encoding_error_handler=handler) as transport:
            assert await ask(transport) == found

    run("uvloop", main())


@both_loops
@pytest.mark.parametrize("size", [1000, 250_000])
def test_answer_over_the_limit_fails_its_request_and_nothing_else(loop: str, size: int) -> None:
    """Ours: a line of more than `max_line_size` is not stored; its first bytes tell whose it was."""

    async def main() -> None:
        async with talking([answer("first"), LARGE], max_line_size=size) as transport:
            assert await ask(transport) == "first"
            # The large one is late now, and belongs to nobody.
            assert await ask(transport, 2) == "fine"
        async with talking([LARGE], max_line_size=size) as transport:
            with pytest.raises(AnswerTooLarge, match=rf"more than {size} bytes \(max_line_size\)"):
                await ask(transport)
            assert await ask(transport, 2) == "fine"

    run(loop, main())


def test_id_behind_a_large_result_is_found_too() -> None:
    """Ours: the TypeScript SDK writes the id last."""

    async def main() -> None:
        line = '{"result":{"text":"' + "x" * 5000 + '"},"jsonrpc":"2.0","id":$ID}'
        async with talking([say(line)], max_line_size=2000) as transport:
            with pytest.raises(AnswerTooLarge):
                await ask(transport)

    run("uvloop", main())


# --- servers that end -------------------------------------------------------------------------------------------------

HALF = '{"jsonrpc":"2.0","id":$ID,"resu'


@both_loops
@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (
            [leave(0)],
            r"exited with code 0 before it had answered; does it call mcp\.run\(\) under `if __name__ == .__main__.:`",
        ),
        ([complain("Traceback: no module named 'x'"), leave(3)], "exited with code 3 before it had answered; its stan"),
        ([print_raw(HALF), leave(4)], "exited with code 4"),
        ([die(signal.SIGSEGV)], "was ended by SIGSEGV"),
        ([die(signal.SIGKILL)], "was ended by SIGKILL"),
        ([close(1), MUTE], "closed its standard output but went on running"),
        ([FORK, leave(5)], "exited with code 5"),
    ],
)
def test_death_fails_every_waiting_request(loop: str, steps: list[Step], text: str, tmp_path: Path) -> None:
    """Ours: FIELD 135; command, exit code or signal, and the end of standard error, though the pipe may stay open."""
    state = tmp_path / "state"

    async def main() -> None:
        times = {"shutdown_timeout": 0.2, "terminate_timeout": 0.2}
        async with talking([READ, READ, *steps], state=state, **times) as transport:
            answers = await asyncio.gather(*[ask(transport, number) for number in (1, 2, 3)], return_exceptions=True)
            for error in answers:
                assert isinstance(error, ConnectionLost)
                assert re.search(text, error.message)
                assert "bad_stdio_server.py" in error.where
                if "Traceback" in str(steps):
                    assert error.message.endswith("ends:\nTraceback: no module named 'x'")
            assert len({id(error) for error in answers}) == 3

    run(loop, main())
    assert all(has_ended(pid) for pid in pids(state))


@both_loops
def test_server_that_ends_before_the_first_request(loop: str) -> None:
    """Ours: a wrong argument or a missing module; the text is the server's own."""

    async def main() -> None:
        async with talking(start=[complain("usage: server PATH"), leave(2)]) as transport:
            for number in (1, 2):
                with pytest.raises(ConnectionLost, match=r"exited with code 2(?s:.*)usage: server PATH"):
                    await ask(transport, number)

    run(loop, main())


@both_loops
@pytest.mark.parametrize("last", [answer("last"), print_raw(good("last"))], ids=["line", "no newline"])
def test_answer_just_before_the_end_arrives(loop: str, last: Step) -> None:
    """Ours: also without its newline; only the next request tells of the end, and how to go on."""

    async def main() -> None:
        async with talking([last, leave(0)]) as transport:
            assert await ask(transport) == "last"
            with pytest.raises(ConnectionLost, match="exited with code 0"):
                await ask(transport, 2)
            with pytest.raises(ConnectionLost, match="exited with code 0; restart=True would start it again"):
                await ask(transport, 3)

    run(loop, main())


@both_loops
def test_input_that_has_just_broken_takes_nothing_and_raises_nothing(loop: str) -> None:
    """Ours: uvloop tells of it a turn later, and refuses to write until then."""
    ready = '{"jsonrpc":"2.0","method":"notifications/ready"}'

    async def main() -> None:
        async with talking(start=[close(0), say(ready), MUTE], shutdown_timeout=0.01) as transport:
            told = asyncio.Event()
            transport.hear(lambda method, params: told.set())
            await told.wait()
            process = transport._process
            assert process is not None
            while process.write(b"{}"):
                await asyncio.sleep(0)
            with pytest.raises(ConnectionLost, match="closed its standard input"):
                await transport.request(outgoing())

    run(loop, main())


@both_loops
def test_closed_input_is_found_with_the_next_request(loop: str) -> None:
    """Ours: what cannot read any more cannot answer any more."""

    async def main() -> None:
        async with talking([answer(), close(0), MUTE], shutdown_timeout=0.2) as transport:
            assert await ask(transport) == "fine"
            with pytest.raises(ConnectionLost, match="closed its standard input but went on running"):
                await asyncio.gather(*[ask(transport, number) for number in range(2, 9)])

    run(loop, main())


# --- servers that say nothing -----------------------------------------------------------------------------------------


@both_loops
def test_given_up_request_is_cancelled_and_its_late_answer_dropped(
    loop: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Spec: basic/transports/stdio, "Cancellation"; basic/patterns/cancellation, "Behavior Requirements" 5."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking([READ, answer("late")], state=state) as transport:
            task = asyncio.create_task(ask(transport, 41))
            await noted(state, lambda notes: '"id":41' in notes)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await ask(transport, 42) == "fine"

    run(loop, main())
    [_, cancelled, _] = received(state)
    assert cancelled == {"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": 41}}
    assert not caplog.records


@both_loops
def test_request_that_was_not_sent_is_not_cancelled(loop: str, tmp_path: Path) -> None:
    """Spec: basic/patterns/cancellation, "MUST only reference requests that were previously issued"; ours: a server
    that does not read holds its callers back, not our memory."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking(start=[wait_for(tmp_path / "go")], state=state) as transport:
            large = {"name": "echo", "arguments": {"text": "x" * 1_000_000}}
            tasks = [asyncio.create_task(ask(transport, number, params=large)) for number in range(20)]
            await asyncio.wait(tasks, timeout=0.2)
            assert transport._process is not None
            assert transport._process._stdin.get_write_buffer_size() < 3_000_000
            for task in tasks[10:]:
                task.cancel()
            await asyncio.wait(tasks[10:])
            (tmp_path / "go").touch()
            assert await asyncio.gather(*tasks[:10]) == ["fine"] * 10

    run(loop, main())
    assert [message["id"] for message in received(state)] == list(range(10))


# --- notifications ----------------------------------------------------------------------------------------------------


def note(method: str, params: str) -> Step:
    """Write a notification."""
    return say(f'{{"jsonrpc":"2.0","method":"{method}","params":{params}}}')


@both_loops
def test_notifications_reach_the_request_that_they_belong_to(loop: str) -> None:
    """Spec: basic/transports/stdio, "Receiving Messages": by progress token, subscription id and request id."""
    key = "io.modelcontextprotocol/subscriptionId"
    notes = [
        note("notifications/progress", '{"progressToken":$ID,"progress":1}'),
        note("notifications/progress", '{"progressToken":"$ID","progress":2}'),
        note("notifications/progress", '{"progressToken":true,"progress":3}'),
        note("notifications/progress", '{"progressToken":2,"progress":4}'),
        note("notifications/tools/list_changed", f'{{"_meta":{{"{key}":$ID}}}}'),
        note("notifications/tools/list_changed", f'{{"_meta":{{"{key}":5}}}}'),
        note("notifications/tools/list_changed", "{}"),
        note(CANCELLED, '{"requestId":$ID}'),
        answer(),
        note("notifications/progress", '{"progressToken":$ID,"progress":6}'),
    ]
    seen: list[tuple[str, Any]] = []
    told: list[str] = []

    async def main() -> None:
        async with talking(notes) as transport:
            transport.hear(lambda method, params: told.append(method))
            await ask(transport, notified=lambda method, params: seen.append((method, params)))
            await ask(transport, 2)

    run(loop, main())
    assert seen == [
        ("notifications/progress", {"progressToken": 1, "progress": 1}),
        ("notifications/tools/list_changed", {"_meta": {key: 1}}),
        (CANCELLED, {"requestId": 1}),
    ]
    assert told == ["notifications/tools/list_changed"]


@both_loops
def test_fault_of_a_callback_costs_no_answer(loop: str, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: it is logged whole."""

    def fail(method: str, params: dict[str, Any]) -> None:
        raise LookupError("in a callback")

    async def main() -> None:
        progress = note("notifications/progress", '{"progressToken":$ID,"progress":1}')
        async with talking([progress, answer()]) as transport:
            assert await ask(transport, notified=fail) == "fine"

    run(loop, main())
    assert "in a callback" in caplog.text


def test_an_answer_may_be_an_error() -> None:
    """Spec: basic/index, "Error Responses"; the transport hands it on as it is."""

    async def main() -> None:
        line = '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"no"}}'
        async with talking([say(line)]) as transport:
            assert await transport.request(outgoing()) == line.replace("$ID", "1").encode()

    run("uvloop", main())
