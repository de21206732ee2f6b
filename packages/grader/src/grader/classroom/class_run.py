"""Grades a class of submissions side by side; an error with one student does not affect the others.

    source/ --our own solution passes--> register --> gradebook
    submitted/STUDENT --> Submission --Graders: parse, repair, grade--> StudentResult
    StudentResults --> this thread alone: gradebook (one transaction), autograded/, feedback/

A completion marker for each finished student holds a digest of everything that the scores depend on. A second run, or
one after a kill, grades only students without a matching marker.
"""

import errno
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from sqlalchemy.exc import OperationalError

from grader.classroom.config import allows_broken_tests
from grader.classroom.course_dir import CourseDir
from grader.classroom.graders import Graders, Threads
from grader.classroom.page.page_maker import PreviousScores, StudentResult
from grader.classroom.release import register
from grader.classroom.results import ResultWriter, completion_marker
from grader.classroom.source.inputs import Inputs
from grader.classroom.source.student_zero import begin
from grader.classroom.student import Assignment, Submission, load_assignment, read_submission
from grader.classroom.students.names import RULE, fault_of_name
from grader.classroom.submitted.file_choice import misplaced_files
from grader.engine.sandbox.isolation import confinement
from grader.engine.supervisor.pool import side_by_side
from grader.errors import GraderError
from grader.text import command_line

MAX_MB_UNDER_WAY = 256
"""MiB of submissions that are read but not yet graded; a single one may exceed it."""
MAX_TOGETHER = 16
"""Number of students written in one transaction."""
PAUSE_SECONDS = 0.05

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)

Write = Callable[[ResultWriter, Sequence[tuple[StudentResult, str]]], None]
"""Writes all results of several students or none, each with a digest of its inputs."""


@dataclass(frozen=True)
class FinishedStudent:
    """A student whose grading has ended: the result, and a digest of everything that the scores depend on.

    The digest is '' if the student could not be graded and there is nothing to write.
    """

    result: StudentResult
    digest: str = ""


@dataclass(frozen=True)
class ClassRun:
    """The class to grade, and the options.

    `jobs` is the number of students to grade at a time, 0 for one per core; `force` regrades finished students; `only`
    names the students to grade, all if it is empty. `anyway` grades although our own solution fails a test.
    """

    course_dir: CourseDir
    assignment: str
    jobs: int = 0
    force: bool = False
    sandbox: bool = True
    only: Sequence[str] = ()
    anyway: bool = False

    def outcomes(
        self, graders: Graders | None = None, write: Write = ResultWriter.write, gradebook: CourseDir | None = None
    ) -> Iterator[StudentResult]:
        """Grade students whose submission, source or grader changed; yield each of them once their results are written.

        Students whose files are outside of the assignment's folder get an error that names the files, and folders whose
        name cannot be a student's one that says what to do.

        Finished students come first, without reports but with their stored errors and notices. Their pages are made
        again if the code that makes pages has changed.

        Args:
            graders: the graders; by default, threads that each start processes of their own.
            write: writes results; a rehearsal keeps them instead.
            gradebook: this course folder with a different gradebook, to write the results there.

        Raises:
            GraderError: there is nothing to grade, or the gradebook or the disk cannot be written.
            UnsoundSource: our own solution fails a test, and no option or setting allows that.
            SandboxUnavailable: the kernel cannot confine student code.
        """
        if self.sandbox and graders is None:
            confinement.check()
        assignment, course_dir = self.load_assignment(), gradebook or self.course_dir
        misplaced = misplaced_files(self.course_dir, self.assignment, assignment.chooser)
        for result in self._graded(assignment, course_dir, graders, write, with_pages=gradebook is None):
            if result.student in misplaced:
                result.errors.append(misplaced.pop(result.student))
            yield result
        for student, error in misplaced.items():
            if not self.only:
                yield StudentResult(student, errors=[error])

    def _graded(
        self,
        assignment: Assignment,
        course_dir: CourseDir,
        graders: Graders | None,
        write: Write,
        *,
        with_pages: bool,
    ) -> Iterator[StudentResult]:
        students = self.course_dir.students(self.assignment, self.only)
        for student in [name for name in students if fault_of_name(name)]:
            students.remove(student)
            yield StudentResult(student, errors=[_unusable(student)])
        marker = partial(completion_marker, self.course_dir, self.assignment)
        unfinished = {student for student in students if self.force or marker(student) is None}
        with closing(graders or Threads(self.jobs)) as graders, ThreadPoolExecutor(side_by_side(self.jobs)) as beside:
            # Our own solution is the first of the class, for the same processes and what they keep of answers.
            checked = begin(
                self.course_dir, assignment, graders.threads or beside, anyway=self.anyway, keep_stamp=with_pages
            )
            if self.anyway or graders.make_pages or allows_broken_tests(self.course_dir.config):
                assignment = checked()
            under_way = _UnderWay(graders, assignment, partial(self._read, assignment))
            if not graders.make_pages:
                # These must be graded anyway, so start before the gradebook is ready.
                under_way.take(student for student in students if student in unfinished)
            checked()  # nothing is written before our own solution is known to pass
            register(course_dir, self.assignment)
            with ResultWriter(course_dir, self.assignment) as writer:
                graders.begin(assignment, writer.notebooks)
                if graders.make_pages:
                    under_way.previous_scores = writer.previous_scores
                    under_way.take(student for student in students if student in unfinished)
                elif unfinished:
                    # There is time while the fork server loads or the first students are being graded.
                    writer.warm_up(assignment.sources)
                inputs = writer.inputs(assignment)
                for student in (name for name in students if name not in unfinished):
                    digest = self.digest_now(assignment, inputs, student)
                    result = writer.finished_result(student, digest, with_pages=with_pages)
                    if result is None:
                        under_way.take([student])
                    else:
                        yield result
                for group in under_way.ended(inputs):
                    yield from written(group, partial(write, writer))

    def student_count(self) -> int:
        """Return how many students `outcomes` yields; raise GraderError if there is nothing to grade."""
        self.course_dir.require(self.assignment)
        return len(self.course_dir.students(self.assignment, self.only))

    def load_assignment(self) -> Assignment:
        """Load the assignment as it is now."""
        return load_assignment(self.course_dir, self.assignment, sandbox=self.sandbox)

    def digest_now(self, assignment: Assignment, inputs: Inputs, student: str) -> str:
        """Return a digest of everything that a student's scores depend on, with the submission as it is now.

        Args:
            assignment: the assignment.
            inputs: what scores depend on besides the submission.
            student: the student's name.
        """
        try:
            return inputs.digest(student, self._read(assignment, student).digest)
        except OSError:
            return inputs.digest(student, "")  # reading it again says why

    def _read(self, assignment: Assignment, student: str) -> Submission:
        return read_submission(assignment, student, self.course_dir.handed_in(self.assignment, student))


class _UnderWay:
    """The submissions that are being graded.

    Only a bounded number is in memory: finished ones are written and dropped, however large the class is.
    """

    def __init__(self, graders: Graders, assignment: Assignment, read: Callable[[str], Submission]) -> None:
        self.previous_scores: Callable[[str], PreviousScores] = lambda _: PreviousScores()
        self._graders, self._assignment, self._read = graders, assignment, read
        self._waiting: deque[str] = deque()
        # Each with the student, and the digest and the size of the submission.
        self._futures: dict[Future[StudentResult], tuple[str, str, int]] = {}

    def take(self, students: Iterable[str]) -> None:
        """Queue students, and start as many as fit."""
        self._waiting.extend(students)
        room = MAX_MB_UNDER_WAY * 2**20 - sum(size for *_, size in self._futures.values())
        while self._waiting and len(self._futures) < self._graders.at_once and (room > 0 or not self._futures):
            student, digest, size = self._waiting.popleft(), "", 0
            future = Future[StudentResult]()
            try:
                submission = self._read(student)
                digest, size = submission.digest, submission.size
                future = self._graders.submit(self._assignment, submission, self.previous_scores(student))
            except OSError as error:
                future.set_exception(error)
            self._futures[future] = student, digest, size
            room -= size

    def ended(self, inputs: Inputs) -> Iterator[list[FinishedStudent]]:
        """Yield groups of students whose grading has ended, until all have.

        Args:
            inputs: what scores depend on besides submissions.
        """
        while self._futures:
            wait(self._futures, return_when=FIRST_COMPLETED)
            end = time.monotonic() + self._graders.batch_wait
            while len(ended := self._done()) < min(MAX_TOGETHER, len(self._futures)) and time.monotonic() < end:
                time.sleep(PAUSE_SECONDS)
            group = [_outcome(future, *self._futures.pop(future)[:2], inputs) for future in ended]
            # Grade the next students while these are written.
            self.take(())
            yield group

    def _done(self) -> list[Future[StudentResult]]:
        return [future for future in self._futures if future.done()][:MAX_TOGETHER]


def _outcome(future: Future[StudentResult], student: str, submission: str, inputs: Inputs) -> FinishedStudent:
    """Return the result of a student, with an error if grading failed."""
    if (error := future.exception()) is not None:
        return FinishedStudent(StudentResult(student, errors=[_could_not_be_graded(error)]))
    result = future.result()
    result.basis = inputs.basis(student)
    return FinishedStudent(result, inputs.digest(student, submission))


def written(
    group: list[FinishedStudent], write: Callable[[Sequence[tuple[StudentResult, str]]], None]
) -> Iterator[StudentResult]:
    """Write the results of a group of students, and yield all of them, with an error if they cannot be written.

    Args:
        group: the students.
        write: writes the results of several students.

    Raises:
        GraderError: the disk cannot be written.
    """
    graded = [(each.result, each.digest) for each in group if each.digest]
    try:
        write(graded)
    except Exception as error:
        _require_writable(error)
        # Find out whose results cannot be written.
        for result, digest in graded:
            try:
                write([(result, digest)])
            except Exception as error:
                _require_writable(error)
                result.errors.append(_could_not_be_graded(error))
    yield from (each.result for each in group)


def _require_writable(error: Exception) -> None:
    """Raise an error that would affect all other students, too."""
    if isinstance(error, OperationalError):
        raise error
    if isinstance(error, OSError) and error.errno in DISK_ERRORS:
        raise GraderError(
            f"results cannot be written ({error.strerror}): make the disk writable or free some space, and run "
            "this again; students who are done stay graded"
        ) from error


def _unusable(student: str) -> str:
    """Return what to do about a folder whose name cannot be a student's."""
    # A roster has the usual spelling of an accent, and no student can be renamed to one that exists.
    usual = unicodedata.normalize("NFC", student)
    is_name = usual != student and not fault_of_name(usual)
    rename = command_line(["grader", "roster", "--rename", student, usual if is_name else "NAME"])
    move = f", or move its files to the student {usual!r} if there is one" if is_name else ""
    return f"not graded, because this name {fault_of_name(student)}: {RULE}; run {rename}{move}"


def _could_not_be_graded(error: BaseException) -> str:
    """Return the error message. Without a completion marker, the next run grades this student again."""
    reason = str(error) if isinstance(error, GraderError) else f"{type(error).__name__}: {error}"
    return f"could not be graded ({reason})"
