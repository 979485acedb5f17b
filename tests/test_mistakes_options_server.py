"""What authors are told, at once, of options of `MCPServer` that cannot be."""

from __future__ import annotations

import pytest

from tests.support.mistakes import Mistake, check

OPTIONS = [
    Mistake(
        "LM203",
        'MCPServer("demo", port=8000)\n',
        "MCPServer: unknown option 'port'; give it to mcp.run(\"http\", port=...)",
    ),
    Mistake(
        "LM203",
        'MCPServer("demo", log_level="DEBUG")\n',
        "MCPServer: unknown option 'log_level'; set the logger up: logging.getLogger('leanmcp').setLevel(...)",
    ),
    Mistake(
        "LM203",
        'MCPServer("demo", tools=[print])\n',
        "MCPServer: unknown option 'tools'; call mcp.add_tool for each",
    ),
    Mistake(
        "LM205",
        """\
MCPServer("x", limits=Limits(max_body_size=-5))
""",
        "Limits(max_body_size=-5): give a positive number",
    ),
    Mistake(
        "LM207",
        """\
MCPServer("x", cache_hints={"tools/list": CacheHint(ttl_ms=5, scope="all")})
""",
        "CacheHint(scope='all'): give 'public' or 'private'",
    ),
    Mistake(
        "LM207",
        """\
MCPServer("x", nullable="x")
""",
        "nullable='x': give 'anyOf' or 'type'",
    ),
    Mistake(
        "LM207",
        """\
MCPServer("x", extra_args="allow")
""",
        "extra_args='allow': give 'forbid' or 'ignore'",
    ),
    Mistake(
        "LM210",
        """\
MCPServer("x", icons=["a.png"])
""",
        "the server: icons= holds 'a.png'; give leanmcp.types.Icon(src=...)",
    ),
    Mistake(
        "LM211",
        """\
MCPServer(5)
""",
        "MCPServer: name=5; give a string",
    ),
    Mistake(
        "LM211",
        """\
MCPServer("x", version=1.0)
""",
        "MCPServer: version=1.0; give a string",
    ),
    Mistake(
        "LM211",
        """\
MCPServer("x", instructions=["a"])
""",
        "instructions=['a']: give a string",
    ),
    Mistake(
        "LM212",
        """\
MCPServer("x", limits={"max_body_size": 5})
""",
        "limits={'max_body_size': 5}: give Limits(max_body_size=..., ...)",
    ),
    Mistake(
        "LM213",
        """\
MCPServer("x", cache_hints={"tools/list": 60})
""",
        "cache_hints['tools/list'] is 60; give a CacheHint(ttl_ms=..., scope=...)",
    ),
    Mistake(
        "LM213",
        """\
MCPServer("x", cache_hints={"tools/call": CacheHint(ttl_ms=5)})
""",
        "cache_hints names 'tools/call'; cacheable methods are server/discover, tools/list, "
        "prompts/list, resources/list, resources/templates/list, resources/read",
    ),
    Mistake(
        "LM214",
        """\
MCPServer("x", middleware=[5])
""",
        "middleware 5: write `async def middleware(request, call_next)`",
    ),
    Mistake(
        "LM214",
        """\
MCPServer("x", middleware=lambda a, b: 1)
""",
        "middleware=<lambda>: give a list, [<lambda>]",
    ),
    Mistake(
        "LM215",
        """\
MCPServer("x", page_size=-1)
""",
        "page_size=-1: give the number of entries on a page, 0 for no pages",
    ),
    Mistake(
        "LM222",
        """\
MCPServer("x", request_state_security=RequestStateSecurity(keys=["short"]))
""",
        'key 0 of the requestState has 5 bytes; give 32 or more random ones, as `python -c "import '
        'secrets; print(secrets.token_hex(32))"` prints',
    ),
    Mistake(
        "LM222",
        """\
MCPServer("x", request_state_security="key")
""",
        "MCPServer: request_state_security= is of type str: give RequestStateSecurity(keys=[...])",
    ),
    Mistake(
        "LM224",
        """\
MCPServer("x", sanitize=True)
""",
        "sanitize=True: give a function from a value to what may go out",
    ),
    Mistake(
        "LM229",
        """\
MCPServer("x", subscriptions=True)
""",
        "subscriptions=True: give a SubscriptionBus, or leave it out for this server alone",
    ),
    Mistake(
        "LM225",
        """\
MCPServer("x", extensions=[5])
""",
        "extensions=[5]: give objects of subclasses of leanmcp.server.Extension",
    ),
]


@pytest.mark.parametrize("mistake", OPTIONS, ids=lambda mistake: mistake.message[:60])
def test_an_option_of_a_server_that_cannot_be_is_told_at_once(mistake: Mistake) -> None:
    """Ours: goals U9 to U12; each message says what, where and what to write instead, and has one page."""
    check(mistake)
