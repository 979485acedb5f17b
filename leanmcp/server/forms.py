"""Forms: the questions that a user answers in the client, made from a class with fields.

In: a Struct, dataclass, TypedDict or pydantic model. Out: the `requestedSchema` on the wire, and, of what the user
entered, an instance of the class or everything that is wrong with it.
Spec 2026-07-28: client/elicitation, "Requested Schema", "Form Mode Security".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from ..schema import faults as say
from ..schema.faults import Fault
from .branches import is_integral, is_number
from .derive import Deriver, type_text
from .explain import explain
from .form_rules import check_url, primitive, refuse_secrets
from .nodes import ForeignNode, Node, RefNode, typed_decoder
from .publish import json_value, publish
from .recover import UNREADABLE, own_sentence

__all__ = ["Form", "InvalidAnswer", "check_form", "form_of", "titled"]

_MAX_FORMS = 512  # forms that are kept; a class made inside a function is a new one each time


class InvalidAnswer(Exception):
    """What the user entered does not fit the form.

    Args:
        faults: one by one.
    """

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(say.listing(faults, echo_values=False))
        self.faults = faults


class Form(msgspec.Struct, frozen=True):
    """A class with fields as a form.

    Attributes:
        schema: the `requestedSchema`.
        node: of the class.
        decode: JSON of checked content to an instance of the class.
    """

    schema: dict[str, Any]
    node: Node
    decode: Callable[[bytes], Any]

    def read(self, content: object) -> Any:
        """Return the instance that `content`, plain JSON, stands for.

        Raises:
            InvalidAnswer: it does not fit.
        """
        values = checked(self.schema, content)
        try:
            return self.decode(msgspec.json.encode(values))
        except (*UNREADABLE, ValueError, TypeError) as fault:  # a check of the class itself, such as a validator
            raise InvalidAnswer(explain(self.node, values) or [own_sentence(fault)]) from None


def titled(choices: Mapping[str, str], *, multiple: bool = False) -> dict[str, Any]:
    """Return the choices of a field with the titles that users see, for `Field(json_schema_extra=titled(...))`.

    The field is a `str`, an Enum or a Literal, or, with `multiple`, a `list` of one:

        colour: str = Field(json_schema_extra=titled({"#f00": "Red", "#0f0": "Green"}))
        sizes: list[str] = Field(json_schema_extra=titled({"s": "Small", "l": "Large"}, multiple=True))

    Args:
        choices: value to title, in the order in which they are shown.
        multiple: any number of them may be chosen.

    Spec: client/elicitation, "Requested Schema" 4.
    """
    options = [{"const": value, "title": title} for value, title in choices.items()]
    return {"items": {"anyOf": options}} if multiple else {"oneOf": options}


@lru_cache(_MAX_FORMS)
def form_of(kind: Any) -> Form:
    """Return the form of a class, made once.

    Raises:
        TypeError: it has a field that no form can show; the text names it.
        ValueError: it asks for a secret; the text names the field.
    """
    name = type_text(kind)
    try:
        node = Deriver(name, noun="form").derive(kind, "the class")
        schema = publish(node)
    except TypeError as fault:
        raise TypeError(f"{fault} ({_HOW})") from None
    if not (isinstance(node, RefNode | ForeignNode) and isinstance(schema.get("properties"), dict)):
        raise TypeError(f"form {name}: {_HOW}")
    definitions = schema.get("$defs", {})
    for field, default in _made_defaults(kind).items():
        schema["properties"][field].setdefault("default", default)
    properties = {
        field: primitive(f"field {field!r} of the form {name}", _inlined(part, definitions))
        for field, part in schema["properties"].items()
    }
    refuse_secrets(f"the form {name}", properties)
    requested: dict[str, Any] = {"type": "object", "properties": properties}
    if schema.get("required"):
        requested["required"] = schema["required"]
    return Form(requested, node, typed_decoder(node))


_HOW = "a form is a Struct, Model, dataclass, TypedDict or pydantic model with one field for each thing to enter"


def _made_defaults(kind: Any) -> dict[str, list[Any]]:
    """Return the lists that default factories of a Struct or dataclass make: what is chosen before the user chooses."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        made = {entry.encode_name: entry.default_factory for entry in msgspec.structs.fields(kind)}
    else:
        made = {name: entry.default_factory for name, entry in getattr(kind, "__dataclass_fields__", {}).items()}
    values = {name: factory() for name, factory in made.items() if callable(factory)}
    return {name: json_value(value) for name, value in values.items() if isinstance(value, list)}


def _inlined(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field with the Enum that it refers to in place of the reference."""
    found = dict(schema)
    if isinstance(found.get("items"), dict):
        found["items"] = _inlined(found["items"], definitions)
    if isinstance(found.get("anyOf"), list):
        found["anyOf"] = [_inlined(member, definitions) for member in found["anyOf"]]
    reference = found.pop("$ref", None)
    if reference is None:
        return found
    target = definitions[reference.removeprefix("#/$defs/")]
    own_title = {"title"} if "enum" in target or "const" in target else set()
    return {**{name: value for name, value in target.items() if name not in own_title}, **found}


def check_form(params: dict[str, Any]) -> None:
    """Hold the params of an elicitation that was written by hand against the rules.

    Raises:
        TypeError: a member is missing, or a field that no form can show.
        ValueError: a secret, or a URL that no client may open.
    """
    if not isinstance(params.get("message"), str):
        raise TypeError("elicitation/create: params.message is a text that tells the user why you ask")
    mode = params.get("mode", "form")
    if mode == "url":
        check_url(params.get("url"))
        return
    if mode != "form":
        raise TypeError(f"elicitation/create: params.mode is 'form' or 'url', not {mode!r}")
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, dict) and schema.get("type") == "object" else None
    if not isinstance(properties, dict):
        raise TypeError('elicitation/create: params.requestedSchema is {"type": "object", "properties": {...}}')
    for field, part in properties.items():
        where = f"field {field!r} of params.requestedSchema"
        if not isinstance(part, dict) or primitive(where, part) != part:
            raise TypeError(f"{where} is {part!r}, which is no schema of a form's field")
    refuse_secrets("params.requestedSchema", properties)


# --- what the user entered ------------------------------------------------------------------------------------------


def checked(schema: dict[str, Any], content: object) -> dict[str, Any]:
    """Return the members of `content` that the form asked for; others are left out.

    Raises:
        InvalidAnswer: they do not fit.
    """
    if not isinstance(content, dict):
        raise InvalidAnswer([Fault("", say.expected("object"), content, "type")])
    faults: list[Fault] = []
    values: dict[str, Any] = {}
    required = schema.get("required", ())
    for name, part in schema["properties"].items():
        if name not in content or (content[name] is None and name not in required):
            if name in required:
                faults.append(Fault(name, say.REQUIRED))
            continue
        value = content[name]
        if part["type"] == "integer" and is_number(value) and is_integral(value):
            value = int(value)
        message = _fault(part, value)
        if message is not None:
            faults.append(Fault(name, message, value))
        values[name] = value
    if faults:
        raise InvalidAnswer(faults)
    return values


def _fault(schema: dict[str, Any], value: Any) -> str | None:
    kind = schema["type"]
    if kind == "array":
        return _list_fault(schema, value)
    if "enum" in schema or "oneOf" in schema:
        values = schema["enum"] if "enum" in schema else [option["const"] for option in schema["oneOf"]]
        return None if isinstance(value, str) and value in values else say.one_of(values)
    if kind == "boolean":
        return None if isinstance(value, bool) else say.expected("boolean")
    if kind == "string":
        return _text_fault(schema, value)
    if not is_number(value) or (kind == "integer" and not isinstance(value, int)):
        return say.expected(kind)
    if "minimum" in schema and value < schema["minimum"]:
        return say.bound("ge", schema["minimum"])
    if "maximum" in schema and value > schema["maximum"]:
        return say.bound("le", schema["maximum"])
    return None


def _list_fault(schema: dict[str, Any], value: Any) -> str | None:
    if not isinstance(value, list):
        return say.expected("array")
    items = schema["items"]
    allowed = items["enum"] if "enum" in items else [option["const"] for option in items["anyOf"]]
    if not all(isinstance(part, str) and part in allowed for part in value):
        return say.one_of(allowed).replace("Input", "Each item", 1)
    if len(value) < schema.get("minItems", 0):
        return say.item_count("min_length", schema["minItems"], len(value))
    if len(value) > schema.get("maxItems", len(value)):
        return say.item_count("max_length", schema["maxItems"], len(value))
    return None


def _text_fault(schema: dict[str, Any], value: Any) -> str | None:
    if not isinstance(value, str):
        return say.expected("string")
    if len(value) < schema.get("minLength", 0):
        return say.text_length("min_length", schema["minLength"])
    if len(value) > schema.get("maxLength", len(value)):
        return say.text_length("max_length", schema["maxLength"])
    form = schema.get("format")
    if form is not None and not is_format(form, value):
        return f"Input should be {_FORMAT_NAMES[form]}"
    return None


_FORMAT_NAMES = {
    "email": "an e-mail address, such as name@example.com",
    "uri": "a URI, such as https://example.com/",
    "date": "a date, such as 2026-07-28",
    "date-time": "a date and time with an offset, such as 2026-07-28T12:00:00Z",
}
_EMAIL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.\-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.\-]{0,251}[A-Za-z0-9])?")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?:[!#$&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]|%[0-9A-Fa-f]{2})+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+\-][0-9]{2}:[0-9]{2})")


def is_format(form: str, text: str) -> bool:
    """Return whether a text has one of the four formats of forms; RFC 5321, RFC 3986 and RFC 3339."""
    if form == "email":
        local = text.partition("@")[0]
        return bool(_EMAIL.fullmatch(text)) and ".." not in text and not (local.startswith(".") or local.endswith("."))
    if form == "uri":
        return bool(_URI.fullmatch(text))
    import datetime  # few forms have a date

    date, time = text[:10], text[11:]
    try:
        if not _DATE.fullmatch(date):
            return False
        datetime.date.fromisoformat(date)
        if form == "date":
            return len(text) == 10
        if text[10:11] not in ("T", "t", " ") or not _TIME.fullmatch(time):
            return False
        # A leap second is a legal time that Python cannot hold, and what msgspec would refuse.
        datetime.datetime.fromisoformat(f"{date}T{time.upper()}")
    except ValueError:
        return False
    return True
