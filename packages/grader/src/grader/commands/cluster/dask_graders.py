"""Hands submissions to the workers of a cluster, and makes sure that each is graded once or reported.

    Submission --Task--> worker --Reply, checked--> StudentResult
    a lost, hanging or unusable worker --> its submissions go to others

One thread decides everything. dask only carries the calls: this module chooses the worker of each, so it knows what a
worker was doing when it was lost. A submission is given up after MAX_LOST workers were lost while grading it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from traitlets import Integer
from traitlets.config import Config

from grader.classroom.gradebook.rules import RegisteredNotebook
from grader.classroom.page.page_maker import PreviousScores, StudentResult
from grader.classroom.student import Assignment, Submission
from grader.commands.cluster import worker_task
from grader.commands.cluster.connect import Connection, why_unusable
from grader.commands.cluster.messages import AssignmentBundle, Requirements, Task, decoded_reply, encoded, key_of
from grader.commands.shared import with_current_names
from grader.engine.limits import Settings
from grader.errors import GraderError

MAX_LOST = 3
"""Attempts at a submission whose workers are lost."""
LOOK_SECONDS = 1
"""Seconds between two updates of the list of workers."""
READY_SECONDS = 300
"""Seconds that a worker may take to get ready; loading torch takes a few."""
RESULT_SECONDS = 30
"""Seconds that the transfer of a finished result may take."""
CLOSE_SECONDS = 5
AHEAD = 1
"""Submissions queued at a worker besides those that it grades, so that it never waits for the next."""


class Cluster(Settings):
    """How long the driver waits. Instructors set it in nbgrader_config.py: c.Cluster.student_seconds = 9."""

    def __init__(self, config: Config) -> None:
        """Read the settings from a configuration; raise TraitError for a wrong value or a misspelt name."""
        settings = with_current_names(config.get("Cluster", {}), {"patience": "reconnect_seconds"})
        super().__init__(config=Config(Cluster=settings))

    student_seconds = Integer(
        0, min=0,
        help="Seconds that a worker may take for one student. A worker that takes longer is not used again in this "
        "run. 0 stands for twice the limits of the notebooks plus a minute."
    ).tag(config=True)  # fmt: skip
    reconnect_seconds = Integer(
        60, min=1,
        help="Seconds for which the driver waits for a lost scheduler, or for a worker if there are none. Then it "
        "names the students who could not be graded, and ends."
    ).tag(config=True)  # fmt: skip

    def seconds_for(self, assignment: Assignment) -> int:
        """Return the seconds that one student may take."""
        return self.student_seconds or 60 + 2 * assignment.limits.notebook_seconds * len(assignment.sources)


@dataclass(eq=False)
class ClusterJob:
    """A submission to grade; `lost` holds the addresses of the workers that were lost while grading it."""

    submission: Submission
    previous: PreviousScores
    future: "Future[StudentResult]" = field(default_factory=Future)
    lost: list[str] = field(default_factory=list)


@dataclass(eq=False)
class WorkerState:
    """A worker: `unusable` is why it is not used, `calls` are dask's futures with their jobs, in starting order."""

    address: str
    threads: int
    ready_by: float = 0.0
    unusable: str = ""
    preparing: Any = None
    calls: dict[Any, ClusterJob] = field(default_factory=dict)
    started: dict[Any, float] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        """True if the worker may be given submissions."""
        return not self.unusable and self.preparing is None

    @property
    def is_free(self) -> bool:
        """True if the worker is ready and its queue is not full."""
        return self.is_ready and len(self.calls) < self.threads + AHEAD

    def running(self, now: float) -> dict[Any, float]:
        """Return the calls that the worker has begun, with their start times. A worker takes calls in order."""
        self.started = {call: self.started.get(call, now) for call in list(self.calls)[: self.threads]}
        return self.started


class DaskGraders:
    """Grades on a cluster, pages included."""

    make_pages = True
    threads = None
    batch_wait = 1.0

    def __init__(self, address: str, config: Config, note: Callable[[str], None]) -> None:
        """Connect to the scheduler.

        Args:
            address: the address of the scheduler, or `local:N`.
            config: the configuration of the course.
            note: prints a line about a worker that is not used.

        Raises:
            GraderError: no scheduler answers.
        """
        self.settings, self._config, self._note = Cluster(config), config, note
        self._connection = Connection(address, self.settings.reconnect_seconds)
        self.at_once = 8
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._workers: dict[str, WorkerState] = {}
        self._waiting: deque[ClusterJob] = deque()
        self._next_look, self._alone_since = 0.0, time.monotonic()
        self._over = ""
        self._is_closing = False

    @property
    def is_over(self) -> bool:
        """True if the cluster was lost for longer than the driver waits, so that nothing more can be graded."""
        return bool(self._over)

    def begin(self, assignment: Assignment, notebooks: dict[str, RegisteredNotebook]) -> None:
        """Prepare the workers for an assignment."""
        self._bundle = AssignmentBundle.of(assignment, notebooks, self._config)
        self._packed = self._bundle.packed()
        self._key = key_of(self._packed)
        requirements = Requirements.of(assignment.helper_packages, sandbox=assignment.sandbox)
        self._requirements = encoded(requirements), requirements.helper_packages
        self._seconds = self.settings.seconds_for(assignment)
        self._thread = threading.Thread(target=self._run, name="graders", daemon=True)
        self._thread.start()

    def submit(
        self, assignment: Assignment, submission: Submission, previous: PreviousScores
    ) -> "Future[StudentResult]":
        """Have a submission graded by a worker."""
        job = ClusterJob(submission, previous)
        self._events.put(lambda: self._take(job))
        return job.future

    def close(self) -> None:
        """Abandon all submissions and disconnect from the scheduler."""
        self._is_closing = True
        self._events.put(lambda: None)
        if hasattr(self, "_thread"):
            self._thread.join(CLOSE_SECONDS)  # it may be waiting for a scheduler
        self._connection.close()

    def _run(self) -> None:
        while not self._is_closing:
            try:
                self._follow_events()
                self._look()
                self._give_up_hanging()
                self._hand_out()
            except OSError:
                self._next_look = 0.0  # the scheduler is gone: the next look connects again
            except Exception as error:
                # The class run must not wait for results that will never come.
                self._over = _reason(error)
                self._requeue_all()
                while self._waiting:
                    self._fail(self._waiting.popleft(), self._over)

    def _follow_events(self) -> None:
        """Handle submissions and answers from other threads as soon as they arrive."""
        wait = LOOK_SECONDS
        with suppress(Empty):
            while True:
                self._events.get(timeout=wait)()
                wait = 0

    def _take(self, job: ClusterJob) -> None:
        if self._over:
            self._fail(job, self._over)
        else:
            self._waiting.append(job)

    def _look(self) -> None:
        """Update the list of workers, at most every LOOK_SECONDS."""
        now = time.monotonic()
        if now < self._next_look or self._over:
            return
        try:
            threads = self._connection.threads()
        except Exception:
            # All tasks are lost with the scheduler, which counts against no submission.
            self._requeue_all()
            self._connection.again()
            threads = self._connection.threads()
        for address in self._workers.keys() - threads.keys():
            worker = self._workers.pop(address)
            self._take_back(worker, set(worker.running(now)), "the worker was lost")
        for address in threads.keys() - self._workers.keys():
            self._workers[address] = WorkerState(address, threads[address])
            self._prepare(self._workers[address])
        usable = [worker for worker in self._workers.values() if not worker.unusable]
        self.at_once = max(8, sum(2 * (worker.threads + AHEAD) for worker in usable))
        self._next_look = time.monotonic() + LOOK_SECONDS
        if usable:
            self._alone_since = now
        elif now - self._alone_since > self.settings.reconnect_seconds:
            reasons = "; ".join(f"{worker.address}: {worker.unusable}" for worker in self._workers.values())
            raise GraderError(f"no worker can grade ({reasons or 'the scheduler has none'}): start or repair some")

    def _prepare(self, worker: WorkerState) -> None:
        """Start to prepare a worker, unless that is happening already or the worker is not used."""
        if not worker.is_ready:
            return
        worker.ready_by = time.monotonic() + READY_SECONDS
        worker.preparing = self._connection.submit(
            worker.address, worker_task.prepare, *self._requirements, self._packed
        )
        self._when_done(worker.preparing, partial(self._prepared, worker))

    def _prepared(self, worker: WorkerState, call: Any) -> None:
        if call is not worker.preparing or self._workers.get(worker.address) is not worker:
            return
        worker.preparing = None
        if call.status in ("cancelled", "lost"):
            self._prepare(worker)
            return
        self._dismiss(worker, why_unusable(call, RESULT_SECONDS))

    def _dismiss(self, worker: WorkerState, reason: str) -> None:
        """Stop using a worker if there is a reason."""
        if reason and not worker.unusable:
            worker.unusable = reason
            self._note(f"worker {worker.address} is not used: {reason}")

    def _hand_out(self) -> None:
        """Give waiting submissions to the least busy workers, avoiding those that were lost while grading them."""
        while self._waiting:
            free = [worker for worker in self._workers.values() if worker.is_free]
            if not free:
                return
            job = self._waiting[0]
            worker = min(free, key=lambda worker: (worker.address in job.lost, len(worker.calls) / worker.threads))
            submission = job.submission
            sent = submission.notebooks, submission.places
            task = Task(self._key, submission.student, submission.digest, *sent, job.previous, submission.files)
            call = self._connection.submit(worker.address, worker_task.grade, encoded(task))
            worker.calls[call] = self._waiting.popleft()
            worker.running(time.monotonic())
            self._when_done(call, partial(self._answered, worker))

    def _answered(self, worker: WorkerState, call: Any) -> None:
        job = worker.calls.get(call)
        if job is None or self._workers.get(worker.address) is not worker:
            return
        if call.status in ("cancelled", "lost"):
            # The scheduler was restarted or forgot the worker: update the list now.
            self._take_back(worker, set(), "")
            self._next_look = 0.0
            return
        try:
            data = call.result(timeout=RESULT_SECONDS)
            if not data:
                # The grading process ended during another submission, and this one was never started.
                self._take_back(worker, set(), "", only=[call])
                self._prepare(worker)
                return
            reply = decoded_reply(data)
            if reply.is_unusable:
                self._dismiss(worker, reply.error)
                self._take_back(worker, set(), "")
                return
            if reply.error:
                raise GraderError(reply.error)
            result = reply.checked(job.submission, self._bundle)
        except Exception as error:
            self._take_back(worker, {call}, _reason(error), only=[call])
            if isinstance(error, worker_task.ProcessLost):
                self._prepare(worker)
        else:
            del worker.calls[call]
            worker.running(time.monotonic())
            job.future.set_result(result)

    def _give_up_hanging(self) -> None:
        now = time.monotonic()
        for worker in self._workers.values():
            if worker.preparing is not None and now > worker.ready_by:
                worker.preparing = None
                self._dismiss(worker, f"it did not get ready within {READY_SECONDS} s")
            hanging = {call for call, since in worker.running(now).items() if now - since > self._seconds}
            if hanging:
                self._dismiss(worker, reason := f"no answer within {self._seconds} s")
                self._take_back(worker, hanging, reason)

    def _take_back(self, worker: WorkerState, guilty: set[Any], reason: str, only: list[Any] | None = None) -> None:
        """Return submissions of a worker to the queue. The loss counts only against the `guilty` calls."""
        for call in reversed(list(worker.calls) if only is None else only):
            job = worker.calls.pop(call)
            if call in guilty:
                job.lost.append(worker.address)
                if len(job.lost) >= MAX_LOST:
                    self._fail(job, f"{reason}, at the last of {MAX_LOST} attempts")
                    continue
            self._waiting.appendleft(job)
        worker.running(time.monotonic())

    def _when_done(self, call: Any, act: Callable[[Any], None]) -> None:
        call.add_done_callback(lambda call: self._events.put(lambda: act(call)))

    def _requeue_all(self) -> None:
        """Forget all workers, and return their submissions to the queue."""
        jobs = [job for worker in self._workers.values() for job in worker.calls.values()]
        self._waiting.extendleft(reversed(jobs))
        self._workers.clear()

    def _fail(self, job: ClusterJob, reason: str) -> None:
        job.future.set_exception(GraderError(reason))


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, GraderError) else f"{type(error).__name__}: {error}"
