"""Hands submissions to the workers of a cluster, and sees to it that each is graded once or named.

    Submission --Task--> worker --Reply, checked--> StudentResult
    a lost, hanging or unfit worker --> its submissions go to others

One thread decides everything. dask only carries the calls: each goes to a worker that this module chose, so that it is
known what a worker was doing when it was lost. A submission over which MAX_LOST workers were lost is given up.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from traitlets.config import Config

from grader.classroom.gradebook.rules import RegisteredNotebook
from grader.classroom.page.page_maker import Earlier, StudentResult
from grader.classroom.student import Assignment, Submission
from grader.commands.cluster import worker
from grader.commands.cluster.connect import Connection, why_unfit
from grader.commands.cluster.members import Job, Member
from grader.commands.cluster.settings import Cluster
from grader.commands.cluster.wire import Lesson, Needs, Task, decoded_reply, encoded, key_of
from grader.errors import GraderError

MAX_LOST = 3
"""Workers that may be lost over a submission: it is handed out again twice."""
LOOK_SECONDS = 1
"""Seconds between two looks at which workers there are."""
READY_SECONDS = 300
"""Seconds within which a worker must get ready, which takes a few: it loads torch."""
RESULT_SECONDS = 30
"""Seconds within which a result must arrive that a worker has."""
CLOSE_SECONDS = 5
AHEAD = 1
"""Submissions that a worker has besides those that it grades, so that it never waits for the next."""


class Crew:
    """Grades on a cluster, pages included."""

    make_pages = True
    patience = 1.0

    def __init__(self, address: str, config: Config, note: Callable[[str], None]) -> None:
        """Connect to the scheduler.

        Args:
            address: where it is, or `local:N`.
            config: the configuration of the course.
            note: takes a line about a worker that is not used.

        Raises:
            GraderError: no scheduler answers there.
        """
        self.settings, self._config, self._note = Cluster(config=config), config, note
        self._connection = Connection(address, self.settings.patience)
        self.at_once = 8
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._members: dict[str, Member] = {}
        self._waiting: deque[Job] = deque()
        self._next_look, self._alone_since = 0.0, time.monotonic()
        self._over = ""
        self._is_closing = False

    @property
    def is_over(self) -> bool:
        """Whether the cluster was lost for longer than the driver waits, so that nothing more can be graded."""
        return bool(self._over)

    def begin(self, assignment: Assignment, notebooks: dict[str, RegisteredNotebook]) -> None:
        """Make the workers ready for an assignment."""
        self._lesson = Lesson.of(assignment, notebooks, self._config)
        self._packed = self._lesson.packed()
        self._key = key_of(self._packed)
        needs = Needs.of(assignment.helper_packages, sandbox=assignment.sandbox)
        self._needs = encoded(needs), needs.helper_packages
        self._seconds = self.settings.seconds_for(assignment)
        self._thread = threading.Thread(target=self._run, name="crew", daemon=True)
        self._thread.start()

    def submit(self, assignment: Assignment, submission: Submission, earlier: Earlier) -> "Future[StudentResult]":
        """Have a submission graded by a worker."""
        job = Job(submission, earlier)
        self._events.put(lambda: self._take(job))
        return job.future

    def close(self) -> None:
        """Give up what is under way, and leave the scheduler."""
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
                self._over = str(error) if isinstance(error, GraderError) else f"{type(error).__name__}: {error}"
                for job in self._all_jobs():
                    self._fail(job, self._over)

    def _follow_events(self) -> None:
        """Handle submissions and answers, which other threads announce, as soon as they arrive."""
        wait = LOOK_SECONDS
        with suppress(Empty):
            while True:
                self._events.get(timeout=wait)()
                wait = 0

    def _take(self, job: Job) -> None:
        if self._over:
            self._fail(job, self._over)
        else:
            self._waiting.append(job)

    def _look(self) -> None:
        """Find out which workers have joined or left, at most every LOOK_SECONDS."""
        now = time.monotonic()
        if now < self._next_look or self._over:
            return
        try:
            threads = self._connection.threads()
        except Exception:
            # All tasks are lost with the scheduler. That does not count against any submission.
            self._waiting.extendleft(reversed(self._jobs_of(self._members.values())))
            self._members.clear()
            self._connection.again()
            threads = self._connection.threads()
        for address in self._members.keys() - threads.keys():
            member = self._members.pop(address)
            self._take_back(member, set(member.running(now)), "the worker was lost")
        for address in threads.keys() - self._members.keys():
            self._members[address] = Member(address, threads[address])
            self._fit(self._members[address])
        usable = [member for member in self._members.values() if not member.unfit]
        self.at_once = max(8, sum(2 * (member.threads + AHEAD) for member in usable))
        self._next_look = time.monotonic() + LOOK_SECONDS
        if usable:
            self._alone_since = now
        elif now - self._alone_since > self.settings.patience:
            reasons = "; ".join(f"{member.address}: {member.unfit}" for member in self._members.values())
            raise GraderError(f"no worker can grade ({reasons or 'the scheduler has none'}): start or mend some")

    def _fit(self, member: Member) -> None:
        """Have a worker get ready."""
        member.ready_by = time.monotonic() + READY_SECONDS
        member.fitting = self._connection.submit(member.address, worker.fit, *self._needs, self._packed)
        self._when_done(member.fitting, partial(self._fitted, member))

    def _fit_again(self, member: Member) -> None:
        if member.is_ready:
            self._fit(member)

    def _fitted(self, member: Member, call: Any) -> None:
        if call is not member.fitting or self._members.get(member.address) is not member:
            return
        member.fitting = None
        if call.status in ("cancelled", "lost"):
            self._fit(member)
            return
        self._dismiss(member, why_unfit(call, RESULT_SECONDS))

    def _dismiss(self, member: Member, words: str) -> None:
        """Stop using a worker, for a reason; do nothing without one."""
        if words and not member.unfit:
            member.unfit = words
            self._note(f"worker {member.address} is not used: {words}")

    def _hand_out(self) -> None:
        """Give waiting submissions to the workers with the least to do, others than those that were lost over them."""
        while self._waiting:
            free = [
                member
                for member in self._members.values()
                if member.is_ready and len(member.calls) < member.threads + AHEAD
            ]
            job = self._waiting[0]
            if not free:
                return
            others = [member for member in free if member.address not in job.lost] or free
            member = min(others, key=lambda member: member.load)
            submission = job.submission
            task = Task(self._key, submission.student, submission.digest, submission.notebooks, job.earlier)
            call = self._connection.submit(member.address, worker.grade, encoded(task))
            member.calls[call] = self._waiting.popleft()
            member.running(time.monotonic())
            self._when_done(call, partial(self._answered, member))

    def _answered(self, member: Member, call: Any) -> None:
        job = member.calls.get(call)
        if job is None or self._members.get(member.address) is not member:
            return
        if call.status in ("cancelled", "lost"):
            # The scheduler was restarted, or forgot the worker: the next look tells.
            self._take_back(member, set(), "")
            self._next_look = 0.0
            return
        try:
            data = call.result(timeout=RESULT_SECONDS)
            if not data:
                # Its room was lost over another submission, and this one was never started.
                self._take_back(member, set(), "", only=[call])
                self._fit_again(member)
                return
            reply = decoded_reply(data)
            if reply.is_unfit:
                self._dismiss(member, reply.error)
                self._take_back(member, set(), "")
                return
            if reply.error:
                raise GraderError(reply.error)
            result = reply.checked(job.submission, self._lesson)
        except Exception as error:
            words = str(error) if isinstance(error, GraderError) else f"{type(error).__name__}: {error}"
            self._take_back(member, {call}, words, only=[call])
            if isinstance(error, worker.RoomLost):
                self._fit_again(member)
        else:
            del member.calls[call]
            member.running(time.monotonic())
            job.future.set_result(result)

    def _give_up_hanging(self) -> None:
        now = time.monotonic()
        for member in self._members.values():
            if member.fitting is not None and now > member.ready_by:
                member.fitting = None
                self._dismiss(member, f"it did not get ready within {READY_SECONDS} s")
            hanging = {call for call, since in member.running(now).items() if now - since > self._seconds}
            if hanging:
                words = f"no answer within {self._seconds} s"
                self._dismiss(member, words)
                self._take_back(member, hanging, words)

    def _take_back(self, member: Member, guilty: set[Any], words: str, only: Iterable[Any] | None = None) -> None:
        """Return a worker's submissions to the queue. The loss counts only against those that it was grading."""
        calls = list(member.calls) if only is None else list(only)
        for call in reversed(calls):
            job = member.calls.pop(call)
            if call in guilty:
                job.lost.append(member.address)
                if len(job.lost) >= MAX_LOST:
                    self._fail(job, f"{words}, at the last of {MAX_LOST} attempts")
                    continue
            self._waiting.appendleft(job)
        member.running(time.monotonic())

    def _when_done(self, call: Any, act: Callable[[Any], None]) -> None:
        call.add_done_callback(lambda call: self._events.put(lambda: act(call)))

    def _jobs_of(self, members: Iterable[Member]) -> list[Job]:
        return [job for member in members for job in member.calls.values()]

    def _all_jobs(self) -> list[Job]:
        """Return all jobs that are under way, and forget them."""
        jobs = [*self._jobs_of(self._members.values()), *self._waiting]
        self._members.clear()
        self._waiting.clear()
        return jobs

    def _fail(self, job: Job, words: str) -> None:
        job.future.set_exception(GraderError(words))
