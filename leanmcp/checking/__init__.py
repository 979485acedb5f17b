"""Rules that find what is wrong with a server before somebody calls it.

In: a `Server`, described in plain data: by `local.describe` of one in this process, by `wire.describe` of one that
answers requests. Out: findings. Rules are pure functions; nothing is called, fetched or changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

from . import behaviour, features, general, inputs, names, outputs, texts  # noqa: F401  whose rules are known then
from .record import KNOWN, SEVERITIES, Finding, Hit, Rule, Server

__all__ = ["RULES", "check"]

RULES: tuple[Rule, ...] = tuple(sorted(KNOWN, key=lambda rule: rule.id))
"""LC0 entries, LC1 names, LC2 texts, LC3 inputs, LC4 values, LC5 behaviour, LC6 features, LC7 questions, LC8 costs."""


def check(server: Server, ignore: Collection[str] = ()) -> list[Finding]:
    """Return what the rules find: errors first, then warnings, then hints, each by place.

    Args:
        server: described.
        ignore: ids of rules that are left out.
    """
    said = re.compile("|".join(rule.replaces for rule in RULES if rule.replaces))
    logged = [(place, text) for place, text in server.logged if not said.search(text)]
    server = msgspec.structs.replace(server, logged=logged)
    found = [_finding(rule, hit) for rule in RULES if rule.id not in ignore for hit in rule.look(server)]
    return sorted(found, key=lambda one: (SEVERITIES.index(one.severity), one.file, one.line, one.rule))


def _finding(rule: Rule, hit: Hit) -> Finding:
    usual = rule.fix if rule.fix.endswith("...") else rule.fix.removesuffix(".")
    fix = usual[:1].lower() + usual[1:] if hit.fix is None else hit.fix
    return Finding(rule.id, rule.name, rule.severity, hit.place.file, hit.place.line, hit.owner, hit.text, fix)
