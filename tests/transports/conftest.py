"""One running server for all tests of a transport that need no special one, and a certificate for those on TLS."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import DEADLINE, HTTPProcess, http_server


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


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 and tools.example that nobody signed, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the openssl command is not installed")
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "certificate.pem", folder / "key.pem"
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    name = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,DNS:tools.example")
    subprocess.run(
        [openssl, "req", "-x509", *kind, *name, "-days", "2", "-out", str(paths[0]), "-keyout", str(paths[1])],
        check=True,
        capture_output=True,
        timeout=DEADLINE,
    )
    return paths
