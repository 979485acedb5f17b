"""Indexed documents to the intermediate representation.

In: `Documents`. Out: the root `Node`; one node for each subschema and each dynamic scope that it can be met in, so that
`$dynamicRef` and `$recursiveRef` name one node and nothing is looked up while a value is checked.
JSON Schema 2020-12: core 7.1 "Lexical Scope and Dynamic Scope", 8.2.3.2 "Dynamic References with `$dynamicRef`".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .documents import Documents, Position, Resource
from .error import SchemaError, pointer
from .finish import finish
from .ir import ALL_KINDS, Matcher, Node, choice_of
from .matchers import matcher
from .profiles import Profile
from .values import exact

__all__ = ["compile_documents"]

Scope = tuple[tuple[str, str], ...]
"""Dynamic anchors, each with the URI of the outermost resource that has it."""
BOUNDS = {
    "minimum": "ge",
    "exclusiveMinimum": "gt",
    "maximum": "le",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
COUNTS = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_items",
    "maxItems": "max_items",
    "minProperties": "min_members",
    "maxProperties": "max_members",
    "minContains": "min_contains",
    "maxContains": "max_contains",
}
ONE = {
    "additionalProperties": "additional",
    "propertyNames": "member_names",
    "contains": "contains",
    "not": "negated",
    "if": "condition",
    "unevaluatedProperties": "unevaluated_names",
    "unevaluatedItems": "unevaluated_items",
}
SEVERAL = {"allOf": "all_of", "anyOf": "any_of", "oneOf": "one_of"}


def compile_documents(documents: Documents, profile: Profile) -> Node:
    """Return the root node.

    Raises:
        SchemaError: a pattern that cannot be matched, endless references, limits.
    """
    compiler = _Compiler(documents, profile)
    root = compiler.node(documents.root, ())
    while compiler.pending:
        _Reading(compiler, *compiler.pending.pop()).fill()
    finish(compiler.nodes, profile)
    return root


class _Compiler:
    """Makes nodes by need; each waits in `pending` until its keywords are read, so that nothing recurses."""

    def __init__(self, documents: Documents, profile: Profile) -> None:
        self.documents = documents
        self.profile = profile
        self.nodes: list[Node] = []
        self.pending: list[tuple[Node, Position, Scope]] = []
        self._known: dict[tuple[int, Scope], Node] = {}
        self._matchers: dict[str, Matcher] = {}

    def node(self, position: Position, scope: Scope) -> Node:
        """Return the node of a subschema in a dynamic scope."""
        schema = position.schema
        if isinstance(schema, bool):
            return Node(pointer(position.place), verdict=schema, admits=ALL_KINDS if schema else frozenset())
        scope = self._entered(position.resource, scope)
        node = self._known.get((id(schema), scope))
        if node is None:
            if len(self.nodes) >= self.profile.max_nodes:
                raise SchemaError((), f"has over {self.profile.max_nodes} subschemas")
            node = self._known[id(schema), scope] = Node(pointer(position.place))
            self.nodes.append(node)
            self.pending.append((node, position, scope))
        return node

    def _entered(self, resource: Resource, scope: Scope) -> Scope:
        names = self.documents.dynamic_names.intersection(resource.dynamic)
        if not names:
            return scope
        return tuple(sorted({**dict.fromkeys(names, resource.uri), **dict(scope)}.items()))

    def matcher(self, pattern: str) -> Matcher:
        found = self._matchers.get(pattern)
        if found is None:
            try:
                found = self._matchers[pattern] = matcher(pattern, self.profile)
            except ValueError as error:
                raise _Wrong(f"cannot be enforced: {error}") from None
        return found


class _Reading:
    """One subschema on its way into its node."""

    def __init__(self, compiler: _Compiler, node: Node, position: Position, scope: Scope) -> None:
        self._compiler = compiler
        self.node = node
        self.position = position
        self.schema: dict[str, Any] = position.schema
        self.dialect = position.resource.dialect
        self._scope = scope

    def fill(self) -> None:
        """Read the keywords into the node."""
        self.node.same = self._references()
        if isinstance(title := self.schema.get("title"), str):
            self.node.title = title
        if self.dialect.alone and self.node.same:
            return
        for keyword, value in self.schema.items():
            read = READERS.get(keyword)
            if read is not None and keyword in self.dialect.keywords:
                try:
                    read(self, keyword, value)
                except _Wrong as wrong:
                    raise SchemaError((*self.position.place, keyword), str(wrong)) from None

    def _references(self) -> tuple[Node, ...]:
        found, documents = [], self._compiler.documents
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            target = documents.targets.get((id(self.schema), keyword))
            if target is None:
                continue
            goal = target.position
            outermost = dict(self._scope).get(target.dynamic) if target.dynamic is not None else None
            if outermost is not None and target.dynamic is not None:
                goal = documents.resources[outermost].dynamic[target.dynamic]
            found.append(self._compiler.node(goal, self._scope))
        return tuple(found)

    def inner(self, schema: Any) -> Node:
        """Return the node of a subschema of this one."""
        known = self._compiler.documents.positions.get(id(schema)) if isinstance(schema, dict) else None
        here = known or Position(schema, self.position.resource, self.position.place)
        return self._compiler.node(here, self._scope)

    # One method for each shape of keyword ---------------------------------------------------------------------------

    def _type(self, keyword: str, value: Any) -> None:
        self.node.names = (value,) if isinstance(value, str) else tuple(value)
        self.node.kinds = frozenset(self.node.names) | ({"integer"} if "number" in self.node.names else set())

    def _choice(self, keyword: str, value: Any) -> None:
        values = (value,) if keyword == "const" else tuple(value)
        _bound_choices(values, self._compiler.profile)
        self.node.choices = (*self.node.choices, choice_of(values))

    def _bound(self, keyword: str, value: Any) -> None:
        name = BOUNDS[keyword]
        if self.dialect.number == 4:
            if isinstance(value, bool):
                return
            if self.schema.get(f"exclusive{keyword.capitalize()}") is True:
                name = {"ge": "gt", "le": "lt"}[name]
        self.node.numbers = (*self.node.numbers, (name, value, exact(value) if name == "multiple_of" else 0))

    def _count(self, keyword: str, value: Any) -> None:
        setattr(self.node, COUNTS[keyword], int(value))

    def _pattern(self, keyword: str, value: Any) -> None:
        self.node.pattern = self._compiler.matcher(value)

    def _unique(self, keyword: str, value: Any) -> None:
        self.node.unique = value

    def _required(self, keyword: str, value: Any) -> None:
        self.node.required = tuple(value)

    def _required_with(self, keyword: str, value: Any) -> None:
        self.node.required_with = tuple((name, tuple(names)) for name, names in value.items())

    def _dependencies(self, keyword: str, value: Any) -> None:
        if self.dialect.number <= 7:
            lists = {name: names for name, names in value.items() if isinstance(names, list)}
            self._required_with(keyword, lists)
            schemas = {name: schema for name, schema in value.items() if name not in lists}
            self._dependent(keyword, schemas)

    def _dependent(self, keyword: str, value: Any) -> None:
        self.node.dependent = tuple((name, self.inner(schema)) for name, schema in value.items())

    def _properties(self, keyword: str, value: Any) -> None:
        self.node.properties = {name: self.inner(schema) for name, schema in value.items()}

    def _patterns(self, keyword: str, value: Any) -> None:
        self.node.patterns = tuple((self._compiler.matcher(text), self.inner(inner)) for text, inner in value.items())

    def _one(self, keyword: str, value: Any) -> None:
        setattr(self.node, ONE[keyword], self.inner(value))
        if keyword == "contains":
            self.node.contains_marks = self.dialect.number >= 2020

    def _several(self, keyword: str, value: Any) -> None:
        setattr(self.node, SEVERAL[keyword], tuple(self.inner(schema) for schema in value))

    def _then(self, keyword: str, value: Any) -> None:
        if "if" in self.schema:
            setattr(self.node, "then" if keyword == "then" else "otherwise", self.inner(value))

    def _items(self, keyword: str, value: Any) -> None:
        if isinstance(value, list):
            self.node.prefix = tuple(self.inner(schema) for schema in value)
        else:
            self.node.rest = self.inner(value)

    def _further_items(self, keyword: str, value: Any) -> None:
        if isinstance(self.schema.get("items"), list):
            self.node.rest = self.inner(value)


class _Wrong(Exception):
    """The value of a keyword cannot be enforced; the text says why."""


def _bound_choices(values: tuple[Any, ...], profile: Profile) -> None:
    count = 0
    level: list[Any] = list(values)
    for _ in range(profile.max_choice_depth + 1):
        count += len(level)
        if count > profile.max_choices:
            raise _Wrong(f"holds over {profile.max_choices} values")
        level = [inner for value in level for inner in _inside(value)]
    if level:
        raise _Wrong(f"is nested over {profile.max_choice_depth} levels deep")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


Read = Callable[[_Reading, str, Any], None]
READERS: dict[str, Read] = {
    "type": _Reading._type,
    "enum": _Reading._choice,
    "const": _Reading._choice,
    **dict.fromkeys(BOUNDS, _Reading._bound),
    **dict.fromkeys(COUNTS, _Reading._count),
    "pattern": _Reading._pattern,
    "uniqueItems": _Reading._unique,
    "required": _Reading._required,
    "dependentRequired": _Reading._required_with,
    "dependencies": _Reading._dependencies,
    "dependentSchemas": _Reading._dependent,
    "properties": _Reading._properties,
    "patternProperties": _Reading._patterns,
    **dict.fromkeys(ONE, _Reading._one),
    **dict.fromkeys(SEVERAL, _Reading._several),
    "then": _Reading._then,
    "else": _Reading._then,
    "items": _Reading._items,
    "prefixItems": _Reading._items,
    "additionalItems": _Reading._further_items,
}
