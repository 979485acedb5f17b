"""Imports of the official SDK made into imports of leanmcp, and the names that change with them.

In: a Source. Out: edits in it; what leanmcp does not have, which stays as it is; and what local names mean, for
`migrating_uses`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ..elsewhere import RENAMED
from .migrating_names import Home, candidates, instead, instead_of_fastmcp, is_module, is_official, module_home
from .migrating_source import Left, Source

_WIDTH = 120  # columns of a line of ours
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


class _Item(NamedTuple):
    """One name of a `from ... import`, and what it becomes.

    Args:
        text: such as `MCPServer as Server`.
        module: where it is imported from.
        comments: those that go with it: on lines before, and behind it.
    """

    text: str
    module: str
    before: list[str]
    behind: list[str]


class Imports:
    """The imports of one file, rewritten.

    Attributes:
        left: what a person has to change.
        meanings: local name to what it is in leanmcp, as `leanmcp.MCPServer`.
        found: whether anything of the official SDK is imported.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.left: list[Left] = []
        self.meanings: dict[str, str] = {}
        nodes = list(ast.walk(source.tree))
        self._statements = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) and _concerns(node)]
        self.found = bool(self._statements)
        self.left += [left for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for left in _others(node)]
        if not self.found:
            return
        self._nodes = nodes
        self._official = {id(alias) for node in self._statements for alias in node.names}
        self._bound = _bindings(nodes)
        self._renames: dict[str, str] = {}
        for statement in self._statements:
            if isinstance(statement, ast.ImportFrom):
                self._from(statement)
        self._plain([statement for statement in self._statements if isinstance(statement, ast.Import)])
        self._rename_uses()

    # --- from ... import ... --------------------------------------------------------------------------------------

    def _from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.names[0].name == "*":
            self.left.append(Left(node.lineno, f"from {module} import *", "name what the file uses"))
            return
        options = [self._options(module, alias) for alias in node.names]
        common = [home for home in _modules(options) if all(home in {one.module for one in some} for some in options)]
        texts, modules = [], []
        for alias, some in zip(node.names, options, strict=True):
            if not some:
                self.left.append(Left(alias.lineno, f"{module}.{alias.name}", instead(module, alias.name)))
                texts.append(self.source.text_of(alias))
                modules.append(module)
                continue
            home = next(one for one in some if not common or one.module == common[0])
            texts.append(self._spelled(alias, home.name))
            modules.append(home.module)
            self.meanings[alias.asname or alias.name] = ".".join(home)
        if all(part == module for part in modules):
            return
        if len(set(modules)) > 1 or not self._in_place(node, module, modules[0], texts):
            self._split(node, texts, modules)

    def _options(self, module: str, alias: ast.alias) -> list[Home]:
        """Return where one name may be imported from; a module is a name of its package."""
        path = f"{module}.{alias.name}"
        found = candidates(module, alias.name)
        if found or not is_module(path):
            return found
        home = module_home(path)
        if home is None:
            return []
        self._check_members(path, alias.asname or alias.name, home)
        package, _, name = home.rpartition(".")
        return [Home(package, name)] if package else []

    def _spelled(self, alias: ast.alias, name: str) -> str:
        """Return what stands for a name in the statement, and note that its uses are renamed if they can be."""
        if name == alias.name:
            return self.source.text_of(alias)
        if alias.asname:
            return name if alias.asname == name else f"{name} as {alias.asname}"
        is_class = RENAMED.get(alias.name) == name
        if is_class and (self._renames.get(alias.name) == name or self._can_rename(alias.name, name)):
            self._renames[alias.name] = name
            return name
        return f"{name} as {alias.name}"

    def _can_rename(self, old: str, new: str) -> bool:
        """Return whether nothing else in the file has one of the two names."""
        others = {binder for name in (old, new) for binder in self._bound[name]} - self._official
        annotations = {id(node) for node in _written_annotations(self._nodes)}
        texts = [node for node in self._nodes if isinstance(node, ast.Constant) and id(node) not in annotations]
        return not others and all(node.value != old for node in texts)  # such as an entry of `__all__`

    def _in_place(self, node: ast.ImportFrom, old: str, new: str, texts: list[str]) -> bool:
        """Change nothing but the module, and names that are others; False where the statement is written strangely."""
        start, end = self.source.span(node)
        found = re.match(rf"from(?:\s|\\)+({re.escape(old)})(?=[\s\\])", self.source.text[start:end])
        if found is None:
            return False
        self.source.replace(start + found.start(1), start + found.end(1), new)
        for alias, text in zip(node.names, texts, strict=True):
            self.source.replace(*self.source.span(alias), text)
        return True

    def _split(self, node: ast.ImportFrom, texts: list[str], modules: list[str]) -> None:
        """Write a statement for each module, comments with the names that they stand beside."""
        items = _items(self.source, node, texts, modules)
        before = self.source.line_before(node)
        indent = before if not before.strip() else ""
        end = self.source.line_end
        groups: dict[str, list[_Item]] = defaultdict(list)
        for item in items:
            groups[item.module].append(item)
        official = [module for module in groups if is_official(module)]
        ordered = [module for module in groups if module not in official] + official
        statements = [_statement(module, groups[module], indent, end) for module in ordered]
        self.source.replace(*self.source.span(node), (end + indent if not before.strip() else "; ").join(statements))

    # --- import ... -----------------------------------------------------------------------------------------------

    def _plain(self, statements: list[ast.Import]) -> None:
        """Rewrite `import mcp`, `import mcp.types` and `import mcp.types as types`."""
        roots: list[tuple[ast.Import, ast.alias]] = []
        for node in statements:
            for alias in node.names:
                if not is_official(alias.name):
                    continue
                if alias.asname is None:
                    roots.append((node, alias))
                    continue
                home = module_home(alias.name)
                if home is None:
                    advice = "leanmcp has no such module; see what is said about the names that it is used for"
                    self.left.append(Left(node.lineno, alias.name, advice))
                    continue
                self._check_members(alias.name, alias.asname, home)
                self.source.replace(*self.source.span(alias), f"{home} as {alias.asname}")
        for root in sorted({alias.name.partition(".")[0] for _, alias in roots}):
            self._dotted(root, [alias for _, alias in roots if alias.name.partition(".")[0] == root])

    def _dotted(self, root: str, aliases: list[ast.alias]) -> None:
        """Rewrite `mcp.types.Tool` and its like, and the imports that they need."""
        if self._bound[root] - self._official:
            advice = f"the file has something else called {root!r}; import names with `from ... import ...`"
            self.left += [Left(alias.lineno, f"import {alias.name}", advice) for alias in aliases]
            return
        found = [self._dotted_use(chain, parts) for chain, parts in _chains(self._nodes, root)]
        needed = [module for module in found if module is not None]
        is_left = None in found
        homes = [module_home(alias.name) or "" for alias in aliases]
        if not any(homes) and not needed:
            if not is_left:
                advice = "leanmcp has no such module"
                self.left += [Left(alias.lineno, f"import {alias.name}", advice) for alias in aliases]
            return
        own = [home if home and (_covers(home, needed) or not is_left) else "" for home in homes]
        more = [home for home in sorted(set(needed)) if not _covers(home, own)]
        for position, (alias, home) in enumerate(zip(aliases, own, strict=True)):
            modules = [module for module in (alias.name if is_left or not home else "", home) if module]
            modules += more if position == 0 else []
            shown = [one for one in modules if not _covers(one, [other for other in modules if other != one])]
            self.source.replace(*self.source.span(alias), ", ".join(shown))

    def _dotted_use(self, chain: ast.Attribute | ast.Name, parts: list[str]) -> str | None:
        """Rewrite one `mcp.types.Tool`, and return the module that it needs; None where it stays as it is."""
        length = next((size for size in range(len(parts), 0, -1) if is_module(".".join(parts[:size]))), 1)
        module = ".".join(parts[:length])
        name = ".".join(parts[: length + 1])
        if length == len(parts):  # the module itself is handed on
            home = module_home(module)
            found = [] if home is None else [Home(home, "")]
        else:
            found = candidates(module, parts[length])
        if not found:
            self.left.append(Left(chain.lineno, name, instead(module, parts[min(length, len(parts) - 1)])))
            return None
        self.meanings[name] = ".".join(found[0])
        text = ".".join(found[0]).rstrip(".")
        if not self._put(chain, parts, min(length + 1, len(parts)), text):
            self.left.append(Left(chain.lineno, ".".join(parts), f"in this f-string, write {text}"))
        return found[0].module

    def _put(self, chain: ast.Attribute | ast.Name, parts: list[str], length: int, text: str) -> bool:
        """Replace the first names of a chain of attributes; False where they are not where the tree says."""
        node: ast.expr = chain
        for _ in range(len(parts) - length):
            assert isinstance(node, ast.Attribute)
            node = node.value
        if "".join(self.source.text_of(node).split()) != ".".join(parts[:length]):
            return False
        self.source.replace(*self.source.span(node), text)
        return True

    def _check_members(self, module: str, local: str, home: str) -> None:
        """Look at `local.NAME` wherever it stands, where `local` will be a module of leanmcp."""
        for node in self._nodes:
            if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == local):
                continue
            found = candidates(module, node.attr)
            if not found:
                self.left.append(Left(node.lineno, f"{local}.{node.attr}", instead(module, node.attr)))
            elif all(one.module != home for one in found):
                advice = f"from {found[0].module} import {found[0].name}"
                self.left.append(Left(node.lineno, f"{local}.{node.attr}", advice))
            elif found[0].name != node.attr:
                end = self.source.span(node)[1]
                self.source.replace(end - len(node.attr), end, found[0].name)
            self.meanings[f"{local}.{node.attr}"] = ".".join(found[0]) if found else ""

    def _rename_uses(self) -> None:
        """Write the new name wherever an old one is used, in annotations that are strings too."""
        for node in self._nodes:
            if isinstance(node, ast.Name) and node.id in self._renames:
                if self.source.text_of(node) == node.id:
                    self.source.replace(*self.source.span(node), self._renames[node.id])
                else:  # Python 3.11 does not know where the parts of an f-string are
                    self.left.append(Left(node.lineno, node.id, f"in this f-string, write {self._renames[node.id]}"))
        for text in _written_annotations(self._nodes):
            start, end = self.source.span(text)
            changed = self.source.text[start:end]
            for old, new in self._renames.items():
                changed = re.sub(rf"\b{re.escape(old)}\b", new, changed)
            self.source.replace(start, end, changed)


def _concerns(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and is_official(node.module)
    return any(is_official(alias.name) for alias in node.names)


def _others(node: ast.Import | ast.ImportFrom) -> Iterator[Left]:
    """Yield what is imported of FastMCP 2, which many take for the official SDK, and which has an API of its own."""
    names = [alias.name for alias in node.names]
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else names
    is_relative = isinstance(node, ast.ImportFrom) and node.level > 0
    for module in () if is_relative else modules:
        if module.partition(".")[0] == "fastmcp":
            yield Left(node.lineno, module, instead_of_fastmcp(names))


def _covers(home: str, others: list[str]) -> bool:
    """Return whether the import of one of the others imports a module too."""
    return any(f"{other}.".startswith(f"{home}.") for other in others)


def _modules(options: list[list[Home]]) -> list[str]:
    return list(dict.fromkeys(home.module for some in options for home in some))


def _bindings(nodes: list[ast.AST]) -> dict[str, set[int]]:
    """Return by name what binds it: assignments, parameters, definitions, imports."""
    bound: dict[str, set[int]] = defaultdict(set)
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id].add(id(node))
        elif isinstance(node, ast.arg):
            bound[node.arg].add(id(node))
        elif isinstance(node, _NAMED):
            bound[node.name or ""].add(id(node))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
                bound[name].add(id(alias))
    return bound


def _chains(nodes: list[ast.AST], root: str) -> Iterator[tuple[ast.Attribute | ast.Name, list[str]]]:
    """Yield the longest `root.a.b` wherever one stands."""
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            parts: list[str] = []
            part: ast.expr = node
            while isinstance(part, ast.Attribute):
                parts.insert(0, part.attr)
                part = part.value
            if isinstance(part, ast.Name) and part.id == root:
                yield node, [root, *parts]


def _written_annotations(nodes: list[ast.AST]) -> Iterator[ast.Constant]:
    """Yield the strings in annotations that are types: none that Literal lists, or that Annotated adds."""
    waiting: list[ast.AST] = []
    for node in nodes:
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(annotation, ast.AST):
            waiting.append(annotation)
    while waiting:
        part = waiting.pop()
        generic = ast.unparse(part.value).rpartition(".")[2] if isinstance(part, ast.Subscript) else ""
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part
        elif generic == "Annotated" and isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Tuple):
            waiting.append(part.slice.elts[0])
        elif generic != "Literal" and not isinstance(part, ast.Call):
            waiting += ast.iter_child_nodes(part)


def _items(source: Source, node: ast.ImportFrom, texts: list[str], modules: list[str]) -> list[_Item]:
    """Return the names of a statement with their comments."""
    items = [_Item(text, module, [], []) for text, module in zip(texts, modules, strict=True)]
    spans = [source.span(alias) for alias in node.names]
    for place, comment in source.comments(node):
        earlier = [index for index, (_, end) in enumerate(spans) if end <= place]
        later = [index for index, (start, _) in enumerate(spans) if start > place]
        is_beside = bool(earlier) and not re.search(r"[\r\n]", source.text[spans[earlier[-1]][1] : place])
        if earlier and (is_beside or not later):
            items[earlier[-1]].behind.append(comment)
        else:
            items[later[0]].before.append(comment)
    return items


def _statement(module: str, items: list[_Item], indent: str, end: str) -> str:
    line = f"from {module} import {', '.join(item.text for item in items)}"
    if len(indent) + len(line) <= _WIDTH and not any(item.before or item.behind for item in items):
        return line
    lines = [f"from {module} import ("]
    for item in items:
        lines += [f"{indent}    {comment}" for comment in item.before]
        behind = f"  {'  '.join(item.behind)}" if item.behind else ""
        lines.append(f"{indent}    {item.text},{behind}")
    return end.join([*lines, f"{indent})"])
