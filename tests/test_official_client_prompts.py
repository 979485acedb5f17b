"""The official Python client lists, gets and completes prompts, over stdio and over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mcp import Client, MCPError
from mcp.types import EmbeddedResource, PromptReference, TextContent, TextResourceContents

from tests.support.processes import ROOT
from tests.test_official_client import Target, serving, use

REVIEWER = ROOT / "examples" / "reviewer" / "server.py"
REVIEW = PromptReference(name="review")


@pytest.fixture(scope="module", params=["stdio", "http"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The example of prompts: the command that starts it, or the URL where it runs."""
    with serving(request.param, REVIEWER) as where:
        yield where


def test_the_client_sees_what_is_declared(target: Target) -> None:
    """Spec: server/prompts, "Capabilities"; server/utilities/completion, "Capabilities"."""

    async def conversation(client: Client) -> None:
        capabilities = client.server_capabilities
        assert capabilities.prompts is not None
        assert capabilities.prompts.list_changed is True
        assert capabilities.completions is not None

    use(target, conversation)


def test_prompts_are_listed_with_their_arguments(target: Target) -> None:
    """Spec: server/prompts, "Listing Prompts"."""

    async def conversation(client: Client) -> None:
        review, guide = (await client.list_prompts()).prompts
        assert (review.name, review.title, review.description) == ("review", "Review code", "Review a piece of code.")
        arguments = review.arguments or []
        assert [(argument.name, argument.required) for argument in arguments] == [
            ("code", True),
            ("language", False),
            ("framework", False),
            ("focus", False),
            ("limit", False),
        ]
        assert arguments[0].description == "The code itself."
        assert guide.name == "guide"

    use(target, conversation)


def test_a_prompt_is_got_with_messages_of_both_roles(target: Target) -> None:
    """Spec: server/prompts, "Getting a Prompt"."""

    async def conversation(client: Client) -> None:
        got = await client.get_prompt("review", {"code": "print(1)", "framework": "flask", "limit": "3"})
        assert got.description == "Review a piece of code."
        texts = [(message.role, message.content) for message in got.messages]
        assert texts == [
            ("user", TextContent(text="Review this python code with flask. Look for bugs; report 3 findings at most.")),
            ("user", TextContent(text="print(1)")),
            ("assistant", TextContent(text="The most important finding first:")),
        ]

    use(target, conversation)


def test_a_prompt_carries_a_resource(target: Target) -> None:
    """Spec: server/prompts, "Embedded Resources"."""

    async def conversation(client: Client) -> None:
        content = (await client.get_prompt("guide", {"language": "python"})).messages[1].content
        assert isinstance(content, EmbeddedResource)
        assert isinstance(content.resource, TextResourceContents)
        assert content.resource.text == "Prefer plain functions. Annotate everything."

    use(target, conversation)


@pytest.mark.parametrize(
    ("name", "arguments", "code", "text"),
    [
        ("reviw", {}, -32602, "Unknown prompt: 'reviw'; did you mean 'review'"),
        ("review", {}, -32602, "code: Field required"),
        ("review", {"code": "x", "limit": "99"}, -32602, "limit: Input should be less than or equal to 20"),
        ("review", {"code": "x", "focus": "luck"}, -32602, "focus: Input should be 'bugs', 'speed' or 'style'"),
        ("guide", {"language": "cobol"}, -32603, "language: there are rules for python and typescript only"),
    ],
)
def test_a_refusal_says_what_to_send(
    target: Target, name: str, arguments: dict[str, str], code: int, text: str
) -> None:
    """Spec: server/prompts, "Error Handling"."""

    async def conversation(client: Client) -> None:
        with pytest.raises(MCPError, match=text) as refused:
            await client.get_prompt(name, arguments)
        assert refused.value.code == code

    use(target, conversation)


def test_arguments_are_completed_with_those_that_are_settled(target: Target) -> None:
    """Spec: server/utilities/completion, "Requesting Completions"."""

    async def conversation(client: Client) -> None:
        async def values(name: str, value: str, settled: dict[str, str] | None = None) -> list[str]:
            result = await client.complete(REVIEW, {"name": name, "value": value}, context_arguments=settled)
            assert result.completion.total == len(result.completion.values)
            return result.completion.values

        assert await values("language", "ty") == ["typescript"]
        assert await values("framework", "f") == ["fastapi", "flask"]
        assert await values("framework", "", {"language": "typescript"}) == ["angular", "react", "vue"]
        assert await values("focus", "S") == ["speed", "style", "bugs"]
        with pytest.raises(MCPError, match="Unknown argument 'langage' of prompt 'review'") as refused:
            await values("langage", "")
        assert refused.value.code == -32602

    use(target, conversation)
