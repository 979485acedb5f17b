"""Resources that cannot be registered, and what the refusal tells."""

from __future__ import annotations

from typing import Any

import pytest

from leanmcp import MCPServer
from leanmcp.protocol.uri_template import InvalidUriTemplate
from leanmcp.types import Annotations, Icon
from tests.support.resource_reads import text


def _none() -> str:
    return ""


def _one(a: str) -> str:
    return a


def _list(a: list[str]) -> str:
    return str(a)


@pytest.mark.parametrize(
    ("function", "uri", "part"),
    [
        (_none, "name", "has no scheme; write it as in 'data://name'"),
        (_none, "", "has no scheme; write it as in 'data://name'"),
        (_none, "/etc", "write it as in 'data://etc'"),
        (_none, "data://a b", "' ' cannot stand in a URI"),
        (_none, "data://%zz", "'%' cannot stand in a URI"),
        (_none, "data://{", "'{' is never closed"),
        (_none, "data://}", "'}' at 7 cannot stand in a URI"),
        (_none, "data://{a}", "variable {a} has no parameter; add a: str to the function"),
        (_none, "data://{a*}", "add a: list[str] to the function"),
        (_none, "data://{a.b}", "annotate with Field(alias='a.b')"),
        (_one, "data://x", "parameter 'a' has no place in the URI; write {a} into it, as in data://x/{a}"),
        (_one, "data://{a*}", "{a*} gives a list; annotate it, as in a: list[str]"),
        (_list, "data://{a}", "{a} gives one value, and the parameter is a list; write {a*}"),
        (_one, "data://x{?a}", "a URI may leave 'a' out of its query; give the parameter a default"),
        (lambda: "", "data://x", "a lambda needs name="),
        ("text", "data://x", "a resource is a function, not 'text'"),
    ],
)
def test_refused_registrations_say_what_to_write(function: Any, uri: str, part: str) -> None:
    """Ours: at registration, with the resource and the fix."""
    with pytest.raises((TypeError, ValueError)) as fault:
        MCPServer("x").add_resource(function, uri)
    assert part in str(fault.value)
    assert uri[:5] in str(fault.value)


def test_refused_signatures_speak_of_resources() -> None:
    """Ours: the words are those of tools, with the right noun."""
    mcp = MCPServer("x")

    def stars(**a: str) -> str:
        return str(a)

    def generator(a: str) -> Any:
        yield a

    with pytest.raises(TypeError, match=r"resource 'data://\{a\}': parameter 'a': a resource cannot take \*\*a"):
        mcp.add_resource(stars, "data://{a}")
    with pytest.raises(TypeError, match="is a generator; return a value"):
        mcp.add_resource(generator, "data://{a}")
    with pytest.raises(InvalidUriTemplate, match=r"resource 'data://\{!a\}': operator '!' at 8 is reserved"):
        mcp.resource("data://{!a}")


def test_decorator_without_a_uri_is_told_so() -> None:
    """Ours: `@mcp.resource` and a URI that is no text."""
    with pytest.raises(TypeError, match=r"@mcp.resource needs a URI: @mcp.resource\('data://name'\)"):
        MCPServer("x").resource(_none)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the URI of a resource is a string"):
        MCPServer("x").resource(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"mime_type": "text"}, "mime_type='text'; give one such as 'text/plain'"),
        ({"mime_type": "text/plain\r\nx"}, "give one such as"),
        ({"size": -1}, "size=-1; give a number of bytes"),
        ({"size": True}, "size=True"),
        ({"cache": 5}, "cache=5; give CacheHint"),
        ({"security": False}, "security=False; give ResourceSecurity"),
        ({"annotations": {"priority": 1}}, "give leanmcp.types.Annotations"),
        ({"annotations": Annotations(priority=1.5)}, "give a number from 0 to 1"),
        ({"annotations": Annotations(audience="user")}, "cannot be published"),  # type: ignore[arg-type]
        ({"icons": [Icon(src="http://x/y")]}, "must be an https: URL"),
        ({"meta": {"a": object()}}, "cannot be published"),
        ({"title": 5}, "cannot be published"),
        ({"name": ""}, "name=''; give a text"),
        ({"timeout": 0}, "timeout=0: give a positive number"),
        ({"max_size": 1.5}, "max_size=1.5: give a positive whole number"),
    ],
)
def test_refused_options(options: dict[str, Any], part: str) -> None:
    """Ours: one bad entry would take the whole list with it."""
    with pytest.raises((TypeError, ValueError)) as fault:
        MCPServer("x").add_resource(_none, "data://x", **options)
    assert part in str(fault.value)


def test_a_template_has_no_size() -> None:
    """Spec: schema page, `ResourceTemplate` has none."""
    with pytest.raises(TypeError, match="a template has no size"):
        MCPServer("x").add_resource(_one, "data://{a}", size=5)


def test_duplicates_are_refused_unless_they_replace() -> None:
    """Ours: exact, for URIs and templates."""
    mcp = MCPServer("x")
    for function, uri in ((_none, "data://x"), (_one, "data://{a}")):
        mcp.add_resource(function, uri)
        with pytest.raises(ValueError, match=r"is registered already; give another URI.* or replace=True"):
            mcp.add_resource(function, uri)
    mcp.add_resource(lambda: "new", "data://x", name="x", replace=True)
    assert text(mcp, "data://x") == "new"
