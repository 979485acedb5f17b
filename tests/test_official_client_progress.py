"""The official Python client sees progress and cancels calls, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import Client, MCPError

from tests.support.processes import DEADLINE, ROOT
from tests.test_official_client import serving, text_of

LONGJOB = ROOT / "examples" / "longjob" / "server.py"
Note = tuple[float, float | None, str | None]


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    """Each transport."""
    name: str = request.param
    return name


def use(transport: str, conversation: Any) -> None:
    """Hold a conversation with the long job, within the deadline."""

    async def main(target: Any) -> None:
        async with asyncio.timeout(DEADLINE), Client(target) as client:
            await conversation(client)

    with serving(transport, LONGJOB) as target:
        asyncio.run(main(target))


async def no_drafts(client: Client) -> None:
    """Ask until no draft is left: the cancelled job has cleaned up."""
    while (await client.call_tool("unfinished", {})).structured_content:
        pass


def test_progress_reaches_the_callback_before_the_result(transport: str) -> None:
    """Spec: basic/patterns/progress; of a coroutine and of a thread."""

    async def conversation(client: Client) -> None:
        notes: list[Note] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            notes.append((progress, total, message))

        arguments: dict[str, Any] = {"pages": 4, "seconds_per_page": 0.01}
        result = await client.call_tool("render", arguments, progress_callback=note)
        assert text_of(result) == "A report of 4 pages."
        assert notes == [(page, 4, f"page {page} of 4") for page in (1, 2, 3, 4)]

        notes.clear()
        await client.call_tool("fingerprint", {"text": "x", "rounds": 3000}, progress_callback=note)
        assert notes == [(1000, 3000, None), (2000, 3000, None), (3000, 3000, None)]

        notes.clear()
        await client.call_tool("render", arguments)
        assert notes == []

    use(transport, conversation)


def test_fifty_jobs_at_once_report_to_their_own_callback(transport: str) -> None:
    """Spec: tokens are unique across active requests."""

    async def conversation(client: Client) -> None:
        notes: dict[int, list[float]] = {pages: [] for pages in range(1, 51)}

        async def job(pages: int) -> None:
            async def note(progress: float, total: float | None, message: str | None) -> None:
                assert total == pages
                notes[pages].append(progress)

            arguments = {"pages": pages, "seconds_per_page": 0.01}
            result = await client.call_tool("render", arguments, progress_callback=note)
            assert text_of(result) == f"A report of {pages} pages."

        await asyncio.gather(*map(job, notes))
        for pages, values in notes.items():
            assert values == sorted(set(values))
            assert values[0] == 1
            assert values[-1] == pages

    use(transport, conversation)


def test_a_cancelled_job_ends_and_the_client_goes_on(transport: str) -> None:
    """Spec: basic/patterns/cancellation; the client sends the notification, or closes the stream."""

    async def conversation(client: Client) -> None:
        begun = asyncio.Event()

        async def note(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        arguments = {"pages": 10_000, "seconds_per_page": 0.01}
        job = asyncio.create_task(client.call_tool("render", arguments, progress_callback=note))
        await begun.wait()
        assert (await client.call_tool("unfinished", {})).structured_content
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        await no_drafts(client)
        arguments = {"pages": 2, "seconds_per_page": 0}
        assert text_of(await client.call_tool("render", arguments)) == "A report of 2 pages."

    use(transport, conversation)


def test_a_job_that_takes_too_long_for_the_client_is_cancelled(transport: str) -> None:
    """Spec: "Timeouts": the sender SHOULD cancel the request and stop waiting."""

    async def conversation(client: Client) -> None:
        arguments = {"pages": 10_000, "seconds_per_page": 0.01}
        with pytest.raises(MCPError, match=r"(?i)timed out|timeout"):
            await client.call_tool("render", arguments, read_timeout_seconds=0.3)
        await no_drafts(client)

    use(transport, conversation)
