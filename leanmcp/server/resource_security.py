"""What a URI may bring into a resource function: values that stay below where they are put.

In: the values that a template found in a URI, decoded. Out: what is wrong with them, or nothing.
Spec 2026-07-28: server/resources, "Security Considerations" 1 and 5.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec

from ..protocol.uri_template import Values, Variable

__all__ = ["DEFAULT_RESOURCE_SECURITY", "ResourceSecurity"]

_SEPARATOR = re.compile(r"[/\\]")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
# Decoded once, the value still holds an escape of what is refused: whoever decodes again would get it.
_ENCODED_AGAIN = re.compile(r"%(?:2e|2f|5c|00|25)", re.IGNORECASE)


class ResourceSecurity(msgspec.Struct, frozen=True, kw_only=True):
    """Which values of template variables are refused; what is refused counts as not found.

    The checks see each value percent-decoded, and each item of a list. They stop what is dangerous in a path wherever
    the value goes; a value that names a file still has to be joined with care, which `MCPServer.add_directory` does.

    Args:
        reject_path_traversal: `.` and `..` between slashes or backslashes, backslashes, and what another round of
            percent-decoding would turn into a dot, slash, backslash, NUL or percent sign.
        reject_encoded_slashes: `%2F` in a variable that holds one segment: any but `{+name}`, `{#name}` and those of a
            query.
        reject_absolute_paths: values that begin with a slash or a drive, which replace the folder they are joined to.
        reject_null_bytes: NUL, which ends a path early in C.
        exempt_params: names of variables that none of this applies to.
    """

    reject_path_traversal: bool = True
    reject_encoded_slashes: bool = True
    reject_absolute_paths: bool = True
    reject_null_bytes: bool = True
    exempt_params: Collection[str] = frozenset()

    def __post_init__(self) -> None:
        if isinstance(self.exempt_params, str):
            raise TypeError(f"exempt_params={self.exempt_params!r}: give a set of names")

    def fault(self, values: Values, variables: Sequence[Variable]) -> str | None:
        """Return one sentence about the first value that is refused, None where all may pass."""
        operators = {variable.name: variable.operator for variable in variables}
        for name, value in values.items():
            if name in self.exempt_params:
                continue
            for item in value if isinstance(value, list) else (value,):
                reason = self._reason(item, operators[name])
                if reason is not None:
                    return f"{name} {reason}"
        return None

    def _reason(self, value: str, operator: str) -> str | None:
        if self.reject_null_bytes and "\0" in value:
            return "holds a NUL character"
        if self.reject_path_traversal:
            if "\\" in value:
                return "holds a backslash"
            if _ENCODED_AGAIN.search(value):
                return "is percent-encoded twice"
            if "." in value and any(part in (".", "..") for part in _SEPARATOR.split(value)):
                return "holds a . or .. segment"
        if self.reject_encoded_slashes and "/" in value and operator not in ("+", "#", "?", "&"):
            return "holds an encoded slash"
        if self.reject_absolute_paths and (value.startswith(("/", "\\")) or _DRIVE.match(value)):
            return "is an absolute path"
        return None


DEFAULT_RESOURCE_SECURITY = ResourceSecurity()
