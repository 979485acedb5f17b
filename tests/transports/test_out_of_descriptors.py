"""What a server has loaded when it serves, and that a refusal needs nothing more, not even a descriptor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import DEADLINE, ROOT, call, encode, http, http_server, stdio_server
from tests.support.spec import read
from tests.support.wire import Wire

SERVER = ROOT / "tests" / "fixtures" / "descriptors.py"
GENERATOR = ("fastjsonschema", "leanmcp.schema.generator", "leanmcp.schema.compiler", "leanmcp.schema.interpreter")
Ask = Callable[[dict[str, Any]], Any]
Open = Callable[..., Any]


@contextmanager
def _over_stdio(**variables: str) -> Iterator[Ask]:
    with stdio_server(SERVER, **variables) as process:

        def ask(message: dict[str, Any]) -> Any:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(encode(message) + b"\n")
            process.stdin.flush()
            return read(process.stdout.readline())

        yield ask


@contextmanager
def _over_http(**variables: str) -> Iterator[Ask]:
    with http_server(SERVER, **variables) as server, Wire(server.port) as wire:
        yield lambda message: wire.send(http(message)).answer().message


both = pytest.mark.parametrize("opened", [_over_stdio, _over_http])
BAD: dict[str, list[tuple[dict[str, Any], str]]] = {
    "double": [
        ({"number": "x"}, 'number: Input should be a valid integer, got "x"'),
        ({"number": 1.5}, "number: Input should be a valid integer, got 1.5"),
        ({"nubmer": 1}, "did you mean 'number'?"),
        ({"number": 1, "times": 1.3}, "times: Input should be a multiple of 0.5, got 1.3"),
        ({"number": 1, "tags": "a"}, "tags: Input should be a valid array"),
        ({}, "number: Field required"),
    ],
    "everything": [
        ({"even": 3}, "even: Input should be a multiple of 2, got 3"),
        ({"code": "-"}, "code: String should match pattern"),
        ({"when": "yesterday"}, "when: Input should be"),
        ({"colour": "rad"}, "colour: Input should be 'red'"),
        ({"books": [{"title": "x", "year": 7}]}, "books[0].year: Input should be greater than or equal to 1450, got 7"),
        ({"books": [{"titel": "x", "year": 1500}]}, "books[0].title: Field required"),
        ({"shape": {"type": "circle", "radius": "x"}}, "shape.radius: Input should be a valid number"),
        ({"shape": {"type": "oval"}}, "shape.type: Input should be 'circle' or 'square'"),
        ({"price": "0.5"}, "price: Input should be greater than or equal to 1"),
        ({"key": "x"}, "key: Input should be"),
        ({"pair": [1]}, "pair: "),
        ({"sizes": {"x": 1}}, "sizes"),
        ({"evne": 3}, "did you mean 'even'?"),
    ],
    "given": [
        ({"limit": 99}, "limit: Input should be less than or equal to 50, got 99"),
        ({"limti": 1}, "did you mean 'limit'?"),
        ({"limit": 1, "step": 0.35, "name": "Ä"}, "step: Input should be a multiple of 0.1, got 0.35"),
        ({"limit": 1, "even": 1.5}, "even: Input should be a multiple of 2, got 1.5"),
        ({"limit": 1, "name": "ä"}, "name: String should match pattern"),
        ({"limit": 1, "shape": {"kind": "circle", "radius": "x"}}, "shape.radius: Input should be a valid number"),
        ({"limit": 1, "tags": ["a", "a"]}, "tags: List items should be unique"),
        ({"limit": 1, "tags": []}, "tags: List should contain at least 1 item"),
        ({"limit": 1, "step": 0.1}, "name: Field required"),
    ],
}


def _refuses(ask: Ask, tool: str) -> None:
    for arguments, sentence in BAD[tool]:
        result = ask(call(tool, arguments))["result"]
        assert result["isError"], arguments
        assert sentence in result["content"][0]["text"]


@both
def test_a_server_of_typed_tools_loads_no_reader_of_schemas(opened: Open) -> None:
    """Ours: DESIGN, "Gates that keep it lean": good and bad calls, and JSON that is repaired."""
    with opened() as ask:
        assert ask(call("double", {"number": 2}))["result"]["structuredContent"] == {"result": 4}
        first = ask(call("modules"))["result"]["structuredContent"]["result"]
        assert ask(call("double", {"number": 5.0}))["result"]["structuredContent"] == {"result": 10}
        assert ask(call("double", {"number": "5"}))["result"]["structuredContent"] == {"result": 10}
        assert not ask(call("double", {"number": 5, "times": 1e40}))["result"]["isError"]
        _refuses(ask, "double")
        _refuses(ask, "everything")
        assert ask(call("duoble"))["error"]["code"] == -32602
        loaded = ask(call("modules"))["result"]["structuredContent"]["result"]
        assert not [name for name in loaded if name.startswith(GENERATOR)]
        # Failing calls load nothing that was not there before the first of them.
        assert loaded == first


@both
def test_without_a_descriptor_a_bad_argument_is_still_explained(opened: Open) -> None:
    """Ours: RELIABILITY; by the first refusals that there are, of a typed tool and of one with a given schema."""
    with opened(GIVEN="1") as ask:
        assert ask(call("double", {"number": 2}))["result"]["structuredContent"] == {"result": 4}
        assert ask(call("exhaust"))["result"]["structuredContent"]["result"] > 20
        _refuses(ask, "double")
        _refuses(ask, "everything")
        _refuses(ask, "given")
        assert ask(call("given", {"limit": 1, "step": 0.3, "name": "Ä"}))["result"]["structuredContent"]["result"] == 3
        assert "did you mean 'double'?" in ask(call("duoble"))["error"]["message"]
        assert ask({**call("double"), "method": "tools/lost"})["error"]["code"] == -32601


def test_without_a_descriptor_a_refusal_over_http_shows_the_complete_call() -> None:
    """Ours: what hints need is loaded before anybody can connect."""
    with http_server(SERVER) as server, Wire(server.port) as wire:
        assert wire.send(http(call("exhaust"))).answer().status == 200
        answer = wire.send(http(call("double", {"number": 1}), mcp_name="")).answer()
        assert answer.status == 400
        assert "Mcp-Name" in answer.text


@pytest.mark.parametrize("tool", list(BAD))
def test_without_a_descriptor_from_the_start_http_explains(tool: str) -> None:
    """Ours: HTTP: everything is loaded before listening, so that the first call may take what there is."""
    with _over_http(GIVEN="1") as ask:
        assert ask(call("exhaust"))["result"]["structuredContent"]["result"] > 20
        _refuses(ask, tool)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_without_a_descriptor_a_server_ends_as_ever(loop: str, tmp_path: Path) -> None:
    """Ours: what its end needs is loaded while it serves."""
    if loop == "asyncio":
        (tmp_path / "uvloop.py").write_text("raise ImportError")
    with stdio_server(SERVER, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for tool in ("modules", "exhaust"):
            process.stdin.write(encode(call(tool)) + b"\n")
            process.stdin.flush()
            read(process.stdout.readline())
        _, log = process.communicate(timeout=DEADLINE)
        assert (log, process.returncode) == (b"", 0)
