"""A folder is sorted as an archive is, and an archive or a file of one student is taken, with or without a roster."""

import os

import nbformat

from grader.classroom.course_dir import CourseDir
from tests.commands.lms.import_course import OTHER, Course
from tests.support.platform_files import Packed, packed
from tests.support.small_class import NAME


def test_the_archive_or_the_notebook_of_one_student_is_taken(course: Course) -> None:
    """Whatever it is called; its place in submitted/ says whose it is, and so does --student. It replaces no other."""
    inner = packed([
        Packed("work/Small.ipynb.txt", course.work("ann")), Packed("work/x.ipynb", nbformat.writes(OTHER).encode()),
        Packed("work/photo.jpg", b"jpg"),
    ])  # fmt: skip
    place = course.folder / "submitted" / "ann" / NAME
    place.mkdir(parents=True)
    (place / "homework.zip").write_bytes(inner)
    said = course.run(f"submitted/ann/{NAME}/homework.zip")
    assert "2 notebooks of 1 student written" in said and "photo.jpg was skipped" in said
    assert (place / "small.ipynb").read_bytes() == course.work("ann") and (place / "2-other.ipynb").exists()
    (course.folder / "mail.zip").write_bytes(inner)
    assert "add --student NAME" in course.run("mail.zip", status=1)
    course.run("mail.zip", "--student", "bob")
    assert course.submitted()["bob small.ipynb"] == course.work("ann")
    assert "there is no student 'eve'" in course.run("mail.zip", "--student", "eve", status=1)
    mailed = ("FINAL.ipynb.txt", "--student", "zofie")
    (course.folder / mailed[0]).write_bytes(course.work("zofie"))
    course.run(*mailed)
    assert course.submitted()["zofie small.ipynb"] == course.work("zofie")
    (course.folder / mailed[0]).write_bytes(course.work("new"))
    assert "use --replace" in course.run(*mailed, status=1)
    course.run(*mailed, "--replace")
    assert course.submitted()["zofie small.ipynb"] == course.work("new")
    assert "cannot be read" in course.run("nowhere.ipynb", "--student", "zofie", status=1)


def test_submitted_is_sorted_and_other_assignments_are_left_alone(course: Course) -> None:
    """Each file goes to the student in whose folder it lies, also one that no roster names; a second run is quiet."""
    (course.folder / "source" / "02-next").mkdir()
    nbformat.write(OTHER, course.folder / "source" / "02-next" / "next.ipynb")
    files = {
        f"ann/{NAME}/homework.zip": packed([Packed("small.ipynb", course.work("ann"))]),
        f"ann/{NAME}/timestamp.txt": b"2030-01-01 10:00:00 UTC",
        "bob/small (1).ipynb": course.work("bob"),
        "bob/02-next/small.ipynb": course.work("another"),
        f"eve/{NAME}/deep/er/HW4_part1_FINAL.ipynb": course.work("eve"),
        "stray.ipynb": course.work("whose"),
    }
    for name, content in files.items():
        path = course.folder / "submitted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (course.folder / "submitted" / "eve" / "link.ipynb").symlink_to("/etc/passwd")
    said = course.run("submitted", status=1)
    assert "stray.ipynb was not imported: its name does not say whose it is" in said and "timestamp" not in said
    assert "eve/link.ipynb was not imported: it is a link" in said
    assert "3 notebooks of 3 students written" in said
    made = course.submitted()
    assert [made[f"{who} small.ipynb"] for who in ("ann", "bob", "eve")] == [
        course.work(who) for who in ("ann", "bob", "eve")
    ]
    assert made["bob/02-next/small.ipynb"] == course.work("another")
    assert "3 students unchanged" in course.run("submitted", status=1)


def test_an_unpacked_archive_is_sorted(course: Course) -> None:
    """By the platform's names of files or folders, or by folders with the students' ids, also in upper case."""
    with CourseDir(course.folder).gradebook() as gradebook:
        gradebook.add_student("BOB")
    for name, who in {
        "canvas/leeann_101_9001_small.ipynb": "ann",
        "moodle/Oduya Bob_12_assignsubmission_file/small.ipynb": "bob",
        "folders/zofie/work.ipynb": "zofie",
        "folders/bob/small.ipynb": "bob",
        "folders/BOB/small.ipynb": "BOB",
    }.items():
        path = course.folder / "unpacked" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(course.work(who))
    for folder in ("canvas", "moodle", "folders"):
        course.run(f"unpacked/{folder}")
    assert course.submitted() == {f"{who} small.ipynb": course.work(who) for who in ("ann", "bob", "zofie", "BOB")}


def test_a_copy_never_replaces_what_is_graded(course: Course) -> None:
    """Of two files in submitted/ the one with its own name is graded, also if the other is newer, and for --replace."""
    place = course.folder / "submitted" / "ann" / NAME
    place.mkdir(parents=True)
    for name, who, time in (("small.ipynb", "first", 10), ("small (1).ipynb", "copy", 2 * 10**9)):
        (place / name).write_bytes(course.work(who))
        os.utime(place / name, (time, time))
    (place / "timestamp.txt").write_text("2030-01-01 10:00:00 UTC")
    for words in (
        ("submitted",),
        ("submitted", "--replace"),
        ("submitted/ann",),
        (f"submitted/ann/{NAME}", "--replace"),
    ):
        said = course.run(*words)
        assert "small.ipynb was used for small instead of small (1).ipynb" in said and "1 student unchanged" in said
    assert (place / "small.ipynb").read_bytes() == course.work("first") and (place / "timestamp.txt").exists()
    (place / "small.ipynb").write_bytes(nbformat.writes(course.blank).encode())
    course.run("submitted", "--replace")
    assert (place / "small.ipynb").read_bytes() == course.work("copy")
