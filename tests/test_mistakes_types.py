"""What authors are told, at registration, of types, constraints and marks in annotations."""

from __future__ import annotations

import logging
from typing import Any, LiteralString, Never, NoReturn

import pytest

from leanmcp import MCPServer
from tests.support.mistakes import Mistake, check, codes_of

TYPES = [
    Mistake(
        "LM130",
        """\
class A: pass
@mcp.tool
def add(a: A) -> int: return 1
""",
        "tool 'add': parameter 'a' has type A: it has no JSON form that can be decoded; use a type that "
        "JSON can carry or pass input_schema=",
    ),
    Mistake(
        "LM130",
        """\
class A: pass
@mcp.tool(structured_output=True)
def add(a: int) -> A: return 1
""",
        "tool 'add': return value has type A: it has no JSON form that can be decoded; use a type that "
        "JSON can carry or pass input_schema=",
    ),
    Mistake(
        "LM132",
        """\
@mcp.tool
def add(a: 5) -> int: return 1
""",
        "tool 'add': parameter 'a' has type 5: it is a value and no type; write its type, or Literal[...] for "
        "this alone",
    ),
    Mistake(
        "LM131",
        """\
@mcp.tool
def add(a: "Foo") -> int: return 1
""",
        "tool 'add': parameter 'a' has type 'Foo', which cannot be resolved: name 'Foo' is not defined; "
        "import or define the name where the function is, not under TYPE_CHECKING only",
    ),
    Mistake(
        "LM131",
        """\
@mcp.tool
def add(a: "list[int") -> int: return a
""",
        "tool 'add': parameter 'a' has type 'list[int', which cannot be resolved: Forward reference "
        "must be an expression -- got 'list[int'; correct how the type is written",
    ),
    Mistake(
        "LM131",
        """\
class Book(Model):
    year: "Yeer"
@mcp.tool
def add(book: Book) -> int: return 1
""",
        "tool 'add': class Book (parameter 'book') has type Book: field year: name 'Yeer' is not "
        "defined; define or import the name where the class is",
    ),
    Mistake(
        "LM132",
        """\
@mcp.tool
def add(a: [int]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type [<class 'int'>]: it is a value and no type; write a type such as list[int]",
    ),
    Mistake(
        "LM133",
        """\
@mcp.tool
def add(a: Field(ge=1)) -> int: return 1
""",
        "tool 'add': parameter 'a' has type Field(...): it is no type; write Annotated[int, Field(...)]",
    ),
    Mistake(
        "LM134",
        """\
@mcp.tool
def add(a: Annotated[int, Field(min_length=3)]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type int: constraint min_length does not fit it; leave it out",
    ),
    Mistake(
        "LM134",
        """\
@mcp.tool
def add(a: Annotated[str, Field(ge=3)]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type str: constraint ge does not fit it; leave it out",
    ),
    Mistake(
        "LM134",
        """\
@mcp.tool
def add(a: Annotated[str, Field(pattern="a", ge=3)]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type str: constraint ge does not fit it; leave it out",
    ),
    Mistake(
        "LM135",
        """\
@mcp.tool
def add(a: Annotated[int, Field(ge=5, le=3)]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type int: ge=5 and le=3 leave no value; correct the constraint",
    ),
    Mistake(
        "LM136",
        """\
@mcp.tool
def add(a: Annotated[int, Field(ge="5")]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type int: constraint ge='5' is no number; correct the constraint",
    ),
    Mistake(
        "LM136",
        """\
@mcp.tool
def add(a: Annotated[int, Field(ge=True)]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type int: constraint ge=True is no number; correct the constraint",
    ),
    Mistake(
        "LM138",
        """\
@mcp.tool
def add(a: dict[float, str]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type dict[float, str]: JSON objects have string keys; str, int, "
        "Enum and Literal of str fit; change the type or pass input_schema=",
    ),
    Mistake(
        "LM139",
        """\
@mcp.tool
def add(a: Literal[1.5]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type Literal[1.5]: JSON has strings, integers, booleans and null "
        "for a Literal; change the type or pass input_schema=",
    ),
    Mistake(
        "LM139",
        """\
class E(enum.Enum):
    A = 1
    B = "x"
@mcp.tool
def add(a: E) -> int: return 1
""",
        "tool 'add': parameter 'a' has type E: an Enum needs members that are all strings or all "
        "integers; change the type or pass input_schema=",
    ),
    Mistake(
        "LM140",
        """\
@mcp.tool
def add(a: list[Context]) -> int: return 1
""",
        "tool 'add': parameter 'a': Context stands inside the type, where it has no effect; write a: Context",
    ),
    Mistake(
        "LM140",
        """\
@mcp.tool
def add(a: Annotated[int, Context]) -> int: return 1
""",
        "tool 'add': parameter 'a': Context is the type itself; write a: Context",
    ),
    Mistake(
        "LM140",
        """\
@mcp.tool
def add(a: list[Context]) -> int: return 1
""",
        "tool 'add': parameter 'a': Context stands inside the type, where it has no effect; write a: Context",
    ),
    Mistake(
        "LM141",
        """\
@mcp.tool
def add(a: Context, b: Context) -> int: return 1
""",
        "tool 'add': parameter 'b': 'a' takes the context already; keep one of them",
    ),
    Mistake(
        "LM142",
        """\
@mcp.tool
def add(a: Annotated[int, Depends]) -> int: return 1
""",
        "tool 'add': parameter 'a': Depends is not called, and so has no effect; write a: "
        "Annotated[int, Depends(function)]",
    ),
    Mistake(
        "LM142",
        """\
@mcp.tool
def add(a: Annotated[int, Header]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type int: Header is not called, and so has no effect; write "
        "Annotated[..., Header(...)]",
    ),
    Mistake(
        "LM142",
        """\
@mcp.tool
def add(a: Annotated[str, Field]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type str: Field is not called, and so has no effect; write "
        "Annotated[..., Field(...)]",
    ),
    Mistake(
        "LM143",
        """\
def db(): return 1
@mcp.tool
def add(a: Annotated[int, db]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type int: nobody calls db, which stands beside it; write "
        "Depends(db) for its value",
    ),
    Mistake(
        "LM143",
        """\
@mcp.tool
def add(a: int, b: Annotated[int, lambda x: x > 0]) -> int: return 1
""",
        "tool 'add': parameter 'b' has type int: nobody calls the lambda, which stands beside it; check the argument "
        "in the function, or with Field(...)",
    ),
    Mistake(
        "LM144",
        """\
def db(): return 1
@mcp.tool
def add(a: Annotated[int, Depends(db())]) -> int: return 1
""",
        "Depends(1): give the function itself, without calling it",
    ),
    Mistake(
        "LM156",
        """\
@mcp.tool
def add(a: list[int, str]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type list[int, str]: a list has items of one type; write list[A | B], or "
        "tuple[A, B]",
    ),
    Mistake(
        "LM156",
        """\
@mcp.tool
def add(a: dict[str]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type dict[str]: a dict has keys of one type and values of one; write "
        "dict[str, A | B]",
    ),
    Mistake(
        "LM145",
        """\
@mcp.tool
def add(a: Depends(print)) -> int: return 1
""",
        "tool 'add': parameter 'a': Depends(print) is no type; write a: Annotated[YourType, Depends(print)]",
    ),
    Mistake(
        "LM145",
        """\
@mcp.tool
def add(a: Annotated[Annotated[int, Depends(len)] | None, "x"]) -> int: return 1
""",
        "tool 'add': parameter 'a': Depends(len) stands inside the type, where it has no effect; write "
        "a: Annotated[int | None, Depends(len)], around the whole of it",
    ),
    Mistake(
        "LM146",
        """\
def dep(b: int): return b
@mcp.tool
def add(a: Annotated[int, Depends(dep)]) -> int: return 1
""",
        "tool 'add': dependency dep wants 'b', but the function has no argument of this name; give it a "
        "default, or Annotated[..., Depends(...)]",
    ),
    Mistake(
        "LM146",
        """\
def one(x: Annotated[int, Depends(lambda y: 1)]): return 1
@mcp.tool
def add(a: Annotated[int, Depends(one)]) -> int: return 1
""",
        "tool 'add': dependency <lambda> wants 'y', but the function has no argument of this name; give "
        "it a default, or Annotated[..., Depends(...)]",
    ),
    Mistake(
        "LM147",
        """\
@dataclass
class P:
    x: int = Field(ge=1)
@mcp.tool
def add(a: P) -> int: return 1
""",
        "tool 'add': class P (parameter 'a') has type P: field x has Field as its default; write "
        "Annotated[..., Field(...)] or use Model",
    ),
    Mistake(
        "LM148",
        """\
@mcp.tool
def add(a: Annotated[dict, Header("Region")]) -> int: return 1
""",
        "tool 'add': parameter 'a' has type dict: Header marks strings, integers and booleans only; leave Header out",
    ),
    Mistake(
        "LM149",
        """\
@mcp.tool
def add(a: Annotated[str, Header("My Region")]) -> int: return 1
""",
        "Header('My Region'): an HTTP field name has letters, digits and !#$%&'*+-.^_`|~ only",
    ),
    Mistake(
        "LM150",
        """\
from leanmcp.elicit import *
class Form(Model):
    password: str
def ask() -> Elicit[Form]: return Elicit("x", Form)
@mcp.tool
def add(a: Annotated[Form, Resolve(ask)]) -> int: return 1
""",
        "field 'password' of the form Form asks for a secret (password); forms pass through the client, "
        "so ask with elicit_url (ElicitURL) on a page of yours, or rename the field if it is none",
    ),
    Mistake(
        "LM152",
        """\
def one(x: "Annotated[int, Depends(two)]"): return 1
def two(x: Annotated[int, Depends(one)]): return 1
@mcp.tool
def add(a: Annotated[int, Depends(one)]) -> int: return 1
""",
        "tool 'add': dependencies run in a circle: one -> two -> one",
    ),
]


@pytest.mark.parametrize("mistake", TYPES, ids=lambda mistake: mistake.message[:60])
def test_a_type_that_cannot_be_is_told_at_registration(mistake: Mistake) -> None:
    """Ours: goals U9 to U12; each message says what, where and what to write instead, and has one page."""
    check(mistake)


class Opaque:
    """Has no JSON form."""


def test_a_result_that_has_no_json_form_is_warned_of_at_registration(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: goal U12; no refusal, as a subclass may have one. structured_output=False says that it is meant."""
    mcp = MCPServer("demo")

    def look() -> Opaque:
        return Opaque()

    with caplog.at_level(logging.WARNING, "leanmcp"):
        mcp.add_tool(look, "quiet", structured_output=False)
        assert caplog.messages == []
        mcp.add_tool(look)
    (message,) = caplog.messages
    assert message == (
        "tool 'look': return value has type Opaque: it has no JSON form that can be decoded; calls fail unless "
        "JSON can say what it returns: return a dict, a dataclass or a Model [LM130]"
    )
    assert codes_of(message) == ["LM130"]


@pytest.mark.parametrize("kind", [bytearray, memoryview, LiteralString, Never, NoReturn, bytearray | None])
def test_a_type_of_a_result_that_can_be_sent_is_not_warned_of(kind: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: goal U12: a good server says nothing."""

    def look() -> Any: ...

    look.__annotations__["return"] = kind
    with caplog.at_level(logging.WARNING, "leanmcp"):
        MCPServer("demo").add_tool(look)
    assert caplog.messages == []
