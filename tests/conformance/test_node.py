"""What the tests install of others: once, whoever asks first, and again where it broke off."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.conformance import node
from tests.support.processes import DEADLINE


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that an installer was run in, which installs nothing."""
    ran: list[Path] = []
    monkeypatch.setenv("LEANMCP_NODE_DIR", str(tmp_path))
    monkeypatch.setattr(node, "_npm", lambda: ["npm"])
    monkeypatch.setattr(node, "run_installer", lambda command, folder: ran.append(folder))
    return ran


def test_a_package_is_installed_once(installed: list[Path], tmp_path: Path) -> None:
    """Ours."""
    assert node.install("suite") == node.install("suite") == tmp_path / "suite" / "node_modules"
    assert installed == [tmp_path / "suite"]


def test_another_version_is_installed_over_it(
    installed: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours."""
    node.install("suite")
    monkeypatch.setitem(node.PACKAGES, "suite", ("another@1",))
    node.install("suite")
    assert installed == [tmp_path / "suite"] * 2


def test_what_broke_off_is_done_again(installed: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours."""

    def broken(command: list[str], folder: Path) -> None:
        raise node.CannotInstall("npm: no network")

    with monkeypatch.context() as once:
        once.setattr(node, "run_installer", broken)
        with pytest.raises(node.CannotInstall, match="no network"):
            node.install("suite")
    node.install("suite")
    assert installed == [tmp_path / "suite"]


def test_who_comes_while_it_is_installed_waits(
    installed: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: workers of one run ask for the same package."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(command: list[str], folder: Path) -> None:
        begun.set()
        assert go_on.wait(DEADLINE)
        installed.append(folder)

    monkeypatch.setattr(node, "run_installer", slow)
    threads = [threading.Thread(target=node.install, args=("suite",)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(DEADLINE)
    assert all(thread.is_alive() for thread in threads)
    go_on.set()
    for thread in threads:
        thread.join(DEADLINE)
    assert installed == [tmp_path / "suite"]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LEANMCP_NODE_DIR", str(tmp_path / "file"))
    with pytest.raises(node.CannotInstall, match="Not a directory"):
        node.install("suite")
