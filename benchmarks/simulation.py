"""Simulates a class run on a cluster, event by event, to find where submissions wait.

    driver --job--> scheduler --> network --> worker --> network --> scheduler --result--> driver --> database

The driver is one thread, as in classroom/class_run.py: it keeps a bounded number of submissions under way, takes
the results that have arrived, sends the next jobs, and writes those results in one transaction.
"""

import math
import random
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from simpy import Environment, Event, Resource, Store

TOGETHER = 16
"""Results in one transaction, at most."""
MAX_BYTES_UNDER_WAY = 256 * 2**20
UNDER_WAY = 4
"""Submissions under way for each worker, at most."""
PAUSE = 0.05
"""Seconds between two looks for more results."""
SLICE = 0.01
"""Seconds for which a process keeps a core that others wait for."""


Steps = Generator[Event, Any, None]
"""A process of the simulation: it yields the events for which it waits."""


@dataclass(frozen=True)
class Costs:
    """The work of each part for a submission, in seconds and bytes.

    Args:
        service: seconds of a worker for a submission; each submission draws one of them.
        driver_start: of the driver, until the first job can be sent.
        worker_start: of each worker, and again after a failure.
        read: of the driver, until a job is sent.
        write: of the driver, once a result has arrived, without the transaction.
        transaction: of the database, for each transaction.
        row: of the database, for each student in a transaction.
        watch: of the driver, for each submission under way, whenever it takes results.
        batch_wait: for which a result may wait for others, to be written with them.
        schedule: of the scheduler, for each submission.
        task_bytes: from driver to worker.
        reply_bytes: from worker to driver.
        source_bytes: from driver to worker, once for each worker.
        bandwidth: bytes a second of the link of driver and scheduler, in each direction.
        latency: of a message between two machines.
        failures: share of attempts in which a worker is lost.
        attempts: after which a submission ends ungraded.
        cores: that driver and workers share; each has one of its own by default.
    """

    service: tuple[float, ...]
    driver_start: float = 0.0
    worker_start: float = 0.0
    read: float = 0.0
    write: float = 0.0
    transaction: float = 0.0
    row: float = 0.0
    watch: float = 0.0
    batch_wait: float = 0.0
    schedule: float = 0.0
    task_bytes: float = 0.0
    reply_bytes: float = 0.0
    source_bytes: float = 0.0
    bandwidth: float = math.inf
    latency: float = 0.0
    failures: float = 0.0
    attempts: int = 3
    cores: int | None = None


@dataclass(frozen=True)
class Outcome:
    """The result of a simulated run.

    `seconds` is the whole time, `busy` the share of it in which each part worked; the driver's share holds the
    database's, for which it waits. `ended` counts how often each submission ended, `ungraded` those that failed.
    """

    seconds: float
    busy: dict[str, float]
    ended: Counter[int]
    ungraded: int

    @property
    def limit(self) -> str:
        """The part that works most of the time; only a faster one would make the run faster."""
        return max(self.busy, key=lambda part: self.busy[part])


class _Line:
    """A part that serves one request at a time, in the order of arrival."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._free, self.seconds = environment, 0.0, 0.0

    def serve(self, seconds: float) -> Event:
        """Return the event at which a new request will have been served, after all earlier ones."""
        self._free = max(self._free, self._environment.now) + seconds
        self.seconds += seconds
        return self._environment.timeout(self._free - self._environment.now)


class _Run:
    def __init__(self, costs: Costs, size: int, workers: int, seed: int) -> None:
        self.costs, self.size, self.workers = costs, size, workers
        self.environment = Environment()
        self._random = random.Random(seed)
        self._cores = Resource(self.environment, costs.cores) if costs.cores else None
        self._jobs, self._results = Store(self.environment), Store(self.environment)
        self.scheduler, self.out, self.back = (_Line(self.environment) for _ in range(3))
        self.driver = self.database = self.grading = 0.0
        self.ended: Counter[int] = Counter()
        self.ungraded = 0

    def start(self) -> Event:
        """Start all processes; return the driver's."""
        for _ in range(self.workers):
            self.environment.process(self._work())
        return self.environment.process(self._drive())

    def _compute(self, seconds: float) -> Steps:
        """Use a core for some seconds, in turn with others if cores are shared."""
        while self._cores and seconds > 0:
            with self._cores.request() as turn:
                yield turn
                yield self.environment.timeout(min(seconds, SLICE))
            seconds -= SLICE
        if not self._cores:
            yield self.environment.timeout(seconds)

    def _drive(self) -> Steps:
        costs, waiting, group = self.costs, iter(range(self.size)), list[tuple[int, bool]]()
        most = max(1, min(UNDER_WAY * self.workers, int(MAX_BYTES_UNDER_WAY / max(costs.task_bytes, 1))))
        under_way, left = 0, self.size
        yield from self._compute(costs.driver_start)
        while left:
            while under_way < most and (number := next(waiting, None)) is not None:
                self.driver += costs.read
                yield from self._compute(costs.read)
                self.environment.process(self._send(number, costs.attempts))
                under_way += 1
            if group:
                writing = len(group) * costs.write
                transaction = costs.transaction + len(group) * costs.row
                self.driver += writing + transaction
                self.database += transaction
                yield from self._compute(writing + transaction)
                self.ended.update(number for number, _ in group)
                self.ungraded += sum(not graded for _, graded in group)
                left -= len(group)
            if left:
                group = [(yield self._results.get())]
                end, most_together = self.environment.now + costs.batch_wait, min(TOGETHER, under_way)
                while len(self._results.items) + 1 < most_together and self.environment.now < end:
                    yield self.environment.timeout(PAUSE)
                while self._results.items and len(group) < TOGETHER:
                    group.append((yield self._results.get()))
                self.driver += costs.watch * under_way
                yield from self._compute(costs.watch * under_way)
                under_way -= len(group)

    def _send(self, number: int, attempts: int) -> Steps:
        yield self.scheduler.serve(self.costs.schedule / 2)
        yield self.out.serve(self.costs.task_bytes / self.costs.bandwidth)
        yield self.environment.timeout(self.costs.latency)
        self._jobs.put((number, attempts))

    def _work(self) -> Steps:
        costs = self.costs
        yield self.out.serve(costs.source_bytes / costs.bandwidth)
        yield from self._compute(costs.worker_start)
        while True:
            number, attempts = yield self._jobs.get()
            seconds, fails = self._random.choice(costs.service), self._random.random() < costs.failures
            if fails:
                seconds *= self._random.random()
            self.grading += seconds
            yield from self._compute(seconds)
            if fails and attempts > 1:
                self.environment.process(self._send(number, attempts - 1))
            else:
                self.environment.process(self._return(number, not fails))
            if fails:
                yield from self._compute(costs.worker_start)

    def _return(self, number: int, graded: bool) -> Steps:
        yield self.environment.timeout(self.costs.latency)
        yield self.back.serve(self.costs.reply_bytes / self.costs.bandwidth if graded else 0.0)
        yield self.scheduler.serve(self.costs.schedule / 2)
        self._results.put((number, graded))


def simulate(costs: Costs, size: int, workers: int, seed: int = 0) -> Outcome:
    """Simulate a class run.

    Args:
        costs: what each part does for a submission.
        size: the number of submissions.
        workers: the number of workers, each of which grades one submission at a time.
        seed: of the draws of service times and failures.
    """
    run = _Run(costs, size, workers, seed)
    run.environment.run(until=run.start())
    seconds = run.environment.now
    busy: dict[str, Any] = {
        "workers": run.grading / workers,
        "driver": run.driver,
        "scheduler": run.scheduler.seconds,
        "network": max(run.out.seconds, run.back.seconds),
        "database": run.database,
    }
    return Outcome(seconds, {part: each / seconds for part, each in busy.items()}, run.ended, run.ungraded)
