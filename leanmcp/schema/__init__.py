"""JSON Schema: schemas compiled to validators, faults of a value against a schema, and their wording.

    validator = leanmcp.schema.compile({"type": "object", "properties": {"limit": {"maximum": 50}}})
    validator.is_valid({"limit": 20})      # True
    validator.explain({"limit": 500})      # limit: Input should be less than or equal to 50, got 500

Dialects: 2020-12, and 2019-09, draft-07, draft-06 and draft-04 where `$schema` says so. `format` and `content*` are
annotations. Nothing is fetched: a reference that leads out of the schema is an error. Values are plain JSON.

A profile says who wrote the schema. "trusted": oneself. Verdicts come from Python code made of the schema, none of
whose text gets into that code; values may still be a stranger's. "untrusted": anybody. No code is made of it, and its
size, its patterns and the steps of a check have tight limits.

What validates is loaded by the first use of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .error import InvalidValue, SchemaError
    from .faults import Fault
    from .validator import Validator

__all__ = ["Fault", "InvalidValue", "SchemaError", "Validator", "compile", "explain", "validate"]


def compile(schema: object, *, profile: str = "trusted", eager: bool = False) -> Validator:  # noqa: A001 - as in `re`
    """Return the validator of a schema, of 2020-12 where `$schema` says nothing else.

    Validators are kept by the bytes of their schema: the same schema is compiled once.

    Args:
        schema: a dict or a bool of plain JSON values; it is copied.
        profile: "trusted" for a schema of one's own, "untrusted" for a stranger's.
        eager: write the code of a trusted schema now instead of for the first value, which saves that one 0.1 to 70 ms.

    Raises:
        SchemaError: it is no schema, or one that cannot be enforced; the text and `pointer` say where.
        ValueError: no such profile.
    """
    from .validator import validator_of

    validator = validator_of(schema, profile)
    if eager:
        validator.prepare()
    return validator


def validate(schema: object, value: object, *, profile: str = "trusted") -> None:
    """Check a value against a schema; to check many, keep what `compile` returns. `profile` as there.

    Raises:
        InvalidValue: the value does not fit; the text says everything that is wrong.
        SchemaError: it is no schema, or one that cannot be enforced.
        TypeError, ValueError: the value stands in place of the schema.
    """
    _check_order("validate", schema, value)
    compile(schema, profile=profile).validate(value)


def explain(schema: object, value: object, *, profile: str = "trusted") -> str:
    """Return everything that is wrong with a value, a line for each fault; an empty text where it fits. As `validate`.

    Raises:
        SchemaError: it is no schema, or one that cannot be enforced.
        TypeError, ValueError: the value stands in place of the schema.
    """
    _check_order("explain", schema, value)
    return compile(schema, profile=profile).explain(value)


# They say something about values, but refuse none; and many a value has members of these names.
_ABOUT = {"title", "description", "default", "examples", "format", "definitions", "deprecated", "readOnly", "writeOnly"}


def _check_order(function: str, schema: object, value: object) -> None:
    """Refuse arguments in the order of other libraries: a value without keywords is a schema that admits everything.

    Raises:
        TypeError, ValueError: the second argument is a schema, and the first one is none, or refuses nothing.
    """
    if isinstance(schema, bool) or schema == {} or not isinstance(value, dict):
        return
    order = f"leanmcp.schema.{function}(schema, value) takes the schema first"
    if not isinstance(schema, dict):
        if _refuses(value):
            raise TypeError(f"{order}, a dict or a bool; here the second argument is one, and the first is none")
    elif not _refuses(schema) and _refuses(value):
        raise ValueError(f"{order}; here the second argument is one, and the first has no keyword of a schema")


def _refuses(schema: dict[Any, Any]) -> bool:
    """Return whether it is a schema with a keyword that values may not fit."""
    from .dialects import DIALECTS
    from .error import SchemaError

    known = {keyword for dialect in DIALECTS.values() for keyword in dialect.keywords} - _ABOUT
    if known.isdisjoint(schema):
        return False
    try:
        compile(schema)
    except SchemaError:
        return False
    return True


def __getattr__(name: str) -> object:
    if name in ("Fault", "InvalidValue", "SchemaError", "Validator"):
        from . import error, faults, validator

        return next(getattr(module, name) for module in (faults, error, validator) if hasattr(module, name))
    raise AttributeError(f"module 'leanmcp.schema' has no attribute {name!r}")
