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
from .error import InvalidValue, SchemaError
from .faults import TOO_COMPLEX, Fault, listing
from .fold import fold
from .ir import Node
from .profiles import PROFILES, Profile

__all__ = ["Validator", "validator_of"]

MAX_KEPT = 256  # validators


class Validator:
    """A compiled schema; any number of threads may use it at once.

    Values are plain JSON: None, bool, int, float, str, list, dict.
    """

    __slots__ = ("_profile", "_root", "_verdict")

    def __init__(self, root: Node, profile: Profile) -> None:
        self._root = root
        self._profile = profile
        # Words are the interpreter's business.
        self._verdict: Callable[[Any], bool] = self._first if profile.max_generated else self._interpret

    @property
    def admits(self) -> frozenset[str]:
        """The JSON types of the values that may fit."""
        return self._root.admits

    def is_valid(self, value: Any) -> bool:
        """Tell whether a value fits; one that takes too many steps to tell does not."""
        try:
            return self._verdict(value)
        except OutOfSteps:
            return False
        except RecursionError:
            return self._interpreted(value)

    def faults(self, value: Any) -> list[Fault]:
        """Return everything that is wrong with a value, at most 120 faults; none where it fits."""
        try:
            fits = self._verdict(value)
        except OutOfSteps:
            return [Fault("", TOO_COMPLEX)]
        except RecursionError:
            fits = self._interpreted(value)
        return [] if fits else interpreter.faults(self._root, value, self._profile)

    def validate(self, value: Any) -> None:
        """Let a value pass that fits.

        Raises:
            InvalidValue: it does not; the text says everything that is wrong.
        """
        found = self.faults(value)
        if found:
            raise InvalidValue(found)

    def explain(self, value: Any) -> str:
        """Return everything that is wrong with a value, a line for each fault; an empty text where it fits."""
        return listing(self.faults(value))

    def fold(self, value: Any) -> Any:
        """Turn 5.0 into 5 where only integers fit, inside of a value that fits; return the value."""
        return fold(self._root, value, self._profile)

    def prepare(self) -> None:
        """Write the code that gives verdicts, where there is any; the first value that is checked would ask for it."""
        with _generating:
            if self._verdict == self._first:
                from . import generator  # fastjsonschema is loaded where a schema is met that it is used for

                self._verdict = generator.generate(self._root, self._profile) or self._interpret

    def _first(self, value: Any) -> bool:
        try:
            self.prepare()
        except (ImportError, OSError):  # no descriptor to read it with; the next value finds one, perhaps
            return self._interpret(value)
        return self._verdict(value)

    def _interpret(self, value: Any) -> bool:
        return interpreter.is_valid(self._root, value, self._profile)

    def _interpreted(self, value: Any) -> bool:
        """Tell whether a value fits that lies too deep for the stack of Python."""
        try:
            return self._interpret(value)
        except OutOfSteps:
            return False


_kept: dict[tuple[bytes, str], Validator] = {}
_lock = threading.Lock()
_generating = threading.Lock()


def validator_of(schema: object, profile: str) -> Validator:
    """Return the validator of a schema, made once; otherwise as `leanmcp.schema.compile`."""
    if profile not in PROFILES:
        raise ValueError(f"profile {profile!r}: give one of {', '.join(PROFILES)}")
    limits, text = PROFILES[profile], _json(schema)
    if len(text) > limits.max_size:
        raise SchemaError((), f"has {len(text)} bytes, over {limits.max_size}")
    # Members keep their order: it is the order of faults, so that another order is another schema.
    key = hashlib.sha256(text).digest(), limits.name
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
        raise SchemaError((), f"must be an object, true or false, not {type(schema).__name__}")
    try:
        text = json.dumps(schema, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise SchemaError((), "lies too deep") from None
    except (TypeError, ValueError) as error:
        raise SchemaError((), f"must be made of plain JSON values: {error}") from None
    return text.encode("utf-8", "surrogatepass")
