"""One running server for all tests of a transport that need no special one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.processes import HTTPProcess, http_server


@pytest.fixture(scope="session")
def server() -> Iterator[HTTPProcess]:
    """The fixture server on HTTP."""
    with http_server("tests/fixtures/tools.py") as process:
        yield process


@pytest.fixture(scope="session")
def port(server: HTTPProcess) -> int:
    """The port of the fixture server."""
    return server.port


@pytest.fixture(scope="session")
def tight() -> Iterator[int]:
    """The port of a server with small limits."""
    with http_server("tests/fixtures/tight.py") as process:
        yield process.port
