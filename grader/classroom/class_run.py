"""Grades a class of submissions side by side; an error with one student does not affect the others.

    source/ --register--> gradebook
    submitted/STUDENT --> job: read, repair, grade (in processes of their own) --> StudentResult
    StudentResult --> this thread alone: gradebook (one transaction), autograded/, feedback/

A completion marker for each finished student holds a digest of everything that the scores depend on. A second run, or
one after a kill, grades only students without a matching marker.
"""

import errno
import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import nbformat
from sqlalchemy.exc import OperationalError

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import register
from grader.classroom.results import TIMESTAMP, ResultWriter, StudentResult, has_completion_marker
from grader.classroom.student import Assignment, grade_notebook, load_assignment
from grader.engine import engine_digest
from grader.errors import GraderError, UnreadableFile
from grader.notebook.handed_in import HandedIn
from grader.sandbox import confinement
from grader.supervisor.pool import side_by_side
from grader.supervisor.readers import read_handed_in

MAX_SUBMITTED_JOBS = 64
"""How many students are handed to the executor at a time."""

MAX_NAMES = 3
"""How many files are suggested for a missing notebook."""

IGNORED_FILES = re.compile(r"\.|__MACOSX")
"""How files begin that programs make for themselves: checkpoints, and what macOS adds to an archive."""

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True)
class Job:
    """What grading one student needs; `digest` identifies the files of the submission before they were graded."""

    student: str
    handed_in: HandedIn
    digest: str
    assignment: Assignment


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

    def outcomes(self, executor: Executor | None = None) -> Iterator[StudentResult]:
        """Grade students whose submission, source or grader changed; yield each of them once all is written.

        Students who are done come first, without reports but with their earlier troubles and remarks.

        Args:
            executor: where to grade; by default, threads that each start processes of their own.

        Raises:
            GraderError: there is nothing to grade, or the gradebook or the disk cannot be written.
            SandboxUnavailable: the kernel cannot confine student code.
        """
        if self.sandbox:
            confinement.check()
        assignment = load_assignment(self.course_dir, self.assignment, sandbox=self.sandbox)
        make_job = partial(self._job, assignment)
        students = self.course_dir.students(self.assignment, self.only)
        is_marked = partial(has_completion_marker, self.course_dir, self.assignment)
        unfinished = {student for student in students if self.force or not is_marked(student)}
        with _Workers(make_job, executor, self.jobs) as workers:
            # Students without a completion marker must be graded, so start on them before the gradebook is ready.
            workers.take(student for student in students if student in unfinished)
            register(self.course_dir, self.assignment)
            with ResultWriter(self.course_dir, self.assignment) as writer:
                if unfinished:
                    # The fork server is still loading or the first students are being graded: there is time for this.
                    writer.warm_up(assignment.sources)
                common = _common_digest(assignment, writer.due())
                for student in (name for name in students if name not in unfinished):
                    result = writer.finished_result(student, _digest(common, make_job(student)))
                    if result is None:
                        workers.take([student])
                    else:
                        yield result
                for job, future in workers.ended():
                    yield self._written(job, future, _digest(common, job), writer)

    def _written(self, job: Job, future: Future[StudentResult], digest: str, writer: ResultWriter) -> StudentResult:
        student_result = StudentResult(job.student)
        try:
            student_result = future.result()
            writer.write(student_result, digest)
        except OperationalError:
            raise  # every other student would wait in vain for the same gradebook
        except Exception as error:
            if isinstance(error, OSError) and error.errno in DISK_ERRORS:
                raise GraderError(
                    f"results cannot be written ({error.strerror}): make the disk writable or free some space, and run "
                    "this again; students who are done stay graded"
                ) from error
            # Without a completion marker, the next run grades this student again.
            student_result.troubles.append(f"could not be graded ({type(error).__name__}: {error})")
        return student_result

    def student_count(self) -> int:
        """Return how many students `outcomes` yields; raise GraderError if there is nothing to grade."""
        self.course_dir.require(self.assignment)
        return len(self.course_dir.students(self.assignment, self.only))

    def _job(self, assignment: Assignment, student: str) -> Job:
        handed_in = self.course_dir.handed_in(self.assignment, student)
        files = [*(f"{name}.ipynb" for name in assignment.sources), TIMESTAMP]
        digest = _digest_of_files(handed_in, files, assignment.limits.notebook_mb)
        return Job(student, handed_in, digest, assignment)


class _Workers:
    """Grades students side by side.

    No more than MAX_SUBMITTED_JOBS are under way: finished ones are written and dropped, however large the class is.
    """

    def __init__(self, make_job: Callable[[str], Job], executor: Executor | None, workers: int) -> None:
        self._pool = executor or ThreadPoolExecutor(side_by_side(workers))
        self._owns_pool = executor is None
        self._make_job = make_job
        self._waiting: deque[str] = deque()
        self._under_way: dict[Future[StudentResult], Job] = {}

    def __enter__(self) -> "_Workers":
        return self

    def __exit__(self, *error: object) -> None:
        for future in self._under_way:
            future.cancel()
        if self._owns_pool:
            self._pool.shutdown()

    def take(self, students: Iterable[str]) -> None:
        """Add students to those that are graded."""
        self._waiting.extend(students)
        while self._waiting and len(self._under_way) < MAX_SUBMITTED_JOBS:
            job = self._make_job(self._waiting.popleft())
            self._under_way[self._pool.submit(_grade_student, job)] = job

    def ended(self) -> Iterator[tuple[Job, Future[StudentResult]]]:
        """Yield the jobs as they end, until all have; those that ended together in the order of their submission."""
        while self._under_way:
            done = wait(self._under_way, return_when=FIRST_COMPLETED).done
            for future in [future for future in self._under_way if future in done]:
                yield self._under_way.pop(future), future
            self.take(())


def _grade_student(job: Job) -> StudentResult:
    student_result = StudentResult(job.student)
    for name in job.assignment.sources:
        file = f"{name}.ipynb"
        try:
            if not job.handed_in.has(file):
                student_result.remarks.append(f"{file} was not handed in{_other_notebooks(job)}")
                continue
            submission = read_handed_in(job.handed_in, file, job.assignment.limits.notebook_mb)
        except UnreadableFile as error:
            student_result.troubles.append(str(error))
            continue
        grade_notebook(job.assignment, name, submission, student_result)
    return student_result


def _other_notebooks(job: Job) -> str:
    """Notebooks with another name or one folder too deep, quoted as Python literals: a student chose the names."""
    expected = {Path(f"{name}.ipynb") for name in job.assignment.sources}
    others = sorted(
        str(entry.path)
        for entry in job.handed_in.entries()
        if entry.path.suffix.lower() == ".ipynb"
        and entry.path not in expected
        and not IGNORED_FILES.match(str(entry.path))
    )
    if not others:
        return ""
    more = " …" if len(others) > MAX_NAMES else ""
    return f", but there is {', '.join(map(repr, others[:MAX_NAMES]))}{more}: move or rename the right file"


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


def _digest(common: str, job: Job) -> str:
    """A digest of everything that one student's scores depend on."""
    return hashlib.sha256(f"{common} {job.digest}".encode()).hexdigest()


def _digest_of_files(handed_in: HandedIn, names: Iterable[str], max_mb: int) -> str:
    digest = hashlib.sha256()
    for name in names:
        try:
            content = handed_in.read(name, max_mb)
        except UnreadableFile as error:
            content = str(error).encode()
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()
