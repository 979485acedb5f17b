"""Web pages of other origins: preflight, the fields of every answer, and a browser where there is one."""

from __future__ import annotations

import html
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.events import BOTH, EventWire, values
from tests.support.lines import asking
from tests.support.processes import DEADLINE, HTTPProcess, call, http, http_server, request
from tests.support.wire import Answer, Wire, ask

LONG = "tests/fixtures/long_calls.py"
PAGE = "https://app.example"
LOCAL = "http://localhost:3000"
ECHO = call("echo", {"text": "hello"})
CORS = [name.lower() for name in ("Access-Control-Allow-Origin", "Access-Control-Expose-Headers")]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="module")
def server() -> Iterator[HTTPProcess]:
    """A server that one page may call, and pages of this machine."""
    with http_server(LONG, "--cors", "--allowed-origin", PAGE) as process:
        yield process


@pytest.fixture(scope="module")
def port(server: HTTPProcess) -> int:
    """Its port."""
    return server.port


def preflight(headers: str | None = "content-type,mcp-method", origin: str = PAGE, path: str = "/mcp") -> bytes:
    """Return what a browser sends before a call; it never holds a token."""
    asked = "" if headers is None else f"access-control-request-headers: {headers}\r\n"
    head = f"OPTIONS {path} HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: {origin}\r\naccess-control-request-method: POST\r\n"
    return f"{head}{asked}\r\n".encode("latin-1")


def names(value: str) -> set[str]:
    """Return the names of a list."""
    return {name.strip().lower() for name in value.split(",")}


def shown_to(answer: Answer, origin: str) -> None:
    """Check that a page of `origin` may read an answer."""
    assert answer.headers["access-control-allow-origin"] == origin
    assert {"www-authenticate", "retry-after"} <= names(answer.headers["access-control-expose-headers"])
    assert "origin" in names(answer.headers["vary"])
    assert "access-control-allow-credentials" not in answer.headers


# --- preflight --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", [PAGE, LOCAL, "http://127.0.0.1:1", "https://[::1]"])
def test_a_preflight_is_204_without_authorization(port: int, origin: str) -> None:
    """Spec: Fetch, "HTTP-CORS protocol"; FIELD 64."""
    with Wire(port) as wire:
        answer = wire.send(preflight(origin=origin)).answer()
        assert (answer.status, answer.body) == (204, b"")
        assert answer.headers["access-control-allow-origin"] == origin
        assert "POST" in answer.headers["access-control-allow-methods"]
        assert int(answer.headers["access-control-max-age"]) > 0
        assert not {"content-length", "content-type"} & set(answer.headers)
        # The connection goes on, with the call itself.
        shown_to(wire.send(http(ECHO, origin=origin)).answer(), origin)


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        (
            "content-type, mcp-method, mcp-name, mcp-param-region, authorization",
            {"content-type", "mcp-method", "mcp-name", "mcp-param-region", "authorization"},
        ),
        ("Mcp-Protocol-Version,ACCEPT", {"mcp-protocol-version", "accept"}),
        ("mcp-param-x!#$%&'*+.^_`|~-y", {"mcp-param-x!#$%&'*+.^_`|~-y"}),
        ("traceparent, tracestate, baggage, last-event-id", {"traceparent", "tracestate", "baggage", "last-event-id"}),
        ("content-type, cookie, x-evil", {"content-type"}),
        ("mcp-session-id", {"mcp-session-id"}),
        ("mcp-", set()),
        ("mcp-a b", set()),
        ("mcp-\u00e9", set()),
        ("", set()),
        (None, set()),
    ],
)
def test_what_calls_need_may_be_sent(port: int, asked: str | None, allowed: set[str]) -> None:
    """Ours: any `mcp-` name, and what tracing and authorization use; nothing else is echoed."""
    answer = ask(port, preflight(asked))
    assert answer.status == 204
    default = {"content-type", "mcp-protocol-version", "mcp-method", "mcp-name"}
    assert names(answer.headers["access-control-allow-headers"]) == (allowed or default)
    assert {"origin", "access-control-request-headers"} == names(answer.headers["vary"])


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://app.example.evil", "http://app.example"])
@pytest.mark.parametrize("message", ["preflight", "call"])
def test_pages_of_other_origins_are_refused_without_a_field(port: int, origin: str, message: str) -> None:
    """Spec: "Security & Endpoint"; nothing tells the page what the server said."""
    answer = ask(port, preflight(origin=origin) if message == "preflight" else http(ECHO, origin=origin))
    assert answer.status == 403
    assert not set(CORS) & set(answer.headers)
    assert "access-control-allow-headers" not in answer.headers
    assert "origin" in names(answer.headers["vary"])


def test_a_foreign_host_is_refused_without_a_field_to_a_foreign_page(port: int) -> None:
    """Ours: DNS rebinding; Host is looked at first."""
    answer = ask(port, http(ECHO, host="evil.example", origin="http://evil.example"))
    assert answer.status == 421
    assert not set(CORS) & set(answer.headers)


def test_a_preflight_of_another_path_is_404(port: int) -> None:
    """Ours: only the endpoint is open to pages."""
    answer = ask(port, preflight(path="/nope"))
    assert answer.status == 404
    shown_to(answer, PAGE)


def test_options_without_an_origin_is_405(port: int) -> None:
    """Ours: no page asks."""
    answer = ask(port, preflight().replace(b"origin: https://app.example\r\n", b""))
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_without_the_option_there_is_no_preflight() -> None:
    """Ours: `cors` is off by default."""
    with http_server(LONG, "--allowed-origin", PAGE) as process:
        assert ask(process.port, preflight()).status == 405
        answer = ask(process.port, http(ECHO, origin=PAGE))
        assert answer.status == 200
        assert not set(CORS) & set(answer.headers)


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "fields", "status"),
    [
        (ECHO, {}, 200),
        (request("tools/list"), {}, 200),
        (call("nope"), {}, 200),
        (ECHO, {"accept": "text/event-stream"}, 200),
        (ECHO, {"path": "/nope"}, 404),
        (ECHO, {"content_type": "text/plain"}, 415),
        (ECHO, {"mcp_name": "other"}, 400),
        (ECHO, {"mcp_protocol_version": "1900-01-01"}, 400),
        (request("nope/x"), {}, 404),
        (call("step_then", {"end": "capability"}), {}, 400),
        ({"jsonrpc": "2.0", "method": "notifications/cancelled"}, {}, 202),
    ],
)
def test_every_answer_may_be_read_by_the_page(
    port: int, message: dict[str, Any], fields: dict[str, str], status: int
) -> None:
    """Ours: FIELD 64; on errors too, for else the page sees nothing but a failure."""
    answer = ask(port, http(message, origin=PAGE, **fields))
    assert answer.status == status
    shown_to(answer, PAGE)


@pytest.mark.parametrize(
    ("fields", "rest", "status"),
    [
        ({"content_length": "99999999"}, b"", 413),
        ({"content_length": "", "transfer_encoding": "chunked"}, b"x\r\n", 400),
        ({"content_length": "", "transfer_encoding": "chunked"}, b"7fffffff\r\n", 413),
    ],
)
def test_what_the_connection_refuses_may_be_read_too(
    port: int, fields: dict[str, str], rest: bytes, status: int
) -> None:
    """Ours: FIELD 64; the head has been read, and so who asks is known."""
    answer = ask(port, http(b"", origin=PAGE, **fields) + rest)
    assert answer.status == status
    shown_to(answer, PAGE)


def test_an_answer_that_turns_into_a_stream_may_be_read_too(port: int) -> None:
    """Ours: the fields go out with the head of the stream."""
    with EventWire(port) as wire:
        wire.send(http(asking(call("steps", {"count": 3})), origin=PAGE, accept=BOTH))
        wire_head = wire.head()
        assert wire_head["access-control-allow-origin"] == PAGE
        assert "origin" in names(wire_head["vary"])
        messages = [wire.event() for _ in range(4)]
        assert values(messages) == [1, 2, 3]


def test_an_answer_to_nobody_in_particular_says_that_it_varies(port: int) -> None:
    """Ours: a cache must not give it to a page."""
    answer = ask(port, http(ECHO))
    assert not set(CORS) & set(answer.headers)
    assert "origin" in names(answer.headers["vary"])


def test_one_connection_serves_pages_of_several_origins(port: int) -> None:
    """Ours: what is kept for a head is kept for its origin."""
    with Wire(port) as wire:
        for origin in (PAGE, LOCAL, PAGE):
            shown_to(wire.send(http(ECHO, origin=origin)).answer(), origin)
        assert "access-control-allow-origin" not in wire.send(http(ECHO)).answer().headers


# --- a browser --------------------------------------------------------------------------------------------------------

SCRIPT = """<!doctype html><title>page</title><pre id="out">nothing</pre><script>
const version = "2026-07-28";
const meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {},
              progressToken: 0};
async function call(name, args) {
  const body = JSON.stringify({jsonrpc: "2.0", id: 1, method: "tools/call",
                               params: {_meta: meta, name, arguments: args}});
  const answer = await fetch("SERVER", {method: "POST", body, headers: {
    "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Method": "tools/call",
    "MCP-Protocol-Version": version, "Mcp-Name": name, "Mcp-Param-Extra": "x"}});
  return [answer.status, answer.headers.get("content-type"), await answer.text()];
}
(async () => {
  const found = [];
  try {
    found.push(await call("echo", {text: "from a page"}), await call("steps", {count: 2}), await call("nope", {}));
  } catch (error) {
    found.push(String(error));
  }
  document.getElementById("out").textContent = JSON.stringify(found);
})();
</script>"""


@contextmanager
def page(text: str) -> Iterator[str]:
    """Serve a page on a port of its own; give its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as web:
        thread = threading.Thread(target=web.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{web.server_port}/"
        web.shutdown()
        thread.join(DEADLINE)


def test_a_page_in_a_browser_calls_the_server(server: HTTPProcess, tmp_path: Path) -> None:
    """Ours: FIELD 64; JSON, an event stream and an error, from a page on another port."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium is installed")
    with page(SCRIPT.replace("SERVER", server.url)) as url:
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
        command = [browser, *options, "--virtual-time-budget=5000", "--dump-dom", url]
        done = subprocess.run(command, capture_output=True, timeout=DEADLINE * 2, check=True)
    found = html.unescape(done.stdout.decode())
    assert '[200,"application/json"' in found, found
    assert "from a page" in found
    assert '[200,"text/event-stream"' in found
    assert "-32602" in found
