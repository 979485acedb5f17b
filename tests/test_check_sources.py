"""What `leanmcp check` reads off the source of a file: questions, and calls that hold the server up."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from leanmcp.checking.local import describe
from leanmcp.checking.record import Place
from leanmcp.checking.sources import Source

NAME = "server_of_test_check_sources"
HEAD = """
import asyncio, subprocess, time
from dataclasses import dataclass
from time import sleep as nap
from typing import Annotated
import leanmcp.elicit as ask
from leanmcp import Context, Depends, MCPServer
from leanmcp.elicit import Elicit, Resolve

mcp = MCPServer("x")

@dataclass
class Login:
    name: str
    api_key: str

@dataclass
class Plain:
    name: str

@dataclass
class Broken:
    inner: Plain
"""


def _loaded(tmp_path: Path, code: str) -> tuple[Path, ModuleType]:
    file = tmp_path / "server.py"
    file.write_text(HEAD + code)
    module = ModuleType(NAME)
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # where classes look their own names up
    exec(compile(file.read_text(), str(file), "exec"), vars(module))
    return file, module


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    sys.modules.pop(NAME, None)


def _questions(tmp_path: Path, code: str) -> list[tuple[str, str]]:
    file, module = _loaded(tmp_path, code)
    source = Source(str(file), "server.py", vars(module))
    return [(question.owner, question.secret or question.unfit) for question in source.questions()]


FIELD = "field 'api_key' of the form Login asks for a secret (api key)"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("async def f(ctx: Context):\n    await ctx.elicit('Who?', Login)\n", FIELD),
        ("async def f(c: 'Context[int]'):\n    await c.elicit(schema=Login, message='Who?')\n", FIELD),
        ("def f():\n    return Elicit('Who?', Login)\n", FIELD),
        ("def f():\n    return ask.Elicit('Who?', Login)\n", FIELD),
        (
            "async def f(ctx: Context):\n    class Mine:\n        pin_code: str\n    await ctx.elicit('Who?', Mine)\n",
            "field 'pin_code' of the form Mine asks for a secret (pin)",
        ),
        (
            "def f():\n    return Elicit('Please enter your password.', Plain)\n",
            "the message of a form asks for a secret (password)",
        ),
        (
            "def f():\n    return {'method': 'elicitation/create', 'params': {'message': 'Pay', 'requestedSchema': "
            "{'type': 'object', 'properties': {'card_number': {'type': 'string'}}}}}\n",
            "field 'card_number' of params.requestedSchema asks for a secret (card number)",
        ),
        (
            "def f():\n    return {'method': 'elicitation/create', 'params': {'requestedSchema': {}}}\n",
            "elicitation/create: params.message is a text that tells the user why you ask",
        ),
    ],
)
def test_questions_that_ask_for_a_secret_or_fail_are_found(tmp_path: Path, code: str, told: str) -> None:
    """Spec: client/elicitation, servers MUST NOT request sensitive information in form mode."""
    assert _questions(tmp_path, code) == [("function 'f'", told)]


def test_a_form_that_cannot_be_shown_is_found(tmp_path: Path) -> None:
    """Ours: it would fail when it is asked first."""
    [(owner, text)] = _questions(tmp_path, "async def f(ctx: Context):\n    await ctx.elicit('Who?', Broken)\n")
    assert owner == "function 'f'"
    assert text.startswith("field 'inner' of the form Broken cannot be shown: ")


@pytest.mark.parametrize(
    "code",
    [
        "async def f(ctx: Context):\n    await ctx.elicit('Who?', Plain)\n",
        "async def f(other: int):\n    await other.elicit('Who?', Login)\n",
        "async def f(ctx: Context, Login):\n    await ctx.elicit('Who?', Login)\n",
        "async def f(ctx: Context):\n    Login = made()\n    await ctx.elicit('Who?', Login)\n",
        "async def f(ctx: Context):\n    await ctx.elicit(*words)\n",
        "async def f(ctx: Context):\n    await ctx.elicit_url('Enter your password there.', 'https://x.example/')\n",
        "def f():\n    return Elicit('We never ask you to enter your password.', Plain)\n",
        "def f():\n    return Elicit('Your password has been changed. Go on?', Plain)\n",
        "def f(method):\n    return {'method': method, 'params': {}, **more}\n",
    ],
)
def test_questions_that_are_right_or_not_sure_are_left_alone(tmp_path: Path, code: str) -> None:
    """Ours: code is not guessed at."""
    assert _questions(tmp_path, code) == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("    time.sleep(1)\n", ["time.sleep"]),
        ("    nap(1)\n", ["time.sleep"]),
        ("    for _ in 'ab':\n        subprocess.run(['x'])\n    input()\n", ["subprocess.run", "input"]),
        ("    await asyncio.sleep(1)\n", []),
        ("    await asyncio.to_thread(time.sleep, 1)\n", []),
        ("    def inner():\n        time.sleep(1)\n    await asyncio.to_thread(inner)\n", []),
        ("    await asyncio.to_thread(lambda: time.sleep(1))\n", []),
        ("    time = Clock()\n    time.sleep(1)\n", []),
        ("    import trio as time\n    time.sleep(1)\n", []),
        ("    clock().sleep(1)\n", []),
    ],
)
def test_calls_that_block_are_found_in_coroutine_functions(tmp_path: Path, body: str, told: list[str]) -> None:
    """Ours: where the module's own names say so."""
    file, module = _loaded(tmp_path, f"@mcp.tool\nasync def f() -> None:\n{body}")
    server = describe(module.mcp, str(file), vars(module), [])
    [tool] = server.parts
    assert [name for _, name in tool.stalls] == told
    lines = file.read_text().splitlines()
    assert all(
        name.rpartition(".")[2] in lines[place.line - 1] or "nap" in lines[place.line - 1]
        for place, name in tool.stalls
    )


def test_a_plain_function_may_block(tmp_path: Path) -> None:
    """Ours: it runs in a thread."""
    file, module = _loaded(tmp_path, "@mcp.tool\ndef f() -> None:\n    time.sleep(1)\n")
    assert describe(module.mcp, str(file), vars(module), []).parts[0].stalls == []


def test_functions_in_other_files_are_looked_at_where_they_stand(tmp_path: Path) -> None:
    """Ours: tools and resolvers of a package's other modules; ours and installed ones are left alone."""
    (tmp_path / "questions_of_test_check.py").write_text(
        "from dataclasses import dataclass\nfrom leanmcp.elicit import Elicit\n\n\n@dataclass\nclass Key:\n"
        "    secret_key: str\n\n\ndef ask_key():\n    return Elicit('Key?', Key)\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        code = "from questions_of_test_check import Key, ask_key\n@mcp.tool\n"
        code += "async def f(key: Annotated[Key, Resolve(ask_key)]) -> str:\n    return ''\n"
        file, module = _loaded(tmp_path, code)
        server = describe(module.mcp, str(file), vars(module), [])
    finally:
        sys.path.remove(str(tmp_path))
        del sys.modules["questions_of_test_check"]
    [question] = server.questions
    assert question.place == Place(str(tmp_path / "questions_of_test_check.py"), 11)
    assert question.secret == "field 'secret_key' of the form Key asks for a secret (secret)"


def test_everything_has_its_line(tmp_path: Path) -> None:
    """Ours: also what has no function of the author's, such as a file, and the server itself."""
    (tmp_path / "a.txt").write_text("a")
    code = f"""
from functools import partial

class Box:
    def open(self) -> str:
        return ""

    def __call__(self) -> str:
        return ""

mcp.add_file("data://a", {str(tmp_path / "a.txt")!r})
mcp.add_tool(Box().open)
mcp.add_tool(partial(Box().open), "partial")
mcp.add_tool(Box(), "callable")
"""
    file, module = _loaded(tmp_path, code)
    server = describe(module.mcp, str(file), vars(module), [])
    lines = {part.name: file.read_text().splitlines()[part.place.line - 1].strip() for part in server.parts}
    assert lines == {
        "open": "def open(self) -> str:",
        "partial": "def open(self) -> str:",
        "callable": "def __call__(self) -> str:",
        "data://a": f'mcp.add_file("data://a", {str(tmp_path / "a.txt")!r})',
    }
    assert file.read_text().splitlines()[server.place.line - 1] == 'mcp = MCPServer("x")'


def test_a_file_that_is_gone_is_no_fault(tmp_path: Path) -> None:
    """Ours: then there is nothing to read."""
    file, module = _loaded(tmp_path, "@mcp.tool\nasync def f() -> None:\n    time.sleep(1)\n")
    file.unlink()
    server = describe(module.mcp, str(file), vars(module), [])
    assert (server.questions, server.parts[0].stalls, server.place.line) == ([], [], 0)


def test_every_file_of_ours_can_be_read() -> None:
    """Ours: whatever a file holds, reading it raises nothing."""
    for file in sorted(Path(__file__).parent.rglob("test_*.py"))[::8]:
        names: dict[str, Any] = {}
        assert isinstance(list(Source(str(file), file.name, names).questions()), list)
        assert isinstance(ast.parse(file.read_text()), ast.Module)


# --- what stands above the decorator that registers -------------------------------------------------------------------

DECORATORS = """
import functools

def logged(function):
    @functools.wraps(function)
    def tell(*args, **values):
        return function(*args, **values)
    return tell

def bare(function):
    def tell(*args, **values):
        return function(*args, **values)
    return tell

def noted(function):
    return function

"""


@pytest.mark.parametrize(
    ("code", "covered"),
    [
        ("@logged\n@mcp.tool\ndef f() -> str: return ''\n", ["f"]),
        ("@bare\n@mcp.tool\ndef f() -> str: return ''\n", ["f"]),
        ("@functools.lru_cache\n@mcp.tool\ndef f() -> str: return ''\n", ["f"]),
        ("@logged\n@bare\n@mcp.tool()\n@logged\ndef f() -> str: return ''\n", ["f"]),
        ("@logged\n@mcp.prompt\ndef f() -> str: return ''\n", ["f"]),
        ("@logged\n@mcp.resource('a://b')\ndef f() -> str: return ''\n", ["a://b"]),
        ("@mcp.tool\n@logged\ndef f() -> str: return ''\n", []),
        ("@noted\n@mcp.tool\ndef f() -> str: return ''\n", []),
        ("@mcp.tool\ndef f() -> str: return ''\ndef f() -> str: return 'another'\n", []),
        ("def f() -> str: return ''\nmcp.add_tool(logged(f))\n", []),
        ("def f() -> str: return ''\nmcp.tool(f)\ng = logged(f)\n", []),
        ("mcp.add_tool(lambda: '', name='f')\n", []),
        ("def f(a: int) -> int: return a\nmcp.add_tool(functools.partial(f, 1))\n", []),
        ("class A:\n    @logged\n    def f(self) -> str: return ''\nmcp.tool(A().f)\n", []),
        ("def make():\n    @logged\n    @mcp.tool\n    def f() -> str: return ''\nmake()\n", []),
    ],
)
def test_a_decorator_above_the_one_that_registers_is_found(tmp_path: Path, code: str, covered: list[str]) -> None:
    """Ours: LC507; what is served is the function below, and nobody else's function of that name is blamed."""
    file, module = _loaded(tmp_path, DECORATORS + code)
    server = describe(vars(module)["mcp"], str(file), vars(module), [])
    assert [part.name for part in server.parts if part.covered] == covered
