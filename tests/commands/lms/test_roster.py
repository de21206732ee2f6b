"""The students of a roster come into the gradebook all or none, whoever wrote it; grades stay."""

import csv
import re
import shutil
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.release import register
from grader.classroom.students.csv_files import as_csv, neutral, read_csv
from grader.classroom.students.roster import read_roster
from grader.commands.cli import main
from grader.errors import GraderError
from grader.text import one_line
from tests.support.platform_files import (
    CANVAS_GRADEBOOK,
    MOODLE_PARTICIPANTS,
    MOODLE_WORKSHEET,
    NBGRADER_STUDENTS,
    write_csv,
)  # fmt: skip
from tests.support.small_class import NAME, ledger, make_course, results_of, run

Student = tuple[str, str | None, str | None, str | None, str | None]


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course folder as the working folder."""
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'small'\n")
    monkeypatch.chdir(folder)
    return folder


def students(folder: Path) -> list[Student]:
    """Return what the gradebook has of each student, by id."""
    with CourseDir(folder).gradebook() as gradebook:
        return sorted((s.id, s.first_name, s.last_name, s.email, s.lms_user_id) for s in gradebook.students)


def test_canvas_gives_logins_names_and_ids(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A login that is an address is the address as well. The test student is named; a second time nothing changes."""
    write_csv(course, CANVAS_GRADEBOOK)
    assert main(["roster", "file.csv"]) == 0
    assert students(course) == [
        ("ann", "Ann", "Lee", None, "101"),
        ("bob", "Bob", "Oduya", None, "102"),
        ("eve", None, "=SUM(1,2)", None, "104"),
        ("zofie@example.org", "Žofie", "Šimić", "zofie@example.org", "103"),
    ]
    shown = capsys.readouterr()
    assert "students: 4 added, 0 updated, 0 as before" in shown.out and "the id is 'SIS Login ID'" in shown.out
    assert "'SIS User ID' or 'ID'" in shown.out and "line 8: Canvas's test student was left out" in shown.err
    assert main(["roster", "file.csv"]) == 0 and "students: 0 added, 0 updated, 4 as before" in capsys.readouterr().out


def test_moodle_gives_id_numbers_unless_another_column_is_named(course: Path) -> None:
    """In whatever order its columns are, and under the names of an older version."""
    write_csv(course, MOODLE_PARTICIPANTS)
    assert read_roster(course / "file.csv", "email address").require_usable()[0] == "ann@example.org"
    assert main(["roster", "file.csv"]) == 0
    assert students(course)[0] == ("u101", "Ann", "Lee", "ann@example.org", None) and len(students(course)) == 3


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_roster_is_read_as_any_spreadsheet_saves_it(tmp_path: Path, separator: str, encoding: str, end: str) -> None:
    """With any separator, in UTF-8 or UTF-16, with a line for Excel, spaces before quotes, and decomposed letters."""
    for first, between in ((f"sep={separator}", f"{separator} "), ("", separator)):
        name = f'"Zo\u0301e{between}C."'
        lines = [first, between.join(("id", "first_name", "last_name")), between.join(("ann", name, "Lee")), "", ""]
        (tmp_path / "r.csv").write_bytes(end.join(lines).encode(encoding))
        (entry,) = read_roster(tmp_path / "r.csv").entries
        assert (entry.line, entry.id, entry.last_name) == (3, "ann", "Lee")
        assert entry.first_name == f"Z\u00f3e{between}C.".replace("\t", " ")


def test_what_the_roster_does_not_say_stays(course: Path) -> None:
    """An empty cell removes nothing, and students whom it does not name stay."""
    write_csv(course, NBGRADER_STUDENTS)
    assert main(["roster", "file.csv"]) == 0
    write_csv(course, "id,first_name,email\nann,Anna,\ncat,Cat,\n")
    assert main(["roster", "file.csv"]) == 0
    assert students(course) == [
        ("ann", "Anna", "Lee", "ann@example.org", "101"),
        ("bob", "Bob", "Oduya", None, None),
        ("cat", "Cat", None, None, None),
    ]


@pytest.mark.slow
def test_nbgrader_reads_its_columns_in_the_same_way(course: Path, tmp_path: Path) -> None:
    """Its own import gives the same table, but stops in the middle where ours does not begin."""
    broken = "id,first_name\ncat,Cat\n,Dan\neve,Eve\n"
    for name, text, theirs, ours in (
        ("whole", NBGRADER_STUDENTS, ["ann", "bob"], ["ann", "bob"]),
        ("broken", broken, ["cat"], ["ann", "bob"]),
    ):
        write_csv(course, text)
        other = shutil.copytree(course, tmp_path / name, ignore=shutil.ignore_patterns("*.db"))
        done = run(other, "nbgrader", "db", "student", "import", "file.csv")
        assert name == "broken" or done.returncode == 0, done.stderr
        assert main(["roster", "file.csv"]) == (name == "broken")
        assert [row[0] for row in students(other)] == theirs and [row[0] for row in students(course)] == ours
        assert name == "broken" or students(other) == students(course)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id\nann\n\nann\n", "line 4: the id 'ann' is on line 2 as well"),
        ("id\nann\nAnn\n", "line 3: the id 'Ann' is on line 2 as well"),
        ("id,first_name\nann,\n ,Bob\n", r"line 3: 'id' is empty \(Bob\): fill it in, or choose another column"),
        ("id\n../ann\n", "line 2: a student's name has letters"),
        ("id\n.ann\n", "line 2: a student's name has letters"),
        ("id\na/b\n", "line 2: a student's name has letters"),
        ('id\n"a\nb"\n', "line 2: a student's name has letters"),
        ("id\na\x1b[2J\n", "line 2: a student's name has letters"),
        ("id\n*\n", "line 2: a student's name has letters"),
        ("id\n12345.0\n", "line 2: '12345.0' is a number as a spreadsheet rewrites it"),
        ("id\n1.23E+05\n", "line 2: '1.23E.05' is a number as a spreadsheet rewrites it"),
        ("id,lms_user_id\nann,101.00\n", "line 2: '101.00' is a number as a spreadsheet rewrites it"),
        ("id,lms_user_id\nann,7\nbob,7\n", "line 3: the platform's ID '7' is on line 2 as well"),
        (f"id,first_name\nann,{'x' * 129}\n", "line 2: a cell has more than the 128 characters"),
    ],
)
def test_one_line_that_is_refused_leaves_the_gradebook_as_it_is(
    course: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the line and what to do; all refused lines are listed."""
    write_csv(course, "id\nzoe\n")
    assert main(["roster", "file.csv"]) == 0
    header, _, rows = text.partition("\n")
    write_csv(course, f"{header}\n{rows}cat{',' * header.count(',')}\n")
    capsys.readouterr()
    assert main(["roster", "file.csv"]) == 1
    errors = capsys.readouterr().err
    with pytest.raises(GraderError, match="was not used, because .*--id-column") as refused:
        read_roster(course / "file.csv").require_usable()
    assert re.search(words, "\n".join(refused.value.details))
    assert "was not used, because" in errors and "\x1b" not in errors
    assert all(errors.count(one_line(line)) == 1 for line in refused.value.details)
    assert [student[0] for student in students(course)] == ["zoe"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("name\nann\n", "needs 'id' .nbgrader., 'Student', 'ID' and 'Section' .Canvas.* 'First name' and 'Last name'"),
        ("id\n\n", "names no student"),
        ('id,x\nann,"', "cannot be read"),
        ("Vorname;Nachname\nAnn;Lee\n", "exported in English"),
        ("First name,Last name\nAnn,Lee\n", "has no column 'Username or ID number or Email address' for the ids"),
        (MOODLE_WORKSHEET, "has the columns Identifier, Full name"),
        ("id,first_name\nann,Ann,Lee\n", "2 columns, and 3 cells on line 2: put a cell that contains the separator"),
        ('id,first_name,last_name\nann,"Ann, C.",Lee\n\nbob,Bob, C.,Roe\n', "3 columns, and 4 cells on line 4"),
        ("Participants\n\nid;first_name\nann;Ann\n", "one name on line 1, and 2 cells on line 3: remove what is above"),
        ("Participants;;\nid;first_name;x\nann;Ann;\n", "one name on line 1, and 3 cells on line 2: remove what"),
        ("id,first_name\nzofie,Žofie\n".encode("cp1250"), "save it as CSV in UTF-8"),
        (b"PK\x03\x04" + bytes(100), "is an Excel workbook: save it as CSV"),
        (b"\xd0\xcf\x11\xe0" + bytes(100), "is an Excel workbook: save it as CSV"),
    ],
)
def test_a_file_that_is_no_roster_is_refused(tmp_path: Path, content: str | bytes, words: str) -> None:
    """The message says which columns a roster has; names in another encoding would be wrong."""
    (tmp_path / "r.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(GraderError, match=words):
        read_roster(tmp_path / "r.csv").require_usable()


@pytest.mark.parametrize(
    ("cells", "chosen", "others"),
    [
        (("u1,ann@x.org", "u2,bob@x.org"), "ID number", ["Email address"]),
        ((",ann@x.org", ",bob@x.org"), "Email address", []),
        (("u1,ann@x.org", ",bob@x.org"), "Email address", []),
        (("u1,", "u2,bob@x.org"), "ID number", []),
        (("u1,", ",bob@x.org"), "ID number", []),
    ],
)
def test_moodles_first_column_with_an_id_for_everybody_is_taken(
    tmp_path: Path, cells: tuple[str, str], chosen: str, others: list[str]
) -> None:
    """Its usual export has an empty ID number; if no column is filled in everywhere, the first one is refused."""
    header = "First name,Last name,ID number,Email address"
    roster = read_roster(write_csv(tmp_path, f"{header}\nAnn,Lee,{cells[0]}\nBob,Roe,{cells[1]}\n"))
    assert (roster.id_column, roster.id_columns) == (chosen, others)
    assert bool(roster.refused) is (cells == ("u1,", ",bob@x.org"))


def test_a_name_that_grading_takes_is_no_reason_to_refuse_a_roster(course: Path) -> None:
    """Addresses have signs that many programs refuse, and grading takes folders of any name."""
    names = ["ann@x.org", "pat.o'hara@x.org", "jane doe", "a,b", "ada (1)", "Žofie", "x"]
    write_csv(course, "id\n" + "".join(f'"{name}"\n' for name in names))
    assert main(["roster", "file.csv"]) == 0 and {row[0] for row in students(course)} == set(names)


def test_a_refused_roster_names_another_column_that_would_do(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And never the column that was taken, whatever its case."""
    write_csv(course, "First name,Last name,ID NUMBER,EMAIL ADDRESS\nAnn,Lee,a/1,ann@x.org\n")
    assert main(["roster", "file.csv"]) == 1
    assert "--id-column could name 'EMAIL ADDRESS'" in capsys.readouterr().err
    assert main(["roster", "file.csv", "--id-column", "email address"]) == 0
    assert "could name 'ID NUMBER'" in capsys.readouterr().out
    write_csv(course, "ID,Email Address\nann,ann@x.org\n")
    assert main(["roster", "file.csv"]) == 0 and "could name" not in capsys.readouterr().out


def test_a_person_is_one_student(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither another column as id nor an id in upper case makes a second student of the same person."""
    write_csv(course, f"{NBGRADER_STUDENTS}søren,Roe,Søren,,\n")
    assert main(["roster", "file.csv"]) == 0
    before = students(course)
    for second, words in (
        (MOODLE_PARTICIPANTS, "line 2: 'u101' and 'ann' would have the same email"),
        ("id,first_name\nSØREN,Søren\n", "line 2: 'SØREN' and 'søren' would have the same id"),
    ):
        write_csv(course, second)
        assert main(["roster", "file.csv"]) == 1 and students(course) == before
        assert words in capsys.readouterr().err


def test_grades_are_never_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only table that is written is that of the students, in one transaction."""
    folder = make_course(tmp_path / "course")
    course_dir = CourseDir(folder)
    register(course_dir, NAME)
    with GradebookWriter(course_dir, NAME) as writer:
        writer.write([StudentScores("ann", {"small": NotebookScores(results_of({"one-check": 1.0}), set())})])
    before, written = ledger(folder), list[str]()

    def record(_connection, _cursor, statement, *_rest):
        if not statement.startswith(("SELECT", "PRAGMA")):
            written.append(" ".join(statement.split()[:3]))

    def commit(_connection):
        written.append("COMMIT")

    monkeypatch.chdir(folder)
    write_csv(folder, NBGRADER_STUDENTS)
    event.listen(Engine, "before_cursor_execute", record)
    event.listen(Engine, "commit", commit)
    try:
        assert main(["roster", "file.csv"]) == 0
    finally:
        event.remove(Engine, "before_cursor_execute", record)
        event.remove(Engine, "commit", commit)
    # nbgrader commits once or twice while it opens the gradebook.
    *opening, first, second, last = written
    assert set(opening) <= {"COMMIT"} and last == "COMMIT"
    assert {first, second} == {"INSERT INTO student", "UPDATE student SET"}
    assert ledger(folder) == before


def test_tokens_are_made_from_any_roster(course: Path) -> None:
    """With the same ids as in the gradebook."""
    write_csv(course, CANVAS_GRADEBOOK)
    assert main(["tokens", "file.csv", "--id-column", "SIS User ID"]) == 0
    with (course / "tokens.csv").open() as file:
        assert [row["id"] for row in csv.DictReader(file)] == ["u101", "u102", "u103", "u104"]


@pytest.mark.slow
@given(st.text(st.characters(codec="utf-8")))
@settings(derandomize=True, database=None, deadline=None)
def test_no_cell_is_a_formula(text: str) -> None:
    """Whatever a student is called: at its start, and wherever a spreadsheet with other separators begins a cell."""
    for cell in neutral(text).replace(";", ",").split(","):
        cell = cell.strip()
        assert cell[:1] not in tuple("=+-@＝＋－＠") or len(cell) == 1 or cell[1:].replace(".", "").isdigit()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"), ("+49 30", "'+49 30"), ("@SUM(1)", "'@SUM(1)"), ("\t=1", " '=1"), ("a;=cmd", "a;'=cmd"),
        ("-1.5", "-1.5"), ("+3", "+3"), ("-", "-"), ("Lee, Ann", "Lee, Ann"), ("ann@example.org", "ann@example.org"),
    ],
)  # fmt: skip
def test_numbers_and_names_stay(text: str, written: str) -> None:
    """Only what a spreadsheet would run is changed."""
    assert neutral(text) == written


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8"), max_size=5), min_size=2, max_size=2), min_size=1))
@settings(derandomize=True, database=None, deadline=None)
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]) -> None:
    """Apart from formulas, breaks of lines and empty rows."""
    path = tmp_path_factory.getbasetemp() / "written.csv"
    path.write_text(as_csv([["a", "b"], *rows]), encoding="utf-8")
    wanted = [[neutral(cell).strip() for cell in row] for row in rows]
    table = read_csv(path)
    read = [[row.cell(0), row.cell(1)] for row in table.rows]
    assert read == [[unicodedata.normalize("NFC", c).strip() for c in row] for row in wanted if any(row)]
