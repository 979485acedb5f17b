"""Resources: registration, lists, lookup, typed variables, errors, changes at run time."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import pytest

from leanmcp import Field, MCPServer
from leanmcp.server import CacheHint
from leanmcp.types import Annotations, Icon
from tests.support.resource_reads import NOT_FOUND, Colour, ask, capabilities, failure, text

# --- capability and lists ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "resources/read"])
def test_nothing_is_served_before_the_first_resource(method: str) -> None:
    """Spec: server/resources, "Capabilities"; what is not declared is -32601, and a failed registration is none."""
    mcp = MCPServer("x")
    with pytest.raises(ValueError, match="no scheme"):
        mcp.resource("name")
    with pytest.raises(TypeError, match="no place in the URI"):
        mcp.add_resource(lambda a: a, "data://x", name="x")
    assert "resources" not in capabilities(mcp)
    assert ask(mcp, method, uri="data://x")["error"]["code"] == -32601


@pytest.mark.parametrize(("listen", "expected"), [(True, {"subscribe": True, "listChanged": True}), (False, {})])
def test_first_resource_declares_the_capability(listen: bool, expected: dict[str, bool]) -> None:
    """Spec: server/resources, "Capabilities"; a template is enough."""
    mcp = MCPServer("x", listen=listen)

    @mcp.resource("data://{a}")
    def data(a: str) -> str:
        return a

    assert capabilities(mcp)["resources"] == expected
    assert ask(mcp, "resources/list")["result"]["resources"] == []
    assert len(ask(mcp, "resources/templates/list")["result"]["resourceTemplates"]) == 1


def test_entries_say_what_was_declared() -> None:
    """Spec: server/resources, "Resource", "Annotations"; schema page, `Resource` and `ResourceTemplate`."""
    mcp = MCPServer("x", cache_hints={"resources/list": CacheHint(5, "public")})
    icon = Icon(src="https://example.com/a.png", mime_type="image/png", sizes=["48x48"])
    notes = Annotations(audience=["user"], priority=0.5, last_modified="2026-01-01T00:00:00Z")

    @mcp.resource(
        "data://x",
        name="main.rs",
        title="Main",
        mime_type="text/x-rust",
        icons=[icon],
        annotations=notes,
        meta={"a/b": 1},
        size=12,
    )
    def first() -> str:
        """Return the file."""
        return ""

    @mcp.resource("data://{name}", description="Any", icons=[icon], annotations=notes, meta={"a/b": 1})
    def second(name: str) -> str:
        return name

    common = {
        "icons": [{"src": "https://example.com/a.png", "mimeType": "image/png", "sizes": ["48x48"]}],
        "annotations": {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z"},
        "_meta": {"a/b": 1},
    }
    listed = ask(mcp, "resources/list")["result"]
    assert (listed["ttlMs"], listed["cacheScope"]) == (5, "public")
    described = {"title": "Main", "description": "Return the file.", "mimeType": "text/x-rust", "size": 12}
    assert listed["resources"] == [{"uri": "data://x", "name": "main.rs", **described, **common}]
    [template] = ask(mcp, "resources/templates/list")["result"]["resourceTemplates"]
    assert template == {"uriTemplate": "data://{name}", "name": "second", "description": "Any", **common}


def test_lists_come_in_pages_in_order_of_registration() -> None:
    """Spec: server/utilities/pagination; a cursor of one list is none of the other."""
    mcp = MCPServer("x", page_size=2)
    for number in range(5):
        mcp.add_resource(lambda: "", f"data://{number}", name=str(number))
        mcp.add_resource(lambda a: a, f"t{number}://{{a}}", name=str(number))
    for method, member in (("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")):
        names, cursor = [], None
        while True:
            page = ask(mcp, method, **({} if cursor is None else {"cursor": cursor}))["result"]
            names += [entry["name"] for entry in page[member]]
            cursor = page.get("nextCursor")
            if cursor is None:
                break
            other = "resources/list" if method != "resources/list" else "resources/templates/list"
            assert ask(mcp, other, cursor=cursor)["error"]["code"] == NOT_FOUND
        assert names == ["0", "1", "2", "3", "4"]
        assert ask(mcp, method, cursor="bad")["error"]["code"] == NOT_FOUND


# --- lookup -----------------------------------------------------------------------------------------------------------


def test_exact_uris_come_first_then_templates_in_order() -> None:
    """Ours: an exact URI wins over templates that were registered before it."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda a: f"first {a}", "data://{a}", name="first")
    mcp.add_resource(lambda b: f"second {b}", "data://{+b}", name="second")
    mcp.add_resource(lambda: "exact", "data://x", name="exact")
    assert text(mcp, "data://x") == "exact"
    assert text(mcp, "data://y") == "first y"
    assert text(mcp, "data://y/z") == "second y/z"
    mcp.disable_resource("data://{a}")
    assert text(mcp, "data://y") == "second y"
    mcp.enable_resource("data://{a}")
    assert text(mcp, "data://y") == "first y"


def test_an_exact_uri_is_found_without_asking_a_template() -> None:
    """Ours: its cost does not depend on how many templates there are."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda: "exact", "data://x", name="exact")
    mcp.add_resource(lambda a: a, "data://{a}", name="t")
    table = mcp._resources()
    table._templates = lambda: pytest.fail("a template was asked")  # type: ignore[method-assign]
    assert text(mcp, "data://x") == "exact"


@pytest.mark.parametrize("uri", ["DATA://x", "data://x/", "data://%78", "data:///x", "data://X", ""])
def test_uris_are_compared_exactly(uri: str) -> None:
    """Ours: no normalisation; the client sends what the list says."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda: "exact", "data://x", name="exact")
    assert failure(mcp, uri)["code"] == NOT_FOUND


def test_unknown_resource_names_the_uri_and_a_similar_one() -> None:
    """Spec: server/resources, "Error Handling": -32602, `data.uri`, never empty contents."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda: "", "config://database", name="x")
    mcp.add_resource(lambda a: a, "users://{a}", name="y")
    error = failure(mcp, "config://databse")
    assert (error["code"], "did you mean 'config://database'?" in error["message"]) == (NOT_FOUND, True)
    assert "put a value in place" in failure(mcp, "users://{a}")["message"]
    long = failure(mcp, "users://" + "x" * 8192)["message"]
    assert long.endswith("no template takes over 8192 characters")
    assert len(long) < 300


@pytest.mark.parametrize("params", [{}, {"uri": 1}, {"uri": None}])
def test_a_uri_has_to_be_a_text(params: dict[str, Any]) -> None:
    """Spec: schema page, `ReadResourceRequestParams`."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda: "", "data://x", name="x")
    assert ask(mcp, "resources/read", **params)["error"]["code"] == NOT_FOUND


ID = "12345678-1234-5678-1234-567812345678"


# --- variables --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "given", "value"),
    [
        (str, "007", "007"),
        (int, "-12", -12),
        (float, "1.5", 1.5),
        (bool, "yes", True),
        (UUID, ID, UUID(ID)),
        (Colour, "blue", Colour.BLUE),
        (Literal["a", "b"], "b", "b"),
        (Literal[1, 2], "2", 2),
        (int | None, "3", 3),
        (int | str, "3", "3"),
        (Annotated[int, Field(ge=1)], "1", 1),
    ],
)
def test_variables_are_typed(annotation: Any, given: str, value: Any) -> None:
    """Ours: FEATURES U3; what the text stands for reaches the function."""
    mcp = MCPServer("x")
    got: list[Any] = []

    def fetch(a: Any) -> str:
        got.append(a)
        return "ok"

    fetch.__annotations__["a"] = annotation
    mcp.add_resource(fetch, "data://{a}")
    assert text(mcp, f"data://{given}") == "ok"
    assert got == [value]
    assert type(got[0]) is type(value)


@pytest.mark.parametrize(
    ("annotation", "given", "part"),
    [
        (int, "x", 'a: Input should be a valid integer, got "x"'),
        (int, "007", "a: Input should be a valid integer"),
        (UUID, "x", "a: Input should be a valid UUID"),
        (Colour, "green", "a: Input should be 'red' or 'blue'"),
        (Annotated[int, Field(ge=1)], "0", "a: Input should be greater than or equal to 1"),
        (Annotated[str, Field(max_length=2)], "abc", "a: String should have at most 2 characters"),
    ],
)
def test_a_value_that_does_not_fit_is_not_found(annotation: Any, given: str, part: str) -> None:
    """Spec: server/resources, "Error Handling"; ours: the text says why, and the function does not run."""
    mcp = MCPServer("x")

    def fetch(a: Any) -> str:
        raise AssertionError("never called")

    fetch.__annotations__["a"] = annotation
    mcp.add_resource(fetch, "data://{a}")
    error = failure(mcp, f"data://{given}")
    assert error["code"] == NOT_FOUND
    assert part in error["message"]


def test_echo_values_keeps_values_out_of_refusals() -> None:
    """Ours: as for tools."""
    mcp = MCPServer("x", echo_values=False)

    @mcp.resource("data://{a}")
    def fetch(a: int) -> str:
        return str(a)

    assert failure(mcp, "data://x")["message"].endswith(": a: Input should be a valid integer")


def test_a_value_that_does_not_fit_goes_to_the_next_template() -> None:
    """Ours: types tell templates of one shape apart."""
    mcp = MCPServer("x")

    @mcp.resource("users://{number}")
    def by_number(number: int) -> str:
        return f"number {number}"

    @mcp.resource("users://{name}")
    def by_name(name: str) -> str:
        return f"name {name}"

    assert text(mcp, "users://7") == "number 7"
    assert text(mcp, "users://ann") == "name ann"


def test_queries_lists_and_aliases() -> None:
    """Ours: FEATURES U4; what a query leaves out has its default, an empty text for a number too."""
    mcp = MCPServer("x")

    @mcp.resource("log://{service}{?since,level,tag*}")
    def log(
        service: str,
        level: Literal["info", "error"] = "info",
        since: int = 0,
        tag: list[int] = [],  # noqa: B006
    ) -> list[Any]:
        return [service, level, since, tag]

    @mcp.resource("tree://{repo.name}{/path*}")
    def tree(path: list[str], repo: Annotated[str, Field(alias="repo.name")]) -> list[Any]:
        return [repo, path]

    def got(uri: str) -> Any:
        return msgspec.json.decode(text(mcp, uri))

    assert got("log://api") == ["api", "info", 0, []]
    assert got("log://api?since=5&level=error") == ["api", "error", 5, []]
    assert got("log://api?since=&tag=1&tag=2") == ["api", "info", 0, [1, 2]]
    assert got("tree://x/a/b") == ["x", ["a", "b"]]
    assert got("tree://x") == ["x", []]
    assert failure(mcp, "log://api?nope=1")["code"] == NOT_FOUND
    assert failure(mcp, "log://api?tag=x")["code"] == NOT_FOUND
