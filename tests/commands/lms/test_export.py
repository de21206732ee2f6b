"""Grades go out as nbgrader counts them, in the columns that each platform takes in."""

import csv
import io
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbgrader.apps.exportapp import ExportApp
from nbgrader.plugins import CsvExportPlugin

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.release import register
from grader.commands.cli import main
from tests.support.nbgrader_programs import run_program
from tests.support.platform_files import CANVAS_GRADEBOOK, MOODLE_WORKSHEET, write_csv
from tests.support.small_class import NAME, make_course, results_of

pytestmark = pytest.mark.slow

ROSTER = """\
id,first_name,last_name,email,lms_user_id
ann,Ann,Lee,ann@example.org,101
bob,Bob,Oduya,bob@example.org,102
zofie,Žofie,"Šimić, von",zofie@example.org,103
eve,"=SUM(1,2)",@Eve,eve@example.org,104
dan,Dan,Nowhere,,
"""
EARNED = {"ann": 5.75, "bob": 7.75, "zofie": 8.0, "eve": 0.0, "dan": 0.0}
"""ann pays 2.25 for being late, bob has 1.75 for his answer, dan handed in nothing, and zofie waits for marking."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with a penalty, marks of a person, extra credit, and a student who handed in nothing."""
    folder = make_course(tmp_path_factory.mktemp("export") / "course")
    course_dir = CourseDir(folder)
    register(course_dir, NAME)
    tests = {"one-check": 1.0, "one-test-more": 2.0, "two-check": 5.0}
    given = {"ann": {"why"}, "bob": set(), "zofie": set(), "eve": {"one", "two", "why"}}
    points = {"ann": tests, "bob": tests | {"two-check": 2.5}, "zofie": tests, "eve": dict.fromkeys(tests, 0.0)}
    with GradebookWriter(course_dir, NAME) as writer:
        writer.write([
            StudentScores(student, {"small": NotebookScores(results_of(points[student]), unanswered)})
            for student, unanswered in given.items()
        ])  # fmt: skip
    with course_dir.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-03-01 12:00:00 UTC")
        gradebook.find_submission(NAME, "ann").timestamp = gradebook.find_assignment(NAME).duedate
        gradebook.find_submission_notebook("small", NAME, "ann").late_submission_penalty = 2.25
        grade = gradebook.find_grade("why", "small", NAME, "bob")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 1.75, 0.5, False
        gradebook.find_submission_notebook("small", NAME, "eve").late_submission_penalty = 1.0
        gradebook.db.commit()
    (folder / "students.csv").write_text(ROSTER, encoding="utf-8")
    return folder


@dataclass
class Course:
    """A course folder as the working folder, and what its commands print."""

    folder: Path
    printed: pytest.CaptureFixture[str]
    summary: str = ""

    def export(self, *options: str, platform: str = "canvas", status: int = 0) -> tuple[list[list[str]], str]:
        """Return the rows of `grader export`, and what it said besides."""
        assert main(["export", NAME, "--for", platform, *options, "--output", "out.csv"]) == status
        self.summary, said = self.printed.readouterr()
        if status:
            return [], said
        with (self.folder / "out.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file)), said

    def scores(self, rows: list[list[str]], key: int, column: int) -> dict[str, str]:
        """Return two columns of rows."""
        return {row[key]: row[column] for row in rows}


@pytest.fixture
def course(graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Course:
    """A copy of `graded` with its students."""
    folder = shutil.copytree(graded, tmp_path / "course")
    monkeypatch.chdir(folder)
    assert main(["roster", "students.csv"]) == 0
    capsys.readouterr()
    return Course(folder, capsys)


def test_the_table_is_that_of_nbgrader(course: Course) -> None:
    """To the last digit, penalties, marks and extra credit included; `nbgrader export` only does not quote commas."""
    rows, said = course.export(platform="csv")
    assert course.summary == f"wrote out.csv: {len(EARNED)} students\n"
    with CourseDir(course.folder).gradebook() as gradebook:
        plugin = CsvExportPlugin()
        plugin.to = str(course.folder / "theirs.csv")
        plugin.export(gradebook)
        counted = {student.id: student for student in gradebook.students}
    theirs = (course.folder / "theirs.csv").read_text(encoding="utf-8").splitlines()
    plain = [[cell.removeprefix("'") for cell in row[:-2]] for row in rows]
    assert [",".join(row) for row in plain] == theirs and len(theirs) == 1 + len(counted)
    assert {row[3]: float(row[9]) for row in rows[1:]} == EARNED
    assert {row[3] for row in rows if row[-2] == "yes"} == {"zofie"} and {row[-1] for row in rows[1:]} == {"no"}
    assert "1 student waiting for marking in 01-small, with points that are incomplete: zofie" in said
    assert {row[3]: row[5:7] for row in rows}["eve"] == ["'=SUM(1,2)", "eve@example.org"]


def test_canvas_gets_its_own_gradebook_with_our_column(course: Course) -> None:
    """EX and N/A stay, other assignments are left out, rows of who waits for marking and of strangers too."""
    write_csv(course.folder, CANVAS_GRADEBOOK, "canvas.csv")
    rows, said = course.export("--template", "canvas.csv")
    assert course.summary.startswith(f"wrote out.csv: {len(rows) - 3} student")
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "01 Small (4711)"],
        ["", "", "", "", "", "Manual Posting"],
        ["    Points Possible", "", "", "", "", "10.0"],
        ["Lee, Ann", "101", "u101", "ann", "Morning and Evening", "5.75"],
        ["Oduya, Bob", "102", "u102", "bob", "Morning", "7.75"],
        ['\'="=SUM(1,2)"', "104", "u104", "eve", "Evening", "N/A"],
    ]
    assert "1 student of the template not in the gradebook: line 8" in said
    assert "1 student waiting for marking in 01-small, left out (--unmarked puts them in): zofie" in said
    rows, said = course.export("--template", "canvas.csv", "--unmarked")
    assert "waiting for marking in 01-small, with points that are incomplete: zofie" in said and "left out" not in said
    assert course.scores(rows, 3, 5)["zofie@example.org"] == "EX"
    assert "2 students excused or not assigned in Canvas, left unchanged: zofie, eve" in said


@pytest.mark.parametrize("title", ["Essay", "essay (4712)", "4712"])
def test_an_assignment_may_have_another_title_in_canvas(course: Course, title: str) -> None:
    """It is named by its title, with or without its number. Semicolons and decimal commas are read, too."""
    with io.StringIO() as text:
        rows = csv.reader(CANVAS_GRADEBOOK.replace("10.0,20.0", "20.0,10.0").splitlines())
        csv.writer(text, delimiter=";").writerows([cell.replace("10.0", "10,0") for cell in row] for row in rows)
        write_csv(course.folder, text.getvalue(), "canvas.csv")
    rows, _ = course.export("--template", "canvas.csv", "--column", title)
    assert rows[0][-1] == "Essay (4712)" and course.scores(rows, 3, 5)["ann"] == "5.75" and rows[2][5] == "10,0"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CANVAS_GRADEBOOK.replace("01 Small (4711)", "Homework (4711)"), "'Homework (4711)', 'Essay (4712)'"),
        (CANVAS_GRADEBOOK.replace("Essay (4712)", "01-Small (4712)"), "has 2 columns called '01-small'"),
        (MOODLE_WORKSHEET, "is not Canvas's gradebook"),
        (
            CANVAS_GRADEBOOK.replace(",,,,,10.0,", ",,,,,100,"),
            "01-small has 10 points in the gradebook, and 100 in canvas.csv: set 10 on the platform",
        ),
    ],
)
def test_a_template_without_the_one_column_is_refused(course: Course, text: str, words: str) -> None:
    """So are one with other points than the gradebook's, and an assignment that the gradebook does not have."""
    write_csv(course.folder, text, "canvas.csv")
    assert words in course.export("--template", "canvas.csv", status=1)[1]
    assert main(["export", "02-small", "--for", "csv"]) == 1
    assert "the gradebook has no assignment '02-small' (it has 01-small)" in course.printed.readouterr().err
    assert not (course.folder / "out.csv").exists()


def test_without_a_template_canvas_finds_students_by_its_ids(course: Course) -> None:
    """In the columns that its import demands; what is missing is said."""
    rows, said = course.export()
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME]
    assert rows[1] == ["    Points Possible", "", "", "", "", "10"]
    assert course.scores(rows[2:], 3, 5) == {"ann": "5.75", "bob": "7.75", "eve": "0", "dan": "0"}
    assert course.scores(rows[2:], 3, 1) == {"ann": "101", "bob": "102", "eve": "104", "dan": ""}
    assert "without --template, Canvas looks for assignments with these very titles" in said
    assert "1 student without a Canvas ID in the gradebook ('grader roster' puts it there): dan" in said
    assert "1 student without a submission of 01-small, with 0 points as nbgrader counts: dan" in said


def test_moodle_gets_its_own_worksheet(course: Course) -> None:
    """Only rows with a grade; comments stay unless ours are wanted; more points than the maximum are named."""
    write_csv(course.folder, MOODLE_WORKSHEET, "worksheet.csv")
    rows, said = course.export("--template", "worksheet.csv", platform="moodle")
    header, *students = rows
    assert header == next(csv.reader([MOODLE_WORKSHEET.splitlines()[0]]))
    assert [(row[0], row[4], row[-1]) for row in students] == [
        ("Participant 11", "5.75", ""),
        ("Participant 12", "7.75", "kept"),
    ]
    assert [row[8] for row in students] == ["-", "Monday, 2 March 2026, 8:00 AM"]
    assert "1 student of the template not in the gradebook: line 5" in said
    assert "1 student with a grade that cannot be changed in Moodle, left out: zofie" in said
    assert "1 student with points but not in the template: eve" in said and "than the maximum" not in said
    with CourseDir(course.folder).gradebook() as gradebook:
        gradebook.find_grade("why", "small", NAME, "bob").extra_credit = 9.0
        gradebook.db.commit()
    rows, said = course.export("--template", "worksheet.csv", "--comments", platform="moodle")
    assert rows[1][-1] == "small: 8 of 10; late: 2.25 points taken off"
    assert "1 student with more points than the maximum, which Moodle does not import: bob" in said


def test_no_one_gets_the_grade_of_a_person_with_the_same_name(course: Course) -> None:
    """An address tells two Ann Lees apart; where nothing does, none of them gets a grade."""
    other = MOODLE_WORKSHEET.replace("Bob Oduya", "Ann Lee").replace("bob@", "another@")
    write_csv(course.folder, other, "worksheet.csv")
    rows, said = course.export("--template", "worksheet.csv", platform="moodle")
    assert [row[:2] for row in rows[1:]] == [["Participant 11", "Ann Lee"]]
    assert "2 students of the template not in the gradebook: line 3, line 5" in said
    write_csv(course.folder, other.replace("another@example.org", "").replace("ann@example.org", ""), "worksheet.csv")
    rows, said = course.export("--template", "worksheet.csv", platform="moodle")
    assert rows[1:] == [] and "may mean the same student: ann (line 2), ann (line 3)" in said


def test_without_a_worksheet_moodle_maps_the_columns(course: Course) -> None:
    """Ids and addresses, for the import of its gradebook."""
    rows, said = course.export("--comments", platform="moodle")
    assert rows[0] == ["First name", "Last name", "id", "Email address", NAME, f"{NAME} (feedback)"]
    assert ["Ann", "Lee", "ann", "ann@example.org", "5.75", "small: 8 of 10; late: 2.25 points taken off"] in rows
    assert ["Dan", "Nowhere", "dan", "", "0", "not handed in"] in rows and "without --template" in said
    assert "zofie" not in course.scores(rows, 2, 4)


def run_nbgrader(logged: pytest.LogCaptureFixture, plugin: str, *settings: str, status: int = 0, **aliases: str) -> str:
    """Run `nbgrader export` with an exporter of ours, and return what it logged."""
    options = [f"--{plugin}.{setting}" for setting in settings]
    options += [f"--{name}={value}" for name, value in aliases.items()]
    ended, said = run_program(ExportApp, logged, f"--exporter=grader.commands.lms.export.{plugin}", *options)
    assert ended == status, said
    return said


NBGRADER = [
    ("canvas", "CanvasExportPlugin", ["template=canvas.csv"]),
    ("canvas", "CanvasExportPlugin", ["column=Essay (4712)", "unmarked=True", "template=canvas.csv"]),
    ("canvas", "CanvasExportPlugin", []),
    ("moodle", "MoodleExportPlugin", ["comments=True", "template=worksheet.csv"]),
    ("moodle", "MoodleExportPlugin", ["comments=True", "unmarked=True"]),
    ("csv", "TableExportPlugin", []),
]


@pytest.mark.parametrize(("platform", "plugin", "settings"), NBGRADER)
def test_nbgrader_writes_the_same_files(
    course: Course, caplog: pytest.LogCaptureFixture, platform: str, plugin: str, settings: list[str]
) -> None:
    """Byte for byte and with the same notes; the settings of `nbgrader export` are the options of `grader export`."""
    write_csv(course.folder, CANVAS_GRADEBOOK.replace("10.0,20.0", "10.0,10.0"), "canvas.csv")
    write_csv(course.folder, MOODLE_WORKSHEET, "worksheet.csv")
    options = [word for setting in settings for word in f"--{setting}".removesuffix("=True").split("=")]
    _, said = course.export(*options, platform=platform)
    ours = (course.folder / "out.csv").read_bytes()
    assert len(ours.splitlines()) > 2
    logged = run_nbgrader(caplog, plugin, *settings, assignment=NAME, to="theirs.csv")
    assert (course.folder / "theirs.csv").read_bytes() == ours
    notes = [line.removeprefix("grader: ") for line in said.splitlines()]
    # Each command names its own options.
    alike = logged.replace(f"--{plugin}.", "--")
    assert notes and all(note in alike for note in notes) and "wrote theirs.csv: " in logged
    assert ("--" in said) == (f"--{plugin}." in logged)


def test_nbgrader_exports_the_students_that_are_named(course: Course, caplog: pytest.LogCaptureFixture) -> None:
    """Others are in no file and no note, and one of the same name makes a row doubtful; unnamed, all are exported."""
    assert main(["export", NAME, "--for", "moodle"]) == 0
    ours = (course.folder / "grades-moodle.csv").read_bytes()
    (course.folder / "grades-moodle.csv").unlink()
    run_nbgrader(caplog, "MoodleExportPlugin")
    assert (course.folder / "grades-moodle.csv").read_bytes() == ours
    write_csv(course.folder, MOODLE_WORKSHEET.replace("ann@example.org", ""), "worksheet.csv")
    write_csv(course.folder, "id,first_name,last_name\nann2,Ann,Lee\n", "more.csv")
    assert main(["roster", "more.csv"]) == 0
    logged = run_nbgrader(caplog, "MoodleExportPlugin", "template=worksheet.csv", student="bob", to="bob.csv")
    rows = list(csv.reader((course.folder / "bob.csv").read_text(encoding="utf-8").splitlines()))
    assert [row[0] for row in rows] == ["Identifier", "Participant 12"]
    assert "zofie" not in logged and "eve" not in logged
    run_nbgrader(caplog, "MoodleExportPlugin", "template=worksheet.csv", student="ann", to="ann.csv")
    assert len((course.folder / "ann.csv").read_text().splitlines()) == 1


def test_nbgrader_says_in_one_line_what_is_wrong(course: Course, caplog: pytest.LogCaptureFixture) -> None:
    """And ends with the status 1."""
    for settings, words in (
        (["template=nowhere.csv"], "nowhere.csv cannot be read"),
        (["column=a", "column=b"], "--CanvasExportPlugin.column is given 2 times for 1 assignments"),
        (["to=/proc/grades.csv"], "/proc/grades.csv cannot be written"),
    ):
        assert words in run_nbgrader(caplog, "CanvasExportPlugin", *settings, status=1)
        assert not (course.folder / "grades-canvas.csv").exists()
