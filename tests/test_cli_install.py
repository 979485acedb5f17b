"""`leanmcp install`: a server in the settings of a host, and nothing else in them touched."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import msgspec
import pytest

from leanmcp.cli.config import find_entry
from leanmcp.cli.installing_hosts import HOSTS, user_file
from tests.support.processes import call, encode, environment
from tests.support.shell import at_terminal, leanmcp

SERVER = """
from leanmcp import MCPServer
mcp = MCPServer("My demo")

@mcp.tool
def one() -> int:
    "One."
    return 1
"""
URL = "https://example.com/mcp"


class Home:
    """A user with a project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir()
        self.server = self.project / "server.py"
        self.server.write_text(SERVER)

    def install(self, *words: str, **variables: str) -> CompletedProcess[str]:
        """Run the command in the project."""
        homes = {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / ".config")}
        return leanmcp("install", *words, cwd=self.project, stdin=None, **(homes | variables))

    def file(self, host: str) -> Path:
        """Return where a host keeps its servers on Linux."""
        places = {
            "claude-desktop": ".config/Claude/claude_desktop_config.json",
            "claude-code": ".claude.json",
            "cursor": ".cursor/mcp.json",
            "vscode": ".config/Code/User/mcp.json",
            "windsurf": ".codeium/windsurf/mcp_config.json",
            "gemini-cli": ".gemini/settings.json",
        }
        return self.folder / places[host]

    @property
    def command(self) -> dict[str, Any]:
        """The entry of the server."""
        arguments = ["-m", "leanmcp", "run", str(self.server), "--transport", "stdio"]
        return {"command": sys.executable, "args": arguments}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def _content(path: Path) -> Any:
    return msgspec.json.decode(path.read_bytes())


# --- hosts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_a_server_is_added_where_the_host_looks(home: Home, host: str) -> None:
    """Ours: U25; in a file that only its owner can read, for variables may be secrets."""
    done = home.install(host, "server.py", "--env", "KEY=secret")
    path = home.file(host)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (f"leanmcp: 'My-demo' added to {path}; {HOSTS[host].title} knows it when it starts again\n")
    typed = {"type": "stdio"} if host in ("vscode", "claude-code") else {}
    servers = "servers" if host == "vscode" else "mcpServers"
    assert _content(path) == {servers: {"My-demo": typed | home.command | {"env": {"KEY": "secret"}}}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("host", "entry"),
    [
        ("claude-code", {"type": "http", "url": URL}),
        ("cursor", {"url": URL}),
        ("vscode", {"type": "http", "url": URL}),
        ("windsurf", {"serverUrl": URL}),
        ("gemini-cli", {"httpUrl": URL}),
    ],
)
def test_a_url_is_added_in_the_words_of_the_host(home: Home, host: str, entry: dict[str, str]) -> None:
    """Ours: hosts call it url, serverUrl or httpUrl."""
    done = home.install(host, URL, "--header", "Authorization: Bearer secret")
    assert (done.returncode, "secret" in done.stderr) == (0, False)
    servers = _content(home.file(host))["servers" if host == "vscode" else "mcpServers"]
    assert servers == {"example-com": entry | {"headers": {"Authorization": "Bearer secret"}}}


def test_a_host_that_takes_no_url_says_where_to_add_it(home: Home) -> None:
    """Ours: U10."""
    done = home.install("claude-desktop", URL)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "leanmcp: Claude Desktop takes no URL from its file; add it under Settings > Connectors"
    )
    assert not home.file("claude-desktop").exists()


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("darwin", "~/Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "/roaming/Claude/claude_desktop_config.json"),
        ("linux", "~/.config/Claude/claude_desktop_config.json"),
    ],
)
def test_each_system_has_its_folder(platform: str, place: str) -> None:
    """Ours: as the host's own page names them."""
    found = user_file(HOSTS["claude-desktop"], platform, {"APPDATA": "/roaming"})
    assert found == os.path.expanduser(place)


def test_only_absolute_folders_are_written_to(home: Home) -> None:
    """Ours: XDG Base Directory Specification, "such a path is to be ignored"; without a home there is no file."""
    done = home.install("vscode", "server.py", XDG_CONFIG_HOME="relative")
    assert (done.returncode, home.file("vscode").exists()) == (0, True)
    done = home.install("cursor", "server.py", HOME="nowhere")
    assert done.returncode == 2
    assert done.stderr.startswith("leanmcp: there is no home folder (HOME is 'nowhere'); name the file of Cursor with ")
    assert not {"relative", "nowhere"} & set(os.listdir(home.project))


def test_a_home_at_the_root_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: containers have it there."""
    monkeypatch.setenv("HOME", "/")
    assert user_file(HOSTS["cursor"]) == "/.cursor/mcp.json"
    assert user_file(HOSTS["vscode"], "linux", {}) == "/.config/Code/User/mcp.json"


def test_a_project_has_a_file_of_its_own(home: Home) -> None:
    """Ours: --project; where the host reads one."""
    assert home.install("cursor", "server.py:mcp", "--project", "--name", "x").returncode == 0
    arguments = ["-m", "leanmcp", "run", f"{home.server}:mcp", "--transport", "stdio"]
    expected = {"mcpServers": {"x": {"command": sys.executable, "args": arguments}}}
    assert _content(home.project / ".cursor" / "mcp.json") == expected
    done = home.install("windsurf", "server.py", "--project")
    assert done.returncode == 2
    assert "windsurf has no settings of a project; these have: claude-code, cursor, vscode, gemini-cli" in done.stderr


def test_any_program_can_be_added(home: Home) -> None:
    """Ours: U19, `-- PROGRAM ...`; a name is needed, for nobody asks the program."""
    assert home.install("cursor", "--name", "files", "--", "npx", "-y", "server", "--flag").returncode == 0
    entry = {"command": "npx", "args": ["-y", "server", "--flag"]}
    assert _content(home.file("cursor")) == {"mcpServers": {"files": entry}}
    done = home.install("cursor", "--", "npx", "server")
    assert done.returncode == 2
    assert "give the entry a name: --name NAME -- npx server" in done.stderr


def test_json_is_printed_for_every_other_host(home: Home) -> None:
    """Ours: U25; what it prints is what `leanmcp call NAME` reads, and starts the server."""
    done = home.install("json", "server.py", "--env", "KEY", KEY="secret")
    assert (done.returncode, done.stderr) == (0, "")
    content = msgspec.json.decode(done.stdout)
    assert content == {"mcpServers": {"My-demo": home.command | {"env": {"KEY": "secret"}}}}
    (home.project / "mcp.json").write_text(done.stdout)
    assert leanmcp("call", "My-demo", "one", "--env", "PYTHONPATH", cwd=home.project).stdout == "1\n"
    done = home.install("json", URL, "--name", "x")
    assert msgspec.json.decode(done.stdout) == {"mcpServers": {"x": {"type": "http", "url": URL}}}
    (home.project / "mcp.json").write_text(done.stdout)
    entry, _ = find_entry("x", str(home.project / "mcp.json"))
    assert entry is not None
    assert entry.url == URL


def test_what_the_users_file_prints_is_no_data(home: Home) -> None:
    """Ours: U20; `leanmcp install json server.py > mcp.json` writes JSON whatever the server says at its start."""
    home.server.write_text(SERVER + "print('loud')\n")
    done = home.install("json", "server.py")
    assert (msgspec.json.decode(done.stdout)["mcpServers"].keys(), done.stderr) == ({"My-demo"}, "loud\n")
    done = home.install("cursor", "server.py", "--json")
    assert (msgspec.json.decode(done.stdout)["change"], done.stderr) == ("added", "loud\n")


def test_a_name_that_is_no_text_is_refused(home: Home) -> None:
    """Ours: file names may be any bytes, JSON is UTF-8."""
    name = os.fsdecode(b"odd\xff.py")
    (home.project / name).write_text(SERVER)
    for host in ("json", "cursor"):
        done = home.install(host, name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("leanmcp: a name or value of the entry is no UTF-8, as settings are; rename it")


def test_names_that_are_any_text_are_added(home: Home) -> None:
    """Ours: spaces, quotes, other scripts."""
    server = home.project / 'my "sérver" 服务器.py'
    server.write_text(SERVER)
    assert home.install("cursor", server.name, "--config", "ü b/mcp.json").returncode == 0
    entry = _content(home.project / "ü b" / "mcp.json")["mcpServers"]["My-demo"]
    assert entry["args"][3] == str(server)


def test_a_module_is_added_where_a_host_finds_it_too(home: Home) -> None:
    """Ours: U19; one that is installed in an environment below this folder, but none of this folder itself."""
    installed = home.project / ".venv" / "packages"
    installed.mkdir(parents=True)
    (installed / "shop.py").write_text(SERVER)
    path = f"{installed}{os.pathsep}{environment()['PYTHONPATH']}"
    assert home.install("cursor", "shop:mcp", PYTHONPATH=path).returncode == 0
    assert _content(home.file("cursor"))["mcpServers"]["My-demo"]["args"][3] == "shop:mcp"


def test_json_on_a_terminal_hides_secrets(home: Home) -> None:
    """Ours: screens are shared and recorded."""
    with at_terminal("install", "json", home.server, "--env", "KEY=secret", cwd=home.project) as terminal:
        assert terminal.finish() == 0
    assert "secret" not in terminal.shown
    assert '"KEY": "***"' in terminal.shown


def test_what_is_added_serves(home: Home) -> None:
    """Ours: from any folder, with the interpreter that has installed it."""
    home.install("cursor", "server.py")
    entry = _content(home.file("cursor"))["mcpServers"]["My-demo"]
    command = [entry["command"], *entry["args"]]
    done = subprocess.run(command, input=encode(call("one")) + b"\n", capture_output=True, cwd="/", env=environment())
    assert b'"structuredContent":{"result":1}' in done.stdout


# --- files that are there -----------------------------------------------------------------------------------------

EXISTING = """{
    "theme":   "dark",
    "mcpServers": {
        "other": {"command": "x",   "args": []}
    },
    "n": 1.50
}
"""


def test_everything_else_stays_as_it_is(home: Home) -> None:
    """Ours: U25; byte for byte, mode included; a link stays a link."""
    path = home.file("cursor")
    path.parent.mkdir()
    kept = home.folder / "dotfiles.json"
    kept.write_text(EXISTING)
    kept.chmod(0o644)
    path.symlink_to(kept)
    assert home.install("cursor", URL, "--name", "new").returncode == 0
    entry = f',\n        "new": {{\n            "url": "{URL}"\n        }}'
    assert kept.read_text() == EXISTING.replace('"args": []}', f'"args": []}}{entry}')
    assert stat.S_IMODE(kept.stat().st_mode) == 0o644
    assert path.is_symlink()
    assert home.install("cursor", "new", "--remove").returncode == 0
    assert kept.read_text() == EXISTING


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (
            b'{\n  // mine\n  "mcpServers": {}\n}',
            " is no JSON: line 2 column 3: it has no comments; take them out; it is left as it is; ",
        ),
        (
            b'{\n  "mcpServers": {},\n}',
            " is no JSON: line 3 column 1: a comma stands behind the last entry; take it out; it is left",
        ),
        (b"[]", ":1: a JSON object is expected; it is left as it is"),
        (b'{"mcpServers": []}', ": 'mcpServers' is expected to be an object; it is left as it is"),
        (b"\xff\xfe", ": byte 0 is no UTF-8; it is left as it is"),
    ],
)
def test_a_file_that_cannot_be_read_is_never_overwritten(home: Home, content: bytes, place: str) -> None:
    """Ours: U10; with the place of the fault."""
    path = home.file("cursor")
    path.parent.mkdir()
    path.write_bytes(content)
    for options in ((), ("--force",), ("--remove",), ("--dry-run",)):
        done = home.install("cursor", URL, *options)
        assert done.returncode == 2
        assert done.stderr.startswith(f"leanmcp: {path}{place}")
    assert path.read_bytes() == content
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_only_a_file_is_replaced(home: Home, make: Any) -> None:
    """Ours: `--config /dev/null` would replace the device itself."""
    path = home.project / "mcp.json"
    make(path)
    before = path.stat()
    done = home.install("cursor", URL, "--config", "mcp.json")
    assert (done.returncode, done.stderr.startswith("leanmcp: mcp.json is no file")) == (2, True)
    assert os.path.samestat(path.stat(), before)


def test_another_entry_of_the_name_is_replaced_only_by_force(home: Home) -> None:
    """Ours: U25; the same one again is no mistake."""
    path = home.file("cursor")
    assert home.install("cursor", "server.py").returncode == 0
    before = path.read_bytes()
    done = home.install("cursor", "server.py")
    assert (done.returncode, path.read_bytes()) == (0, before)
    assert done.stderr == f"leanmcp: 'My-demo' is in {path} already; nothing to do\n"
    done = home.install("cursor", URL, "--name", "My-demo")
    assert (done.returncode, path.read_bytes()) == (2, before)
    assert f"{path} has another 'My-demo' already; replace it with --force, or give this one a --name" in done.stderr
    assert home.install("cursor", URL, "--name", "My-demo", "--force").returncode == 0
    assert _content(path) == {"mcpServers": {"My-demo": {"url": URL}}}


def test_a_dry_run_shows_the_difference_without_secrets(home: Home) -> None:
    """Ours: U25; neither the old ones nor the new ones."""
    path = home.file("cursor")
    done = home.install("cursor", "server.py", "--env", "KEY=secret", "--dry-run")
    assert done.stdout.startswith(f"--- {path}\n+++ {path}\n@@ ")
    assert '+        "KEY": "***"\n' in done.stdout
    assert "secret" not in done.stdout + done.stderr
    assert not path.parent.exists()
    home.install("cursor", "server.py", "--env", "KEY=secret")
    before = path.read_bytes()
    for options, line in (
        (("server.py", "--env", "KEY=other", "--dry-run"), "+(values that are not shown)\n"),
        (("server.py", "--env", "TWO=other", "--dry-run"), '-        "KEY": "***"\n'),
        (("server.py", "--remove", "--dry-run"), '-    "My-demo": {\n'),
    ):
        done = home.install("cursor", *options)
        assert line in done.stdout
        assert "secret" not in done.stdout
        assert path.read_bytes() == before


def test_a_dry_run_tells_what_would_be_done(home: Home) -> None:
    """Ours: U20, as JSON too; and where it would be refused."""
    path = home.file("cursor")

    def told(*words: str) -> str:
        done = home.install("cursor", *words, "--dry-run", "--json")
        shown = msgspec.json.decode(done.stdout)
        assert (done.returncode, shown["file"], shown["name"]) == (0, str(path), "My-demo")
        return str(shown["change"])

    assert (told("server.py"), path.exists()) == ("added", False)
    home.install("cursor", "server.py")
    before = path.read_bytes()
    changes = [told("server.py"), told("server.py:mcp", "--force"), told("My-demo", "--remove")]
    assert (changes, path.read_bytes()) == (["none", "replaced", "removed"], before)
    done = home.install("cursor", "server.py:mcp", "--dry-run")
    assert done.stderr == "leanmcp: another 'My-demo' is there; to replace it, --force is needed\n"


def test_secrets_in_a_url_are_not_shown(home: Home) -> None:
    """Ours: user, password, and keys in its query."""
    done = home.install("cursor", f"{URL}?key=secret", "--dry-run")
    assert f'"url": "{URL}?***"' in done.stdout
    path = home.file("cursor")
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"x": {"url": "https://user:secret@example.com/mcp"}}}')
    done = home.install("cursor", "x", "--remove", "--dry-run")
    assert '"url": "https://***@example.com/mcp"' in done.stdout


def test_an_entry_is_removed_by_its_name_or_its_server(home: Home) -> None:
    """Ours: and what is not there is told with what is."""
    path = home.file("cursor")
    for target in ("My-demo", "server.py"):
        home.install("cursor", "server.py")
        done = home.install("cursor", target, "--remove", "--json")
        assert msgspec.json.decode(done.stdout) == {"file": str(path), "name": "My-demo", "change": "removed"}
        assert _content(path) == {"mcpServers": {}}
    home.install("cursor", "server.py")
    done = home.install("cursor", "My-dmo", "--remove")
    assert (done.returncode, "did you mean 'My-demo'?" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name a host first: claude-desktop, claude-code, cursor, vscode, windsurf, gemini-cli or json"),
        (("cursr", "server.py"), "unknown host 'cursr'; did you mean 'cursor'?"),
        (("cursor",), "name the server: a Python file, a URL, or `-- PROGRAM ...` at the end"),
        (("cursor", "server.py", "x"), "'x' is one word too many"),
        (("cursor", "sever.py"), "no file 'sever.py'; did you mean 'server.py'?"),
        (("cursor", "server"), "a host does not find the module 'server'; name its file, "),
        (("cursor", "server.py", "--header", "a: b"), "--header is an option of HTTP"),
        (("cursor", URL, "--env", "A=b"), "--env is an option of servers that are started"),
        (("cursor", "server.py", "--name", "a b"), "--name 'a b': letters, digits, `-`, `_` and `.` only"),
        (("json", "server.py", "--remove"), "json is no host"),
        (("cursor", "--remove"), "name the entry to remove"),
    ],
)
def test_mistakes_are_told(home: Home, words: tuple[str, ...], message: str) -> None:
    """Ours: U10 and U21."""
    done = home.install(*words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"leanmcp: {message}")
    assert not home.file("cursor").exists()
