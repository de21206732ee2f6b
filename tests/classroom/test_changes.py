"""A new grading says whose points it changes, writes nothing until a person agrees, and then exactly what it showed."""

import copy
import gc
import os
import pty
import select
import shutil
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import SubmissionScore
from grader.classroom.gradebook.rules import CellScore
from grader.classroom.graders import Threads
from grader.classroom.page.page_maker import GradedNotebook, PreviousScores, StudentResult
from grader.classroom.record.entry import Kind, account
from grader.classroom.record.record import Record
from grader.classroom.student import Assignment, Submission
from grader.commands.grade.changes import gain
from grader.commands.grade.console import change_tables, limit_lines
from grader.commands.grade.dry_run import ACCEPTED, DryRun
from grader.errors import GraderError
from tests.support import warm
from tests.support.notebooks import answered, cell, hidden
from tests.support.paths import REPOSITORY
from tests.support.postgres import postgres, programs
from tests.support.small_class import (
    NAME,
    RIGHT,
    SCORES,
    SOURCE,
    configure,
    grade_class,
    hand_in,
    ledger,
    make_class,
    points,
    released,
    run,
)
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

ONE = "def one(x=1):\n    ### BEGIN SOLUTION\n    return x + (x > 2)\n    ### END SOLUTION"
FEWER = "assert one(3) == 4, 'no one passes'"
"""Our solution to another task, of which no student knew, and its test."""


def write_source(folder: Path, **sources: str) -> NotebookNode:
    """Write the source with other text in some test cells, and return it."""
    source = answered(SOURCE, **sources)
    nbformat.write(source, folder / "source" / NAME / "small.ipynb")
    return source


@pytest.fixture
def changed(again: Path) -> Path:
    """The graded class, and a source in which two() may be 1 and one(3) is never right."""
    hidden_test = f"# one(x) is x.\n### BEGIN HIDDEN TESTS\n{FEWER}\n### END HIDDEN TESTS"
    write_source(again, one=ONE, **{"one-test-more": hidden_test, "two-check": "assert two() in (1, 2)"})
    return again


@pytest.fixture
def finished(changed: Path) -> Iterator[DryRun]:
    """A dry run of grading it again, complete and not written."""
    with DryRun(ClassRun(CourseDir(changed), NAME)) as dry_run:
        assert not any(result.errors for result in dry_run.grade())
        yield dry_run


def files(folder: Path) -> dict[Path, bytes]:
    """Every file of a course folder, also the gradebook."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def found(dry_run: DryRun) -> dict[str, list[tuple[str, float | None, float | None]]]:
    """The tests whose points change, by student."""
    return {
        change.student: [(test.test, of(test.before), of(test.after)) for test in change.tests]
        for change in dry_run.changes
        if change.is_change
    }


def of(cell: CellScore | None) -> float | None:
    """The points of a test; None if there is no such test."""
    return None if cell is None else cell.points


def mark(folder: Path, student: str, test: str, points: float) -> None:
    """Give points by hand."""
    with CourseDir(folder).gradebook() as gradebook:
        grade = gradebook.find_grade(test, "small", NAME, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def recorded(folder: Path) -> list[tuple[object, ...]]:
    """The changes in the record: student, test, points before and after, reason."""
    entries = Record(folder).entries()
    assert all(entry.kind is Kind.CHANGED and entry.who == account() for entry in entries)
    return sorted((each.student, each.cell, each.before, each.after, each.why) for each in entries)


LOST, GAINED = ("one-test-more", 2, 0), ("two-check", 2.5, 5)


def total(score: SubmissionScore | None) -> tuple[float, float]:
    """A student's points and penalty."""
    assert score is not None
    return score.total.points, score.total.penalty


@pytest.mark.parametrize("has_records", [True, False])
def test_a_dry_run_names_students_tests_and_points_and_changes_no_file(changed: Path, has_records: bool) -> None:
    """bob wins half of two() and loses one(3); dan's one() ends the process, so it had no points to lose.

    Without records, as after a grading with an earlier version, points are known from the gradebook.
    """
    for record in [] if has_records else changed.rglob(".*.results.json"):
        record.unlink()
    before = files(changed)
    with DryRun(ClassRun(CourseDir(changed), NAME)) as dry_run:
        list(dry_run.grade())
        assert found(dry_run) == {"ann": [LOST], "bob": [LOST, GAINED], "cat": [LOST]}
        totals = {each.student: (total(each.before), total(each.after)) for each in dry_run.changes}
    assert totals == {student: ((score, 0), (after, 0)) for student, score, after in (
        ("ann", 8, 6), ("bob", 5.5, 6), ("cat", 8, 6), ("dan", 5, 5), ("eve", 0, 0)
    )}  # fmt: skip
    assert files(changed) == before


def test_what_is_written_is_what_a_class_run_writes(finished: DryRun, changed: Path, tmp_path: Path) -> None:
    """Gradebook, notebooks, records and pages; and no one has to be graded again.

    What a person marks before the answer counts, and until then no text of a notebook or page stays in memory.
    """
    gc.collect()
    assert not [each for each in gc.get_objects() if type(each) is GradedNotebook]
    mark(changed, "ann", "why", 1.5)
    twin = shutil.copytree(changed, tmp_path / "twin")
    assert sorted(result.student for result in finished.write() if not result.errors) == sorted(SCORES)
    assert recorded(changed) == [
        (student, *change, ACCEPTED) for student, changes in found(finished).items() for change in changes
    ]
    assert grade_class(twin) == sorted(SCORES)
    assert ledger(changed) == ledger(twin)
    assert points(changed) == {"ann": 7.5, "bob": 6, "cat": 6, "dan": 5, "eve": 0}
    for student in SCORES.keys() - {"cat"}:  # her copied cell has a new id in each run
        for place in ("autograded", "feedback"):
            there = {path.name: path.read_text() for path in (changed / place / student / NAME).iterdir()}
            other = {path.name: path.read_text() for path in (twin / place / student / NAME).iterdir()}
            there.pop(".graded.json", None), other.pop(".graded.json", None)
            assert there == other
    assert grade_class(changed) == []


class Counted(Threads):
    """Grades on this machine and counts."""

    count = 0

    def submit(self, assignment: Assignment, submission: Submission, previous: PreviousScores) -> Future[StudentResult]:
        self.count += 1
        return super().submit(assignment, submission, previous)


def test_answers_by_the_clock_are_graded_once(again: Path) -> None:
    """The points that were shown are written, although a second grading would give others."""
    by_the_clock = "import time\ndef two():\n    return 1 + time.time_ns() // 1000 % 2"
    for number in range(8):
        hand_in(again, f"clock{number}", answered(released(again), **RIGHT | {"two": by_the_clock}))
    graders = Counted()
    with DryRun(ClassRun(CourseDir(again), NAME)) as dry_run:
        list(dry_run.grade(graders))
        shown = {change.student: change.after.total.points for change in dry_run.changes}
        list(dry_run.write())
    assert graders.count == 8 and len(shown) == 8
    assert shown.items() <= points(again).items()


class Failing(Threads):
    """Grades on this machine, where one student's folder cannot be read."""

    def submit(self, assignment: Assignment, submission: Submission, previous: PreviousScores) -> Future[StudentResult]:
        if submission.student == "cat":
            raise PermissionError(13, "Permission denied")
        return super().submit(assignment, submission, previous)


def test_what_is_special_about_a_student_is_told(changed: Path) -> None:
    """ann has new answers, a person's points for a test of bob's count instead of it, and dan's notebook is none.

    An unreadable notebook loses the points of its tests, which is an error with the student's name. cat cannot be
    graded, is named and keeps the score.
    """
    hand_in(changed, "ann", released(changed))
    mark(changed, "bob", "one-test-more", 1)
    hand_in(changed, "dan", b"")
    with DryRun(ClassRun(CourseDir(changed), NAME, only=["ann", "bob", "cat", "dan"])) as dry_run:
        errors = {result.student: result.errors for result in dry_run.grade(Failing()) if result.errors}
        list(dry_run.write())
    assert errors.keys() == {"cat", "dan"} and "Permission denied" in errors["cat"][0]
    assert points(changed) == {"ann": 0, "bob": 7, "cat": 8, "dan": 0, "eve": 0}
    ann, bob, *_ = dry_run.changes
    assert [change.student for change in dry_run.changes if change.has_new_answers] == [ann.student] == ["ann"]
    (test, _) = bob.tests
    assert (test.test, test.before.points, test.after.points, test.known.manual) == ("one-test-more", 2, 0, 1)
    assert (total(bob.before), total(bob.after)) == ((4.5, 0), (7, 0)) and bob.is_change
    assert found(dry_run)["dan"] == [("two-check", 5, 0)]


def test_a_late_penalty_is_a_change(again: Path) -> None:
    """A new due date takes points, though every test gives the same."""
    configure(again, "c.LateSubmissionPlugin.penalty_method = 'zero'")
    with CourseDir(again).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00 UTC")
    (again / "submitted" / "ann" / NAME / "timestamp.txt").write_text("2030-01-03 12:00:00 UTC")
    with DryRun(ClassRun(CourseDir(again), NAME)) as dry_run:
        list(dry_run.grade())
        assert found(dry_run) == {"ann": []}
        change = next(each for each in dry_run.changes if each.student == "ann")
        assert (total(change.before), total(change.after), gain(change)) == ((8, 0), (8, 8), -8)
        (table,) = change_tables(NAME, dry_run.changes)
        assert [list(column.cells)[0].plain for column in table.columns] == [  # type: ignore[union-attr]
            "ann", "", "late penalty", "0 → 8", "8 → 0",
        ]  # fmt: skip
        list(dry_run.write())
    assert ledger(again)["ann"]["penalties"] == [8]


def test_tests_that_are_new_or_gone_are_named(again: Path) -> None:
    """Once the assignment was removed from the gradebook, the records tell what there was."""
    source = copy.deepcopy(SOURCE)
    source.cells.remove(cell(source, "one-check"))
    source.cells.append(hidden("two-test-new", "two() is 2.", "assert two() == 2", points=3))
    cell(source, "two-check").metadata.nbgrader.points = 4
    nbformat.write(source, again / "source" / NAME / "small.ipynb")
    with CourseDir(again).gradebook() as gradebook:
        gradebook.remove_assignment(NAME)
    with DryRun(ClassRun(CourseDir(again), NAME)) as dry_run:
        list(dry_run.grade())
        assert found(dry_run)["ann"] == [("two-check", 5, 4), ("two-test-new", None, 3), ("one-check", 1, None)]
        assert list(limit_lines(dry_run.limits)) == [
            "one-check in small is gone, and gave up to 1",
            "two-check in small gives up to 4, and gave up to 5",
            "two-test-new in small is new, and gives up to 3",
        ]
        list(dry_run.write())
    assert points(again)["ann"] == 9


def test_what_changes_before_the_answer_is_not_overwritten(finished: DryRun, changed: Path) -> None:
    """A student who hands in meanwhile keeps the scores; after a change of the source, no one's are written."""
    hand_in(changed, "bob", answered(released(changed), **RIGHT))
    results = {result.student: result.errors for result in finished.write()}
    assert "the submission has changed" in results.pop("bob")[0] and not any(results.values())
    assert points(changed) == {"ann": 6, "bob": 5.5, "cat": 6, "dan": 5, "eve": 0}
    written = files(changed)
    source = write_source(changed)
    cell(source, "two-check").metadata.nbgrader.points = 7
    nbformat.write(source, changed / "source" / NAME / "small.ipynb")
    with pytest.raises(GraderError, match="nothing was written, because source/"):
        list(finished.write())
    source_file = changed / "source" / NAME / "small.ipynb"
    assert files(changed) | {source_file: b""} == written | {source_file: b""}


def at_terminal(folder: Path, *arguments: str, keys: bytes) -> tuple[int, str]:
    """Run `grader` at a terminal, press keys once it asks, and return the exit status and what the terminal shows."""
    ours, its_own = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TERM": "xterm"}
    process = warm.start(["grader", *arguments], folder, environment, (its_own,) * 3, at_terminal=True)
    os.close(its_own)
    shown, is_answered = b"", False
    while True:
        if not select.select([ours], [], [], 1)[0]:
            if is_answered and keys == b"\x03":  # Python misses a Ctrl-C that comes just before it reads
                os.write(ours, keys)
            continue
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other end was closed
            break
        if b"[y/N]" in shown and not is_answered:
            os.write(ours, keys)
            is_answered = True
    os.close(ours)
    return process.wait(timeout=HANGS), shown.decode()


@pytest.mark.parametrize(
    ("keys", "status", "words"),
    [(b"\n", 1, "nothing was written"), (b"\x04", 1, "nothing was written"),
     (b"\x03", 130, "interrupted; nothing was written"), (b"y\n", 0, "wrote the results of 5 students")],
)  # fmt: skip
def test_a_person_is_asked(changed: Path, keys: bytes, status: int, words: str) -> None:
    """After Return, Ctrl-D and Ctrl-C everything is as before; after Yes the results are there."""
    before = files(changed)
    ended, shown = at_terminal(changed, "grade", NAME, "--changed", keys=keys)
    assert ended == status and words in shown and "3 of 5 students change: 1 gains, 2 lose" in shown
    if status:
        assert files(changed) == before
    else:
        assert points(changed) == {"ann": 6, "bob": 6, "cat": 6, "dan": 5, "eve": 0}


def test_without_a_terminal_nothing_is_written_but_with_yes(changed: Path) -> None:
    """The exit status is 1 as long as results are not written, and the last run finds nothing to do."""
    before = files(changed)
    done = run(changed, "grader", "grade", NAME, "--changed", "--jobs=1")
    assert done.returncode == 1 and "add --yes" in done.stdout and done.stderr == ""
    assert "one-test-more" in done.stdout and files(changed) == before
    assert run(changed, "grader", "grade", NAME, "--changed", "--yes", "--student=ann").returncode == 0
    assert points(changed) == SCORES | {"ann": 6}
    done = run(changed, "grader", "grade", NAME, "--changed", "--student=ann")
    assert done.returncode == 0 and "there is nothing to write" in done.stdout


def test_on_a_cluster_it_is_the_same(changed: Path) -> None:
    """The workers make the pages, from the copy of the gradebook."""
    mark(changed, "ann", "why", 1.5)
    done = run(changed, "grader", "grade", NAME, "--changed", "--yes", "--scheduler", "local:1")
    assert done.returncode == 0 and done.stderr == "" and "3 of 5 students change: 1 gains, 2 lose" in done.stdout
    assert points(changed) == {"ann": 7.5, "bob": 6, "cat": 6, "dan": 5, "eve": 0}
    assert "1.5" in (changed / "feedback" / "ann" / NAME / "small.html").read_text()
    assert grade_class(changed) == []


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed: apt-get install postgresql")
def test_a_gradebook_in_postgresql_is_copied(again: Path) -> None:
    """With the marks in it, and it has the new results afterwards."""
    with postgres() as server:
        url = server.new_database("gradebook")
        configure(again, f"c.CourseDirectory.db_url = {url!r}")
        grade_class(again)
        mark(again, "bob", "why", 1)
        write_source(again, **{"two-check": "assert two() in (1, 2)"})
        with DryRun(ClassRun(CourseDir(again), NAME)) as dry_run:
            list(dry_run.grade())
            assert found(dry_run) == {"bob": [GAINED]} and points(again)["bob"] == 6.5
            list(dry_run.write())
        assert points(again) == SCORES | {"bob": 9}


def test_without_a_gradebook_every_student_is_new_and_none_is_made(tmp_path: Path) -> None:
    """Not before the results are written; then there is nothing to write, also in a course without an id.

    nbgrader keeps its assignments under no course; a dry run finds them, with marks and due dates.
    """
    folder = make_class(tmp_path / "course")
    configure(folder, "del c.CourseDirectory.course_id")
    with DryRun(ClassRun(CourseDir(folder), NAME)) as dry_run:
        list(dry_run.grade())
        assert [change.before for change in dry_run.changes] == [None] * 5
        assert not (folder / "gradebook.db").exists()
        list(dry_run.write())
    assert points(folder) == SCORES
    with DryRun(ClassRun(CourseDir(folder), NAME)) as dry_run:
        assert len(list(dry_run.grade())) == len(SCORES) and dry_run.changes == []
