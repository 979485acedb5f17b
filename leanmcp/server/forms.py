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

from .. import schema as json_schema
from ..schema import faults as say
from ..schema.faults import Fault
from . import foreign_schema
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
    for field, default in _made_defaults(kind).items():
        schema["properties"][field].setdefault("default", default)
    definitions = schema.pop("$defs", {})
    for definition in definitions.values():
        definition.pop("title", None)  # the name of an Enum's class says nothing to users
    fields = foreign_schema.inlined(schema, definitions)[0]["properties"]
    properties = {field: primitive(f"field {field!r} of the form {name}", part) for field, part in fields.items()}
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
    """Return the members of `content` that the form asked for; others are left out, and null where none is needed.

    Raises:
        InvalidAnswer: they do not fit.
    """
    if not isinstance(content, dict):
        raise InvalidAnswer([Fault("", say.expected("object"), content, "type")])
    needed = {name for name, value in content.items() if value is not None}.union(schema.get("required", ()))
    values = {name: content[name] for name in schema["properties"] if name in content and name in needed}
    fields = {name: _by_values(part) for name, part in schema["properties"].items()}
    validator = json_schema.compile({**schema, "properties": fields})
    faults = validator.faults(values)
    for name, value in values.items():
        form = schema["properties"][name].get("format")
        if form is not None and isinstance(value, str) and not is_format(form, value):
            faults.append(Fault(name, f"Input should be {_FORMAT_NAMES[form]}", value))
    if faults:
        raise InvalidAnswer(faults)
    folded: dict[str, Any] = validator.fold(values)
    return folded


def _by_values(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a choice as its values alone: faults name them, and one of them may be listed twice."""
    if isinstance(field.get("items"), dict):
        return {**field, "items": _by_values(field["items"])}
    options = field.get("oneOf", field.get("anyOf"))
    values = field.get("enum") if options is None else [option["const"] for option in options]
    return field if values is None else {"enum": list(dict.fromkeys(values))}


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
