"""LM25x: resources, their URIs and templates."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM250",
        "a resource has no URI",
        r"@mcp\.resource needs a URI|the URI of a resource is a string",
        "Hosts read a resource by its URI, which cannot come from the name of the function.",
        """\
@mcp.resource
def settings() -> str: return "{}"
""",
        """\
@mcp.resource("config://settings")
def settings() -> str: return "{}"
""",
    ),
    Page(
        "LM251",
        "a URI has no scheme",
        r"has no scheme; write it as in",
        "Every URI begins with one; choose any word for your own resources.",
        """\
@mcp.resource("settings")
def settings() -> str: return "{}"
""",
        """\
@mcp.resource("config://settings")
def settings() -> str: return "{}"
""",
    ),
    Page(
        "LM252",
        "a variable of the URI has no parameter",
        r"variable \{.*\} has no parameter; add",
        "The function would not get what the URI says.",
        """\
@mcp.resource("user://{name}")
def user(nam: str) -> str: return nam
""",
        """\
@mcp.resource("user://{name}")
def user(name: str) -> str: return name
""",
    ),
    Page(
        "LM253",
        "a parameter has no place in the URI",
        r"has no place in the URI; write",
        "Whoever reads a resource sends its URI and nothing else.",
        """\
@mcp.resource("user://all")
def users(page: int) -> str: return ""
""",
        """\
@mcp.resource("user://all{?page}")
def users(page: int = 1) -> str: return ""
""",
    ),
    Page(
        "LM254",
        "the URI or its template is written wrong",
        r"is never closed; write|is no variable; write|cannot stand in a URI; percent-encode|is reserved; use one of"
        r"|a URI template has at most",
        "Variables stand in braces, {name}, as RFC 6570 has them; spaces and the like are written as %20.",
        """\
@mcp.resource("user://{name")
def user(name: str) -> str: return name
""",
        """\
@mcp.resource("user://{name}")
def user(name: str) -> str: return name
""",
    ),
    Page(
        "LM255",
        "a variable of the query has no default",
        r"a URI may leave .* out of its query",
        "Everything in {?...} is optional for whoever reads.",
        """\
@mcp.resource("user://all{?page}")
def users(page: int) -> str: return ""
""",
        """\
@mcp.resource("user://all{?page}")
def users(page: int = 1) -> str: return ""
""",
    ),
    Page(
        "LM256",
        "a variable gives a list and the parameter takes one value, or the other way round",
        r"gives a list; annotate it|gives one value, and the parameter is a list",
        "{path*} gives a list of parts, {path} one text.",
        """\
@mcp.resource("docs://{path}")
def page(path: list[str]) -> str: return "/".join(path)
""",
        """\
@mcp.resource("docs://{/path*}")
def page(path: list[str]) -> str: return "/".join(path)
""",
    ),
    Page(
        "LM257",
        "an option of a resource cannot be",
        r"resource '[^']*': (mime_type|size|security|priority)=|a template has no size|exempt_params=",
        "A media type looks like text/plain, a size is a number of bytes, a priority lies between 0 and 1.",
        """\
@mcp.resource("config://settings", mime_type="json")
def settings() -> str: return "{}"
""",
        """\
@mcp.resource("config://settings", mime_type="application/json")
def settings() -> str: return "{}"
""",
    ),
    Page(
        "LM258",
        "a file or folder is not there",
        r"resource '.*': there is no (file|folder) ",
        "Paths are relative to the folder that the program was started in, which a host chooses; make them from "
        "__file__.",
        """\
mcp.add_directory("docs://{+path}", "/no/such/folder")
""",
        """\
mcp.add_directory("docs://{+path}", os.getcwd())
""",
    ),
    Page(
        "LM259",
        "a folder is served at a URI that has no place for the path",
        r"a folder is served below a URI with one variable|has variables; serve a folder with add_directory",
        "{+path} takes a path with slashes, {name} one file of the folder itself.",
        """\
mcp.add_directory("docs://all", os.getcwd())
""",
        """\
mcp.add_directory("docs://{+path}", os.getcwd())
""",
    ),
)
