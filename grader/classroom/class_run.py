"""Grades a class of submissions side by side; an error with one student does not affect the others.

    source/ --register--> gradebook
    submitted/STUDENT --> Submission --Graders: parse, repair, grade--> StudentResult
    StudentResults --> this thread alone: gradebook (one transaction), autograded/, feedback/

A completion marker for each finished student holds a digest of everything that the scores depend on. A second run, or
one after a kill, grades only students without a matching marker.
"""

import errno
import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol

import nbformat
from sqlalchemy.exc import OperationalError

from grader.classroom.course_dir import CourseDir
from grader.classroom.marks import RegisteredNotebook
from grader.classroom.pages import Earlier, StudentResult
from grader.classroom.release import register
from grader.classroom.results import ResultWriter, has_completion_marker
from grader.classroom.student import Assignment, Submission, grade_submission, load_assignment, read_submission
from grader.engine import engine_digest
from grader.errors import GraderError
from grader.sandbox import confinement
from grader.supervisor.pool import side_by_side

MAX_MB_UNDER_WAY = 256
"""MiB of submissions that are read and not yet graded: one may have as much as its notebooks may."""
MAX_TOGETHER = 16
"""How many students are written in one transaction."""
PAUSE_SECONDS = 0.05

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class Graders(Protocol):
    """Where submissions are graded: on this machine, or on a cluster."""

    at_once: int
    """How many submissions may be under way, so that no grader waits for this process."""
    make_pages: bool
    """Whether pages are made there too. For that, submissions wait until the gradebook has the assignment."""
    patience: float
    """Seconds for which a result may wait for others, to be written with them in one transaction."""

    def begin(self, assignment: Assignment, notebooks: dict[str, RegisteredNotebook]) -> None:
        """Take an assignment, and what the gradebook has of it; called once."""

    def submit(self, assignment: Assignment, submission: Submission, earlier: Earlier) -> "Future[StudentResult]":
        """Have a submission graded; `earlier` is what its pages may depend on besides."""

    def close(self) -> None:
        """Grade nothing more."""


class Threads:
    """Grades on this machine, in threads that each use processes of their own. The main thread makes the pages."""

    make_pages = False
    patience = 0.0

    def __init__(self, jobs: int = 0) -> None:
        threads = side_by_side(jobs)
        self.at_once = 4 * threads
        self._pool = ThreadPoolExecutor(threads)

    def begin(self, assignment: Assignment, notebooks: dict[str, RegisteredNotebook]) -> None:
        """Do nothing: grading has begun before."""

    def submit(self, assignment: Assignment, submission: Submission, earlier: Earlier) -> "Future[StudentResult]":
        """Have a submission graded by the next thread that is free."""
        return self._pool.submit(grade_submission, assignment, submission)

    def close(self) -> None:
        """Wait for what is being graded, and end the threads."""
        self._pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class ClassRun:
    """How to grade a class.

    `jobs` students are graded at a time, as many as there are cores if it is 0; `force` regrades students who are
    done; `only` names the students to grade, all if it is empty.
    """

    course_dir: CourseDir
    assignment: str
    jobs: int = 0
    force: bool = False
    sandbox: bool = True
    only: Sequence[str] = ()

    def outcomes(self, graders: Graders | None = None) -> Iterator[StudentResult]:
        """Grade students whose submission, source or grader changed; yield each of them once all is written.

        Students who are done come first, without reports but with their earlier troubles and remarks.

        Args:
            graders: where to grade; by default, threads that each start processes of their own.

        Raises:
            GraderError: there is nothing to grade, or the gradebook or the disk cannot be written.
            SandboxUnavailable: the kernel cannot confine student code.
        """
        if self.sandbox and graders is None:
            confinement.check()
        assignment = load_assignment(self.course_dir, self.assignment, sandbox=self.sandbox)
        read = partial(self._read, assignment)
        students = self.course_dir.students(self.assignment, self.only)
        is_marked = partial(has_completion_marker, self.course_dir, self.assignment)
        unfinished = {student for student in students if self.force or not is_marked(student)}
        with _UnderWay(graders or Threads(self.jobs), assignment, read) as under_way:
            if not under_way.graders.make_pages:
                # They must be graded in any case, so start on them before the gradebook is ready.
                under_way.take(student for student in students if student in unfinished)
            register(self.course_dir, self.assignment)
            with ResultWriter(self.course_dir, self.assignment) as writer:
                under_way.graders.begin(assignment, writer.notebooks)
                if under_way.graders.make_pages:
                    under_way.earlier = writer.earlier
                    under_way.take(student for student in students if student in unfinished)
                elif unfinished:
                    # The fork server is still loading or the first students are being graded: there is time for this.
                    writer.warm_up(assignment.sources)
                common = _common_digest(assignment, writer.due())
                for student in (name for name in students if name not in unfinished):
                    result = writer.finished_result(student, _digest(common, self._known_digest(read, student)))
                    if result is None:
                        under_way.take([student])
                    else:
                        yield result
                for ended in under_way.ended():
                    yield from _written(ended, common, writer)

    def student_count(self) -> int:
        """Return how many students `outcomes` yields; raise GraderError if there is nothing to grade."""
        self.course_dir.require(self.assignment)
        return len(self.course_dir.students(self.assignment, self.only))

    def _read(self, assignment: Assignment, student: str) -> Submission:
        return read_submission(assignment, student, self.course_dir.handed_in(self.assignment, student))

    @staticmethod
    def _known_digest(read: Callable[[str], Submission], student: str) -> str:
        try:
            return read(student).digest
        except OSError:
            return ""  # reading it again says why


class _UnderWay:
    """The submissions that are being graded.

    Only a bounded number is read at a time: finished ones are written and dropped, however large the class is.
    """

    def __init__(self, graders: Graders, assignment: Assignment, read: Callable[[str], Submission]) -> None:
        self.graders = graders
        self.earlier: Callable[[str], Earlier] = lambda _: Earlier()
        self._assignment, self._read = assignment, read
        self._waiting: deque[str] = deque()
        self._futures: dict[Future[StudentResult], tuple[str, str]] = {}
        self._sizes: dict[Future[StudentResult], int] = {}

    def __enter__(self) -> "_UnderWay":
        return self

    def __exit__(self, *error: object) -> None:
        self.graders.close()

    def take(self, students: Iterable[str]) -> None:
        """Add students to those that are graded."""
        self._waiting.extend(students)
        room = MAX_MB_UNDER_WAY * 2**20 - sum(self._sizes.values())
        while self._waiting and len(self._futures) < self.graders.at_once and (room > 0 or not self._futures):
            student, submission = self._waiting.popleft(), None
            future = Future[StudentResult]()
            try:
                submission = self._read(student)
                future = self.graders.submit(self._assignment, submission, self.earlier(student))
            except OSError as error:
                future.set_exception(error)
            self._futures[future] = student, submission.digest if submission else ""
            self._sizes[future] = submission.size if submission else 0
            room -= self._sizes[future]

    def ended(self) -> Iterator[list["_Ended"]]:
        """Yield the students whose grading has ended, until all have; those that ended together, together."""
        while self._futures:
            wait(self._futures, return_when=FIRST_COMPLETED)
            end = time.monotonic() + self.graders.patience
            while len(ended := self._done()) < min(MAX_TOGETHER, len(self._futures)) and time.monotonic() < end:
                time.sleep(PAUSE_SECONDS)
            group = [_Ended(*self._futures.pop(future), future) for future in ended]
            for future in ended:
                del self._sizes[future]
            # What comes next is graded while these are written.
            self.take(())
            yield group

    def _done(self) -> list[Future[StudentResult]]:
        return [future for future in self._futures if future.done()][:MAX_TOGETHER]


@dataclass
class _Ended:
    """A student whose grading has ended, the digest of the submission, and what came of it."""

    student: str
    digest: str
    future: Future[StudentResult]

    @property
    def result(self) -> StudentResult:
        """The result, with a trouble if it could not be graded."""
        if (error := self.future.exception()) is not None:
            return StudentResult(self.student, troubles=[_could_not_be_graded(error)])
        return self.future.result()


def _written(group: list[_Ended], common: str, writer: ResultWriter) -> Iterator[StudentResult]:
    """Write a group of students and yield their results; none without a completion marker is done."""
    results = {each.student: each.result for each in group}
    graded = [(results[each.student], _digest(common, each.digest)) for each in group if not each.future.exception()]
    try:
        writer.write(graded)
    except Exception as error:
        _require_writable(error)
        # Find out whose results cannot be written.
        for result, digest in graded:
            try:
                writer.write([(result, digest)])
            except Exception as error:
                _require_writable(error)
                result.troubles.append(_could_not_be_graded(error))
    yield from results.values()


def _require_writable(error: Exception) -> None:
    """End the run over an error that every other student would meet, too."""
    if isinstance(error, OperationalError):
        raise error
    if isinstance(error, OSError) and error.errno in DISK_ERRORS:
        raise GraderError(
            f"results cannot be written ({error.strerror}): make the disk writable or free some space, and run "
            "this again; students who are done stay graded"
        ) from error


def _could_not_be_graded(error: BaseException) -> str:
    """A trouble in words. Without a completion marker, the next run grades this student again."""
    reason = str(error) if isinstance(error, GraderError) else f"{type(error).__name__}: {error}"
    return f"could not be graded ({reason})"


def _common_digest(assignment: Assignment, due: datetime | None) -> str:
    """A digest of what the scores of all students depend on."""
    digest = hashlib.sha256(engine_digest(assignment.helper_packages).encode())
    digest.update(repr(assignment.misconceptions).encode())
    digest.update(repr(due).encode())
    digest.update(repr(sorted(assignment.limits.trait_values(config=True).items())).encode())
    for name, source in assignment.sources.items():
        digest.update(name.encode())
        digest.update(nbformat.writes(source).encode())
    return digest.hexdigest()


def _digest(common: str, submission: str) -> str:
    """A digest of everything that one student's scores depend on."""
    return hashlib.sha256(f"{common} {submission}".encode()).hexdigest()
