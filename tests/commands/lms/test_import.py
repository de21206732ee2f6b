"""Submissions that a platform packed come into submitted/, each to its student and under the name of its notebook."""

import copy
import json

import nbformat
import pytest
from nbformat import NotebookNode

from grader.commands.cli import main
from tests.commands.lms.import_course import OTHER, Course
from tests.support.platform_files import CANVAS_GRADEBOOK, MOODLE_WORKSHEET, Packed, packed, write_csv
from tests.support.small_class import NAME


def test_canvas_names_students_by_their_ids(course: Course) -> None:
    """Late or not. The last number comes in unless it is blank or only a draft; the others are named."""
    said = course.take([
        Packed("leeann_101_9005_small.ipynb", course.work("ann")),
        Packed("leeann_101_9001_small-2.ipynb", course.work("old"), (2030, 1, 1, 0, 0, 0)),
        Packed("leeann_101_9002_small-1.ipynb", course.work("older")),
        Packed("someoneelse_LATE_102_9003_small-1.ipynb", course.work("bob")),
        Packed("someoneelse_LATE_102_9004_small-2.ipynb", nbformat.writes(course.blank).encode()),
        Packed("šimićžofie_103_9006_Small (2).ipynb.txt", course.work("zofie")),
        Packed("šimićžofie_103_9007_draft.ipynb", course.work("draft")),
    ])  # fmt: skip
    assert course.submitted() == {f"{who} small.ipynb": course.work(who) for who in ("ann", "bob", "zofie")}
    assert "3 notebooks of 3 students written to submitted/STUDENT/01-small/, 0 students unchanged" in said
    assert "bob: late according to the platform, by an unknown time" in said
    assert "ann: small.ipynb was used for small instead of small-2.ipynb" in said and "small-1.ipynb" in said
    assert "zofie: Small (2).ipynb.txt was used for small instead of draft.ipynb" in said


def test_moodle_names_students_by_their_names(course: Course) -> None:
    """In folders of newer and older versions, or without folders; also as an archive that the student packed."""
    inner = packed([
        Packed("01-small/deep/small.ipynb", course.work("zofie")),
        Packed("01-small/.ipynb_checkpoints/small-checkpoint.ipynb", b"{}"),
        Packed("__MACOSX/01-small/._small.ipynb", b"\0"),
        Packed("01-small/notes.pdf", b"%PDF"),
    ])  # fmt: skip
    course.take([
        Packed("Ann Lee_11_assignsubmission_file/small.ipynb", course.work("ann")),
        Packed("Oduya Bob_12_assignsubmission_file_small.ipynb", course.work("bob")),
        Packed("Žofie Šimić_13_assignsubmission_file_/My work.zip", inner),
    ])  # fmt: skip
    assert course.submitted() == {
        "ann small.ipynb": course.work("ann"),
        "bob small.ipynb": course.work("bob"),
        "zofie small.ipynb": course.work("zofie"),
    }


@pytest.mark.parametrize("codec", ["utf-8", "cp437"])
def test_names_in_other_scripts_are_read(course: Course, codec: str) -> None:
    """Whether an archive says that they are in UTF-8, only uses it, or uses the old code page of DOS."""
    who = "José Muñoz"
    write_csv(course.folder, f"id,first_name,last_name\njose,{who.split()[0]},{who.split()[1]}\n", "more.csv")
    assert main(["roster", "more.csv"]) == 0
    name = f"{who}_14_assignsubmission_file/small.ipynb"
    # zipfile marks every such name as UTF-8: write one of the same length, and put the other bytes into its place.
    plain = "".join("x" if not c.isascii() else c for c in name.encode(codec).decode("latin-1"))
    data = packed([Packed(plain, course.work("jose"))]).replace(plain.encode(), name.encode(codec))
    course.take(data)
    assert course.submitted() == {"jose small.ipynb": course.work("jose")}


def test_a_broken_notebook_with_the_right_name_comes_in(course: Course) -> None:
    """Grading says what is wrong with it. A person may have unpacked the archive and packed it again in a folder."""
    course.take([Packed("downloads/leeann_101_9001_small.ipynb", b"{")])
    assert course.submitted() == {"ann small.ipynb": b"{"}


def test_a_notebook_without_its_name_is_known_by_its_cells(course: Course) -> None:
    """And one without an extension by what is in it; a file that is no notebook of this assignment is named."""
    foreign: NotebookNode = copy.deepcopy(OTHER)
    for cell in foreign.cells:
        cell.metadata["nbgrader"]["grade_id"] += "-elsewhere"
    said = course.take([
        Packed("leeann_101_9001_homework.ipynb", course.work("ann")),
        Packed("leeann_101_9002_elsewhere.ipynb", nbformat.writes(foreign).encode()),
        Packed("oduyabob_102_9002_small", course.work("bob")),
        Packed("oduyabob_102_9003_2_other copy.ipynb", nbformat.writes(OTHER).encode()),
        Packed("x_103_9004_README", b"I could not do it."),
        Packed("x_103_9005_essay.pdf", b"%PDF"),
        Packed("x_103_9006_work.rar", b"Rar!"),
    ], status=1)  # fmt: skip
    assert course.submitted() == {
        "ann small.ipynb": course.work("ann"),
        "bob small.ipynb": course.work("bob"),
        "bob 2-other.ipynb": nbformat.writes(OTHER).encode(),
    }
    assert "ann: elsewhere.ipynb was not imported: neither its name nor its cells belong to a notebook" in said
    assert "zofie: README was not imported: it is not JSON" in said
    assert "zofie: essay.pdf was skipped: it is not a notebook" in said
    assert "zofie: work.rar was skipped: only zip archives are opened" in said
    assert "no file is a notebook of this assignment" not in said  # the archive may hold some


def test_a_worksheet_knows_who_it_is_and_when(course: Course) -> None:
    """Moodle's addresses settle who is meant, and its times make timestamps; a time that cannot be read is refused."""
    write_csv(course.folder, MOODLE_WORKSHEET, "worksheet.csv")
    files = [
        Packed("Ann Lee_11_assignsubmission_file/small.ipynb", course.work("ann")),
        Packed("Ann Lee_12_assignsubmission_file/small.ipynb", course.work("bob")),
        Packed("Participant_13_assignsubmission_file/small.ipynb", course.work("zofie")),
    ]
    known = ("--worksheet", "worksheet.csv", "--time-zone")
    assert "name it, as in --time-zone Europe/Berlin" in course.take(files, *known[:2], status=1)
    assert course.submitted() == {}
    course.take(files, *known, "America/New_York")
    assert course.submitted() == {
        "ann small.ipynb": course.work("ann"),
        "ann timestamp.txt": b"2026-03-02 16:30:00 UTC",
        "bob small.ipynb": course.work("bob"),
        "bob timestamp.txt": b"2026-03-02 02:05:00 UTC",
        "zofie small.ipynb": course.work("zofie"),
    }
    assert "name the file with --worksheet" in course.take(files, "--time-zone", "UTC", status=1)
    assert "there is no time zone 'Berlin'" in course.take(files, *known, "Berlin", status=1)
    write_csv(course.folder, MOODLE_WORKSHEET.replace("Monday, 2 March", "pondělí, 2. března"), "worksheet.csv")
    said = course.take(files, *known, "UTC", status=1)
    assert "worksheet.csv, line 2: 'pondělí, 2. března 2026, 11:30 AM' is not a time" in said


def test_what_came_in_is_graded(course: Course) -> None:
    """The class run finds it, and the export gives its points to the platform."""
    course.take([Packed("leeann_101_9001_small (1).ipynb", course.work("ann"))])
    (course.folder / "source" / NAME / "2-other.ipynb").unlink()
    assert main(["grade", NAME]) == 0
    write_csv(course.folder, CANVAS_GRADEBOOK, "canvas.csv")
    assert main(["export", NAME, "--for", "canvas", "--template", "canvas.csv", "--unmarked"]) == 0
    assert '"Lee, Ann",101,u101,ann,Morning and Evening,8\n' in (course.folder / "grades-canvas.csv").read_text()
    record = json.loads((course.folder / "autograded" / "ann" / NAME / ".graded.json").read_text())
    assert record["notebooks"] == ["small"]
