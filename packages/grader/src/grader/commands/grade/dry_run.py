"""Grades a class without writing, compares the results with those before, and then writes exactly these results.

    gradebook --rows of the assignment--> copy <--scores-- ClassRun --finished results--> spool on the disk
    copy before and after --> changes                            spool --> gradebook, autograded/, feedback/

A class run writes the scores into the copy, an SQLite file, so late penalties and manual marks count as usual. Until
`write`, the gradebook and the folders are only read.
"""

import pickle
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from nbgrader import api
from sqlalchemy import create_engine, insert, select

from grader.classroom.class_run import MAX_TOGETHER, ClassRun, FinishedStudent, written
from grader.classroom.course_dir import CourseDir, make_tables
from grader.classroom.gradebook.reader import SubmissionScore, read_ledger
from grader.classroom.gradebook.rules import NotebookScore, RegisteredNotebook
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.graders import Graders
from grader.classroom.page.page_maker import StudentResult
from grader.classroom.release import register
from grader.classroom.results import ResultWriter
from grader.classroom.source.faults import Fault
from grader.classroom.source.inputs import Inputs
from grader.commands.grade.changes import ChangedLimit, StudentChange, changed_limits, compared, earlier_notebook
from grader.errors import GraderError

ROWS = 10_000
"""Rows of the gradebook in memory at a time."""
ACCEPTED = "accepted with grader grade --changed"
"""The reason of changed points in the record."""
CHANGED = "not written, because the submission has changed since it was graded: run this again"


class DryRun:
    """A class run that writes its results only if `write` is called; use it in a `with` block.

    `changes` are those of the students who were graded; `limits` are the tests whose maximum of points has changed, and
    `faults` those that could not be graded.
    """

    def __init__(self, run: ClassRun) -> None:
        self._run = run
        self.changes: list[StudentChange] = []
        self.limits: set[ChangedLimit] = set()
        self.faults: list[Fault] = []

    def __enter__(self) -> "DryRun":
        with ExitStack() as opened:
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
            self._spool = _ResultSpool(opened.enter_context(tempfile.TemporaryFile()))
            self._copy = _copied(self._run.course_dir, self._run.assignment, folder)
            self._before = read_ledger(self._copy, self._run.assignment, is_new=True)
            self._open = opened.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.close()

    def grade(self, graders: Graders | None = None) -> Iterator[StudentResult]:
        """Grade the students as `ClassRun.outcomes` does, and yield their results; then `changes` are complete.

        Args:
            graders: where to grade; by default on this machine.

        Raises:
            GraderError: nothing was submitted, the gradebook cannot be read, or the disk is full.
            UnsoundSource: our own solution fails a test, and no option or setting allows that.
            SandboxUnavailable: the kernel cannot confine student code.
        """
        for result in self._run.outcomes(graders, self._keep, self._copy):
            self.faults += result.faults
            yield result
        after = read_ledger(self._copy, self._run.assignment)
        for change in self.changes:
            change.after = after.of(change.student)
        self.changes.sort(key=lambda change: change.student)

    def write(self) -> Iterator[StudentResult]:
        """Write the results and yield each; points that a person has given meanwhile count.

        Raises:
            GraderError: source/, limits or all submissions have changed, or the gradebook or disk cannot be written.
        """
        run, stale = self._run, self._stale()
        if stale and stale == self._spool.digests.keys():
            raise GraderError(
                "nothing was written, because source/, the limits or the submissions have changed since they were "
                "graded: run this again"
            )
        register(run.course_dir, run.assignment)
        with ResultWriter(run.course_dir, run.assignment, ACCEPTED) as writer:
            entries = self._spool.entries()
            while group := list(islice(entries, MAX_TOGETHER)):
                current = [
                    FinishedStudent(StudentResult(each.result.student, errors=[CHANGED]))
                    if each.result.student in stale
                    else each
                    for each in group
                ]
                yield from written(current, writer.write)

    def _keep(self, writer: ResultWriter, results: Sequence[tuple[StudentResult, str]]) -> None:
        """Compare results of students with the earlier ones, and put them on the disk."""
        known = {result.student: writer.previous_scores(result.student).scores for result, _ in results}
        writer.rehearse([result for result, _ in results])
        for result, digest in results:
            # It is there already if another student of the group could not be kept.
            if result.student not in self._spool.digests:
                self._compare(writer, result, known[result.student])
                self._spool.add(result, digest)

    def _compare(self, writer: ResultWriter, result: StudentResult, known: dict[str, NotebookScore]) -> None:
        """Add the changes by a result; `known` is what the gradebook had before."""
        folder, earlier = self._run.course_dir.folder("autograded", self._run.assignment, result.student), {}
        for name, notebook in writer.notebooks.items():
            tests, nothing = _tests(notebook), NotebookScore()
            limits = self._before.blank.notebooks.get(name, nothing)
            judged = earlier_notebook(folder, name, known.get(name, nothing), limits, tests)
            if judged is not None:
                earlier[name] = judged
                if name in result.graded:
                    self.limits |= changed_limits(name, judged, tests)
        change = compared(earlier, result, known)
        # If the student was removed from the gradebook, the records still have the points of the tests.
        recorded = sum(test.points for notebook in earlier.values() for test in notebook.tests.values())
        own = SubmissionScore(result.student, notebooks={"": NotebookScore(recorded)}) if earlier else None
        change.before = self._before.by_student.get(result.student, own)
        self.changes.append(change)

    def _stale(self) -> set[str]:
        """Return the students whose submission or settings have changed since grading."""
        assignment = self._run.load_assignment()
        with GradebookWriter(self._copy, self._run.assignment) as gradebook:
            inputs = Inputs.of(assignment, self._copy.config, gradebook.due(), gradebook.extensions())
        return {
            student
            for student, digest in self._spool.digests.items()
            if self._run.digest_now(assignment, inputs, student) != digest
        }


def _tests(notebook: RegisteredNotebook) -> dict[str, float]:
    """Return the points that each test of a notebook can give."""
    answers = notebook.answered.values()
    return {name: cell.max_points for name, cell in notebook.graded.values() if name not in answers}


class _ResultSpool:
    """Finished results in a file without a name, which is gone even if the process is killed."""

    def __init__(self, file: IO[bytes]) -> None:
        self.digests: dict[str, str] = {}
        self._file = file

    def add(self, result: StudentResult, digest: str) -> None:
        """Store the parts of a result that are needed to write it."""
        kept = replace(result, reports={}, notebooks={}, known_faults=[])
        pickle.dump(zlib.compress(pickle.dumps(FinishedStudent(kept, digest)), level=1), self._file)
        self.digests[result.student] = digest

    def entries(self) -> Iterator[FinishedStudent]:
        """Yield the stored results."""
        self._file.seek(0)
        while True:
            try:
                data = pickle.load(self._file)
            except EOFError:
                return
            entry: FinishedStudent = pickle.loads(zlib.decompress(data))
            yield entry


def _copied(course_dir: CourseDir, assignment: str, folder: Path) -> CourseDir:
    """Return the course folder with a copy of its gradebook that holds one assignment only.

    Args:
        course_dir: the course folder. If it has no gradebook yet, none is made, and the copy is empty.
        assignment: the assignment's name.
        folder: an empty folder for the copy.

    Raises:
        GraderError: the gradebook cannot be read.
    """
    url = f"sqlite:///{folder / 'gradebook.db'}"
    make_tables(url)
    if course_dir.has_gradebook():
        engine = create_engine(url)
        with course_dir.gradebook() as gradebook, engine.begin() as copy:
            for table, rows in _rows(gradebook.db, assignment):
                copy.execute(insert(table), rows)
        engine.dispose()
    return course_dir.with_gradebook(url)


def _rows(database: Any, assignment: str) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Yield the rows of an assignment, table by table, in an order in which they can be inserted."""
    kept: dict[Any, Any] = {}
    for table in api.Base.metadata.sorted_tables:
        conditions = [table.c.name == assignment] if table is api.Assignment.__table__ else []
        # A row that refers to a row of another assignment belongs to that assignment. An assignment of a course without
        # an id refers to no course.
        keys = [key for key in table.foreign_keys if key.column.table is not api.Course.__table__]
        conditions += [key.parent.in_(kept[key.column.table]) for key in keys]
        kept[table] = select(table.c.id).where(*conditions)
        found = database.execute(select(table).where(*conditions).execution_options(yield_per=ROWS))
        for rows in found.mappings().partitions():
            yield table, [dict(row) for row in rows]
