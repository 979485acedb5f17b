"""The ways in which a value is checked against a schema, each as a callable that makes another one.

In: a schema, and the name of its draft where it says nothing itself. Out: `validate(value) -> bool`, which never takes
longer than the steps of its profile allow. `../shared/tools/suite_runner.py` takes each by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leanmcp import schema as json_schema
from leanmcp.schema import interpreter
from leanmcp.schema.compiler import compile_documents
from leanmcp.schema.dialects import DIALECTS
from leanmcp.schema.documents import Documents
from leanmcp.schema.profiles import PROFILES

Validate = Callable[[Any], bool]
NUMBERS = {"draft2020-12": 2020, "draft2019-09": 2019, "draft7": 7, "draft6": 6, "draft4": 4}
URIS = {
    draft: next(uri for uri, dialect in DIALECTS.items() if dialect.number == number)
    for draft, number in NUMBERS.items()
}


def with_dialect(schema: Any, draft: str) -> Any:
    """Return a schema that says which dialect it is of."""
    return {"$schema": URIS[draft], **schema} if isinstance(schema, dict) else schema


def compiled(schema: Any, draft: str = "draft2020-12") -> Validate:
    """The verdict that a server gets, of generated code where there is some."""
    return json_schema.compile(with_dialect(schema, draft)).is_valid


def interpreted(schema: Any, draft: str = "draft2020-12") -> Validate:
    """The verdict of the interpreter, with all that a schema of one's own may have."""
    return _interpreter(schema, draft, "trusted")


def linear(schema: Any, draft: str = "draft2020-12") -> Validate:
    """The verdict of the interpreter with the linear matcher of patterns, as a stranger's schema gets it."""
    return _interpreter(schema, draft, "untrusted")


def _interpreter(schema: Any, draft: str, name: str) -> Validate:
    profile = PROFILES[name]
    root = compile_documents(Documents(with_dialect(schema, draft), profile), profile)

    def validate(value: Any) -> bool:
        verdict = interpreter.is_valid(root, value, profile)
        found = [] if verdict else interpreter.faults(root, value, profile)
        if verdict is bool(found):
            raise AssertionError(f"{'faults' if found else 'no faults'} of a value with the verdict {verdict}")
        return verdict

    return validate
