"""Files that are replaced as a whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from leanmcp.private_files import replace_file, rewrite_file


def test_a_file_is_replaced_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    """Ours: whatever the old one's mode was."""
    path = tmp_path / "kept.json"
    path.write_bytes(b"a much longer content")
    path.chmod(0o644)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["kept.json"]


def test_a_file_that_is_not_ours_keeps_its_mode(tmp_path: Path) -> None:
    """Ours: what `leanmcp install` writes is read by other programs, some of other users."""
    path = tmp_path / "kept.json"
    replace_file(path, b"new", 0o644)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a full disk costs nobody their tokens."""
    path = tmp_path / "kept.json"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept.json"]


def test_a_file_of_somebody_elses_keeps_mode_owner_and_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: `sudo leanmcp install ...` would make a user's settings root's."""
    path, link = tmp_path / "kept.json", tmp_path / "link.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    given: list[tuple[Path, int, int]] = []
    monkeypatch.setattr(os, "chown", lambda *words: given.append(words))
    rewrite_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    found = path.stat()
    assert stat.S_IMODE(found.st_mode) == 0o640
    assert given == [(path.resolve(), found.st_uid, found.st_gid)]
