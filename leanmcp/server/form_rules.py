"""What a question to the user may hold: the restricted schema of forms, no secrets, safe URLs.

In: JSON Schema of one property, names and texts, a URL. Out: the property as the wire has it, or TypeError / ValueError
that names the field and says what to do.
Spec 2026-07-28: client/elicitation, "Requested Schema", "Safe URL Handling"; schema page, `PrimitiveSchemaDefinition`.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["FORMATS", "check_url", "primitive", "refuse_secrets", "secret_in", "secret_word"]

FORMATS = ("email", "uri", "date", "date-time")
_NOTES = {"title", "description", "default"}
_SILENT = {"examples"}  # says nothing about what is valid, and has no place in a form
_KEYWORDS = {
    "string": {"type", "minLength", "maxLength", "format"},
    "number": {"type", "minimum", "maximum"},
    "integer": {"type", "minimum", "maximum"},
    "boolean": {"type"},
}
_CHOICE = {"type", "enum", "oneOf", "enumNames"}
_MULTIPLE = {"type", "items", "minItems", "maxItems"}
_FLAT = "a form has texts, numbers, booleans, choices of texts and lists of such choices"


def primitive(field: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one field in the form that the specification admits.

    Args:
        field: named in refusals, such as "field 'age' of the form Contact".
        schema: without references; `X | None` as `anyOf`, exclusive bounds of integers and a `const` are rewritten.

    Raises:
        TypeError: it says what no form can say.
    """
    schema = {name: value for name, value in _opened(schema).items() if name not in _SILENT}
    if schema.get("default", ...) is None:
        del schema["default"]  # leaving the field out is how a form says null
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    kind = schema.get("type")
    if "enum" in schema or "oneOf" in schema:
        return _choice(field, schema)
    if kind == "array":
        return _multiple(field, schema)
    if not isinstance(kind, str) or kind not in _KEYWORDS:
        raise TypeError(f"{field} cannot be shown: {_FLAT}")
    if kind == "integer":
        _close_bounds(schema)
    _refuse_others(field, schema, _KEYWORDS[kind])
    if schema.get("format", "email") not in FORMATS:
        raise TypeError(f"{field} has the format {schema['format']!r}; a form knows {', '.join(FORMATS)}")
    _check_default(field, schema, _fits(kind))
    return schema


def _opened(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of X where the field is `X | None`."""
    members = schema.get("anyOf")
    if not isinstance(members, list):
        return dict(schema)
    present = [member for member in members if member != {"type": "null"}]
    if len(present) != 1 or len(present) == len(members):
        return dict(schema)
    return {**present[0], **{name: value for name, value in schema.items() if name != "anyOf"}}


def _close_bounds(schema: dict[str, Any]) -> None:
    """Write `> 0` as `>= 1`, which of integers is the same."""
    for name, closed, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        if isinstance(schema.get(name), int):
            schema[closed] = schema.pop(name) + step


def _refuse_others(field: str, schema: dict[str, Any], known: set[str]) -> None:
    others = sorted(schema.keys() - known - _NOTES)
    if others:
        raise TypeError(
            f"{field} has {', '.join(map(repr, others))}, which a form cannot say; leave it out, and check the answer "
            "in your function"
        )


def _choice(field: str, schema: dict[str, Any]) -> dict[str, Any]:
    values = schema.get("enum")
    if "oneOf" in schema:
        titled = _titled_values(field, schema["oneOf"])
        if values is not None and list(values) != titled:
            raise TypeError(f"{field}: oneOf names {titled}, but the type has {list(values)}")
        schema.pop("enum", None)
        values = titled
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{field} is a choice of {values}; the choices of a form are texts")
    schema["type"] = "string"
    _refuse_others(field, schema, _CHOICE)
    allowed = values
    _check_default(field, schema, lambda value: value in allowed)
    return schema


def _multiple(field: str, schema: dict[str, Any]) -> dict[str, Any]:
    schema.pop("uniqueItems", None)  # of a set, which does not mind
    items = dict(schema["items"]) if isinstance(schema.get("items"), dict) else {}
    if "const" in items:
        items["enum"] = [items.pop("const")]
    if "anyOf" in items:
        values = _titled_values(field, items["anyOf"])
        items = {"anyOf": items["anyOf"]}
    else:
        values = items.get("enum", [])
        if not values or not all(isinstance(value, str) for value in values):
            raise TypeError(f"{field} is a list of anything; {_FLAT}")
        items = {"type": "string", "enum": values}
    schema["items"] = items
    _refuse_others(field, schema, _MULTIPLE)
    _check_default(field, schema, lambda chosen: isinstance(chosen, list) and all(part in values for part in chosen))
    return schema


def _titled_values(field: str, options: object) -> list[str]:
    """Return the values of `[{"const": ..., "title": ...}, ...]`."""
    listed = options if isinstance(options, list) else []
    if not listed or not all(
        isinstance(option, dict)
        and option.keys() == {"const", "title"}
        and all(isinstance(part, str) for part in option.values())
        for option in listed
    ):
        raise TypeError(f"{field}: write titled choices as titled({{value: title, ...}}), texts both")
    return [option["const"] for option in listed]


def _fits(kind: str) -> Any:
    types: dict[str, tuple[type, ...]] = {"string": (str,), "boolean": (bool,), "integer": (int,)}
    allowed = types.get(kind, (int, float))
    return lambda value: isinstance(value, allowed) and (kind == "boolean" or not isinstance(value, bool))


def _check_default(field: str, schema: dict[str, Any], fits: Any) -> None:
    if "default" in schema and not fits(schema["default"]):
        raise TypeError(f"{field}: its default {schema['default']!r} is no value that the field takes")


# --- secrets --------------------------------------------------------------------------------------------------------

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# In a name or a title, where words are few and mean the field itself.
_NAMES = (
    r"passwords?|passwd|pwd|passphrase|passcode|secrets?|credentials?|token|otp|pin|pin code|cvv2?|cvc2?|"
    r"security code|verification code|private key|api key|apikey|access key|secret key|auth key|signing key|"
    r"encryption key|ssh key|license key|(credit|debit|payment|bank) ?card( number)?|card number|cardnumber|"
    r"seed phrase|recovery (code|phrase)|mnemonic"
)
# In a description, which may speak of other things too.
_TEXTS = (
    r"passwords?|passphrase|passcode|credentials?|api (key|token)|(access|auth|bearer|refresh|session) token|"
    r"(private|secret|access|signing|encryption) key|(credit|debit) card|card number|cvv2?|cvc2?|security code|"
    r"seed phrase|recovery (code|phrase)|one time (code|password)|pin code"
)
_COUNTS = r"(?! (count|limit|budget|length|size|type|name|id|policy|expiry))"
_IN_NAME = re.compile(rf"\b({_NAMES})\b{_COUNTS}")
_IN_TEXT = re.compile(rf"\b({_TEXTS})\b{_COUNTS}")


def _words(text: str) -> str:
    """Return `apiKey`, `API_KEY` and `API key` as "api key"."""
    return " ".join(_WORDS.findall(text)).lower()


def refuse_secrets(form: str, properties: dict[str, Any]) -> None:
    """Refuse a form that asks for a secret: it would pass through the client, and perhaps a model.

    Yes-or-no fields and choices cannot hold one.

    Raises:
        ValueError: the text names the field.

    Spec: client/elicitation, "User Interaction Model".
    """
    for name, schema in properties.items():
        word = secret_word(name, schema)
        if word is not None:
            raise ValueError(
                f"field {name!r} of {form} asks for a secret ({word}); forms pass through the client, so ask with "
                "elicit_url (ElicitURL) on a page of yours, or rename the field if it is none"
            )


def secret_word(name: str, schema: object) -> str | None:
    """Return the words by which a field, of the name and with the schema, asks for a secret; None where it does not."""
    if not isinstance(schema, dict) or schema.get("type") in ("boolean", "array"):
        return None
    if "enum" in schema or "oneOf" in schema:
        return None
    found = (
        _IN_NAME.search(_words(name))
        or _IN_NAME.search(_words(str(schema.get("title", ""))))
        or _IN_TEXT.search(_words(str(schema.get("description", ""))))
    )
    return found[0] if found else "password" if schema.get("format") == "password" else None


def secret_in(text: str) -> str | None:
    """Return the words of a sentence that are about a secret, None where there are none."""
    found = _IN_TEXT.search(_words(text))
    return None if found is None else found[0]


# --- URLs -----------------------------------------------------------------------------------------------------------

_URL_CHARACTERS = re.compile(r"[!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+")


def check_url(url: object) -> str:
    """Return a URL that a client may show to its user.

    Raises:
        TypeError: no text.
        ValueError: not absolute, not https (http on loopback only), or with user information in it.

    Spec: client/elicitation, "Safe URL Handling"; RFC 3986.
    """
    from urllib.parse import urlsplit  # few servers ask by URL

    if not isinstance(url, str):
        raise TypeError(f"url must be a text, not {type(url).__name__}")
    if not _URL_CHARACTERS.fullmatch(url):
        raise ValueError(f"url {url!r}: a URL has no spaces, and other characters than ASCII only as %XX")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as fault:
        raise ValueError(f"url {url!r}: {fault}") from None
    if parts.scheme not in ("https", "http") or not host:
        raise ValueError(f"url {url!r}: give an absolute https: URL")
    if "@" in parts.netloc:
        raise ValueError(f"url {url!r}: no user name or password may stand in front of the host")
    if parts.scheme == "http" and not _is_loopback(host):
        raise ValueError(f"url {url!r}: use https; http is for loopback addresses only")
    return url


def _is_loopback(host: str) -> bool:
    numbers = host.split(".")
    in_127 = len(numbers) == 4 and numbers[0] == "127" and all(part.isdecimal() for part in numbers)
    return in_127 or host in ("localhost", "::1") or host.endswith(".localhost")
