"""The report on a class that was graded: what it says is what the gradebook and the records say."""

import json
from pathlib import Path

import pytest

from benchmarks.class_report import judged
from benchmarks.classes import ASSIGNMENT
from benchmarks.synthetic import COPIES, make_submissions
from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.commands.report import command
from grader.commands.report.command import DOES_NOT_RUN, REPAIRED, ReportOptions, class_report, report
from grader.errors import GraderError
from tests.commands.serve.serving import MISCONCEPTION
from tests.support.notebooks import answered
from tests.support.paths import REPOSITORY
from tests.support.records import write
from tests.support.small_class import NAME, RIGHT, SCORES, grade_class, hand_in, make_course, released, run

pytestmark = pytest.mark.slow

STUDENTS = 24


def course_with(folder: Path, answers: dict[str, str], *, misconceptions: str = "") -> Path:
    """A graded course in which students gave these answers to `one`, and know the rest."""
    make_course(folder)
    if misconceptions:
        write(folder / "source" / NAME / "misconceptions/one.toml", misconceptions)
    for student, one in answers.items():
        hand_in(folder, student, answered(released(folder), **RIGHT | {"one": one}))
    grade_class(folder)
    return folder


def test_points_and_who_is_missing(again: Path) -> None:
    """The gradebook's points, with marks; who handed nothing in, what waits, and what was repaired."""
    with CourseDir(again).gradebook() as gradebook:
        gradebook.add_student("zoe")
        grade = gradebook.find_grade("why", "small", NAME, "ann")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.db.commit()
    made = class_report(CourseDir(again), NAME)
    assert {student.name: student.points for student in made.students} == SCORES | {"ann": SCORES["ann"] + 1.5}
    assert made.missing == ["zoe"] and made.ungraded == []
    assert {student.name for student in made.students if student.needs_marking} == {"cat", "dan"}
    assert [(each.name, each.is_question, each.blank) for each in made.exercises] == [
        ("one", False, 1), ("two", False, 1), ("why", True, 2),
    ]  # fmt: skip
    assert {place for each in made.incidents if each.kind == REPAIRED for place in each.students} == {2}
    assert any(each.kind == "crashed" and each.place == "one" for each in made.incidents)


def test_without_names_nobody_can_be_found(again: Path) -> None:
    """Neither on the page nor in a file; the numbers do not follow the alphabet."""
    (page,) = report(CourseDir(again), NAME, ReportOptions(anonymous=True, output=again / "out"))
    for file in page.parent.iterdir():
        text = file.read_text()
        assert not any(
            f'"{student}"' in text or f">{student}<" in text or f"\n{student}," in text for student in SCORES
        )
    points = [student["points"] for student in json.loads((again / "out" / "report.json").read_text())["students"]]
    assert sorted(points) == sorted(SCORES.values()) and points != list(SCORES.values())


def test_a_page_follows_arrivals(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written again when there are new results, and loads itself again."""
    monkeypatch.setattr(command, "LOOK_SECONDS", 0.01)
    pages = report(CourseDir(again), NAME, ReportOptions(follow=True))
    assert "zoe" not in next(pages).read_text()
    hand_in(again, "zoe", released(again))
    grade_class(again)
    page = next(pages).read_text()
    assert "zoe" in page and 'http-equiv="refresh"' in page


def test_a_report_needs_a_graded_class(tmp_path: Path) -> None:
    """It says what to run; students whose notebooks wait for a run are named."""
    folder = make_course(tmp_path / "course")
    with pytest.raises(GraderError, match=f"nothing of '{NAME}' has been graded: run 'grader grade {NAME}' first"):
        class_report(CourseDir(folder), NAME)
    hand_in(folder, "ann", released(folder))
    grade_class(folder)
    hand_in(folder, "bob", answered(released(folder), **RIGHT))
    (folder / "autograded" / "ann" / NAME / ".small.results.json").unlink()
    assert class_report(CourseDir(folder), NAME).ungraded == ["ann", "bob"]
    done = run(folder, "grader", "report", NAME)
    assert done.returncode == 0 and done.stdout == f"wrote reports/{NAME}/index.html\n", done.stderr


def test_an_unnamed_group_is_found_and_explained(tmp_path: Path) -> None:
    """Two students double their number, each in other words; a third one adds one, alone."""
    answers = {
        "ann": "def one(x=1):\n    return 2 * x",
        "bob": "def one(x=1):\n    twice = x + x  # mine\n    return twice",
        "cat": "def one(x=1):\n    return x + 1.5",
    }
    folder = course_with(tmp_path / "course", answers)
    (group,) = class_report(CourseDir(folder), NAME).groups
    assert group.students == [0, 1] and group.failed == ["one-check", "one-test-more"] and group.cost == 6.0
    assert group.example.source == "def one(x=1):\n    return 2 * x" and group.example.message == "one() is 1."
    drafted = run(folder, "grader", "report", NAME, "--draft-mistake", group.key)
    place, entry = drafted.stdout.split("\n", 1)
    assert place == f"# source/{NAME}/misconceptions/one.toml: write the name and the hint", drafted.stderr
    write(folder / "source" / NAME / "misconceptions/one.toml", entry.replace("… (to be written; it", "doubles. It"))
    known = run(folder, "grader", "report", NAME, "--draft-mistake", group.key)
    assert known.returncode == 1 and "are a known mistake, 'doubles. It" in known.stderr
    grade_class(folder)
    made = class_report(CourseDir(folder), NAME)
    assert made.groups == [] and [(each.students, each.cost) for each in made.mistakes] == [([0, 1], 6.0)]
    refused = run(folder, "grader", "report", NAME, "--draft-mistake", group.key)
    assert refused.returncode == 1 and "has the key" in refused.stderr


def test_a_known_mistake_of_two_students_is_no_similar_work(tmp_path: Path) -> None:
    """One that no list foresees is. Code that does not run has no behaviour: it is listed, and cannot be named."""
    answers = {
        "ann": "def one(x=1):\n    return x + 1",
        "bob": "def one(y=1):\n    return y + 1",
        "cat": "def one(x=1):\n    return 2 * x",
        "dan": "def one(y=1):\n    return 2 * y",
        "eve": RIGHT["one"],
        "fay": RIGHT["one"],
        "gus": "def one(x=1):\n    return x +",
        "hal": "def one(x=1) return x",
        "ida": "first = 1",
    }
    folder = course_with(tmp_path / "course", answers, misconceptions=MISCONCEPTION)
    made = class_report(CourseDir(folder), NAME)
    assert [each.students for each in made.mistakes] == [[0, 1]] and [each.students for each in made.groups] == [[2, 3]]
    assert [(each.left, each.right) for each in made.pairs] == [(2, 3)]
    (found,) = (each for each in made.incidents if each.kind == DOES_NOT_RUN)
    assert found.place == "one" and found.students == [6, 7, 8] and "one is not defined" in found.detail
    refused = run(folder, "grader", "report", NAME, "--draft-mistake", "one-0123ab")
    assert refused.returncode == 1 and not refused.stdout
    assert "3 answers to one do not run, which is no mistake to name" in " ".join(refused.stderr.split())


def test_a_class_with_a_known_truth(tmp_path: Path) -> None:
    """No group is split, mistakes that are counted were made, copied work comes first, and honest work does not."""
    folder = tmp_path / "course"
    (folder / "source").mkdir(parents=True)
    (folder / "source" / ASSIGNMENT).symlink_to(REPOSITORY / "source" / ASSIGNMENT)
    (folder / "nbgrader_config.py").write_bytes((REPOSITORY / "nbgrader_config.py").read_bytes())
    truth = make_submissions(folder, ASSIGNMENT, STUDENTS)
    assert not any(outcome.errors for outcome in ClassRun(CourseDir(folder), ASSIGNMENT).outcomes())
    found = judged(class_report(CourseDir(folder), ASSIGNMENT), truth)
    assert found.behaviours > 10 and not found.split
    assert found.true_mistakes >= 0.95 * (found.true_mistakes + found.other_mistakes) > 10
    assert found.copied_first == found.copied == COPIES and not found.honest
