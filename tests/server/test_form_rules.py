"""What is refused in a form, formats of its fields, and URLs to visit."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest

from leanmcp import Field
from leanmcp.elicit import Elicit, ElicitURL, titled
from leanmcp.server.form_rules import check_url
from leanmcp.server.forms import Form, check_form, form_of, is_format
from tests.support.forms import Colour, OnModel, OnTypedDict


def made(annotation: Any, default: Any = ...) -> type:
    """Return a class with one field."""
    entry = ("value", annotation) if default is ... else ("value", annotation, default)
    return msgspec.defstruct("Made", [entry])


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (OnTypedDict, "a form has texts, numbers, booleans, choices of texts and lists of such choices"),
        (list[OnTypedDict], "is a list of anything"),
        (list[str], "is a list of anything"),
        (list[int], "is a list of anything"),
        (dict[str, str], "cannot be shown"),
        (int | str, "cannot be shown"),
        (Any, "cannot be shown"),
        (Literal[1, 2], "the choices of a form are texts"),
        (Literal["a", 2], "the choices of a form are texts"),
        (datetime.time, "has the format 'time'; a form knows email, uri, date, date-time"),
        (datetime.timedelta, "has the format 'duration'"),
        (bytes, "has 'contentEncoding', which a form cannot say"),
        (Annotated[str, Field(pattern="a+")], "has 'pattern', which a form cannot say"),
        (Annotated[int, Field(multiple_of=2)], "has 'multipleOf', which a form cannot say"),
        (Annotated[float, Field(gt=0)], "has 'exclusiveMinimum', which a form cannot say"),
        (Annotated[str, Field(json_schema_extra={"format": "uuid"})], "has the format 'uuid'"),
        (Annotated[str, Field(json_schema_extra={"oneOf": ["a"]})], "write titled choices as titled"),
        (Annotated[str, Field(json_schema_extra={"oneOf": []})], "write titled choices as titled"),
        (Annotated[Colour, Field(json_schema_extra=titled({"x": "X"}))], "oneOf names ['x'], but the type has"),
        (complex, "has type complex"),
    ],
)
def test_a_field_that_no_form_can_show_is_refused(annotation: Any, words: str) -> None:
    """Spec: client/elicitation, "Requested Schema"; the text names the field."""
    with pytest.raises(TypeError) as refused:
        form_of(made(annotation))
    assert "field 'value' of " in str(refused.value)
    assert words in str(refused.value)
    assert "input_schema" not in str(refused.value)


@pytest.mark.parametrize("kind", [int, str, list[str], tuple[int, int], Colour, 5, {"name": str}, None])
def test_only_a_class_with_fields_is_a_form(kind: Any) -> None:
    """Ours: the text says what is one."""
    with pytest.raises(TypeError, match=r"form|class with a field"):
        Elicit("?", kind)
    with pytest.raises(TypeError, match="message is a text"):
        Elicit(5, OnModel)  # type: ignore[arg-type]


def test_a_default_must_be_a_value_of_its_field() -> None:
    """Ours: a client shows it as it is."""
    with pytest.raises(TypeError, match="its default 5 is no value that the field takes"):
        form_of(made(str, 5))
    assert "default" not in form_of(made(str | None, None)).schema["properties"]["value"]


@pytest.mark.parametrize(
    "name",
    ["password", "userPassword", "new_password", "PASSWD", "pwd", "passphrase", "api_key", "apiKey", "apikey", "APIKey",
     "access_token", "token", "refreshToken", "secret", "client_secret", "card_number", "creditCardNumber", "cvv",
     "cvc", "pin", "otp", "private_key", "ssh_key", "credentials", "security_code", "seed_phrase", "recovery_code"],
)  # fmt: skip
def test_a_field_that_asks_for_a_secret_is_refused(name: str) -> None:
    """Spec: client/elicitation, "User Interaction Model": no passwords, keys, tokens or payment credentials (M8)."""
    kind = msgspec.defstruct("Login", [("user", str), (name, str)])
    with pytest.raises(ValueError, match=f"field '{name}' of the form Login asks for a secret.*elicit_url"):
        form_of(kind)


@pytest.mark.parametrize(
    "settings",
    [
        {"title": "Your password"},
        {"title": "API key"},
        {"description": "The access token of your account."},
        {"description": "Credit card number, without spaces"},
        {"description": "Enter your password here"},
    ],
)
def test_titles_descriptions_and_formats_are_read_too(settings: dict[str, Any]) -> None:
    """Spec: client/elicitation, "User Interaction Model"."""
    with pytest.raises(ValueError, match="asks for a secret"):
        form_of(made(Annotated[str, Field(**settings)]))
    schema = {"type": "string", "format": "password"}
    params = {"message": "?", "requestedSchema": {"type": "object", "properties": {"value": schema}}}
    with pytest.raises((TypeError, ValueError), match="password"):
        check_form(params)


@pytest.mark.parametrize(
    ("name", "kind", "settings"),
    [
        ("name", str, {}),
        ("email", str, {}),
        ("username", str, {}),
        ("key", str, {}),
        ("keyboard", str, {}),
        ("tokens", int, {}),
        ("token_count", int, {}),
        ("max_tokens", int, {}),
        ("secretary", str, {}),
        ("pinned", str, {}),
        ("shipping", str, {"description": "Where the parcel goes; a token of our thanks is inside."}),
        ("postcard", str, {}),
        ("reset_password", bool, {}),
        ("token", Literal["red", "blue"], {}),
    ],
)
def test_a_field_that_only_sounds_like_one_is_not(name: str, kind: Any, settings: dict[str, Any]) -> None:
    """Ours: yes-or-no fields and choices hold no secret."""
    assert form_of(msgspec.defstruct("Fine", [(name, Annotated[kind, Field(**settings)])]))


# --- formats and URLs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("email", ["a@b.example", "first.last+tag@sub.example.com"],
         ["", "a", "a@", "@b", "a@b@c", "a b@c.example", ".a@b.example", "a.@b.example", "a..b@c.example", "a@-b"]),
        ("uri", ["https://example.com/", "mailto:a@b.example", "urn:isbn:123", "http://[::1]/%20"],
         ["", "example.com", "/path", "https://a b", "http://ж", "http://a/%zz", ":x", "1a:x"]),
        ("date", ["2026-07-28", "2024-02-29"],
         ["", "2026-7-28", "2025-02-29", "2026-07-28T00:00:00Z", "20260728", "28.07.2026", "2026-13-01"]),
        ("date-time", ["2026-07-28T12:00:00Z", "2026-07-28t12:00:00.5z", "2026-07-28T12:00:00+02:00"],
         ["", "2026-07-28", "2026-07-28T12:00:00", "2026-07-28T25:00:00Z", "2026-07-28T12:00Z"]),
    ],
)  # fmt: skip
def test_formats_are_asserted(form: str, good: list[str], bad: list[str]) -> None:
    """Spec: client/elicitation, "Requested Schema" 1: email, uri, date, date-time."""
    assert [text for text in good if not is_format(form, text)] == []
    assert [text for text in bad if is_format(form, text)] == []


@pytest.mark.parametrize(
    "url",
    ["https://example.com", "https://example.com:8443/a?b=c#d", "https://[2001:db8::1]/", "http://127.0.0.1:8000/x",
     "http://localhost/x", "http://app.localhost:3000/", "http://[::1]:8000/", "https://xn--e1afmkfd.example/"],
)  # fmt: skip
def test_urls_that_a_client_may_open(url: str) -> None:
    """Spec: client/elicitation, "Safe URL Handling"."""
    assert ElicitURL("Please sign in.", url).request()["params"]["url"] == url


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://user@example.com/", "no user name or password"),
        ("https://user:pass@example.com/", "no user name or password"),
        ("https://example.com@evil.example/", "no user name or password"),
        ("http://example.com/", "use https"),
        ("http://127.0.0.1.example.com/", "use https"),
        ("http://localhost.example.com/", "use https"),
        ("http://10.0.0.1/", "use https"),
        ("http://[::2]/", "use https"),
        ("ftp://example.com/", "absolute https"),
        ("javascript:alert(1)", "absolute https"),
        ("data:text/html,x", "absolute https"),
        ("file:///etc/passwd", "absolute https"),
        ("//example.com/", "absolute https"),
        ("/sign-in", "absolute https"),
        ("https:///x", "absolute https"),
        ("", "no spaces"),
        ("https://example.com/a b", "no spaces"),
        ("https://example.com/\n", "no spaces"),
        ("https://пример.example/", "no spaces"),
        ("https://example.com\\@evil.example/", "no spaces"),
        ("https://[::1/", "url"),
        ("https://example.com:99999/", "url"),
    ],
)
def test_urls_that_no_client_may_open(url: str, words: str) -> None:
    """Spec: client/elicitation, "Safe URL Handling"; the text says why."""
    with pytest.raises(ValueError, match=words):
        ElicitURL("Please sign in.", url)


def test_a_url_is_a_text() -> None:
    """Ours."""
    with pytest.raises(TypeError, match="url must be a text"):
        check_url(5)
    with pytest.raises(TypeError, match="message is a text"):
        ElicitURL(None, "https://example.com/")  # type: ignore[arg-type]


def test_forms_are_made_once() -> None:
    """Ours: a question costs no derivation in later calls."""
    assert form_of(OnModel) is form_of(OnModel)
    assert isinstance(form_of(OnModel), Form)
