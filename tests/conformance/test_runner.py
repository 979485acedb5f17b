"""The runner's verdicts: what the suite recorded decides, and silence is never a pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.run import SELF_MADE, Check, Verdict, judge, read_checks

PASSED = Check("tools-list", "SUCCESS", "")
WARNED = Check("tools-name-format", "WARNING", "")
SKIPPED = Check("listen", "SKIPPED", "")
OWN = Check(SELF_MADE, "SUCCESS", "")


def test_a_scenario_with_a_passed_check_passes() -> None:
    """Ours."""
    assert judge([PASSED, OWN, SKIPPED], 0, "") == ""


@pytest.mark.parametrize(
    ("checks", "exit_code", "reason"),
    [
        ([], 0, "did not run: nothing to do"),
        ([PASSED, Check("x", "FAILURE", "")], 0, "checks failed"),
        ([PASSED, WARNED], 0, "warnings"),
        ([OWN, SKIPPED], 0, "no check about the server passed"),
        ([PASSED], 1, "exit code 1"),
    ],
)
def test_a_scenario_fails_on_what_the_exit_code_hides(checks: list[Check], exit_code: int, reason: str) -> None:
    """Ours."""
    assert judge(checks, exit_code, "nothing to do") == reason


def test_a_warning_passes_only_by_name() -> None:
    """Ours."""
    assert judge([PASSED, WARNED], 1, "", ["tools-name-format"]) == ""
    assert judge([PASSED, WARNED], 1, "", ["another"]) == "warnings"


def test_checks_are_read_from_every_record_below_the_folder(tmp_path: Path) -> None:
    """Ours."""
    record = tmp_path / "server-tools-list-some-time" / "checks.json"
    record.parent.mkdir()
    record.write_text(json.dumps([{"id": "tools-list", "status": "FAILURE", "errorMessage": "no tools"}]))
    checks = read_checks(tmp_path)
    assert checks == [Check("tools-list", "FAILURE", "no tools")]
    line = " ".join(str(Verdict("tools-list", checks, "checks failed")).split())
    assert line == "FAIL tools-list 0 passed, 1 failed, 0 warnings (checks failed)"
