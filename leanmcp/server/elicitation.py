"""Questions to the user, and how they end.

In: a message and a form, or a URL. Out: the `elicitation/create` request, and of its result Accepted, Declined or
Cancelled.
Spec 2026-07-28: client/elicitation, "Elicitation Requests", "Response Actions".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

import msgspec

from ..types import ElicitResult
from .form_rules import check_url
from .forms import InvalidAnswer, form_of

__all__ = ["Accepted", "Cancelled", "Declined", "Elicit", "ElicitURL", "ElicitationResult", "Question"]

T = TypeVar("T")


class Accepted(msgspec.Struct, Generic[T], frozen=True):
    """The user answered.

    Args:
        data: the instance of the form's class; None of a URL, where it means that the user agreed to open it, not
            that what happens there is done.
    """

    data: T
    action: ClassVar[Literal["accept"]] = "accept"

    if not TYPE_CHECKING:  # as below

        def __getattr__(self, name: str) -> Any:
            inside = not name.startswith("_") and hasattr(self.data, name)
            hint = f"; it is in the answer's data: answer.data.{name}" if inside else ""
            raise AttributeError(f"'Accepted' object has no attribute {name!r}{hint}", name=name)


class _Unanswered(msgspec.Struct, frozen=True):
    """The user gave no answer."""

    if not TYPE_CHECKING:  # type checkers know that there is no `data`, and say so before the program runs

        def __getattr__(self, name: str) -> Any:
            name_of_class = type(self).__name__
            if name != "data":
                raise AttributeError(f"{name_of_class!r} object has no attribute {name!r}")
            raise AttributeError(
                f"{name_of_class} has no data: the user gave no answer; check `answer.action == 'accept'`, or "
                "isinstance(answer, Accepted), before you read answer.data"
            )


class Declined(_Unanswered, frozen=True):
    """The user said no."""

    action: ClassVar[Literal["decline"]] = "decline"


class Cancelled(_Unanswered, frozen=True):
    """The user closed the question without choosing; it may be asked again later."""

    action: ClassVar[Literal["cancel"]] = "cancel"


ElicitationResult = Accepted[T] | Declined | Cancelled
"""How a question ends."""


class Question(ABC):
    """What may be asked: `Elicit` or `ElicitURL`."""

    @abstractmethod
    def request(self) -> dict[str, Any]:
        """Return the `elicitation/create` request."""

    def outcome(self, result: ElicitResult) -> Accepted[Any] | Declined | Cancelled:
        """Return what the client's result says; InvalidAnswer where it does not fit."""
        if result.action == "accept":
            return Accepted(self._data(result.content))
        return Declined() if result.action == "decline" else Cancelled()

    def kept(self, result: ElicitResult) -> ElicitResult:
        """Return what is remembered of a result: nothing that was not asked for."""
        return ElicitResult(action=result.action)

    def read(self, result: object) -> Any:
        """Return what a member of `Context.input_responses` says: Accepted, Declined or Cancelled.

        None where it is missing, answers something else or does not fit: then ask again.
        """
        if not isinstance(result, ElicitResult):
            return None
        try:
            return self.outcome(result)
        except InvalidAnswer:
            return None

    def _data(self, content: object) -> Any:
        return None


class Elicit(Question, Generic[T]):
    """Asks the user to fill in a form.

    Args:
        message: tells the user what is needed, and why.
        schema: a Struct, `leanmcp.Model`, dataclass, TypedDict or pydantic model with one field for each thing to
            enter: texts (email, URI, date, date-time), numbers, booleans, Enums and Literals of texts, lists of these;
            see `titled` for choices with titles.

    Raises:
        TypeError: a field that no form can show; the text names it.
        ValueError: a field asks for a secret; use ElicitURL.
    """

    def __init__(self, message: str, schema: type[T]) -> None:
        if not isinstance(message, str):
            raise TypeError(f"Elicit: message is a text for the user, not {message!r}")
        kind: Any = schema
        _check_schema(kind)
        self.message = message
        self.schema = schema
        self._form = form_of(kind)

    def request(self) -> dict[str, Any]:
        """Return the `elicitation/create` request."""
        params = {"mode": "form", "message": self.message, "requestedSchema": self._form.schema}
        return {"method": "elicitation/create", "params": params}

    def kept(self, result: ElicitResult) -> ElicitResult:
        """Return what is remembered of a result: the members that the form has."""
        if result.action != "accept" or result.content is None:
            return ElicitResult(action=result.action)
        fields = self._form.schema["properties"]
        content = {name: value for name, value in result.content.items() if name in fields}
        return ElicitResult(action="accept", content=content)

    def _data(self, content: object) -> Any:
        return self._form.read(content)


_FIELDS = ("__struct_fields__", "__dataclass_fields__", "model_fields")  # of classes that a form is made of


def _check_schema(schema: object) -> None:
    """Refuse what is no class, before a rule about types makes a riddle of it."""
    wanted = "Elicit: schema is a class with a field for each thing to enter"
    kind = type(schema)
    if not isinstance(schema, type) and any(hasattr(kind, name) for name in _FIELDS):
        name = kind.__name__
        raise TypeError(f"{wanted}: give the class {name} itself, not an instance, as in Elicit(message, {name})")
    if isinstance(schema, str) or not isinstance(schema, Hashable):
        raise TypeError(f"{wanted}, not {schema!r}")


class ElicitURL(Question):
    """Asks the user to open a page, for what must not pass through the client: passwords, keys, payment, consent.

    The page has to make sure that the user who opens it is the one who was asked, and the URL must not let anybody in.

    Args:
        message: tells the user what the page is for.
        url: https, or http on loopback; without user information.

    Raises:
        TypeError, ValueError: a URL that no client may open.

    Spec: client/elicitation, "URL Mode Elicitation Requests", "Phishing".
    """

    def __init__(self, message: str, url: str) -> None:
        if not isinstance(message, str):
            raise TypeError(f"ElicitURL: message is a text for the user, not {message!r}")
        self.message = message
        self.url = check_url(url)

    def request(self) -> dict[str, Any]:
        """Return the `elicitation/create` request."""
        params = {"mode": "url", "message": self.message, "url": self.url}
        return {"method": "elicitation/create", "params": params}
