"""What a server says that may be kept, and a clock for how long."""

from __future__ import annotations

from typing import Any


class Clock:
    """Seconds that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def listing(name: str, ttl: Any = 1000, scope: str = "private") -> dict[str, Any]:
    """Return a page with one prompt."""
    return {"resultType": "complete", "prompts": [{"name": name}], "ttlMs": ttl, "cacheScope": scope}


def reading(text: str, **hints: Any) -> dict[str, Any]:
    """Return the contents of a resource."""
    contents = [{"uri": "a:b", "text": text}]
    return {"resultType": "complete", "contents": contents, "ttlMs": 1000, "cacheScope": "private", **hints}


async def first_name(client: Any, **options: Any) -> str:
    """Return the name of the first prompt that a client is shown."""
    return str((await client.list_prompts(**options)).prompts[0].name)


async def text_of(client: Any, uri: str, **options: Any) -> str:
    """Return the text that a client reads."""
    return str((await client.read_resource(uri, **options)).contents[0].text)
