"""Prompts: registration, prompts/list, prompts/get, and what a failing prompt tells."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import pytest

from leanmcp import Field, MCPServer
from leanmcp.types import Icon
from tests.support.prompting import ask, get, hello, refusal, text_of


def names(mcp: MCPServer) -> list[str]:
    """Return the names in prompts/list."""
    return [prompt["name"] for prompt in ask(mcp, "prompts/list")["result"]["prompts"]]


# --- what is declared -------------------------------------------------------------------------------------------------


def test_nothing_is_declared_or_served_before_the_first_prompt() -> None:
    """Spec: server/prompts, "Capabilities"; capabilities match what is served."""
    mcp = MCPServer("x")
    assert ask(mcp, "server/discover")["result"]["capabilities"] == {"tools": {"listChanged": True}}
    for method in ("prompts/list", "prompts/get", "completion/complete"):
        assert refusal(ask(mcp, method, name="x"), -32601)


@pytest.mark.parametrize(("listen", "settings"), [(True, {"listChanged": True}), (False, {})])
def test_the_first_prompt_declares_the_capability(listen: bool, settings: dict[str, Any]) -> None:
    """Spec: server/prompts, "Capabilities"; listChanged only where changes can be told."""
    mcp = MCPServer("x", listen=listen)
    mcp.add_prompt(hello)
    capabilities = ask(mcp, "server/discover")["result"]["capabilities"]
    assert capabilities["prompts"] == settings
    assert "completions" not in capabilities


def test_the_list_may_become_empty_and_stays_served() -> None:
    """Spec: server/prompts, "Capabilities": the set MAY be empty."""
    mcp = MCPServer("x")
    mcp.add_prompt(hello)
    mcp.remove_prompt("hello")
    assert names(mcp) == []
    assert refusal(get(mcp, "hello"), -32602) == "Unknown prompt: 'hello'"


# --- the list ---------------------------------------------------------------------------------------------------------


def test_entry_holds_all_that_was_said() -> None:
    """Spec: server/prompts, "Prompt"."""
    mcp = MCPServer("x")

    @mcp.prompt(
        "code_review",
        "Review code",
        icons=[Icon(src="https://example.com/i.png", mime_type="image/png", sizes=["48x48"])],
        meta={"com.example/x": 1},
    )
    def review(code: Annotated[str, Field(description="The code.")], style: str = "short", depth: int = 1) -> str:
        """Review a piece of code.

        Args:
            style: How to write.
        """
        return code + style * depth

    assert ask(mcp, "prompts/list")["result"]["prompts"] == [
        {
            "name": "code_review",
            "title": "Review code",
            "description": "Review a piece of code.",
            "arguments": [
                {"name": "code", "description": "The code.", "required": True},
                {"name": "style", "description": "How to write.", "required": False},
                {"name": "depth", "required": False},
            ],
            "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
            "_meta": {"com.example/x": 1},
        }
    ]
    assert text_of(get(mcp, "code_review", {"code": "x", "depth": "2"})) == "xshortshort"
    assert get(mcp, "code_review", {"code": "x"})["result"]["description"] == "Review a piece of code."


def test_a_prompt_without_arguments_or_text_lists_its_name_alone() -> None:
    """Spec: server/prompts, "Prompt": all but the name is optional."""
    mcp = MCPServer("x")
    mcp.add_prompt(lambda: "Hi.", "hi")
    assert ask(mcp, "prompts/list")["result"]["prompts"] == [{"name": "hi"}]
    assert "description" not in get(mcp, "hi")["result"]


def test_list_comes_in_pages() -> None:
    """Spec: server/utilities/pagination; every prompt once, in order, and foreign cursors refused."""
    mcp = MCPServer("x", page_size=2)
    for number in range(5):
        mcp.add_prompt(hello, f"p{number}")
    found, cursor = [], None
    while True:
        page = ask(mcp, "prompts/list", **({} if cursor is None else {"cursor": cursor}))["result"]
        found += [prompt["name"] for prompt in page["prompts"]]
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    assert found == [f"p{number}" for number in range(5)]
    assert refusal(ask(mcp, "prompts/list", cursor="bm8"), -32602)


def test_prompts_come_and_go() -> None:
    """Ours: add, replace, disable, enable and remove, each told to those who listen."""
    mcp = MCPServer("x")
    told: list[str] = []
    mcp.notify_prompts_changed = lambda: told.append("changed")  # type: ignore[method-assign]
    for name in ("a", "b", "c"):
        mcp.add_prompt(hello, name)
    mcp.disable_prompt("b")
    assert names(mcp) == ["a", "c"]
    assert "did you mean" not in refusal(get(mcp, "b"), -32602)
    mcp.enable_prompt("b")
    mcp.add_prompt(lambda: "Other.", "a", replace=True)
    assert names(mcp) == ["a", "b", "c"]
    assert text_of(get(mcp, "a")) == "Other."
    mcp.remove_prompt("c")
    assert names(mcp) == ["a", "b"]
    assert told == ["changed"] * 7
    with pytest.raises(ValueError, match=r"prompt 'a' is registered already; give another name= or replace=True"):
        mcp.add_prompt(hello, "a")
    for change in (mcp.remove_prompt, mcp.enable_prompt, mcp.disable_prompt):
        with pytest.raises(ValueError, match="there is no prompt 'zzz'"):
            change("zzz")


def test_threads_that_come_first_share_one_registry() -> None:
    """Ours: any thread may register, the first prompt too."""
    mcp = MCPServer("x")
    barrier = threading.Barrier(8)

    def register(number: int) -> None:
        barrier.wait(timeout=20)
        mcp.add_prompt(hello, f"p{number}")

    threads = [threading.Thread(target=register, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert sorted(names(mcp)) == [f"p{number}" for number in range(8)]


def takes_any(*words: str) -> str:
    return ""


def takes_named(**words: str) -> str:
    return ""


def takes_self(self, word: str) -> str:  # type: ignore[no-untyped-def]
    return ""


def takes_object(thing: object()) -> str:  # type: ignore[valid-type]
    return ""


def yields() -> Any:
    yield ""


# --- registration mistakes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "options", "error", "text"),
    [
        (takes_any, {}, TypeError, r"prompt 'takes_any': parameter 'words': a prompt cannot take \*words; name each"),
        (takes_named, {}, TypeError, r"a prompt cannot take \*\*words; name each argument\n"),
        (takes_self, {}, TypeError, r"an unbound method has no self; register the bound one, as in add_prompt\("),
        (
            takes_object,
            {},
            TypeError,
            r"^prompt 'takes_object': parameter 'thing' has type .*; use a type that JSON can carry\n",
        ),
        (yields, {}, TypeError, "prompt 'yields' is a generator; return a value, or a list"),
        (lambda: "", {}, ValueError, "a lambda needs name="),
        (hello, {"name": "a b"}, ValueError, "prompt name 'a b': use 1 to 128"),
        (hello, {"name": 5}, TypeError, "prompt name must be a string, not 5"),
        (hello, {"icons": [Icon(src="http://x")]}, ValueError, "prompt 'hello': icon 'http://x' must be an https"),
        (hello, {"title": 5}, TypeError, "prompt 'hello': its entry in prompts/list cannot be published"),
        (hello, {"timeout": 0}, ValueError, "timeout=0: give a positive number"),
        (5, {}, TypeError, "a prompt is a function, not 5"),
        (staticmethod(hello), {}, TypeError, "prompt 'hello' is a staticmethod of a class that is not made yet"),
    ],
)
def test_a_mistake_is_told_at_registration(
    function: Any, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    """Ours: as for tools, saying prompt; nothing is registered, and nothing declared."""
    mcp = MCPServer("x")
    with pytest.raises(error, match=text):
        mcp.add_prompt(function, **options)
    assert "prompts" not in ask(mcp, "server/discover")["result"]["capabilities"]


def test_a_docstring_that_tells_of_no_parameter_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: as for tools."""
    mcp = MCPServer("x")

    @mcp.prompt
    def greet(name: str) -> str:
        """Greet.

        Args:
            name: Whom.
            nmae: Whom else.
        """
        return name

    assert "prompt 'greet': the docstring describes 'nmae'" in caplog.text
