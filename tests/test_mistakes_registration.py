"""What authors are told, at registration, of functions that cannot be tools, prompts or resources."""

from __future__ import annotations

import pytest

from tests.support.mistakes import Mistake, check

SIGNATURES = [
    Mistake(
        "LM101",
        """\
@mcp.tool
def add(a, b): return 1
""",
        "tool 'add': parameter 'a' has no type; annotate it, as in a: str, or pass input_schema=",
    ),
    Mistake(
        "LM102",
        """\
@mcp.tool
def add(*args: int) -> int: return 1
""",
        "tool 'add': parameter 'args': a tool cannot take *args; name each argument or pass input_schema=",
    ),
    Mistake(
        "LM102",
        """\
@mcp.tool
def add(**kw: int) -> int: return 1
""",
        "tool 'add': parameter 'kw': a tool cannot take **kw; name each argument or pass input_schema=",
    ),
    Mistake(
        "LM102",
        """\
def deco(f):
    def inner(*args, **kwargs): return f(*args, **kwargs)
    return inner
@mcp.tool
@deco
def add(a: int) -> int: return 1
""",
        "tool 'inner': parameter 'args': a tool cannot take *args; name each argument or pass "
        "input_schema=; if this is the inner function of a decorator, put @functools.wraps(function) "
        "above it",
    ),
    Mistake(
        "LM103",
        """\
@mcp.tool
def add(a: int, ctx) -> int: return 1
""",
        "tool 'add': parameter 'ctx' has no type; annotate it, as in ctx: Context, from leanmcp import Context",
    ),
    Mistake(
        "LM104",
        """\
mcp.add_tool(lambda a: a)
""",
        "a lambda needs name=",
    ),
    Mistake(
        "LM105",
        """\
@mcp.tool
async def add(a: int):
    yield a
""",
        "tool 'add' is a generator; return a value, or a list of what it would yield",
    ),
    Mistake(
        "LM105",
        """\
@mcp.tool
def add(a: int):
    yield a
""",
        "tool 'add' is a generator; return a value, or a list of what it would yield",
    ),
    Mistake(
        "LM105",
        """\
@mcp.resource("config://x")
def r() -> str: yield ""
""",
        "resource 'config://x' is a generator; return a value, or a list of what it would yield",
    ),
    Mistake(
        "LM106",
        """\
mcp.add_tool(5)
""",
        "a tool is a function, not 5",
    ),
    Mistake(
        "LM107",
        """\
@mcp.tool
class Add:
    def __call__(self, a: int) -> int: return a
""",
        "a tool is a function, not the class Add; give an object of it, add_tool(Add())",
    ),
    Mistake(
        "LM107",
        """\
@mcp.tool
class Add:
    def __init__(self, a: int) -> None: pass
""",
        "a tool is a function, not the class Add; give an object of it, add_tool(Add())",
    ),
    Mistake(
        "LM108",
        """\
class A:
    @mcp.tool
    @classmethod
    def add(cls, a: int) -> int: return 1
""",
        "tool 'add' is a classmethod of a class that is not made yet; register A.add below the class",
    ),
    Mistake(
        "LM108",
        """\
class A:
    @mcp.tool
    @staticmethod
    def add(a: int) -> int: return 1
""",
        "tool 'add' is a staticmethod of a class that is not made yet; register A.add below the class",
    ),
    Mistake(
        "LM108",
        """\
class A:
    @mcp.tool()
    @classmethod
    def add(cls, a: int) -> int: return 1
""",
        "tool 'add' is a classmethod of a class that is not made yet; register A.add below the class",
    ),
    Mistake(
        "LM109",
        """\
class A:
    @mcp.tool
    def add(self, a: int) -> int: return 1
""",
        "tool 'add': parameter 'self': an unbound method has no self; register the bound one, as in "
        "add_tool(obj.method)",
    ),
    Mistake(
        "LM110",
        """\
@mcp.tool
def add(a: int = "x") -> int: return 1
""",
        "tool 'add': parameter 'a': the default 'x' does not fit int: Input should be a valid integer; "
        "correct the default or the annotation",
    ),
    Mistake(
        "LM110",
        """\
@mcp.tool
def add(a: list[str] = {}) -> int: return 1
""",
        "tool 'add': parameter 'a': the default {} does not fit list[str]: Input should be a valid "
        "array; correct the default or the annotation",
    ),
    Mistake(
        "LM110",
        """\
class E(enum.Enum):
    A = "a"
@mcp.tool
def add(a: E = "b") -> int: return 1
""",
        "tool 'add': parameter 'a': the default 'b' does not fit E: Input should be 'a'; correct the "
        "default or the annotation",
    ),
    Mistake(
        "LM111",
        """\
@mcp.tool
def add(a: str = None) -> int: return 1
""",
        "tool 'add': parameter 'a': the default None is no str; write a: str | None = None",
    ),
    Mistake(
        "LM112",
        """\
class E(enum.Enum):
    A = "a"
@mcp.tool
def add(a: E = "a") -> int: return 1
""",
        "tool 'add': parameter 'a': the default 'a' is a str and no E; write E.A",
    ),
    Mistake(
        "LM112",
        """\
@mcp.tool
def add(a: datetime.date = "2026-01-01") -> int: return 1
""",
        "tool 'add': parameter 'a': the default '2026-01-01' is a str and no date; give a date",
    ),
    Mistake(
        "LM112",
        """\
class Day(enum.Enum):
    MONDAY = "mon"
@mcp.tool
def add(a: Day = "mon") -> int: return 1
""",
        "tool 'add': parameter 'a': the default 'mon' is a str and no Day; write Day.MONDAY",
    ),
    Mistake(
        "LM110",
        """\
class Day(enum.StrEnum):
    MONDAY = "mon"
@mcp.tool
def add(a: Day | None = "MONDAY") -> int: return 1
""",
        "tool 'add': parameter 'a': the default 'MONDAY' does not fit Day | None: Input should be 'mon'; "
        "write Day.MONDAY",
    ),
    Mistake(
        "LM113",
        """\
@mcp.tool
def add(a: Annotated[int, Field(default=3)] = 4) -> int: return 1
""",
        "tool 'add': parameter 'a' has two defaults, 4 and 3; keep one of them",
    ),
    Mistake(
        "LM114",
        """\
mcp.tool(description="x")(max)
""",
        "tool 'max': no signature found for builtin <built-in function max>; write a function around it",
    ),
    Mistake(
        "LM114",
        """\
mcp.add_tool(functools.partial(int))
""",
        "tool 'int': no signature found for builtin type <class 'int'>; write a function around it",
    ),
    Mistake(
        "LM115",
        """\
@mcp.tool
def add(a: Annotated[str, Header("Region")], b: Annotated[str, Header("region")]) -> int: return 1
""",
        "tool 'add': parameters 'a' and 'b' share the header region; rename one",
    ),
    Mistake(
        "LM115",
        """\
@mcp.tool
def add(a: Annotated[str, Field(alias="b")], b: int) -> int: return 1
""",
        "tool 'add': parameters 'a' and 'b' share the name b; rename one",
    ),
    Mistake(
        "LM116",
        """\
@mcp.tool
def add(__class__: int) -> int: return 1
""",
        "tool 'add': parameter '__class__' has a name that Python keeps for itself; rename it and "
        "publish the old name with Field(alias='__class__')",
    ),
    Mistake(
        "LM117",
        """\
@mcp.tool
def add(ctx: Context, /) -> int: return 1
""",
        "tool 'add': parameter 'ctx': the context is passed by name; move the parameter behind the /",
    ),
    Mistake(
        "LM118",
        """\
@mcp.prompt
def p(a: str) -> int: return a
""",
        "prompt 'p': a prompt returns a text, a message or a list of them, not int",
    ),
]


@pytest.mark.parametrize("mistake", SIGNATURES, ids=lambda mistake: mistake.message[:60])
def test_a_signature_that_cannot_be_is_told_at_registration(mistake: Mistake) -> None:
    """Ours: goals U9 to U12; each message says what, where and what to write instead, and has one page."""
    check(mistake)
