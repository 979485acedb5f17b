"""WWW-Authenticate fields, as servers write them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp.oauth.challenge import Challenge, parse_challenge, union


@pytest.mark.parametrize(
    ("field", "challenge"),
    [
        ("", Challenge()),
        ("Bearer", Challenge()),
        ('Bearer scope="a b"', Challenge(scope="a b")),
        ('bearer Scope="a", ERROR=insufficient_scope', Challenge(scope="a", error="insufficient_scope")),
        ('Bearer error="x", scope=""', Challenge(error="x")),
        ('Basic realm="scope=\\"no\\"", Bearer scope="a"', Challenge(scope="a")),
        ('Basic realm="x, Bearer scope=y"', Challenge()),
        ('Bearer scope="a", DPoP scope="b"', Challenge(scope="a")),
        ('Negotiate dG9rZW4=, Bearer resource_metadata="https://h/x"', Challenge("https://h/x")),
        ('Bearer error_description="scope=\\"evil\\"", scope="a"', Challenge(scope="a")),
        ('Bearer scope="a", scope="b"', Challenge(scope="a")),
        ('Bearer xscope="no", scope = "a"', Challenge(scope="a")),
        ("Bearer resource_metadata=https://h/x, scope=a", Challenge("https://h/x", "a")),
        ('Bearer scope="never ends', Challenge()),
        (
            'Bearer error="insufficient_scope",\t scope="files:write", resource_metadata="https://h/p", realm="F"',
            Challenge("https://h/p", "files:write", "insufficient_scope"),
        ),
    ],
)
def test_bearer_challenge_is_found_among_others(field: str, challenge: Challenge) -> None:
    """Spec: basic/authorization/authorization-server-discovery: clients must be able to parse WWW-Authenticate."""
    assert parse_challenge(field) == challenge


@given(st.text(alphabet='Bearer scope="\\,=a1 ', max_size=60) | st.text(max_size=60))
def test_any_field_is_read_to_its_end_or_given_up(field: str) -> None:
    """Ours: a stranger's header raises nothing."""
    assert isinstance(parse_challenge(field), Challenge)


def test_a_long_hostile_field_takes_no_time_to_speak_of() -> None:
    """Ours: no pattern backtracks without bound."""
    for field in (
        'Bearer a="' + "\\" * 100_000,
        "Bearer " + "a" * 100_000,
        "Bearer " + "a=" * 50_000,
        "," * 100_000,
        *[f"{blank * 8_000}".join(["Bearer", '"']) for blank in (" ", "\t", " ,", "=", "a ")],
    ):
        before = time.thread_time()
        assert parse_challenge(field) == Challenge()
        assert time.thread_time() - before < 1  # seconds of this thread; it was five


def test_union_keeps_the_order_of_first_mention() -> None:
    """Spec: basic/authorization, "Step-Up Authorization Flow" 2."""
    assert union("a b", None, "c a", "") == "a b c"
    assert union(None, "") is None
