"""Rules about a server as a whole: how it registers, what it asks, and what its list costs.

Spec 2026-07-28: client/elicitation, "User Interaction Model"; server/tools, "Listing Tools".
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from .record import Hit, Part, Server, each, rule

__all__ = ["size_of", "tokens"]

_BYTES_PER_TOKEN = 4  # a rule of thumb for JSON and English; tokenizers differ by a third and more
_MOST_TOKENS = 10_000  # of the whole list
_MOST_TOKENS_OF_ONE = 1_000
_MOST_TOOLS = 40  # hosts limit what they take of all servers together


def tokens(size: int) -> int:
    """Return about how many tokens so many bytes are."""
    return round(size / _BYTES_PER_TOKEN)


def size_of(entry: object) -> int:
    """Return the bytes of an entry's JSON; 0 of one that lies too deep, of which another rule tells."""
    try:
        return len(msgspec.json.encode(entry))
    except RecursionError:
        return 0


@rule(
    "LC001",
    "registration",
    "warning",
    "A registration has logged a warning, which no other rule says.",
    "See the warning.",
)
def _registration(server: Server) -> Iterator[Hit]:
    for place, text in server.logged:
        yield Hit(place, "logged", text, "")


@rule(
    "LC002",
    "entry",
    "error",
    "An entry of a list has no name or URI.",
    "Give it one.",
)
def _entry(server: Server) -> Iterator[Hit]:
    for part in server.parts:
        if not part.is_named:
            member = {"resource": "uri", "template": "uriTemplate"}.get(part.kind, "name")
            has = ", ".join(map(str, part.entry))[:60] or "nothing"
            text = f"an entry has no {member}, so that clients drop it or refuse the whole list; it has {has}"
            yield Hit(part.place, f"{part.kind}s", text)


@rule(
    "LC701",
    "question-secret",
    "error",
    "A form asks the user for a password, a key, a card number or the like, which pass through the client.",
    "Ask for it on a page of yours, with elicit_url or ElicitURL.",
)
def _question_secret(server: Server) -> Iterator[Hit]:
    for question in server.questions:
        if question.secret:
            fix = "forms pass through the client: ask for it on a page of yours, with elicit_url or ElicitURL"
            yield Hit(question.place, question.owner, question.secret, fix)


@rule(
    "LC702",
    "question-form",
    "error",
    "A question has a class that no form can show, so that it fails when it is asked.",
    "Give a class with a field for each thing to enter.",
)
def _question_form(server: Server) -> Iterator[Hit]:
    for question in server.questions:
        if question.unfit:
            text, _, fix = question.unfit.partition("; ")
            yield Hit(question.place, question.owner, f"its question fails when it is asked: {text}", fix)


@rule(
    "LC801",
    "list-cost",
    "warning",
    "The list of tools costs over 10,000 tokens of every conversation (bytes / 4).",
    "Shorten descriptions, set schema_titles=False, or split the server.",
)
def _list_cost(server: Server) -> Iterator[Hit]:
    cost = tokens(server.tools_bytes)
    if cost > _MOST_TOKENS:
        yield server.hit(f"its tools cost about {cost:,} tokens of every conversation (bytes / 4)")


@rule(
    "LC802",
    "tool-cost",
    "hint",
    "A tool costs over 1,000 tokens of every conversation (bytes / 4).",
    "Shorten its descriptions, or take fewer arguments.",
)
@each("tool")
def _tool_cost(part: Part) -> Iterator[Hit]:
    cost = tokens(size_of(part.entry))
    if cost > _MOST_TOKENS_OF_ONE:
        yield part.hit(f"it costs about {cost:,} tokens of every conversation (bytes / 4)")


@rule(
    "LC803",
    "tool-count",
    "hint",
    "A server has over 40 tools.",
    "Split it, or let one tool do what several do.",
)
def _tool_count(server: Server) -> Iterator[Hit]:
    count = sum(1 for _ in server.of("tool"))
    if count > _MOST_TOOLS:
        yield server.hit(f"it has {count} tools; models choose worse among many, and some hosts take {_MOST_TOOLS}")
