"""The code of each message about a mistake, and the page about it.

In: the text of a message, or a code. Out: the code, or the page. Imported once a mistake was made, or by
`leanmcp explain`; a program without mistakes never loads this package.
"""

from __future__ import annotations

from . import answers, calls, clients, command_line, hints, members, names, resources, schemas, signatures, start
from .record import Page

PAGES: dict[str, Page] = {
    page.code: page
    for module in (signatures, hints, names, members, resources, schemas, start, calls, answers, command_line, clients)
    for page in module.PAGES
}
"""By code, in the order of the codes: LM1 signatures, LM2 names and options, LM3 schemas, LM4 start, LM5 calls, LM6 the
command line and its targets, LM7 the client."""


def code_for(text: str) -> str | None:
    """Return the code of the mistake that a message is about, None when no page knows it."""
    for page in PAGES.values():
        if page.tells(text):
            return page.code
    return None
