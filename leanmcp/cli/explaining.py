"""`leanmcp explain`: the page about a message, offline.

In: a code, or a message as it was printed. Out: what it means, code that is wrong and code that is right. Without
either, all codes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from ..mistyped import closest
from .faults import OK, UsageError
from .options import Parser
from .terminal import columns_of, faint, strong

if TYPE_CHECKING:
    from ..explanations import Page

_CODE = re.compile(r"\bLM\d{3}\b", re.IGNORECASE)
_RULE = re.compile(r"\bLC\d{3}\b", re.IGNORECASE)
_ERROR = re.compile(r"-?(32\d{3})")
_OTHER_ERRORS = {
    -32000: "A client has found it by itself, such as a refused connection, or an answer that is none.",
    -32002: "A resource does not exist, in protocol versions before 2026-07-28; now it is -32602.",
}
_LIKE_A_CODE = re.compile(r"(?:[A-Z]{1,3}[-_ ]?)?(\d+)", re.IGNORECASE)
_MAX_COLUMNS = 100
_EXAMPLES = """\
examples:
  leanmcp explain                                   all codes
  leanmcp explain LM203
  leanmcp explain -32602                            a code of JSON-RPC
  leanmcp explain "tool 'add': parameter 'a' has no type; annotate it, as in a: str"

--json prints {"code", "title", "why", "wrong", "right"}; without a code {"codes": [{"code", "title"}]}

exit codes:
  0    success
  2    there is no page about that
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = _EXAMPLES
    parser.add_argument("words", nargs="*", metavar="CODE|MESSAGE", help="LM203, or the text of a message")
    parser.add_json()


def run(options: argparse.Namespace) -> int:
    """Print a page, or the list of all."""
    from ..explanations import PAGES

    if not options.words:
        _print_list(PAGES, options.json)
        return OK
    if len(options.words) > 1 and all(_CODE.fullmatch(word) for word in options.words):
        if options.json:
            raise UsageError("--json shows one page at a time; give one code")
        print("\n\n".join(_shown(_find(word, PAGES)) for word in options.words))
        return OK
    text = " ".join(options.words)
    page = _rule(text) or _error(text) or _find(text, PAGES)
    if options.json:
        members = {name: getattr(page, name) for name in ("code", "title", "why", "wrong", "right")}
        print(json.dumps(members, indent=2))
    else:
        print(_shown(page))
    return OK


def _rule(text: str) -> Page | None:
    """Return a page about the rule of `leanmcp check` that a text names; None where it names none.

    Raises:
        UsageError: there is no such rule.
    """
    match = _RULE.search(text)
    if match is None or _CODE.search(text):
        return None
    from ..checking import RULES
    from ..explanations import Page as Found

    rule = next((rule for rule in RULES if rule.id == match[0].upper()), None)
    if rule is None:
        raise UsageError(f"there is no rule {match[0]!r}; `leanmcp check --rules` lists all rules")
    why = f"A rule of `leanmcp check` ({rule.severity}). {rule.about} {rule.fix}"
    ignored = f"$ leanmcp check server.py --ignore {rule.id}\n"
    return Found(rule.id, rule.name, "", why, "", ignored)


def _error(text: str) -> Page | None:
    """Return a page about a code of JSON-RPC; None where a text is none that MCP has a meaning for."""
    match = _ERROR.fullmatch(text.strip())
    if match is None:
        return None
    from .. import errors
    from ..explanations import Page as Found

    code = -int(match[1])
    known: list[Any] = [getattr(errors, name) for name in errors.__all__]
    why = _OTHER_ERRORS.get(code, "")
    if kind := next((kind for kind in known if vars(kind).get("error_code") == code), None):
        status = f", and the status {kind.http_status} over HTTP" if kind.http_status != 200 else ""
        why = f"{str(kind.__doc__).partition(chr(10))[0]} In a program it is {kind.__name__} of leanmcp.errors{status}."
    return Found(str(code), "an error of JSON-RPC", "", why, "", "") if why else None


def _find(text: str, pages: dict[str, Page]) -> Page:
    """Return the page of a code, or of a message that may hold one.

    Raises:
        UsageError: there is none.
    """
    from ..explanations import code_for

    named = [code.upper() for code in _CODE.findall(text)]
    code = next((code for code in named if code in pages), None) or (None if named else code_for(text))
    if code is not None:
        return pages[code]
    if named or _LIKE_A_CODE.fullmatch(text.strip()):
        wanted = (named or [text.strip()])[0]
        digits = _LIKE_A_CODE.fullmatch(wanted)
        near = closest(wanted if digits is None else f"LM{digits[1]}", pages, cutoff=0.85)
        raise UsageError(f"there is no code {wanted!r}; {_instead(near)}")
    titles = {page.title: page.code for page in pages.values()}
    near = closest(text, titles)
    raise UsageError(f"no page knows this message; {_instead(near and titles[near])}")


def _instead(code: str | None) -> str:
    return "`leanmcp explain` lists all codes" if code is None else f"did you mean `leanmcp explain {code}`?"


def _print_list(pages: dict[str, Page], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"codes": [{"code": page.code, "title": page.title} for page in pages.values()]}, indent=2))
        return
    for page in pages.values():
        print(f"{strong(page.code, sys.stdout)}  {page.title}")


def _shown(page: Page) -> str:
    """Return a page for people."""
    columns = min(columns_of(1), _MAX_COLUMNS)
    parts = [strong(f"{page.code}: {page.title}", sys.stdout), "", textwrap.fill(page.why, columns)]
    for heading, code in (("wrong", page.wrong), ("right" if page.wrong else "without it", page.right)):
        if not code:
            continue
        parts += ["", faint(f"{heading}:", sys.stdout), textwrap.indent(code.rstrip("\n"), "    ")]
    return "\n".join(parts)
