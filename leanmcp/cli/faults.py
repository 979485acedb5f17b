"""Exit codes, mistakes of the user, and what was probably meant."""

from __future__ import annotations

from collections.abc import Sequence

from ..mistyped import did_you_mean

OK, FAILED, USAGE, UNREACHABLE, UNAUTHORIZED, INTERRUPTED = 0, 1, 2, 3, 4, 130

EXIT_CODES = """\
exit codes:
  0    success
  1    the tool or the server reported an error
  2    a mistake on the command line, in a file, or in a name
  3    no connection, no answer in time, or no MCP server
  4    not authorized
  130  interrupted (Ctrl-C)
"""


class UsageError(Exception):
    """A mistake on the command line or in the user's file; the text says what to do."""


def proposal(name: str, known: Sequence[str], most: int = 10) -> str:
    """Return the end of a sentence that proposes what is closest to `name`, or else names what there is."""
    if hint := did_you_mean(name, known):
        return hint
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return f"; there is {', '.join(sorted(known)[:most])}{more}" if known else ""
