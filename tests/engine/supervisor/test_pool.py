"""Runners are placed where the thread that asks for them may run, and used again there."""

import os
from collections.abc import Iterator

import pytest

from grader.engine.supervisor import pool
from tests.support.idle import end_runners

PROCESSORS = sorted(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def no_runners() -> Iterator[None]:
    """Begins without idle runners, and gives the thread all its processors back."""
    end_runners()
    yield
    os.sched_setaffinity(0, PROCESSORS)
    end_runners()


@pytest.mark.parametrize("processor", PROCESSORS)
def test_a_runner_is_on_a_processor_that_the_thread_may_use(processor: int) -> None:
    """Two programs that grade side by side do not share the first processor."""
    os.sched_setaffinity(0, {processor})
    with pool.borrowed_runner() as runner:
        assert runner.processor == processor


def test_an_idle_runner_is_used_again_on_its_processor_only() -> None:
    """A runner does not move."""
    runners: dict[int, int | None] = {}
    for processor in PROCESSORS * 2:
        os.sched_setaffinity(0, {processor})
        with pool.borrowed_runner() as runner:
            assert runners.setdefault(processor, runner.process.pid) == runner.process.pid
    assert len(set(runners.values())) == len(PROCESSORS)


def test_runners_at_work_are_spread_over_the_processors() -> None:
    """A second runner goes where there is none."""
    processors = len(PROCESSORS)
    borrowed = [pool.borrowed_runner() for _ in range(processors)]
    load = pool._load.copy()
    pool._load.clear()
    try:
        assert sorted(each.__enter__().processor for each in borrowed) == PROCESSORS
    finally:
        for each in borrowed:
            each.__exit__(None, None, None)
        pool._load.update(load)
