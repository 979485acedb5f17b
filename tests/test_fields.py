"""`Field`, `Model` and `Header` without pydantic."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import msgspec
import pytest

from leanmcp.fields import Field, Header, Model

T = TypeVar("T")


class Book(Model):
    """A book."""

    title: str
    year: int = Field(ge=1450, description="Year of first publication.")
    pages: int | None = Field(default=None, gt=0)
    code: str = Field(default="a1", pattern=r"^\w\d$")
    tags: list[str] = Field(default_factory=lambda: ["new"])
    sequel: Book | None = None
    limit: ClassVar[int] = 3

    @property
    def age(self) -> int:
        return 2026 - self.year

    def renamed(self, title: str) -> Book:
        return msgspec.structs.replace(self, title=title)


def decode(raw: bytes, kind: Any = Book) -> Any:
    return msgspec.json.decode(raw, type=kind)


def test_a_field_without_default_stays_required() -> None:
    """Ours: as in pydantic."""
    with pytest.raises(TypeError, match="year"):
        Book(title="x")  # type: ignore[call-arg]
    book = Book(title="x", year=1999)
    assert (book.pages, book.code, book.tags, book.age) == (None, "a1", ["new"], 27)
    assert book.renamed("y").title == "y"


def test_fields_are_keyword_only_in_subclasses_too() -> None:
    """Ours: a required field may follow an optional one."""

    class Novel(Book, forbid_unknown_fields=True):
        hero: str

    class Frozen(Model, frozen=True):
        hero: str

    novel = Novel(title="x", year=1999, hero="h")
    assert novel.hero == "h"
    assert decode(b'{"title":"x","year":1999,"hero":"h"}', Novel) == novel
    with pytest.raises(TypeError):
        Book("x", 1999)  # type: ignore[call-arg]
    with pytest.raises(msgspec.ValidationError, match="unknown"):
        decode(b'{"title":"x","year":1999,"hero":"h","z":1}', Novel)
    with pytest.raises(AttributeError):
        Frozen(hero="h").hero = "i"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("raw", "where"),
    [
        (b'{"title":"x","year":1000}', r"\$\.year"),
        (b'{"title":"x","year":1999,"pages":0}', r"\$\.pages"),
        (b'{"title":"x","year":1999,"code":"a1\\n"}', r"\$\.code"),
        (b'{"title":"x","year":1999,"sequel":{"title":"y","year":1}}', r"\$\.sequel\.year"),
    ],
)
def test_bounds_are_enforced_by_msgspec_alone(raw: bytes, where: str) -> None:
    """Ours: constraints are Meta, pushed into the member of a union that they fit."""
    with pytest.raises(msgspec.ValidationError, match=where):
        decode(raw)


def test_aliases_hold_in_both_directions() -> None:
    """Ours: one naming rule; FIELD row 110."""

    class Shelf(Model):
        code: str = Field("a1", alias="shelfCode", max_length=2)
        size: int = Field(alias="shelfSize")

    shelf = decode(b'{"shelfCode":"b2","shelfSize":1}', Shelf)
    assert (shelf.code, shelf.size) == ("b2", 1)
    assert msgspec.json.encode(shelf) == b'{"shelfCode":"b2","shelfSize":1}'
    with pytest.raises(msgspec.ValidationError, match="shelfCode"):
        decode(b'{"shelfCode":"abc","shelfSize":1}', Shelf)


def test_local_classes_and_generics_resolve_with_string_annotations() -> None:
    """Ours: FIELD row 98."""

    class Part(Model):
        n: int = Field(lt=9)

    class Whole(Model, Generic[T]):
        parts: list[Part] = Field(min_length=1)
        extra: T

    assert decode(b'{"parts":[{"n":1}],"extra":"e"}', Whole[str]).parts[0] == Part(n=1)
    for raw in (b'{"parts":[],"extra":"e"}', b'{"parts":[{"n":9}],"extra":"e"}', b'{"parts":[{"n":1}],"extra":1}'):
        with pytest.raises(msgspec.ValidationError):
            decode(raw, Whole[str])


def test_a_constraint_that_fits_no_member_is_refused_by_name() -> None:
    """Ours: our user reads which field."""
    with pytest.raises(TypeError, match=r"Wrong\.x: constraint multiple_of fits no member"):

        class Wrong(Model):
            x: str | None = Field(multiple_of=2)


def test_field_stands_in_annotated_for_any_class_of_msgspec() -> None:
    """Ours: Field is a Meta."""
    assert isinstance(Field(ge=1), msgspec.Meta)
    assert decode(b"5", Annotated[int, Field(ge=5)]) == 5
    with pytest.raises(msgspec.ValidationError):
        decode(b"4", Annotated[int, Field(ge=5)])


def test_contradictions_are_refused() -> None:
    """Ours: at import, not at the first call."""
    with pytest.raises(ValueError, match="not both"):
        Field(1, default_factory=int)
    with pytest.raises(ValueError, match="gt"):
        Field(gt=1, ge=1)
    with pytest.raises(ValueError, match="no meaning in JSON Schema"):
        Field(pattern="(?i)a")


@pytest.mark.parametrize("name", ["", "a b", "é", "a:b", "a\n"])
def test_a_header_name_is_an_http_token(name: str) -> None:
    """Spec: RFC 9110 5.1."""
    with pytest.raises(ValueError, match="HTTP field name"):
        Header(name)
    assert repr(Header("Region")) == "Header('Region')"


def test_pydantic_and_annotated_types_are_never_imported() -> None:
    """Ours: API "pydantic is never imported"."""
    code = (
        "import sys, leanmcp.fields, leanmcp.server.signature as s, leanmcp.server.recover\n"
        "def f(a: int, b: str = ''): ...\n"
        "t = s.Signature(f, tool_name='f')\n"
        "try: t.recover(b'{}')\n"
        "except s.InvalidArguments: pass\n"
        "print([m for m in ('pydantic', 'annotated_types', 'attrs', 'attr') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
