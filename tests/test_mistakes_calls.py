"""What a call with a mistake in it tells the model, and the log of the server's author, word for word."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.support.failing import MOST_LINES, plain, run_calls
from tests.support.mistakes import FOREIGN, codes_of

MOST_OF_A_FAULT = 300  # characters


class Mistake(NamedTuple):
    """A row of the table.

    Args:
        code: of the page about it.
        source: of tools, of which `tool` is called, behind `begin` where there is one.
        arguments: of the call.
        answer: what the model reads.
        log: what the author reads.
    """

    code: str
    source: str
    arguments: dict[str, Any]
    answer: str
    log: str


MISTAKES = [
    Mistake(
        "LM503",
        'from leanmcp import Image\n@mcp.tool\ndef tool() -> list:\n    return ["a", Image(data=b"b", format="png")]\n',
        {},
        "Tool 'tool': the result has no JSON form at [1]: Image has no JSON form; it is content: return it alone, or "
        "in a list annotated `-> list[str | Image]` or not at all",
        "WARNING tool tool: The result has no JSON form at [1]: Image has no JSON form; it is content: return it "
        "alone, or in a list annotated `-> list[str | Image]` or not at all [LM503]",
    ),
    Mistake(
        "LM523",
        '@mcp.tool\ndef tool():\n    return {"content": [], "isError": True}\n',
        {},
        '{"content":[],"isError":true}',
        "WARNING tool tool: it returned a dict with content and isError, which is sent as data; to fail, raise "
        "ToolError(text), or return CallToolResult(content=[...], is_error=True) [LM523]",
    ),
    Mistake(
        "LM502",
        "async def fetch() -> int: return 1\n@mcp.tool\nasync def tool() -> int:\n    return fetch()\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: coroutine has no JSON form; did you "
        "forget `await`, as in `await fetch(...)`?",
        "WARNING tool tool: The result has no JSON form at its root: coroutine has no JSON form; did "
        "you forget `await`, as in `await fetch(...)`? [LM502]",
    ),
    Mistake(
        "LM502",
        'async def fetch() -> int: return 1\n@mcp.tool\nasync def tool():\n    return {"items": [fetch()]}\n',
        {},
        "Tool 'tool': the result has no JSON form at items[0]: coroutine has no JSON form; did you "
        "forget `await`, as in `await fetch(...)`?",
        "WARNING tool tool: The result has no JSON form at items[0]: coroutine has no JSON form; did "
        "you forget `await`, as in `await fetch(...)`? [LM502]",
    ),
    Mistake(
        "LM503",
        "@mcp.tool\nasync def tool():\n    return object()\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: object has no JSON form",
        "WARNING tool tool: The result has no JSON form at its root: object has no JSON form; return "
        "text, numbers, lists, dicts, dataclasses, or Image, Audio, File [LM503]",
    ),
    Mistake(
        "LM503",
        "@mcp.tool\nasync def tool():\n    return {object()}\n",
        {},
        "Tool 'tool': the result has no JSON form at [0]: object has no JSON form",
        "WARNING tool tool: The result has no JSON form at [0]: object has no JSON form; return text, "
        "numbers, lists, dicts, dataclasses, or Image, Audio, File [LM503]",
    ),
    Mistake(
        "LM503",
        '@mcp.tool\nasync def tool() -> float:\n    return float("nan")\n',
        {},
        "Tool 'tool': the result has no JSON form at its root: nan is no JSON number; return None instead",
        "WARNING tool tool: The result has no JSON form at its root: nan is no JSON number; return None "
        "instead [LM503]",
    ),
    Mistake(
        "LM503",
        '@mcp.tool\nasync def tool():\n    return {"rows": [{"size": float("inf")}]}\n',
        {},
        "Tool 'tool': the result has no JSON form at rows[0].size: inf is no JSON number; return None instead",
        "WARNING tool tool: The result has no JSON form at rows[0].size: inf is no JSON number; return "
        "None instead [LM503]",
    ),
    Mistake(
        "LM503",
        "@mcp.tool\nasync def tool():\n    return (n for n in range(3))\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: generator has no JSON form; return a "
        "list of what it yields",
        "WARNING tool tool: The result has no JSON form at its root: generator has no JSON form; return "
        "a list of what it yields [LM503]",
    ),
    Mistake(
        "LM503",
        "@mcp.tool\nasync def tool():\n    return map(str, [1])\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: "
        "map has no JSON form; return a list of it, as `list(...)` makes one",
        "WARNING tool tool: The result has no JSON form at its root: "
        "map has no JSON form; return a list of it, as `list(...)` makes one [LM503]",
    ),
    Mistake(
        "LM503",
        '@mcp.tool\nasync def tool():\n    return {"a": 1}.keys()\n',
        {},
        "Tool 'tool': the result has no JSON form at its root: "
        "dict_keys has no JSON form; return a list of it, as `list(...)` makes one",
        "WARNING tool tool: The result has no JSON form at its root: "
        "dict_keys has no JSON form; return a list of it, as `list(...)` makes one [LM503]",
    ),
    Mistake(
        "LM503",
        "@mcp.tool\nasync def tool():\n    import io\n    return io.StringIO()\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: "
        "StringIO has no JSON form; return what it holds, as `read()` gives it",
        "WARNING tool tool: The result has no JSON form at its root: "
        "StringIO has no JSON form; return what it holds, as `read()` gives it [LM503]",
    ),
    Mistake(
        "LM503",
        "@mcp.tool\nasync def tool():\n    return int\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: "
        "type has no JSON form; it is a class; return an object of it, as `int(...)` makes one",
        "WARNING tool tool: The result has no JSON form at its root: "
        "type has no JSON form; it is a class; return an object of it, as `int(...)` makes one [LM503]",
    ),
    Mistake(
        "LM502",
        "@mcp.tool\nasync def tool():\n    import asyncio\n    return asyncio.ensure_future(asyncio.sleep(0))\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: Task has no JSON form; did you forget `await`?",
        "WARNING tool tool: The result has no JSON form at its root: "
        "Task has no JSON form; did you forget `await`? [LM502]",
    ),
    Mistake(
        "LM503",
        "@mcp.tool\nasync def tool():\n    return len\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: builtin_function_or_method has no JSON form",
        "WARNING tool tool: The result has no JSON form at its root: builtin_function_or_method has no "
        "JSON form; return text, numbers, lists, dicts, dataclasses, or Image, Audio, File [LM503]",
    ),
    Mistake(
        "LM503",
        "def helper() -> int: return 1\n@mcp.tool\nasync def tool():\n    return helper\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: function has no JSON form; did you "
        "forget to call it, as in `helper(...)`?",
        "WARNING tool tool: The result has no JSON form at its root: function has no JSON form; did you "
        "forget to call it, as in `helper(...)`? [LM503]",
    ),
    Mistake(
        "LM503",
        '@mcp.tool\nasync def tool():\n    return ValueError("no")\n',
        {},
        "Tool 'tool': the result has no JSON form at its root: ValueError has no JSON form; raise it "
        "instead of returning it",
        "WARNING tool tool: The result has no JSON form at its root: ValueError has no JSON form; raise "
        "it instead of returning it [LM503]",
    ),
    Mistake(
        "LM503",
        "@mcp.tool\nasync def tool():\n    return {(1, 2): 3}\n",
        {},
        "Tool 'tool': the result has no JSON form at its root: tuple is no key of a JSON object; write str(key)",
        "WARNING tool tool: The result has no JSON form at its root: tuple is no key of a JSON object; "
        "write str(key) [LM503]",
    ),
    Mistake(
        "LM503",
        '@mcp.tool\nasync def tool() -> str:\n    return "\\ud800"\n',
        {},
        "Tool 'tool': the result has no JSON form at its root: the text holds a lone surrogate",
        "WARNING tool tool: The result has no JSON form at its root: the text holds a lone surrogate [LM503]",
    ),
    Mistake(
        "LM503",
        "@mcp.tool\nasync def tool():\n    rows = []\n    rows.append(rows)\n    return rows\n",
        {},
        "Tool 'tool': the result has no JSON form at "
        "[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: a container holds itself or is "
        "nested too deeply",
        "WARNING tool tool: The result has no JSON form at "
        "[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: a container holds itself or is "
        "nested too deeply [LM503]",
    ),
    Mistake(
        "LM504",
        '@mcp.tool\nasync def tool() -> int:\n    return "one"\n',
        {},
        'Invalid result of tool tool:\nInput should be a valid integer, got "one"',
        "WARNING tool tool: it returned what its return annotation or output_schema= does not allow: "
        'Input should be a valid integer, got "one" [LM504]',
    ),
    Mistake(
        "LM504",
        '@mcp.tool\nasync def tool() -> str:\n    "x"\n',
        {},
        "Invalid result of tool tool:\nInput should be a valid string, got null",
        "WARNING tool tool: it returned what its return annotation or output_schema= does not allow: "
        "Input should be a valid string, got null; did you forget `return`? [LM504]",
    ),
    Mistake(
        "LM504",
        "import json\n@mcp.tool\nasync def tool() -> dict[str, int]:\n    return json.dumps({'a': 1})\n",
        {},
        'Invalid result of tool tool:\nInput should be an object, got "{\\"a\\": 1}"',
        "WARNING tool tool: it returned what its return annotation or output_schema= does not allow: "
        'Input should be an object, got "{\\"a\\": 1}"; return the value itself, without json.dumps [LM504]',
    ),
    Mistake(
        "LM504",
        '@mcp.tool\nasync def tool() -> dict[str, int]:\n    return {"a": 1, "b": "x", "c": None}\n',
        {},
        "Invalid result of tool tool:\n"
        'b: Input should be a valid integer, got "x"\n'
        "c: Input should be a valid integer, got null",
        "WARNING tool tool: it returned what its return annotation or output_schema= does not allow: b: "
        'Input should be a valid integer, got "x" [LM504]\n'
        "c: Input should be a valid integer, got null",
    ),
    Mistake(
        "LM504",
        '@mcp.tool\nasync def tool() -> list[str]:\n    return "abc"\n',
        {},
        'Invalid result of tool tool:\nInput should be a valid array, got "abc"',
        "WARNING tool tool: it returned what its return annotation or output_schema= does not allow: "
        'Input should be a valid array, got "abc" [LM504]',
    ),
    Mistake(
        "LM505",
        '@mcp.tool(max_result=1000)\nasync def tool() -> str:\n    return "x" * 1000\n',
        {},
        "Tool 'tool': the result has 2223 bytes, over the 1000 allowed; ask for less at once",
        "WARNING tool tool: The result has 2223 bytes, over the 1000 allowed; ask for less at once [LM505]",
    ),
    Mistake(
        "LM506",
        '@mcp.tool\nasync def tool() -> str:\n    return "x" * 1_000_000\n',
        {},
        "x" * 1_000_000,
        "WARNING tool tool: a result of 2,000,223 bytes is more than most models and hosts take; return "
        "less, in pages, or a ResourceLink; max_result= sets a limit [LM506]",
    ),
    Mistake(
        "LM514",
        "kept = []\n"
        "@mcp.tool\n"
        "async def begin(ctx: Context) -> str:\n"
        "    kept.append(ctx)\n"
        '    return ""\n'
        "@mcp.tool\n"
        "async def tool() -> str:\n"
        "    await kept[0].report_progress(1)\n"
        '    return "told"\n',
        {},
        "told",
        "WARNING tool begin: its Context was used after the call had been answered, which reaches "
        "nobody; take `ctx: Context` in each call, and do not keep it [LM514]",
    ),
    Mistake(
        "LM514",
        "kept = []\n"
        "@mcp.tool\n"
        "async def begin(ctx: Context) -> str:\n"
        "    kept.append(ctx)\n"
        '    return ""\n'
        "@mcp.tool\n"
        "async def tool() -> str:\n"
        '    await kept[0].elicit("Sure?", Sure)\n'
        '    return "told"\n',
        {},
        "Tool 'tool' failed unexpectedly; the server's log has the details under id <id>",
        "WARNING tool begin: its Context was used after the call had been answered, which reaches "
        "nobody; take `ctx: Context` in each call, and do not keep it [LM514]\n"
        "ERROR tool tool failed [<id>] [LM501]\n"
        "Traceback (most recent call last):\n"
        '  File "server.py", line 13, in tool\n'
        '    await kept[0].elicit("Sure?", Sure)\n'
        "RuntimeError: the call of 'begin' has been answered: nobody can be asked any more",
    ),
    Mistake(
        "LM515",
        '@mcp.tool\nasync def tool(ctx: Context) -> str:\n    return (await ctx.elicit("Sure?", Sure)).action\n',
        {},
        "This request needs the client capability 'elicitation.form', which is not in _meta's "
        "clientCapabilities (a Python client takes elicitation_callback=, a TypeScript one "
        "{elicitation: {form: {}}}); without it, give what would be asked for in the arguments, where "
        "they take it",
        "",
    ),
    Mistake(
        "LM516",
        "@mcp.tool(timeout=0.01)\nasync def tool() -> str:\n    await asyncio.Event().wait()\n",
        {},
        "Tool 'tool' did not finish within 0.01 seconds",
        "",
    ),
    Mistake(
        "LM518",
        "@mcp.tool\nasync def tool() -> str:\n    raise ToolError\n",
        {},
        "Tool 'tool' failed",
        "WARNING tool tool: it raised a ToolError without a text: say what is wrong, and what to send instead [LM518]",
    ),
    Mistake(
        "LM519",
        '@mcp.tool\nasync def tools() -> str:\n    return ""\n',
        {},
        "Unknown tool: 'tool'; did you mean 'tools'?",
        "",
    ),
    Mistake("LM519", '@mcp.tool\nasync def other() -> str:\n    return ""\n', {}, "Unknown tool: 'tool'", ""),
    Mistake(
        "LM520",
        '@mcp.tool\nasync def tool(city: str, days: int = 1) -> str:\n    return ""\n',
        {"cty": "Rom"},
        "Invalid arguments for tool tool:\n"
        "city: Field required\n"
        "cty: Extra inputs are not permitted; accepted names: city, days; did you mean 'city'?",
        "",
    ),
    Mistake(
        "LM520",
        '@mcp.tool\nasync def tool(city: str, days: int = 1) -> str:\n    return ""\n',
        {"city": 3, "days": "soon"},
        "Invalid arguments for tool tool:\n"
        "city: Input should be a valid string, got 3\n"
        'days: Input should be a valid integer, got "soon"',
        "",
    ),
    Mistake(
        "LM520",
        '@mcp.tool\nasync def tool(city: str, days: int = 1) -> str:\n    return ""\n',
        {},
        "Invalid arguments for tool tool:\ncity: Field required",
        "",
    ),
    Mistake(
        "LM520",
        '@mcp.tool\nasync def tool(kind: Literal["a", "b"]) -> str:\n    return ""\n',
        {"kind": "c"},
        "Invalid arguments for tool tool:\nkind: Input should be 'a' or 'b', got \"c\"",
        "",
    ),
    Mistake(
        "LM520",
        '@mcp.tool\nasync def tool(sure: bool) -> str:\n    return ""\n',
        {"sure": "maybe"},
        'Invalid arguments for tool tool:\nsure: Input should be a valid boolean, got "maybe"',
        "",
    ),
    Mistake(
        "LM520",
        '@mcp.tool\nasync def tool(size: Annotated[int, Field(ge=1, le=50)]) -> str:\n    return ""\n',
        {"size": 999},
        "Invalid arguments for tool tool:\nsize: Input should be less than or equal to 50, got 999",
        "",
    ),
    Mistake(
        "LM520",
        '@mcp.tool\nasync def tool(tags: list[int]) -> str:\n    return ""\n',
        {"tags": [1, "x", None]},
        "Invalid arguments for tool tool:\n"
        'tags[1]: Input should be a valid integer, got "x"\n'
        "tags[2]: Input should be a valid integer, got null",
        "",
    ),
    Mistake(
        "LM520",
        '@mcp.tool\nasync def tool(text: str) -> str:\n    return ""\n',
        {"text": ["x" * 5000]},
        "Invalid arguments for tool tool:\n"
        "text: Input should be a valid string, got "
        '["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...',
        "",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.code)
def test_a_mistake_is_told_to_whom_it_concerns(mistake: Mistake) -> None:
    """Ours: goals U9, U10, U14 to U16: what, where and what to do, and the code of the page in the log."""
    names = ("begin", "tool") if "def begin" in mistake.source else ("tool",)
    seen = run_calls(mistake.source, mistake.arguments, *names)
    assert (seen.answer, plain(seen.log)) == (mistake.answer, mistake.log)
    told = mistake.log or mistake.answer
    first = told.splitlines()[0].removeprefix("WARNING ")
    assert mistake.code in codes_of(first)
    if mistake.log:
        assert first.endswith(f"[{mistake.code}]")
    if mistake.code != "LM506":
        assert not FOREIGN.search(mistake.answer)
        assert all(len(line) <= MOST_OF_A_FAULT for line in mistake.answer.splitlines())
    assert mistake.log.count("\n") < MOST_LINES


def test_what_reaches_the_model_stays_short() -> None:
    """Ours: goal U14: at most 4 KB, whatever was sent."""
    source = "@mcp.tool\nasync def tool(rows: list[int]) -> str:\n    return ''\n"
    seen = run_calls(source, {"rows": ["y" * 1000] * 1000}, "tool")
    assert len(seen.answer) <= 4096
    assert max(map(len, seen.answer.splitlines())) <= MOST_OF_A_FAULT
