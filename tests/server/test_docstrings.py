"""Texts about parameters in docstrings: three styles, what only looks like one, and what reaches the wire."""

import functools
import inspect
import logging
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp import Context, Field, MCPServer
from leanmcp.server.docstrings import read_docstring
from tests.server.test_type_zoo import Colour

NAMES = ("query", "limit", "tags", "kwargs")


def read(text: str) -> Any:
    return read_docstring(inspect.cleandoc(text), NAMES)


GOOGLE = """
    Search the catalog.

    Titles and authors are searched.

    Args:
        query: What to look for: title
            or author.
        limit (int, optional): How many.

            Fifty at most.
        tags (dict[str, tuple(int)]): Which.
        **kwargs: The rest.

    Returns:
        The books found.

    Raises:
        ValueError: never.
"""

NUMPY = """
    Search the catalog.

    Parameters
    ----------
    query : str
        What to look for: title
        or author.
    limit, tags : int, optional
        How many.

        Fifty at most.
    kwargs

    Returns
    -------
    str
        The books found.
"""

SPHINX = """
    Search the catalog.

    :param query: What to look for: title
        or author.
    :type query: str
    :param int limit: How many.
    :keyword tags: Which.
    :returns: The books found.
    :rtype: str
"""


def test_google_sections_are_read() -> None:
    """Ours: FIELD row 100; the section leaves the description, other sections stay."""
    doc = read(GOOGLE)
    assert doc.parameters == {
        "query": "What to look for: title or author.",
        "limit": "How many. Fifty at most.",
        "tags": "Which.",
        "kwargs": "The rest.",
    }
    assert doc.unknown == []
    assert doc.description == (
        "Search the catalog.\n\nTitles and authors are searched.\n\n"
        "Returns:\n    The books found.\n\nRaises:\n    ValueError: never."
    )


def test_numpy_sections_are_read() -> None:
    """Ours: one text for several names; a name without a text has none."""
    doc = read(NUMPY)
    assert doc.parameters == {
        "query": "What to look for: title or author.",
        "limit": "How many. Fifty at most.",
        "tags": "How many. Fifty at most.",
    }
    assert doc.description == "Search the catalog.\n\nReturns\n-------\nstr\n    The books found."


def test_sphinx_fields_are_read() -> None:
    """Ours: types of parameters go with them, what is returned stays."""
    doc = read(SPHINX)
    assert doc.parameters == {
        "query": "What to look for: title or author.",
        "limit": "How many.",
        "tags": "Which.",
    }
    assert doc.description == "Search the catalog.\n\n:returns: The books found.\n:rtype: str"


def test_text_after_a_section_stays() -> None:
    """Ours: whatever the style."""
    assert read("A.\n\nArgs:\n    query: q\n\nThe end.").description == "A.\n\nThe end."
    assert read("A.\n\nParameters\n----------\nquery\n    q\n\nThe end of it.").description == "A.\n\nThe end of it."
    assert read("A.\n\n:param query: q\n\nThe end.").description == "A.\n\nThe end."
    assert read_docstring("Args:\n    query: q", NAMES).description is None


@pytest.mark.parametrize(
    "text",
    [
        "Search.\n\nArgs:\n    Use them wisely.\n    query: what",
        "Search.\n\nArgs: query and limit",
        "Search.\n\nArgs:",
        "Search.\n\nParameters\n\nquery: what",
        "Search.\n\nArguments:\n    query\n    limit",
        "Search.\n\nParameters:\n    * query: what\n    * limit: how many",
        "Search.\n\n:param: what",
        "Search.\n\nlimit: how many\nquery: what",
        "Search.\n\nExample:\n    query: what",
        "Ratios such as 3:4 --- and more",
    ],
)
def test_what_only_looks_like_a_section_is_left_alone(text: str) -> None:
    """Ours: a description is never cut by guesswork."""
    doc = read(text)
    assert (doc.description, doc.parameters, doc.unknown) == (text, {}, [])


def test_names_that_nobody_has_are_noted() -> None:
    """Ours: a section about other parameters altogether is left alone."""
    doc = read("A.\n\nArgs:\n    query: q\n    limt: n")
    assert (doc.unknown, doc.parameters, doc.description) == (["limt"], {"query": "q"}, "A.")
    text = "A.\n\nArgs:\n    other: o"
    doc = read(text)
    assert (doc.unknown, doc.parameters, doc.description) == (["other"], {}, text)


PIECES = [
    "Args:",
    "Parameters",
    "----------",
    "query: q",
    "query : int",
    "    limit (int): n",
    ":param query: q",
    ":type",
    "",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=12))
def test_no_docstring_raises(lines: list[str]) -> None:
    """Ours: property; what is described is a parameter, and text that is cut was a section."""
    text = "\n".join(lines)
    for form in (text, inspect.cleandoc(text)):
        doc = read_docstring(form, NAMES)
        assert set(doc.parameters) <= set(NAMES)
        assert all(doc.parameters.values())
        assert doc.description is None or set(doc.description) <= set(form)


def test_a_hostile_docstring_is_read_in_no_time() -> None:
    """Ours: no expression runs away."""
    for text in (
        "query (" * 5000,
        "Args:\n    " + "a, " * 5000,
        ":param " + "x " * 5000,
        "Args:\n    a (" + "()" * 5000,
    ):
        assert read_docstring(text, NAMES).parameters == {}


# Tools ------------------------------------------------------------------------------------------------------------


def entry(function: Any, **options: Any) -> Any:
    mcp = MCPServer("docs")
    mcp.add_tool(function, **options)
    return next(iter(mcp.tools)).entry


def search(
    query: str,
    ctx: Context[Any],
    limit: Annotated[int, Field(description="own")] = 10,
    colour: Colour = Colour.RED,
) -> str:
    """Search.

    Args:
        query: what
        ctx: the context
        limit: from the docstring
        colour: of the cover
    """
    return query


def test_descriptions_reach_the_model(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: FIELD row 100; those of Field win, the context parameter has none and is no stranger."""
    published = entry(search)
    assert published.description == "Search."
    descriptions = {name: schema.get("description") for name, schema in published.input_schema["properties"].items()}
    assert descriptions == {"query": "what", "limit": "own", "colour": "of the cover"}
    assert caplog.text == ""


def test_a_given_description_replaces_the_text_only() -> None:
    """Ours: the parameters keep theirs."""
    published = entry(search, description="Mine.\n\nArgs:\n    query: stays")
    assert published.description == "Mine.\n\nArgs:\n    query: stays"
    assert published.input_schema["properties"]["query"]["description"] == "what"


def test_methods_and_partials_are_read_too(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: what a partial has filled in is no stranger."""

    class Shop:
        def sell(self, n: int, m: int) -> None:
            """Sell.

            Args:
                n: how many
                m: for how much
            """

    assert entry(Shop().sell).input_schema["properties"]["n"]["description"] == "how many"
    published = entry(functools.partial(Shop().sell, 1), name="sell")
    assert published.input_schema["properties"]["m"]["description"] == "for how much"
    assert caplog.text == ""


def test_a_stranger_is_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: at registration, for the author."""

    def tool(query: str) -> None:
        """Search.

        Args:
            query: what
            limit: gone since last year
        """

    with caplog.at_level(logging.WARNING, "leanmcp"):
        entry(tool)
    (record,) = caplog.records
    assert record.getMessage() == "tool 'tool': the docstring describes 'limit', no parameter of the function"


def test_a_schema_written_by_hand_leaves_the_docstring_whole() -> None:
    """Ours: its descriptions are published as they stand, so nothing may be lost from the text."""

    def tool(query: str) -> None:
        """Search.

        Args:
            query: what
        """

    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    published = entry(tool, input_schema=schema)
    assert published.description == "Search.\n\nArgs:\n    query: what"
