"""A class of submissions, graded side by side; what goes wrong with one student stays with that student.

    source/ --register--> gradebook
    submitted/STUDENT --> job: read, repair, grade (in processes of their own) --> Graded
    Graded --> this thread alone: gradebook (one transaction), autograded/, feedback/

A student who is done carries a mark with a digest of everything the scores depend on, so that a second run, or one
after a kill, does what is left.
"""

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.classroom import Classroom
from course.grading import confinement
from course.grading.grade import grade
from course.grading.limits import Limits
from course.grading.records import Graded, Records
from course.grading.repair import Unreadable, read, repair
from course.misconceptions import Misconception, load
from course.release import register

AHEAD = 64
"""Students whose grading is under way or asked for at a time."""


@dataclass(frozen=True)
class Job:
    """What one student's grading takes."""

    student: str
    submitted: Path
    sources: dict[str, NotebookNode]
    limits: Limits
    sandbox: bool
    misconceptions: list[Misconception]


@dataclass(frozen=True)
class ClassRun:
    """How to grade a class: how many at a time, whether again what is done, whether confined."""

    classroom: Classroom
    assignment: str
    jobs: int = 0
    force: bool = False
    sandbox: bool = True

    def outcomes(self, executor: Executor | None = None) -> Iterator[Graded]:
        """Grades everyone whose submission, source or grader changed; yields each student once all is written.

        Those who are done come first, with no reports but with what was said of them. Raises CourseError where there is
        nothing to grade and Unconfinable where the kernel cannot confine.
        """
        if self.sandbox:
            confinement.check()
        sources, students = self._sources(), self.classroom.students(self.assignment)
        misconceptions = load(self.classroom.folder("source", self.assignment))
        register(self.classroom, self.assignment)
        with Records(self.classroom, self.assignment) as records:
            common = _common_digest(sources, misconceptions, _limits(self.classroom), records.due())
            waiting = []
            for student in students:
                job = self._job(student, sources, misconceptions)
                digest = _digest(job, common)
                done = None if self.force else records.done(student, digest)
                if done is None:
                    waiting.append((job, digest))
                else:
                    yield done
            yield from self._grade(waiting, records, executor)

    def _grade(self, waiting: list[tuple[Job, str]], records: Records, executor: Executor | None) -> Iterator[Graded]:
        pool = executor or ThreadPoolExecutor(self.jobs or os.cpu_count())
        under_way: dict[Future[Graded], tuple[Job, str]] = {}
        rest = iter(waiting)
        try:
            # Only so many at a time: what is done is written and let go, however large the class is.
            while True:
                under_way |= {pool.submit(_grade_student, job[0]): job for job in islice(rest, AHEAD - len(under_way))}
                if not under_way:
                    return
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    yield self._written(future, *under_way.pop(future), records)
        finally:
            if executor is None:
                pool.shutdown(cancel_futures=True)

    def _written(self, future: Future[Graded], job: Job, digest: str, records: Records) -> Graded:
        graded = Graded(job.student)
        try:
            graded = future.result()
            records.write(graded, digest)
        except Exception as error:
            # Nothing says that this student is done: the next run tries again.
            graded.troubles.append(f"could not be graded ({type(error).__name__}: {error})")
        return graded

    def waiting(self) -> int:
        """How many students there are to grade at the most; raises CourseError where there is nothing to grade."""
        self.classroom.require(self.assignment)
        return len(self.classroom.students(self.assignment))

    def _sources(self) -> dict[str, NotebookNode]:
        folder = self.classroom.require(self.assignment)
        return {path.stem: read(path, _limits(self.classroom).notebook_mb) for path in sorted(folder.glob("*.ipynb"))}

    def _job(self, student: str, sources: dict[str, NotebookNode], misconceptions: list[Misconception]) -> Job:
        submitted = self.classroom.folder("submitted", self.assignment, student)
        return Job(student, submitted, sources, _limits(self.classroom), self.sandbox, misconceptions)


def _grade_student(job: Job) -> Graded:
    graded = Graded(job.student)
    for name, source in job.sources.items():
        path = job.submitted / f"{name}.ipynb"
        if not path.exists():
            graded.remarks.append(f"{path.name} was not handed in")
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
        if report.repairs:
            cells = "a cell was" if len(report.repairs) == 1 else f"{len(report.repairs)} cells were"
            graded.remarks.append(f"in {name} {cells} put right")
    return graded


def _limits(classroom: Classroom) -> Limits:
    return Limits(config=classroom.config)


def _common_digest(
    sources: dict[str, NotebookNode], misconceptions: list[Misconception], limits: Limits, due: datetime | None
) -> str:
    """Names what the records of a whole class depend on: grader, limits, due date, source and known mistakes."""
    digest = hashlib.sha256(_engine().encode())
    digest.update(repr(misconceptions).encode())
    digest.update(repr(due).encode())
    digest.update(repr(sorted(limits.trait_values(config=True).items())).encode())
    for name, source in sources.items():
        digest.update(name.encode())
        digest.update(nbformat.writes(source).encode())
    return digest.hexdigest()


def _digest(job: Job, common: str) -> str:
    """Names everything that one student's scores depend on."""
    digest = hashlib.sha256(common.encode())
    for name in (*(f"{name}.ipynb" for name in job.sources), "timestamp.txt"):
        path = job.submitted / name
        digest.update(name.encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


@cache
def _engine() -> str:
    """Names the grader: its code and the torch it runs on."""
    digest = hashlib.sha256(version("torch").encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
