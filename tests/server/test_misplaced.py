"""Markers in places where they have no effect: the server refuses the function instead of trusting the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Optional

import pytest

from leanmcp import Context, Depends, MCPServer, Model
from leanmcp.elicit import Accepted, Declined, Elicit, ElicitURL, Resolve


class User(Model):
    name: str


def who() -> User:
    return User(name="anna")


async def ask() -> Elicit[User]:
    return Elicit("Who?", User)


class Clock:
    async def provide(self, scope: Any, name: str, annotation: Any) -> int:
        return 1


class Depending(Model):
    user: Annotated[int, Depends(who)]


class security:  # noqa: N801 - stands for the module of another framework
    class Depends:
        def __init__(self, function: Callable[..., Any]) -> None:
            self.function = function


def _taking(annotation: Any, default: Any = ...) -> Callable[..., Any]:
    """Return a function with one parameter `user`."""

    async def tool(user: Any) -> str:
        return str(user)

    tool.__annotations__["user"] = annotation
    tool.__defaults__ = None if default is ... else (default,)
    return tool


ASKED = "where `ask` is a function that returns Elicit(message, YourForm)"
WRONG = [
    (
        Annotated[User, Depends],
        "Depends is not called, and so has no effect; write user: Annotated[User, {}(function)]",
    ),
    (
        Annotated[User, Resolve],
        "Resolve is not called, and so has no effect; write user: Annotated[User, {}(function)]",
    ),
    (Annotated[User, Clock], "Clock is not called, and so has no effect; write user: Annotated[User, {}(...)]"),
    (
        Annotated[User, Elicit("Who?", User)],
        f"Elicit cannot stand beside a type; write user: Annotated[User, Resolve(ask)], {ASKED}",
    ),
    (
        Annotated[User, ElicitURL],
        f"ElicitURL cannot stand beside a type; write user: Annotated[User, Resolve(ask)], {ASKED}",
    ),
    (Annotated[User, Context], "Context is the type itself; write user: Context"),
    (Annotated[User, security.Depends(who)], f"Depends of {__name__} has no effect here; from leanmcp import Depends"),
    (
        Annotated[User, Depends(who), Resolve(ask)],
        "Depends(who) and Resolve(ask) both give the value; keep one of them",
    ),
    (Resolve(ask), "Resolve(ask) is no type; write user: Annotated[YourType, Resolve(ask)]"),
    (Depends(who), "Depends(who) is no type; write user: Annotated[YourType, Depends(who)]"),
    (Depends, "Depends(function) is no type; write user: Annotated[YourType, Depends(function)]"),
    (Elicit[User], f"Elicit is no type of a value; write user: Annotated[YourForm, Resolve(ask)], {ASKED}"),
    (
        Optional[Annotated[User, Depends(who)]],  # noqa: UP045
        "Depends(who) stands inside the type, where it has no effect; "
        "write user: Annotated[User | None, Depends(who)], around the whole of it",
    ),
    (
        list[Annotated[User, Resolve(ask)]],
        "Resolve(ask) stands inside the type, where it has no effect; "
        "write user: Annotated[..., Resolve(ask)], around the whole of it",
    ),
    (
        Accepted[User] | Declined,
        "Accepted is how a question ends, which clients do not send; "
        f"write user: Annotated[Accepted[...], Resolve(ask)], {ASKED}",
    ),
]


@pytest.mark.parametrize(("annotation", "text"), WRONG)
def test_a_marker_without_effect_is_refused(annotation: Any, text: str) -> None:
    """Ours: the parameter would be an argument that any client chooses."""
    mcp, tool = MCPServer("markers"), _taking(annotation)
    with pytest.raises(TypeError) as refusal:
        mcp.add_tool(tool)
    named = text.split()[0]
    assert str(refusal.value) == f"tool 'tool': parameter 'user': {text.format(named)}"
    with pytest.raises(TypeError, match=r"^prompt 'tool': parameter 'user': "):
        mcp.add_prompt(tool)
    with pytest.raises(TypeError, match=r"^resource 'users://\{user\}': parameter 'user': "):
        mcp.add_resource(tool, "users://{user}")
    assert not mcp.tools


@pytest.mark.parametrize(("annotation", "text"), [row for row in WRONG if "ends, which" not in row[1]])
def test_it_is_refused_in_resolvers_and_dependencies(annotation: Any, text: str) -> None:
    """Ours: when the function that wants them is registered; by name, they could take an argument of the client."""
    mcp, inner = MCPServer("markers"), _taking(annotation)
    for marker, noun in ((Depends(inner), "dependency"), (Resolve(inner), "resolver")):
        with pytest.raises(TypeError) as refusal:
            mcp.add_tool(_taking(Annotated[str, marker]))
        assert str(refusal.value).startswith(f"{noun} 'tool': parameter 'user': {text.split(';')[0]}")


@pytest.mark.parametrize("default", [Depends, Resolve, Elicit("Who?", User), security.Depends(who)])
def test_it_is_refused_as_a_default(default: Any) -> None:
    """Ours: `user: User = Depends` is as wrong as `Annotated[User, Depends]`."""
    with pytest.raises(TypeError, match=r"^tool 'tool': parameter 'user': (Depends|Resolve|Elicit) "):
        MCPServer("markers").add_tool(_taking(User, default))


def test_it_is_refused_in_a_field() -> None:
    """Ours: parameters are filled, not the members of what a client sends."""
    with pytest.raises(TypeError) as refusal:
        MCPServer("markers").add_tool(_taking(Depending))
    assert str(refusal.value) == (
        "tool 'tool': field 'user' of Depending (parameter 'user') has type int: what gives a value in place of the "
        "client stands beside the type of a parameter, not of a field; change the type or pass input_schema="
    )


def test_a_type_of_the_authors_may_have_a_method_of_that_name() -> None:
    """Ours: `provide` tells a marker only where markers stand."""

    class Offer(Model):
        price: int

        def provide(self) -> int:
            return self.price

    mcp = MCPServer("markers")
    mcp.add_tool(_taking(Offer))
    assert mcp.tools[0].entry.input_schema["required"] == ["user"]
