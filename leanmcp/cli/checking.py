"""`leanmcp check`: what is wrong with a server, told before anybody calls it.

A server in a file is imported and not started. Of one that answers requests the lists are read.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .faults import FAILED, OK, UsageError, proposal
from .options import Parser, add_target

if TYPE_CHECKING:
    from ..checking.record import Finding, Place, Rule, Server
    from .connection import Connection
    from .screen import Screen
    from .target import Target

_EXAMPLES = """\
examples:
  leanmcp check server.py
  leanmcp check server.py --strict --ignore LC204,unbounded-text
  leanmcp check https://example.com/mcp --hints

--json prints {"target", "findings": [{"rule", "name", "severity", "file", "line", "on", "text", "fix"}, ...],
  "counts": {"error", "warning", "hint"}, "tools", "tokens"}; with --rules a list of the rules
"""
_PASSED = "nothing found, or only what does not count: hints, and warnings without --strict"


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    add_target(parser, "", _EXAMPLES)
    epilog = str(parser.epilog).replace(" success\n", f" {_PASSED}\n")
    parser.epilog = epilog.replace(" the tool or the server reported an error\n", " findings\n")
    parser.add_argument("--strict", action="store_true", help="let warnings count for the exit code, too")
    parser.add_argument("--hints", action="store_true", help="show hints, which never count for the exit code")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="RULE", help="leave a rule out: LC204 or argument-description"
    )
    parser.add_argument("--rules", action="store_true", help="list the rules, and do nothing else")


def run(options: argparse.Namespace) -> int:
    """Check the server."""
    if options.rules:
        return _list_rules(options.json)
    ignored = _ignored(options.ignore)
    with _warnings() as logged:
        from .connection import conduct

        def local(target: Target, screen: Screen) -> int:
            found = _described(target, logged)
            logged.clear()
            return _report(found, ignored, options, screen, target.name)

        async def work(connection: Connection) -> int:
            from ..checking import wire

            found = await wire.describe(connection.client, connection.target.name)
            return _report(found, ignored, options, connection.screen, connection.target.name)

        return conduct(options, _check, work, local)


def _check(options: argparse.Namespace) -> None:
    if options.words:
        hint = "one server is checked at a time" if os.path.exists(options.words[0]) else "see `leanmcp check --help`"
        with contextlib.suppress(UsageError):
            if options.ignore and _ignored(options.words):
                hint = f"rules are joined by commas: --ignore {','.join([*options.ignore, *options.words])}"
        raise UsageError(f"{options.words[0]!r} is one word too many; {hint}")


def _ignored(given: Sequence[str]) -> set[str]:
    """Return the ids of rules that are named by id or by name, with commas between them."""
    from ..checking import RULES

    known = {rule.id: rule.id for rule in RULES} | {rule.name: rule.id for rule in RULES}
    words = [word.strip() for text in given for word in text.split(",")]
    for word in words:
        if known.get(word, known.get(word.upper())) is None:
            raise UsageError(f"--ignore {word!r}: there is no such rule{proposal(word, list(known))}; see --rules")
    return {known.get(word) or known[word.upper()] for word in words}


# --- the server -------------------------------------------------------------------------------------------------------


def _described(target: Target, logged: list[tuple[Place, str]]) -> Server:
    from ..checking import local

    if (marks := sys.modules.get("leanmcp.server.marks")) is not None:  # else nothing is marked
        marks.warn_of_forgotten(target.server)
    file, names = _module_of(target.name)
    return local.describe(target.server, file, names, list(logged))


def _module_of(name: str) -> tuple[str, dict[str, Any]]:
    """Return the file of a target that has been loaded, and the names of its module."""
    for path in (name, name.rpartition(":")[0]):
        module = sys.modules.get(path)
        if module is not None and getattr(module, "__file__", None):
            return str(module.__file__), vars(module)
        if os.path.isfile(path):
            file = os.path.abspath(path)
            loaded = [module for module in list(sys.modules.values()) if getattr(module, "__file__", None) == file]
            return file, vars(loaded[-1]) if loaded else {}
    return name, {}


@contextlib.contextmanager
def _warnings() -> Iterator[list[tuple[Place, str]]]:
    """Keep what is logged while the block runs, with the user's line that was running; print what nobody took."""
    from ..logs import logger

    handler = _Kept()
    logger.addHandler(handler)
    try:
        yield handler.logged
    finally:
        logger.removeHandler(handler)
        for _, text in handler.logged:
            print(f"WARNING {text}", file=sys.stderr)


class _Kept(logging.Handler):
    """Keeps the warnings."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.logged: list[tuple[Place, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        from ..checking.local import place_of
        from ..checking.record import Place

        frame = sys._getframe()
        place = Place(record.about) if hasattr(record, "about") else None
        while place is None and frame.f_back is not None:
            frame = frame.f_back
            found = place_of(frame.f_code)
            place = None if found is None else Place(found.file, frame.f_lineno)
        self.logged.append((place or Place(""), record.getMessage()))


# --- the report -------------------------------------------------------------------------------------------------------


def _report(server: Server, ignored: set[str], options: argparse.Namespace, screen: Screen, name: str) -> int:
    """Print the findings, and return the exit code."""
    from ..checking import check
    from ..checking.general import tokens

    findings = check(server, ignored)
    counts = {severity: sum(one.severity == severity for one in findings) for severity in ("error", "warning", "hint")}
    tools = sum(1 for _ in server.of("tool"))
    if screen.json:
        screen.print_json(
            {
                "target": name,
                "findings": findings,
                "counts": counts,
                "tools": tools,
                "tokens": tokens(server.tools_bytes),
            }
        )
    else:
        _print(findings, options.hints, screen)
        cost = f" {_many(tools, 'tool')}, about {tokens(server.tools_bytes):,} tokens (bytes / 4)." if tools else ""
        screen.data_line(f"{_summary(counts, options.hints)}.{cost}")
    return FAILED if counts["error"] or (options.strict and counts["warning"]) else OK


def _summary(counts: dict[str, int], hints_shown: bool) -> str:
    told = [_many(counts[severity], severity) for severity in ("error", "warning") if counts[severity]]
    if counts["hint"]:
        told.append(_many(counts["hint"], "hint") + ("" if hints_shown else " (shown with --hints)"))
    if not told:
        return "Nothing found"
    return ", ".join(told) if counts["error"] or counts["warning"] or hints_shown else f"Nothing found but {told[0]}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _print(findings: Sequence[Finding], hints: bool, screen: Screen) -> None:
    from .terminal import failure, faint, line, strong

    heads = {"error": failure("errors", screen.out), "warning": strong("warnings", screen.out), "hint": "hints"}
    last = ""
    for one in findings:
        if one.severity == "hint" and not hints:
            continue
        if one.severity != last:
            last = one.severity
            screen.data_line(heads[last])
        place = f"{one.file}:{one.line}" if one.line else one.file
        fix = f"; {one.fix}" if one.fix else ""
        rule = strong(f"{one.rule} {one.name}", screen.out)
        screen.data_line(f"{faint(line(place) + ':', screen.out)} {rule}: {line(one.on)}: {line(one.text)}{line(fix)}")


def _list_rules(as_json: bool) -> int:
    """Print every rule."""
    from ..checking import RULES

    if as_json:
        from .screen import Screen

        Screen(as_json).print_json([_as_json(rule) for rule in RULES])
        return OK
    width = max(len(rule.name) for rule in RULES)
    for rule in RULES:
        print(f"{rule.id}  {rule.name:<{width}}  {rule.severity:<7}  {rule.about} {rule.fix}")
    return OK


def _as_json(rule: Rule) -> dict[str, str]:
    return {"rule": rule.id, "name": rule.name, "severity": rule.severity, "about": rule.about, "fix": rule.fix}
