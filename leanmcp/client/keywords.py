"""The keyword options that continue a request, written once for type checkers and for error texts.

In: nothing. Out: what `**retry` holds in the methods of a client whose request a server may answer with questions.
Spec 2026-07-28: basic/patterns/mrtr, "Supported Requests"; basic/index, "_meta".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

__all__ = ["RetryKeywords"]


class RetryKeywords(TypedDict, total=False):
    """Of `Client.call_tool`, `call_tool_once`, `read_resource` and `get_prompt`.

    Args:
        input_responses: answers, by the keys of `InputRequiredResult.input_requests`.
        request_state: `InputRequiredResult.request_state`, as it was; nothing where there was none.
        meta: further members of the request's `_meta`.
    """

    input_responses: Mapping[str, Any] | None
    request_state: str | None
    meta: dict[str, Any] | None
