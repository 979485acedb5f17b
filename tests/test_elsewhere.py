"""Names that are looked for in a wrong place, or are the official SDK's: what their authors read."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest

import leanmcp
from leanmcp import MCPServer
from leanmcp.elicit import Accepted
from leanmcp.errors import MethodNotFound
from leanmcp.protocol.meta import CallToolParams, RequestMeta, method_not_found
from leanmcp.server.recover import of_other_params
from leanmcp.server.resources import _near

IMPORTS = [
    (
        "from leanmcp.server import FastMCP",
        "cannot import 'FastMCP' from 'leanmcp.server'; the server is MCPServer: from leanmcp import MCPServer",
    ),
    (
        "from leanmcp.server import ToolError",
        "cannot import 'ToolError' from 'leanmcp.server'; it is in leanmcp: from leanmcp import ToolError",
    ),
    (
        "from leanmcp.types import Context",
        "cannot import 'Context' from 'leanmcp.types'; it is in leanmcp: from leanmcp import Context",
    ),
    (
        "from leanmcp import fastmcp",
        "cannot import 'fastmcp' from 'leanmcp'; the server is MCPServer: from leanmcp import MCPServer, Context",
    ),
    (
        "from leanmcp import SystemMessage",
        "cannot import 'SystemMessage' from 'leanmcp'; the roles are user and assistant; what a model is told first "
        "are instructions= of MCPServer",
    ),
    (
        "from leanmcp.testing import TestClient",
        "cannot import 'TestClient' from 'leanmcp.testing'; a client of a server in the same program is Client: "
        "`async with Client(mcp) as client`",
    ),
    (
        "from leanmcp.errors import McpError",
        "cannot import 'McpError' from 'leanmcp.errors'; it is MCPError: from leanmcp import MCPError",
    ),
    (
        "from leanmcp.elicit import Image",
        "cannot import 'Image' from 'leanmcp.elicit'; it is in leanmcp: from leanmcp import Image",
    ),
    ("from leanmcp.client import Clinet", "cannot import 'Clinet' from 'leanmcp.client'; did you mean 'Client'?"),
    ("import leanmcp.nothing", "No module named 'leanmcp.nothing'"),
    (
        "from leanmcp.server.fastmcp import FastMCP",
        "No module named 'leanmcp.server.fastmcp'; the server is MCPServer: from leanmcp import MCPServer, Context",
    ),
    (
        "import leanmcp.client.subscriptions",
        "No module named 'leanmcp.client.subscriptions'; what there is of it is in leanmcp.client, or in leanmcp",
    ),
    (
        "import leanmcp.server.auth.provider",
        "No module named 'leanmcp.server.auth'; servers have no authorization here; put a proxy that checks tokens in "
        "front",
    ),
    (
        "from leanmcp.types import INVALID_PARAMS",
        "cannot import 'INVALID_PARAMS' from 'leanmcp.types'; codes of errors are classes of leanmcp.errors; write "
        "other constants out",
    ),
]


@pytest.mark.parametrize(("program", "message"), IMPORTS)
def test_an_import_from_a_wrong_place_says_where_the_name_is(program: str, message: str) -> None:
    """Ours: goal U10."""
    with pytest.raises(ImportError) as failed:
        exec(program)
    assert str(failed.value) == message


def test_a_server_may_be_annotated_with_what_its_lifespan_yields() -> None:
    """Ours: as programs for the official SDK are."""
    alias: Any = MCPServer
    assert alias[int]("x", lifespan=None).name == "x"


def test_modules_are_there_behind_the_import_of_the_package() -> None:
    """Ours: `import leanmcp` is enough for `leanmcp.types.TextContent`."""
    assert leanmcp.types.TextContent is leanmcp.__getattr__("types").TextContent  # type: ignore[attr-defined]
    exec("from leanmcp import cli, in_process, types; from leanmcp.server import app")


MEMBERS = [
    ("settings", "; give host, port and the like to mcp.run('http', ...)"),
    ("list_tools", "; mcp.tools has them; or ask as a client does: async with Client(mcp) as client"),
    ("get_context", "; annotate a parameter with Context, as in `def tool(ctx: Context)`"),
    ("tol", "; did you mean 'tool'?"),
    ("app", '; mcp.run("http", host=..., port=...) serves by itself, without an ASGI application'),
    ("dependency_overrides", "; write `with mcp.override(function, fake):`"),
    ("request", "; ctx.headers has the header fields of the request, by names in lower case"),
    ("get_state", "; set attributes of ctx.state; they last as long as the request"),
    ("session_id", "; there are no sessions; state between calls has a name: from leanmcp import Handles"),
    ("warn", "; deprecated; log with `logging`, and tell of progress with ctx.report_progress"),
    ("use", "; write mcp.middleware.append(function), or @mcp.middleware above it"),
    ("on_startup", "; write MCPServer(name, lifespan=...)"),
    ("resource_template", "; a URI with a {variable} makes a template: @mcp.resource('data://{name}')"),
    ("subscribe_resource", "; clients listen; tell them with mcp.notify_..."),
    ("prompts", "; ask as a client does: async with Client(mcp) as client"),
    ("run_http", '; mcp.run() serves on stdio, mcp.run("http", port=...) on a port'),
    ("server", "; use the server that the module made"),
    ("zzz", ""),
]


@pytest.mark.parametrize(("name", "hint"), MEMBERS)
def test_a_member_that_a_server_has_not_says_what_stands_for_it(name: str, hint: str) -> None:
    """Ours: and Python, which might propose a private name, adds nothing."""
    server: Any = MCPServer("x")
    with pytest.raises(AttributeError) as missing:
        getattr(server, name)
    assert str(missing.value) == f"'MCPServer' object has no attribute {name!r}{hint}"
    assert missing.value.obj is None


def test_questions_about_attributes_stay_as_they_are() -> None:
    """Ours: hasattr, copies and inspect ask for names that there are not."""
    server = MCPServer("x")
    assert not hasattr(server, "settings")
    assert not hasattr(server, "__wrapped__")
    assert copy.copy(server).name == "x"
    assert dict(inspect.getmembers(server))["name"] == "x"


def test_a_property_that_fails_says_why_itself() -> None:
    """Ours: an AttributeError inside of it is not taken for a name that is missing."""

    class Own(MCPServer):
        @property
        def broken(self) -> Any:
            return self.name.nothing  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'str' object has no attribute 'nothing'"):
        _ = Own("x").broken

    class Same(MCPServer):
        @property
        def inner(self) -> Any:
            return self.name.inner  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'str' object has no attribute 'inner'"):
        _ = Same("x").inner


def test_an_answer_says_where_its_data_is() -> None:
    """Ours."""
    answer: Any = Accepted(3)
    with pytest.raises(AttributeError) as missing:
        _ = answer.real
    assert str(missing.value) == (
        "'Accepted' object has no attribute 'real'; it is in the answer's data: answer.data.real"
    )
    assert copy.deepcopy(answer) == answer


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("stateless_http", "leave it out; it always is"),
        ("auth", "servers have no authorization here; put a proxy that checks tokens in front"),
    ],
)
def test_an_option_of_the_official_sdk_says_what_stands_for_it(option: str, hint: str) -> None:
    """Ours: what `leanmcp migrate` says."""
    options: dict[str, Any] = {option: True}
    with pytest.raises(TypeError) as refused:
        MCPServer("x", **options)
    assert str(refused.value) == f"MCPServer: unknown option {option!r}; {hint}"


def test_a_method_that_is_near_is_proposed() -> None:
    """Ours: for those who write a message by hand."""
    error = method_not_found("tool/call", ["tools/call", "tools/list"])
    assert isinstance(error, MethodNotFound)
    assert error.message == "Method not found: 'tool/call'; did you mean 'tools/call'?"


@pytest.mark.parametrize(
    ("template", "uri", "hint"),
    [
        ("files://{path}", "files://a/b.txt", "{path} of 'files://{path}' takes no '/'; as {+path} it would"),
        (
            "users://{id}?full={full}",
            "users://3",
            "'users://{id}?full={full}' needs its query; written {?full} it may be left out",
        ),
        ("files://{path}", "other://a/b.txt", ""),
    ],
)
def test_a_uri_that_a_template_nearly_takes_says_why_not(template: str, uri: str, hint: str) -> None:
    """Ours: for the author of the template, who tries it."""
    assert _near(uri, [template]) == hint


@pytest.mark.parametrize(
    ("given", "hint"), [("args", "\nparams has 'args'; arguments stand in params.arguments"), ("", "")]
)
def test_arguments_beside_their_place_are_named(given: str, hint: str) -> None:
    """Ours: for those who write a message by hand."""
    params = CallToolParams(meta=RequestMeta("2026-07-28", {}), name="add")
    message = b'{"params":{"name":"add","_meta":{}%s}}' % (b',"%s":{}' % given.encode() if given else b"")
    assert of_other_params(params, message) == hint
