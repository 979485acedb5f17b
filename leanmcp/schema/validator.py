"""A schema made ready: checked, limited, compiled once, kept by its bytes.

In: a schema of plain JSON values. Out: a `Validator`.
Spec 2026-07-28: basic/index, "JSON Schema Usage". JSON Schema 2020-12, 2019-09, drafts 07, 06 and 04.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Any

from . import interpreter
from .assertions import OutOfSteps
from .compiler import compile_documents
from .documents import Documents
from .error import SchemaError
from .faults import TOO_COMPLEX, Fault
from .fold import fold
from .ir import Node
from .profiles import PROFILES, Profile

__all__ = ["SchemaError", "Validator", "compile_schema"]

MAX_KEPT = 256  # validators


class Validator:
    """A compiled schema; any number of threads may use it at once.

    Values are plain JSON: None, bool, int, float, str, list, dict.
    """

    __slots__ = ("_profile", "_root", "_verdict")

    def __init__(self, root: Node, profile: Profile) -> None:
        self._root = root
        self._profile = profile
        # The seam for generated code: whatever stands here gives the verdict; words are the interpreter's business.
        self._verdict: Callable[[Any], bool] = self._interpret

    def is_valid(self, value: Any) -> bool:
        """Tell whether a value fits; one that takes too many steps to tell does not."""
        try:
            return self._verdict(value)
        except OutOfSteps:
            return False

    def faults(self, value: Any) -> list[Fault]:
        """Return everything that is wrong with a value, at most 120 faults; none where it fits."""
        try:
            fits = self._verdict(value)
        except OutOfSteps:
            return [Fault("", TOO_COMPLEX)]
        return [] if fits else interpreter.faults(self._root, value, self._profile)

    def fold(self, value: Any) -> Any:
        """Turn 5.0 into 5 where only integers fit, inside of a value that fits; return the value."""
        return fold(self._root, value, self._profile)

    def _interpret(self, value: Any) -> bool:
        return interpreter.is_valid(self._root, value, self._profile)


_kept: dict[tuple[bytes, str], Validator] = {}
_lock = threading.Lock()


def compile_schema(schema: object, *, profile: str = "trusted") -> Validator:
    """Return the validator of a schema; the same schema is compiled once.

    Raises:
        SchemaError: it is no schema, or one that cannot be enforced; the text has the JSON pointer of what is wrong.
        ValueError: no such profile.
    """
    if profile not in PROFILES:
        raise ValueError(f"profile {profile!r}: give one of {', '.join(PROFILES)}")
    limits = PROFILES[profile]
    text = _json(schema)
    if len(text) > limits.max_size:
        raise SchemaError((), f"has {len(text)} bytes, over {limits.max_size}", keyword=False)
    # Members keep their order: it is the order of faults, so that another order is another schema.
    key = hashlib.sha256(text).digest(), profile
    with _lock:
        known = _kept.pop(key, None)
        if known is not None:
            _kept[key] = known  # the last one used goes last
            return known
    # A copy, so that nobody changes it later, and no part of it stands in two places.
    validator = Validator(compile_documents(Documents(json.loads(text), limits), limits), limits)
    with _lock:
        _kept[key] = validator
        while len(_kept) > MAX_KEPT:
            del _kept[next(iter(_kept))]
    return validator


def _json(schema: object) -> bytes:
    """Return a schema as JSON."""
    if not isinstance(schema, dict | bool):
        raise SchemaError((), f"must be an object, true or false, not {type(schema).__name__}", keyword=False)
    try:
        text = json.dumps(schema, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise SchemaError((), "lies too deep", keyword=False) from None
    except (TypeError, ValueError) as error:
        raise SchemaError((), f"must be made of plain JSON values: {error}", keyword=False) from None
    return text.encode("utf-8", "surrogatepass")
