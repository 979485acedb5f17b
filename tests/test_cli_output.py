"""What the commands print: text, JSON, files; data on standard output, everything else on standard error."""

from __future__ import annotations

import asyncio
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp.cli.faults import UsageError
from leanmcp.cli.saving import Folder
from leanmcp.cli.screen import Screen
from leanmcp.cli.showing import Shower
from leanmcp.cli.target import Target
from leanmcp.cli.terminal import clean, escape_json, line
from leanmcp.cli.wording import explain
from leanmcp.errors import CannotConnect, ConnectionLost, InvalidResult, RoundLimit, ToolError, Unauthorized
from leanmcp.logs import clipped
from leanmcp.oauth import OAuthFlowError
from leanmcp.types import BlobResourceContents, CallToolResult, ImageContent, ResourceLink, TextContent
from tests.support.processes import DEADLINE, ROOT, environment
from tests.support.shell import leanmcp

SERVER = ROOT / "tests" / "fixtures" / "shell.py"


def _json(*words: str | Path) -> Any:
    done = leanmcp(*words, "--json")
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout)


def test_json_has_the_documented_shapes() -> None:
    """Ours: U20, README "The command line"."""
    called = _json("call", SERVER, "add", "a=1")
    assert called.pop("_meta").keys() == {"io.modelcontextprotocol/serverInfo"}
    assert called == {
        "content": [{"type": "text", "text": "2"}],
        "structuredContent": {"result": 2},
        "isError": False,
    }
    assert _json("read", SERVER, "lib://logo")["contents"] == [
        {"uri": "lib://logo", "blob": "iVBORwD/", "mimeType": "image/png"}
    ]
    prompted = _json("prompt", SERVER, "review", "code=x")
    assert {name: prompted[name] for name in ("messages", "description")} == {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Review x in python."}}],
        "description": "Review code.",
    }
    assert _json("complete", SERVER, "review", "language=p")["values"] == ["python"]
    listed = _json("list", SERVER)
    assert list(listed) == ["server", "protocolVersion", "tools", "resources", "resourceTemplates", "prompts"]
    assert listed["server"]["name"] == "demo"
    assert listed["tools"][0]["inputSchema"]["required"] == ["a"]
    assert [entry["uriTemplate"] for entry in listed["resourceTemplates"]] == ["lib://books/{number}"]
    assert list(_json("list", SERVER, "prompts")) == ["server", "protocolVersion", "prompts"]
    found = _json("discover", SERVER)
    assert list(found) == ["server", "protocolVersion", "supportedVersions", "capabilities", "instructions"]


def test_json_of_a_failure_is_data_too() -> None:
    """Ours: exit code 1, the result on standard output."""
    done = leanmcp("call", SERVER, "fail", "why=no", "--json")
    shown = msgspec.json.decode(done.stdout)
    assert (done.returncode, done.stderr) == (1, "")
    assert (shown["content"], shown["isError"]) == ([{"type": "text", "text": "no"}], True)


FOREIGN = """
from leanmcp import MCPServer
mcp = MCPServer("日本", instructions="日本")

@mcp.tool(structured_output=True)
def greet(name: str = "日本", why: str = "") -> dict[str, str]:
    "日本: weiter."
    return {"name": name, "🎉": why}

@mcp.prompt
def ask(about: str = "日本") -> str:
    "日本."
    return f"日本 {about}"

@mcp.completion("ask", "about")
def complete(value: str) -> list[str]:
    return ["日本"]

@mcp.resource("lib://日本", description="日本")
def read() -> str:
    return "日本"
"""
NARROW = [
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "ascii:strict"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.parametrize("variables", NARROW)
def test_no_output_is_too_narrow_for_a_text(tmp_path: Path, variables: dict[str, Any]) -> None:
    """Ours: U24; what an encoding has no bytes for is escaped, in JSON as JSON does."""
    file = tmp_path / "server.py"
    file.write_text(FOREIGN)
    (tmp_path / "old.py").write_text("from mcp import Client  # 日本\n")
    commands: list[list[str | Path]] = [
        ["list", file],
        ["list", file, "tools", "--verbose"],
        ["call", file, "greet"],
        ["prompt", file, "ask"],
        ["read", file, "lib://日本"],
        ["discover", file],
        ["complete", file, "ask", "about="],
        ["check", file],
        ["migrate", tmp_path / "old.py"],
        ["install", "json", file],
    ]
    for command in commands:
        for json in (["--json"], []):
            done = leanmcp(*command, *json, cwd=tmp_path, **variables)
            assert (done.returncode in (0, 1), "Error" in done.stderr) == (True, False), (command, done.stderr)
            assert done.stdout.isascii() or (command[0], json) == ("read", []), command  # its bytes as they are
            assert not json or msgspec.json.decode(done.stdout), command
    assert msgspec.json.decode(leanmcp("call", file, "greet", **variables).stdout)["name"] == "日本"
    assert "  \\u65e5\\u672c: weiter.\n" in leanmcp("list", file, **variables).stdout


def test_what_a_server_in_this_process_prints_is_no_data() -> None:
    """Ours: print and file descriptor 1 lead to standard error while a tool runs."""
    done = leanmcp("call", SERVER, "add", "a=1")
    assert done.stdout == "2\n"
    assert sorted(done.stderr.splitlines()) == ["printed by the tool", "written by the tool"]


def test_progress_is_a_line_each_where_there_is_no_terminal() -> None:
    """Ours: U24."""
    done = leanmcp("call", SERVER, "steps", "count=2")
    assert (done.stdout, done.stderr) == ("done\n", "progress 1/2 step 1\nprogress 2/2 step 2\n")


def test_blocks_are_described() -> None:
    """Ours: no bytes on standard output."""
    done = leanmcp("call", SERVER, "media")
    assert done.stdout.splitlines() == [
        "look",
        "[image image/png, 4 bytes; --output FOLDER saves it]",
        "[audio audio/wav, 4 bytes; --output FOLDER saves it]",
        "[link file:///x/y.txt y (text/plain, 12 bytes)] A file.",
        "[resource lib://a/../notes.md]",
        "# Hi",
    ]


def test_files_are_saved_under_harmless_names(tmp_path: Path) -> None:
    """Ours: --output; nothing that is there already is overwritten."""
    folder = tmp_path / "out"
    for number in ("", "-2"):
        done = leanmcp("call", SERVER, "media", "--output", folder)
        assert done.stdout.splitlines()[1] == f"[image image/png, 4 bytes: {folder}/media{number}.png]"
    assert sorted(path.name for path in folder.iterdir()) == [
        "media-2.png",
        "media-2.wav",
        "media.png",
        "media.wav",
        "notes-2.md",
        "notes.md",
    ]
    assert (folder / "media.png").read_bytes() == b"\x00\x01\x02\xff"
    shown = _json("call", SERVER, "media", "--output", folder)
    assert shown["content"][1] == {"type": "image", "mimeType": "image/png", "file": f"{folder}/media-3.png"}


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("file:///a/b.txt?x=1#y", "b.txt"),
        ("../../etc/passwd", "passwd.bin"),
        ("..", "file.bin"),
        ("http://h/", "h.bin"),
        ("a\\..\\c:d é", "c-d.bin"),
        (".bashrc", "bashrc.bin"),
        ("x" * 300, "x" * 80 + ".bin"),
        ("\x1b[31m", "31m.bin"),
    ],
)
def test_names_of_strangers_lead_nowhere_else(tmp_path: Path, name: str, saved: str) -> None:
    """Ours: the last part of a name, of letters that no shell and no file system minds."""
    assert Folder(str(tmp_path)).save(b"x", name, "application/x-unknown") == str(tmp_path / saved)


def test_links_are_not_followed_when_files_are_saved(tmp_path: Path) -> None:
    """Ours: a link with the name of a file does not decide where the file goes."""
    outside = tmp_path / "outside.txt"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").symlink_to(outside)
    assert Folder(str(tmp_path / "in")).save(b"x", "a.txt", "text/plain").endswith("a-2.txt")
    assert not outside.exists()


def test_structured_content_is_shown_where_the_text_does_not_say_it() -> None:
    """Ours: a summary is followed by the whole."""
    done = leanmcp("call", SERVER, "table")
    assert done.stdout == '2 rows\n{\n  "rows": [\n    1,\n    2\n  ]\n}\n'


@pytest.mark.parametrize(
    ("texts", "structured", "told"),
    [
        (["2"], {"result": 2}, True),
        (["two"], {"result": "two"}, True),
        (['{"a": 1}'], {"a": 1}, True),
        (["1", "x"], {"result": [1, "x"]}, True),
        (["a", "b"], {"result": "a\nb"}, True),
        ([], {"result": None}, True),
        (["1 row"], {"rows": [1]}, False),
        ([], {"a": 1}, False),
        (["1"], 2, False),
    ],
)
def test_structured_content_is_shown_once(texts: list[str], structured: Any, told: bool) -> None:
    """Ours: text that is its JSON, or its one value, or an item each, says it already."""
    screen = Screen()
    screen.out = io.StringIO()
    content: list[Any] = [TextContent(text=text) for text in texts]
    Shower(screen, None, "x").result(CallToolResult(content=content, structured_content=structured))
    shown = "".join(f"{text}\n" for text in texts)
    if not told:
        shown += msgspec.json.format(msgspec.json.encode(structured), indent=2).decode() + "\n"
    assert screen.out.getvalue() == shown


def test_odd_blocks_are_shown_as_what_they_are() -> None:
    """Ours: blocks of other revisions, data that is none, bytes of one."""
    shower = Shower(Screen(), None, "x")
    assert shower.block({"type": "hologram", "size": 3}) == '[hologram] {"type":"hologram","size":3}'
    assert shower.block(ImageContent(data="%", mime_type="image/png")) == "[image image/png: no valid base64]"
    assert shower.block(ResourceLink(uri="a:b", name="n")) == "[link a:b n]"
    blob = BlobResourceContents(uri="a:b", blob="AA==")
    assert shower.contents(blob) == "[resource a:b, 1 byte; --output FOLDER saves it]"


def test_read_writes_bytes_where_they_are_welcome(tmp_path: Path) -> None:
    """Ours: `leanmcp read ... > file` is the file."""
    command = [sys.executable, "-m", "leanmcp", "read", str(SERVER), "lib://logo"]
    done = subprocess.run(command, capture_output=True, timeout=DEADLINE, env=environment(), stdin=subprocess.DEVNULL)
    assert done.stdout == b"\x89PNG\x00\xff"
    done_text = leanmcp("read", SERVER, "lib://logo", "--output", tmp_path)
    assert done_text.stdout == f"[resource lib://logo image/png, 6 bytes: {tmp_path}/logo.png]\n"


def test_arguments_come_from_files_and_standard_input(tmp_path: Path) -> None:
    """Ours: name=@file, name:=@file, @file, --args, - for standard input, @@ for a text with an @."""
    (tmp_path / "text.txt").write_text("from a file\n")
    (tmp_path / "tags.json").write_text('["x", "y"]')
    (tmp_path / "all.json").write_text('{"text": "all", "loud": true}')
    say: list[str | Path] = ["call", SERVER, "say"]
    for words, stdin, printed in (
        (["text=@text.txt"], b"", "'from a file\\n' None None False"),
        (["text=a", "tags:=@tags.json"], b"", "'a' ['x', 'y'] None False"),
        (["@all.json", "text=b"], b"", "'b' None None True"),
        (["--args", "@all.json"], b"", "'all' None None True"),
        (["--args", '{"text": "c"}', "loud=true"], b"", "'c' None None True"),
        (["--args", "-"], b'{"text": "stdin"}', "'stdin' None None False"),
        (["text=@-"], b"typed", "'typed' None None False"),
        (["text=@@anna"], b"", "'@anna' None None False"),
    ):
        done = leanmcp(*say, *words, cwd=tmp_path, stdin=stdin)
        assert (done.stdout, done.stderr) == (printed + "\n", "")


def test_discovery_is_a_table() -> None:
    """Ours: what a server says of itself, its instructions with their lines."""
    assert leanmcp("discover", SERVER).stdout.splitlines() == [
        "server        demo 2.0",
        "about         For tests.",
        "protocol      2026-07-28 (of 2026-07-28)",
        "can do        tools (listChanged), resources (subscribe, listChanged), prompts (listChanged), completions",
        "instructions  Be nice.",
        "              Be quick.",
    ]


def test_a_version_that_was_fixed_is_spoken_without_asking() -> None:
    """Ours: --mode; what the server can do is asked where a command needs it."""
    done = leanmcp("list", SERVER, "prompts", "--mode", "2026-07-28")
    assert (done.returncode, done.stdout) == (0, "prompts\n  review(code, language?)  Review code.\n")


def test_empty_server_is_told(tmp_path: Path) -> None:
    """Ours: on standard error; there is no data."""
    (tmp_path / "server.py").write_text("from leanmcp import MCPServer\nmcp = MCPServer('bare')\n")
    done = leanmcp("list", "server.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    told = "bare has no tools, resources, templates, prompts; register some at the top level of its file\n"
    assert done.stderr == told
    done = leanmcp("call", "server.py", "x", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "leanmcp: no tool 'x' in server.py; it has no tools [LM614]\n")


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (BaseExceptionGroup("g", [ExceptionGroup("h", [Unauthorized("no", "u", 401)])]), 4, "no"),
        (UsageError("x"), 2, "x"),
        (asyncio.CancelledError(), 130, "interrupted"),
        (ToolError("x"), 1, "x"),
        (OAuthFlowError("log in again"), 4, "log in again"),
        (RoundLimit("too often"), 1, "too often"),
        (InvalidResult("bad"), 3, "there: bad"),
        (ConnectionLost("x y exited; restart=True would start it again for the next request"), 3, "x y exited"),
        (CannotConnect("x: give command='node', args=['a b.js']"), 3, "x: write `-- node 'a b.js'`"),
        (CannotConnect("x; give command='/bin/python'"), 3, "x; write /bin/python"),
        (KeyError("x"), 1, "a mistake inside of leanmcp, please report it: KeyError: 'x'"),
    ],
)
def test_every_error_is_a_line_and_an_exit_code(error: BaseException, code: int, text: str) -> None:
    """Ours: U11 and U13; never an exception group, and no advice for programs."""
    assert explain(error, Target(None, "there"), False) == (code, text)


def test_verbose_tells_whom_it_talks_to() -> None:
    """Ours: -v, on standard error."""
    done = leanmcp("call", SERVER, "say", "text=x", "-v")
    assert done.stderr.splitlines()[0] == f"connected to {SERVER} (demo 2.0), protocol 2026-07-28"
    assert "      Add two numbers.\n" in leanmcp("list", SERVER, "-v").stdout


def test_what_is_piped_is_as_it_came_and_what_is_noted_is_clean() -> None:
    """Ours: data is data; a name or an error text never is."""
    assert leanmcp("call", SERVER, "evil").stdout == "a\x1b]0;title\x07b\u202ec\n"
    done = leanmcp("call", SERVER, "fail", "why=a\x1b[2Jb")
    assert done.stderr == "a\\x1b[2Jb\n"


@pytest.mark.parametrize(
    "text", ["\x1b[31m", "\x9b31m", "\x07", "\r", "a\x08b", "\x7f", "\u202e", "\u200f", "\U000e0041"]
)
def test_control_characters_are_shown_instead_of_obeyed(text: str) -> None:
    """Ours: in texts and in JSON, which still says the same."""
    assert text not in clean(text)
    assert clean(text).isprintable()
    encoded = msgspec.json.encode(text).decode()
    assert escape_json(encoded).isprintable()
    assert msgspec.json.decode(escape_json(encoded)) == text


def test_lines_are_clipped_only_where_they_must_be() -> None:
    """Ours: U24, piped lines are never wrapped or cut."""
    assert clean("a\r\nb\tc\n") == "a\nb\tc\n"
    assert line(" a\n  b\x1b ") == "a b\\x1b"
    assert clipped("abcdefgh", 6) == "abc..."
    assert clipped("abcdefgh", None) == clipped("abcdefgh", 8) == "abcdefgh"
    long = leanmcp("list", SERVER, "tools").stdout
    assert "loud: boolean = false)  Say something.\n" in long


def test_colours_follow_the_conventions() -> None:
    """Ours: none where nobody sees them, unless FORCE_COLOR asks; NO_COLOR is stronger."""
    assert "\x1b" not in leanmcp("list", SERVER).stdout
    assert leanmcp("list", SERVER, FORCE_COLOR="1").stdout.startswith("\x1b[1mtools\x1b[0m\n")
    assert "\x1b" not in leanmcp("list", SERVER, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_reader_that_leaves_is_no_mistake() -> None:
    """Ours: `leanmcp list ... | head -1`, in process and not."""
    for target in (str(SERVER), f"-- {sys.executable} -m leanmcp run {SERVER}"):
        command = f"{sys.executable} -m leanmcp list --json {target} --env PYTHONPATH={ROOT} | true"
        if target.startswith("--"):
            command = f"{sys.executable} -m leanmcp list --json --env PYTHONPATH={ROOT} {target} | true"
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, timeout=DEADLINE, env=environment(), cwd=ROOT
        )
        assert done.stderr == ""


@pytest.mark.parametrize("words", ["list {server}", "call {server} add a=1", "list -- {run} {server}", "--help"])
def test_output_that_cannot_be_written_is_told(words: str) -> None:
    """Ours: a full disk, and closed streams; no traceback."""
    filled = words.format(server=SERVER, run=f"{sys.executable} -m leanmcp run").replace(
        " --", f" --env PYTHONPATH={ROOT} --"
    )
    command = f"{sys.executable} -m leanmcp {filled if words != '--help' else words}"
    for stream, code, said in (
        (">/dev/full", 1, "leanmcp: the output cannot be written: No space left on device [LM618]"),
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("<&-", 0, ""),
    ):
        done = subprocess.run(
            f"{command} {stream}", shell=True, capture_output=True, text=True, timeout=DEADLINE, env=environment()
        )
        errors = [line for line in done.stderr.splitlines() if "by the tool" not in line]
        assert (done.returncode, "\n".join(errors)) == (code, said), (stream, done.stdout)


def test_readme_shows_what_happens(tmp_path: Path) -> None:
    """Ours: U29, README "Command line"."""
    readme = (ROOT / "README.md").read_text()
    (tmp_path / "server.py").write_text(re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[0])
    sessions: list[str] = re.findall(r"^```console\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    [session] = [text for text in sessions if "leanmcp list" in text]
    commands = session.split("$ leanmcp ")[1:]
    assert len(commands) == 4
    for text in commands:
        typed, _, shown = text.partition("\n")
        words = shlex.split(typed)
        if "--" in words:
            words[words.index("--") :] = ["--env", "PYTHONPATH", "--", sys.executable, *words[words.index("--") + 2 :]]
        done = leanmcp(*words, cwd=tmp_path)
        assert done.stdout + done.stderr == shown
