"""What tests of subscriptions share: requests, and what notifications say."""

from __future__ import annotations

from typing import Any

from leanmcp import MCPServer

from .processes import request

SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TOOLS = "notifications/tools/list_changed"
PROMPTS = "notifications/prompts/list_changed"
RESOURCES = "notifications/resources/list_changed"
UPDATED = "notifications/resources/updated"
ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
Message = dict[str, Any]


def listen(request_id: int | str = 1, /, uris: list[str] | None = None, **notifications: Any) -> Message:
    """Return a subscriptions/listen request; without a filter it asks for changes of the list of tools."""
    wanted = dict(notifications)
    if uris is not None:
        wanted["resourceSubscriptions"] = uris
    return request("subscriptions/listen", {"notifications": wanted or {"toolsListChanged": True}}, request_id)


def subscription_id(message: Message) -> Any:
    """Return the id that a notification, or the result of a stream, carries."""
    body = message["params"] if "method" in message else message["result"]
    return body["_meta"][SUBSCRIPTION_ID]


def same_id(message: Message, request_id: int | str) -> bool:
    """Return whether a message carries an id with its type, and nothing that only equals it."""
    found = subscription_id(message)
    return type(found) is type(request_id) and found == request_id


def told(messages: list[Message]) -> list[tuple[Any, str]]:
    """Return the changes among messages: id of the stream, and what has changed, the URI of what was updated."""
    return [
        (subscription_id(message), message["params"].get("uri", message["method"]))
        for message in messages
        if message.get("method") in (TOOLS, PROMPTS, RESOURCES, UPDATED)
    ]


def open_streams(mcp: MCPServer) -> int:
    """Return how many streams a server has open, on all loops."""
    subscriptions = mcp._subscriptions
    return 0 if subscriptions is None else sum(len(hub.streams) for hub in subscriptions._hubs.values())
