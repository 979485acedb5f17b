"""The tools of the conformance fixture that ask the client, each in one of the ways to write it.

Sampling and roots are deprecated: they exist as requests that are passed through, written out by hand.
"""

from __future__ import annotations

from typing import Annotated, Any

from leanmcp import Context, MCPServer, Model
from leanmcp.elicit import Accepted, Cancelled, Declined, Elicit, Resolve
from leanmcp.types import ElicitResult, InputRequiredResult


class Name(Model):
    """Who is asked."""

    name: str


class Colour(Model):
    """What somebody likes."""

    color: str


class Consent(Model):
    """Yes or no."""

    ok: bool


def sampling(text: str, max_tokens: int = 100) -> dict[str, Any]:
    """Return a request to the client's model."""
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": max_tokens}}


ROOTS = {"method": "roots/list", "params": {}}
CONSENT = Elicit("Please confirm", Consent)
NAME = Elicit("What is your name?", Name)


def register(mcp: MCPServer) -> None:
    """Register the tools with a server."""
    _register_forms(mcp)
    _register_others(mcp)


def _register_forms(mcp: MCPServer) -> None:
    @mcp.tool
    async def test_input_required_result_elicitation(ctx: Context[Any]) -> str:
        """Greet the user by name."""
        answer = await ctx.elicit("What is your name?", Name, key="user_name")
        return f"Hello, {answer.data.name}!" if isinstance(answer, Accepted) else "Hello, whoever you are!"

    @mcp.tool
    async def test_input_required_result_multi_round(ctx: Context[Any]) -> str:
        """Ask two questions, one after the other."""
        name = await ctx.elicit("Step 1: What is your name?", Name, key="step1")
        colour = await ctx.elicit("Step 2: What is your favorite color?", Colour, key="step2")
        return f"{name} likes {colour}"

    def consent() -> Elicit[Consent]:
        return CONSENT

    @mcp.tool
    async def test_input_required_result_tampered_state(
        consent: Annotated[Accepted[Consent] | Declined | Cancelled, Resolve(consent)],
    ) -> str:
        """Ask for consent before anything else."""
        return f"The answer was: {consent.action}"

    @mcp.tool
    async def test_input_required_result_request_state(ctx: Context[Any]) -> str | InputRequiredResult:
        """Keep a value of its own from one round to the next."""
        answer = CONSENT.read((ctx.input_responses or {}).get("confirm"))
        if answer is None:
            return InputRequiredResult(input_requests={"confirm": CONSENT}, request_state={"said": "state-ok"})
        return str(ctx.request_state["said"])


def _register_others(mcp: MCPServer) -> None:
    @mcp.tool
    async def test_input_required_result_sampling(ctx: Context[Any]) -> str | InputRequiredResult:
        """Ask the client's model."""
        answer = (ctx.input_responses or {}).get("capital_question")
        if answer is None:
            return InputRequiredResult(input_requests={"capital_question": sampling("What is the capital of France?")})
        return str(answer["content"]["text"])

    @mcp.tool
    async def test_input_required_result_list_roots(ctx: Context[Any]) -> str | InputRequiredResult:
        """Ask for the folders that the client works in."""
        answer = (ctx.input_responses or {}).get("client_roots")
        if answer is None:
            return InputRequiredResult(input_requests={"client_roots": ROOTS})
        return ", ".join(root["uri"] for root in answer["roots"]) or "no roots"

    @mcp.tool
    async def test_input_required_result_multiple_inputs(ctx: Context[Any]) -> str | InputRequiredResult:
        """Ask the user, the model and the client in one round."""
        wanted = {"user_name": NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": ROOTS}
        answers = ctx.input_responses or {}
        if not wanted.keys() <= answers.keys():
            return InputRequiredResult(input_requests=wanted, request_state=sorted(wanted))
        name = answers["user_name"]
        assert isinstance(name, ElicitResult)
        return f"{name.action}: {', '.join(ctx.request_state)}"

    @mcp.tool
    async def test_input_required_result_capabilities(ctx: Context[Any]) -> str | InputRequiredResult:
        """Ask only what the client can answer."""
        known: dict[str, tuple[str, Any]] = {
            "elicitation": ("user_name", NAME),
            "sampling": ("greeting", sampling("Generate a greeting")),
            "roots": ("client_roots", ROOTS),
        }
        wanted = dict(known[name] for name in known if name in ctx.client_capabilities)
        if not wanted or ctx.input_responses:
            return "Nothing is left to ask."
        return InputRequiredResult(input_requests=wanted)
