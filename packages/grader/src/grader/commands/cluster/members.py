"""Keeps account of what each worker was given, so that it is known what it was doing when it was lost."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from grader.classroom.page.page_maker import Earlier, StudentResult
from grader.classroom.student import Submission


@dataclass(eq=False)
class Job:
    """A submission on its way; `lost` are the workers that were lost over it."""

    submission: Submission
    earlier: Earlier
    future: "Future[StudentResult]" = field(default_factory=Future)
    lost: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Member:
    """A worker. `unfit` says why it is not used; `calls` are dask's futures with their jobs, in the order of starts."""

    address: str
    threads: int
    ready_by: float = 0.0
    unfit: str = ""
    fitting: Any = None
    calls: dict[Any, Job] = field(default_factory=dict)
    started: dict[Any, float] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        """Whether it may be given submissions."""
        return not self.unfit and self.fitting is None

    @property
    def load(self) -> float:
        """Submissions for each thread."""
        return len(self.calls) / self.threads

    def running(self, now: float) -> dict[Any, float]:
        """Since when each of the calls runs that the worker has begun: a worker goes through them in order."""
        first = list(self.calls)[: self.threads]
        self.started = {call: self.started.get(call, now) for call in first}
        return self.started
