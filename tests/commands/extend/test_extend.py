"""`grader extend` gives one student a later due date, which counts wherever a due date counts."""

import csv
import re
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps import GenerateFeedbackApp

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.record.entry import Kind, account
from grader.classroom.record.record import Record
from grader.classroom.release import release
from grader.commands.cli import main
from grader.commands.extend.extension import due_date
from grader.commands.serve.databases import Deadlines
from grader.errors import GraderError
from tests.support.nbgrader_programs import run_program
from tests.support.notebooks import answered, notebook, text, written
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, ledger, make_course, released

DUE = datetime(2030, 1, 2, 12)
ZERO = "\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course in which late submissions have 0 points: ann handed in a day late, bob has not yet."""
    folder = make_course(tmp_path / "course")
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write(ZERO)
    submitted = hand_in(folder, "ann", answered(released(folder), **RIGHT))
    (submitted / "timestamp.txt").write_text("2030-01-03 12:00:00 UTC")
    with CourseDir(folder).gradebook() as gradebook:
        gradebook.add_assignment(NAME, duedate=DUE)
        gradebook.add_student("bob")
    monkeypatch.chdir(folder)
    return folder


def counted(folder: Path, student: str) -> float:
    """A student's points after a late penalty."""
    return read_ledger(CourseDir(folder), NAME).of(student).total.counted


@pytest.mark.slow
def test_the_penalty_goes_with_the_next_grade_and_comes_back(
    course: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """An extension counts for a student who is graded already; each change is in the record, with its reason.

    Pages, nbgrader's own too, report and export show the date. Until ann is graded again, the penalty is the old one.
    """
    grade_class(course)
    assert counted(course, "ann") == 0
    assert main(["extend", "ann", NAME, "2030-01-04", "--why", "ill"]) == 0
    first, then = capsys.readouterr().out.splitlines()
    assert first == f"ann: {NAME} is due at 2030-01-04 23:59:59 UTC (before: 2030-01-02 12:00:00 UTC)"
    assert f"run 'grader grade {NAME}'" in then
    overview, extended = course / "feedback" / "ann" / NAME / "index.html", "extended to 2030-01-04 23:59:59 UTC"
    status, logged = run_program(GenerateFeedbackApp, caplog, NAME, "--force")
    assert status == 0 and f"Your due date was {extended}" in overview.read_text(), logged
    assert main(["export", NAME, "--for", "csv"]) == 1
    older = "1 student of 01-small was graded before the due date or the rule for late work changed"
    assert older in capsys.readouterr().err
    assert grade_class(course) == ["ann"] and counted(course, "ann") == 8 and grade_class(course) == []
    assert f"Your due date was {extended}" in overview.read_text()
    assert main(["export", NAME, "--for", "csv"]) == 0 and older not in capsys.readouterr().err
    rows = {row["student_id"]: row for row in csv.DictReader((course / "grades.csv").read_text().splitlines())}
    assert (rows["ann"]["duedate"], rows["bob"]["duedate"]) == ("2030-01-04 23:59:59", "2030-01-02 12:00:00")
    assert main(["report", NAME]) == 0
    for name in ("index.html", "students.csv"):
        assert f"due date {extended}" in (course / "reports" / NAME / name).read_text()
    assert main(["extend", "ann", NAME, "2030-01-04 23:59:59"]) == 0  # as it is
    assert main(["extend", "ann", NAME, "--remove"]) == 0
    assert grade_class(course) == ["ann"] and counted(course, "ann") == 0
    own = [each for each in Record(course).entries() if each.kind is Kind.EXTENSION]
    assert [(each.who, each.student, each.assignment, each.before, each.after, each.why) for each in own] == [
        (account(), "ann", NAME, None, "2030-01-04T23:59:59Z", "ill"),
        (account(), "ann", NAME, "2030-01-04T23:59:59Z", None, ""),
    ]


@pytest.mark.slow
def test_one_who_has_not_handed_in_stays_so_until_then(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """nbgrader needs rows for an extension; they are no submission in tables, and the first hand-in is complete."""
    grade_class(course)
    assert main(["extend", "bob", NAME, "2030-01-05 18:00 Europe/Berlin"]) == 0
    assert "2030-01-05 17:00:00 UTC" in capsys.readouterr().out
    known = read_ledger(CourseDir(course), NAME)
    assert known.by_student.keys() == {"ann"} and known.of("bob").extension == timedelta(days=3, hours=5)
    assert main(["grade", NAME, "--explain", "bob"]) == 1
    assert f"no score of 'bob' in '{NAME}': nothing was handed in" in capsys.readouterr().err
    assert main(["extend", "bob", NAME, "--remove"]) == 0
    assert read_ledger(CourseDir(course), NAME).by_student.keys() == {"ann"} == ledger(course).keys()
    assert main(["extend", "bob", NAME, "2030-01-05 18:00 Europe/Berlin"]) == 0
    deadlines = Deadlines(CourseDir(course).directory.db_url)  # the service waits as long
    assert [deadlines.due(NAME, student) for student in ("ann", "bob")] == [DUE, datetime(2030, 1, 5, 17)]
    deadlines.close()
    submitted = hand_in(course, "bob", answered(released(course), **RIGHT))
    (submitted / "timestamp.txt").write_text("2030-01-05 16:59:59 UTC")
    assert grade_class(course) == ["bob"]
    assert counted(course, "bob") == 8 and ledger(course)["bob"]["penalties"] == [None]
    assert main(["grade", NAME, "--explain", "bob"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "extended to 2030-01-05 17:00:00 UTC" in out and "extension 2030-01-05T17:00:00Z → -" in out


@pytest.mark.slow
def test_written_answers_alone_are_a_hand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They have no points until they are marked, and no time if a folder came by mail: they wait all the same."""
    course, essay = make_course(tmp_path / "course"), notebook(text("# Essay"), written("why", "Because.", 4))
    nbformat.write(essay, course / "source" / NAME / "small.ipynb")
    release(CourseDir(course), NAME)
    with CourseDir(course).gradebook() as gradebook:
        gradebook.add_assignment(NAME, duedate=DUE)
        gradebook.add_student("bob")
    hand_in(course, "ann", answered(released(course), why="It had to be."))
    monkeypatch.chdir(course)
    grade_class(course)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for student in ("ann", "bob"):
            assert main(["extend", student, NAME, "2030-01-04"]) == 0
    grade_class(course)
    known = read_ledger(CourseDir(course), NAME)
    assert known.by_student.keys() == {"ann"} and known.of("ann").total.needs_marking
    with CourseDir(course).gradebook() as gradebook:
        assert not gradebook.find_submission(NAME, "bob").needs_manual_grade
    capsys.readouterr()
    assert main(["export", NAME, "--for", "csv"]) == 0
    assert re.search("waiting for marking in 01-small.*: ann$", capsys.readouterr().err, re.MULTILINE)
    hand_in(course, "bob", answered(released(course), why="It rains."))
    grade_class(course)
    assert read_ledger(CourseDir(course), NAME).of("bob").total.needs_marking


@pytest.mark.slow
def test_a_refusal_is_one_sentence_and_changes_nothing(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what to do; neither gradebook nor record are touched, also where nbgrader knows no notebooks yet."""
    grade_class(course)
    with CourseDir(course).gradebook() as gradebook:
        gradebook.add_assignment("02-later", duedate=DUE)
        gradebook.add_assignment("03-open")
    before = ledger(course)
    for arguments, says in (
        (["anne", NAME, "2030-02-01"], "no student 'anne': did you mean 'ann'?"),
        (["ann", "01-smal", "2030-02-01"], f"no assignment '01-smal': did you mean '{NAME}'?"),
        (["bob", "02-later", "2030-01-04"], "02-later has no notebooks yet: put them into source/ first"),
        (["bob", "03-open", "2030-02-01"], "nbgrader db assignment add 03-open --duedate="),
        (
            ["ann", NAME, "2030-01-02 12:00"],
            f"{NAME} is due at 2030-01-02 12:00:00 UTC for everyone, and .* is not later",
        ),
        (["ann", NAME, "2020-01-02"], "2020-01-02 23:59:59 UTC is in the past: correct .* or add --past"),
        (["ann", NAME, "--remove"], "has no extension of"),
        (["ann", NAME, "tomorrow"], "'tomorrow' is not a date: write a date such as"),
        (["ann", NAME, "24"], "'24' is not a date"),
        (["ann", NAME, "2030-02-30"], "'2030-02-30' is not a date .day"),
        (["ann", NAME, "2030-02-01 18:00 Middle/Earth"], "is not a date .*Middle/Earth"),
        (["ann", NAME, "2030-02-01 18:00 ../../etc/passwd"], "is not a date"),
        (["ann", NAME, "2030-02-01 25:00"], "is not a date .hour"),
    ):
        assert main(["extend", *arguments]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert re.search(says, line), line
        assert ledger(course) == before and Record(course).entries() == []
    with CourseDir(course).gradebook() as gradebook:
        assert gradebook.find_assignment("02-later").submissions == []


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("2030-12-24", datetime(2030, 12, 24, 23, 59, 59)),
        ("2030-12-24 Europe/Berlin", datetime(2030, 12, 24, 22, 59, 59)),
        ("2030-07-01 18:00 Europe/Berlin", datetime(2030, 7, 1, 16)),
        ("2030-07-01T18:00:30Z", datetime(2030, 7, 1, 18, 0, 30)),
        ("2030-07-01 18:00 -05:30", datetime(2030, 7, 1, 23, 30)),
        ("2030-07-01 18:00 UTC", datetime(2030, 7, 1, 18)),
    ],
)
def test_dates(text: str, until: datetime) -> None:
    """With and without time and zone, by daylight saving."""
    assert due_date(text) == until


@pytest.mark.slow
def test_a_date_in_the_past_forgives_if_one_says_so(course: Path) -> None:
    """A reason is often known only after the due date; the first grading, and with it the notebooks, may come later."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with pytest.raises(GraderError, match="in the past"):
        due_date(f"{yesterday:%Y-%m-%d}")
    assert due_date(f"{yesterday:%Y-%m-%d}", allow_past=True).date() == yesterday.date()
    with CourseDir(course).gradebook() as gradebook:
        gradebook.add_student("ann")
        gradebook.find_assignment(NAME).duedate = datetime(2020, 1, 1)
        gradebook.db.commit()
    (course / "submitted" / "ann" / NAME / "timestamp.txt").write_text("2020-01-03 12:00:00 UTC")
    assert main(["extend", "ann", NAME, "2020-01-03", "--past"]) == 0
    extension = timedelta(days=2, hours=23, minutes=59, seconds=59)
    assert grade_class(course) == ["ann"] and counted(course, "ann") == 8 and len(ledger(course)["ann"]["grades"]) == 4
    assert read_ledger(CourseDir(course), NAME).of("ann").extension == extension
