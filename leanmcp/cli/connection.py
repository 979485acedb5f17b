"""One command's conversation with one server: connect, do the work, and tell in a line what went wrong.

In: options and a coroutine function that does the work. Out: an exit code.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..client import Client
from .faults import UsageError, coded
from .screen import Screen
from .target import Target, find_target
from .wording import explain

if TYPE_CHECKING:
    from .questions import Questions

_LEVEL = "info"  # of the server's log messages that are shown


class Connection:
    """What a command works with.

    Args:
        client: connected.
        target: what it is connected to.
        screen: where to print.
        options: of the command line, `words` without the target.
    """

    def __init__(self, client: Client, target: Target, screen: Screen, options: argparse.Namespace) -> None:
        self.client = client
        self.target = target
        self.screen = screen
        self.options = options

    async def has(self, capability: str) -> bool:
        """Return whether the server declares a capability."""
        if not self.client.server_capabilities:
            await self.client.discover()  # of a version that was fixed nobody has asked yet
        return capability in self.client.server_capabilities

    @property
    def server_name(self) -> str:
        """What to call the server in texts."""
        info = self.client.server_info
        return self.target.label or (self.target.name if info is None else info.name)


Work = Callable[[Connection], Awaitable[int]]
Local = Callable[[Target, Screen], int]


def conduct(
    options: argparse.Namespace,
    check: Callable[[argparse.Namespace], None],
    work: Work,
    local: Local | None = None,
) -> int:
    """Connect to the server that the options name, do the work, and return the exit code.

    Args:
        options: see `options.add_target`.
        check: looks at the words behind the target before anything is started.
        work: is given the connection.
        local: is given a server of this process in its stead, which is not connected to and does not start.

    Raises:
        UsageError: a mistake on the command line.
        KeyboardInterrupt: Ctrl-C; the request was cancelled.
    """
    from ..client.negotiation import check_mode

    try:
        check_mode(options.mode)
    except ValueError as fault:
        raise UsageError(f"--{fault}".replace("--mode='", "--mode '")) from None
    screen = Screen(options.json, options.verbose)
    with screen.logging(), contextlib.ExitStack() as stack:
        if options.program is None:
            stack.enter_context(screen.guarded())  # the target may be a file, which prints what it likes
        from .keyboard import open_keyboard

        keyboard = stack.enter_context(open_keyboard(screen))
        target: Target | None = None
        questions: Questions | None = None
        try:
            if keyboard is not None:
                from .questions import Questions as Asker  # where somebody can answer

                questions = Asker(screen, keyboard)
            target = find_target(options, screen, None if questions is None else questions.login)
            check(options)
            if local is not None and target.local:
                return local(target, screen)
            client = Client(target.server, **_client_options(options, target, screen, questions))
            connection = Connection(client, target, screen, options)
            if target.local:
                from .local import Conversation

                conversation = Conversation(connection)
                return conversation.run(_run(connection, work, questions, conversation.opened(client)))
            with asyncio.Runner() as runner:
                return runner.run(_run(connection, work, questions, client))
        except (UsageError, KeyboardInterrupt, BrokenPipeError):
            raise
        except BaseException as error:
            code, text = explain(error, target, keyboard is not None)
            screen.complain(f"leanmcp: {coded(text)}")
            return code


def _client_options(
    options: argparse.Namespace, target: Target, screen: Screen, questions: Questions | None
) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        "mode": options.mode,
        "read_timeout_seconds": options.timeout,
        "reset_on_progress": True,
        "label": target.label,
    }
    if questions is not None:
        chosen["elicitation_callback"] = questions.answer
    if options.verbose:
        chosen["log_level"] = _LEVEL

        def told(method: str, params: dict[str, Any]) -> None:
            if method == "notifications/message":
                logger = params.get("logger")
                screen.tell(f"{params.get('level')}{f' {logger}' if logger else ''}: {params.get('data')}")
            else:
                screen.tell(f"{method} {params}")

        chosen["notification_callback"] = told
    return chosen


async def _run(
    connection: Connection,
    work: Work,
    questions: Questions | None,
    opened: contextlib.AbstractAsyncContextManager[Client],
) -> int:
    if questions is not None:
        questions.request, questions.label = asyncio.current_task(), connection.target.label
    async with opened as client:
        info = client.server_info
        named = "" if info is None else f" ({info.name} {info.version}".rstrip() + ")"
        connection.screen.tell(f"connected to {connection.target.name}{named}, protocol {client.protocol_version}")
        return await work(connection)
