"""What a terminal shows: colours where it has them, and no control character that a server has written.

In: texts, some of them a stranger's. Out: texts that are safe to print. Conventions: no-color.org, force-color.org.
"""

from __future__ import annotations

import codecs
import os
import re
from typing import TextIO

# Control characters but tab and line ends; what turns the direction of writing; what no screen shows.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2060-\u2064\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_ASCII_ESCAPES = 0x100  # code points below are shown as \xNN
_WIDE = 0x10000
_USUAL_COLUMNS = 80


def clean(text: str) -> str:
    """Return a text whose control characters are shown instead of obeyed; line ends and tabs are kept."""
    return _UNSAFE.sub(_shown, text.replace("\r\n", "\n"))


def line(text: str) -> str:
    """Return a text on one line, cleaned."""
    return " ".join(clean(text).split())


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < _ASCII_ESCAPES:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _WIDE else f"\\U{code:08x}"


def escape_json(text: str) -> str:
    """Return JSON with the characters escaped that a terminal might obey; it says the same."""
    return _UNSAFE.sub(lambda match: _escaped(match[0]), text)


def _escape_rest(error: UnicodeError) -> tuple[str, int]:
    """Escape what an encoding lacks, so that JSON stays what it is."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escaped, error.object[error.start : error.end])), error.end


ESCAPE = "leanmcp-escape"
"""For `errors=` of a stream."""
codecs.register_error(ESCAPE, _escape_rest)


def _escaped(character: str) -> str:
    code = ord(character)
    if code < _WIDE:
        return f"\\u{code:04x}"
    code -= _WIDE
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal that understands how to move its cursor; None is one that was closed."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO | None) -> bool:
    """Return whether to colour what goes to a stream: NO_COLOR forbids, FORCE_COLOR demands, else terminals get it."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream)


def width(stream: TextIO) -> int | None:
    """Return the columns of a terminal, None for what is none: what is piped is never clipped."""
    return columns_of(stream.fileno()) if stream.isatty() else None


def columns_of(descriptor: int) -> int:
    """Return the columns of a terminal: COLUMNS, or what it says itself, or 80; as shutil does, which loads slowly."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(descriptor).columns or _USUAL_COLUMNS
    except OSError:
        return _USUAL_COLUMNS


def _styled(codes: str, text: str, stream: TextIO) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m" if text and has_colour(stream) else text


def strong(text: str, stream: TextIO) -> str:
    """Return a text in bold."""
    return _styled("1", text, stream)


def faint(text: str, stream: TextIO) -> str:
    """Return a text in grey."""
    return _styled("2", text, stream)


def failure(text: str, stream: TextIO) -> str:
    """Return a text in red."""
    return _styled("31", text, stream)
