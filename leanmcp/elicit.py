"""Questions to the user: what a function of a tool, prompt or resource asks with, and what it gets.

    from leanmcp.elicit import Accepted, Elicit, Resolve

Spec 2026-07-28: client/elicitation; basic/patterns/mrtr.
"""

from __future__ import annotations

from .errors import no_other
from .server.elicitation import Accepted, Cancelled, Declined, Elicit, ElicitationResult, ElicitURL
from .server.forms import titled
from .server.resolve import Resolve

__all__ = [
    "Accepted",
    "AcceptedElicitation",
    "Cancelled",
    "CancelledElicitation",
    "Declined",
    "DeclinedElicitation",
    "Elicit",
    "ElicitURL",
    "ElicitationResult",
    "Resolve",
    "titled",
]

# The names that the official SDK gave them.
AcceptedElicitation, DeclinedElicitation, CancelledElicitation = Accepted, Declined, Cancelled

__getattr__ = no_other(__name__, __all__)
