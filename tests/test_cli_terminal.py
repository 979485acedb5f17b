"""The commands at a terminal: progress, questions, colours, Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
import sys
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from leanmcp.cli.form_fields import fields_of
from leanmcp.cli.keyboard import Keyboard
from leanmcp.cli.questions import Questions
from leanmcp.cli.screen import Screen
from tests.support.authorization import world
from tests.support.processes import DEADLINE, ROOT, http_server
from tests.support.shell import COLUMNS, Terminal, at_terminal, leanmcp, program_at_terminal

SERVER = ROOT / "tests" / "fixtures" / "shell.py"


def test_progress_is_one_line_that_goes_away(tmp_path: Path) -> None:
    """Ours: U24; data that goes to a file has nothing of it."""
    with at_terminal("call", SERVER, "steps", "count=2", stdout=tmp_path / "out") as terminal:
        assert terminal.finish() == 0
    *drawn, end = terminal.shown.split("\r\x1b[K")
    assert (drawn[0], end) == ("", "")
    assert drawn[-1] == "[####################] 100% 2/2 step 2"
    assert "\n" not in terminal.shown
    assert all(len(text) < COLUMNS for text in drawn)
    assert (tmp_path / "out").read_text() == "done\n"


def test_a_terminal_that_can_nothing_gets_lines() -> None:
    """Ours: TERM=dumb."""
    with at_terminal("call", SERVER, "steps", "count=2", TERM="dumb") as terminal:
        assert terminal.finish() == 0
    assert terminal.shown == "progress 1/2 step 1\nprogress 2/2 step 2\ndone\n"


def test_tables_fit_the_terminal() -> None:
    """Ours: descriptions are clipped or go below; colours are on."""
    with at_terminal("list", SERVER, "tools") as terminal:
        assert terminal.finish() == 0
    assert "\x1b[1mtools\x1b[0m\n" in terminal.shown
    assert "loud: boolean = false)\x1b[0m\n      Say something.\n" in terminal.shown
    with at_terminal("list", SERVER, "tools", NO_COLOR="1") as terminal:
        assert terminal.finish() == 0
    assert "\x1b" not in terminal.shown


def test_nothing_that_a_server_says_is_obeyed() -> None:
    """Ours: control characters are shown; bytes are described, in JSON too."""
    with at_terminal("call", SERVER, "evil") as terminal:
        assert terminal.finish() == 0
    assert terminal.shown == "a\\x1b]0;title\\x07b\\u202ec\n"
    with at_terminal("read", SERVER, "lib://logo") as terminal:
        assert terminal.finish() == 0
    assert terminal.shown == "[resource lib://logo image/png, 6 bytes; --output FOLDER saves it]\n"


def test_form_is_filled_in_field_by_field() -> None:
    """Spec: client/elicitation, "User Interaction Model": who asks, and reviewing and modifying before sending."""
    with at_terminal("call", SERVER, "book", NO_COLOR="1") as terminal:
        asked = terminal.wait_for("seats (whole number, 1 to 10): ")
        assert asked.startswith("server 'demo' in this process asks about tools/call book:\n  How many?\n  Tell us.\n")
        terminal.type("many\n")
        terminal.answer("a whole number is expected, not 'many'\nseats", "99")
        terminal.answer("Input should be less than or equal to 10, got 99\nseats", "3")
        terminal.answer("1  front\n    2  back\nplace (1 to 2, optional) [front]: ", "x")
        terminal.answer("give a number from 1 to 2\nplace", "back")
        terminal.answer("note (text, optional): ", "")
        terminal.answer("seats: 3\n    place: back\nSend it? [y]es, [e]dit, [n]o, [c]ancel: ", "e")
        terminal.answer("seats (whole number, 1 to 10) [3]: ", "4")
        terminal.answer("place (1 to 2, optional) [back]: ", "")
        terminal.answer("note", "ok")
        terminal.answer("seats: 4\n    place: back\n    note: ok\nSend it?", "yes")
        assert terminal.finish() == 0
    assert terminal.shown.endswith("accept Booking(seats=4, place='back', note='ok')\n")


@pytest.mark.parametrize(("typed", "action"), [("n", "decline"), ("c", "cancel")])
def test_form_can_be_declined_and_cancelled(typed: str, action: str) -> None:
    """Spec: client/elicitation, "User Interaction Model": clear decline and cancel options."""
    with at_terminal("call", SERVER, "book") as terminal:
        terminal.answer("seats", "1")
        terminal.answer("place", "")
        terminal.answer("note", "")
        terminal.answer("Send it?", typed)
        assert terminal.finish() == 0
    assert terminal.shown.endswith(f"{action} None\n")


def test_json_on_a_terminal_leaves_long_data_out(tmp_path: Path) -> None:
    """Ours: nobody reads base64."""
    (tmp_path / "server.py").write_text(
        "from leanmcp import Image, MCPServer\nmcp = MCPServer('x')\n@mcp.tool\ndef shot(size: int) -> Image:\n"
        "    return Image(data=bytes(size), format='png')\n"
    )
    for size, shown in ((1000, "(1,000 bytes; not shown on a terminal)"), (3, "AAAA")):
        with at_terminal("call", "server.py", "shot", f"size={size}", "--json", cwd=tmp_path) as terminal:
            assert terminal.finish() == 0
        assert f'"data": "{shown}"' in terminal.shown


@pytest.mark.parametrize(("typed", "action"), [("y", "accept"), ("n", "decline"), ("c", "cancel")])
def test_form_without_fields_is_a_question(tmp_path: Path, typed: str, action: str) -> None:
    """Ours: agree or not; Enter alone is no answer."""
    file = tmp_path / "old.py"
    file.write_text(
        LEGACY.replace('"properties": {"name": {"type": "string"}}, "required": ["name"]', '"properties": {}')
    )
    with at_terminal("call", "ask", "--mode", "legacy", "--", sys.executable, file, NO_COLOR="1") as terminal:
        terminal.answer("Agree? [y]es, [n]o, [c]ancel: ", "")
        terminal.answer("Agree? [y]es, [n]o, [c]ancel: ", typed)
        assert terminal.finish() == 0
    assert f'"action": "{action}"' in terminal.shown


def test_end_of_input_cancels_a_form() -> None:
    """Ours: Ctrl-D in the middle."""
    with at_terminal("call", SERVER, "book") as terminal:
        terminal.wait_for("seats")
        terminal.type("\x04")
        assert terminal.finish() == 0
    assert terminal.shown.endswith("cancelled\ncancel None\n")


def test_page_is_opened_after_a_yes_only(tmp_path: Path) -> None:
    """Spec: client/elicitation, "Safe URL Handling" 2, 3, 5 and 6."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    browser.chmod(0o755)
    url = "https://xn--exmple-cua.com/enter?id=1"
    for typed, action, is_opened in (
        ("n", "decline", False),
        ("c", "cancel", False),
        ("m", "accept", False),
        ("y", "accept", True),
    ):
        with at_terminal("call", SERVER, "page", NO_COLOR="1", BROWSER=str(browser)) as terminal:
            shown = terminal.wait_for("Open it in a browser?")
            assert f"  page: {url}\n  host: xn--exmple-cua.com\n" in shown
            assert "letters that may look like others" in shown
            assert not opened.exists()
            terminal.type(f"\n{typed}\n")  # Enter alone is no answer
            if action == "accept":
                terminal.answer("Press Enter when you are done there", "")
            assert terminal.finish() == 0
        assert terminal.shown.endswith(f"{action}\n")
        assert opened.exists() == is_opened
    assert opened.read_text() == f"{url}\n"


def test_page_that_is_not_encrypted_is_pointed_out() -> None:
    """Ours: servers of others may send such URLs; letters of other scripts are pointed out, too."""
    for url, remark in (
        ("http://example.com/", "What you enter there travels unencrypted."),
        ("https://ex\u0430mple.com/", "This name has letters that may look like others; make sure that you know it."),
        ("https://example.com/", ""),
    ):
        screen = Screen()
        screen.err = io.StringIO()
        Questions(screen, Keyboard(0, screen))._show_page(url)
        assert url in screen.err.getvalue()
        assert screen.err.getvalue().splitlines()[2:] == ([f"  {remark}"] if remark else [])


def test_questions_are_answered_while_standard_input_is_data(tmp_path: Path) -> None:
    """Ours: `leanmcp call ... --args - < file` asks on the terminal itself."""
    arguments = tmp_path / "args.json"
    arguments.write_text("{}")
    command = f"{sys.executable} -m leanmcp call {SERVER} book --args - < {arguments}"
    with program_at_terminal(["sh", "-c", command]) as terminal:
        terminal.answer("seats", "1")
        terminal.answer("place", "")
        terminal.answer("note", "")
        terminal.answer("Send it?", "y")
        assert terminal.finish() == 0
    assert "accept Booking(seats=1" in terminal.shown


def test_ctrl_c_ends_a_call_in_one_line() -> None:
    """Ours: exit code 130, nothing of asyncio to be seen; a call over HTTP and one in process."""
    with http_server(SERVER) as server:
        for target in (str(SERVER), server.url):
            with at_terminal("call", target, "endless", NO_COLOR="1") as terminal:
                terminal.wait_for("1 begun")
                terminal.type("\x03")
                assert terminal.finish() == 130
            assert terminal.shown.splitlines()[-1] == "leanmcp: interrupted"
            assert "Traceback" not in terminal.shown


LEGACY = """
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        info = {"name": "old", "version": "1"}
        send(id=number, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        send(id=number, result={"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        call = number
        send(id="q", method="elicitation/create", params={"message": "Who are you?", "requestedSchema": form})
    elif number == "q":
        text = json.dumps(message["result"], sort_keys=True)
        send(id=call, result={"content": [{"type": "text", "text": text}]})
    elif number is not None:
        send(id=number, error={"code": -32601, "message": "no"})
"""


def test_server_of_an_earlier_version_asks_in_its_own_way(tmp_path: Path) -> None:
    """Spec 2025-11-25: client/elicitation; the time limit of the call stands still while somebody types."""
    file = tmp_path / "old.py"
    file.write_text(LEGACY)
    options = ["--timeout", "1.5", "--mode", "legacy", "--", sys.executable, str(file)]
    with at_terminal("call", "ask", *options, NO_COLOR="1") as terminal:
        assert terminal.wait_for("name (text): ").startswith(f"{sys.executable} {file} asks:\n  Who are you?\n")
        terminal.dawdle(1.8)
        terminal.type("Anna\n")
        terminal.answer("Send it?", "y")
        assert terminal.finish() == 0
    assert terminal.shown.endswith('{"action": "accept", "content": {"name": "Anna"}}\n')


def test_login_is_shown_and_remembered(tmp_path: Path) -> None:
    """Ours: --login; nothing is opened by itself, and the token is kept for the next time."""

    async def main() -> None:
        async with world() as w:
            words = ("call", w.server.url, "x", "--login", "--mode", "2026-07-28")
            terminal, url = await asyncio.to_thread(log_in, words)
            answer = w.issuer.authorize(url)
            query = urlencode({"code": answer.code, "state": answer.state, "iss": w.issuer.issuer})
            back = f"{w.issuer.asked[-1]['redirect_uri']}?{query}"
            assert await asyncio.to_thread(visit, back) == 200
            assert await asyncio.to_thread(terminal.finish) == 2
            assert terminal.shown.endswith(f"leanmcp: no tool 'x' in {w.server.url}; it has no tools [LM614]\n")
            done = await asyncio.to_thread(lambda: leanmcp(*words, XDG_CONFIG_HOME=str(tmp_path)))
            assert done.stderr == f"leanmcp: no tool 'x' in {w.server.url}; it has no tools [LM614]\n"
            assert len(w.issuer.asked) == 1

    def log_in(words: tuple[str, ...]) -> tuple[Terminal, str]:
        terminal = stack.enter_context(at_terminal(*words, NO_COLOR="1", XDG_CONFIG_HOME=str(tmp_path)))
        terminal.answer("Open it in a browser?", "m")
        found = re.search(r"page: (\S+)", terminal.shown)
        assert found is not None
        return terminal, found[1]

    def visit(url: str) -> int:
        with urlopen(url, timeout=DEADLINE) as page:
            return int(page.status)

    with contextlib.ExitStack() as stack:
        asyncio.run(main())


def test_every_kind_of_field_takes_what_fits() -> None:
    """Spec: client/elicitation, "Requested Schema"."""
    schema = {
        "properties": {
            "mail": {"type": "string", "format": "email"},
            "day": {"type": "string", "format": "date"},
            "when": {"type": "string", "format": "date-time"},
            "web": {"type": "string", "format": "uri", "title": "Home page", "description": "Yours."},
            "name": {"type": "string", "minLength": 2},
            "size": {"type": "number", "minimum": 0.5},
            "yes": {"type": "boolean", "default": True},
            "colour": {
                "type": "string",
                "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}],
            },
            "old": {"type": "string", "enum": ["a", "b"], "enumNames": ["Alpha", "Beta"]},
            "many": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": ["x", "y", "z"]}},
            "titled": {
                "type": "array",
                "items": {"anyOf": [{"const": 1, "title": "One"}, {"const": 2, "title": "Two"}]},
                "default": [2],
            },
        },
        "required": ["mail", "name"],
    }
    fields = {field.name: field for field in fields_of(schema)}
    typed: dict[str, tuple[list[str], str, object]] = {
        "mail": (["x", "", "@x"], "a@b", "a@b"),
        "day": (["31.12."], "2026-12-31", "2026-12-31"),
        "when": (["noon"], "2026-12-31T12:00:00Z", "2026-12-31T12:00:00Z"),
        "web": (["example"], "https://e.com/", "https://e.com/"),
        "name": (["", "x"], "xy", "xy"),
        "size": (["0.1", "big", "true", '"1"'], "1.5", 1.5),
        "yes": (["maybe"], "No", False),
        "colour": (["blue", "3"], "green", "#0f0"),
        "old": (["c"], "beta", "b"),
        "many": (["w"], "1, z", ["x", "z"]),
        "titled": (["3"], "", [2]),
    }
    content: dict[str, object] = {}
    for name, (refused, taken, value) in typed.items():
        for text in refused:
            fault = fields[name].take(text, content)
            assert fault is not None, (name, text)
            assert fault.startswith(f"{name}: "), fault
            assert name not in content
        assert fields[name].take(taken, content) is None
        assert content[name] == value
    assert fields["web"].explained() == ["Home page: Yours."]
    assert fields["size"].prompt({}) == "size (number, at least 0.5, optional): "
    assert fields["yes"].prompt({}) == "yes (yes or no, optional) [yes]: "
    assert fields["titled"].prompt({}) == "titled (numbers, with commas between them, optional) [Two]: "
    assert fields["day"].prompt({}) == "day (YYYY-MM-DD, optional): "
