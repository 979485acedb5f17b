"""What URIs must not bring into resource functions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from leanmcp import MCPServer
from leanmcp.server import ResourceSecurity
from tests.support.spec import request

ATTACKS = {
    "..": "a . or .. segment",
    ".": "a . or .. segment",
    "%2e%2e": "a . or .. segment",
    "%2E%2E": "a . or .. segment",
    "..%2Fetc": "a . or .. segment",
    "%2e%2e%2fetc": "a . or .. segment",
    "a%2F..%2Fb": "a . or .. segment",
    "a%2Fb": "an encoded slash",
    "%2Fetc%2Fpasswd": "an encoded slash",
    "a%5Cb": "a backslash",
    "..%5C..%5Cetc": "a backslash",
    "a%00": "a NUL character",
    "%00..": "a NUL character",
    "%252e%252e": "percent-encoded twice",
    "..%252f": "percent-encoded twice",
    "a%255cb": "percent-encoded twice",
    "a%2500": "percent-encoded twice",
    "a%25252e": "percent-encoded twice",
}
PATH_ATTACKS = {
    "../etc/passwd": "a . or .. segment",
    "a/../../etc": "a . or .. segment",
    "a/..": "a . or .. segment",
    "./a": "a . or .. segment",
    "%2e%2e/etc": "a . or .. segment",
    "..%2Fetc": "a . or .. segment",
    "/etc/passwd": "an absolute path",
    "%2Fetc/passwd": "an absolute path",
    "C:/windows": "an absolute path",
    "a%5C..%5Cb": "a backslash",
    "a/%00": "a NUL character",
    "%252e%252e/etc": "percent-encoded twice",
}


def outcome(template: str, uri: str, **options: Any) -> dict[str, Any]:
    """Return the answer of a server with one template whose variable is `a`."""
    mcp = MCPServer("x")

    if "*" in template:

        def give_all(a: list[str] = []) -> str:  # noqa: B006
            return "|".join(a)

        mcp.add_resource(give_all, template, **options)
    else:

        def give(a: str = "") -> str:
            return a

        mcp.add_resource(give, template, **options)
    return asyncio.run(request(mcp, "resources/read", {"uri": uri}))


def refused(answer: dict[str, Any], uri: str, reason: str) -> None:
    """Check that a URI counts as not found, for a reason that is told."""
    error = answer["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": uri})
    assert error["message"].endswith(f": a holds {reason}") or error["message"].endswith(f": a is {reason}")


@pytest.mark.parametrize("template", ["f://x/{a}", "f://x{/a}", "f://x{;a}", "f://x{/a*}", "f://x{.a}"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_one_segment_stays_one(template: str, attack: str) -> None:
    """Spec: server/resources, "Security Considerations" 5; FIELD row 132, FEATURES U5."""
    signs = {"f://x/{a}": "/", "f://x{/a}": "/", "f://x{;a}": ";a=", "f://x{/a*}": "/ok/", "f://x{.a}": "."}
    uri = f"f://x{signs[template]}{attack}"
    refused(outcome(template, uri), uri, ATTACKS[attack])


@pytest.mark.parametrize("template", ["f://{+a}", "f:x{?a}", "f:x{#a}"])
@pytest.mark.parametrize("attack", PATH_ATTACKS)
def test_a_path_stays_below(template: str, attack: str) -> None:
    """Spec: as above, where slashes belong to the value."""
    uri = {"f://{+a}": "f://", "f:x{?a}": "f:x?a=", "f:x{#a}": "f:x#"}[template] + attack
    refused(outcome(template, uri), uri, PATH_ATTACKS[attack])


@pytest.mark.parametrize(
    "raw", ["f://x/a\\b", "f://x/a\0b", "f://x/%", "f://x/%2", "f://x/%zz", "f://x/%c0%ae", "f://x/a b"]
)
def test_what_is_no_uri_fits_nothing(raw: str) -> None:
    """Spec: server/resources, "Security Considerations" 1: all URIs are validated; overlong UTF-8 is none."""
    error = outcome("f://x/{a}", raw)["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": raw})


@pytest.mark.parametrize(
    ("template", "uri", "value"),
    [
        ("f://x/{a}", "f://x/...", "..."),
        ("f://x/{a}", "f://x/1.0..2.0", "1.0..2.0"),
        ("f://x/{a}", "f://x/.hidden", ".hidden"),
        ("f://x/{a}", "f://x/100%25", "100%"),
        ("f://x/{a}", "f://x/a@b:c;d=e", "a@b:c;d=e"),
        ("f://{+a}", "f://a/b//c.txt", "a/b//c.txt"),
        ("f:x{?a}", "f:x?a=and%2For", "and/or"),
        ("f://x{/a*}", "f://x/a/b", "a|b"),
    ],
)
def test_harmless_values_pass(template: str, uri: str, value: str) -> None:
    """Ours: only what is dangerous is refused."""
    assert outcome(template, uri)["result"]["contents"][0]["text"] == value


@pytest.mark.parametrize(
    ("options", "attack", "value"),
    [
        ({"exempt_params": {"a"}}, "..%2F%00%5C", "../\0\\"),
        ({"reject_path_traversal": False}, "..", ".."),
        ({"reject_path_traversal": False}, "a%5Cb", "a\\b"),
        ({"reject_path_traversal": False}, "%252e", "%2e"),
        ({"reject_encoded_slashes": False}, "a%2Fb", "a/b"),
        ({"reject_encoded_slashes": False, "reject_absolute_paths": False}, "%2Fb", "/b"),
        ({"reject_null_bytes": False}, "a%00", "a\0"),
    ],
)
def test_a_template_may_opt_out(options: dict[str, Any], attack: str, value: str) -> None:
    """Ours: in words, per template and check."""
    answer = outcome("f://x/{a}", f"f://x/{attack}", security=ResourceSecurity(**options))
    assert answer["result"]["contents"][0]["text"] == value
    assert "error" in outcome("f://x/{a}", f"f://x/{attack}", security=ResourceSecurity(exempt_params={"b"}))


def test_a_laxer_template_is_no_way_around() -> None:
    """Ours: a refusal ends the search."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda a: a, "f://{a}", name="strict")
    mcp.add_resource(lambda a: a, "f://{+a}", name="lax", security=ResourceSecurity(exempt_params={"a"}))
    assert "error" in asyncio.run(request(mcp, "resources/read", {"uri": "f://%2e%2e"}))
    assert "result" in asyncio.run(request(mcp, "resources/read", {"uri": "f://../x"}))
