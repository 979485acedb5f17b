"""Files and folders as resources: what is read, what is refused, what leads out."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import gc
import os
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanmcp import MCPServer, ResourceError, ResourceNotFoundError
from leanmcp.protocol.pieces import Lazy, joined
from leanmcp.server import resource_files
from leanmcp.server.resource_files import StoredFile, read_file
from leanmcp.server.threads import ThreadPool
from tests.support.spec import request


def ask(mcp: MCPServer, method: str, **params: Any) -> dict[str, Any]:
    """Return the checked response to one request."""
    return asyncio.run(request(mcp, method, params))


def outcome(mcp: MCPServer, uri: str) -> Any:
    """Return the text or blob at a URI, or the code of the error."""
    answer = ask(mcp, "resources/read", uri=uri)
    if "error" in answer:
        assert answer["error"]["data"] == {"uri": uri}
        return answer["error"]["code"]
    [contents] = answer["result"]["contents"]
    return contents.get("text", contents.get("blob"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files, links and what is no file; a secret lies beside it."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "root-2").mkdir()
    (tmp_path / "root-2" / "secret.txt").write_text("secret")
    (root / "a.txt").write_text("a é")
    (root / "sub" / "b.json").write_text('{"b":1}')
    (root / "c.bin").write_bytes(b"\x00\xff")
    (root / ".hidden").write_text("hidden")
    (root / "space in name.txt").write_text("space")
    (root / "inner.txt").symlink_to(root / "sub" / "b.json")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "up").symlink_to(tmp_path)
    (root / "beside").symlink_to(tmp_path / "root-2")
    (root / "loop").symlink_to(root / "loop")
    (root / "dangling").symlink_to(root / "nothing")
    os.mkfifo(root / "pipe")
    return root


# --- one file ---------------------------------------------------------------------------------------------------------


def test_a_file_tells_its_name_size_and_type(folder: Path) -> None:
    """Spec: server/resources, "Resource": name, mimeType, size."""
    mcp = MCPServer("x")
    mcp.add_file("docs://a", folder / "a.txt", title="A", description="The a")
    mcp.add_file("docs://c", str(folder / "c.bin"), name="c", mime_type="image/png")
    assert ask(mcp, "resources/list")["result"]["resources"] == [
        {"uri": "docs://a", "name": "a.txt", "title": "A", "description": "The a", "mimeType": "text/plain", "size": 4},
        {"uri": "docs://c", "name": "c", "mimeType": "image/png", "size": 2},
    ]
    assert outcome(mcp, "docs://a") == "a é"
    assert outcome(mcp, "docs://c") == "AP8="
    (folder / "a.txt").write_text("new")
    assert outcome(mcp, "docs://a") == "new"
    (folder / "a.txt").unlink()
    assert outcome(mcp, "docs://a") == -32602


def test_a_text_that_is_no_utf8_goes_as_a_blob(folder: Path) -> None:
    """Spec: schema page, `TextResourceContents`: only what can be represented as text."""
    (folder / "a.txt").write_bytes(b"caf\xe9")
    mcp = MCPServer("x")
    mcp.add_file("docs://a", folder / "a.txt")
    assert outcome(mcp, "docs://a") == base64.b64encode(b"caf\xe9").decode()


@pytest.mark.parametrize("size", [3, 1_000])
def test_an_unknown_type_is_text_where_it_reads_as_such(
    folder: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: source code of languages that no table knows; whole and in pieces."""
    monkeypatch.setattr(resource_files, "PIECE", size)
    for name, data in (("a.unknown", "fn é()".encode()), ("b.unknown", b"ab\0cdef"), ("c.unknown", b"abcd\xff")):
        (folder / name).write_bytes(data)

    async def kind(name: str) -> tuple[str, bytes]:
        return (await read_file(StoredFile(path=str(folder / name)), ThreadPool(1), lazy=True))[:2]

    assert asyncio.run(kind("a.unknown")) == ("text/plain", b"text")
    assert asyncio.run(kind("b.unknown")) == ("application/octet-stream", b"blob")
    assert asyncio.run(kind("c.unknown")) == ("application/octet-stream", b"blob")
    mcp = MCPServer("x")
    mcp.add_file("docs://a", folder / "a.unknown")
    assert "mimeType" not in ask(mcp, "resources/list")["result"]["resources"][0]
    assert outcome(mcp, "docs://a") == "fn é()"


def test_files_that_cannot_be_served_are_refused_at_registration(folder: Path) -> None:
    """Ours: the text says which."""
    mcp = MCPServer("x")
    with pytest.raises(FileNotFoundError, match=r"resource 'docs://a': there is no file .*/none"):
        mcp.add_file("docs://a", folder / "none")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        mcp.add_file("docs://a", folder)
    with pytest.raises(ValueError, match=r"serve a folder with add_directory"):
        mcp.add_file("docs://{a}", folder / "a.txt")
    with pytest.raises(NotADirectoryError, match="there is no folder"):
        mcp.add_directory("docs://{+a}", folder / "a.txt")
    for template in ("docs://x", "docs://{a}/{b}", "docs://x{?a}", "docs://x{#a}", "docs://{a.b}"):
        with pytest.raises(ValueError, match="one variable for the path"):
            mcp.add_directory(template, folder)
    assert "resources" not in ask(mcp, "server/discover")["result"]["capabilities"]


# --- a folder ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", ["docs://{+path}", "docs:/{/path*}"])
def test_a_folder_serves_what_lies_in_it(folder: Path, template: str) -> None:
    """Ours: FEATURES U9; below the folder, through links inside of it too."""
    mcp = MCPServer("x")
    mcp.add_directory(template, folder, name="Docs")
    [entry] = ask(mcp, "resources/templates/list")["result"]["resourceTemplates"]
    assert entry == {"uriTemplate": template, "name": "Docs"}
    assert outcome(mcp, "docs://a.txt") == "a é"
    assert outcome(mcp, "docs://sub/b.json") == '{"b":1}'
    assert outcome(mcp, "docs://c.bin") == "AP8="
    assert outcome(mcp, "docs://space%20in%20name.txt") == "space"
    assert outcome(mcp, "docs://inner.txt") == '{"b":1}'


OUT = [
    "..",
    "../secret.txt",
    "sub/../../secret.txt",
    "%2e%2e/secret.txt",
    "..%2fsecret.txt",
    "..%5csecret.txt",
    "%252e%252e/secret.txt",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "sub//b.json",
    "a.txt/",
    "a.txt/x",
    "a.txt%00.png",
    "sub",
    "",
    "none",
    "out.txt",
    "up/secret.txt",
    "up/root/a.txt/../../secret.txt",
    "beside/secret.txt",
    "loop",
    "dangling",
    "pipe",
    ".hidden",
    "x" * 300,
    "%ED%A0%80",
]


@pytest.mark.parametrize("path", OUT, ids=[path[:30] or "empty" for path in OUT])
@pytest.mark.parametrize("template", ["docs://{+path}", "docs:/{/path*}"])
def test_nothing_else_is_found(folder: Path, template: str, path: str) -> None:
    """Spec: server/resources, "Security Considerations" 5: no way out, and no error tells what lies there."""
    mcp = MCPServer("x")
    mcp.add_directory(template, folder)
    assert outcome(mcp, f"docs://{path}") == -32602


@pytest.mark.parametrize("path", [path for path in OUT if path not in (".hidden", "a.txt/")])
def test_the_folder_guards_itself(folder: Path, path: str) -> None:
    """Ours: also where the checks of values are switched off."""
    mcp = MCPServer("x")
    mcp.add_directory("docs://{+path}", folder)
    for template in mcp._resources().templates:
        template._security = resource_security_off()
    assert outcome(mcp, f"docs://{path}") == -32602


def resource_security_off() -> Any:
    """Return checks that check nothing."""
    from leanmcp.server import ResourceSecurity

    return ResourceSecurity(exempt_params={"path"})


def test_one_folder_without_those_below(folder: Path) -> None:
    """Ours: `{name}` is one segment."""
    mcp = MCPServer("x")
    mcp.add_directory("docs://{name}", folder)
    assert outcome(mcp, "docs://a.txt") == "a é"
    assert outcome(mcp, "docs://sub/b.json") == -32602
    assert outcome(mcp, "docs://sub%2Fb.json") == -32602


def test_hidden_names_only_on_demand(folder: Path) -> None:
    """Ours: `.git` and `.env` are not what anybody means to serve."""
    mcp = MCPServer("x")
    mcp.add_directory("docs://{+path}", folder, hidden=True, mime_type="text/plain")
    assert outcome(mcp, "docs://.hidden") == "hidden"
    assert outcome(mcp, "docs://../secret.txt") == -32602


def test_a_folder_may_be_a_link_itself(folder: Path, tmp_path: Path) -> None:
    """Ours: the folder is what it is at registration."""
    (tmp_path / "link").symlink_to(folder)
    mcp = MCPServer("x")
    mcp.add_directory("docs://{+path}", tmp_path / "link")
    assert outcome(mcp, "docs://a.txt") == "a é"


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_link_that_changes_while_a_file_is_opened_is_no_way_out(
    folder: Path, tmp_path: Path, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: opened first, checked then; whichever way the link points in between, the secret stays where it is."""
    good, bad, link = folder / "sub" / "b.json", tmp_path / "secret.txt", folder / "link"
    really_open = os.open

    def switch(target: Path) -> None:
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    def open_and_switch(*args: Any, **options: Any) -> int:
        switch(bad if when == "before" else good)
        fd = really_open(*args, **options)
        switch(good if when == "before" else bad)
        return fd

    switch(good)
    monkeypatch.setattr(os, "open", open_and_switch)
    file = StoredFile(path=str(link), root=os.path.realpath(folder))
    with pytest.raises(ResourceNotFoundError):
        asyncio.run(read_file(file, ThreadPool(1), lazy=False))


# --- pieces -----------------------------------------------------------------------------------------------------------


def pieces(path: Path, **options: Any) -> tuple[bytes, bytes, bool]:
    """Return member, JSON string and whether it was lazy, of a file read in pieces."""

    async def main() -> tuple[bytes, bytes, bool]:
        _, member, segments = await read_file(StoredFile(path=str(path)), ThreadPool(1), lazy=True, **options)
        data, lazy = b"", False
        for segment in cast("list[bytes | Lazy]", segments):
            if isinstance(segment, bytes):
                data += segment
                continue
            lazy = True
            read = b""
            while piece := await segment.read():
                read += piece
            assert len(read) == len(segment)
            data += read
        return member, data, lazy

    return asyncio.run(main())


@given(st.binary(max_size=200), st.sampled_from([3, 6, 48]))
@settings(max_examples=60, deadline=None)
def test_pieces_of_bytes_are_the_whole(tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int) -> None:
    """Ours: property; base64 in pieces is base64, of the length that was announced."""
    path = tmp_path_factory.getbasetemp() / "pieces.bin"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource_files, "PIECE", size)
        member, found, lazy = pieces(path)
    assert (member, lazy) == (b"blob", len(data) > size)
    assert base64.b64decode(msgspec.json.decode(found), validate=True) == data


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=100), st.integers(3, 20))
@settings(max_examples=60, deadline=None)
def test_pieces_of_text_are_the_whole(tmp_path_factory: pytest.TempPathFactory, text: str, size: int) -> None:
    """Ours: property; characters of several bytes are cut anywhere, and escaped text has the announced length."""
    path = tmp_path_factory.getbasetemp() / "pieces.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource_files, "PIECE", size)
        member, found, lazy = pieces(path)
    assert (member, lazy) == (b"text", len(text.encode()) > size)
    assert msgspec.json.decode(found) == text


@pytest.mark.parametrize("name", ["a.txt", "a.bin"])
def test_who_looks_into_an_answer_gets_it_whole(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: middleware that reads a result; what is sent afterwards is complete all the same."""
    monkeypatch.setattr(resource_files, "PIECE", 3)
    (tmp_path / name).write_text("aé" * 10)

    async def main() -> None:
        _, _, segments = await read_file(StoredFile(path=str(tmp_path / name)), ThreadPool(1), lazy=True)
        [lazy] = [segment for segment in cast("list[bytes | Lazy]", segments) if isinstance(segment, Lazy)]
        first = await lazy.read()
        assert len(joined(segments)) == len(lazy) + 2
        assert joined(segments) == joined(segments)
        pieces = [first]
        while piece := await lazy.read():
            pieces.append(piece)
        assert b'"%s"' % b"".join(pieces) == joined(segments)

    asyncio.run(main())


def test_a_large_text_that_is_no_utf8_goes_as_a_blob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: found out before the first byte is sent; a character that is cut at the end counts."""
    monkeypatch.setattr(resource_files, "PIECE", 3)
    for data in (b"aaaaaaa\xff", "aaaaaaaé".encode()[:-1]):
        (tmp_path / "a.txt").write_bytes(data)
        member, found, lazy = pieces(tmp_path / "a.txt")
        assert (member, lazy) == (b"blob", True)
        assert base64.b64decode(msgspec.json.decode(found)) == data


@pytest.mark.parametrize(
    ("name", "content"), [("a.txt", "a"), ("a.bin", "a"), ("a.txt", "\n" * 20), ("a.txt", "é" * 10)]
)
def test_a_file_that_changes_while_it_is_sent_cuts_the_answer_off(
    tmp_path: Path, name: str, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: never more than was announced, and never less for the whole: a client would take it for one."""
    monkeypatch.setattr(resource_files, "PIECE", 3)
    path = tmp_path / name
    path.write_text("a" * 20)

    async def main() -> None:
        _, _, segments = await read_file(StoredFile(path=str(path)), ThreadPool(1), lazy=True)
        [lazy] = [segment for segment in cast("list[bytes | Lazy]", segments) if isinstance(segment, Lazy)]
        sent = len(await lazy.read())
        path.write_text(content)
        with pytest.raises(OSError, match="has changed while it was sent"):
            await rest(lazy, sent)

    async def rest(lazy: Lazy, sent: int) -> None:
        while piece := await lazy.read():
            sent += len(piece)
            assert sent <= len(lazy)

    asyncio.run(main())


def test_size_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: RELIABILITY; an option of the resource, and a bound where answers are not sent in pieces."""
    (tmp_path / "a.bin").write_bytes(b"12345")
    with pytest.raises(ResourceError, match="The file has 5 bytes, over the 4 allowed"):
        pieces(tmp_path / "a.bin", max_size=4)
    assert pieces(tmp_path / "a.bin", max_size=5)[0] == b"blob"
    mcp = MCPServer("x")
    mcp.add_file("docs://a", tmp_path / "a.bin")
    mcp.add_directory("docs://d/{name}", tmp_path, max_size=4)
    assert outcome(mcp, "docs://a") == "MTIzNDU="
    assert outcome(mcp, "docs://d/a.bin") == -32603
    monkeypatch.setattr(resource_files, "MAX_WHOLE", 4)
    assert outcome(mcp, "docs://a") == -32603


def descriptors_of(path: Path) -> list[int]:
    """Return the descriptors of this process that lead to a file."""
    found = []
    for name in os.listdir("/dev/fd"):
        with contextlib.suppress(OSError):  # that of the listing itself
            if os.path.samestat(os.fstat(int(name)), path.stat()):
                found.append(int(name))
    return found


def test_no_descriptor_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: whole, read to the end, given up half-way or never begun."""
    monkeypatch.setattr(resource_files, "PIECE", 3)
    path = tmp_path / "a.bin"
    path.write_bytes(b"1234567890")

    async def main() -> None:
        threads = ThreadPool(1)
        for steps in (0, 1, 9):
            _, _, segments = await read_file(StoredFile(path=str(path)), threads, lazy=True)
            [lazy] = [segment for segment in cast("list[bytes | Lazy]", segments) if isinstance(segment, Lazy)]
            for _step in range(steps):
                await lazy.read()
        with pytest.raises(ResourceError):
            await read_file(StoredFile(path=str(path)), threads, lazy=True, max_size=1)
        with pytest.raises(ResourceNotFoundError):
            await read_file(StoredFile(path=str(path), root=str(tmp_path / "other")), threads, lazy=True)
        await threads.run(int)  # by now the thread has let go of the error before, whose frames hold descriptors

    asyncio.run(main())
    gc.collect()
    assert descriptors_of(path) == []


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="a file system of Linux")
def test_files_that_do_not_tell_their_size_are_read() -> None:
    """Ours: the kernel says 0 of those in /proc; an empty text would be wrong, and nobody would notice."""
    mcp = MCPServer("x")
    mcp.add_file("proc://status", "/proc/self/status")
    [entry] = ask(mcp, "resources/list")["result"]["resources"]
    assert "size" not in entry
    assert f"Pid:\t{os.getpid()}\n" in outcome(mcp, "proc://status")
    with pytest.raises(ResourceError, match="more than the 10 bytes"):
        asyncio.run(read_file(StoredFile(path="/proc/self/status"), ThreadPool(1), lazy=True, max_size=10))


def test_a_link_that_becomes_a_file_meanwhile_is_not_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: whoever writes into a folder while it is read makes no fault of the server's."""

    def realpath(path: str) -> str:
        raise OSError(errno.EINVAL, "Invalid argument", path)

    file = StoredFile(path=str(folder / "a.txt"), root=os.path.realpath(folder))
    monkeypatch.setattr(os.path, "realpath", realpath)
    with pytest.raises(ResourceNotFoundError):
        asyncio.run(read_file(file, ThreadPool(1), lazy=False))
