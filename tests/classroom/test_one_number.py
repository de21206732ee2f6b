"""A student's points are the same number wherever they are shown, whatever people and rules have done to them.

    drawn class --grade, mark, extend, grade--> gradebook --> table, page, report, exports, record, formgrader
    drawn class --the rules, once more, in the simplest words--> the number that all of them must show

The formgrader shows points before the late penalty, as nbgrader does everywhere but in its export: that is compared.
"""

import contextlib
import csv
import io
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.plugins import CsvExportPlugin
from rich.console import Console

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.marks import MarkBook, NewMark
from grader.classroom.record.catch_up import Place, catch_up, known_marks
from grader.classroom.record.record import Record
from grader.classroom.release import register, release
from grader.commands.cli import main
from grader.commands.extend.extension import extend
from grader.commands.grade.console import grade_and_show
from grader.commands.grade.explain import explanation
from grader.commands.report.command import ReportOptions, report
from tests.support.notebooks import answer, answered, check, hidden, notebook, text, written

pytestmark = pytest.mark.slow

NAME = "01-sums"
DUE = datetime(2030, 1, 2, 12)
CONFIG = """
from grader import nbgrader_plugin
from nbgrader.plugins import LateSubmissionPlugin
c = get_config()
nbgrader_plugin.configure(c)
c.CourseDirectory.course_id = "sums"
class Hourly(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 0.25 * (total_seconds_late // 3600)
"""
RULES = {
    "none": "",
    "zero": "c.LateSubmissionPlugin.penalty_method = 'zero'\n",
    "hourly": "c.AssignLatePenalties.plugin_class = Hourly\n",
}
SOURCES = {
    "first": notebook(
        text("# One"),
        answer("double", "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"),
        check("double-check", "assert double(1) == 2, 'double(1) is 2'"),
        hidden("double-test-more", "It doubles.", "assert double(3) == 6, 'not 6'", points=2.5),
        written("why", "### BEGIN MARK SCHEME\nOne for each.\n### END MARK SCHEME", points=2),
    ),
    "second": notebook(
        text("# Two"),
        answer("half", "def half(x):\n    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION"),
        hidden("half-test-any", "It halves; an integer is worth a part.", "assert half(4) == 2\nhalf(3) * 2", points=3),
        written("why", "", points=1.5),
    ),
}
ANSWERS = {
    "double": {
        "right": ("def double(x):\n    return x + x", {"double-check": 1.0, "double-test-more": 2.5}),
        "wrong": ("def double(x):\n    return x + 1", {"double-check": 1.0, "double-test-more": 0.0}),
    },
    "half": {
        "right": ("def half(x):\n    return x / 2", {"half-test-any": 3.0}),
        "wrong": ("def half(x):\n    return 1", {"half-test-any": 0.0}),
    },
}
"""What students write, and what the tests give for it; a blank gets nothing."""
EXERCISE = {"first": "double", "second": "half"}
QUESTION = {"first": "why", "second": "why"}
"""Two cells of one name, which nbgrader tells apart by their notebooks; a mark is drawn for both at once."""
MOST = {
    "first": {"double-check": 1.0, "double-test-more": 2.5, "why": 2.0},
    "second": {"half-test-any": 3.0, "why": 1.5},
}
ALL = sum(sum(cells.values()) for cells in MOST.values())


class Given(NamedTuple):
    """What a person gives for a cell: points, or None for those of the test, and extra credit."""

    points: float | None
    extra: float | None


@dataclass
class Drawn:
    """A student: the answers by notebook, the time in hours after the due date, an extension in hours, and marks."""

    notebooks: dict[str, str]
    texts: frozenset[str]
    hours: float | None
    extension: int
    marks: dict[str, Given] = field(default_factory=dict)


QUARTERS = st.integers(0, 14).map(lambda number: number / 4)
MARKS = st.builds(Given, st.none() | QUARTERS, st.none() | QUARTERS).filter(any)


@st.composite
def students(draw: st.DrawFn) -> Drawn:
    """Draw a student; one without a notebook has not handed in."""
    notebooks = {
        name: draw(st.sampled_from(("right", "wrong", "blank")))
        for name in SOURCES
        if draw(st.sampled_from((True, True, True, False)))
    }
    texts = frozenset(draw(st.sets(st.sampled_from(sorted(notebooks))))) if notebooks else frozenset()
    hours = draw(st.none() | st.sampled_from((-3.0, 1.0, 5.0, 30.0)))
    cells = [cell for name in notebooks for cell in MOST[name]]
    marks = draw(st.dictionaries(st.sampled_from(cells), MARKS, max_size=3)) if cells else {}
    return Drawn(notebooks, texts, hours, draw(st.sampled_from((0, 0, 2, 48))), marks)


CLASSES = st.lists(students(), min_size=5, max_size=5).map(lambda drawn: dict(zip("abcde", drawn, strict=True)))


EVERYTHING = {
    "a": Drawn(
        {"first": "right", "second": "right"}, frozenset(("first", "second")), 30.0, 2,
        {"why": Given(1.5, 0.5), "double-test-more": Given(1.25, None)},
    ),
    "b": Drawn({"first": "blank"}, frozenset(("first",)), 5.0, 48),
    "c": Drawn({}, frozenset(), None, 48),
    "d": Drawn(
        {"first": "wrong", "second": "wrong"}, frozenset(("second",)), 5.0, 0,
        {"why": Given(1.0, None), "half-test-any": Given(3.5, None)},
    ),
    "e": Drawn(
        {"second": "right"}, frozenset(), None, 0,
        {"half-test-any": Given(None, 0.75), "why": Given(None, 1.0)},
    ),
}  # fmt: skip
"""A class that has every kind."""


class Number(NamedTuple):
    """A student's points before the late penalty, the penalty, and what counts."""

    points: float
    penalty: float
    counted: float


def number(points: float, penalty: float, counted: float) -> Number:
    """Return a number that can be compared in spite of rounding."""
    return Number(round(points, 6), round(penalty, 6), round(counted, 6))


def expected(drawn: Drawn, rule: str) -> Number:
    """Return the number by the rules of nbgrader, in the simplest words."""
    points = penalty = 0.0
    late = 0.0 if drawn.hours is None else max(0.0, drawn.hours - drawn.extension)
    for name, how in drawn.notebooks.items():
        auto = dict.fromkeys(MOST[name], 0.0) | (ANSWERS[EXERCISE[name]][how][1] if how != "blank" else {})
        own = 0.0
        for cell, earned in auto.items():
            manual, extra = drawn.marks.get(cell, Given(None, None))
            is_unmarked = cell == QUESTION[name] and manual is None and name in drawn.texts
            # nbgrader adds extra credit only to a cell that has points, even 0; an answer without a text has 0.
            own += 0.0 if is_unmarked else (earned if manual is None else manual) + (extra or 0.0)
        points += own
        if late:
            penalty += {"none": 0.0, "zero": own, "hourly": min(own, 0.25 * (late // 1))}[rule]
    return number(points, penalty, points - penalty)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with a gradebook that knows the assignment and its due date."""
    folder = tmp_path_factory.mktemp("sums") / "course"
    for name, source in SOURCES.items():
        (folder / "source" / NAME).mkdir(parents=True, exist_ok=True)
        nbformat.write(source, folder / "source" / NAME / f"{name}.ipynb")
    (folder / "nbgrader_config.py").write_text(CONFIG)
    release(CourseDir(folder), NAME)
    register(CourseDir(folder), NAME)
    with CourseDir(folder).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=DUE)
        for student in "abcde":
            gradebook.add_student(student)
    return folder


def hand_in(folder: Path, student: str, drawn: Drawn) -> None:
    """Write what a student handed in."""
    submitted = folder / "submitted" / student / NAME
    for name, how in drawn.notebooks.items():
        submitted.mkdir(parents=True, exist_ok=True)
        blank = nbformat.read(folder / "release" / NAME / f"{name}.ipynb", as_version=4)
        said = {} if how == "blank" else {EXERCISE[name]: ANSWERS[EXERCISE[name]][how][0]}
        said |= {QUESTION[name]: f"Because of {student}."} if name in drawn.texts else {}
        nbformat.write(answered(blank, **said), submitted / f"{name}.ipynb")
    if drawn.notebooks and drawn.hours is not None:
        time = DUE + timedelta(hours=drawn.hours)
        (submitted / "timestamp.txt").write_text(f"{time:%Y-%m-%d %H:%M:%S} UTC")


def mark(course_dir: CourseDir, drawn: dict[str, Drawn]) -> None:
    """Give the marks: points for answers as `grader mark` writes them, everything else as the formgrader does."""
    book = MarkBook(course_dir, NAME)
    for student, each in drawn.items():
        for name in each.notebooks:
            cell = QUESTION[name]
            if (own := each.marks.get(cell)) is not None and own.points is not None:
                book.write([(book.read((name, cell))[student], NewMark(own.points, None, False))])
    book.close()
    with course_dir.gradebook() as gradebook:
        for student, each in drawn.items():
            for name in each.notebooks:
                for cell, (points, extra) in each.marks.items():
                    if cell in MOST[name]:
                        grade = gradebook.find_grade(cell, name, NAME, student)
                        grade.manual_score, grade.extra_credit = points, extra
                        grade.needs_manual_grade = grade.manual_score is None and grade.auto_score is None
        gradebook.db.commit()


def said(action: Callable[[], object]) -> str:
    """Return what an action prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()):
        action()
    return printed.getvalue()


def in_table(folder: Path, *, force: bool) -> dict[str, Number]:
    """Grade, and return the numbers of the printed table: points from tests and marks, and what was taken off."""
    shown = said(lambda: grade_and_show(ClassRun(CourseDir(folder), NAME, force=force)))
    found = {}
    for line in shown.splitlines():
        if line.startswith("│"):
            student, tests, marks, remark = (part.strip() for part in line.split("│")[1:-1])
            if tests == "-":
                assert marks == "-" and remark == "has not handed in"
                continue
            off = re.search(r"([\d.]+) points? taken off", remark)
            points, penalty = float(tests.split(" / ")[0]) + float(marks.split(" / ")[0]), float(off[1]) if off else 0.0
            assert float(tests.split(" / ")[1]) + float(marks.split(" / ")[1]) == ALL
            found[student] = number(points, penalty, points - penalty)
    return found


def in_report(folder: Path) -> dict[str, Number]:
    """Return the numbers of the report, whose exercises must add up to the points."""
    for _ in report(CourseDir(folder), NAME, ReportOptions()):
        pass
    found = {}
    with (folder / "reports" / NAME / "students.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["points"]:
                assert float(row["max_points"]) == ALL
                points = sum(float(row[exercise] or 0) for exercise in ("double", "why", "half"))
                found[row["student"]] = number(points, float(row["penalty"]), float(row["points"]))
    return found


def in_export(folder: Path, platform: str) -> dict[str, float | Number]:
    """Return what `grader export` writes for a platform, with points that still wait for marking."""
    arguments = ["export", NAME, "--for", platform, "--unmarked", "--output", str(folder / "out.csv")]
    assert "wrote" in said(lambda: main(arguments))
    with (folder / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if platform == "csv":
        assert {float(row["max_score"]) for row in rows} == {ALL}
        return {row["student_id"]: _exported(row) for row in rows}
    key = {"canvas": "SIS Login ID", "moodle": "id"}[platform]
    return {row[key]: float(row[NAME]) for row in rows if row[key]}


def _exported(row: dict[str, str]) -> Number:
    return number(*(float(row[name]) for name in ("raw_score", "late_submission_penalty", "score")))


def in_nbgraders_export(folder: Path, gradebook: Gradebook) -> dict[str, Number]:
    """Return what `nbgrader export` writes."""
    plugin = CsvExportPlugin()
    plugin.to = str(folder / "theirs.csv")
    plugin.export(gradebook)
    with (folder / "theirs.csv").open(newline="") as file:
        return {row["student_id"]: _exported(row) for row in csv.DictReader(file)}


def in_explanation(folder: Path, student: str) -> Number:
    """Return the number of `grader grade --explain`."""
    console = Console(file=io.StringIO(), width=200)
    for part in explanation(CourseDir(folder), NAME, student):
        console.print(part)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    points = float(re.search(rf"^points +([\d.]+) of {ALL:g}", shown, re.MULTILINE)[1])  # type: ignore[index]
    penalty = sum(map(float, re.findall(r"^late penalty +([\d.]+) in", shown, re.MULTILINE)))
    return number(points, penalty, float(re.search(r"^exported +([\d.]+)", shown, re.MULTILINE)[1]))  # type: ignore[index]


def on_page(file: Path) -> tuple[float, float, float, float]:
    """Return points, most points, waiting points and penalty at the top of a page."""
    top = file.read_text().partition('<header id="summary">')[2].partition("</header>")[0]
    points, most = re.search(r"<strong>([\d.]+)</strong> of ([\d.]+) point", top).groups()  # type: ignore[union-attr]
    waiting, off = re.search(r"([\d.]+) points? waits?", top), re.search(r"([\d.]+) points? (?:was|were) taken", top)
    return float(points), float(most), float(waiting[1]) if waiting else 0.0, float(off[1]) if off else 0.0


def require_pages(folder: Path, gradebook: Gradebook, student: str, shown: Number) -> None:
    """Compare the student's pages with the gradebook: they tell apart what waits for a person."""
    pages, submission = folder / "feedback" / student / NAME, gradebook.find_submission(NAME, student)
    sums = [0.0] * 4
    for own in submission.notebooks:
        known = [grade for grade in own.grades if not grade.needs_manual_grade]
        penalty = own.late_submission_penalty or 0.0
        marked = max(0.0, sum(grade.score for grade in known) - penalty)
        most = sum(grade.max_score for grade in known)
        waiting = sum(grade.max_score for grade in own.grades if grade.needs_manual_grade)
        top = (marked, most, waiting, penalty)
        sums = [before + more for before, more in zip(sums, top, strict=True)]
        if (pages / f"{own.name}.html").exists():
            assert on_page(pages / f"{own.name}.html") == pytest.approx(top)
    assert on_page(pages / "index.html") == pytest.approx(sums)
    if not submission.needs_manual_grade:
        assert sums[0] == pytest.approx(shown.counted)


def require_one_number(folder: Path, drawn: dict[str, Drawn], table: dict[str, Number]) -> None:
    """Compare all views, each with the number in nbgrader's own tables."""
    course_dir = CourseDir(folder)
    present = {student for student, each in drawn.items() if each.notebooks}
    with course_dir.gradebook() as gradebook:
        numbers = in_nbgraders_export(folder, gradebook)
        api = NbGraderAPI(config=course_dir.config)
        formgrader = {row["student"]: row for row in api.get_submissions(NAME)}
    assert numbers.keys() == drawn.keys()
    handed_in = {student: numbers[student] for student in sorted(present)}
    assert table == handed_in
    assert in_report(folder) == handed_in
    assert in_export(folder, "csv") == numbers
    for platform in ("canvas", "moodle"):
        assert in_export(folder, platform) == {name: each.counted for name, each in numbers.items()}
    assert {student: in_explanation(folder, student) for student in present} == handed_in
    for student in present:
        assert (formgrader[student]["score"], formgrader[student]["max_score"]) == (numbers[student].points, ALL)
    catch_up(course_dir)
    assert known_marks(Record(folder).entries()) == dict(recorded(drawn))


def recorded(drawn: dict[str, Drawn]) -> Iterator[tuple[Place, float]]:
    """Yield what the record must know: each mark that counts now, and extra credit."""
    for student, each in drawn.items():
        for name in each.notebooks:
            for cell, (points, extra) in each.marks.items():
                if cell in MOST[name] and points is not None:
                    yield Place(student, NAME, name, cell), points
                if cell in MOST[name] and extra:
                    yield Place(student, NAME, name, cell, is_extra=True), extra


def test_everyone_reads_the_same_number(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a class with late hand-ins, extensions, overrides, extra credit, blanks and people who handed in nothing."""
    monkeypatch.setenv("COLUMNS", "200")
    numbers = count()

    @settings(
        max_examples=2, derandomize=True, database=None, deadline=None, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(drawn=CLASSES, rule=st.sampled_from(sorted(RULES)))
    @example(drawn=EVERYTHING, rule="hourly")
    @example(drawn=EVERYTHING, rule="zero")
    def check_class(drawn: dict[str, Drawn], rule: str) -> None:
        if not any(each.notebooks for each in drawn.values()):
            return
        folder = tmp_path / f"course{next(numbers)}"
        shutil.copytree(template, folder)
        monkeypatch.chdir(folder)
        (folder / "nbgrader_config.py").write_text(CONFIG + RULES[rule])
        for student, each in drawn.items():
            hand_in(folder, student, each)
        in_table(folder, force=False)
        mark(CourseDir(folder), drawn)
        for student, each in drawn.items():
            if each.extension:
                assert list(extend(CourseDir(folder), student, NAME, DUE + timedelta(hours=each.extension)))
        require_one_number(folder, drawn, in_table(folder, force=False))
        # The penalty of what was marked in the formgrader, and pages, follow when the class is graded again.
        require_one_number(folder, drawn, table := in_table(folder, force=True))
        assert table == {name: expected(each, rule) for name, each in sorted(drawn.items()) if each.notebooks}
        with CourseDir(folder).gradebook() as gradebook:
            for student, own in table.items():
                require_pages(folder, gradebook, student, own)

    check_class()
