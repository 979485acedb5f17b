"""What authors are told, at registration, of resources and their URIs."""

from __future__ import annotations

import pytest

from tests.support.mistakes import Mistake, check

RESOURCES = [
    Mistake(
        "LM250",
        """\
@mcp.resource
def r() -> str: return ""
""",
        "@mcp.resource needs a URI: @mcp.resource('data://name'), or '.../{name}' with a variable",
    ),
    Mistake(
        "LM120",
        """\
mcp.add_resource("config://x", print)
""",
        "add_resource: the function comes first; write add_resource(print, 'config://x')",
    ),
    Mistake(
        "LM250",
        """\
mcp.add_resource(print, 5)
""",
        "the URI of a resource is a string such as 'data://name', not 5",
    ),
    Mistake(
        "LM251",
        """\
@mcp.resource("config")
def r() -> str: return ""
""",
        "resource 'config' has no scheme; write it as in 'data://config'",
    ),
    Mistake(
        "LM252",
        """\
@mcp.resource("config://{name}")
def r() -> str: return ""
""",
        "resource 'config://{name}': variable {name} has no parameter; add name: str to the function",
    ),
    Mistake(
        "LM252",
        """\
@mcp.resource("config://{name}")
def r(nam: str) -> str: return ""
""",
        "resource 'config://{name}': variable {name} has no parameter; add name: str to the function",
    ),
    Mistake(
        "LM253",
        """\
@mcp.resource("config://x")
def r(name: str) -> str: return ""
""",
        "resource 'config://x': parameter 'name' has no place in the URI; write {name} into it, as in "
        "config://x/{name}, or leave it out",
    ),
    Mistake(
        "LM254",
        """\
@mcp.resource("config://{name")
def r(name: str) -> str: return ""
""",
        "resource 'config://{name': '{' is never closed; write {name}",
    ),
    Mistake(
        "LM254",
        """\
@mcp.resource("config://{na-me}")
def r(name: str) -> str: return ""
""",
        "resource 'config://{na-me}': {na-me}: 'na-me' is no variable; write a name of A-Z a-z 0-9 _, "
        "or name* for a list",
    ),
    Mistake(
        "LM254",
        """\
@mcp.resource("config://x y")
def r() -> str: return ""
""",
        "resource 'config://x y': ' ' cannot stand in a URI; percent-encode it",
    ),
    Mistake(
        "LM255",
        """\
@mcp.resource("config://x{?a}")
def r(a: str) -> str: return ""
""",
        "resource 'config://x{?a}': a URI may leave 'a' out of its query; give the parameter a default",
    ),
    Mistake(
        "LM256",
        """\
@mcp.resource("docs://{path*}")
def x(path: str) -> str: return ""
""",
        "resource 'docs://{path*}': {path*} gives a list; annotate it, as in path: list[str]",
    ),
    Mistake(
        "LM257",
        """\
@mcp.resource("config://x", mime_type="json")
def r() -> str: return ""
""",
        "resource 'config://x': mime_type='json'; give one such as 'text/plain'",
    ),
    Mistake(
        "LM257",
        """\
@mcp.resource("config://x", size=-1)
def r() -> str: return ""
""",
        "resource 'config://x': size=-1; give a number of bytes",
    ),
    Mistake(
        "LM257",
        """\
@mcp.resource("config://{x}", size=1)
def r(x: str) -> str: return ""
""",
        "resource 'config://{x}': a template has no size; each of its resources has one of its own",
    ),
    Mistake(
        "LM258",
        """\
mcp.add_file("docs://x", "/no/such/file")
""",
        "resource 'docs://x': there is no file /no/such/file",
    ),
    Mistake(
        "LM258",
        """\
mcp.add_directory("docs://{+path}", "/no/such")
""",
        "resource 'docs://{+path}': there is no folder /no/such",
    ),
    Mistake(
        "LM259",
        """\
mcp.add_directory("docs://x", "/tmp")
""",
        "resource 'docs://x': a folder is served below a URI with one variable for the path, such as "
        "'docs://{+path}', or 'docs://{name}' for one folder without those below it",
    ),
]


@pytest.mark.parametrize("mistake", RESOURCES, ids=lambda mistake: mistake.message[:60])
def test_a_resource_that_cannot_be_is_told_at_registration(mistake: Mistake) -> None:
    """Ours: goals U9 to U12; each message says what, where and what to write instead, and has one page."""
    check(mistake)
