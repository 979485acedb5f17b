"""Rules about resources, templates, icons and completion.

Spec 2026-07-28: server/resources; basic/index, "`icons`"; server/utilities/completion. RFC 6570.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..client.strangers import uri_fault
from ..protocol.uri_template import Expression, InvalidUriTemplate, UriTemplate
from .record import Hit, Part, Place, Server, each, rule

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_ICON = re.compile(r"https://[^\s/?#\\]+|data:image/[a-z0-9.+\-]+[;,]", re.IGNORECASE)
_TIGHT = ("", "+", "#")  # operators that put nothing in front of their values


@rule(
    "LC601",
    "uri",
    "error",
    "A URI has no scheme, one that can run something, or characters that do not show; or a template is malformed.",
    "Give it another URI.",
)
@each("resource", "template")
def _uri(part: Part) -> Iterator[Hit]:
    if not _SCHEME.match(part.name):
        yield part.hit("its URI has no scheme", "write one, as in data://name")
        return
    # A resource may well live at data://name; a link to data: is another matter.
    fault = uri_fault(part.name.replace("{", "").replace("}", ""))
    if fault is not None and not part.name.lower().startswith("data:"):
        yield part.hit(f"its URI {fault}; clients may refuse it")
    if part.kind == "template" and _parsed(part) is None:
        yield part.hit("it is no URI template", "write it as RFC 6570 has it, {name}")


def _parsed(part: Part) -> UriTemplate | None:
    try:
        return UriTemplate.parse(part.name)
    except InvalidUriTemplate:
        return None


@rule(
    "LC602",
    "template-unguarded",
    "warning",
    "ResourceSecurity lets the values of a template hold `..` or absolute paths.",
    "Leave security= out, or check them in the function.",
)
@each("template")
def _template_unguarded(part: Part) -> Iterator[Hit]:
    if part.unguarded:
        names = ", ".join(map(repr, part.unguarded))
        yield part.hit(f"values of {names} may hold `..` or be absolute paths: ResourceSecurity lets them pass")


@rule(
    "LC603",
    "template-adjacent",
    "warning",
    "Nothing stands between two variables of a template, so that nobody knows where one ends.",
    "Put a separator between them.",
)
@each("template")
def _template_adjacent(part: Part) -> Iterator[Hit]:
    template = _parsed(part)
    if template is None:
        return
    for before, after in zip(template.parts, template.parts[1:], strict=False):
        if isinstance(before, Expression) and isinstance(after, Expression) and after.operator.sign in _TIGHT:
            first, second = before.variables[-1].name, after.variables[0].name
            text = f"nothing stands between {{{first}}} and {{{second}}}: the first takes all but one character"
            yield part.hit(text)


@rule(
    "LC604",
    "template-shadowed",
    "warning",
    "A template is never read, because another one stands before it and takes the same URIs.",
    "Register it first, or give it another URI.",
)
def _template_shadowed(server: Server) -> Iterator[Hit]:
    greedy: list[tuple[Part, UriTemplate]] = []
    for part in server.of("template"):
        template = _parsed(part)
        if template is None:
            continue
        samples = [_sample(template, word) for word in ("a", "10", "b/c")]
        for earlier, known in greedy:
            if earlier.name != part.name and all(known.match(uri) is not None for uri in samples):
                yield part.hit(f"it is never read: template {earlier.name!r} stands before it and takes the same URIs")
                break
        if part.takes_any_text:
            greedy.append((part, template))


def _sample(template: UriTemplate, word: str) -> str:
    """Return a URI of the template."""
    return template.expand(
        {variable.name: [word] if variable.explode else word for variable in template.variables if not variable.prefix}
    )


@rule(
    "LC605",
    "icon",
    "error",
    "An icon is neither at an https: URL nor a data: URI of an image, so that clients refuse it.",
    "Give an https: URL, or data:image/...;base64,...",
)
def _icon(server: Server) -> Iterator[Hit]:
    for place, owner, source in _icons(server):
        if not _ICON.match(source):
            yield Hit(place, owner, f"clients refuse its icon {source[:60]!r}")


def _icons(server: Server) -> Iterator[tuple[Place, str, str]]:
    owners: list[tuple[Place, str, Any]] = [(server.place, server.label, server.info.get("icons"))]
    owners += [(part.place, part.label, part.entry.get("icons")) for part in server.parts]
    for place, owner, icons in owners:
        for icon in icons if isinstance(icons, list) else ():
            yield place, owner, str(icon.get("src", "")) if isinstance(icon, dict) else ""


@rule(
    "LC606",
    "completion",
    "error",
    "A function completes an argument that there is not.",
    "Take the function away, or correct the name.",
)
def _completion(server: Server) -> Iterator[Hit]:
    for entry in server.completed:
        if entry.known is None:
            text = f"a function completes its {entry.argument!r}, but it is not registered any more"
        elif entry.argument not in entry.known:
            has = f"only {', '.join(map(repr, entry.known))}" if entry.known else "no arguments"
            text = f"a function completes its {entry.argument!r}, but it has {has}"
        else:
            continue
        yield Hit(entry.place, entry.owner, text)
