"""What a schema may cost, by who wrote it.

In: the name of a profile. Out: its limits. Sizes are bytes of compact JSON; a step is one subschema on one value.
Spec 2026-07-28: basic/index, "Composition-Keyword Resource Use".
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["PROFILES", "Profile"]


class Profile(Struct, frozen=True, kw_only=True):
    """Limits of one profile.

    Args:
        name: "trusted" or "untrusted".
        max_size: bytes of the schema.
        max_depth: subschemas inside each other.
        max_nodes: subschemas, once more for each dynamic scope that they are used in.
        max_in_place: subschemas that apply to one value, each by way of the one before.
        max_choices: values of one enum; values inside of values count.
        max_choice_depth: nesting of the values of const and enum.
        max_pattern: characters of a pattern.
        max_states: states of the automaton that a pattern becomes.
        backtracking: patterns may be matched by `re`, so that look-around and back references can be had.
        steps: of one check; `steps_per_value` more for each value that there is.
        max_generated: subschemas of a schema that code is generated for; that code takes a step for each call of a
            function that is recursive, `generated_steps` at most and `steps_per_value` more.
    """

    name: str
    max_size: int
    max_depth: int
    max_nodes: int
    max_in_place: int
    max_choices: int
    max_choice_depth: int = 32
    max_pattern: int
    max_states: int
    backtracking: bool
    steps: int
    steps_per_value: int = 16
    max_generated: int = 0
    generated_steps: int = 0


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            name="trusted",
            max_size=256 * 1024,
            max_depth=64,
            max_nodes=10_000,
            max_in_place=200,
            max_choices=10_000,
            max_pattern=1_000,
            max_states=2_000,
            backtracking=True,
            steps=300_000,
            max_generated=2_000,
            generated_steps=1_000_000,
        ),
        Profile(
            name="untrusted",
            max_size=64 * 1024,
            max_depth=32,
            max_nodes=1_000,
            max_in_place=64,
            max_choices=1_000,
            max_pattern=256,
            max_states=500,
            backtracking=False,
            steps=50_000,
        ),
    )
}
