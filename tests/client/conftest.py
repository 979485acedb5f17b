"""What one test leaves behind in the process, taken away for the next one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from leanmcp import logs
from leanmcp.client import negotiation


@pytest.fixture(autouse=True)
def _fresh_process() -> Iterator[None]:
    """Forget which warnings were given within the second, and which servers are of an earlier era."""
    logs._said.clear()
    negotiation._legacy_servers.clear()
    yield
    negotiation._legacy_servers.clear()
