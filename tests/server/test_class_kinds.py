"""Classes that msgspec makes in another way than they make themselves."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import re
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Generic, TypeVar
from unittest import mock

import attrs
import msgspec
import pydantic
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from typing_extensions import ReadOnly, TypeAliasType, TypedDict
from typing_extensions import TypeVar as TypeVarWithDefault

from leanmcp import MCPServer, Model
from leanmcp.elicit import Resolve
from leanmcp.server.signature import InvalidArguments, Signature
from tests.support.spec import request
from tests.support.tool_calls import result, text

T = TypeVar("T")
D = TypeVarWithDefault("D", default=int)


@dataclasses.dataclass(frozen=True)
class Book(Generic[T]):
    title: T
    pages: int = 100
    tags: list[str] = dataclasses.field(default_factory=list)


class Shelf(Model):
    books: dict[str, list[Book[str]]]


@attrs.define
class Room:
    book: Book[str]


def serving(tool: Callable[..., Any]) -> MCPServer:
    """Return a server with one tool."""
    server = MCPServer("classes")
    server.add_tool(tool)
    return server


@pytest.mark.parametrize(
    ("annotation", "sent"),
    [
        (Book[str], {"title": "Dune"}),
        (Shelf, {"books": {"a": [{"title": "Dune"}]}}),
        (tuple[Room, ...], [{"book": {"title": "Dune"}}]),
    ],
)
def test_what_a_dataclass_has_by_default_is_in_the_result_that_hands_it_on(annotation: Any, sent: Any) -> None:
    """Ours: the same members, in the same order, as of an object that the class itself made."""

    async def tool(value: Any) -> Any:
        return value

    tool.__annotations__ = {"value": annotation}
    assert '{"title":"Dune","pages":100,"tags":[]}' in text(result(serving(tool), "tool", value=sent))


def arguments_of(annotation: Any, value: object) -> Any:
    """Return the value that a function with a parameter of this type gets."""

    def tool(value: Any) -> None: ...

    tool.__annotations__ = {"value": annotation}
    return Signature(tool, tool_name="tool").read(msgspec.json.encode({"value": value}))[1]["value"]


@dataclasses.dataclass
class Computed:
    width: int
    area: int = dataclasses.field(init=False)


@attrs.define
class Counted:
    count: int = attrs.field(init=False, default=0)


@attrs.define
class Converted:
    count: int = attrs.field(converter=int)


@attrs.define
class Private:
    _count: int


@dataclasses.dataclass
class Mapped(dict):  # type: ignore[type-arg]
    width: int


@dataclasses.dataclass
class Failed(Exception):
    width: int


class Locked(TypedDict):
    width: ReadOnly[int]


class Cat(pydantic.BaseModel):
    name: str


class Dog(Cat):
    bark: int = 3


class Name(pydantic.BaseModel, frozen=True):
    name: str


@pytest.mark.parametrize(
    ("annotation", "sent"),
    [
        (frozenset[Name], [{"name": "Tom"}]),
        (frozenset[Name | int], [1]),
        (pydantic.JsonValue, {"a": [1, None, "b"]}),
        (list[pydantic.JsonValue], ["a", {}]),
    ],
)
def test_what_pydantic_makes_goes_around(annotation: Any, sent: Any) -> None:
    """Ours: objects in a set, and any JSON at all."""

    def tool(value: Any) -> Any:
        return value

    tool.__annotations__ = {"value": annotation, "return": annotation}
    assert result(serving(tool), "tool", value=sent)["structuredContent"] == {"result": sent}


@pytest.mark.parametrize(
    ("annotation", "fault"),
    [
        (Computed, "field area has init=False, but clients could fill it; take a class without it"),
        (list[Counted], "field count has init=False"),
        (Converted, "the converter of field count would not be run; convert in the function"),
        # msgspec makes them without their inside, and their first use ends the process.
        (Mapped, "it has no JSON form that can be decoded"),
        (Failed, "it has no JSON form that can be decoded"),
        (set[list[int]], "a set holds what has a hash; take a list, or make the class frozen"),
        (frozenset[Shelf], "a set holds what has a hash"),
        (set[Cat], "a set holds what has a hash"),
        (Locked, "leave ReadOnly out, and write the type inside"),
        (TypeAliasType("Many", "list[D]", type_params=(D,))[int], "name 'D' is not defined"),  # type: ignore[arg-type]
    ],
)
def test_a_class_that_would_not_be_what_it_is_is_refused(annotation: Any, fault: str) -> None:
    """Ours: at registration, with the way out."""
    with pytest.raises(TypeError, match=r"tool 'tool': .*parameter 'value'") as caught:
        arguments_of(annotation, {})
    assert fault in str(caught.value)


def test_a_private_field_of_attrs_is_taken_and_not_written(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: msgspec reads it by its name, and leaves it out of what it writes."""

    def tool() -> Any:
        return Private(2)

    assert arguments_of(Private, {"_count": 2}) == Private(2)
    tool.__annotations__["return"] = Private
    fault = "tool 'tool': class Private (return value) has type Private: field _count would be left out of what is "
    fault += "written, for its _; rename it"
    with pytest.raises(TypeError, match=re.escape(fault)):
        MCPServer("classes").add_tool(tool, structured_output=True)
    serving(tool)
    assert [record.getMessage() for record in caplog.records] == [fault]


def test_a_computed_field_is_in_results() -> None:
    """Ours: nobody fills it there."""

    def tool() -> Computed:
        computed = Computed(2)
        computed.area = 4
        return computed

    assert result(serving(tool), "tool")["structuredContent"] == {"width": 2, "area": 4}


class Boxed(Model, Generic[D]):
    content: D


@pytest.mark.parametrize(("annotation", "sent"), [(D, 1), (Boxed, {"content": 1}), (list[Boxed], [{"content": 1}])])
def test_a_type_variable_stands_for_its_default(annotation: Any, sent: Any) -> None:
    """Ours: PEP 696; what is sent in its place is refused."""
    arguments_of(annotation, sent)
    wrong = msgspec.json.decode(msgspec.json.encode(sent).replace(b"1", b'"one"'))
    with pytest.raises(InvalidArguments, match="Input should be a valid integer"):
        arguments_of(annotation, wrong)


def test_a_time_that_must_have_a_zone_has_one() -> None:
    """Ours: `tz=` of msgspec is a constraint as the others are."""
    arguments_of(Annotated[datetime.datetime, msgspec.Meta(tz=True)] | None, "2026-11-30T09:00:00Z")
    with pytest.raises(TypeError, match="constraint tz does not fit"):
        arguments_of(Annotated[str, msgspec.Meta(tz=True)], "2026-11-30")


@pytest.mark.parametrize(
    ("kind", "tz", "sent", "wanted"),
    [
        (datetime.datetime, True, "2026-11-30T09:00:00", "datetime with a time zone, such as 2026-11-30T09:00:00Z"),
        (datetime.datetime, False, "2026-11-30T09:00:00Z", "datetime without a time zone, such as 2026-11-30T09:00:00"),
        (datetime.time, True, "09:00:00", "time with a time zone, such as 09:00:00Z"),
        (datetime.time, False, "09:00:00Z", "time without a time zone, such as 09:00:00"),
    ],
)
def test_a_time_is_told_whether_it_has_a_zone(kind: Any, tz: bool, sent: str, wanted: str) -> None:
    """Ours: what stands there as an example is taken."""
    bounded = Annotated[kind, msgspec.Meta(tz=tz)]
    with pytest.raises(InvalidArguments) as refusal:
        arguments_of(bounded, sent)
    fault = f"Invalid arguments for tool tool:\nvalue: Input should be a valid {wanted}"
    assert str(refusal.value) == f'{fault}, got "{sent}"'
    arguments_of(bounded, wanted.rpartition(" ")[2])
    with pytest.raises(InvalidArguments, match=f"a valid {wanted} or a valid boolean, got 5"):
        arguments_of(bounded | bool, 5)


def _kind(value: Any) -> str:
    return "dog" if hasattr(value, "bark") else "cat"


def test_alternatives_that_a_function_tells_apart_may_overlap() -> None:
    """Spec: server/tools, "Output Schema": structured results conform to it; each cat has what a dog has, too."""
    pets = Annotated[
        Annotated[Cat, pydantic.Tag("cat")] | Annotated[Dog, pydantic.Tag("dog")], pydantic.Discriminator(_kind)
    ]

    def tool() -> list[Any]:
        return [Cat(name="Tom"), Dog(name="Rex")]

    tool.__annotations__["return"] = list[pets]
    server = serving(tool)
    (entry,) = asyncio.run(request(server, "tools/list", {}))["result"]["tools"]
    Draft202012Validator(entry["outputSchema"]).validate(result(server, "tool")["structuredContent"])


def _endless() -> None: ...


_endless.__wrapped__ = _endless  # type: ignore[attr-defined]


def _raising(value: 1 / 0) -> None: ...  # type: ignore[valid-type]


class Ticker:
    async def __call__(self) -> AsyncIterator[int]:
        yield 1


async def _asks(value: Annotated[int, Resolve(Ticker())]) -> None: ...


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (Ticker(), "tool 'tool' is a generator; return a value"),
        (_asks, "resolver 'Ticker' is a generator; return a value"),
        (mock.Mock(), "parameter 'args': a tool cannot take"),  # it has every attribute, `func` of a partial too
        (mock.AsyncMock(), "parameter 'args': a tool cannot take"),
        (_endless, "wrapper loop"),
        (_raising, "parameter 'value' has type '1 / 0', which cannot be resolved: division by zero; correct"),
    ],
)
def test_a_callable_that_cannot_be_read_is_refused_at_once(function: Any, fault: str) -> None:
    """Ours: registration ends, whatever it is given."""
    with pytest.raises((TypeError, ValueError)) as caught:
        MCPServer("callables").add_tool(function, name="tool")
    assert fault in str(caught.value)


class Left(msgspec.Struct, tag="left", array_like=True):
    width: int


class Right(msgspec.Struct, tag="right", array_like=True):
    width: int


@pytest.mark.parametrize(
    ("annotation", "sent", "fault"),
    [
        (Left | Right, ["left", "wide"], r"value\[1\]: Input should be a valid integer"),
        (Left | Right, ["middle", 1], r"value\[0\]: Input should be 'left' or 'right'"),
        (Left | Right, [], r"value\[0\]: Input should be 'left' or 'right'"),
        (Left, ["right", 1], r"value\[0\]: Input should be 'left'"),
        (Left, ["left"], "value: List should have at least 2 items"),
    ],
)
def test_a_tag_at_the_head_of_an_array_tells_classes_apart(annotation: Any, sent: Any, fault: str) -> None:
    """Ours: `array_like` and `tag` of msgspec, as the schema publishes them."""
    assert arguments_of(annotation, ["left", 1]) == Left(1)
    with pytest.raises(InvalidArguments, match=fault):
        arguments_of(annotation, sent)
