"""resources/read over HTTP: the URI travels in Mcp-Name too."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import refused
from tests.support.processes import http, http_server, request
from tests.support.wire import Answer, ask

URI = "text://hello"
UNICODE = "text://gr%C3%BCß-日本"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server with a template of texts."""
    folder: Path = tmp_path_factory.mktemp("none")
    with http_server("tests/fixtures/resources.py", FOLDER=str(folder)) as process:
        yield process.port


def read(port: int, uri: str, **fields: str) -> Answer:
    """Return the answer to resources/read with these header fields."""
    return ask(port, http(request("resources/read", {"uri": uri}), **fields))


def encoded(text: str) -> str:
    """Return a header value in the base64 form."""
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def text_of(answer: Answer) -> Any:
    """Return the one text of a checked result."""
    assert answer.status == 200
    [contents] = answer.message["result"]["contents"]
    return contents["text"]


def test_the_uri_is_mirrored_plain_or_in_base64(port: int) -> None:
    """Spec: basic/transports/streamable-http, "Standard Request Headers" and "Value Encoding"."""
    assert text_of(read(port, URI)) == "hello"
    assert text_of(read(port, URI, mcp_name=f"  {URI} ")) == "hello"
    assert text_of(read(port, URI, mcp_name=encoded(URI))) == "hello"
    assert text_of(read(port, UNICODE, mcp_name=encoded(UNICODE))) == "grüß-日本"


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        (URI, ""),
        (URI, "text://other"),
        (URI, "TEXT://hello"),
        (URI, "text://hell%6F"),
        (URI, encoded("text://other")),
        (URI, "=?base64?!!?="),
        (UNICODE, encoded("text://grü")),
        ("text://a b", "text://a%20b"),
    ],
)
def test_a_missing_or_different_mirror_is_refused(port: int, uri: str, name: str) -> None:
    """Spec: basic/transports/streamable-http, "Server Validation": HTTP 400 and -32020."""
    refused(read(port, uri, mcp_name=name), 400, -32020)


def test_a_second_name_field_is_refused(port: int) -> None:
    """Ours: two fields could be read in two ways."""
    octets = http(request("resources/read", {"uri": URI})).replace(b"mcp-name:", b"mcp-name: text://x\r\nmcp-name:")
    refused(ask(port, octets), 400, -32020)
    listed = http(request("resources/read", {"uri": f"text://x, {URI}"}), mcp_name=URI)
    refused(ask(port, listed.replace(b"mcp-name:", b"mcp-name: text://x\r\nmcp-name:")), 400, -32020)


def test_unknown_resources_are_200_with_the_uri(port: int) -> None:
    """Spec: server/resources, "Error Handling"; policy P10: after dispatch it is HTTP 200."""
    answer = read(port, "nothing://here")
    refused(answer, 200, -32602)
    assert answer.message["error"]["data"] == {"uri": "nothing://here"}


def test_lists_need_no_name(port: int) -> None:
    """Spec: as above; only the methods that name something mirror it."""
    answer = ask(port, http(request("resources/templates/list")))
    templates = answer.message["result"]["resourceTemplates"]
    assert [entry["uriTemplate"] for entry in templates] == ["files://{+path}", "text://{name}", "slow://{name}"]
