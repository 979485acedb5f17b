"""`on_call` and policies: who may call what, and with which arguments."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from leanmcp.client import Client, Hints, Policy, Question, hints_of
from leanmcp.errors import CallDenied, MCPError
from leanmcp.protocol.outgoing import OutgoingRequest
from leanmcp.types import ElicitResult, Tool, ToolAnnotations
from tests.support.strange_server import StrangeServer, run, text, tool

READ_ONLY = {"readOnlyHint": True}


def server() -> StrangeServer:
    return StrangeServer(
        tool("read", annotations=READ_ONLY),
        tool("add", annotations={"destructiveHint": False}),
        tool("delete"),
        results={name: text("done") for name in ("read", "add", "delete")},
    )


class Person:
    """Somebody who is asked, and answers from a list."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.questions: list[Question] = []

    def __call__(self, question: Question) -> Any:
        self.questions.append(question)
        return self.answers.pop(0)

    @property
    def asked(self) -> list[str]:
        return [question.tool for question in self.questions]


# --- on_call ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", [True, None])
def test_on_call_lets_a_call_pass(verdict: bool | None) -> None:
    """Spec: server/tools, "Security Considerations" (show tool inputs before calling the server)."""
    seen: list[tuple[str, dict[str, Any]]] = []

    def on_call(name: str, arguments: dict[str, Any]) -> bool | None:
        seen.append((name, arguments))
        return verdict

    async def main() -> None:
        there = server()
        async with Client(there, on_call=on_call) as client:
            await client.call_tool("delete", {"path": "x"})
        assert there.calls() == [{"path": "x"}]

    run(main())
    assert seen == [("delete", {"path": "x"})]


def test_denied_call_sends_nothing() -> None:
    """Spec: server/tools, "User Interaction Model": the ability to deny tool invocations."""

    async def deny(name: str, arguments: dict[str, Any]) -> bool:
        return False

    async def main() -> None:
        there = server()
        async with Client(there, on_call=deny) as client:
            with pytest.raises(CallDenied, match="'delete' of a strange server was not called: on_call denied it"):
                await client.call_tool("delete")
            with pytest.raises(CallDenied):
                await client.call_tool_once("delete")
        assert there.calls() == []

    run(main())


def test_edited_arguments_are_what_is_sent() -> None:
    """Ours: a dict from on_call replaces the arguments; so does a change of those it was given."""

    def replace(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"path": "safe"}

    def edit(name: str, arguments: dict[str, Any]) -> None:
        arguments.pop("secret")

    async def main() -> None:
        there = server()
        async with Client(there, on_call=replace) as client:
            await client.call_tool("delete", {"path": "x"})
        async with Client(there, on_call=edit) as client:
            await client.call_tool("delete", {"path": "x", "secret": 1})
        assert there.calls() == [{"path": "safe"}, {"path": "x"}]

    run(main())


def test_whoever_holds_the_arguments_cannot_change_what_was_approved() -> None:
    """Ours: what is sent is a copy that only the client has."""
    arguments = {"path": "harmless", "more": [1]}
    held: list[dict[str, Any]] = []

    async def on_call(name: str, shown: dict[str, Any]) -> bool:
        held.append(shown)
        arguments["path"] = "/"
        return True

    async def ask(question: Question) -> bool:
        held[0]["path"] = "/"
        question.arguments["more"].append(2)
        return True

    async def main() -> None:
        there = server()
        async with Client(there, on_call=on_call, trust=Policy(ask)) as client:
            await client.call_tool("delete", arguments)
        assert there.calls() == [{"path": "harmless", "more": [1]}]

    run(main())


def test_on_call_is_called_once_for_all_rounds_of_a_call() -> None:
    """Ours: the retries of a call that asks (basic/patterns/mrtr) are the same call."""
    asks = {
        "resultType": "input_required",
        "inputRequests": {
            "name": {
                "method": "elicitation/create",
                "params": {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}},
            }
        },
    }

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        return text("done") if "inputResponses" in params else asks

    seen: list[str] = []

    async def main() -> None:
        there = StrangeServer(tool("ask"), results={"ask": answer})
        async with Client(
            there,
            on_call=lambda name, arguments: seen.append(name),
            elicitation_callback=lambda context, params: ElicitResult(action="accept", content={}),
        ) as client:
            await client.call_tool("ask", {"a": 1})
        assert there.calls() == [{"a": 1}, {"a": 1}]

    run(main())
    assert seen == ["ask"]


def test_on_call_that_returns_something_else_is_told() -> None:
    """Ours: a typo must not become consent."""

    def wrong(name: str, arguments: dict[str, Any]) -> Any:
        return "yes"

    async def main() -> None:
        there = server()
        async with Client(there, on_call=wrong) as client:
            with pytest.raises(TypeError, match="return True or None to allow, False to deny"):
                await client.call_tool("delete")
        assert there.calls() == []

    run(main())


# --- hints ------------------------------------------------------------------------------------------------------------


def test_hints_that_are_left_out_stand_for_the_worst() -> None:
    """Spec: schema, "ToolAnnotations": the defaults."""
    worst = Hints(read_only=False, destructive=True, idempotent=False, open_world=True, believed=True)
    assert hints_of(Tool(name="x", input_schema={}), believed=True) == Hints(believed=True) == worst
    assert hints_of(Tool(name="x", input_schema={}, annotations=ToolAnnotations()), believed=True) == worst
    assert hints_of(None, believed=False).destructive


def test_hints_of_servers_that_are_not_named_are_not_believed() -> None:
    """Spec: server/tools, "Tool": annotations are untrusted unless they come from trusted servers (MUST)."""
    claims = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    tame = Tool(name="x", input_schema={}, annotations=claims)
    assert hints_of(tame, believed=False) == Hints()
    assert hints_of(tame, believed=True) == Hints(True, False, True, False, True)


# --- policies ---------------------------------------------------------------------------------------------------------


def test_policy_asks_about_every_tool_of_a_server_it_does_not_believe() -> None:
    """Spec: server/tools, "Security Considerations": prompt for user confirmation."""
    person = Person(True, False, None)

    async def main() -> None:
        there = server()
        async with Client(there, trust=Policy(person)) as client:
            await client.call_tool("read", {"path": "x"})
            for name in ("add", "delete"):
                with pytest.raises(CallDenied, match="the user did not consent"):
                    await client.call_tool(name)
        assert there.calls() == [{"path": "x"}]

    run(main())
    assert person.asked == ["read", "add", "delete"]
    question = person.questions[0]
    assert (question.server, question.arguments) == ("a strange server", {"path": "x"})
    assert question.definition is not None
    assert question.definition.name == "read"
    assert "not one whose description of it is believed" in question.reason


@pytest.mark.parametrize(
    ("ask_for", "asked"),
    [("destructive", ["delete"]), ("writing", ["add", "delete"]), ("everything", ["read", "add", "delete"])],
)
@pytest.mark.parametrize("believe", [True, ["mine"], "mine"])
def test_policy_asks_about_what_a_believed_server_says_is_dangerous(
    ask_for: Any, asked: list[str], believe: Any
) -> None:
    """Ours: `ask_for` draws the line; labels name the servers that are believed."""
    person = Person(True, True, True)

    async def main() -> None:
        policy = Policy(person, believe=believe, ask_for=ask_for)
        async with Client(server(), trust=policy, label="mine") as client:
            for name in ("read", "add", "delete"):
                await client.call_tool(name)

    run(main())
    assert person.asked == asked


def test_tool_that_the_server_does_not_list_is_asked_about() -> None:
    """Ours: no description, no trust."""
    person = Person(True)

    async def main() -> None:
        there = StrangeServer(results={"hidden": text("done")})
        async with Client(there, trust=Policy(person, believe=True)) as client:
            await client.call_tool("hidden")

    run(main())
    assert person.questions[0].definition is None
    assert person.questions[0].hints.destructive


def test_tool_whose_description_cannot_be_had_is_asked_about() -> None:
    """Ours: a server that cannot tell describes nothing, which means the worst."""
    person = Person(True)

    class Silent(StrangeServer):
        async def request(self, request: OutgoingRequest) -> bytes:
            if request.method == "tools/list":
                raise MCPError(-32603, "not now")
            return await super().request(request)

    async def main() -> None:
        there = Silent(results={"hidden": text("done")})
        async with Client(there, trust=Policy(person, believe=True)) as client:
            await client.call_tool("hidden")

    run(main())
    assert person.questions[0].hints.destructive


def test_rules_name_tools_by_pattern_and_deny_wins() -> None:
    """Ours: deny, then always_ask, then allow, then hints."""
    policy = Policy(allow=["read_*", "files:*"], deny=["read_secrets", "files:drop*"], always_ask="read_mail")
    assert policy.rule("any", "read_book") == "allow"
    assert policy.rule("any", "read_secrets") == "deny"
    assert policy.rule("any", "read_mail") == "ask"
    assert policy.rule("files", "write") == "allow"
    assert policy.rule("files", "drop_all") == "deny"
    assert policy.rule("other", "write") is None
    assert policy.rule("any", "Read_book") is None  # "Tool names SHOULD be considered case-sensitive"


def test_tool_cannot_name_itself_into_another_servers_rule() -> None:
    """Ours: a server chooses the names of its tools, so a rule for `files:...` must not match a tool of that name."""
    policy = Policy(allow=["files:*"], deny=["files:drop"])
    assert policy.rule("evil", "files:read") is None
    assert policy.rule("evil", "files:drop") == "deny"


def test_policy_without_anybody_to_ask_denies() -> None:
    """Ours: safe by default; the text says what to give."""

    async def main() -> None:
        async with Client(server(), trust=Policy(allow=["read"], deny=["add"])) as client:
            await client.call_tool("read")
            with pytest.raises(CallDenied, match="the policy denies it"):
                await client.call_tool("add")
            with pytest.raises(CallDenied, match=r"give Policy\(ask=...\) or allow="):
                await client.call_tool("delete")

    run(main())


@pytest.mark.parametrize(("remember", "asked"), [("never", 4), ("call", 2), ("session", 1)])
def test_consent_is_remembered_as_long_as_was_wanted(remember: Any, asked: int) -> None:
    """Ours: each call, the same arguments, or the tool; by default each call is asked about."""
    person = Person(*[True] * 4)

    async def main() -> None:
        policy = Policy(person) if remember == "never" else Policy(person, remember=remember)
        async with Client(server(), trust=policy) as client:
            for path in ("a", "b", "a", "b"):
                await client.call_tool("delete", {"path": path})

    run(main())
    assert len(person.questions) == asked


def test_answer_says_how_long_it_holds_and_can_be_forgotten() -> None:
    """Ours: "session" from a dialog that offers it; a denial is not remembered."""
    person = Person(False, "session", True)

    async def main() -> None:
        policy = Policy(person)
        async with Client(server(), trust=policy) as client:
            with pytest.raises(CallDenied):
                await client.call_tool("delete")
            await client.call_tool("delete")
            await client.call_tool("delete")
            policy.forget()
            await client.call_tool("delete")

    run(main())
    assert person.answers == []


def test_tool_that_is_described_differently_is_asked_about_again() -> None:
    """Ours: consent was given to what was shown."""
    person = Person("session", "session")

    async def main() -> None:
        there = server()
        policy = Policy(person)
        async with Client(there, trust=policy) as client:
            await client.call_tool("delete")
        there.pages = [[tool("delete", description="and mail a copy")]]
        async with Client(there, trust=policy) as client:
            await client.call_tool("delete")

    run(main())
    assert person.answers == []


def test_one_question_is_open_at_a_time_and_settles_the_others() -> None:
    """Ours: calls side by side do not put two dialogs on one screen."""
    threads: list[int] = []

    def ask(question: Question) -> Any:
        threads.append(threading.get_ident())
        return "session"

    async def main() -> None:
        async with Client(server(), trust=Policy(ask)) as client:
            await asyncio.gather(*(client.call_tool("delete") for _ in range(5)))

    run(main())
    assert len(threads) == 1  # five open questions would have been asked before the first was answered
    assert threading.get_ident() not in threads  # it may wait for input


def test_policy_asks_about_what_on_call_has_made_of_the_arguments() -> None:
    """Ours: what was shown is what is sent."""
    person = Person(True)

    async def main() -> None:
        there = server()
        async with Client(there, on_call=lambda name, arguments: {"path": "edited"}, trust=Policy(person)) as client:
            await client.call_tool("delete", {"path": "x"})
        assert there.calls() == [{"path": "edited"}]

    run(main())
    assert person.questions[0].arguments == {"path": "edited"}


@pytest.mark.parametrize("options", [{"ask_for": "nothing"}, {"remember": "always"}])
def test_policy_refuses_words_that_it_does_not_know(options: dict[str, Any]) -> None:
    """Ours: a typo must not weaken it."""
    with pytest.raises(ValueError, match="give '"):
        Policy(**options)
    with pytest.raises(TypeError, match="return True, False"):
        run(_ask_wrongly())


async def _ask_wrongly() -> None:
    async with Client(server(), trust=Policy(Person("yes please"))) as client:
        await client.call_tool("delete")


def test_client_without_gates_passes_none() -> None:
    """Ours: nothing is loaded or awaited for what nobody asked for."""
    from leanmcp import MCPServer

    assert Client(MCPServer("x"))._guards is None
    assert Client(server(), check=False)._guards is None
    assert Client(server())._guards is not None
