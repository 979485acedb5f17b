"""The pages about mistakes of clients: each one makes its mistake, and mends it."""

from __future__ import annotations

from typing import Any

import pytest

from leanmcp.explanations import PAGES
from tests.support.mistakes import codes_of, run_program

CLIENT = (
    'from leanmcp import MCPServer\nmcp = MCPServer("demo")\n@mcp.tool\ndef add(a: int, b: int) -> int: return a + b\n'
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("page", [page for page in PAGES.values() if page.code >= "LM701"], ids=lambda page: page.code)
def test_a_page_about_clients_makes_its_mistake_and_mends_it(page: Any) -> None:
    """Ours: goal U10."""
    told = run_program(CLIENT + page.wrong)
    assert told is not None, "nobody minds"
    assert codes_of(told.message) == [page.code]
    assert run_program(CLIENT + page.right) is None
