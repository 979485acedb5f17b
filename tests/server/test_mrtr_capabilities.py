"""No request goes to a client that did not declare support for it, whatever way it was written."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from leanmcp import Context, MCPError, MCPServer, Model
from leanmcp.elicit import Elicit, ElicitURL, Resolve
from leanmcp.types import InputRequiredResult
from tests.support.rounds import EVERYTHING, accepted, message, only, play, questions, retry, send, text


class Word(Model):
    """Some text."""

    word: str


FORM, PAGE = Elicit("Which word?", Word), ElicitURL("Please sign in.", "https://example.com/")
MESSAGE = {"role": "user", "content": {"type": "text", "text": "?"}}
SAMPLE = {"messages": [MESSAGE], "maxTokens": 5}
TOOL = {"name": "t", "inputSchema": {"type": "object"}}
ROOTS = {"method": "roots/list"}
NO_FORMS: list[dict[str, Any]] = [{}, {"elicitation": {"url": {}}}, {"sampling": {}, "roots": {}}]
SOME_FORMS: list[dict[str, Any]] = [
    {"elicitation": {}},
    {"elicitation": {"form": {}}},
    {"elicitation": {"form": {}, "url": {}}},
]
NO_PAGES: list[dict[str, Any]] = [{}, {"elicitation": {}}, {"elicitation": {"form": {}}}]


def sampling(**more: Any) -> dict[str, Any]:
    return {"method": "sampling/createMessage", "params": {**SAMPLE, **more}}


def by_hand(*requests: Any) -> InputRequiredResult:
    return InputRequiredResult(input_requests={f"key{number}": value for number, value in enumerate(requests)})


def server() -> MCPServer:
    """Return a server that asks for a form and for a page in every way, from each of the three methods."""
    mcp = MCPServer("x")

    @mcp.tool
    async def elicit(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("Which word?", Word))

    @mcp.tool
    async def elicit_url(ctx: Context[Any]) -> str:
        return str(await ctx.elicit_url("Please sign in.", "https://example.com/"))

    @mcp.tool
    async def resolve(word: Annotated[Any, Resolve(lambda: FORM)]) -> str:
        return str(word)

    @mcp.tool
    async def resolve_url(page: Annotated[Any, Resolve(lambda: PAGE)]) -> str:
        return str(page)

    @mcp.tool
    async def returned(ctx: Context[Any]) -> str | InputRequiredResult:
        return str(ctx.input_responses) if ctx.input_responses else by_hand(FORM)

    @mcp.tool
    async def returned_url(ctx: Context[Any]) -> str | InputRequiredResult:
        return str(ctx.input_responses) if ctx.input_responses else by_hand(PAGE)

    @mcp.tool
    async def plain_url() -> InputRequiredResult:
        return by_hand(PAGE)

    @mcp.prompt
    async def prompt(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("Which word?", Word))

    @mcp.prompt
    async def prompt_url(page: Annotated[Any, Resolve(lambda: PAGE)]) -> str:
        return str(page)

    @mcp.resource("x://form")
    async def form() -> InputRequiredResult:
        return by_hand(FORM)

    @mcp.resource("x://page")
    async def page(ctx: Context[Any]) -> str:
        return str(await ctx.elicit_url("Please sign in.", "https://example.com/"))

    return mcp


def refused(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the capabilities that a refusal asks for."""
    assert answer["error"]["code"] == -32021, answer
    found: dict[str, Any] = answer["error"]["data"]["requiredCapabilities"]
    return found


FORMS = [
    ("tools/call", "elicit"),
    ("tools/call", "resolve"),
    ("tools/call", "returned"),
    ("prompts/get", "prompt"),
    ("resources/read", "x://form"),
]
PAGES = [
    ("tools/call", "elicit_url"),
    ("tools/call", "resolve_url"),
    ("tools/call", "returned_url"),
    ("tools/call", "plain_url"),
    ("prompts/get", "prompt_url"),
    ("resources/read", "x://page"),
]


@pytest.mark.parametrize(("method", "name"), FORMS)
def test_a_form_needs_a_client_of_forms(method: str, name: str) -> None:
    """Spec: basic/patterns/mrtr 7; client/elicitation, "Capabilities": `{}` stands for forms, and `url` alone not."""
    mcp = server()
    for capabilities in NO_FORMS:
        answer = send(mcp, message(name, method=method, capabilities=capabilities))
        assert refused(answer) == {"elicitation": {"form": {}}}
    for capabilities in SOME_FORMS:
        assert only(send(mcp, message(name, method=method, capabilities=capabilities)))


@pytest.mark.parametrize(("method", "name"), PAGES)
def test_a_page_needs_a_client_of_pages(method: str, name: str) -> None:
    """Spec: client/elicitation, "Capabilities": no mode that the client does not support."""
    mcp = server()
    for capabilities in NO_PAGES:
        answer = send(mcp, message(name, method=method, capabilities=capabilities))
        assert refused(answer) == {"elicitation": {"url": {}}}
    assert only(send(mcp, message(name, method=method, capabilities={"elicitation": {"url": {}}})))


@pytest.mark.parametrize(
    ("requests", "capabilities", "required"),
    [
        ([ROOTS], {"sampling": {}, "elicitation": {}}, {"roots": {}}),
        ([sampling()], {"roots": {}, "elicitation": {}}, {"sampling": {}}),
        ([sampling(tools=[TOOL])], {"sampling": {}}, {"sampling": {"tools": {}}}),
        ([sampling(toolChoice={"mode": "auto"})], {"sampling": {}}, {"sampling": {"tools": {}}}),
        ([sampling(includeContext="allServers")], {"sampling": {}}, {"sampling": {"context": {}}}),
        ([FORM, PAGE, ROOTS], {"elicitation": {}}, {"elicitation": {"url": {}}, "roots": {}}),
        ([FORM, PAGE], {}, {"elicitation": {"form": {}, "url": {}}}),
    ],
)
def test_sampling_and_roots_are_told_apart(
    requests: list[Any], capabilities: dict[str, Any], required: dict[str, Any]
) -> None:
    """Spec: basic/patterns/mrtr 7; catches a server that sends a roots request to a client without roots."""
    mcp = MCPServer("x")

    @mcp.tool
    async def ask() -> InputRequiredResult:
        return by_hand(*requests)

    assert refused(send(mcp, message("ask", capabilities=capabilities))) == required
    everything = {**EVERYTHING, "sampling": {"tools": {}, "context": {}}}
    assert len(questions(send(mcp, message("ask", capabilities=everything)))) == len(requests)


def test_the_refusal_says_what_to_do() -> None:
    """Ours: U15, the client's option and the alternative."""
    sentence = send(server(), message("elicit", capabilities={}))["error"]["message"]
    assert "'elicitation.form'" in sentence
    assert "elicitation_callback=" in sentence
    assert "{elicitation: {form: {}}}" in sentence
    assert "in the arguments" in sentence


def test_a_function_may_do_without() -> None:
    """Ours: the refusal is an MCPError, which may be caught before anything has been sent."""
    mcp = MCPServer("x")

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        try:
            return str(await ctx.elicit("Which word?", Word))
        except MCPError as refusal:
            return f"without: {refusal.code}"

    assert text(send(mcp, message("ask", capabilities={}))) == "without: -32021"
    assert only(send(mcp, message("ask")))


def test_an_answer_that_came_counts_whatever_is_declared_now() -> None:
    """Ours: nothing is sent to the client any more."""
    mcp = server()
    asked = send(mcp, message("elicit"))
    request = message("elicit", capabilities={})
    assert "word='a'" in text(send(mcp, retry(request, asked, {only(asked): accepted(word="a")})))
    assert refused(send(mcp, retry(request, asked, {}))) == {"elicitation": {"form": {}}}


def test_a_capability_can_be_required_by_name() -> None:
    """Ours: `ctx.require_capability`, with what is inside it."""
    mcp = MCPServer("x")

    @mcp.tool
    async def need(path: list[str], ctx: Context[Any]) -> str:
        ctx.require_capability(*path)
        return "there"

    def answer(*path: str, **capabilities: Any) -> dict[str, Any]:
        return send(mcp, message("need", {"path": path}, capabilities=capabilities))

    assert refused(answer("elicitation", "url", elicitation={})) == {"elicitation": {"url": {}}}
    assert refused(answer("sampling")) == {"sampling": {}}
    assert refused(answer("sampling", "tools", sampling={"tools": None})) == {"sampling": {"tools": {}}}
    for path, capabilities in (
        (["elicitation"], {"elicitation": {}}),
        (["elicitation", "form"], {"elicitation": {}}),
        (["elicitation", "url"], {"elicitation": {"url": {}}}),
        (["roots"], {"roots": {}}),
    ):
        assert text(answer(*path, **capabilities)) == "there"


def test_play_reaches_the_end_over_all_of_them() -> None:
    """Ours: with everything declared, every way of asking comes to its end."""
    mcp = server()
    for method, name in FORMS + PAGES:
        if name in ("plain_url", "x://form"):  # asks for ever
            continue
        done = play(mcp, message(name, method=method), accepted(word="a"))[-1]
        assert done["result"]["resultType"] == "complete", name
