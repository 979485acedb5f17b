"""URI templates: RFC 6570's own examples, matching as the inverse of expansion, and its cost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp.protocol.uri_template import InvalidUriTemplate, UriTemplate, Variable

VALUES: dict[str, Any] = {
    "count": ["one", "two", "three"],
    "dom": ["example", "com"],
    "dub": "me/too",
    "hello": "Hello World!",
    "half": "50%",
    "var": "value",
    "who": "fred",
    "base": "http://example.com/home/",
    "path": "/foo/bar",
    "list": ["red", "green", "blue"],
    "keys": {"semi": ";", "dot": ".", "comma": ","},
    "v": "6",
    "x": "1024",
    "y": "768",
    "empty": "",
    "empty_keys": {},
    "undef": None,
}

# Every example of RFC 6570, sections 1.2 and 3.2.1 to 3.2.9.
EXAMPLES = """
{count} one,two,three | {count*} one,two,three | {/count} /one,two,three | {/count*} /one/two/three
{;count} ;count=one,two,three | {;count*} ;count=one;count=two;count=three | {?count} ?count=one,two,three
{?count*} ?count=one&count=two&count=three | {&count*} &count=one&count=two&count=three
{var} value | {hello} Hello%20World%21 | {half} 50%25 | O{empty}X OX | O{undef}X OX | {x,y} 1024,768
{x,hello,y} 1024,Hello%20World%21,768 | ?{x,empty} ?1024, | ?{x,undef} ?1024 | ?{undef,y} ?768 | {var:3} val
{var:30} value | {list} red,green,blue | {list*} red,green,blue | {keys} semi,%3B,dot,.,comma,%2C
{keys*} semi=%3B,dot=.,comma=%2C
{+var} value | {+hello} Hello%20World! | {+half} 50%25 | {base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
{+base}index http://example.com/home/index | O{+empty}X OX | O{+undef}X OX | {+path}/here /foo/bar/here
here?ref={+path} here?ref=/foo/bar | up{+path}{var}/here up/foo/barvalue/here | {+x,hello,y} 1024,Hello%20World!,768
{+path,x}/here /foo/bar,1024/here | {+path:6}/here /foo/b/here | {+list} red,green,blue | {+list*} red,green,blue
{+keys} semi,;,dot,.,comma,, | {+keys*} semi=;,dot=.,comma=,
{#var} #value | {#hello} #Hello%20World! | {#half} #50%25 | foo{#empty} foo# | foo{#undef} foo
{#x,hello,y} #1024,Hello%20World!,768 | {#path,x}/here #/foo/bar,1024/here | {#path:6}/here #/foo/b/here
{#list} #red,green,blue | {#list*} #red,green,blue | {#keys} #semi,;,dot,.,comma,, | {#keys*} #semi=;,dot=.,comma=,
{.who} .fred | {.who,who} .fred.fred | {.half,who} .50%25.fred | www{.dom*} www.example.com | X{.var} X.value
X{.empty} X. | X{.undef} X | X{.var:3} X.val | X{.list} X.red,green,blue | X{.list*} X.red.green.blue
X{.keys} X.semi,%3B,dot,.,comma,%2C | X{.keys*} X.semi=%3B.dot=..comma=%2C | X{.empty_keys} X | X{.empty_keys*} X
{/who} /fred | {/who,who} /fred/fred | {/half,who} /50%25/fred | {/who,dub} /fred/me%2Ftoo | {/var} /value
{/var,empty} /value/ | {/var,undef} /value | {/var,x}/here /value/1024/here | {/var:1,var} /v/value
{/list} /red,green,blue | {/list*} /red/green/blue | {/list*,path:4} /red/green/blue/%2Ffoo
{/keys} /semi,%3B,dot,.,comma,%2C | {/keys*} /semi=%3B/dot=./comma=%2C
{;who} ;who=fred | {;half} ;half=50%25 | {;empty} ;empty | {;v,empty,who} ;v=6;empty;who=fred
{;v,bar,who} ;v=6;who=fred | {;x,y} ;x=1024;y=768 | {;x,y,empty} ;x=1024;y=768;empty | {;x,y,undef} ;x=1024;y=768
{;hello:5} ;hello=Hello | {;list} ;list=red,green,blue | {;list*} ;list=red;list=green;list=blue
{;keys} ;keys=semi,%3B,dot,.,comma,%2C | {;keys*} ;semi=%3B;dot=.;comma=%2C
{?who} ?who=fred | {?half} ?half=50%25 | {?x,y} ?x=1024&y=768 | {?x,y,empty} ?x=1024&y=768&empty=
{?x,y,undef} ?x=1024&y=768 | {?var:3} ?var=val | {?list} ?list=red,green,blue | {?list*} ?list=red&list=green&list=blue
{?keys} ?keys=semi,%3B,dot,.,comma,%2C | {?keys*} ?semi=%3B&dot=.&comma=%2C
{&who} &who=fred | {&half} &half=50%25 | ?fixed=yes{&x} ?fixed=yes&x=1024 | {&x,y,empty} &x=1024&y=768&empty=
{&var:3} &var=val | {&list} &list=red,green,blue | {&list*} &list=red&list=green&list=blue
{&keys} &keys=semi,%3B,dot,.,comma,%2C | {&keys*} &semi=%3B&dot=.&comma=%2C
"""
PAIRS = [tuple(pair.split()) for line in EXAMPLES.strip().splitlines() for pair in line.split(" | ")]

# Variables that left no trace, outside of a query at the end; plain ones that are empty; named mappings.
WITHOUT_INVERSE = {
    *("O{empty}X", "O{undef}X", "?{x,empty}", "?{x,undef}", "?{undef,y}", "O{+empty}X", "O{+undef}X", "foo{#undef}"),
    *(
        "X{.undef}",
        "X{.empty_keys}",
        "{/var,undef}",
        "{;v,bar,who}",
        "{;x,y,undef}",
        "{;keys*}",
        "{?keys*}",
        "{&keys*}",
    ),
}


@pytest.mark.parametrize(("template", "uri"), PAIRS, ids=[template for template, _ in PAIRS])
def test_examples_of_the_rfc_expand(template: str, uri: str) -> None:
    """Spec: RFC 6570 1.2 and 3.2, every example."""
    assert UriTemplate.parse(template).expand(VALUES) == uri


@pytest.mark.parametrize(("template", "uri"), PAIRS, ids=[template for template, _ in PAIRS])
def test_what_a_uri_is_matched_to_expands_to_it_again(template: str, uri: str) -> None:
    """Ours: whatever values `match` finds in an example of the RFC, they stand for the same URI."""
    parsed = UriTemplate.parse(template)
    found = parsed.match(uri)
    assert (found is None) == (template in WITHOUT_INVERSE)
    assert found is None or parsed.match(parsed.expand(found)) == found


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("users://{id}", "users://42", {"id": "42"}),
        ("users://{id}", "users://a%20b%C3%A9", {"id": "a bé"}),
        ("users://{id}", "users://aé", {"id": "aé"}),
        ("users://{id}", "users://a%2Fb", {"id": "a/b"}),  # resources refuse it: ResourceSecurity
        ("users://{id}", "users://%252F", {"id": "%2F"}),
        ("caf\u00e9://{a}/\u00e9", "caf\u00e9://x/\u00e9", {"a": "x"}),
        ("x://{a}/{b}", "x://1/2", {"a": "1", "b": "2"}),
        ("x://{a,b}", "x://1,2", {"a": "1", "b": "2"}),
        ("x://{a}-{b}", "x://p-q-r", {"a": "p-q", "b": "r"}),
        ("x://{+path}", "x://a/b/c.txt", {"path": "a/b/c.txt"}),
        ("x://{+path}{.ext}", "x://a/b.tar.gz", {"path": "a/b.tar", "ext": "gz"}),
        ("x://{+path}/raw", "x://a/raw/raw", {"path": "a/raw"}),
        ("x://{a}{+b}", "x://12/3", {"a": "12", "b": "/3"}),
        ("x{/path*}", "x/a/b", {"path": ["a", "b"]}),
        ("x{/path*}", "x", {"path": []}),
        ("x{/path*}/end", "x/a/b/end", {"path": ["a", "b"]}),
        ("x{/a,b*}", "x/1/2/3", {"a": "1", "b": ["2", "3"]}),
        ("x://{l*}", "x://a,b%2Cc", {"l": ["a", "b,c"]}),
        ("x{;a,b}", "x;a=1;b=2", {"a": "1", "b": "2"}),
        ("x{;a}", "x;a", {"a": ""}),
        ("x{#f}", "x#a/b?c", {"f": "a/b?c"}),
        ("x{.a,b}", "x.1.2", {"a": "1", "b": "2"}),
        ("x{?q,r}", "x?q=1&r=2", {"q": "1", "r": "2"}),
        ("x{?q,r}", "x?r=2&q=1", {"q": "1", "r": "2"}),
        ("x{?q,r}", "x?r=a%26b", {"r": "a&b"}),
        ("x{?q,r}", "x", {}),
        ("x{?q}", "x?q", {"q": ""}),
        ("x{?q*}", "x?q=1&q=2", {"q": ["1", "2"]}),
        ("x?v=1{&q}", "x?v=1&q=2", {"q": "2"}),
        ("x?v=1{&q}", "x?v=1", {}),
        ("x?a=1&b=2{&q}", "x?a=1&b=2&q=3", {"q": "3"}),
        ("x?q={q}&r={r}", "x?q=1&r=2", {"q": "1", "r": "2"}),
        ("x{?a}{#f}", "x?a=1#z", {"a": "1", "f": "z"}),
        ("{/var:1,var}", "/v/value", {"var": "value"}),
        ("x://{a}/{a}", "x://1/1", {"a": "1"}),
    ],
)
def test_match_finds_values(template: str, uri: str, values: dict[str, Any]) -> None:
    """Ours: see `UriTemplate.match`."""
    assert UriTemplate.parse(template).match(uri) == values


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("users://{id}", "users://"),
        ("users://{id}", "users://a/b"),
        ("users://{id}", "users://a?b"),
        ("users://{id}", "users://a#b"),
        ("users://{id}", "USERS://a"),
        ("users://{id}", "users://a%2"),
        ("users://{id}", "users://%zz"),
        ("users://{id}", "users://%ff"),
        ("users://{id}", "users://%ED%A0%80"),
        ("users://{id}", "users://a\0"),
        ("users://{id}", "users://a b"),
        ("users://{id}", "users://a\\b"),
        ("users://{id}", "users://{id}"),
        ("users://{id}", "users://\ud800"),
        ("users://{id}/x", "users://a/y"),
        ("x{/path*}", "xa"),
        ("x{;a}", "x;ab"),
        ("x{?q}", "x?r=1"),
        ("x{?q}", "x?q=1&q=2"),
        ("x{?q}", "x?"),
        ("x{?q}", "x?q=1#f"),
        ("x?v=1{&q}", "x?v=2&q=2"),
        ("x://{a}/{a}", "x://1/2"),
        ("{/var:1,var}", "/x/value"),
        ("{a:3}", "abcd"),
        ("x://%C3%A9{a}", "x://%C3"),
        ("x", "x" * 70_000),
    ],
)
def test_match_refuses(template: str, uri: str) -> None:
    """Ours: None, never an exception."""
    assert UriTemplate.parse(template).match(uri) is None


def test_a_character_is_never_torn_apart() -> None:
    """Ours: a place between two bytes of one character is none."""
    assert UriTemplate.parse("x:{a}{b}").match("x:é") is None
    assert UriTemplate.parse("x:{a}{b}").match("x:éé") == {"a": "é", "b": "é"}
    assert UriTemplate.parse("x:{a}{b}").match("x:%41%42") == {"a": "A", "b": "B"}


@pytest.mark.parametrize(
    ("template", "part"),
    [
        ("x://{", "never closed"),
        ("x://{}", "'' is no variable"),
        ("x://{a b}", "'a b' is no variable"),
        ("x://{a,,b}", "'' is no variable"),
        ("x://{!a}", "operator '!' at 5 is reserved"),
        ("x://{a*:3}", "is no variable"),
        ("x://{a:0}", "is no variable"),
        ("x://{a:10000}", "is no variable"),
        ("x://a}", "'}' at 5 cannot stand in a URI"),
        ("x://a b", "' ' at 5 cannot stand in a URI"),
        ("x://%zz{a}", "'%' at 4 cannot stand in a URI"),
        ("x://" + "{a}" * 101, "at most 100 variables"),
        ("x" * 9000, "at most 8192 characters"),
    ],
)
def test_malformed_templates_are_refused(template: str, part: str) -> None:
    """Spec: RFC 6570 2; the text says where and what to write."""
    with pytest.raises(InvalidUriTemplate) as fault:
        UriTemplate.parse(template)
    assert part in str(fault.value)
    assert fault.value.template == template


def test_expansion_takes_texts_numbers_lists_and_mappings() -> None:
    """Ours: anything else would end in a URI as its repr."""
    template = UriTemplate.parse("x:{a}")
    assert template.expand({"a": 3}) == "x:3"
    for wrong in (True, b"x", object(), [None]):
        with pytest.raises(TypeError, match="a: a URI template takes"):
            template.expand({"a": wrong})
    with pytest.raises(ValueError, match="has no first characters"):
        UriTemplate.parse("{a:3}").expand({"a": ["x"]})


def test_a_template_tells_its_variables() -> None:
    """Ours: what the official SDK's class has, too."""
    template = UriTemplate.parse("x://{a}{/b*}{?c,d:3}")
    assert template.variables == [
        Variable("a", ""),
        Variable("b", "/", explode=True),
        Variable("c", "?"),
        Variable("d", "?", prefix=3),
    ]
    assert template.variable_names == ["a", "b", "c", "d"]
    assert template.query_variable_names == {"c", "d"}
    assert UriTemplate.parse("x:{a}{?b}{c}").query_variable_names == frozenset()
    assert str(template) == template.template
    assert template == UriTemplate.parse(str(template))
    assert hash(template) == hash(UriTemplate.parse(str(template)))
    assert UriTemplate.is_template("x{a}")
    assert not UriTemplate.is_template("x}{")


# --- properties -----------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
MAYBE_EMPTY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NO_PERCENT = TEXT.filter(lambda text: "%" not in text)


@given(TEXT, TEXT)
def test_simple_variables_come_back(a: str, b: str) -> None:
    """Ours: property; everything but unreserved characters is encoded, so that nothing is ambiguous."""
    for text in ("x://{a}/{b}", "x://{a,b}", "x:/{a}//{b}", "x{/a,b}", "x{;a,b}", "x{?a,b}", "x?{b}&y={a}"):
        template = UriTemplate.parse(text)
        assert template.match(template.expand({"a": a, "b": b})) == {"a": a, "b": b}


@given(MAYBE_EMPTY)
def test_signs_tell_an_empty_text(a: str) -> None:
    """Ours: property; behind an operator's sign a text may be empty."""
    for text in ("x{/a}", "x{;a}", "x{?a}", "x{.a}", "x?v{&a}"):
        template = UriTemplate.parse(text)
        assert template.match(template.expand({"a": a})) == {"a": a}


@given(NO_PERCENT)
def test_reserved_variables_come_back(a: str) -> None:
    """Ours: property; a percent sign stays as it is in `{+a}`, so that it cannot come back."""
    for text in ("x:{+a}", "x:{+a}/end", "x{#a}"):
        template = UriTemplate.parse(text)
        assert template.match(template.expand({"a": a})) == {"a": a}


@given(st.lists(MAYBE_EMPTY, min_size=1, max_size=5))
def test_lists_come_back(a: list[str]) -> None:
    """Ours: property; of a dot as separator it holds for items without dots only."""
    for text in ("x{/a*}", "x{;a*}", "x{?a*}", "x?v{&a*}"):
        template = UriTemplate.parse(text)
        assert template.match(template.expand({"a": a})) == {"a": a}


PIECE = st.sampled_from(["{a}", "{+b}", "{/c*}", "{.d}", "{;e}", "{?f,g}", "{#h}", "{i*}", "/", "-", "x", "%41", "."])


@given(st.lists(PIECE, unique=True, max_size=6), st.text("ax-./%41;=?&#,é", max_size=20))
def test_whatever_matches_stands_for_the_same(pieces: list[str], uri: str) -> None:
    """Ours: property; matched values expand to a URI that gives the same values."""
    template = UriTemplate.parse("".join(pieces))
    values = template.match(uri)
    if values is not None and not any("%" in part for value in values.values() for part in value):
        again = template.match(template.expand(values))
        assert again is not None
        assert template.expand(again) == template.expand(values)


# --- cost -----------------------------------------------------------------------------------------------------------


def _steps(work: Callable[[], object]) -> int:
    """Return how many lines of Python and calls of C functions `work` takes."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


HOSTILE = [
    ("x:{a}{b}{c}{d}{e}{f}{g}{h}!", "a"),
    ("x:{+a}{+b}{+c}{+d}{+e}{+f}{+g}{+h}!", "/"),
    ("x:{a*}{b*}{c*}{d*}!", "a,"),
    ("x:{/a*}{/b*}{/c*}{/d*}!", "/a"),
    ("x:{+a}-{+b}-{+c}-{+d}!", "--"),
    ("x:{.a}{.b}{.c}{.d}!", ".."),
    ("x:{a}%41{b}%41{c}!", "%41"),
]


@pytest.mark.parametrize(("template", "unit"), HOSTILE)
def test_steps_do_not_grow_with_the_uri(template: str, unit: str) -> None:
    """Ours: CVE-2026-0621 and the like; at most one step for each place where a literal may stand, never more."""
    parsed = UriTemplate.parse(template)
    short, long = (f"x:{unit * (size // len(unit))}" for size in (600, 60_000))
    assert parsed.match(long) is None
    few, many = _steps(lambda: parsed.match(short)), _steps(lambda: parsed.match(long))
    assert many - few <= 2 * 3 * long.count("-") + 3 * 3 * long.count("%41")
    assert few < 1500
