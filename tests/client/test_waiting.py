"""Time limits that stand still while a person is waited for."""

from __future__ import annotations

import asyncio

import pytest

from leanmcp.client.caller import Deadline, Patience
from leanmcp.client.waiting import waited, waiting_on_a_person, waits
from tests.support.processes import DEADLINE


@pytest.mark.parametrize("patience", [Patience(0), Patience(None, most=0), Patience(0, True, 0)])
def test_deadline_waits_for_people_and_then_goes_on(patience: Patience) -> None:
    """Ours: somebody who logs in does not run into the time limit of the request that asked for it."""

    async def request() -> None:
        deadline = Deadline(patience)
        with waiting_on_a_person():
            for _ in range(200):  # it would be over in the first of these turns
                await asyncio.sleep(0)
        assert not deadline.expired
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.Event().wait(), DEADLINE)
        assert deadline.ended_it()

    asyncio.run(request())


def test_earlier_waits_are_no_credit() -> None:
    """Ours: the next request of the same task has its own time."""

    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        with waiting_on_a_person():
            await asyncio.sleep(0.01)
        assert waited(task) > 0
        deadline = Deadline(Patience(0))
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.Event().wait(), DEADLINE)
        assert deadline.ended_it()
        assert deadline._waited == waited(task)

    asyncio.run(main())


def test_nothing_is_kept_of_tasks_that_are_over() -> None:
    """Ours: no leak."""

    async def log_in() -> None:
        with waiting_on_a_person():
            await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(*(log_in() for _ in range(10)))
        await asyncio.sleep(0)
        assert waits == {}

    asyncio.run(main())
