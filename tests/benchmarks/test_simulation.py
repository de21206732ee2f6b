"""The simulation of a class run keeps the laws of every class run, and gives the time where it can be derived."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.costs import Sample, Transaction
from benchmarks.simulation import Costs, simulate

SECONDS = "driver_start worker_start read write transaction row batch_wait schedule latency".split()
COSTS = st.builds(
    Costs,
    st.lists(st.floats(0.01, 2.0), min_size=1, max_size=5).map(tuple),
    **dict.fromkeys(SECONDS, st.floats(0.0, 0.2)),
    task_bytes=st.floats(0, 1e6), reply_bytes=st.floats(0, 1e6), source_bytes=st.floats(0, 1e6),
    bandwidth=st.floats(1e6, 1e9), failures=st.floats(0.0, 1.0), attempts=st.integers(1, 3),
)  # fmt: skip
SIZES, WORKERS, SEEDS = st.integers(1, 60), st.integers(1, 20), st.integers(0, 99)
EVEN = Costs((1.0,), driver_start=1.0, read=0.002, write=0.003, transaction=0.001, row=0.001, schedule=0.002)


@settings(max_examples=40, deadline=None)
@given(costs=COSTS, size=SIZES, workers=WORKERS, seed=SEEDS)
def test_every_submission_ends_once_and_no_run_is_faster_than_its_slowest_part(
    costs: Costs, size: int, workers: int, seed: int
) -> None:
    """None is lost with a worker or written twice, however often workers fail. Each part needs the time of all."""
    outcome = simulate(costs, size, workers, seed)
    assert outcome.ended == Counter(range(size))
    assert 0 <= outcome.ungraded <= size
    costs = replace(costs, failures=0.0)
    seconds = simulate(costs, size, workers, seed).seconds * (1 + 1e-9)
    assert seconds >= size * min(costs.service) / workers
    assert seconds >= costs.driver_start + size * (costs.read + costs.write + costs.row) + costs.transaction
    assert seconds >= size * costs.schedule
    assert seconds >= size * max(costs.task_bytes, costs.reply_bytes) / costs.bandwidth


@pytest.mark.parametrize(
    ("failures", "attempts", "ungraded"), [(0.0, 1, 0), (1.0, 3, 2000), (0.5, 1, 1000), (0.5, 3, 250)]
)
def test_a_submission_is_ungraded_if_all_of_its_attempts_fail(failures: float, attempts: int, ungraded: int) -> None:
    """Of half of the submissions the first attempt fails, of an eighth all three do."""
    found = simulate(replace(EVEN, failures=failures, attempts=attempts), 2000, 50).ungraded
    assert found == pytest.approx(ungraded, rel=0 if failures in (0, 1) else 0.1 if attempts == 1 else 0.2)


@pytest.mark.slow
def test_more_workers_never_slow_a_run_and_beyond_the_limit_do_not_speed_it_up() -> None:
    """Up to the limit the time falls in proportion to the workers; then the driver's own time remains."""
    times = {workers: simulate(EVEN, 3000, workers).seconds for workers in (1, 2, 10, 50, 400, 800)}
    assert list(times.values()) == sorted(times.values(), reverse=True)
    assert times[1] / times[10] == pytest.approx(10, rel=0.02)
    assert times[400] == pytest.approx(times[800], rel=0.02)


def test_the_time_is_the_one_that_follows_where_it_can_be_derived() -> None:
    """One worker never waits, and the last result is written alone; two workers on one core are as fast as one."""
    costs = Costs((2.0,), driver_start=3.0, read=0.5, write=0.25, transaction=0.125, row=0.0625)
    assert simulate(costs, 20, 1).seconds == pytest.approx(3.0 + 0.5 + 20 * 2.0 + 0.25 + 0.125 + 0.0625)
    for cores, seconds in ((1, 40), (2, 20)):
        assert simulate(Costs((1.0,), cores=cores), 40, 2).seconds == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize(
    ("part", "slow", "least"),
    [
        ("workers", {"service": (20.0,)}, 20.0 / 100),
        ("driver", {"read": 0.5}, 0.5),
        ("driver", {"write": 0.5}, 0.5),
        ("scheduler", {"schedule": 0.5}, 0.5),
        ("network", {"task_bytes": 5e5, "bandwidth": 1e6}, 0.5),
        ("network", {"reply_bytes": 5e5, "bandwidth": 1e6}, 0.5),
    ],
)
def test_the_slowest_part_is_the_limit(part: str, slow: dict[str, Any], least: float) -> None:
    """It works all the time, and the run takes as long as it alone would."""
    outcome = simulate(replace(EVEN, **slow), 1000, 100)
    assert outcome.limit == part
    assert outcome.busy[part] == pytest.approx(1, abs=0.06)
    assert outcome.seconds == pytest.approx(1000 * least, rel=0.06)


def test_results_that_wait_for_others_share_a_transaction() -> None:
    """If results wait for others, the database works less for the same submissions."""
    costs = replace(EVEN, transaction=0.01, row=0.0)
    hasty, patient = (simulate(replace(costs, batch_wait=seconds), 800, 40) for seconds in (0.0, 1.0))
    assert patient.busy["database"] * patient.seconds < 0.8 * hasty.busy["database"] * hasty.seconds
    assert patient.busy["database"] * patient.seconds >= 0.01 * 800 / 16


def test_the_cost_of_a_transaction_is_told_from_that_of_a_student() -> None:
    """The smallest and the largest transactions give both, and the disk's wait is the least of all."""
    sample = Sample(transactions=[Transaction(1, 9, 0.004, 0.5), Transaction(16, 24, 0.019, 0.002)])
    assert sample.transaction() == pytest.approx((0.003, 0.001))
    assert sample.statements() == pytest.approx((8, 1))
    assert sample.commit() == 0.002
