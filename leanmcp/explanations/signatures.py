"""LM10x to LM11x: what may be a tool, a prompt or a resource, and its parameters."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM101",
        "a parameter has no type",
        r"has no type; annotate it, as in \w+: (?!Context)",
        "The schema that clients get is made from the annotations. What has none would be anything, and the model "
        "would have to guess. Parameters of prompts and resources are texts unless they are annotated.",
        """\
@mcp.tool
def add(a, b): return a + b
""",
        """\
@mcp.tool
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM102",
        "a function takes *args or **kwargs",
        r"cannot take \*",
        "Arguments travel by name, and the schema lists the names. A decorator whose inner function takes *args "
        "and **kwargs hides the names of yours; functools.wraps shows them again.",
        """\
@mcp.tool
def total(*numbers: int) -> int: return sum(numbers)
""",
        """\
@mcp.tool
def total(numbers: list[int]) -> int: return sum(numbers)
""",
    ),
    Page(
        "LM103",
        "the parameter for the request has no type",
        r"has no type; annotate it, as in \w+: Context",
        "A parameter gets the request by its annotation, whatever its name is. Without one it would be an argument "
        "that clients send.",
        """\
@mcp.tool
def whoami(ctx) -> str: return str(ctx.client_info)
""",
        """\
@mcp.tool
def whoami(ctx: Context) -> str: return str(ctx.client_info)
""",
    ),
    Page(
        "LM104",
        "a lambda has no name",
        r"a lambda needs name=",
        "Names of tools come from the functions, and a lambda has none.",
        """\
mcp.add_tool(lambda: "pong")
""",
        """\
mcp.add_tool(lambda: "pong", "ping")
""",
    ),
    Page(
        "LM105",
        "a generator cannot be a tool",
        r"is a generator; return a value",
        "A result is sent as a whole, so a function returns it. Progress on the way is reported through the Context.",
        """\
@mcp.tool
async def count(to: int):
    for number in range(to):
        yield number
""",
        """\
@mcp.tool
async def count(to: int, ctx: Context) -> list[int]:
    await ctx.report_progress(0, to)
    return list(range(to))
""",
    ),
    Page(
        "LM106",
        "something that is no function is registered",
        r"\b(tool|prompt|resource) is a function, not (?!the class)|is no function; register it from",
        "Tools, prompts and resources are functions, methods, partials, or objects that can be called.",
        """\
mcp.add_tool(print("hello"), "hello")
""",
        """\
mcp.add_tool(lambda: print("hello"), "hello")
""",
    ),
    Page(
        "LM107",
        "a class is registered as a tool",
        r"is a function, not the class",
        "Calling a class makes an object, which is no result. Register an object of it that can be called, or one "
        "of its methods; `mcp.add_tools(object)` registers every method that @tool marks.",
        """\
@mcp.tool
class Adder:
    def __call__(self, a: int, b: int) -> int: return a + b
""",
        """\
class Adder:
    def __call__(self, a: int, b: int) -> int: return a + b
mcp.add_tool(Adder())
""",
    ),
    Page(
        "LM108",
        "a classmethod or staticmethod is registered inside of its class",
        r"of a class that is not made yet|is a property; take @property away",
        "While the body of a class runs there is no class yet that the method could be bound to.",
        """\
class Math:
    @mcp.tool
    @classmethod
    def add(cls, a: int, b: int) -> int: return a + b
""",
        """\
class Math:
    @classmethod
    def add(cls, a: int, b: int) -> int: return a + b
mcp.add_tool(Math.add)
""",
    ),
    Page(
        "LM109",
        "a method is registered without its object",
        r"an unbound method has no (self|cls)",
        "The decorator meets the function before there is any object, so that nobody would fill `self`. Mark the "
        "methods with @tool, and register an object.",
        """\
class Math:
    @mcp.tool
    def add(self, a: int, b: int) -> int: return a + b
""",
        """\
class Math:
    @tool
    def add(self, a: int, b: int) -> int: return a + b
mcp.add_tools(Math())
""",
    ),
    Page(
        "LM110",
        "a default does not fit its type",
        r"the default .* does not fit",
        "The schema publishes the default, so that it must be a value that the schema allows.",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(ge=1)] = 0) -> str: return ""
""",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(ge=1)] = 10) -> str: return ""
""",
    ),
    Page(
        "LM111",
        "the default is None, and the type is not optional",
        r"the default None is no ",
        "Python does not mind, but the schema would refuse the null that it names as the default.",
        """\
@mcp.tool
def search(genre: str = None) -> str: return ""
""",
        """\
@mcp.tool
def search(genre: str | None = None) -> str: return ""
""",
    ),
    Page(
        "LM112",
        "a default is the text of a value, not the value",
        r"the default .* is an? (str|int) and no ",
        "What a client sends becomes a value of the annotated type; a default is handed over as it stands.",
        """\
@mcp.tool
def since(day: datetime.date = "2026-01-01") -> str: return day.isoformat()
""",
        """\
@mcp.tool
def since(day: datetime.date = datetime.date(2026, 1, 1)) -> str: return day.isoformat()
""",
    ),
    Page(
        "LM113",
        "a parameter has two defaults",
        r"has two defaults",
        "One is in the Field and one in the signature, and they differ.",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(default=5)] = 10) -> str: return ""
""",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(ge=1)] = 10) -> str: return ""
""",
    ),
    Page(
        "LM114",
        "a method or a builtin shows no signature",
        r"; write a function around it",
        "Some functions that are written in C do not tell their parameters.",
        """\
mcp.add_tool(max)
""",
        """\
@mcp.tool
def largest(numbers: list[float]) -> float: return max(numbers)
""",
    ),
    Page(
        "LM115",
        "two parameters share a name or a header",
        r"share the (name|header) ",
        "Their arguments, or the HTTP fields that mirror them, could not be told apart; names of headers are the "
        "same in upper and lower case.",
        """\
@mcp.tool
def move(start: Annotated[str, Header("Region")], end: Annotated[str, Header("region")]) -> str: return end
""",
        """\
@mcp.tool
def move(start: Annotated[str, Header("From-Region")], end: Annotated[str, Header("To-Region")]) -> str: return end
""",
    ),
    Page(
        "LM116",
        "a parameter has a name that Python keeps for itself",
        r"has a name that Python keeps for itself",
        "Arguments are attributes of an object on their way, and names such as __class__ are taken there.",
        """\
@mcp.tool
def describe(__class__: str) -> str: return __class__
""",
        """\
@mcp.tool
def describe(kind: Annotated[str, Field(alias="__class__")]) -> str: return kind
""",
    ),
    Page(
        "LM117",
        "a given value cannot be passed by position",
        r"is passed by name; move",
        "The context and the values of dependencies are passed by name, which a parameter in front of the / does "
        "not take.",
        """\
@mcp.tool
def whoami(ctx: Context, /) -> str: return str(ctx.client_info)
""",
        """\
@mcp.tool
def whoami(ctx: Context) -> str: return str(ctx.client_info)
""",
    ),
    Page(
        "LM118",
        "a prompt returns what is no message",
        r"a prompt returns a text, a message or a list of them, not",
        "The messages of a prompt are texts, or content for a model to read.",
        """\
@mcp.prompt
def answer() -> int: return 42
""",
        """\
@mcp.prompt
def answer() -> str: return "42"
""",
    ),
    Page(
        "LM119",
        "a method has no self",
        r"so self is missing; write def",
        "Python hands a method its object as the first argument, whatever the parameter is called, so that the "
        "argument of the client would get no parameter.",
        """\
class Shop:
    def buy(item: str) -> str: return item
mcp.add_tool(Shop().buy)
""",
        """\
class Shop:
    def buy(self, item: str) -> str: return item
mcp.add_tool(Shop().buy)
""",
    ),
    Page(
        "LM120",
        "the function does not stand where it belongs",
        r"the function comes first; write|the URI is missing; write|takes the URI alone; write",
        "add_tool, add_prompt and add_resource take the function, then the name or the URI; @mcp.resource takes the "
        "URI, and the function stands below it.",
        """\
def search(text: str) -> str: return text
mcp.add_tool("search", search)
""",
        """\
def search(text: str) -> str: return text
mcp.add_tool(search, "search")
""",
    ),
)
