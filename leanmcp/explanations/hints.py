"""LM13x to LM16x: types, constraints and marks in annotations."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM130",
        "a type has no JSON form",
        r"it has no JSON form that can be decoded|: it has no fields; ",
        "Arguments and results travel as JSON. Texts, numbers, booleans, None, lists, dicts, dates, UUIDs, Enum, "
        "Literal, dataclasses, TypedDict, NamedTuple, Model and pydantic's models have a form there; other classes "
        "do not tell how they are made. As the type of a result this is a warning, unless structured_output=True.",
        """\
class Point:
    def __init__(self, x: int) -> None: self.x = x
@mcp.tool
def draw(point: Point) -> str: return str(point.x)
""",
        """\
@dataclass
class Point:
    x: int
@mcp.tool
def draw(point: Point) -> str: return str(point.x)
""",
    ),
    Page(
        "LM131",
        "the name of a type cannot be found",
        r"which cannot be resolved|; (define or )?import the name|define or import the name",
        "Annotations are evaluated when a function is registered. Names that are imported under TYPE_CHECKING "
        "only, or are misspelt, are not there then.",
        """\
@mcp.tool
def draw(point: "Piont") -> str: return ""
""",
        """\
class Point(Model):
    x: int
@mcp.tool
def draw(point: "Point") -> str: return ""
""",
    ),
    Page(
        "LM132",
        "a value stands where a type belongs",
        r"it is a value and no type",
        "A list of integers is the type list[int]; [int] is a list that holds a type.",
        """\
@mcp.tool
def total(numbers: [int]) -> int: return sum(numbers)
""",
        """\
@mcp.tool
def total(numbers: list[int]) -> int: return sum(numbers)
""",
    ),
    Page(
        "LM133",
        "Field stands where a type belongs",
        r"has type Field\(\.\.\.\): it is no type",
        "Field says more about a type, which it stands beside.",
        """\
@mcp.tool
def search(limit: Field(ge=1)) -> str: return ""
""",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(ge=1)]) -> str: return ""
""",
    ),
    Page(
        "LM134",
        "a constraint does not fit the type",
        r"constraint [\w, ]+ does not fit it|fits no member of the union",
        "gt, ge, lt, le and multiple_of bound numbers; min_length and max_length bound texts, lists and dicts; "
        "pattern is for texts.",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(max_length=50)]) -> str: return ""
""",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(le=50)]) -> str: return ""
""",
    ),
    Page(
        "LM135",
        "two constraints leave no value",
        r" leave no value",
        "Every call would be refused.",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(ge=50, le=1)]) -> str: return ""
""",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(ge=1, le=50)]) -> str: return ""
""",
    ),
    Page(
        "LM136",
        "a bound is no number",
        r"constraint \w+=.* is no number",
        "Bounds are compared with numbers.",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(ge="1")]) -> str: return ""
""",
        """\
@mcp.tool
def search(limit: Annotated[int, Field(ge=1)]) -> str: return ""
""",
    ),
    Page(
        "LM137",
        "the members of a union cannot be told apart",
        r"does not tell the members of this union apart",
        "What a client sends is JSON, where a set and a list look the same, and two classes too. Keep one of them, "
        "or use classes with a tag: Model, tag=True.",
        """\
@mcp.tool
def total(numbers: set[int] | list[str]) -> int: return len(numbers)
""",
        """\
@mcp.tool
def total(numbers: list[int | str]) -> int: return len(numbers)
""",
    ),
    Page(
        "LM138",
        "the keys of a dict are no texts",
        r"JSON objects have string keys",
        "Keys of JSON objects are texts; integers, Enums and Literals of texts can be written as such.",
        """\
@mcp.tool
def chart(points: dict[float, str]) -> int: return len(points)
""",
        """\
@mcp.tool
def chart(points: dict[str, str]) -> int: return len(points)
""",
    ),
    Page(
        "LM139",
        "a Literal or an Enum holds what JSON has no constant for",
        r"JSON has strings, integers, booleans and null for a Literal|an Enum needs members that are all",
        "The values are published as a list of constants: texts, integers, booleans and null; an Enum has texts "
        "only or integers only.",
        """\
@mcp.tool
def scale(factor: Literal[0.5, 2.0]) -> float: return factor
""",
        """\
@mcp.tool
def scale(factor: Literal["half", "double"]) -> float: return 0.5 if factor == "half" else 2.0
""",
    ),
    Page(
        "LM140",
        "Context does not stand where it belongs",
        r"Context is the type itself|Context stands inside the type|Context is made by the server",
        "A parameter whose annotation is Context, Context[...] or Context | None gets the request. Inside of "
        "another type, clients would have to send one.",
        """\
@mcp.tool
def whoami(ctx: Annotated[str, Context]) -> str: return ""
""",
        """\
@mcp.tool
def whoami(ctx: Context) -> str: return ""
""",
    ),
    Page(
        "LM141",
        "two parameters take the context",
        r"takes the context already; keep one",
        "Both would get the same.",
        """\
@mcp.tool
def whoami(ctx: Context, context: Context) -> str: return ""
""",
        """\
@mcp.tool
def whoami(ctx: Context) -> str: return ""
""",
    ),
    Page(
        "LM142",
        "a mark in Annotated is not called",
        r"is not called, and so has no effect",
        "Field, Header, Depends and Resolve say something once they are called.",
        """\
@mcp.tool
def move(region: Annotated[str, Header]) -> str: return region
""",
        """\
@mcp.tool
def move(region: Annotated[str, Header("Region")]) -> str: return region
""",
    ),
    Page(
        "LM143",
        "a function or a value stands in Annotated, where it has no effect",
        r"nobody calls .*, which stands beside it|the \w+ beside it says nothing here",
        "Depends(function) makes a dependency: the server calls it, and the parameter gets what it returns. A "
        "check of arguments belongs into the function, or into a Field.",
        """\
def database() -> str: return "db"
@mcp.tool
def find(db: Annotated[str, database]) -> str: return db
""",
        """\
def database() -> str: return "db"
@mcp.tool
def find(db: Annotated[str, Depends(database)]) -> str: return db
""",
    ),
    Page(
        "LM144",
        "Depends is given a value",
        r"Depends\(.*\): give the function itself",
        "The function is called anew for each call of the tool. Given its result, there would be nothing to call.",
        """\
def database() -> str: return "db"
@mcp.tool
def find(db: Annotated[str, Depends(database())]) -> str: return db
""",
        """\
def database() -> str: return "db"
@mcp.tool
def find(db: Annotated[str, Depends(database)]) -> str: return db
""",
    ),
    Page(
        "LM145",
        "Depends does not stand beside a type",
        r"is no type; write \w+: Annotated\[YourType|stands inside the type, where it has no effect; write \w+: Ann",
        "It stands around the whole type of a parameter, in Annotated; elsewhere clients would choose the value.",
        """\
def database() -> str: return "db"
@mcp.tool
def find(db: Depends(database)) -> str: return db
""",
        """\
def database() -> str: return "db"
@mcp.tool
def find(db: Annotated[str, Depends(database)]) -> str: return db
""",
    ),
    Page(
        "LM146",
        "a dependency wants an argument that there is not",
        r"dependency .* wants .*, but the function has no argument",
        "Parameters of a dependency get arguments of the tool by their names, a Context, or other dependencies.",
        """\
def account(user_id: int) -> str: return str(user_id)
@mcp.tool
def balance(user: int, of: Annotated[str, Depends(account)]) -> str: return of
""",
        """\
def account(user_id: int) -> str: return str(user_id)
@mcp.tool
def balance(user_id: int, of: Annotated[str, Depends(account)]) -> str: return of
""",
    ),
    Page(
        "LM147",
        "Field is the default of a field of a dataclass",
        r"has Field as its default",
        "A dataclass would take the Field itself for the value. Model understands it.",
        """\
@dataclass
class Book:
    year: int = Field(ge=1450)
@mcp.tool
def add(book: Book) -> int: return book.year
""",
        """\
class Book(Model):
    year: int = Field(ge=1450)
@mcp.tool
def add(book: Book) -> int: return book.year
""",
    ),
    Page(
        "LM148",
        "Header marks a type that no HTTP field can carry",
        r"Header marks strings, integers and booleans only",
        "Mirrored parameters travel in an HTTP field too, as text.",
        """\
@mcp.tool
def move(region: Annotated[dict[str, str], Header("Region")]) -> str: return ""
""",
        """\
@mcp.tool
def move(region: Annotated[str, Header("Region")]) -> str: return ""
""",
    ),
    Page(
        "LM149",
        "Header is given what is no name of an HTTP field",
        r"an HTTP field name has letters|give the name of an HTTP field",
        "The field is called Mcp-Param-, and then what you give: letters, digits and !#$%&'*+-.^_`|~.",
        """\
@mcp.tool
def move(region: Annotated[str, Header("My Region")]) -> str: return region
""",
        """\
@mcp.tool
def move(region: Annotated[str, Header("My-Region")]) -> str: return region
""",
    ),
    Page(
        "LM150",
        "a form asks for a secret",
        r"of (the|a) form .* asks for a secret|asks for a secret \(",
        "Forms pass through the client and may be logged there. A page of yours, opened by its URL, does not.",
        """\
class Login(Model):
    password: str
def ask() -> Elicit[Login]: return Elicit("Who are you?", Login)
@mcp.tool
def enter(login: Annotated[Login, Resolve(ask)]) -> str: return ""
""",
        """\
def ask() -> ElicitURL: return ElicitURL("Please log in", "https://example.com/login")
@mcp.tool
def enter(login: Annotated[Accepted[None] | Declined | Cancelled, Resolve(ask)]) -> str: return ""
""",
    ),
    Page(
        "LM151",
        "the type of a question does not stand where it belongs",
        r"cannot stand beside a type; write|is no type of a value; write|is how a question ends, which clients do not",
        "A function asks, by returning Elicit(...); Resolve(function) beside a type gives the parameter what the "
        "user answered.",
        """\
class Size(Model):
    size: int
@mcp.tool
def order(size: Elicit[Size]) -> str: return ""
""",
        """\
class Size(Model):
    size: int
def ask() -> Elicit[Size]: return Elicit("Which size?", Size)
@mcp.tool
def order(size: Annotated[Size, Resolve(ask)]) -> str: return ""
""",
    ),
    Page(
        "LM152",
        "dependencies depend on each other",
        r"dependencies run in a circle",
        "The message names the way round; none of them could be called first.",
        """\
def one(value: "Annotated[str, Depends(two)]") -> str: return value
def two(value: Annotated[str, Depends(one)]) -> str: return value
@mcp.tool
def find(value: Annotated[str, Depends(two)]) -> str: return value
""",
        """\
def one() -> str: return "one"
def two(value: Annotated[str, Depends(one)]) -> str: return value
@mcp.tool
def find(value: Annotated[str, Depends(two)]) -> str: return value
""",
    ),
    Page(
        "LM153",
        "a class of another MCP library stands in a signature",
        r"of another MCP library; from leanmcp",
        "It looks like ours and is not: a Context of it would be an argument that clients have to send, and its "
        "content would be sent as plain data.",
        """\
import mcp.types as official
@mcp.tool
def greet(name: str) -> official.TextContent: return official.TextContent(type="text", text=name)
""",
        """\
@mcp.tool
def greet(name: str) -> TextContent: return TextContent(text=name)
""",
    ),
    Page(
        "LM154",
        "a value in the body of a Model has no type",
        r"has no type, so that it is no field; write",
        "The fields of a Model are what has an annotation; arguments of other names would be dropped. ClassVar says "
        "that a constant is meant.",
        """\
class Book(Model):
    title = "unknown"
""",
        """\
class Book(Model):
    title: str = "unknown"
""",
    ),
    Page(
        "LM155",
        "a Model has an __init__",
        r"a Model makes its own __init__",
        "It takes the fields by name, and is not called for what a client sends. __post_init__ runs in both cases, "
        "once the fields are set.",
        """\
class Book(Model):
    title: str
    def __init__(self, title: str) -> None: self.title = title.strip()
""",
        """\
class Book(Model):
    title: str
    def __post_init__(self) -> None: self.title = self.title.strip()
""",
    ),
    Page(
        "LM156",
        "a list or a dict has a wrong number of types",
        r"a list has items of one type; |a dict has keys of one type and values of one; ",
        "list[A, B] is no type, though Python lets it pass. A list of two kinds of items is list[A | B], a pair is "
        "tuple[A, B].",
        """\
@mcp.tool
def total(pair: list[int, str]) -> int: return pair[0]
""",
        """\
@mcp.tool
def total(pair: tuple[int, str]) -> int: return pair[0]
""",
    ),
)
