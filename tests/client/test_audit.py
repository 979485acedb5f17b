"""The audit log: what is written of every call, what is not, and what happens when it cannot be written."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import stat
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp.client import Audit, Client, Policy
from leanmcp.client import audit as audit_module
from leanmcp.errors import CallDenied, InvalidResult, MCPError
from tests.support.strange_server import StrangeServer, run, text, tool


def server(**results: Any) -> StrangeServer:
    return StrangeServer(
        tool("echo"), results={"echo": text("hi"), "fail": text("no", isError=True), **results}, where="https://x/mcp"
    )


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_line_says_who_called_what_and_what_came_of_it(tmp_path: Path) -> None:
    """Spec: server/tools, "Security Considerations": clients SHOULD log tool usage for audit purposes."""
    path = tmp_path / "audit.jsonl"

    async def main() -> None:
        async with Client(server(), audit=path) as client:
            result = await client.call_tool("echo", {"text": "hi"})
            assert len(lines(path)) == 1  # in the file before the caller has the result
            assert result.content
            await client.call_tool("fail")
            with pytest.raises(MCPError):
                await client.call_tool("unknown")

    run(main())
    first, second, third = lines(path)
    assert list(first) == ["time", "server", "tool", "arguments", "decision", "outcome", "duration_ms", "result"]
    assert first["time"].endswith("+00:00")
    assert (first["server"], first["tool"], first["arguments"]) == ("https://x/mcp", "echo", {"text": "hi"})
    assert (first["decision"], first["outcome"]) == ("allowed", "ok")
    assert first["duration_ms"] >= 0
    assert first["result"]["size"] > 0
    assert first["result"]["digest"].startswith("sha256:")
    assert second["outcome"] == "tool_error"
    assert (third["outcome"], third["error"]["code"]) == ("error", -32602)
    assert third["error"]["type"] == "InvalidParams"


def test_digest_tells_results_apart(tmp_path: Path) -> None:
    """Ours: the same result has the same digest, another one another."""
    path = tmp_path / "audit.jsonl"

    async def main() -> None:
        there = server()
        async with Client(there, audit=path) as client:
            await client.call_tool("echo")
            await client.call_tool("echo")
            there.results["echo"] = text("something else")
            await client.call_tool("echo")

    run(main())
    first, second, third = (line["result"]["digest"] for line in lines(path))
    assert first == second != third


def test_file_is_appended_to_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    """Ours: mode 0600, nothing is overwritten, and a log that is moved away goes on under its name."""
    path = tmp_path / "audit.jsonl"

    async def main() -> None:
        async with Client(server(), audit=str(path)) as client:
            await client.call_tool("echo")
        async with Client(server(), audit=path) as client:
            await client.call_tool("echo")
            assert len(lines(path)) == 2
            path.rename(tmp_path / "old.jsonl")
            await client.call_tool("echo")

    run(main())
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert len(lines(path)) == 1


def test_decisions_are_written_with_the_arguments_that_were_sent() -> None:
    """Ours: what is audited is what is sent; a denied call has its line too."""
    records: list[dict[str, Any]] = []

    def edit(name: str, arguments: dict[str, Any]) -> dict[str, Any] | bool:
        return {"text": "edited"} if name == "echo" else False

    async def main() -> None:
        policy = Policy(lambda question: True)
        async with Client(server(), audit=records.append, on_call=edit, trust=policy) as client:
            await client.call_tool("echo", {"text": "original"})
            with pytest.raises(CallDenied):
                await client.call_tool("fail", {"text": "original"})

    run(main())
    sent, denied = records
    assert (sent["arguments"], sent["decision"]) == ({"text": "edited"}, "edited, consented")
    assert (denied["arguments"], denied["decision"], denied["outcome"]) == ({"text": "original"}, "denied", "denied")
    assert "result" not in denied


@pytest.mark.parametrize(
    "name",
    [
        *("password", "passwd", "pwd", "passphrase", "api_key", "apiKey", "X-API-Key", "client_secret", "access_token"),
        *("refreshToken", "authorization", "Cookie", "privateKey", "credentials", "otp", "pin", "cvv", "cardNumber"),
    ],
)
def test_values_of_secret_names_are_not_written(name: str) -> None:
    """Ours: redaction by the names of members, at any depth."""
    records: list[dict[str, Any]] = []

    async def main() -> None:
        async with Client(server(), audit=records.append) as client:
            await client.call_tool("echo", {name: "hunter2", "deep": [{name: {"inner": "hunter2"}}], "plain": "seen"})

    run(main())
    assert records[0]["arguments"] == {name: "[redacted]", "deep": [{name: "[redacted]"}], "plain": "seen"}
    assert "hunter2" not in json.dumps(records)


@pytest.mark.parametrize("name", ["pinned", "spinner", "compass", "author", "keyboard", "path", "query", "passenger"])
def test_values_of_other_names_are_written(name: str) -> None:
    """Ours: a log that hides everything tells nothing."""
    assert Audit(print).shown("x", {name: "seen"}) == {name: "seen"}


def test_secrets_in_an_error_are_not_written() -> None:
    """Ours: servers repeat arguments in their errors."""
    records: list[dict[str, Any]] = []

    def refuse(params: dict[str, Any]) -> dict[str, Any]:
        raise MCPError(-32602, f"cannot log in with {params['arguments']['password']}")

    async def main() -> None:
        async with Client(server(echo=refuse), audit=records.append) as client:
            with pytest.raises(MCPError, match="hunter2"):
                await client.call_tool("echo", {"password": "hunter2"})

    run(main())
    assert records[0]["error"]["message"] == "cannot log in with [redacted]"


def test_function_redacts_before_names_do() -> None:
    """Ours: `redact=` gets a copy; what it returns is written."""
    records: list[dict[str, Any]] = []

    def redact(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        arguments["mail"] = arguments["mail"][:1] + "..."
        return arguments

    async def main() -> None:
        there = server()
        async with Client(there, audit=Audit(records.append, redact=redact)) as client:
            await client.call_tool("echo", {"mail": "anna@example.com", "token": "t"})
        assert there.calls() == [{"mail": "anna@example.com", "token": "t"}]

    run(main())
    assert records[0]["arguments"] == {"mail": "a...", "token": "[redacted]"}


def test_redaction_that_fails_writes_no_arguments(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: a fault must not write what was meant to be hidden."""

    def redact(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("mail")

    with caplog.at_level(logging.ERROR, "leanmcp"):
        assert Audit(print, redact=redact).shown("echo", {"mail": "anna"}) == "[redacted]"
    assert "the function redact= of the audit log failed" in caplog.text


def test_values_are_clipped() -> None:
    """Ours: a log line has a bounded size, whatever is sent."""
    audit = Audit(print, max_value=10)
    nested: Any = "deep"
    for _ in range(20):
        nested = [nested]
    shown = audit.shown("x", {"text": "a" * 50, "items": list(range(60)), "nested": nested, "n" * 50: 1})
    assert shown["text"] == "aaaaaaaaaa... (50 characters)"
    assert shown["items"][49:] == [49, "... (10 more)"]
    assert json.dumps(shown["nested"]).count("[") == 5
    assert "nnnnnnnnnn... (50 characters)" in shown
    many = audit.shown("x", {str(number): number for number in range(60)})
    assert len(many) == 51
    assert many["..."] == "10 more"


def test_refused_result_and_cancelled_call_have_their_lines() -> None:
    """Ours: every call that was let out ends in one line."""
    records: list[dict[str, Any]] = []
    begun = asyncio.Event()

    class Mute(StrangeServer):
        async def request(self, request: Any) -> bytes:
            if request.name == "mute":
                begun.set()
                await asyncio.Event().wait()
            return await super().request(request)

    async def main() -> None:
        there = Mute(tool("echo", outputSchema={"type": "object"}), results={"echo": text("hi")})
        async with Client(there, audit=records.append, check=True) as client:
            with pytest.raises(InvalidResult):
                await client.call_tool("echo")
            call = asyncio.create_task(client.call_tool("mute"))
            await begun.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    run(main())
    assert [record["outcome"] for record in records] == ["invalid_result", "cancelled"]


def test_write_error_is_logged_and_the_call_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the disk is full, the call is made all the same, and nobody can miss that a line is lost."""
    audit = Audit(tmp_path / "audit.jsonl")

    def full(*args: object) -> int:
        raise OSError(28, "No space left on device")

    async def main() -> None:
        async with Client(server(), audit=audit) as client:
            monkeypatch.setattr(os, "write", full)
            result = await client.call_tool("echo")
            monkeypatch.undo()
            assert result.content

    with caplog.at_level(logging.ERROR, "leanmcp"):
        run(main())
    assert audit.failures == 1
    assert "the audit log lost a line about tool 'echo': OSError: [Errno 28]" in caplog.text


def test_function_that_fails_is_logged_and_the_call_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: so too with a function."""

    async def broken(record: dict[str, Any]) -> None:
        raise RuntimeError("no database")

    async def main() -> None:
        async with Client(server(), audit=broken) as client:
            assert (await client.call_tool("echo")).content

    with caplog.at_level(logging.ERROR, "leanmcp"):
        run(main())
    assert "RuntimeError: no database" in caplog.text


def test_file_that_cannot_be_written_is_found_out_at_once(tmp_path: Path) -> None:
    """Ours: a wrong path is no surprise at the first call."""
    with pytest.raises(FileNotFoundError):
        Client(server(), audit=tmp_path / "missing" / "audit.jsonl")


def test_slow_disk_does_not_hold_up_the_loop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a call waits for its line for a moment only; closing waits until it is written."""
    path = tmp_path / "audit.jsonl"
    go = threading.Event()
    write = os.write

    def slow(file: int, data: bytes) -> int:
        if data.startswith(b'{"time"'):
            go.wait(20)
        return write(file, data)

    monkeypatch.setattr(audit_module, "_PATIENCE", 0.05)

    async def main() -> None:
        async with Client(server(), audit=path) as client:
            monkeypatch.setattr(os, "write", slow)
            await client.call_tool("echo")  # comes back although nothing can be written
            assert path.read_bytes() == b""
            go.set()
        assert len(lines(path)) == 1

    with caplog.at_level(logging.ERROR, "leanmcp"):
        run(main())
    assert "is slow" in caplog.text


def test_lines_of_many_calls_at_once_do_not_mix(tmp_path: Path) -> None:
    """Ours: one write per line, from two clients into one file."""
    path = tmp_path / "audit.jsonl"

    async def main() -> None:
        async with Client(server(), audit=path) as one, Client(server(), audit=path) as other:
            await asyncio.gather(
                *(client.call_tool("echo", {"n": n, "text": "x" * 150}) for n in range(100) for client in (one, other))
            )

    run(main())
    assert sorted(line["arguments"]["n"] for line in lines(path)) == sorted([*range(100), *range(100)])


def test_flags_of_a_result_are_written() -> None:
    """Ours: what the result checks found odd."""
    records: list[dict[str, Any]] = []

    async def main() -> None:
        async with Client(server(echo=text("turned \u202e around")), audit=records.append) as client:
            await client.call_tool("echo")

    run(main())
    assert records[0]["flags"] == ["a text has characters that turn the direction of writing"]


def test_digest_is_that_of_the_result_as_json() -> None:
    """Ours: whoever kept the result can compare it."""
    records: list[dict[str, Any]] = []

    async def main() -> None:
        async with Client(server(), audit=records.append) as client:
            result = await client.call_tool("echo")
            encoded = msgspec.json.encode(result)
            assert records[0]["result"] == {
                "size": len(encoded),
                "digest": "sha256:" + hashlib.sha256(encoded).hexdigest(),
            }

    run(main())
