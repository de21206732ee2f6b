"""Shows `grader grade` on the terminal: a progress bar, and then the scores, or the changes with a question.

The question of --changed is whether to write the results.
"""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from rich.console import JustifyMethod
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn, track
from rich.table import Table
from rich.text import Text

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import Ledger, SubmissionScore, read_ledger
from grader.classroom.graders import Graders
from grader.classroom.page.page_maker import StudentResult
from grader.classroom.results import put_notices
from grader.classroom.source.basis import named
from grader.classroom.source.faults import Fault
from grader.classroom.source.inputs import mark_outdated, outdated_in
from grader.classroom.students.enrolled import read_students
from grader.commands.grade.changes import ChangedLimit, ChangedTest, StudentChange, gain, same_points
from grader.commands.grade.dry_run import DryRun
from grader.commands.shared import console, note
from grader.text import INTERRUPTED, one_line, plural, span

NAMES = ("student", "name", "notebook", "test")
MAX_REMARK = 300
"""Characters in a line of a column of sentences, in a file or a pipe as well."""
ROWS = 500
"""Rows of one table: rich holds a whole table in memory, in ten times the space of its text."""
ABSENT = "has not handed in"
QUESTION = "Write these results? [y/N] "


def grade_and_show(run: ClassRun, graders: Graders | None = None) -> int:
    """Grade a class with a progress bar, print the table of its scores, and return the exit status.

    Args:
        run: how to grade it.
        graders: where; by default on this machine.
    """
    screen = console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    remarks, faults, status = {}, list[Fault](), 0
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task(f"grading {run.assignment}", total=run.student_count())
        for result in run.outcomes(graders):
            progress.advance(task)
            remarks[result.student] = "; ".join((*result.errors, *result.notices, *_ungradable(result)))
            faults += result.faults
            status |= bool(result.errors)
    ledger, people = _marked_ledger(run), _names(run.course_dir)
    recorded_scores = ledger.by_student
    if run.only:
        recorded_scores = {student: score for student, score in recorded_scores.items() if student in remarks}
        people = {student: name for student, name in people.items() if student in remarks}
    for table in score_tables(run.assignment, recorded_scores, remarks, people):
        screen.print(table)
    for table in fault_tables(faults):
        screen.print(table)
    if older := outdated_in(ledger):
        note(older)
    return status


def regrade(run: ClassRun, graders: Graders | None = None, *, yes: bool = False) -> int:
    """Grade a class, show the changes, and write the results if a person agrees.

    Args:
        run: how to grade it.
        graders: where; by default on this machine.
        yes: whether to write without asking.

    Returns:
        0 if all submissions are graded and written, 1 if some are not, and 130 after Ctrl-C before anything was
        written.
    """
    screen = console()
    shown = partial(track, console=screen, transient=True, disable=not screen.is_terminal)
    with DryRun(run) as dry_run:
        try:
            students = run.student_count()
            troubles = _troubles(shown(dry_run.grade(graders), f"grading {run.assignment}", students))
            tables = (change_tables(run.assignment, dry_run.changes), fault_tables(dry_run.faults))
            for table in chain.from_iterable(tables):
                screen.print(table)
            for line in (*limit_lines(dry_run.limits), summary(dry_run.changes, students)):
                print(one_line(line))
            if not dry_run.changes:
                print("there is nothing to write")
                return 1 if troubles else 0
            if not yes and not _agrees():
                return 1
        except KeyboardInterrupt:
            print("grader: interrupted; nothing was written", file=sys.stderr)
            return INTERRUPTED
        count = len(dry_run.changes)
        failures = _troubles(shown(dry_run.write(), "writing", count), troubles)
    count -= len(failures)
    if older := outdated_in(_marked_ledger(run)):
        note(older)
    print(f"wrote the results of {plural(count, 'student')}")
    return 1 if troubles or failures else 0


def _marked_ledger(run: ClassRun) -> Ledger:
    """Return the scores in the gradebook, with those that are older than the course, whose pages say so, too."""
    ledger = read_ledger(run.course_dir, run.assignment)
    mark_outdated(run.course_dir, ledger, run.load_assignment())
    put_notices(run.course_dir, ledger)
    return ledger


def _troubles(results: Iterable[StudentResult], known: dict[str, list[str]] | None = None) -> dict[str, list[str]]:
    """Return the troubles of students, and print the new ones."""
    found = {}
    for result in results:
        if result.errors and result.errors != (known or {}).get(result.student):
            found[result.student] = result.errors
    for student, troubles in sorted(found.items()):
        print(one_line(f"{student}: {'; '.join(troubles)}"))
    return found


def _agrees() -> bool:
    """Ask whether to write, and print a line if the answer is no."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("nothing was written, because there is no one to ask here: add --yes to write without asking")
        return False
    try:
        answer = input(QUESTION)
    except EOFError:
        answer = ""
    if answer.strip().lower() in ("y", "yes"):
        return True
    print("nothing was written")
    return False


def score_tables(
    assignment: str,
    student_scores: Mapping[str, SubmissionScore],
    remarks: Mapping[str, str],
    people: Mapping[str, str] | None = None,
) -> Iterator[Table]:
    """Yield tables of at most ROWS students, with a row for each: points from tests, points from marking, remarks.

    Args:
        assignment: the title.
        student_scores: the scores by student.
        remarks: remarks on students; those without a score have a row too.
        people: the names of the students of the gradebook, '' if unknown; those who handed in nothing have a row too.
    """
    people = people or {}
    students = sorted({*student_scores, *remarks, *people})
    has_names = any(people.values())
    rows = [
        (
            student,
            *([people.get(student, "")] if has_names else []),
            *_score(student_scores.get(student), remarks.get(student, "" if student in student_scores else ABSENT)),
        )
        for student in students
    ]
    columns = ("student", *(["name"] if has_names else []), "tests", "written", "")
    return _tables(assignment, columns, ("tests", "written"), rows)


def _names(course_dir: CourseDir) -> dict[str, str]:
    """Return the names of the students of the gradebook."""
    with course_dir.gradebook() as gradebook:
        return {each.id: f"{each.first_name} {each.last_name}".strip() for each in read_students(gradebook.db)}


def _ungradable(result: StudentResult) -> Iterator[str]:
    """Yield a remark if a student lost points by faults of tests."""
    if lost := sum(fault.lost for fault in result.faults):
        yield f"{plural(lost, 'point')} in tests that cannot be graded"


def fault_tables(faults: Iterable[Fault]) -> Iterator[Table]:
    """Yield tables of the tests that could not be graded, with the number of students who lost points there.

    Args:
        faults: those of all students.
    """
    found: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        found.setdefault((fault.notebook, fault.cell), []).append(fault)
    rows = [
        (each[0].notebook, each[0].cell, str(each[0].ending.line or ""), str(len(each)), each[0].ending.reason)
        for _, each in sorted(found.items())
    ]
    columns = ("notebook", "test", "line", "students", "reason")
    return _tables("tests that cannot be graded", columns, ("line", "students"), rows)


def _tables(
    title: str, columns: Sequence[str], numbers: Collection[str], rows: Sequence[Sequence[str]]
) -> Iterator[Table]:
    """Yield tables of at most ROWS rows; the columns in `numbers` are aligned at the right."""
    for first in range(0, len(rows), ROWS):
        table = Table(title=title, title_justify="left")
        for column in columns:
            justify: JustifyMethod = "right" if column in numbers else "left"
            table.add_column(
                column, justify=justify, overflow="fold", max_width=None if column in NAMES else MAX_REMARK
            )
        for row in rows[first : first + ROWS]:
            table.add_row(*(Text(one_line(part)) for part in row))
        yield table


def _score(score: SubmissionScore | None, remark: str) -> tuple[str, str, str]:
    """Return the points from tests, the points from marking, and the remarks."""
    if score is None:
        return "-", "-", remark
    total = score.total
    late = _lateness(score.seconds_late, total.penalty) if score.seconds_late else ""
    waiting = "written answers wait for marking" if total.needs_marking else ""
    older = f"graded before {named(score.outdated)} changed" if score.outdated else ""
    return (
        f"{total.tests:g} / {total.max_tests:g}",
        f"{total.written:g} / {total.max_written:g}",
        "; ".join(filter(None, (remark, late, waiting, older))),
    )


def _lateness(seconds: float, penalty: float) -> str:
    cost = f", {penalty:g} points taken off" if penalty else ""
    return f"{span(seconds)} late{cost}"


def change_tables(assignment: str, changes: Collection[StudentChange]) -> Iterator[Table]:
    """Yield tables of the tests that change: their points before and after, and the student's total.

    Args:
        assignment: the title.
        changes: the students, in order.
    """
    rows = [row for change in changes if change.is_change for row in _rows(change)]
    columns = ("student", "notebook", "test", "points", "total")
    return _tables(f"{assignment}: points before → after", columns, ("points", "total"), rows)


def limit_lines(changed: Collection[ChangedLimit]) -> Iterator[str]:
    """Yield a line for each test that is new, is gone, or has another maximum of points."""
    for notebook, test, before, now in sorted(changed, key=str):
        if before is None:
            yield f"{test} in {notebook} is new, and gives up to {now:g}"
        elif now is None:
            yield f"{test} in {notebook} is gone, and gave up to {before:g}"
        else:
            yield f"{test} in {notebook} gives up to {now:g}, and gave up to {before:g}"


def summary(changes: Collection[StudentChange], students: int) -> str:
    """Return a line with the numbers of students who change.

    Args:
        changes: the students who were graded.
        students: the number of all students.
    """
    new = sum(change.before is None for change in changes)
    gains = [gain(change) for change in changes if change.before and change.is_change]
    gaining = sum(each > 0 and not same_points(each, 0.0) for each in gains)
    losing = sum(each < 0 and not same_points(each, 0.0) for each in gains)
    kept = len(gains) - gaining - losing
    how = [_counted(gaining, "gain"), _counted(losing, "lose")]
    how += [f"{_counted(kept, 'keep')} the total"] if kept else []
    stay = students - len(gains) - new
    parts = [
        f"{len(gains)} of {plural(students, 'student')} change{'s' if len(gains) == 1 else ''}"
        + (f": {', '.join(how)}" if gains else ""),
        f"{stay} stay as they are" if stay != 1 else "1 stays as before",
        *([f"{new} graded for the first time"] if new else []),
    ]
    return "; ".join(parts)


def _rows(change: StudentChange) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the rows of a student; the first has the name and the total."""
    after = change.after.total
    if change.before is None:
        yield change.student, "", "graded for the first time", "", _arrow(None, after.counted)
        return
    before = change.before.total
    who = f"{change.student} (new answers)" if change.has_new_answers else change.student
    total = _arrow(before.counted, after.counted)
    cells = [(each.notebook, each.test, _points(each)) for each in change.tests]
    if not same_points(before.penalty, after.penalty):
        cells.append(("", "late penalty", _arrow(before.penalty, after.penalty)))
    for number, cell in enumerate(cells or [("", "", "")]):
        yield (who, *cell, total) if number == 0 else ("", *cell, "")


def _points(change: ChangedTest) -> str:
    marked = "" if change.known.manual is None else f" (marked: {change.known.manual:g})"
    return _arrow(*(cell.points if cell else None for cell in (change.before, change.after))) + marked


def _arrow(before: float | None, after: float | None) -> str:
    return " → ".join("-" if points is None else f"{points:g}" for points in (before, after))


def _counted(number: int, verb: str) -> str:
    return f"{number} {verb}{'s' if number == 1 else ''}"
