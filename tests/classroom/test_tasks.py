"""nbgrader's manually graded tasks are rows everywhere: the same as stock nbgrader writes, and marks on them last.

The example follows nbgrader's own, with an exercise, a written answer and a task in one notebook; a second notebook has
nothing but tasks.
"""

import copy
import csv
import shutil
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.server_extensions.formgrader import handlers

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.release import release
from grader.commands.cli import main
from grader.commands.report.load import load_class
from tests.support import stock_nbgrader
from tests.support.formgrader import by_formgrader
from tests.support.notebooks import answer, answered, cell, check, code, helpers, notebook, task, text, written
from tests.support.small_class import configure, run
from tests.support.stock_nbgrader import CONFIG, grade_class, rows, write

pytestmark = pytest.mark.slow

NAME = "ps"
SCHEME = "### BEGIN MARK SCHEME\nTwo points for each formula.\n### END MARK SCHEME"
SOURCES = {
    "sums": notebook(
        helpers("about", "import math"),
        answer(
            "squares",
            "def squares(n):\n    ### BEGIN SOLUTION\n    return [i**2 for i in range(1, n + 1)]\n    ### END SOLUTION",
        ),
        check("squares-check", "assert squares(2) == [1, 4]", points=2),
        written("equation", "$n(n+1)(2n+1)/6$", points=1),
        task("formulae", f"## Two sums\n\nState the formulae of two sums, and try them.\n\n{SCHEME}"),
        task("practice", "Add whatever you tried besides.", points=0),
    ),
    "essay": notebook(text("# Two questions"), task("first", f"Why?\n{SCHEME}", 3), task("second", "How?", 2.5)),
}
POINTS = {"squares-check": 2, "equation": 1, "formulae": 4, "practice": 0, "first": 3, "second": 2.5}
TASKS = ("formulae", "practice", "first", "second")
STOCK_REFUSES = "twice"
"""The student with two copies of a task, of which stock nbgrader says that it is of an old version."""
RIGHT = {"squares": "def squares(n):\n    return [i * i for i in range(1, n + 1)]", "equation": "It is $n$."}


def hand_ins(released: dict[str, NotebookNode]) -> dict[str, dict[str, NotebookNode]]:
    """Return the submissions of a class by student; each says what happened to its tasks."""
    done = {"sums": answered(released["sums"], **RIGHT), "essay": copy.deepcopy(released["essay"])}
    done["sums"].cells += [text("An arithmetic sum is $n(a+b)/2$."), code("sum(range(5))")]
    done["essay"].cells.insert(2, text("Because."))
    classes = {"answered": done, "unchanged": copy.deepcopy(released), "one-notebook": {"sums": done["sums"]}}
    for student in ("edited", "missing", "twice", "retyped"):
        classes[student] = copy.deepcopy(done)
    for name in TASKS:
        own = "sums" if name in ("formulae", "practice") else "essay"
        cell(classes["edited"][own], name).source += "\n\nMy answer is here."
        twin = copy.deepcopy(cell(classes["twice"][own], name))
        twin.id += "-twin"
        classes["twice"][own].cells.append(twin)
        classes["missing"][own].cells.remove(cell(classes["missing"][own], name))
        classes["retyped"][own].cells = [
            nbformat.v4.new_code_cell(each.source, metadata=each.metadata)
            if each.metadata.get("nbgrader", {}).get("grade_id") == name
            else each
            for each in classes["retyped"][own].cells
        ]
    return classes


def make_course(folder: Path) -> Path:
    """Make a course with the sources, their release and the submissions."""
    write(folder / "source" / NAME, SOURCES)
    (folder / "nbgrader_config.py").write_text(CONFIG)
    release(CourseDir(folder), NAME)
    released = {name: nbformat.read(folder / "release" / NAME / f"{name}.ipynb", as_version=4) for name in SOURCES}
    for student, notebooks in hand_ins(released).items():
        write(folder / "submitted" / student / NAME, notebooks)
    return folder


def mark(folder: Path, student: str, notebook_name: str, name: str, points: float, comment: str = "") -> None:
    """Give points and a comment as the formgrader does."""
    by_formgrader(folder, (name, notebook_name, NAME, student), points, comment)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course before grading; tests do not change it."""
    return make_course(tmp_path_factory.mktemp("tasks") / "course")


@pytest.fixture(scope="module")
def graded(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class as `grader grade` grades it; tests do not change it."""
    folder = shutil.copytree(course, tmp_path_factory.mktemp("graded") / "course")
    grade_class(folder, NAME)
    return folder


@pytest.fixture
def again(graded: Path, tmp_path: Path) -> Path:
    """A copy of the graded class to change."""
    return shutil.copytree(graded, tmp_path / "course")


@pytest.fixture(scope="module")
def stock(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class as nbgrader grades it without the grader; tests do not change it."""
    folder = shutil.copytree(course, tmp_path_factory.mktemp("stock") / "course")
    shutil.rmtree(folder / "submitted" / STOCK_REFUSES)
    stock_nbgrader.grade(folder, NAME)
    return folder


def test_rows_are_those_of_stock_nbgrader(graded: Path, stock: Path) -> None:
    """Whatever a student did to the cells of the tasks: they wait for a person, except in a missing notebook."""
    found = rows(graded, NAME)
    assert {key: row for key, row in found.items() if key[0] != STOCK_REFUSES} == rows(stock, NAME)
    for name in TASKS:
        own = "sums" if name in ("formulae", "practice") else "essay"
        students = {student for student, _, kind, each in found if (kind, each) == ("grade", name)}
        assert len(students) == 7
        for student in students:
            waits = own == "sums" or student != "one-notebook"
            expected = (None if waits else 0, None, POINTS[name], waits)
            assert found[student, own, "grade", name] == expected
            assert found[student, own, "comment", name] == (None, None)


def test_a_release_holds_no_marking_scheme(course: Path) -> None:
    """But the tasks, whose cells students cannot change."""
    for name in SOURCES:
        released = nbformat.read(course / "release" / NAME / f"{name}.ipynb", as_version=4)
        assert not any("MARK SCHEME" in each.source or "Two points" in each.source for each in released.cells)
    assert "State the formulae" in cell(nbformat.read(course / "release" / NAME / "sums.ipynb", 4), "formulae").source
    assert not cell(released, "first").metadata.editable


def test_the_table_the_explanation_and_a_check_count_tasks(
    graded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As written points that wait; a check names the points of the tasks and of the written answer, too."""
    monkeypatch.chdir(graded)
    assert main(["check", "--trust", f"submitted/answered/{NAME}"]) == 0
    assert "written answers: 10.5 points wait for marking" in " ".join(capsys.readouterr().out.split())
    assert main(["grade", NAME]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(
        "answered" in line and "2 / 2" in line and "0 / 10.5" in line and "wait for marking" in line for line in lines
    )
    assert main(["grade", NAME, "--explain", "answered"]) == 0
    explained = capsys.readouterr().out
    assert "2 of 12.5" in explained and "10.5 points, to be marked by a person" in explained
    for name in ("formulae", "first", "second"):
        (line,) = [line for line in explained.splitlines() if f" {name} " in line]
        assert "waits" in line and f"{POINTS[name]:g}" in line


def test_a_page_shows_the_task_and_its_answer_but_no_marking_scheme(graded: Path) -> None:
    """With its points, which wait; and what was typed into a task stands below it."""
    page = (graded / "feedback" / "answered" / NAME / "sums.html").read_text()
    assert "MARK SCHEME" not in page and "Two points" not in page
    assert "State the formulae" in page and "An arithmetic sum is" in page
    assert '<span class="label">Task</span>' in page and "4 points" in page and "waits for marking" in page
    edited = (graded / "feedback" / "edited" / NAME / "sums.html").read_text()
    assert edited.index("State the formulae") < edited.index("My answer is here.")
    assert "you wrote 1 line into this cell; it is kept below it" in edited


def test_the_formgrader_marks_tasks(graded: Path) -> None:
    """It lists the notebook, and shows a task with the scheme, a box for points and one for a comment."""
    with CourseDir(graded).gradebook() as gradebook:
        for row in gradebook.notebook_submission_dicts("sums", NAME):
            assert (row["task_score"], row["max_task_score"], row["needs_manual_grade"]) == (0, 4, True)
    exporter = HTMLExporter(
        config=CourseDir(graded).config, template_name="formgrade", extra_template_basedirs=[handlers.template_path]
    )
    names = ("assignment_id", "notebook_id", "submission_id", "base_url", "student", "last_name", "first_name")
    resources = dict.fromkeys((*names, "notebook_path"), "") | {"index": 0, "total": 1}
    path = graded / "autograded" / "answered" / NAME / "sums.ipynb"
    page, _ = exporter.from_filename(str(path), resources=resources)
    assert "Two points for each formula." in page and "An arithmetic sum is" in page
    assert page.count("Student's task") == 2
    for name in ("formulae", "practice"):
        assert f'<input class="score tabbable" id="{name}"' in page and f'id="{name}-comment"' in page


def test_marks_stay_and_count(again: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After grading again in each way, in both exports, and on the page."""
    mark(again, "answered", "sums", "formulae", 3.5, "The second one lacks a case.")
    mark(again, "answered", "essay", "first", 2)
    with CourseDir(again).gradebook() as gradebook:
        grade = gradebook.find_grade("formulae", "sums", NAME, "answered")
        assert (grade.score, grade.needs_manual_grade, grade.max_score) == (3.5, False, 4)
    marked = rows(again, NAME)
    monkeypatch.chdir(again)
    grade_class(again, NAME, force=True)
    assert rows(again, NAME) == marked
    assert main(["grade", NAME, "--changed", "--yes"]) == 0 and rows(again, NAME) == marked
    assert run(again, "nbgrader", "autograde", NAME, "--force", "--student=answered").returncode == 0
    assert rows(again, NAME) == marked
    score = read_ledger(CourseDir(again), NAME, cells=True).of("answered").total
    assert (score.counted, score.written, score.max_written) == (2 + 3.5 + 2, 5.5, 10.5)
    assert run(again, "nbgrader", "export", f"--to={tmp_path / 'grades.csv'}").returncode == 0
    with (tmp_path / "grades.csv").open() as table:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(table)}["answered"] == 7.5
    done = run(again, "nbgrader", "generate_feedback", NAME, "--force")
    assert done.returncode == 0, done.stderr
    page = (again / "feedback" / "answered" / NAME / "sums.html").read_text()
    assert "3.5 of 4" in page and "The second one lacks a case." in page and "MARK SCHEME" not in page
    grade_class(again, NAME, force=True)
    assert (again / "feedback" / "answered" / NAME / "sums.html").read_text() == page


def test_a_changed_answer_waits_again(again: Path) -> None:
    """Its mark counts until then. A change of another kind does not ask for a second look, nor do new empty cells."""
    for name in ("formulae", "practice"):
        mark(again, "answered", "sums", name, 0.0 if name == "practice" else 3)
    path = again / "submitted" / "answered" / NAME / "sums.ipynb"
    submission = nbformat.read(path, as_version=4)
    cell(submission, "squares").source = "def squares(n):\n    return []"
    submission.cells.append(code(""))
    nbformat.write(submission, path)
    grade_class(again, NAME)
    assert rows(again, NAME)["answered", "sums", "grade", "formulae"] == (None, 3, 4, False)
    assert rows(again, NAME)["answered", "sums", "grade", "squares-check"][0] == 0
    submission.cells.insert(0, text("I forgot the geometric sum."))
    nbformat.write(submission, path)
    grade_class(again, NAME)
    assert rows(again, NAME)["answered", "sums", "grade", "formulae"] == (None, 3, 4, True)


def test_a_class_of_an_earlier_version_gets_its_rows(again: Path) -> None:
    """It has no row for a task; after grading again it has each once."""
    expected = rows(again, NAME)
    with CourseDir(again).gradebook() as gradebook:
        for submission in gradebook.find_assignment(NAME).submissions:
            for row in (each for own in submission.notebooks for each in (*own.grades, *own.comments)):
                if row.name in TASKS:
                    gradebook.db.delete(row)
        gradebook.db.commit()
    assert rows(again, NAME) != expected
    grade_class(again, NAME, force=True)
    assert rows(again, NAME) == expected


def test_nbgraders_own_commands_continue_without_the_plug_in(again: Path) -> None:
    """Feedback and autograding find each row that they look for."""
    expected = rows(again, NAME)
    stock_nbgrader.without_plugin(again)
    for command in (("autograde", "--student=answered"), ("generate_feedback",)):
        done = run(again, "nbgrader", *command, NAME, "--force")
        assert done.returncode == 0, done.stderr
    assert rows(again, NAME) == expected


def test_a_late_penalty_counts_marked_tasks(again: Path) -> None:
    """A penalty takes the points of a task, too, once they are given."""
    configure(again, "c.LateSubmissionPlugin.penalty_method = 'zero'")
    (again / "submitted" / "answered" / NAME / "timestamp.txt").write_text("2030-01-03 12:00:00 UTC")
    with CourseDir(again).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2030, 1, 2))
    mark(again, "answered", "sums", "formulae", 4)
    grade_class(again, NAME)
    score = read_ledger(CourseDir(again), NAME, cells=True).of("answered").total
    assert (score.points, score.penalty, score.counted) == (6, 6, 0)


def test_points_that_changed_in_the_source_are_registered(again: Path) -> None:
    """By `grader grade`, and by nbgrader with the plug-in, whose log names the cells; a blank answer is still blank."""
    for points, command in ((5, ""), (6, "autograde")):
        source = copy.deepcopy(SOURCES["sums"])
        for name in ("formulae", "squares-check", "equation"):
            cell(source, name).metadata.nbgrader.points = points
        write(again / "source" / NAME, {"sums": source})
        if command:
            for student in ("answered", "unchanged"):
                done = run(again, "nbgrader", command, NAME, "--force", f"--student={student}")
                is_first = student == "answered"
                assert done.returncode == 0 and ("formulae" in done.stderr) == is_first, done.stderr
        else:
            grade_class(again, NAME)
        found = rows(again, NAME)
        assert [found["answered", "sums", "grade", name][2] for name in ("formulae", "equation")] == [points] * 2
        assert found["answered", "sums", "grade", "squares-check"] == (points, None, points, False)
        assert found["unchanged", "sums", "comment", "equation"] == ("No response.", None)


def test_the_class_report_counts_tasks_as_questions(again: Path) -> None:
    """With the points of those who were marked."""
    mark(again, "answered", "sums", "formulae", 3)
    data = load_class(CourseDir(again), NAME)
    questions = {name: each.max_points for name, each in data.outline.exercises.items() if each.is_question}
    assert questions == {name: POINTS[name] for name in ("equation", *TASKS)}
    (student,) = [each for each in data.students if each.name == "answered"]
    assert (student.points, student.max_points, student.needs_marking) == (2 + 3, sum(POINTS.values()), 4)
    assert {each.exercise: each.points for each in student.exercises} == dict.fromkeys(questions) | {
        "formulae": 3,
        "squares": 2,
    }


def test_the_service_writes_one_notebook_and_keeps_the_marks_of_another(again: Path) -> None:
    """A notebook that a student has not handed in yet scores zero, its tasks too."""
    mark(again, "answered", "essay", "first", 2)
    before = rows(again, NAME)
    scores = {"sums": NotebookScores({}, set())}
    with GradebookWriter(CourseDir(again), NAME) as writer:
        writer.write([StudentScores(student, scores, keep_others=True) for student in ("answered", "new")])
    after = rows(again, NAME)
    kept = [key for key in before if key[:2] == ("answered", "essay") or key[-1] in TASKS]
    assert len(kept) > 8 and all(before[key] == after[key] for key in kept)
    assert after["new", "sums", "grade", "formulae"] == (None, None, 4, True)
    assert after["new", "essay", "grade", "first"] == (0, None, 3, False)
