"""Everything that the README shows is run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import leanmcp
from leanmcp import checking, errors, explanations
from leanmcp.cli import COMMANDS, command_parser
from leanmcp.cli.installing_hosts import HOSTS
from leanmcp.cli.migrating_names import DIFFERENCES
from leanmcp.limits import DEFAULT_LIMITS
from leanmcp.listen import HTTPOptions
from tests.support import documents, llms, rounds
from tests.support.listening import listen, told
from tests.support.processes import (
    DEADLINE,
    ROOT,
    call,
    encode,
    environment,
    http,
    http_server,
    request,
    run_stdio,
    stdio_server,
)
from tests.support.spec import read
from tests.support.wire import ask

README = (ROOT / "README.md").read_text()
BLOCKS = [(found.language, found.text) for found in documents.blocks(README)]


def blocks(language: str) -> list[str]:
    """Return the README's code blocks in one language."""
    return [text for name, text in BLOCKS if name == language]


def block(language: str, part: str) -> str:
    """Return the one code block that holds a text."""
    [found] = [text for text in blocks(language) if part in text]
    return found


def section(heading: str) -> str:
    """Return what stands below a heading, down to the next one of its rank."""
    rank = heading.partition(" ")[0]
    assert f"\n{heading}\n" in README
    return re.split(rf"^#{{2,{len(rank)}}} ", README.partition(f"\n{heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def _block_with(text: str, tmp_path: Path) -> Path:
    """Write the one Python block that holds a text into a file."""
    file = tmp_path / "server.py"
    file.write_text(block("python", text))
    return file


def test_the_tools_that_ask_come_to_their_ends() -> None:
    """Ours: the section on questions to the user."""
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(block("python", "Resolve(ask_seats)"), "README.md", "exec", dont_inherit=True), names)
    reserve = rounds.play(names["mcp"], rounds.message("reserve", {"show": "Faust"}), rounds.accepted(count=2))
    assert rounds.text(reserve[-1]) == "2 seats at the front for Faust"
    for answer, said in (
        (rounds.accepted(sure=True), "They are given back"),
        (rounds.accepted(sure=False), "Nothing was done: accept"),
        (rounds.DECLINED, "Nothing was done: decline"),
    ):
        cancel = rounds.play(names["mcp"], rounds.message("cancel", {"show": "Faust"}), answer)
        assert rounds.text(cancel[-1]) == said


def test_the_policy_of_the_state_is_one() -> None:
    """Ours."""
    names: dict[str, Any] = {}
    exec(compile(block("python", "RequestStateSecurity("), "README.md", "exec", dont_inherit=True), names)
    assert names["mcp"].name == "Guarded questions"


@pytest.mark.parametrize(
    ("text", "arguments", "printed"),
    [
        ('MCPServer("Calculator")', ["add", "a=1", "b=2"], "3\n"),
        ('MCPServer("Bookshop")', ["find", "query=dune"], '[{"title":"Dune","year":1965}]\n'),
        ("async def lifespan(", ["add", "a=1", "b=2"], "3\n"),
        ('MCPServer("Export")', ["export", "rows=3"], "3 rows\n"),
    ],
)
def test_server_block_runs(tmp_path: Path, text: str, arguments: list[str], printed: str) -> None:
    """Ours: U29."""
    done = subprocess.run(
        [sys.executable, "-m", "leanmcp", "call", str(_block_with(text, tmp_path)), *arguments],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=environment(),
    )
    assert done.stdout == printed, done.stderr


def test_resource_block_runs(tmp_path: Path) -> None:
    """Ours: U29; what it says of books, catalog and shelf is what is read."""
    found = {
        "library://hours": "Monday to Friday, 9 to 18",
        "library://books/2": '{"title":"Momo","language":"de"}',
        "library://catalog?language=en": '["Dune"]',
        "library://shelf/notes.md": "# Notes",
    }
    refused = ["library://books/3", "library://books/x", "library://shelf/../notes.md"]
    file = _block_with("library://hours", tmp_path)
    messages = [request("resources/read", {"uri": uri}, uri) for uri in [*found, *refused]]
    answers, log, exit_code = run_stdio(file, b"".join(encode(message) + b"\n" for message in messages))
    by_id = {answer["id"]: answer for answer in answers}
    assert {uri: by_id[uri]["result"]["contents"][0]["text"] for uri in found} == found
    assert [by_id[uri]["error"]["code"] for uri in refused] == [-32602] * 3
    assert (log, exit_code) == ("", 0)


def test_prompt_block_runs(tmp_path: Path) -> None:
    """Ours: U29; every value that it completes gets the prompt."""
    file = _block_with("@mcp.prompt", tmp_path)
    review = {"type": "ref/prompt", "name": "review"}
    asked = [("language", "ty"), ("framework", "f"), ("focus", "")]
    messages = [
        request("completion/complete", {"ref": review, "argument": {"name": name, "value": value}}, name)
        for name, value in asked
    ]
    messages.append(request("prompts/get", {"name": "review", "arguments": {"code": "x = 1", "limit": "3"}}, "get"))
    answers, log, exit_code = run_stdio(file, b"".join(encode(message) + b"\n" for message in messages))
    results = {answer["id"]: answer["result"] for answer in answers}
    assert {name: results[name]["completion"]["values"] for name, _ in asked} == {
        "language": ["typescript"],
        "framework": ["flask"],
        "focus": ["bugs", "speed", "style"],
    }
    texts = [message["content"]["text"] for message in results["get"]["messages"]]
    assert texts[:2] == ["Look for bugs in this python code, 3 findings at most.", "x = 1"]
    assert (log, exit_code) == ("", 0)


def test_changes_block_runs(tmp_path: Path) -> None:
    """Ours: U29; the update is told on the stream that asked for it."""
    file = _block_with("def warm(", tmp_path)
    uri = "home://hall/degrees"
    messages = [listen("changes", uris=[uri]), call("warm", {"by": 0.5}, "warm")]
    with stdio_server(file) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"".join(encode(message) + b"\n" for message in messages))
        process.stdin.flush()
        received = [read(process.stdout.readline()) for _ in range(3)]
    assert received[0]["params"]["notifications"] == {"resourceSubscriptions": [uri]}
    assert told(received) == [("changes", uri)]
    [answer] = [message for message in received if "id" in message]
    assert answer["result"]["structuredContent"] == {"result": 20.5}


def test_depends_block_runs(tmp_path: Path) -> None:
    """Ours: U29; a value, and a refusal in the words of a dependency."""
    file = _block_with("Depends(database)", tmp_path)
    messages = [call("note", {"owner": owner, "text": "x"}, owner) for owner in ("anna", "mallory")]
    answers, log, exit_code = run_stdio(file, b"".join(encode(message) + b"\n" for message in messages))
    results = {answer["id"]: answer["result"] for answer in answers}
    assert results["anna"]["structuredContent"] == {"result": 1}
    assert results["mallory"]["content"][0]["text"] == "owner: give anna or bert"
    assert (log, exit_code) == ("", 0)


def test_middleware_block_runs(tmp_path: Path) -> None:
    """Ours: U29; values reach a `def` tool, and a trace comes from `_meta`."""
    traced = call("whoami", {}, 1)
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    traced["params"]["_meta"] = {**traced["params"]["_meta"], "traceparent": f"00-{trace_id}-00f067aa0ba902b7-01"}
    with http_server(_block_with("middleware=[sign_in]", tmp_path)) as server:
        assert ask(server.port, http(call("whoami"), x_user="anna")).text == "anna, whoami, no trace"
        assert ask(server.port, http(traced)).text == f"guest, whoami, {trace_id}"
        assert ask(server.port, http(call("whoami"), x_user="mallory")).code == 403


def run_program(text: str, tmp_path: Path, port: int = 8000) -> str:
    """Run the Python block that holds a text as a program, against a server on this port; return what it printed."""
    file = _block_with(text, tmp_path)
    file.write_text(file.read_text().replace("127.0.0.1:8000", f"127.0.0.1:{port}"))
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=DEADLINE, env=environment(), cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_client_script_calls_the_bookshop(tmp_path: Path) -> None:
    """Ours: U29; the server that the README's first command starts."""
    with http_server("examples/bookshop/server.py") as server:
        printed = run_program("client.tools()", tmp_path, server.port)
    assert printed.startswith("search_books\nadd_book\ncheck_stock\nFound 3 books matching 'dune'")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("leanmcp.schema.compile", "True\nlimit: Input should be less than or equal to 50, got 500\n"),
        ("elicitation_callback=", "pack asks: Pack 2 boxes?\n1 of 2: packing\n2 of 2: packing\n2 boxes\n"),
        ("client.listen(", "21.5\n"),
        ("ClientGroup(", "['books.search', 'films.search']\n5 hits for dune\n{}\n"),
        ("with SyncClient(mcp)", "3\n"),
    ],
)
def test_program_block_prints_what_it_says(tmp_path: Path, text: str, printed: str) -> None:
    """Ours: U29."""
    assert run_program(text, tmp_path) == printed


def test_trust_block_asks_logs_and_pins(tmp_path: Path) -> None:
    """Ours: U29; the line of the audit log has the members that the README shows."""
    printed = run_program("Policy(ask", tmp_path)
    assert printed.endswith(
        "lend {'title': 'Dune', 'card_number': '4711'}\nDune is yours for three weeks.\n",
    )
    written = msgspec.json.decode((tmp_path / "audit.jsonl").read_bytes())
    shown = msgspec.json.decode(block("text", "duration_ms").replace("\n", ""))
    assert written.keys() == shown.keys()
    varying = ("time", "duration_ms", "result")
    assert [written[name] for name in shown if name not in varying] == [
        shown[name] for name in shown if name not in varying
    ]
    assert (tmp_path / "pins.json").exists()


def test_errors_of_the_client_table_exist() -> None:
    """Ours: every error that a client can meet has a row, in the order that the README says."""
    section = README.partition("## Client")[2].partition("### ")[0]
    rows = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `") and "Client(" not in row]
    named = [getattr(errors, name) for row in rows for name in re.findall(r"`(\w+)`", row) if hasattr(errors, name)]
    transport = [kind for kind in named if issubclass(kind, errors.TransportError)]
    assert named[: len(transport)] == transport
    everything = {
        kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__module__ == errors.__name__
    }
    of_transport = {kind for kind in everything if issubclass(kind, errors.TransportError)}
    assert set(transport) == of_transport - {errors.TransportError}
    assert {errors.VersionMismatch, errors.InvalidResult, errors.RoundLimit} < set(named)
    assert all(issubclass(kind, errors.MCPError) for kind in named)


def test_every_example_has_a_row() -> None:
    """Ours."""
    section = README.partition("## Examples")[2].partition("## ")[0]
    named = {name for row in section.splitlines() for name in re.findall(r"^\| `(\w+)`", row)}
    assert named == {path.name for path in (ROOT / "examples").iterdir() if any(path.glob("*.py"))}


def test_layout_is_the_tree() -> None:
    """Ours: each path is there, and each package and module of the library is named."""
    library = ROOT / "leanmcp"
    named = re.findall(r"`([\w./]+)`", section("## Layout"))
    assert [name for name in named if not (ROOT / name).exists() and not (library / name).exists()] == []
    packages = {f"{path.parent.name}/" for path in library.glob("*/__init__.py")}
    modules = {path.name for path in library.glob("[!_]*.py")}
    assert packages | modules <= set(named)


def test_first_server_is_called_by_the_command_below_it() -> None:
    """Ours: U1, install, write a file, call."""
    command = re.search(r"`leanmcp (call server\.py [^`]+)`", README)
    assert command is not None
    assert command[1] == "call server.py add a=1 b=2"


def test_start_command_and_curl_work() -> None:
    """Ours: the first command's server answers the README's curl (U7)."""
    start, curl = block("sh", "leanmcp run examples"), block("sh", "curl http")
    served = re.search(r"&& \.venv/bin/leanmcp run (\S+) --http$", start.strip())
    assert served is not None
    with http_server(served[1]) as process:
        command = shlex.split(curl.replace("127.0.0.1:8000", f"127.0.0.1:{process.port}").replace("\\\n", " "))
        assert command[0] == "curl"
        done = subprocess.run([*command, "-s"], capture_output=True, text=True, timeout=DEADLINE)
        answer = read(done.stdout.encode())
    assert answer["result"]["structuredContent"]["result"].startswith("Found 3 books matching 'dune'")
    assert re.search(r"&& \.venv/bin/python -m pytest -n \d$", block("sh", "-m pytest").strip())


def test_host_configuration_starts_the_bookshop() -> None:
    """Ours: the mcp.json snippet, with the paths of this clone."""
    entry = msgspec.json.decode(block("json", "mcpServers"))["mcpServers"]["bookshop"]
    assert entry["command"].endswith("/.venv/bin/leanmcp")
    arguments = [argument.replace("/path/to/leanmcp", str(ROOT)) for argument in entry["args"]]
    done = subprocess.run(
        [sys.executable, "-m", "leanmcp", *arguments],
        input=encode(call("search_books", {"query": "dune"})) + b"\n",
        capture_output=True,
        timeout=DEADLINE,
        env=environment(),
    )
    assert read(done.stdout)["result"]["isError"] is False


def test_ci_runs_the_second_command() -> None:
    """Ours: what CI runs is what a person runs."""
    ci = (ROOT / ".ci" / "run").read_text()
    parts = block("sh", "-m pytest").strip().split(" && ")
    for part in parts:
        name = part.removeprefix(".venv/bin/").split()[0]
        assert name in ci
    assert ci.rstrip().splitlines()[-1] == parts[-1]
    assert parts[-1].startswith(".venv/bin/python -m pytest ")


def test_limits_table_is_true() -> None:
    """Ours: every limit is named in the README, with its default."""
    section = README.partition("## Limits and defaults")[2].partition("## ")[0]
    shown = {
        name for row in section.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1] if "|" in row else "")
    }
    assert shown == set(DEFAULT_LIMITS.__struct_fields__)
    assert "| `max_depth`, `max_elements` | 512, 1,000,000 |" in section


@pytest.mark.parametrize("heading", ["## Test your server", "## Check a server", "## When something is wrong"])
def test_section_does_what_it_says(heading: str, tmp_path: Path) -> None:
    """Ours: U28, U29; its files are written, its commands typed, and what they print is compared."""
    documents.Desk(tmp_path).follow(section(heading))


def test_outline_leads_to_every_section() -> None:
    """Ours: the list at the top, whose links are headings."""
    outline = README.partition("\n## ")[0]
    links = re.findall(r"\]\(#([\w-]+)\)", outline)
    headings = [llms.anchor(found) for found in re.findall(r"^###? (.+)$", README, re.MULTILINE)]
    assert sorted(links) == sorted(set(headings))


def test_links_lead_somewhere() -> None:
    """Ours: files of the repository, and headings."""
    headings = {llms.anchor(found) for found in re.findall(r"^##+ (.+)$", README, re.MULTILINE)}
    for target in re.findall(r"\]\(([^)\s]+)\)", README):
        assert target.removeprefix("#") in headings if target.startswith("#") else (ROOT / target).exists(), target


def test_differences_are_those_of_the_command() -> None:
    """Ours: U30; the list of `leanmcp migrate --differences`."""
    shown = section("## Moving from the official SDK").partition("`leanmcp migrate --differences`):\n\n")[2]
    entries = [" ".join(entry.split()) for entry in re.split(r"^- ", shown, flags=re.MULTILINE)[1:]]
    assert entries == list(DIFFERENCES)


def test_commands_and_their_options_exist() -> None:
    """Ours: every command line that the README shows, in blocks and in sentences; and each command is shown."""
    typed = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL))
    typed += [line for name in ("sh", "console") for text in blocks(name) for line in text.splitlines()]
    shown = [found for line in typed for found in re.findall(r"(?:^|/|\$ |\()leanmcp ([a-z]+)\b([^#;|>&]*)", line)]
    for command, words in shown:
        known = command_parser(command)[0].format_help()
        for option in re.findall(r"(?<!\S)--[a-z][\w-]*", re.split(r" -- ", words)[0]):
            assert re.search(rf"{option}\b", known), (command, option)
    verbs = re.findall(r"`(\w+)`", section("## Command line").partition("```")[0])
    assert {command for command, _ in shown} | set(verbs) == set(COMMANDS)


@pytest.mark.parametrize("part", ["leanmcp install", "leanmcp migrate"])
def test_commands_that_write_files_succeed(part: str, tmp_path: Path) -> None:
    """Ours: U29; in a home of their own, one after the other."""
    desk = documents.Desk(tmp_path)
    (desk.folder / "server.py").write_text(blocks("python")[0])
    for name in ("src", "tests"):
        (desk.folder / name).mkdir()
        (desk.folder / name / "old.py").write_text("from mcp.server.fastmcp import FastMCP\n")
    lines = [line.partition("  #")[0].rstrip() for line in block("sh", part).splitlines()]
    desk.follow("".join(f"```console\n$ API_KEY=x {line} && echo done\n...\ndone\n```\n" for line in lines))
    assert (desk.folder / "mcp.json").exists() == (part == "leanmcp install")
    assert ("leanmcp" in (desk.folder / "src" / "old.py").read_text()) == (part == "leanmcp migrate")


def test_hosts_are_those_of_the_command() -> None:
    """Ours: with the file of a project where there is one."""
    rows = re.findall(r"^\| `([\w-]+)` \| .+ \| `?([^|`]+)`? \| (\w+)", section("### Hosts"), re.MULTILINE)
    assert [(name, project.strip(), url) for name, project, url in rows] == [
        (name, host.project or "no", "no" if host.url is None else "yes") for name, host in HOSTS.items()
    ]


def test_codes_exist() -> None:
    """Ours: U10; those that are named, and the groups of messages."""
    pages = set(explanations.PAGES)
    assert set(re.findall(r"\bLM\d{3}\b", README)) <= pages
    assert set(re.findall(r"\bLC\d{3}\b", README)) <= {rule.id for rule in checking.RULES}
    assert set(re.findall(r"\bLM\d(?= )", section("## When something is wrong"))) == {code[:3] for code in pages}


def test_what_is_not_supported_is_not_there() -> None:
    """Ours: the section is mended when one of these comes."""
    assert not {"inspect", "serve"} & COMMANDS.keys()
    for name in ("streamable_http_app", "asgi", "custom_route", "authorize"):
        assert not hasattr(leanmcp.MCPServer, name)
    assert not {"workers", "auth"} & set(HTTPOptions.__struct_fields__)


def test_readme_and_changelog_know_the_version() -> None:
    """Ours: the changelog has a section for this version."""
    assert f"## {leanmcp.__version__}" in (ROOT / "CHANGELOG.md").read_text()
