"""The prompts of the conformance fixture, and what completes their arguments."""

from __future__ import annotations

from typing import Annotated, Any

from leanmcp import AssistantMessage, Context, Field, MCPServer, UserMessage
from leanmcp.server import Message
from leanmcp.types import EmbeddedResource, ImageContent, InputRequiredResult, TextResourceContents

RED_PIXEL = ImageContent(
    data="iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
    mime_type="image/png",
)
QUESTION = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "What is the context?",
        "requestedSchema": {
            "type": "object",
            "properties": {"context": {"type": "string"}},
            "required": ["context"],
        },
    },
}


def register(mcp: MCPServer) -> None:
    """Register the prompts with a server."""

    @mcp.prompt
    async def test_simple_prompt() -> str:
        """Say one thing."""
        return "A simple prompt for the conformance suite."

    @mcp.prompt
    async def test_prompt_with_arguments(
        arg1: Annotated[str, Field(description="First argument")],
        arg2: Annotated[str, Field(description="Second argument")],
    ) -> str:
        """Repeat two arguments."""
        return f"The arguments are {arg1!r} and {arg2!r}."

    @mcp.prompt
    async def test_prompt_with_embedded_resource(
        resourceUri: Annotated[str, Field(description="URI of the resource to embed")],  # noqa: N803  the suite's name
    ) -> list[Message]:
        """Embed a resource."""
        note = TextResourceContents(uri=resourceUri, mime_type="text/plain", text="A short note.")
        return [UserMessage(EmbeddedResource(resource=note)), UserMessage("Read the resource above.")]

    @mcp.prompt
    async def test_prompt_with_image() -> list[Message]:
        """Show a picture."""
        return [UserMessage(RED_PIXEL), AssistantMessage("A red pixel.")]

    @mcp.prompt
    async def test_input_required_result_prompt(ctx: Context[Any]) -> str | InputRequiredResult:
        """Ask for something before there are messages."""
        answer = (ctx.input_responses or {}).get("user_context")
        if answer is None:
            return InputRequiredResult(input_requests={"user_context": QUESTION})
        return f"The context is {answer.content}."

    @mcp.completion("test_prompt_with_arguments", "arg1")
    async def first_arguments() -> list[str]:
        return ["paris", "park", "party"]
