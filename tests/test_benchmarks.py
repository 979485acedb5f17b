"""The benchmark program: its statistics, what it takes for a right answer, a short run of leanmcp and the floors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from benchmarks.generator.answers import Model, Reader, WrongAnswer, events, reply
from benchmarks.generator.job import percentile
from benchmarks.suite import charts, schedule, tables
from benchmarks.suite.external import read_h2load, read_wrk
from benchmarks.suite.messages import OLD_REVISION, REVISION, Dialect, call
from benchmarks.suite.results import Cell, Report, Row, State, figure, rows
from benchmarks.suite.rivals import RIVALS
from benchmarks.suite.workloads import NOTES, WORKLOADS, listed, progressed, refusal, says
from tests.support.processes import ROOT, environment

RUN_TIMEOUT = 120.0  # seconds; a run takes a few
COMMITTED = ROOT / "benchmarks" / "results" / "report.json"
LOADS = {workload.name: workload for workload in WORKLOADS}


# --- statistics -------------------------------------------------------------------------------------------------------


def test_percentile_is_the_value_that_so_many_do_not_exceed() -> None:
    """Ours: nearest rank."""
    values = [float(number) for number in range(1, 101)]
    assert [percentile(values, share) for share in (0.5, 0.99, 0.999, 1.0)] == [50, 99, 100, 100]
    assert percentile([7.0], 0.5) == 7
    assert percentile([], 0.5) == 0


def test_figure_is_median_with_spread() -> None:
    """Ours: medians of rounds."""
    assert msgspec.structs.astuple(figure([3.0, 1.0, 9.0])) == (3, 1, 9, 3)


def test_row_of_a_failed_round_is_failed() -> None:
    """Ours: a wrong answer in one round is not hidden by the others."""
    cells = [
        Cell("leanmcp", "http", "echo", 0, "measured", {"cpu_us": 5.0}),
        Cell("leanmcp", "http", "echo", 1, "failed", reason="WrongAnswer: no"),
        Cell("floor", "http", "echo", 0, "measured", {"cpu_us": 2.0}),
        Cell("floor", "http", "echo", 1, "measured", {"cpu_us": 4.0}),
    ]
    ours, floor = rows(cells)
    assert (ours.status, ours.reason, ours.figures) == ("failed", "WrongAnswer: no", {})
    assert floor.figures["cpu_us"].median == 3


# --- answers ----------------------------------------------------------------------------------------------------------

BODY = b'{"jsonrpc":"2.0","id":1000000001,"result":{"content":[{"type":"text","text":"hello"}]}}'
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (
    BODY[:10],
    len(BODY) - 10,
    BODY[10:],
)


@pytest.mark.parametrize("raw", [PLAIN, CHUNKED])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_reader_finds_the_answers_of_a_connection(raw: bytes, size: int) -> None:
    """Spec: RFC 9112 6: however the octets are cut."""
    reader = Reader()
    found = []
    for _ in range(3):
        found += [reader.feed(raw[begin : begin + size]) for begin in range(0, len(raw), size)]
    assert [body for body in found if body is not None] == [BODY] * 3
    assert reader.status == 200


def test_reader_refuses_an_answer_without_an_end() -> None:
    """Ours: neither length nor chunks would be read to the end of the connection."""
    with pytest.raises(WrongAnswer, match="neither length nor chunks"):
        Reader().feed(b"HTTP/1.1 200 OK\r\n\r\n{}")


@pytest.mark.parametrize("start", [b"", b"event: message\r\ndata: "])
def test_model_takes_the_same_answer_to_another_request(start: bytes) -> None:
    """Ours: an answer is held against the first one, its id apart."""
    model = Model(start + BODY, echoes=True)
    assert model.number == b"1000000001"
    model.check(start + BODY.replace(b"0001,", b"0002,"), b"1000000002")
    model.check(start + BODY.replace(b"0001,", b"0002, ") + b"\n", b"1000000002")
    with pytest.raises(WrongAnswer, match="the answer to"):
        model.check(start + BODY, b"1000000002")
    with pytest.raises(WrongAnswer, match="not the same answer"):
        model.check(start + BODY.replace(b"hello", b"hallo"), b"1000000001")


def test_events_are_the_messages_of_either_form() -> None:
    """Spec: basic/transports/streamable-http, "Sending Messages": one JSON body, or an event stream."""
    assert events(b'{"a":1}') == [{"a": 1}]
    assert events(b'event: message\ndata: {"a":1}\n\n: alive\n\ndata: {"b":2}\r\n\r\n') == [{"a": 1}, {"b": 2}]


def test_reply_answers_every_question_and_returns_the_state() -> None:
    """Spec: basic/patterns/mrtr, "Client Requirements"."""
    asked = {"resultType": "input_required", "inputRequests": {"a": {}}, "requestState": "sealed"}
    members = msgspec.json.decode(b"{" + reply(msgspec.json.encode({"id": 1, "result": asked}))[1:] + b"}")
    assert members == {"inputResponses": {"a": {"action": "accept", "content": {"ok": True}}}, "requestState": "sealed"}
    with pytest.raises(WrongAnswer, match="no question"):
        reply(BODY)


# --- workloads --------------------------------------------------------------------------------------------------------


def test_checks_refuse_wrong_answers() -> None:
    """Ours: a fast wrong answer is worth nothing."""
    hello = {"id": 1, "result": {"content": [{"type": "text", "text": "hello"}]}}
    says("hello")([hello])
    with pytest.raises(WrongAnswer):
        says("hallo")([hello])
    with pytest.raises(WrongAnswer, match="an error"):
        says("hello")([{"id": 1, "error": {"code": -32603, "message": "no"}}])
    with pytest.raises(WrongAnswer, match="an error"):
        says("hello")([])
    listed(1)([{"result": {"tools": [{"name": "echo", "inputSchema": {}}]}}])
    with pytest.raises(WrongAnswer, match="1 tools, not 2"):
        listed(2)([{"result": {"tools": [{"name": "echo", "inputSchema": {}}]}}])
    with pytest.raises(WrongAnswer, match="no explanation"):
        refusal([{"result": {"isError": True, "content": [{"text": "email is missing"}]}}])


def test_progress_must_rise_to_its_end() -> None:
    """Spec: basic/patterns/progress, "Behavior Requirements"."""
    note = {"method": "notifications/progress", "params": {"progress": NOTES}}
    done = {"id": 1, "result": {"content": [{"type": "text", "text": "done"}]}}
    progressed([note, done])
    for wrong in ([done], [note, note, done], [{"method": note["method"], "params": {"progress": 1}}, done]):
        with pytest.raises(WrongAnswer, match="progress"):
            progressed(wrong)


def test_requests_are_of_the_revision_that_a_server_speaks() -> None:
    """Spec: basic/index, "_meta"; basic/transports/streamable-http, "Standard Request Headers"."""
    new, old = Dialect(REVISION, 1), Dialect(OLD_REVISION, 1)
    request = msgspec.json.decode(call(new, LOADS["nested"], 5))
    assert request["id"] == 5
    assert request["params"]["name"] == "order"
    assert request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == REVISION
    assert "_meta" not in msgspec.json.decode(call(old, LOADS["nested"], 5))["params"]
    assert b"Mcp-Name: order\r\n" in new.head("tools/call", "order")
    assert b"Mcp-Method" not in old.head("tools/call", "order")
    old.session = "s1"
    assert b"Mcp-Session-Id: s1\r\n" in old.head("tools/call", "order")


def test_only_chooses_rivals_and_workloads() -> None:
    """Ours: `--only`."""
    chosen = schedule.choose(["leanmcp", "floor/echo*", "start"], ["http"])
    assert [rival.name for rival in chosen.rivals] == ["leanmcp", "floor"]
    assert {"start", "echo", "echo-256"} <= {load.name for load in chosen.workloads}
    assert len(schedule.choose([], ["http"], frozenset({"echo"})).workloads) == len(WORKLOADS) - 1
    with pytest.raises(ValueError, match="no such rival or workload"):
        schedule.choose(["nobody"], ["http"])


def test_every_reason_to_leave_a_workload_out_is_about_a_workload() -> None:
    """Ours: a name that has changed would measure what a rival lacks."""
    for rival in RIVALS:
        for name in rival.lacks:
            assert name in LOADS, (rival.name, name)


# --- other load generators --------------------------------------------------------------------------------------------

WRK = """\
Running 2s test @ http://127.0.0.1:1/mcp
  Latency Distribution
     50%  301.00us
     99%    1.20ms
  98765 requests in 2.00s, 25.00MB read
Requests/sec:  49382.50
"""


def test_what_wrk_prints_is_read() -> None:
    """Ours: units differ from line to line."""
    assert read_wrk(WRK) == {"calls": 98765, "calls_per_s": 49382.5, "p50_us": 301, "p99_us": 1200}
    with pytest.raises(WrongAnswer, match="wrk"):
        read_wrk(WRK + "  Non-2xx or 3xx responses: 3\n")


def test_what_h2load_logs_is_read() -> None:
    """Ours: start, status, microseconds."""
    log = "".join(f"1\t200\t{number}\n" for number in range(1, 101))
    assert read_h2load(log, 2) == {"calls": 100, "calls_per_s": 50, "p50_us": 50, "p99_us": 99, "p99.9_us": 100}
    with pytest.raises(WrongAnswer, match="other than 200"):
        read_h2load(log + "1\t500\t3\n", 2)


# --- state and report -------------------------------------------------------------------------------------------------


def test_a_run_that_was_ended_goes_on(tmp_path: Path) -> None:
    """Ours: finished cells are kept, half a line is not, another run's are not taken."""
    path = tmp_path / "cells.jsonl"
    state = State(path, {"commit": "a"})
    state.add(Cell("leanmcp", "http", "echo", 0, "measured", {"cpu_us": 5.0}))
    path.write_bytes(path.read_bytes() + b'{"rival":"floor","tra')
    again = State(path, {"commit": "a"})
    assert list(again.cells) == [("leanmcp", "http", "echo", 0)]
    again.add(Cell("floor", "http", "echo", 0, "measured"))
    again.add(Cell("mcp", "http", "echo", 0, "failed", reason="tried again"))
    assert len(State(path, {"commit": "a"}).cells) == 2
    with pytest.raises(ValueError, match="--fresh"):
        State(path, {"commit": "b"})


def _report() -> Report:
    def row(rival: str, transport: str, workload: str, **figures: float) -> Row:
        return Row(rival, transport, workload, "measured", {name: figure([value]) for name, value in figures.items()})

    return Report(
        {"date": "today", "cpu": "one & only"},
        {"rounds": 1},
        {"leanmcp": {"python": "3.11"}, "mcp": {"mcp": "2.3.0"}},
        {},
        {"go-sdk": "no toolchain"},
        [
            row("leanmcp", "http", "echo", calls_per_s=90_000, cpu_us=10, memory_mb=27),
            row("mcp", "http", "echo", calls_per_s=3_000, cpu_us=300, memory_mb=70),
            Row("fastmcp", "http", "echo", "failed", reason="WrongAnswer: no"),
            row("leanmcp", "http", "open-half", **{"p50_us": 80, "p99_us": 200, "p99.9_us": 400}),
        ],
    )


def test_report_tells_what_was_measured_failed_and_left_out() -> None:
    """Ours: nothing is hidden."""
    text = tables.render(_report())
    assert "| leanmcp |  90,000 |" in text
    assert "- fastmcp: **failed**: WrongAnswer: no" in text
    assert "- go-sdk: no toolchain" in text
    assert tables.ratios(_report()) == {"CPU per call, echo, HTTP, mcp": "30.0 times leanmcp"}
    report = _report()
    report.rows.append(msgspec.structs.replace(report.rows[-1], rival="floor"))
    assert tables.ratios(report)["p99 at half of saturation, to the floor's, open-half"] == "1.00 times"


def test_summary_has_a_row_for_each_server() -> None:
    """Ours: the table of the README."""
    lines = tables.summary(_report()).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["leanmcp", "mcp 2.3.0"]
    assert [cell.strip() for cell in lines[2].split("|")[2:5]] == ["90,000", "10.0", "200"]


@pytest.mark.skipif(not COMMITTED.is_file(), reason="no report is committed yet")
def test_readme_shows_the_committed_report() -> None:
    """Ours: the numbers that the README shows are those of the JSON beside it."""
    report = msgspec.json.decode(COMMITTED.read_bytes(), type=Report)
    assert tables.summary(report) in (ROOT / "README.md").read_text()


def test_charts_are_drawn(tmp_path: Path) -> None:
    """Ours: SVG needs nothing; what has no figures is not drawn."""
    names = {path.name for path in charts.draw(_report(), tmp_path) if path.suffix == ".svg"}
    assert names == {"calls.svg", "cpu.svg", "latency.svg", "memory.svg"}
    text = (tmp_path / "calls.svg").read_text()
    assert text.count("<rect") == 3  # the background and two bars
    assert "one &amp; only" in text
    assert "90,000" in text


# --- the program ------------------------------------------------------------------------------------------------------


def test_quick_run_measures_leanmcp_and_the_floors(tmp_path: Path) -> None:
    """Ours: one short cell of each kind, answers checked, files written."""
    names = ("leanmcp", "floor", "start", "echo", "open-half", "round-trip", "idle", "listen", "entries")
    only = [part for name in names for part in ("--only", name)]
    command = [sys.executable, "-m", "benchmarks", "--quick", "--here", "--seconds", "0.1", *only]
    done = subprocess.run(
        [*command, "--json", "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        timeout=RUN_TIMEOUT,
        env=os.environ | environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    report = msgspec.json.decode(done.stdout, type=Report)
    assert [row for row in report.rows if row.status == "failed"] == []
    for transport in ("http", "stdio"):
        for workload in ("start", "echo", "open-half", "round-trip", "entries"):
            ours = report.row("leanmcp", transport, workload)
            assert ours is not None, (transport, workload)
            assert ours.status == "measured", (transport, workload, ours.reason)
        floor = report.row("floor", transport, "echo")
        assert floor is not None
        assert floor.figures["calls_per_s"].median > 0
    for workload in ("idle", "listen"):
        held = report.row("leanmcp", "http", workload)
        assert held is not None
        assert held.figures["held"].median >= 100
    assert report.versions["leanmcp"]["python"]
    assert {"cells.jsonl", "report.json", "report.md", "calls.svg", "start.svg"} <= set(os.listdir(tmp_path))
    assert msgspec.json.decode((tmp_path / "report.json").read_bytes(), type=Report) == report
