"""What every example server must answer, whichever client calls it and over whichever transport.

In: what a client got, in the words of the wire. Out: failed assertions. A call may use what an earlier one returned:
"$basket_id" stands for that member of the last structured content that had it.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from .processes import ROOT

Result = dict[str, Any]


class Call(NamedTuple):
    """One call, and what its result must be."""

    tool: str
    arguments: dict[str, Any]
    check: Callable[[Result], None]


def path_of(example: str) -> str:
    """Return the file of an example server."""
    return str(ROOT / "examples" / example / "server.py")


def sent(calls: list[Call]) -> list[dict[str, Any]]:
    """Return the calls as JSON values."""
    return [{"name": call.tool, "arguments": call.arguments} for call in calls]


def filled(arguments: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with "$name" replaced by what earlier results said of `name`."""
    return {
        name: known[value[1:]] if isinstance(value, str) and value.startswith("$") else value
        for name, value in arguments.items()
    }


def check(example: str, tools: list[dict[str, Any]], results: list[Result]) -> None:
    """Hold a client's report of one example against what the example promises, and against its own schemas."""
    calls = CALLS[example]
    schemas = {tool["name"]: tool.get("outputSchema") for tool in tools}
    assert set(schemas) == {call.tool for call in calls}, "every tool of an example is called"
    assert len(results) == len(calls)
    for call, result in zip(calls, results, strict=True):
        call.check(result)
        if schemas[call.tool] is not None and not result.get("isError", False):
            Draft202012Validator(schemas[call.tool]).validate(result["structuredContent"])


# Checks of one result ---------------------------------------------------------------------------------------------


def structured(value: Any, text: str | None = None) -> Callable[[Result], None]:
    """Expect structured content, and its text where it is given."""

    def check_one(result: Result) -> None:
        assert result.get("isError", False) is False, result
        assert result["structuredContent"] == value
        [block] = result["content"]
        assert block["type"] == "text"
        assert text is None or block["text"] == text

    return check_one


def said(text: str) -> Callable[[Result], None]:
    """Expect a text, which travels once as content and once wrapped."""
    return structured({"result": text}, text)


def refused(text: str) -> Callable[[Result], None]:
    """Expect an error result that holds a text and no structured content."""

    def check_one(result: Result) -> None:
        assert result["isError"] is True, result
        assert "structuredContent" not in result
        assert text in result["content"][0]["text"]

    return check_one


def _basket(**items: int) -> Callable[[Result], None]:
    def check_one(result: Result) -> None:
        assert result.get("isError", False) is False, result
        assert result["structuredContent"]["items"] == items
        assert result["structuredContent"]["basket_id"].startswith("bsk_")

    return check_one


def _is_this_file(result: Result) -> None:
    """An embedded resource: text, because the type is one of text, under the URI of the file."""
    [block] = result["content"]
    assert block["type"] == "resource"
    assert block["annotations"] == {"audience": ["assistant"]}
    resource = block["resource"]
    file = ROOT / "examples" / "files" / "server.py"
    assert (resource["uri"], resource["mimeType"]) == (file.as_uri(), "text/x-python")
    assert resource["text"] == file.read_text()


def _is_orange_square(result: Result) -> None:
    """A caption and a picture whose every pixel is what was asked for."""
    caption, picture = result["content"]
    assert (caption["type"], caption["text"]) == ("text", "A square of #ff8000")
    assert (picture["type"], picture["mimeType"]) == ("image", "image/png")
    assert pixels(base64.b64decode(picture["data"], validate=True)) == [[(255, 128, 0)] * 3] * 3


def pixels(png: bytes) -> list[list[tuple[int, ...]]]:
    """Read a PNG of 8 bits RGB whose rows have no filter; every chunk's length and CRC must hold."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", png, at + 8 + length) == (zlib.crc32(kind + data),)
        chunks[kind] = data
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *form = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert form == [8, 2, 0, 0, 0]
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[start : start + 1 + 3 * width] for start in range(0, len(raw), 1 + 3 * width)]
    assert len(rows) == height
    assert all(row[0] == 0 for row in rows)
    return [[tuple(row[at : at + 3]) for at in range(1, len(row), 3)] for row in rows]


BOOK = {"title": "Dune", "author": "Herbert", "year": 1965}
FINGERPRINT = "cf23a8e11c770fa7355aedc082a7627c8fc6f0f924a0b7a6a0f651fcf068c575"
CALLS: dict[str, list[Call]] = {
    "bookshop": [
        Call("search_books", {"query": "dune"}, said("Found 3 books matching 'dune' (showing up to 10).")),
        Call("add_book", {"book": BOOK}, said("Added 'Dune' by Herbert (1965).")),
        Call("add_book", {"book": {**BOOK, "year": 1000}}, refused("book.year: Input should be greater than or equal")),
        Call("check_stock", {"title": "Dune"}, structured({"title": "Dune", "copies": 4})),
    ],
    "weather": [
        Call(
            "forecast",
            {"city": "Lisbon", "days": 2, "start": "2026-11-30"},
            structured(
                {
                    "result": [
                        {"day": "2026-11-30", "high": 24.5, "low": 15.0, "sky": "clear"},
                        {"day": "2026-12-01", "high": 25.5, "low": 15.0, "sky": "clear"},
                    ]
                }
            ),
        ),
        Call("forecast", {"city": "Oz"}, refused("city: no weather for 'Oz'; known are Lisbon, Bergen, Vienna")),
        Call("extremes", {"cities": ["Vienna", "Bergen"]}, structured({"Bergen": 11.0, "Vienna": 18.0})),
        Call("extremes", {"cities": []}, refused("cities: ")),
    ],
    "longjob": [
        Call("render", {"pages": 3, "seconds_per_page": 0}, said("A report of 3 pages.")),
        Call("render", {"pages": 0}, refused("pages: Input should be greater than or equal to 1")),
        Call("fingerprint", {"text": "a", "rounds": 5000}, said(FINGERPRINT)),
        Call("unfinished", {}, structured({})),
    ],
    "files": [
        Call("names", {}, structured({"result": ["server.py"]}, '["server.py"]')),
        Call("read", {"name": "server.py"}, _is_this_file),
        Call("read", {"name": "../bookshop/server.py"}, refused("there is no file '../bookshop/server.py'")),
        Call("swatch", {"red": 255, "green": 128, "blue": 0, "size": 3}, _is_orange_square),
        Call("swatch", {"red": 256, "green": 0, "blue": 0}, refused("red: Input should be less than or equal to 255")),
    ],
    "basket": [
        Call("create_basket", {}, _basket()),
        Call("add_item", {"basket_id": "$basket_id", "sku": "pen", "count": 2}, _basket(pen=2)),
        Call("add_item", {"basket_id": "$basket_id", "sku": "pen"}, _basket(pen=3)),
        Call("show_basket", {"basket_id": "$basket_id"}, _basket(pen=3)),
        Call("delete_basket", {"basket_id": "$basket_id"}, said("Deleted.")),
        Call("show_basket", {"basket_id": "$basket_id"}, refused("is expired or unknown; create a new one")),
        Call("show_basket", {"basket_id": "bsk_guess"}, refused("is expired or unknown; create a new one")),
    ],
    "ledger": [
        Call("deposit", {"account": "anna", "amount": 500}, structured({"result": 500})),
        Call("transfer", {"account": "anna", "to": "bert", "amount": 200}, structured({"result": 300})),
        Call("transfer", {"account": "anna", "to": "bert", "amount": 400}, refused("anna has 300 cents only")),
        Call("balance", {"account": "bert"}, structured({"result": 200})),
        Call("deposit", {"account": "anna", "amount": 0}, refused("amount: Input should be greater than or equal to")),
    ],
    "guarded": [
        Call("whoami", {}, said("guest")),
        Call("trace", {}, said("none")),
    ],
    "search": [
        Call("search_books", {"query": "dune"}, structured({"result": ["Dune", "Dune Messiah"]})),
        Call("search_books", {"query": ""}, refused("query: String should have at least 1 character")),
    ],
}
