"""pydantic's types published as pydantic does it, and results that agree with what is published."""

import json
from typing import Annotated, Any, Literal

import pydantic
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import BaseModel, Field

from leanmcp import MCPServer, Model
from leanmcp.server.pydantic_kinds import plain
from tests.support.pydantic_models import (
    DUNE,
    Book,
    Cat,
    Crate,
    Dog,
    Every,
    Folder,
    Mood,
    Page,
    Point,
    Shelf,
    Tags,
    entry,
    invoke,
    server,
    taking,
    text,
)

# Schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "annotation",
    [
        Book,
        Shelf,
        Every,
        Folder,
        Page[Book],
        Tags,
        Point,
        Book | None,
        list[Book],
        dict[str, Book],
        Cat | Dog,
        Annotated[Cat | Dog, Field(discriminator="kind", description="A pet.")],
        list[Annotated[Cat | Dog, Field(discriminator="kind")]],
        pydantic.HttpUrl,
        pydantic.AwareDatetime,
        Annotated[Book, Field(description="The book.", title="Its title")],
    ],
)
def test_the_published_schema_is_pydantics_own(annotation: Any) -> None:
    """Ours: golden check 6; the oracle is a model with the same field."""
    oracle = pydantic.create_model("takeArguments", value=(annotation, ...)).model_json_schema()
    mcp, _ = taking(annotation, extra_args="ignore")
    assert entry(mcp).input_schema == oracle
    Draft202012Validator.check_schema(entry(mcp).input_schema)


def test_a_whole_signature_equals_pydantics_own_model() -> None:
    """Ours: golden check 4; plain parameters too have pydantic's keys and values."""

    def search(
        *,
        search_limit: Annotated[int, Field(gt=0, description="n")] = 3,
        tags: list[str] = [],  # noqa: B006
        mode: Literal["a", "b"] = "a",
        maybe: float | None = None,
        table: dict[str, int],
        pair: tuple[int, str],
        rest: Any,
        name: Annotated[str, Field(min_length=1, max_length=5, pattern="^a")],
        book: Book,
    ) -> None: ...

    fields = {
        name: (annotation, (search.__kwdefaults__ or {}).get(name, ...))
        for name, annotation in search.__annotations__.items()
        if name != "return"
    }
    oracle: Any = pydantic.create_model("searchArguments", **fields)  # type: ignore[call-overload]
    assert entry(server(search, extra_args="ignore")).input_schema == oracle.model_json_schema()


def test_two_models_of_one_name_get_two_definitions() -> None:
    """Ours: references always lead to the right class, ours or pydantic's."""

    def other() -> Any:
        class Book(BaseModel):
            code: int

        class Shelf(BaseModel):
            books: list[Book]

        return Shelf

    class Own(Model):
        size: int

    Own.__name__ = "Book_2"
    second: Any = other()

    def take(a: Book, b: Shelf, c: second, d: Own, e: list[Shelf]) -> None: ...

    definitions = entry(server(take)).input_schema["$defs"]
    properties = entry(server(take)).input_schema["properties"]

    def book_of(reference: str) -> Any:
        shelf = definitions[reference.removeprefix("#/$defs/")]
        return definitions[shelf["properties"]["books"]["items"]["$ref"].removeprefix("#/$defs/")]

    assert set(book_of(properties["b"]["$ref"])["properties"]) == {"title", "year"}
    assert set(book_of(properties["c"]["$ref"])["properties"]) == {"code"}
    assert properties["e"]["items"] == properties["b"]
    assert definitions[properties["d"]["$ref"].removeprefix("#/$defs/")]["properties"]["size"]["type"] == "integer"
    assert len(definitions) == 5


def test_titles_made_from_names_can_be_left_out() -> None:
    """Ours: schema_titles=False; titles that somebody wrote, and fields named title, stay."""

    class Named(BaseModel):
        title: str
        page_count: int = Field(title="Pages!")
        inner: Book

    mcp, _ = taking(Named, schema_titles=False)
    assert entry(mcp).input_schema["$defs"]["Named"] == {
        "properties": {
            "title": {"type": "string"},
            "page_count": {"title": "Pages!", "type": "integer"},
            "inner": {"$ref": "#/$defs/Book"},
        },
        "required": ["title", "page_count", "inner"],
        "type": "object",
    }
    assert "title" not in entry(mcp).input_schema["$defs"]["Book"]


def test_models_can_be_inlined_except_recursive_ones() -> None:
    """Ours: FIELD rows 91 and 92."""
    mcp, _ = taking(Shelf, inline_schemas=True)
    schema = entry(mcp).input_schema
    assert "$ref" not in json.dumps(schema)
    assert schema["properties"]["value"]["properties"]["books"]["items"]["description"] == "A book."
    mcp, _ = taking(Annotated[Cat | Dog, Field(discriminator="kind")], inline_schemas=True)
    assert "$defs" not in json.dumps(entry(mcp).input_schema)
    mcp, received = taking(Folder, inline_schemas=True)
    assert set(entry(mcp).input_schema["$defs"]) == {"Folder"}
    invoke(mcp, {"value": {"name": "a", "inside": [{"name": "b"}]}})
    assert received == [Folder(name="a", inside=[Folder(name="b")])]


def test_nullable_fields_of_models_can_be_written_with_a_type_list() -> None:
    """Ours: FIELD row 97; one style in one list of tools."""
    mcp, _ = taking(Every, nullable="type")
    properties = entry(mcp).input_schema["$defs"]["Every"]["properties"]
    assert properties["on"] == {"default": None, "format": "date", "title": "On", "type": ["string", "null"]}
    assert "anyOf" in properties["either"]


# Results ----------------------------------------------------------------------------------------------------------


def returning(annotation: Any, value: Any) -> MCPServer:
    def give():  # type: ignore[no-untyped-def]
        return value

    give.__annotations__ = {"return": annotation}
    mcp = MCPServer("results")
    mcp.add_tool(give, structured_output=True)
    return mcp


@pytest.mark.parametrize(
    ("annotation", "value", "structured"),
    [
        (Book, Book(**DUNE), DUNE),
        (Book, DUNE, DUNE),
        (list[Book], [Book(**DUNE), DUNE], {"result": [DUNE, DUNE]}),
        (Book | None, None, {"result": None}),
        (dict[str, Book], {"a": Book(**DUNE)}, {"a": DUNE}),
        (Crate, Crate(Book(**DUNE)), {"book": DUNE, "others": None}),
        (Page[Book], Page[Book](items=[Book(**DUNE)]), {"items": [DUNE]}),
        (Tags, Tags(["a"]), {"result": ["a"]}),
        (Point, Point(x=1), {"x": 1, "y": 0}),
        (Cat | Dog, Cat(kind="cat", lives=9), {"result": {"kind": "cat", "lives": 9}}),
        (Folder, Folder(name="a"), {"name": "a", "inside": []}),
        (pydantic.HttpUrl, pydantic.HttpUrl("http://a.example/"), {"result": "http://a.example/"}),
        (pydantic.SecretStr, pydantic.SecretStr("s3cret"), {"result": "**********"}),
    ],
)
def test_results_and_their_schema_agree(annotation: Any, value: Any, structured: Any) -> None:
    """Ours: FIELD row 111; a class stands at the root of the output schema itself."""
    mcp = returning(annotation, value)
    schema = entry(mcp).output_schema
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert "Book" not in schema.get("$defs", {}) or "#/$defs/Book" in json.dumps(schema)
    result = invoke(mcp, {})
    assert result["structuredContent"] == structured, text(result)
    Draft202012Validator(schema).validate(structured)


@pytest.mark.parametrize(
    ("annotation", "value", "fault"),
    [
        (Book, {"title": "x"}, "year: Field required"),
        (Book, {"title": 5, "year": 1}, "title: Input should be a valid string"),
        (list[Book], [{}], "[0].title: Field required"),
        (Shelf, {"bookz": 1}, "bookz: Extra inputs"),
        (Every, {"mood": "sad"}, "mood: Input should be 'calm' or 'grim'"),
        (Cat | Dog, {"kind": "cow", "lives": 1}, "kind: Input should be 'cat'"),
        (Crate, {"book": {}}, "book.title: Field required"),
    ],
)
def test_a_dict_in_place_of_a_model_has_to_fit(annotation: Any, value: Any, fault: str) -> None:
    """Spec: server/tools, "Output Schema": structured results conform to it."""
    result = invoke(returning(annotation, value), {})
    assert result["isError"]
    assert fault in text(result)


def test_nan_inside_a_model_is_found() -> None:
    """Ours: policy P4; under the name that the result would have had."""

    class Measured(BaseModel):
        value: float = Field(serialization_alias="theValue")

    for result in (Measured(value=float("nan")), [Measured(value=1.0), Measured(value=float("inf"))]):
        answer = invoke(returning(type(result) if isinstance(result, BaseModel) else list[Measured], result), {})
        assert answer["isError"]
        assert "theValue" in text(answer)


def test_a_dataclass_that_pydantic_would_write_otherwise_has_no_schema() -> None:
    """Known gap: msgspec writes dataclasses itself, by their own names."""

    @pydantic.dataclasses.dataclass
    class Renamed:
        x: int = Field(serialization_alias="ex")

    with pytest.raises(TypeError, match="return a BaseModel"):
        returning(Renamed, None)


def test_plain_takes_objects_of_pydantic_only() -> None:
    """Ours: the seam to the encoder of results."""
    assert plain(Book(**DUNE)) == DUNE
    assert plain(Tags(["a"])) == ["a"]
    for value in (object(), 1j, Mood):
        with pytest.raises(TypeError):
            plain(value)
