"""Newline framing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanmcp.limits import Limits
from leanmcp.protocol.lines import LineReader


def test_only_a_newline_ends_a_message() -> None:
    """Spec: basic/transports/stdio; U+2028, U+0085, VT, FF and CR do not."""
    line = "a\u2028b\u0085c\x0b\x0c\r\x1c\x1d\x1e d".encode()
    assert LineReader().feed(line + b"\n" + line + b"\n") == [line, line]


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 5_000_000])
def test_long_lines_arrive_whole_in_pieces(size: int) -> None:
    """Ours: no buffer limit below `max_line_size`."""
    reader, line, got = LineReader(), b"x" * size, []
    stream = line + b"\nnext\n"
    for start in range(0, len(stream), 65_536):
        got += reader.feed(stream[start : start + 65_536])
    assert got == [line, b"next"]
    assert reader.buffered == 0


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_line_over_the_limit_is_skipped_without_being_stored(step: int) -> None:
    """Ours: policy P8; the next line is read as if nothing had happened."""
    reader = LineReader(Limits(max_line_size=50))
    stream = b"ok\n" + b"x" * 200 + b"\n" + b"y" * 50 + b"\n" + b"z" * 51 + b"\nend\n"
    got: list[bytes | None] = []
    for start in range(0, len(stream), step):
        got += reader.feed(stream[start : start + step])
        assert reader.buffered <= 50
    assert got == [b"ok", None, b"y" * 50, None, b"end"]


@pytest.mark.parametrize("step", [1, 7, 100, 10_000])
def test_edges_of_a_skipped_line_are_kept(step: int) -> None:
    """Ours: they may hold the id of the request that it answered; little, however long the line."""
    reader = LineReader(Limits(max_line_size=1000))
    assert reader.skipped == (b"", b"")
    line = b"a" * 256 + b"b" * 5000 + b"c" * 256
    stream = b"ok\n" + line + b"\nend\n"
    for start in range(0, len(stream), step):
        reader.feed(stream[start : start + step])
        assert reader.buffered <= 1000
    begin, end = reader.skipped
    assert begin == b"a" * len(begin)
    assert begin
    assert end == b"c" * 256
    reader.feed(b"x" * 2000)
    assert reader.end() is None
    assert reader.skipped == (b"x" * 256, b"x" * 256)


def test_end_of_input_gives_the_unterminated_line() -> None:
    """Ours: a call piped in without a final newline is answered (U8)."""
    reader = LineReader(Limits(max_line_size=10))
    assert reader.feed(b"a\nb") == [b"a"]
    assert reader.end() == b"b"
    assert reader.end() == b""
    reader.feed(b"x" * 11)
    assert reader.end() is None


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=10), st.data())
@settings(deadline=None)
def test_pieces_never_matter(lines: list[bytes], data: st.DataObject) -> None:
    """Ours: property; whole, in pieces and byte by byte agree."""
    limits = Limits(max_line_size=20)
    expected = [line if len(line) <= 20 else None for line in lines]
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    for feed in (pieces, [stream[index : index + 1] for index in range(len(stream))], [stream]):
        reader = LineReader(limits)
        assert [line for piece in feed for line in reader.feed(piece)] == expected
