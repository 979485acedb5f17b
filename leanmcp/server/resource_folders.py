"""Files and folders as resources: the functions behind `add_file` and `add_directory`.

In: a path. Out: a function that gives a StoredFile for a URI's value, and what its entry says.
Spec 2026-07-28: server/resources, "file://" and "Security Considerations".
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

from ..errors import ResourceNotFoundError
from ..protocol.uri_template import UriTemplate
from .resource import ResourceSpec, parsed_uri
from .resource_files import StoredFile

__all__ = ["FILE_OPTIONS", "directory_function", "file_function"]

FILE_OPTIONS = tuple(
    name for name in ResourceSpec.__struct_fields__ if name not in ("size", "security", "timeout", "thread")
)
"""What can be said about a file or folder; the rest follows from what it is."""


def file_function(uri: str, path: str | os.PathLike[str], spec: ResourceSpec) -> Callable[..., Any]:
    """Return the function of one file; name, media type and size of `spec` are filled in from it.

    Raises:
        ValueError: a URI with variables.
        OSError: there is no such file.
    """
    if parsed_uri(uri) is not None:
        raise ValueError(f"resource {uri!r} has variables; serve a folder with add_directory(uri_template, path)")
    where = os.path.abspath(os.fspath(path))
    if not os.path.isfile(where):
        raise FileNotFoundError(f"resource {uri!r}: there is no file {where}")
    file = StoredFile(path=where, mime_type=spec.mime_type)
    spec.name = spec.name or os.path.basename(where)
    spec.mime_type = file.media_type
    spec.size = spec.size or os.path.getsize(where) or None  # 0 says the kernel of files that it makes up
    spec.thread = False

    def read() -> StoredFile:
        return file

    return read


def directory_function(
    template: str, path: str | os.PathLike[str], spec: ResourceSpec, *, hidden: bool
) -> Callable[..., Any]:
    """Return the function of the files below a folder.

    Args:
        hidden: whether files and folders whose names begin with a dot are served.

    Raises:
        ValueError: a URI without exactly one variable.
        OSError: there is no such folder.
    """
    parsed = parsed_uri(template)
    variable = _the_variable(template, parsed)
    root = os.path.realpath(os.fspath(path))
    if not os.path.isdir(root):
        raise NotADirectoryError(f"resource {template!r}: there is no folder {os.path.abspath(os.fspath(path))}")
    spec.name = spec.name or os.path.basename(root) or template
    spec.thread = False
    mime_type = spec.mime_type

    def read(**values: Any) -> StoredFile:
        value = values[variable]
        segments = value if isinstance(value, list) else value.split("/")
        for segment in segments:
            # On top of ResourceSecurity, which may be switched off: nothing that is no plain name gets into a path.
            if segment in ("", ".", "..") or "/" in segment or os.sep in segment or "\0" in segment:
                raise ResourceNotFoundError
            if segment.startswith(".") and not hidden:
                raise ResourceNotFoundError
        if not segments:
            raise ResourceNotFoundError
        return StoredFile(path=os.path.join(root, *segments), root=root, mime_type=mime_type)

    kind: Any = list[str] if parsed is not None and parsed.variables[0].explode else str
    parameter = inspect.Parameter(variable, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
    read.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]  # read by `inspect`
    return read


def _the_variable(template: str, parsed: UriTemplate | None) -> str:
    variables = [] if parsed is None else parsed.variables
    if len(variables) != 1 or not variables[0].name.isidentifier() or variables[0].operator in ("?", "&", "#"):
        raise ValueError(
            f"resource {template!r}: a folder is served below a URI with one variable for the path, "
            "such as 'docs://{+path}', or 'docs://{name}' for one folder without those below it"
        )
    return variables[0].name
