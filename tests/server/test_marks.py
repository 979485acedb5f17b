"""`leanmcp.tool` marks, `MCPServer.add_tools` registers: instances, classes and modules."""

import asyncio
import functools
import inspect
import typing
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from leanmcp import Context, MCPServer, tool
from leanmcp.server.keywords import FileKeywords, ResourceKeywords, ToolKeywords
from leanmcp.server.registration import ToolSpec
from leanmcp.server.resource import ResourceSpec
from leanmcp.server.resource_folders import FILE_OPTIONS
from leanmcp.types import ToolAnnotations
from tests.support.spec import request


class Counter:
    """Marked methods of every kind, between others."""

    def __init__(self, start: int = 0) -> None:
        self.value = start

    @tool
    def add(self, n: int) -> int:
        """Add to the counter."""
        self.value += n
        return self.value

    def helper(self) -> None: ...

    @tool("get_value", title="Value", annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
    async def get(self, ctx: Context[Any]) -> int:
        return self.value

    @tool()
    @classmethod
    def kind(cls) -> str:
        return cls.__name__

    @staticmethod
    @tool
    def double(n: int) -> int:
        return 2 * n

    @property
    def broken(self) -> int:
        raise RuntimeError("looked at")


class Special(Counter):
    @tool
    def first_of_subclass(self) -> int:
        return 1

    def add(self, n: int) -> int:
        return super().add(10 * n)

    @tool(title="Another")
    async def get(self, ctx: Context[Any]) -> int:
        return -self.value

    double = None  # type: ignore[assignment]


def server(*sources: object) -> MCPServer:
    mcp = MCPServer("marks")
    for source in sources:
        mcp.add_tools(source)
    return mcp


def names(mcp: MCPServer) -> list[str]:
    return [entry.name for entry in mcp.tools]


def call(mcp: MCPServer, name: str, **arguments: Any) -> str:
    answer = asyncio.run(request(mcp, "tools/call", {"name": name, "arguments": arguments}))
    assert not answer["result"]["isError"], answer
    return str(answer["result"]["content"][0]["text"])


def test_marked_methods_of_an_instance_are_registered_bound_in_order() -> None:
    """Ours: FIELD row 99; properties are not looked at, unmarked methods stay private."""
    counter = Counter(5)
    mcp = server(counter)
    assert names(mcp) == ["add", "get_value", "kind", "double"]
    assert call(mcp, "add", n=2) == "7"
    assert counter.value == 7
    assert call(mcp, "get_value") == "7"
    assert call(mcp, "kind") == "Counter"
    assert call(mcp, "double", n=4) == "8"
    entries = {entry.name: entry.entry for entry in mcp.tools}
    assert entries["add"].description == "Add to the counter."
    assert entries["get_value"].title == "Value"
    assert entries["get_value"].annotations == ToolAnnotations(read_only_hint=True)
    assert entries["get_value"].output_schema is None


def test_a_marked_function_is_still_that_function() -> None:
    """Ours: a mark changes nothing about a call."""

    @tool(name="other")
    def plus(a: int, b: int) -> int:
        return a + b

    assert plus(1, 2) == 3
    assert inspect.isfunction(plus)
    assert Counter(1).add(1) == 2
    assert Counter.double(2) == 4


def test_subclasses_inherit_override_and_take_away() -> None:
    """Ours: an override keeps place and mark, its own mark wins, None takes the tool away."""
    mcp = server(Special(1))
    assert names(mcp) == ["add", "get", "kind", "first_of_subclass"]
    assert call(mcp, "add", n=2) == "21"
    assert call(mcp, "get") == "-21"
    assert call(mcp, "kind") == "Special"


def test_a_class_gives_its_static_and_class_methods() -> None:
    """Ours: what needs no instance; the rest says what to do."""

    class Tools:
        @tool
        @classmethod
        def kind(cls) -> str:
            return cls.__name__

        @tool
        @staticmethod
        def double(n: int) -> int:
            return 2 * n

    mcp = server(Tools)
    assert names(mcp) == ["kind", "double"]
    assert call(mcp, "kind") == "Tools"
    with pytest.raises(TypeError, match=r"Counter\.add is a method of instances.*add_tools\(Counter\(\.\.\.\)\)"):
        server(Counter)


def test_marked_functions_of_a_module_are_registered_once() -> None:
    """Ours: in the order of the module, under the first of two names."""
    module = ModuleType("shop")

    @tool
    def sell(n: int) -> int:
        return n

    @tool("purchase")
    def buy(n: int) -> int:
        return -n

    module.sell, module.buy, module.vend = sell, buy, sell  # type: ignore[attr-defined]
    module.other = functools.partial(sell, 1)  # type: ignore[attr-defined]
    assert names(server(module)) == ["sell", "purchase"]


def test_functions_that_an_instance_holds_count_too() -> None:
    """Ours: whatever is found under the instance's names."""

    class Holder:
        def __init__(self) -> None:
            self.late = tool(lambda n: n)
            self.late.__annotations__["n"] = int
            self.late.__name__ = "late"

    assert names(server(Holder())) == ["late"]


def test_two_instances_need_two_names() -> None:
    """Ours: FIELD row 104; as for add_tool."""
    with pytest.raises(ValueError, match="'add' is registered already"):
        server(Counter(), Counter())


@pytest.mark.parametrize("source", [object(), ModuleType("empty"), int, None, 5])
def test_an_object_without_tools_is_refused(source: object) -> None:
    """Ours: a forgotten mark is told."""
    with pytest.raises(ValueError, match="has no tools; mark its methods with @tool"):
        server(source)


def test_a_mark_is_checked_where_it_stands() -> None:
    """Ours: a misspelt option, a property, a class."""
    mark: Any = tool
    with pytest.raises(TypeError, match="titel"):
        mark(titel="x")
    for wrong in (property(lambda self: 1), Counter, 5):
        with pytest.raises(TypeError, match="@tool marks functions and methods"):
            mark()(wrong)


def test_an_unbound_method_says_how() -> None:
    """Ours: FIELD row 99."""
    with pytest.raises(TypeError, match=r"an unbound method has no self.*as in add_tool\(obj.method\)"):
        MCPServer("marks").add_tool(Counter.add)


def test_a_mark_takes_the_options_of_a_registration() -> None:
    """Ours: one list of options in three places."""

    def options(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
        parameters = list(inspect.signature(function).parameters.values())
        return [(each.name, each.default, each.annotation) for each in parameters if each.name not in ("self", "fn")]

    (_, marking), (_, registering) = typing.get_overloads(tool), typing.get_overloads(MCPServer.tool)
    assert options(marking) == options(registering) == options(MCPServer.add_tool)


def test_type_checkers_and_programs_know_the_same_options() -> None:
    """Ours: `keywords` is read by checkers only, the specs and signatures by Python only."""
    by_place = list(inspect.signature(MCPServer.add_tool).parameters)[2:9]  # after self and fn
    assert [*by_place, *ToolKeywords.__annotations__] == list(ToolSpec.__struct_fields__)
    assert set(ResourceKeywords.__annotations__) == set(ResourceSpec.__struct_fields__)
    assert set(FileKeywords.__annotations__) == set(FILE_OPTIONS)


@pytest.mark.parametrize(
    ("register", "text"),
    [
        (lambda mcp: mcp.tool(titel="x")(len), "add_tool: unknown option 'titel'; did you mean 'title'?"),
        (lambda mcp: tool(tmeout=1), "tool: unknown option 'tmeout'; did you mean 'timeout'?"),  # type: ignore[call-overload]
        (lambda mcp: mcp.resource("x://y", max_siz=5), "resource: unknown option 'max_siz'; did you mean 'max_size'?"),
        (lambda mcp: mcp.add_resource(len, "x://y", color=5), "add_resource: unknown option 'color'"),
        (lambda mcp: mcp.add_file("x://y", __file__, thread=True), "add_file: unknown option 'thread'"),
        (lambda mcp: mcp.add_directory("x://{+y}", ".", timeout=5), "add_directory: unknown option 'timeout'"),
    ],
)
def test_an_unknown_option_is_refused(register: Callable[[Any], Any], text: str) -> None:
    """Ours: with the option that was probably meant."""
    with pytest.raises(TypeError) as error:
        register(MCPServer("marks"))
    assert str(error.value) == text
