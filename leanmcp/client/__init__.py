"""The client side: `Client`, and what it is given and gives."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..errors import CallDenied, InvalidResult, SubscriptionLost, ToolChanged
from ..events import PromptsListChanged, ResourcesListChanged, ResourceUpdated, ToolsListChanged
from ..parameters import StdioServerParameters
from .answers import ClientRequestContext
from .cache import ResponseCache
from .client import Client
from .listen import Subscription

if TYPE_CHECKING:
    from .audit import Audit
    from .checks import ResultChecks
    from .consent import Hints, Policy, Question, hints_of
    from .gate import Call, Gate
    from .group import ClientGroup
    from .pins import Change, Pins
    from .strangers import safe_icons, uri_fault
    from .sync import SyncClient, SyncSubscription

__all__ = [
    "Audit",
    "Call",
    "CallDenied",
    "Change",
    "Client",
    "ClientGroup",
    "ClientRequestContext",
    "Gate",
    "Hints",
    "InvalidResult",
    "Pins",
    "Policy",
    "PromptsListChanged",
    "Question",
    "ResourceUpdated",
    "ResourcesListChanged",
    "ResponseCache",
    "ResultChecks",
    "StdioServerParameters",
    "Subscription",
    "SubscriptionLost",
    "SyncClient",
    "SyncSubscription",
    "ToolChanged",
    "ToolsListChanged",
    "hints_of",
    "safe_icons",
    "uri_fault",
]

# What a client has only where it is asked for loads with its first use.
_HOMES = {
    "Audit": ".audit",
    "Call": ".gate",
    "Change": ".pins",
    "ClientGroup": ".group",
    "Gate": ".gate",
    "Hints": ".consent",
    "Pins": ".pins",
    "Policy": ".consent",
    "Question": ".consent",
    "ResultChecks": ".checks",
    "SyncClient": ".sync",
    "SyncSubscription": ".sync",
    "hints_of": ".consent",
    "safe_icons": ".strangers",
    "uri_fault": ".strangers",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        from ..elsewhere import no_name  # of mistakes only

        raise no_name(__name__, name, __all__, sys._getframe(1))
    from importlib import import_module

    value = getattr(import_module(home, __name__), name)
    globals()[name] = value
    return value
