"""What is doubtful, would harm, or might replace something newer is listed, and the rest of an archive comes in."""

import os
from pathlib import Path

import pytest

from grader.commands.cli import main
from tests.commands.lms.import_course import Course
from tests.support.platform_files import MOODLE_WORKSHEET, Packed, packed, write_csv
from tests.support.small_class import NAME


def test_a_name_or_a_title_with_the_number_of_another_student_is_refused(course: Course) -> None:
    """Canvas takes `_101_` out of names, but not `__101__`; a clear name counts before a doubtful one."""
    said = course.take([
        Packed("eve_101_1_102_9001_small.ipynb", course.work("eve")),
        Packed("stranger_777_9002_x_103_9_small.ipynb", course.work("eve")),
        Packed("leeann_101_9003_homework.ipynb", course.work("ann")),
        Packed("leeann_101_99999_x_999_9002_small.ipynb", course.work("eve")),
        Packed("oduyabob_102_9003_small_1_2_copy.ipynb", course.work("bob")),
        Packed("leeann_101_9004_notes.pdf", b"%PDF"),
    ], status=1)  # fmt: skip
    assert course.submitted() == {f"{who} small.ipynb": course.work(who) for who in ("ann", "bob")}
    assert "eve_101_1_102_9001_small.ipynb was not assigned (1 file): the sender is ambiguous" in said
    assert "stranger_777_9002_x_103_9_small.ipynb was not assigned (1 file): the sender is ambiguous" in said
    assert "ann: homework.ipynb was used for small instead of x_999_9002_small.ipynb, which may be another" in said


def test_what_may_be_work_and_was_not_taken_is_a_trouble(course: Course) -> None:
    """The exit status is 1, although everything else came in."""
    own = Packed("leeann_101_9001_small.ipynb", course.work("ann"))
    for name, words in (
        ("small.ipynb", "small.ipynb was not imported: its name does not say whose it is"),
        ("leeann_101_9002_more.rar", "ann: more.rar was skipped: only zip archives are opened"),
    ):
        assert words in course.take([own, Packed(name, b"Rar!")], status=1)
        assert list(course.submitted()) == ["ann small.ipynb"]


def test_who_cannot_be_assigned_is_listed(course: Course) -> None:
    """Strangers, the anonymous, groups, two with the same name, and a name with an underscore; the others come in."""
    mark = "_assignsubmission_file"
    said = course.take([
        Packed(f"Ann Lee_11{mark}/small.ipynb", course.work("ann")),
        Packed(f"ann lee_99{mark}/small.ipynb", course.work("eve")),
        Packed(f"Participant_12{mark}/small.ipynb", course.work("bob")),
        Packed(f"Default group{mark}/small.ipynb", course.work("bob")),
        Packed(f"Bob Oduya_12{mark}_x_13{mark}_small.ipynb", course.work("bob")),
        Packed(f"eve_Žofie Šimić_13{mark}/small.ipynb", course.work("eve")),
        Packed(f"Žofie Šimić_13{mark}/small.ipynb", course.work("zofie")),
        Packed("Žofie Šimić_13_assignsubmission_onlinetext/onlinetext.html", b"<p>See file</p>"),
        Packed("readme.txt", b"?"),
    ], status=1)  # fmt: skip
    assert course.submitted() == {f"{who} small.ipynb": course.work(who) for who in ("bob", "zofie")}
    assert "2 senders match ann (Ann Lee_11_assignsubmission_file/small.ipynb, ann lee_99_assignsub" in said
    assert "Participant_12_assignsubmission_file/small.ipynb was not assigned (1 file): the gradebook has no" in said
    assert "Default group_assignsubmission_file/small.ipynb was not assigned" in said
    assert "for a submission of a group ('Group 1-Ann Lee'), give Moodle's --worksheet" in said
    for name in ("readme.txt", f"eve_Žofie Šimić_13{mark}/small.ipynb"):
        assert f"{name} was not imported: its name does not say whose it is" in said
    assert "zofie: onlinetext/onlinetext.html was skipped: it is not a notebook" in said


def test_a_name_does_not_outweigh_an_id(course: Course) -> None:
    """Canvas's number says that this Ann Lee is another one; only without a number in the gradebook a name will do."""
    said = course.take([Packed("leeann_777_9001_small.ipynb", course.work("eve"))], status=1)
    assert "leeann_777_9001_small.ipynb was not assigned" in said and course.submitted() == {}
    write_csv(course.folder, "id,first_name,last_name\ndan,Dan,Nowhere\n", "more.csv")
    assert main(["roster", "more.csv"]) == 0
    course.take([Packed("nowheredan_778_9001_small.ipynb", course.work("dan"))])
    assert list(course.submitted()) == ["dan small.ipynb"]


def test_an_older_submission_does_not_replace_a_newer_one(course: Course) -> None:
    """What is in submitted/ stays, unless the platform's time is later, or --replace is given."""
    write_csv(course.folder, MOODLE_WORKSHEET, "worksheet.csv")
    known = ("--worksheet", "worksheet.csv", "--time-zone", "UTC")
    place = course.folder / "submitted" / "ann" / NAME
    first = [Packed("Ann Lee_11_assignsubmission_file/small.ipynb", course.work("first"))]
    second = [Packed("Ann Lee_11_assignsubmission_file/small.ipynb", course.work("second"))]
    course.take(first)
    said = course.take(second, status=1)
    assert "ann: nothing was written: another small is in submitted/, and may be newer: use --replace" in said
    assert "0 notebooks of 0 students written" in course.take(first)
    assert course.submitted() == {"ann small.ipynb": course.work("first")}
    course.take(second, *known, status=1)
    (place / "timestamp.txt").write_text("2026-03-02 11:29:59 UTC")
    course.take(second, *known)
    assert course.submitted() == {
        "ann small.ipynb": course.work("second"), "ann timestamp.txt": b"2026-03-02 11:30:00 UTC"
    }  # fmt: skip
    course.take(first, *known, status=1)
    course.take(first, "--replace")
    # When the new one was handed in is not known, and the old time is not its time.
    assert course.submitted() == {"ann small.ipynb": course.work("first")}


def test_nothing_is_written_through_a_link_and_what_was_handed_in_before_stays(course: Course, tmp_path: Path) -> None:
    """A folder that is a link leads elsewhere."""
    elsewhere, own = tmp_path / "elsewhere", course.folder / "submitted" / "bob" / NAME
    elsewhere.mkdir()
    own.mkdir(parents=True)
    (own / "2-other.ipynb").write_bytes(b"{}")
    files = [Packed("leeann_101_1_small.ipynb", course.work()), Packed("oduyabob_102_2_small.ipynb", course.work())]
    for link in ("ann", f"ann/{NAME}"):
        place = course.folder / "submitted" / link
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(elsewhere)
        said = course.take(files, status=1)
        assert "is a link, and no link is followed" in said and list(elsewhere.iterdir()) == []
        place.unlink()
    assert sorted(course.submitted()) == ["bob 2-other.ipynb", "bob small.ipynb"]


@pytest.mark.filterwarnings("ignore:Config option")
def test_one_student_does_not_use_up_what_the_class_may_have(course: Course) -> None:
    """The limits are settings, and a misspelt one is an error."""
    with (course.folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc.Archives.student_entries = 3\nc.Archives.student_mb = 1\n")
    said = course.take([
        *(Packed(f"leeann_101_{number}_part{number}.ipynb", os.urandom(400_000)) for number in range(4)),
        Packed("oduyabob_102_9_small.ipynb", course.work("bob")),
        Packed("x_103_9_work.zip", packed(Packed(f"{number}.txt", b"") for number in range(4))),
    ], status=1)  # fmt: skip
    assert course.submitted() == {"bob small.ipynb": course.work("bob")}
    assert "ann: part2.ipynb would be more than the 1 MB of one student (c.Archives.student_mb)" in said
    assert "ann: of 4 files, only 3 were read" in said and "zofie: work.zip has more than 3" in said
    with (course.folder / "nbgrader_config.py").open("a") as config:
        config.write("c.Archives.students_mb = 1\n")
    assert "there is no c.Archives.students_mb" in course.take([], status=1)


def test_an_archive_of_something_else_is_refused(course: Course) -> None:
    """Before anything is written; so is a file that is no archive, and an assignment that does not exist."""
    assert "no file there is named as Canvas or Moodle" in course.take([Packed("a.ipynb", b"{}")], status=1)
    canvas = [Packed("leeann_101_1_small.ipynb", b"{}")]
    assert "no file there is named as" in course.take(canvas, "--for", "moodle", status=1)
    assert "all.zip is not a zip archive, or is damaged" in course.take(b"PK", status=1)
    assert main(["import", "nowhere.zip", "--assignment", NAME]) == 1
    assert main(["import", "all.zip", "--assignment", "02-small"]) == 1 and course.submitted() == {}
