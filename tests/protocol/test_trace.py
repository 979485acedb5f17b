"""`traceparent`, `tracestate` and `baggage`: read by the grammars of W3C, malformed ones as if they were absent."""

from __future__ import annotations

import re
import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp.protocol.trace import (
    MAX_BAGGAGE_SIZE,
    TraceContext,
    parse_baggage,
    parse_trace,
    parse_tracestate,
    read_baggage,
    read_trace,
)

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
OTHER = f"00-{TRACE[::-1]}-{SPAN}-00"
TOKEN = "!#$%&'*+-.^_`|~" + string.digits + string.ascii_letters
BLANKS = st.text(" \t", max_size=3)


def hex_of(size: int) -> st.SearchStrategy[str]:
    """Return lower-case hexadecimal texts of a size, not all zero."""
    return st.integers(1, 16**size - 1).map(lambda number: f"{number:0{size}x}")


# --- traceparent ------------------------------------------------------------------------------------------------------


@given(hex_of(32), hex_of(16), st.integers(0, 255))
def test_every_wellformed_traceparent_is_read(trace_id: str, parent_id: str, flags: int) -> None:
    """Spec: Trace Context 3.2.2; property."""
    text = f"00-{trace_id}-{parent_id}-{flags:02x}"
    found = parse_trace(text, None)
    assert found == TraceContext(trace_id, parent_id, flags, text)
    assert (found.span_id, found.sampled) == (parent_id, flags % 2 == 1)


@given(hex_of(32), hex_of(16), st.integers(1, 254), st.text())
def test_later_versions_are_read_as_far_as_this_one_goes(
    trace_id: str, parent_id: str, version: int, more: str
) -> None:
    """Spec: Trace Context 4.3; property."""
    start = f"{version:02x}-{trace_id}-{parent_id}-01"
    for text in (start, f"{start}-{more}"):
        found = parse_trace(text, None)
        assert found is not None
        assert (found.trace_id, found.parent_id, found.sampled) == (trace_id, parent_id, True)
    assert parse_trace(start + "." + more, None) is None


ANY_VERSION = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?", re.S)


@given(
    st.one_of(
        st.text(),
        st.from_regex(ANY_VERSION),
        st.lists(st.sampled_from(["00", "01", "ff", "-", TRACE, SPAN, "0" * 32, "0" * 16, " ", "A", "\n"])).map(
            "".join
        ),
    )
)
def test_any_text_is_read_or_refused_as_the_grammar_says(text: str) -> None:
    """Ours: property, one pattern as oracle; nothing is ever raised."""
    wellformed = bool(ANY_VERSION.fullmatch(text)) and (not text.startswith("00") or len(text) == 55)
    assert (parse_trace(text, text) is not None) == wellformed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        PARENT + "-",
        PARENT + "-00",
        PARENT + " ",
        " " + PARENT,
        PARENT + "\n",
        PARENT.upper(),
        PARENT.replace("0af7", "0AF7"),
        PARENT.replace("-", "_"),
        PARENT[:-1],
        "ff" + PARENT[2:],
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00-{TRACE[:-1]}٣-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-0\uff11",
        None,
        7,
        [PARENT],
        {"traceparent": PARENT},
    ],
)
def test_a_malformed_traceparent_is_no_trace(text: object) -> None:
    """Spec: Trace Context 3.2.2.3 to 3.2.2.5; "values MUST follow"."""
    assert parse_trace(text, "a=1") is None


# --- tracestate -------------------------------------------------------------------------------------------------------

state_keys = st.from_regex(r"[a-z0-9][a-z0-9_\-*/@]{0,20}", fullmatch=True)
state_values = st.from_regex(r"[ !-+\--<>-~]{0,20}[!-+\--<>-~]", fullmatch=True)


@given(st.dictionaries(state_keys, state_values, max_size=32), st.data())
def test_every_wellformed_tracestate_is_read_in_order(members: dict[str, str], data: st.DataObject) -> None:
    """Spec: Trace Context 3.3.1; property, with blanks and empty members."""
    pieces = [f"{data.draw(BLANKS)}{key}={value}{data.draw(BLANKS)}" for key, value in members.items()]
    for _ in range(data.draw(st.integers(0, 3))):
        pieces.insert(data.draw(st.integers(0, len(pieces))), data.draw(BLANKS))
    assert list(parse_tracestate(",".join(pieces)).items()) == list(members.items())


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "=1",
        "a=",
        "a=1,b",
        "A=1",
        "a =1",
        "a=1,a=2",
        "a=b=c",
        "a=é",
        "a=1;b=2,c\x00=1",
        "-a=1",
        "a" * 257 + "=1",
        "a=" + "1" * 257,
        ",".join(f"k{number}=1" for number in range(33)),
        "," * 20_000,
        7,
        None,
    ],
)
def test_a_malformed_tracestate_is_dropped_and_the_trace_kept(text: object) -> None:
    """Spec: Trace Context 3.3.1; failing to parse tracestate must not affect traceparent."""
    found = parse_trace(PARENT, text)
    assert found is not None
    assert found.tracestate == {}


def test_the_largest_tracestate_is_read() -> None:
    """Spec: Trace Context 3.3.1.1; 32 members."""
    members = {f"k{number:02}".ljust(256, "x"): "v" * 256 for number in range(32)}
    assert parse_tracestate(",".join(f"{key}={value}" for key, value in members.items())) == members


# --- baggage ----------------------------------------------------------------------------------------------------------

names = st.text(TOKEN, min_size=1, max_size=12)
octets = st.from_regex(r"[!#-+\--:<-\[\]-~]{0,8}", fullmatch=True)


@given(st.dictionaries(names, st.text(max_size=12), min_size=1, max_size=12), st.data())
def test_every_wellformed_baggage_is_read(members: dict[str, str], data: st.DataObject) -> None:
    """Spec: Baggage 3.3.1; property, with blanks and properties."""
    pieces = []
    for name, value in members.items():
        encoded = quote(value, safe="", errors="surrogatepass")
        blanks = [data.draw(BLANKS) for _ in range(4)]
        properties = [
            f"{data.draw(BLANKS)};{data.draw(BLANKS)}{name}"
            + data.draw(st.one_of(st.just(""), octets.map("={}".format)))
            for name in data.draw(st.lists(names, max_size=2))
        ]
        pieces.append(f"{blanks[0]}{name}{blanks[1]}={blanks[2]}{encoded}{''.join(properties)}{blanks[3]}")
    assert parse_baggage(",".join(pieces)) == members


@given(st.text())
def test_any_text_is_baggage_or_none(text: str) -> None:
    """Ours: property; nothing is ever raised, and names are tokens."""
    for name in parse_baggage(text):
        assert set(name) <= set(TOKEN)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("user=anna", {"user": "anna"}),
        ("a=", {"a": ""}),
        ("a=1=2", {"a": "1=2"}),
        ("a=1, a=2", {"a": "2"}),
        ("city=K%C3%B6ln;p;q=1 , n = 5 ", {"city": "Köln", "n": "5"}),
        ("a=100%", {"a": "100%"}),
        ("a=%4,b=%zz,c=%%41", {"a": "%4", "b": "%zz", "c": "%A"}),
        ("a=%FF", {"a": "\ufffd"}),
    ],
)
def test_baggage_values_are_decoded(text: str, found: dict[str, str]) -> None:
    """Spec: Baggage 3.3.1.3, 3.3.1.4."""
    assert parse_baggage(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "=1",
        "a=1,",
        "a=1,,b=2",
        'a="1"',
        "a=b c",
        "a=é",
        "a b=1",
        "a=1;",
        "a=1\n",
        "a=" + "1" * MAX_BAGGAGE_SIZE,
        ",".join(["a=1"] * 181),
        "a=" + " " * 8000 + "\x00",
        "a=b;c" + " " * 8000 + "\x00",
        "a=b;c=" + " " * 8000 + "\x00",
        None,
        7,
    ],
)
def test_malformed_baggage_is_none(text: object) -> None:
    """Spec: "values MUST follow"; long runs of blanks cost their length, not its square."""
    assert parse_baggage(text) == {}


# --- where they come from ---------------------------------------------------------------------------------------------


def test_meta_comes_before_header_fields() -> None:
    """Ours: the header fields tell of the last hop; what belongs together is taken from one place."""
    fields = {"traceparent": OTHER, "tracestate": "hop=1", "baggage": "hop=1"}
    found = read_trace({"traceparent": PARENT, "baggage": "user=anna"}, fields)
    assert found is not None
    assert (found.traceparent, found.tracestate, found.baggage) == (PARENT, {}, {"user": "anna"})
    found = read_trace({"tracestate": "alone=1"}, fields)
    assert found is not None
    assert (found.traceparent, found.tracestate, found.baggage) == (OTHER, {"hop": "1"}, {"hop": "1"})


def test_a_malformed_meta_does_not_fall_back() -> None:
    """Ours: a client that garbled its trace is not put into somebody else's."""
    fields = {"traceparent": OTHER, "baggage": "hop=1"}
    assert read_trace({"traceparent": "nonsense"}, fields) is None
    assert read_baggage({"baggage": 7}, fields) == {}
    assert read_trace({}, {}) is None
    assert read_baggage({}, fields) == {"hop": "1"}


def test_a_trace_cannot_be_changed() -> None:
    """Ours: one request's trace may be handed on to others."""
    found = parse_trace(PARENT, "a=1", parse_baggage("b=2"))
    assert found is not None
    with pytest.raises(AttributeError):
        found.trace_id = "0"  # type: ignore[misc]
    with pytest.raises(TypeError):
        found.tracestate["a"] = "2"  # type: ignore[index]
    with pytest.raises(TypeError):
        found.baggage["b"] = "3"  # type: ignore[index]
