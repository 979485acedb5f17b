"""What can change at a server, as both sides tell it to programs.

In: a list's name, or a URI. Out: a value that says so; equal ones are one.
Spec 2026-07-28: basic/patterns/subscriptions, "Receiving Notifications".
"""

from __future__ import annotations

import msgspec

__all__ = ["Event", "PromptsListChanged", "ResourceUpdated", "ResourcesListChanged", "ToolsListChanged"]


class ToolsListChanged(msgspec.Struct, frozen=True, tag=True):
    """The list of tools has changed."""


class PromptsListChanged(msgspec.Struct, frozen=True, tag=True):
    """The list of prompts has changed."""


class ResourcesListChanged(msgspec.Struct, frozen=True, tag=True):
    """The list of resources, or of their templates, has changed."""


class ResourceUpdated(msgspec.Struct, frozen=True, tag=True):
    """A resource has changed.

    Args:
        uri: of it; or, in the eyes of a client, of something inside of what was subscribed to.
    """

    uri: str


Event = ToolsListChanged | PromptsListChanged | ResourcesListChanged | ResourceUpdated
"""`msgspec.json` encodes it, and decodes it again with this type."""
