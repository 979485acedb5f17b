"""Where the subschemas of a schema are, what they are called, and what each reference names.

In: a schema as plain values. Out: `Documents`, with every reference resolved; nothing is ever fetched.
Only what stands where a schema stands is a schema: data inside of const, enum, default and examples is never looked at.
JSON Schema 2020-12: core 8.2 "Base URI, Anchors, and Dereferencing", 9.4.2 "References to Possible Non-Schemas".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from msgspec import Struct, field

from .dialects import DIALECTS, LATEST, Dialect, dialect_of, wrong
from .error import Place, SchemaError
from .profiles import Profile

__all__ = ["Documents", "Position", "Resource"]

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
RECURSIVE = ""  # the name under which `$recursiveAnchor` is kept; no anchor is empty


class Resource(Struct, eq=False):
    """A schema with a URI of its own.

    Args:
        anchors: plain names to subschemas; `dynamic` are those of `$dynamicAnchor`.
    """

    uri: str
    root: Any
    place: Place
    dialect: Dialect
    anchors: dict[str, Position] = field(default_factory=dict)
    dynamic: dict[str, Position] = field(default_factory=dict)


class Position(Struct, eq=False):
    """A subschema where it stands."""

    schema: Any
    resource: Resource
    place: Place
    depth: int = 0


class Target(Struct, frozen=True):
    """What a reference names; `dynamic` is the anchor to look up in the dynamic scope, None for none."""

    position: Position
    dynamic: str | None = None


class Documents:
    """The index of one schema, and of the metaschemas that it refers to.

    Raises:
        SchemaError: unsupported dialect, a keyword with a wrong value, a reference that leads nowhere or away, limits.
    """

    def __init__(self, schema: Any, profile: Profile) -> None:
        self.positions: dict[int, Position] = {}
        self.resources: dict[str, Resource] = {}
        self.targets: dict[tuple[int, str], Target] = {}
        self.dynamic_names: set[str] = set()
        self._profile = profile
        self._pending: list[tuple[Position, str, str]] = []
        self.root = self._add_document("", schema)
        while self._pending:
            position, keyword, text = self._pending.pop()
            self.targets[id(position.schema), keyword] = self._resolve(position, keyword, text)

    # Index ----------------------------------------------------------------------------------------------------------

    def _add_document(self, uri: str, schema: Any) -> Position:
        resource = self.resources[uri] = Resource(uri, schema, (), LATEST)
        root = Position(schema, resource, ())
        self._walk(root)
        return root

    def _walk(self, start: Position) -> None:
        todo = [start]
        while todo:
            position = todo.pop()
            schema = position.schema
            if isinstance(schema, bool):
                if position.resource.dialect.number == 4 and not _may_be_flag(position):
                    raise SchemaError(position.place, "must be an object in draft-04", keyword=False)
                continue
            if not isinstance(schema, dict):
                raise SchemaError(position.place, "must be a schema: an object, true or false", keyword=False)
            if position.depth > self._profile.max_depth:
                raise SchemaError(
                    position.place, f"lies too deep, over {self._profile.max_depth} levels", keyword=False
                )
            if len(self.positions) >= self._profile.max_nodes:
                raise SchemaError((), f"has over {self._profile.max_nodes} subschemas")
            self._enter(position)
            self.positions[id(schema)] = position
            self._note(position)
            todo += reversed(list(self._below(position)))

    def _enter(self, position: Position) -> None:
        """Give a subschema with an identifier its own resource, and a resource its dialect."""
        schema, outer = position.schema, position.resource
        is_root = schema is outer.root
        declared = schema.get("$schema")
        dialect = outer.dialect
        if "$schema" in schema:
            found = dialect_of(declared)
            if found is None:
                known = ", ".join(DIALECTS)
                raise SchemaError(
                    (*position.place, "$schema"),
                    f"names an unsupported dialect, {str(declared)[:80]!r}; known: {known}",
                )
            dialect = found
        identifier = schema.get(dialect.identifier)
        if dialect.alone and "$ref" in schema and not is_root:
            identifier = None
        uri, fragment = urldefrag(identifier) if isinstance(identifier, str) else ("", "")
        if uri and not (is_root and not position.place and outer.uri in METASCHEMA_URIS):
            resource = Resource(_join(outer.uri, uri), schema, position.place, dialect)
            if self.resources.setdefault(resource.uri, resource) is not resource:
                raise SchemaError((*position.place, dialect.identifier), f"is the second {resource.uri[:80]!r}")
            position.resource = resource
        elif is_root:
            outer.dialect = dialect
        elif dialect is not outer.dialect:
            raise SchemaError((*position.place, "$schema"), "changes the dialect; that needs an $id beside it")
        if fragment and dialect.alone:
            self._name(position, position.resource.anchors, fragment, dialect.identifier)

    def _note(self, position: Position) -> None:
        """Check the value of each keyword; keep anchors and references."""
        schema, resource = position.schema, position.resource
        for keyword, value in schema.items():
            kind = resource.dialect.keywords.get(keyword)
            problem = wrong(kind, value) if kind is not None else None
            if problem:
                raise SchemaError((*position.place, keyword), problem)
        number = resource.dialect.number
        for bound in ("minimum", "maximum") if number == 4 else ():
            exclusive = f"exclusive{bound.capitalize()}"
            if exclusive in schema and bound not in schema:
                raise SchemaError((*position.place, exclusive), f"stands without {bound!r}")
        if "$anchor" in schema and number >= 2019:
            self._name(position, resource.anchors, schema["$anchor"], "$anchor")
        if "$dynamicAnchor" in schema and number >= 2020:
            self._name(position, resource.anchors, schema["$dynamicAnchor"], "$dynamicAnchor")
            resource.dynamic[schema["$dynamicAnchor"]] = position
        if number == 2019 and schema.get("$recursiveAnchor") is True and schema is resource.root:
            resource.dynamic[RECURSIVE] = position
        for keyword in REFERENCES if number >= 2020 else REFERENCES[::2] if number == 2019 else REFERENCES[:1]:
            if keyword in schema and not (keyword == "$recursiveRef" and number == 2020):
                self._pending.append((position, keyword, schema[keyword]))

    def _name(self, position: Position, names: dict[str, Position], name: str, keyword: str) -> None:
        if names.setdefault(name, position) is not position:
            raise SchemaError((*position.place, keyword), f"is the second {name[:80]!r}")

    def _below(self, position: Position) -> Iterator[Position]:
        """Yield the subschemas that a subschema holds."""
        for keyword, value in position.schema.items():
            kind = position.resource.dialect.keywords.get(keyword)
            if kind not in SUBSCHEMAS:
                continue
            place = (*position.place, keyword)
            if isinstance(value, dict) and kind in ("schemas by name", "dependencies"):
                for name, inner in value.items():
                    if kind == "schemas by name" or not isinstance(inner, list):
                        yield Position(inner, position.resource, (*place, name), position.depth + 1)
                    elif problem := wrong("some names" if position.resource.dialect.number == 4 else "names", inner):
                        raise SchemaError((*place, name), problem)
            elif isinstance(value, list) and kind in ("schemas", "schema or schemas"):
                for index, inner in enumerate(value):
                    yield Position(inner, position.resource, (*place, index), position.depth + 1)
            else:
                yield Position(value, position.resource, place, position.depth + 1)

    # References -----------------------------------------------------------------------------------------------------

    def _resolve(self, position: Position, keyword: str, text: str) -> Target:
        uri, fragment = urldefrag(_join(position.resource.uri, text))
        resource = self.resources.get(uri) or self._metaschema(uri)
        place = (*position.place, keyword)
        if resource is None:
            raise SchemaError(place, f"is {text[:80]!r}, which is not part of the schema; nothing is fetched")
        fragment = unquote(fragment)
        if not fragment:
            target = Position(resource.root, resource, resource.place)
        elif fragment.startswith("/"):
            target = self._follow(resource, fragment, place, text)
        elif fragment in resource.anchors:
            target = resource.anchors[fragment]
        else:
            raise _nowhere(place, text)
        dynamic: str | None = None
        if keyword == "$dynamicRef" and resource.dynamic.get(fragment) is target:
            dynamic = fragment
        elif keyword == "$recursiveRef" and RECURSIVE in resource.dynamic:
            dynamic = RECURSIVE
        if dynamic is not None:
            self.dynamic_names.add(dynamic)
        return Target(target, dynamic)

    def _metaschema(self, uri: str) -> Resource | None:
        if uri not in METASCHEMA_URIS:
            return None
        from .metaschema import metaschema

        return self._add_document(uri, metaschema(DIALECTS[uri])).resource

    def _follow(self, resource: Resource, fragment: str, place: Place, text: str) -> Position:
        """Follow a JSON pointer, also to a schema where no keyword of ours has one."""
        here, owner, path = resource.root, resource, resource.place
        for part in fragment.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(here, dict) and name in here:
                here = here[name]
                path = (*path, name)
            elif isinstance(here, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(here):
                here = here[int(name)]
                path = (*path, int(name))
            else:
                raise _nowhere(place, text)
            if isinstance(here, dict) and id(here) in self.positions:
                owner = self.positions[id(here)].resource
        if not isinstance(here, dict | bool):
            raise _nowhere(place, text)
        position = self.positions.get(id(here)) if isinstance(here, dict) else None
        if position is None:
            position = Position(here, owner, path, len(path))
            self._walk(position)
        return position


METASCHEMA_URIS = frozenset(DIALECTS)
SUBSCHEMAS = frozenset(("schema", "schema or flag", "schemas", "schema or schemas", "schemas by name", "dependencies"))


def _nowhere(place: Place, text: str) -> SchemaError:
    return SchemaError(place, f"is {text[:80]!r}, where there is no subschema")


def _may_be_flag(position: Position) -> bool:
    return bool(position.place) and position.place[-1] in ("additionalProperties", "additionalItems")


def _join(base: str, reference: str) -> str:
    """Resolve a URI reference; `urljoin` gives up on schemes that it does not know, such as `urn:`."""
    if reference.startswith("#"):
        return base.partition("#")[0] + reference
    return urljoin(base, reference)
