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
from .ir import ALL_KINDS, Choice, Matcher, Node
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
        compiler.fill(*compiler.pending.pop())
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
                raise SchemaError((), f"has over {self.profile.max_nodes} subschemas", keyword=False)
            node = self._known[id(schema), scope] = Node(pointer(position.place))
            self.nodes.append(node)
            self.pending.append((node, position, scope))
        return node

    def _entered(self, resource: Resource, scope: Scope) -> Scope:
        names = self.documents.dynamic_names.intersection(resource.dynamic)
        if not names:
            return scope
        return tuple(sorted({**dict.fromkeys(names, resource.uri), **dict(scope)}.items()))

    def fill(self, node: Node, position: Position, scope: Scope) -> None:
        """Read the keywords of one subschema."""
        schema, dialect = position.schema, position.resource.dialect
        node.same = self._references(position, scope)
        if isinstance(title := schema.get("title"), str):
            node.title = title
        if dialect.alone and node.same:
            return
        for keyword, value in schema.items():
            read = READERS.get(keyword)
            if read is not None and keyword in dialect.keywords:
                try:
                    read(self, node, keyword, value, position, scope)
                except _Wrong as wrong:
                    raise SchemaError((*position.place, keyword), str(wrong)) from None

    def _references(self, position: Position, scope: Scope) -> tuple[Node, ...]:
        found = []
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            target = self.documents.targets.get((id(position.schema), keyword))
            if target is None:
                continue
            goal = target.position
            outermost = dict(scope).get(target.dynamic) if target.dynamic is not None else None
            if outermost is not None and target.dynamic is not None:
                goal = self.documents.resources[outermost].dynamic[target.dynamic]
            found.append(self.node(goal, scope))
        return tuple(found)

    def inner(self, schema: Any, position: Position, scope: Scope) -> Node:
        """Return the node of a subschema of the schema at `position`."""
        known = self.documents.positions.get(id(schema)) if isinstance(schema, dict) else None
        return self.node(known or Position(schema, position.resource, position.place), scope)

    def matcher(self, pattern: str) -> Matcher:
        found = self._matchers.get(pattern)
        if found is None:
            try:
                found = self._matchers[pattern] = matcher(pattern, self.profile)
            except ValueError as error:
                raise _Wrong(f"cannot be enforced: {error}") from None
        return found

    # One method for each shape of keyword ---------------------------------------------------------------------------

    def _type(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        node.names = (value,) if isinstance(value, str) else tuple(value)
        node.kinds = frozenset(node.names) | ({"integer"} if "number" in node.names else set())

    def _choice(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        values = (value,) if keyword == "const" else tuple(value)
        _bound_choices(values, self.profile)
        texts = frozenset(choice for choice in values if isinstance(choice, str))
        others = tuple(choice for choice in values if not isinstance(choice, str))
        node.choices = (*node.choices, Choice(values, texts, others))

    def _bound(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        name = BOUNDS[keyword]
        schema = position.schema
        if position.resource.dialect.number == 4:
            if isinstance(value, bool):
                return
            if schema.get(f"exclusive{keyword.capitalize()}") is True:
                name = {"ge": "gt", "le": "lt"}[name]
        node.numbers = (*node.numbers, (name, value, exact(value) if name == "multiple_of" else 0))

    def _count(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        setattr(node, COUNTS[keyword], int(value))

    def _contains_count(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        setattr(node, "min_contains" if keyword == "minContains" else "max_contains", int(value))

    def _pattern(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        node.pattern = self.matcher(value)

    def _unique(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        node.unique = value

    def _required(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        node.required = tuple(value)

    def _required_with(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        node.required_with = tuple((name, tuple(names)) for name, names in value.items())

    def _dependencies(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        if position.resource.dialect.number <= 7:
            lists = {name: names for name, names in value.items() if isinstance(names, list)}
            self._required_with(node, keyword, lists, position, scope)
            schemas = {name: schema for name, schema in value.items() if name not in lists}
            self._dependent(node, keyword, schemas, position, scope)

    def _dependent(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        node.dependent = tuple((name, self.inner(schema, position, scope)) for name, schema in value.items())

    def _properties(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        node.properties = {name: self.inner(schema, position, scope) for name, schema in value.items()}

    def _patterns(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        node.patterns = tuple((self.matcher(text), self.inner(inner, position, scope)) for text, inner in value.items())

    def _one(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        setattr(node, ONE[keyword], self.inner(value, position, scope))
        if keyword == "contains":
            node.contains_marks = position.resource.dialect.number >= 2020

    def _several(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        setattr(node, SEVERAL[keyword], tuple(self.inner(schema, position, scope) for schema in value))

    def _then(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        if "if" in position.schema:
            setattr(node, "then" if keyword == "then" else "otherwise", self.inner(value, position, scope))

    def _items(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        if isinstance(value, list):
            node.prefix = tuple(self.inner(schema, position, scope) for schema in value)
        else:
            node.rest = self.inner(value, position, scope)

    def _further_items(self, node: Node, keyword: str, value: Any, position: Position, scope: Scope) -> None:
        if isinstance(position.schema.get("items"), list):
            node.rest = self.inner(value, position, scope)


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


Read = Callable[[_Compiler, Node, str, Any, Position, Scope], None]
READERS: dict[str, Read] = {
    "type": _Compiler._type,
    "enum": _Compiler._choice,
    "const": _Compiler._choice,
    **dict.fromkeys(BOUNDS, _Compiler._bound),
    **dict.fromkeys(COUNTS, _Compiler._count),
    **dict.fromkeys(("minContains", "maxContains"), _Compiler._contains_count),
    "pattern": _Compiler._pattern,
    "uniqueItems": _Compiler._unique,
    "required": _Compiler._required,
    "dependentRequired": _Compiler._required_with,
    "dependencies": _Compiler._dependencies,
    "dependentSchemas": _Compiler._dependent,
    "properties": _Compiler._properties,
    "patternProperties": _Compiler._patterns,
    **dict.fromkeys(ONE, _Compiler._one),
    **dict.fromkeys(SEVERAL, _Compiler._several),
    "then": _Compiler._then,
    "else": _Compiler._then,
    "items": _Compiler._items,
    "prefixItems": _Compiler._items,
    "additionalItems": _Compiler._further_items,
}
