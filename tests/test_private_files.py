"""Files that are replaced as a whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from leanmcp.private_files import replace_file


def test_a_file_is_replaced_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    """Ours: whatever the old one's mode was."""
    path = tmp_path / "kept.json"
    path.write_bytes(b"a much longer content")
    path.chmod(0o644)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["kept.json"]


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
