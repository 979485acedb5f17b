"""What a server asks of the person at the terminal: forms field by field, and pages to visit.

In: questions. Out: answers. Nothing is sent before it has been shown and agreed to; no page is opened without a yes.
Spec 2026-07-28: client/elicitation, "User Interaction Model", "Safe URL Handling".
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult
from .form_fields import Field, fields_of
from .terminal import faint, line, strong

if TYPE_CHECKING:
    from ..client import ClientRequestContext
    from .keyboard import Keyboard
    from .screen import Screen

_DECLINE, _CANCEL = ElicitResult(action="decline"), ElicitResult(action="cancel")


class _Cancelled(Exception):
    """The person typed Ctrl-D."""


class Questions:
    """Asks one person, one question after the other.

    Args:
        screen: where questions are shown.
        keyboard: where they are answered.
    """

    def __init__(self, screen: Screen, keyboard: Keyboard) -> None:
        self._screen = screen
        self._keyboard = keyboard
        self._turn: asyncio.Lock | None = None
        self.request: asyncio.Task[Any] | None = None
        """The request whose time limit stands still while somebody types."""
        self.label = ""
        """What mcp.json calls the server."""

    async def answer(self, context: ClientRequestContext, question: ElicitRequestParams) -> ElicitResult:
        """Answer one question."""
        from ..client.waiting import waiting_on_a_person

        if self._turn is None:
            self._turn = asyncio.Lock()
        async with self._turn:
            with waiting_on_a_person(self.request):
                about = f" about {context.method} {line(context.name)}" if context.method else ""
                self._screen.note(f"{self._who(context.where)} asks{about}:", strong)
                for text in question.message.splitlines():
                    self._screen.note(f"  {text}")
                try:
                    if isinstance(question, ElicitRequestFormParams):
                        return await self._form(question.requested_schema, context.where)
                    return await self._page(question.url)
                except _Cancelled:
                    self._screen.note("cancelled")
                    return _CANCEL

    def _who(self, where: str) -> str:
        return f"{line(self.label)} ({line(where)})" if self.label else line(where)

    async def _ask(self, prompt: str) -> str:
        typed = await self._keyboard.ask(prompt)
        if typed is None:
            raise _Cancelled
        return typed

    async def _choose(self, prompt: str, *choices: str) -> str:
        """Return one of `choices`, words whose first letters are enough."""
        while True:
            typed = (await self._ask(prompt)).lower()
            for word in choices:
                if typed and word.startswith(typed):
                    return word

    # --- forms --------------------------------------------------------------------------------------------------------

    async def _form(self, schema: dict[str, Any], where: str) -> ElicitResult:
        fields = fields_of(schema)
        if not fields:
            return await self._agree()
        self._screen.note("  Enter takes what stands in [brackets] or leaves a field out; Ctrl-D cancels.", faint)
        content: dict[str, Any] = {}
        while True:
            for field in fields:
                await self._fill(field, content)
            self._screen.note(f"  To be sent to {self._who(where)}:", faint)
            for name, value in content.items():
                self._screen.note(f"    {name}: {Field.shown(value)}")
            chosen = await self._choose("Send it? [y]es, [e]dit, [n]o, [c]ancel: ", "yes", "edit", "no", "cancel")
            if chosen == "yes":
                return ElicitResult(action="accept", content=content)
            if chosen != "edit":
                return _DECLINE if chosen == "no" else _CANCEL

    async def _agree(self) -> ElicitResult:
        chosen = await self._choose("Agree? [y]es, [n]o, [c]ancel: ", "yes", "no", "cancel")
        if chosen == "yes":
            return ElicitResult(action="accept", content={})
        return _DECLINE if chosen == "no" else _CANCEL

    async def _fill(self, field: Field, content: dict[str, Any]) -> None:
        """Ask for one field until it fits."""
        for text in field.explained():
            self._screen.note(f"  {text}", faint)
        while True:
            typed = await self._ask(field.prompt(content))
            fault = field.take(typed, content)
            if fault is None:
                return
            self._screen.complain(f"  {fault}")

    # --- pages --------------------------------------------------------------------------------------------------------

    async def _page(self, url: str) -> ElicitResult:
        """Show a URL, all of it, and open it after a yes."""
        self._show_page(url)
        prompt = "Open it in a browser? [y]es, [m]yself (I have opened it), [n]o, [c]ancel: "
        chosen = await self._choose(prompt, "yes", "myself", "no", "cancel")
        if chosen in ("no", "cancel"):
            return _DECLINE if chosen == "no" else _CANCEL
        if chosen == "yes":
            self._open(url)
        await self._ask("Press Enter when you are done there (Ctrl-D cancels): ")
        return ElicitResult(action="accept")

    def _show_page(self, url: str) -> None:
        host = urlsplit(url).hostname or ""
        self._screen.note(f"  page: {url}")
        self._screen.note(f"  host: {host}", strong)
        if not host.isascii() or any(part.startswith("xn--") for part in host.split(".")):
            self._screen.complain("  This name has letters that may look like others; make sure that you know it.")
        if not url.startswith("https:"):
            self._screen.complain("  What you enter there travels unencrypted.")

    def _open(self, url: str) -> None:
        import webbrowser  # of this answer only

        if not webbrowser.open(url):
            self._screen.note("no browser could be started; open the page yourself")

    async def login(self, url: str) -> None:
        """Show the page of a login, and open it after a yes; the browser itself tells when it is done."""
        self._screen.note("The server wants to know who you are. Log in at")
        self._show_page(url)
        chosen = await self._choose("Open it in a browser? [y]es, [m]yself: ", "yes", "myself")
        if chosen == "yes":
            self._open(url)
