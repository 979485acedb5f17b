"""Prompts for code review as an MCP server: what a person picks from a menu, with values to pick from.

Run it as examples/bookshop is run.
"""

from typing import Annotated, Literal

from leanmcp import AssistantMessage, Field, File, ToolError, UserMessage
from leanmcp.server import MCPServer, Message

mcp = MCPServer("Reviewer", version="1.0.0")

FRAMEWORKS = {"python": ["django", "fastapi", "flask"], "typescript": ["angular", "react", "vue"]}
GUIDES = {"python": "Prefer plain functions. Annotate everything.", "typescript": "Never use `any`."}


@mcp.prompt(title="Review code")
def review(
    code: Annotated[str, Field(description="The code itself.")],
    language: Annotated[str, Field(description="That the code is written in.")] = "python",
    framework: Annotated[str | None, Field(description="That the code is made with.")] = None,
    focus: Annotated[Literal["bugs", "speed", "style"], Field(description="What to look for.")] = "bugs",
    limit: Annotated[int, Field(ge=1, le=20, description="Most findings to report.")] = 5,
) -> list[Message]:
    """Review a piece of code."""
    using = f" with {framework}" if framework else ""
    return [
        UserMessage(f"Review this {language} code{using}. Look for {focus}; report {limit} findings at most."),
        UserMessage(code),
        AssistantMessage("The most important finding first:"),
    ]


@mcp.prompt
def guide(language: str) -> list[Message]:
    """Put the house rules for a language into the conversation.

    Args:
        language: python or typescript.
    """
    if language not in GUIDES:
        raise ToolError(f"language: there are rules for {' and '.join(GUIDES)} only")
    rules = File(data=GUIDES[language], uri=f"guide://{language}", mime_type="text/plain")
    return [UserMessage("Follow these rules from here on."), UserMessage(rules)]


@mcp.completion("review", "language")
@mcp.completion("guide", "language")
def languages() -> list[str]:
    """Return all of them; those that match what is typed are sent."""
    return list(FRAMEWORKS)


@mcp.completion("review", "framework")
def frameworks(value: str, arguments: dict[str, str]) -> list[str]:
    """Return those that go with the language, once that is settled."""
    known = FRAMEWORKS.get(arguments.get("language", "python"), [])
    return [name for name in known if name.startswith(value.lower())]


if __name__ == "__main__":
    mcp.run()
