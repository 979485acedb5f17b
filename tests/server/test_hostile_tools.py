"""What careless tool authors write and hostile clients send: told at registration, or answered within the call."""

from __future__ import annotations

import asyncio
import contextvars
import datetime
import decimal
import threading
import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import Field, File, Image, MCPError, MCPServer, Model, ToolError
from leanmcp.types import CallToolResult, TextContent
from tests.support.processes import DEADLINE
from tests.support.spec import request


class Int(int):
    """Says nothing true of itself."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Float(float):
    """As numpy's float64 is one."""


class Bytes(bytes):
    pass


class Stamp(datetime.datetime):
    """As that of pandas, of pendulum and of freezegun is one."""

    def isoformat(self, *args: Any, **options: Any) -> str:
        raise RuntimeError("no text")


class NotATime(Stamp):
    """As NaT of pandas is one."""

    __hash__ = None  # type: ignore[assignment]

    def __ne__(self, other: object) -> bool:
        return True


class Day(datetime.date):
    pass


class Clock(datetime.time):
    pass


class Span(datetime.timedelta):
    pass


class Amount(decimal.Decimal):
    pass


class Mute:
    """Cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Array:
    """Behaves as a numpy array does: no truth value, no hash, equality by element."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")

    def tolist(self) -> list[int]:
        raise RuntimeError("not now")


class Moody(dict[str, Any]):
    """A dict whose own methods fail."""

    def __iter__(self) -> Any:
        raise RuntimeError("not now")

    def items(self) -> Any:
        raise RuntimeError("not now")


def call(value: Any, annotation: Any = None) -> dict[str, Any]:
    """Return the result of a tool that returns `value`."""
    mcp = MCPServer("hostile")

    def tool() -> Any:
        return value

    tool.__annotations__ = {} if annotation is None else {"return": annotation}
    mcp.add_tool(tool, thread=False)
    answer: dict[str, Any] = asyncio.run(request(mcp, "tools/call", {"name": "tool"}))["result"]
    return answer


def text(answer: dict[str, Any]) -> str:
    """Return the text of the only block."""
    [block] = answer["content"]
    return str(block["text"])


# Results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Int(5), 5),
        (Text("x"), "x"),
        (Float(1.5), 1.5),
        (Bytes(b"hi"), "aGk="),
        (Moody(a=None), {"a": None}),
        (Stamp(2026, 11, 30, 9, tzinfo=datetime.UTC), "2026-11-30T09:00:00Z"),
        (Day(2026, 11, 30), "2026-11-30"),
        (Clock(9, 30, microsecond=5), "09:30:00.000005"),
        (Span(hours=-1), "-PT3600S"),
        (Amount("1.50"), "1.50"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_instances_of_subclasses_travel_as_what_they_are(value: Any, shown: Any) -> None:
    """Ours: FIELD row 113; whatever their own methods do, alone and inside of others."""
    assert msgspec.json.decode(text(call({"v": [value]}))) == {"v": [shown]}
    assert call({"v": value}, dict[str, Any])["structuredContent"] == {"v": shown}
    assert text(call(value)) == (shown if type(value) is Text else msgspec.json.encode(shown).decode())


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (Mute(), "at v: Mute has no JSON form"),
        (Array(), "at v: Array has no JSON form; return what its `tolist()` gives"),
        (NotATime(1, 1, 1), "at v: NotATime is no date; return None instead"),
        (Float("nan"), "at v: nan is no JSON number"),
        (..., "at v: ellipsis has no JSON form"),
        ((n for n in range(3)), "at v: generator has no JSON form"),
        ({(1, 2): 3}, "at v: tuple is no key of a JSON object"),
        ({None: 3}, "at v: NoneType is no key of a JSON object"),
        ({True: 3}, "at v: bool is no key of a JSON object"),
        ({Mute(): 3}, "at v: Mute is no key of a JSON object"),
        (10**5000, "at v: the integer has over 4,300 digits"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_json_form_is_told_with_its_path(value: Any, reason: str) -> None:
    """Ours: FIELD row 113, policy P4."""
    for annotation in (None, dict[str, Any]):
        answer = call({"v": value}, annotation)
        assert answer["isError"] is True
        assert reason in text(answer)


def test_a_raw_value_neither_splits_nor_breaks_the_message() -> None:
    """Spec: basic/transports/stdio: a message holds no newline; policy P4: only JSON leaves."""
    assert call({"v": msgspec.Raw(b'{"a":\n1}')}, dict[str, Any])["structuredContent"] == {"v": {"a": 1}}
    assert "\n" not in text(call([msgspec.Raw(b'{"a":\r\n1}')]))
    for bad in (b"NaN", b"{bad", b""):
        assert call(msgspec.Raw(bad))["isError"] is True
        assert call({"v": msgspec.Raw(bad)}, dict[str, Any])["isError"] is True
        whole = CallToolResult(content=[], structured_content={"v": msgspec.Raw(bad)})
        assert call(whole, CallToolResult)["isError"] is True


class Half(msgspec.Struct):
    part: msgspec.Raw


@pytest.mark.parametrize("raw", [b'{"a":', b"NaN", b"", b'"\xff"', b"1}", b"{bad"])
@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda bad: {"v": [{"w": bad}]}, "v[0].w"),
        (lambda bad: Half(bad), "part"),
        (lambda bad: [TextContent(text="x"), {"v": bad}], "v"),
        (lambda bad: TextContent(text="x", meta={"v": bad}), "_meta.v"),
        (lambda bad: Image(data=b"x", meta={"v": bad}), "_meta.v"),
        (lambda bad: File(data="x", name="a", meta={"v": bad}), "_meta.v"),
        (lambda bad: CallToolResult(content=[], meta={"v": bad}), "v"),
        (lambda bad: CallToolResult(content=[{"v": bad}]), "v"),  # type: ignore[list-item]
    ],
    ids=["dict", "struct", "mixed", "block", "image", "file", "meta", "content"],
)
def test_a_raw_value_that_is_no_json_is_told_wherever_it_stands(
    make: Callable[[msgspec.Raw], Any], path: str, raw: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Spec: basic/index, "Messages": a response is JSON; policy P4: told to the model and to the log."""
    answer = call(make(msgspec.Raw(raw)))
    assert answer["isError"] is True
    assert f"the result has no JSON form at {path}: this msgspec.Raw is no JSON: " in text(answer)
    assert "this msgspec.Raw is no JSON" in caplog.text


def test_nan_in_what_a_block_carries_is_an_error() -> None:
    """Ours: policy P4; never a silent null."""
    meta = {"v": [1.0, float("inf")]}
    for block in (TextContent(text="x", meta=meta), Image(data=b"x", meta=meta), File(data="x", name="a", meta=meta)):
        assert "at _meta.v[1]: inf is no JSON number" in text(call([block]))


@pytest.mark.parametrize("error", [lambda: ToolError(Mute()), lambda: MCPError("one", 5)])  # type: ignore[arg-type]
def test_an_error_that_cannot_be_told_is_masked(error: Any) -> None:
    """Ours: policy P3; a tool's own mistake is no JSON-RPC error, and nothing without its shape is sent."""
    mcp = MCPServer("errors")

    @mcp.tool
    async def tool() -> None:
        raise error()

    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool"}))["result"]
    assert answer["isError"] is True
    assert text(answer).startswith("Tool 'tool' failed unexpectedly; the server's log has the details under id ")


# Signatures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["self", "cls", "ctx", "_meta", "arguments", "args", "kwargs", "name", "value", "raw", "result", "copy", "mro"],
)
def test_a_parameter_may_have_a_name_that_we_use_ourselves(name: str) -> None:
    """Ours: arguments are attributes of an object, and none of ours collides with them."""
    names: dict[str, Any] = {}
    exec(f"def tool({name}: int, other: int = 1) -> int:\n    return {name} + other", names)
    mcp = MCPServer("names")
    mcp.add_tool(names["tool"])
    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": {name: 5}}))
    assert answer["result"]["structuredContent"] == {"result": 6}


@pytest.mark.parametrize("name", ["__init__", "__post_init__", "__module__", "__dict__", "__class__", "__slots__"])
def test_a_parameter_with_a_name_of_pythons_is_refused(name: str) -> None:
    """Ours: `__module__` was filled with a module's name, whatever had been sent."""
    names: dict[str, Any] = {}
    exec(f"def tool({name}: int) -> int:\n    return 1", names)
    with pytest.raises(TypeError, match=rf"tool 'tool': parameter '{name}' .*alias='{name}'"):
        MCPServer("names").add_tool(names["tool"])


def test_property_names_that_some_vendors_refuse_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: FIELD row 102; inside of models too, once each, and reserved words of Python are good names."""

    class Item(Model):
        unit: str = Field(alias="unit price")

    def tool(
        items: list[Item], sender: Annotated[str, Field(alias="from")], user: Annotated[str, Field(alias="user[name]")]
    ) -> None: ...

    mcp = MCPServer("vendors")
    mcp.add_tool(tool)
    assert [record.args for record in caplog.records] == [("tool", "user[name]"), ("tool", "unit price")]
    arguments = {"items": [{"unit price": "1"}], "from": "a", "user[name]": "b"}
    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": arguments}))["result"]
    assert answer["isError"] is False


@pytest.mark.parametrize("annotation", [[int], {"a": int}])
def test_a_value_in_place_of_a_type_is_refused_in_words(annotation: Any) -> None:
    """Ours: U12; the tool, the parameter and a type that works."""

    def tool(v: Any) -> None: ...

    tool.__annotations__["v"] = annotation
    with pytest.raises(TypeError, match=r"tool 'tool': parameter 'v' .* it is a value and no type"):
        MCPServer("types").add_tool(tool)


@pytest.mark.parametrize("nullable", ["anyOf", "type"])
def test_null_a_string_and_absence_are_taken_where_a_parameter_is_optional(nullable: Any) -> None:
    """Ours: FIELD row 97."""
    mcp = MCPServer("null", nullable=nullable)

    @mcp.tool
    async def tool(v: str | None = None, w: Literal["a"] | None = None) -> list[str | None]:
        return [v, w]

    for arguments in ({}, {"v": None, "w": None}, {"v": "null", "w": "a"}):
        answer = asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": arguments}))["result"]
        assert answer["structuredContent"] == {"result": [arguments.get("v"), arguments.get("w")]}


def test_published_schemas_are_plain_objects_of_2020_12_at_their_root() -> None:
    """Ours: FIELD rows 93 to 96; no `$schema`, no union at the root, `properties` always, no draft-07 keyword."""
    mcp = MCPServer("roots")

    def nothing() -> None: ...
    def union(body: dict[str, int] | list[int] | None) -> dict[str, int] | list[int]: ...  # type: ignore[empty-body]
    def fixed(pair: tuple[int, str], key: dict[Literal["a", "b"], int]) -> tuple[int, str]: ...  # type: ignore[empty-body]

    for function in (nothing, union, fixed):
        mcp.add_tool(function)
    for tool in asyncio.run(request(mcp, "tools/list", {}))["result"]["tools"]:
        for schema in filter(None, (tool["inputSchema"], tool.get("outputSchema"))):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert isinstance(schema["properties"], dict)
            assert not {"$schema", "anyOf", "oneOf", "allOf", "definitions"} & set(schema)
            shown = msgspec.json.encode(schema)
            assert not [word for word in (b"additionalItems", b"definitions", b"dependencies") if word in shown]


# Size -------------------------------------------------------------------------------------------------------------


def test_a_class_of_ten_thousand_fields_is_read_in_a_few_seconds() -> None:
    """Ours: one pass over its fields; half a minute before."""
    wide = msgspec.defstruct("Wide", [(f"p{n}", int, n) for n in range(10_000)], forbid_unknown_fields=True)
    mcp = MCPServer("wide")

    def tool(v: Any) -> int:
        return sum(msgspec.structs.astuple(v))

    tool.__annotations__["v"] = wide
    before = time.perf_counter()
    mcp.add_tool(tool)
    values = {f"p{n}": 1 for n in range(10_000)}
    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": {"v": values}}))["result"]
    assert answer["structuredContent"] == {"result": 10_000}
    strangers = {f"q{n}": 1 for n in range(10_000)}
    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": {"v": strangers}}))["result"]
    assert answer["isError"] is True
    assert time.perf_counter() - before < DEADLINE
    assert len(text(answer).encode()) <= 4096


def test_unions_and_choices_may_be_large() -> None:
    """Ours: 300 tagged classes and 5,000 literals; a refusal names a few and counts the rest."""
    classes = [msgspec.defstruct(f"S{n}", [("x", int)], tag=True) for n in range(300)]
    mcp = MCPServer("large")

    def tool(v: Any, w: Any) -> None: ...

    union: Any = classes[0]
    for other in classes[1:]:
        union = union | other
    tool.__annotations__ = {"v": union, "w": Literal[tuple(f"v{n}" for n in range(5000))]}
    mcp.add_tool(tool)
    arguments = {"v": {"type": "S299", "x": "bad"}, "w": "nope"}
    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": arguments}))["result"]
    first, second = text(answer).splitlines()[1:]
    assert first == 'v.x: Input should be a valid integer, got "bad"'
    assert second.endswith('or one of 4988 more, got "nope"')


def test_five_thousand_tools_are_listed_and_called() -> None:
    """Ours: registration in linear time; every name is found, and the closest one to a wrong name."""
    mcp = MCPServer("many")
    for number in range(5000):

        async def tool(a: int = number) -> int:
            return a

        mcp.add_tool(tool, name=f"tool_{number}")
    assert len(asyncio.run(request(mcp, "tools/list", {}))["result"]["tools"]) == 5000
    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool_4999"}))
    assert answer["result"]["structuredContent"] == {"result": 4999}
    error = asyncio.run(request(mcp, "tools/call", {"name": "tol_4999"}))["error"]
    assert error["message"] == "Unknown tool: 'tol_4999'; did you mean 'tool_4999'?"


@pytest.mark.parametrize("text", ["a" * 10_001, "a" * 1_000_000])
def test_a_pattern_that_may_be_slow_is_not_tried_on_a_long_text(text: str) -> None:
    """Ours: FIELD row 49; `a+b` looks at `aaa` from every place, which is quadratic."""
    mcp = MCPServer("pattern")

    @mcp.tool
    async def tool(slow: Annotated[str, Field(pattern="a+b")], quick: Annotated[str, Field(pattern="^a*$")]) -> int:
        return len(quick)

    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": {"slow": text, "quick": text}}))
    [_, line] = answer["result"]["content"][0]["text"].splitlines()
    assert line.startswith("slow: String should have at most 10000 characters")


# Context ----------------------------------------------------------------------------------------------------------


def test_a_hundred_calls_at_once_keep_their_context_variables_apart() -> None:
    """Ours: FIELD row 13; in threads, and each thread sees what its caller had set."""
    caller: contextvars.ContextVar[int] = contextvars.ContextVar("caller")
    together = threading.Barrier(100, timeout=DEADLINE)
    mcp = MCPServer("context")

    @mcp.tool
    def tool() -> int:
        together.wait()
        seen = caller.get()
        caller.set(-1)
        return seen

    async def one(number: int) -> int:
        caller.set(number)
        answer = await request(mcp, "tools/call", {"name": "tool"})
        assert caller.get() == number
        return int(answer["result"]["structuredContent"]["result"])

    async def main() -> list[int]:
        return await asyncio.gather(*(one(number) for number in range(100)))

    assert asyncio.run(main()) == list(range(100))
