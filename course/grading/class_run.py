"""A class of submissions, graded side by side; what goes wrong with one student stays with that student.

    source/ --register--> gradebook
    submitted/STUDENT --> job: read, repair, grade (in processes of their own) --> Graded
    Graded --> this thread alone: gradebook (one transaction), autograded/, feedback/

A student who is done carries a mark with a digest of everything the scores depend on, so that a second run, or one
after a kill, does what is left.
"""

import errno
import hashlib
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from sqlalchemy.exc import OperationalError

from course.classroom import Classroom
from course.errors import CourseError
from course.grading import confinement
from course.grading.engine import engine_digest
from course.grading.grade import grade
from course.grading.handed_in import Unreadable, contents, is_there
from course.grading.limits import Limits
from course.grading.records import TIMESTAMP, Graded, Records, is_marked
from course.grading.repair import read, repair
from course.grading.sources import read_sources
from course.misconceptions import Misconception, load
from course.release import register

AHEAD = 64
"""Students whose grading is under way or asked for at a time."""

SHOWN = 3
"""How many notebooks of another name are named where one is missing."""

HIDDEN = re.compile(r"\.|__MACOSX")
"""How folders and files begin that programs make for themselves: checkpoints, and what a Mac packs."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True)
class Job:
    """What one student's grading takes; `digest` names what was handed in before it began."""

    student: str
    submitted: Path
    digest: str
    sources: dict[str, NotebookNode]
    limits: Limits
    sandbox: bool
    misconceptions: list[Misconception]


@dataclass(frozen=True)
class ClassRun:
    """How to grade a class: how many at a time, whether again what is done, whether confined, all or `only` these."""

    classroom: Classroom
    assignment: str
    jobs: int = 0
    force: bool = False
    sandbox: bool = True
    only: Sequence[str] = ()

    def outcomes(self, executor: Executor | None = None) -> Iterator[Graded]:
        """Grades everyone whose submission, source or grader changed; yields each student once all is written.

        Those who are done come first, with no reports but with what was said of them. Raises CourseError where there is
        nothing to grade, or no gradebook or disk to write to, and Unconfinable where the kernel cannot confine.
        """
        if self.sandbox:
            confinement.check()
        limits = Limits(config=self.classroom.config)
        sources = read_sources(self.classroom.require(self.assignment), limits.notebook_mb)
        misconceptions = load(self.classroom.folder("source", self.assignment))
        job = lambda student: self._job(student, sources, limits, misconceptions)  # noqa: E731
        students = self.classroom.students(self.assignment, self.only)
        fresh = {who for who in students if self.force or not is_marked(self.classroom, self.assignment, who)}
        with _Workers(job, executor, self.jobs) as workers:
            # Whoever has no mark is not done, whatever the gradebook says: they are graded while it is made ready.
            workers.take(who for who in students if who in fresh)
            register(self.classroom, self.assignment)
            with Records(self.classroom, self.assignment) as records:
                if fresh:
                    # The fork server is still loading, or the first are being graded: there is nothing to write yet.
                    records.rehearse(sources)
                common = _common_digest(sources, misconceptions, limits, records.due())
                for student in (who for who in students if who not in fresh):
                    done = records.done(student, _digest(common, job(student)))
                    if done is None:
                        workers.take([student])
                    else:
                        yield done
                for begun, future in workers.ended():
                    yield self._written(begun, future, _digest(common, begun), records)

    def _written(self, job: Job, future: Future[Graded], digest: str, records: Records) -> Graded:
        graded = Graded(job.student)
        try:
            graded = future.result()
            records.write(graded, digest)
        except OperationalError:
            raise  # the gradebook is everybody's: each of them would wait for it in vain
        except Exception as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise CourseError(
                    f"nothing more can be written ({error.strerror}): make room, and run this again; "
                    "who is graded stays graded"
                ) from error
            # Nothing says that this student is done: the next run tries again.
            graded.troubles.append(f"could not be graded ({type(error).__name__}: {error})")
        return graded

    def waiting(self) -> int:
        """How many students there are to grade at the most; raises CourseError where there is nothing to grade."""
        self.classroom.require(self.assignment)
        return len(self.classroom.students(self.assignment, self.only))

    def _job(
        self, student: str, sources: dict[str, NotebookNode], limits: Limits, misconceptions: list[Misconception]
    ) -> Job:
        submitted = self.classroom.folder("submitted", self.assignment, student)
        paths = [submitted / name for name in (*(f"{name}.ipynb" for name in sources), TIMESTAMP)]
        digest = _digest_of_files(paths, limits.notebook_mb)
        return Job(student, submitted, digest, sources, limits, self.sandbox, misconceptions)


class _Workers:
    """Grades students side by side, AHEAD at a time: what is done is written and let go, however large the class is.

    `job` says what a student's grading takes, when its turn comes.
    """

    def __init__(self, job: Callable[[str], Job], executor: Executor | None, workers: int) -> None:
        # No more than there are processors: further ones would only keep these waiting.
        processors = len(os.sched_getaffinity(0))
        self._pool = executor or ThreadPoolExecutor(min(workers, processors) if workers > 0 else processors)
        self._is_ours = executor is None
        self._job = job
        self._waiting: deque[str] = deque()
        self._under_way: dict[Future[Graded], Job] = {}

    def __enter__(self) -> "_Workers":
        return self

    def __exit__(self, *error: object) -> None:
        for future in self._under_way:
            future.cancel()
        if self._is_ours:
            self._pool.shutdown()

    def take(self, students: Iterable[str]) -> None:
        """Grades these too."""
        self._waiting.extend(students)
        while self._waiting and len(self._under_way) < AHEAD:
            job = self._job(self._waiting.popleft())
            self._under_way[self._pool.submit(_grade_student, job)] = job

    def ended(self) -> Iterator[tuple[Job, Future[Graded]]]:
        """The jobs as they end, until all have; those that ended together in the order they were asked for."""
        while self._under_way:
            done = wait(self._under_way, return_when=FIRST_COMPLETED).done
            for future in [asked for asked in self._under_way if asked in done]:
                yield self._under_way.pop(future), future
            self.take(())


def _grade_student(job: Job) -> Graded:
    graded = Graded(job.student)
    for name, source in job.sources.items():
        path = job.submitted / f"{name}.ipynb"
        if not is_there(path):
            graded.remarks.append(f"{path.name} was not handed in{_others(job)}")
            continue
        try:
            submission = read(path, job.limits.notebook_mb)
        except Unreadable as error:
            graded.troubles.append(str(error))
            continue
        repaired = repair(source, submission)
        report = grade(source, repaired, job.limits, sandbox=job.sandbox, misconceptions=job.misconceptions)
        confinement.require_confined(report)
        graded.reports[name], graded.notebooks[name] = report, repaired.notebook
        if report.was_given_up:
            graded.troubles.append(
                f"grading {name} did not come to an end, and its tests count zero: grade again with --force"
            )
        if report.repairs:
            cells = "a cell was" if len(report.repairs) == 1 else f"{len(report.repairs)} cells were"
            graded.remarks.append(f"in {name} {cells} put right")
    return graded


def _others(job: Job) -> str:
    """What lies there under another name, or one folder too deep, as Python writes it: a student chose the names."""
    found = (path.relative_to(job.submitted) for pattern in ("*", "*/*") for path in job.submitted.glob(pattern))
    expected = {Path(f"{name}.ipynb") for name in job.sources}
    others = sorted(
        str(path)
        for path in found
        if path.suffix.lower() == ".ipynb" and path not in expected and not HIDDEN.match(str(path))
    )
    if not others:
        return ""
    more = " …" if len(others) > SHOWN else ""
    return f", but {', '.join(map(repr, others[:SHOWN]))}{more}: give the right one its name and place"


def _common_digest(
    sources: dict[str, NotebookNode], misconceptions: list[Misconception], limits: Limits, due: datetime | None
) -> str:
    """Names what the records of a whole class depend on: grader, limits, due date, source and known mistakes."""
    digest = hashlib.sha256(engine_digest(["course"]).encode())
    digest.update(repr(misconceptions).encode())
    digest.update(repr(due).encode())
    digest.update(repr(sorted(limits.trait_values(config=True).items())).encode())
    for name, source in sources.items():
        digest.update(name.encode())
        digest.update(nbformat.writes(source).encode())
    return digest.hexdigest()


def _digest(common: str, job: Job) -> str:
    """Names everything that one student's scores depend on."""
    return hashlib.sha256(f"{common} {job.digest}".encode()).hexdigest()


def _digest_of_files(paths: list[Path], max_mb: int) -> str:
    digest = hashlib.sha256()
    for path in paths:
        try:
            content = contents(path, max_mb)
        except Unreadable as error:
            content = str(error).encode()
        digest.update(f"{path.name} {len(content)} ".encode() + content)
    return digest.hexdigest()
