"""JSON Schema: schemas compiled to validators, faults of a value against a schema, and their wording.

`compile(schema)` returns a `Validator`. What validates is loaded by the first use of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .validator import SchemaError, Validator

__all__ = ["SchemaError", "Validator", "compile"]


def compile(schema: object, *, profile: str = "trusted") -> Validator:  # noqa: A001 - as in `re.compile`
    """Return the validator of a schema, of 2020-12 where `$schema` says nothing else.

    Args:
        profile: "trusted" for a schema of one's own, "untrusted" for a stranger's.

    Raises:
        SchemaError: it is no schema, or one that cannot be enforced; the text has the JSON pointer of what is wrong.
    """
    from .validator import compile_schema

    return compile_schema(schema, profile=profile)


def __getattr__(name: str) -> object:
    if name in ("SchemaError", "Validator"):
        from . import validator

        return getattr(validator, name)
    raise AttributeError(f"module 'leanmcp.schema' has no attribute {name!r}")
