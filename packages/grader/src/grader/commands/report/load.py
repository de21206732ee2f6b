"""Loads the results of grading: the gradebook, and the records beside the autograded notebooks.

gradebook --> rows of students and cells          autograded/ --> records          source/ --> exercises in order
                                         all --> ClassData
"""

from dataclasses import dataclass, field
from datetime import datetime

from nbformat import NotebookNode

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import Ledger, SubmissionScore, read_ledger
from grader.classroom.gradebook.rules import CellScore, due_for
from grader.classroom.page.result_files import NotebookRecord, read_record
from grader.classroom.record.catch_up import catch_up
from grader.classroom.release import require_same_structure
from grader.classroom.results import completion_marker
from grader.classroom.source.inputs import mark_outdated
from grader.classroom.student import load_assignment
from grader.commands.report.model import ExercisePoints, ExerciseStatistics, Student
from grader.engine.notebook.outline import GRADED, Outline


@dataclass(frozen=True)
class AssignmentOutline:
    """The exercises of an assignment in order, still without shares.

    `exercise_of` has the exercise of each graded cell, and `max_points` the most points of each in the gradebook.
    """

    sources: dict[str, NotebookNode]
    exercises: dict[str, ExerciseStatistics] = field(default_factory=dict)
    exercise_of: dict[str, str] = field(default_factory=dict)
    max_points: dict[str, float] = field(default_factory=dict)

    def notebook_of(self, exercise: str) -> str:
        """Return the notebook of an exercise, or '' if it is unknown."""
        return self.exercises[exercise].notebook if exercise in self.exercises else ""


@dataclass(frozen=True)
class ClassData:
    """The class: students in order of their names, and for each the records and remarks of grading.

    `by_person` are the scores of the tests whose points a person set, by name.
    """

    outline: AssignmentOutline
    students: list[Student]
    records: list[dict[str, NotebookRecord]]
    remarks: list[list[str]]
    by_person: list[dict[str, CellScore]]
    missing: list[str]
    ungraded: list[str]
    due: datetime | None


def load_class(course_dir: CourseDir, assignment: str) -> ClassData:
    """Return everything that grading recorded about a class.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.

    Raises:
        GraderError: there is no such assignment, its source is broken or is not that of the gradebook's cells, or the
            gradebook cannot be read.
    """
    loaded = load_assignment(course_dir, assignment, sandbox=True)
    catch_up(course_dir)
    require_same_structure(course_dir, assignment, loaded.sources)
    ledger = read_ledger(course_dir, assignment, cells=True, is_new=True)
    outline = _outlined(loaded.sources, ledger)
    mark_outdated(course_dir, ledger, loaded)
    rows = ledger.by_student
    students, records, remarks, by_person, ungraded = [], [], [], [], list[str]()
    for name in sorted(rows):
        place = course_dir.folder("autograded", assignment, name)
        found = {notebook: kept for notebook in outline.sources if (kept := read_record(place, notebook)) is not None}
        graded = {path.stem for path in place.glob("*.ipynb")} & outline.sources.keys()
        if graded - found.keys():
            ungraded.append(name)
        marker = completion_marker(course_dir, assignment, name) or {}
        student = _student(rows[name], found, outline, ledger)
        student.troubles, student.outdated = marker.get("troubles", []), sorted(rows[name].outdated)
        students.append(student)
        records.append(found)
        remarks.append(marker.get("remarks", []))
        cells = _cells(rows[name]).items()
        by_person.append({cell: given for cell, given in cells if given.is_test and given.is_by_person})
    handed_in = set(course_dir.submitters(assignment))
    ungraded += sorted(handed_in - rows.keys())
    missing = sorted(ledger.students - rows.keys() - handed_in)
    return ClassData(outline, students, records, remarks, by_person, missing, ungraded, ledger.due)


def _cells(score: SubmissionScore) -> dict[str, CellScore]:
    return {name: cell for notebook in score.notebooks.values() for name, cell in notebook.cells.items()}


def _outlined(sources: dict[str, NotebookNode], ledger: Ledger) -> AssignmentOutline:
    """The exercises of an assignment, from its notebooks by name, with the points that the gradebook has for them."""
    found = AssignmentOutline(sources)
    for notebook, source in sources.items():
        outline = Outline(source)
        for name, known in outline.exercises.items():
            found.exercises[name] = ExerciseStatistics(name, notebook, 0.0, [], is_question=known.is_question)
        graded = (number for number, kind in enumerate(outline.types) if kind in GRADED)
        found.exercise_of.update({outline.names[number]: outline.exercise_at[number] for number in graded})
    for score in ledger.blank.notebooks.values():
        for cell, blank in score.cells.items():
            found.max_points[cell] = blank.max_points
            if (exercise := found.exercise_of.get(cell)) is not None:
                found.exercises[exercise].max_points += blank.max_points
    return found


def _student(
    score: SubmissionScore, records: dict[str, NotebookRecord], outline: AssignmentOutline, ledger: Ledger
) -> Student:
    blank = {each for record in records.values() for each in record.unanswered}
    exercises = {
        name: ExercisePoints(name, None, each.max_points, each.notebook in records and name not in blank)
        for name, each in outline.exercises.items()
    }
    # Two notebooks may have cells of the same name, which nbgrader tells apart by their notebooks.
    for cell, given in (each for notebook in score.notebooks.values() for each in notebook.cells.items()):
        if (exercise := outline.exercise_of.get(cell)) is None:
            continue
        if given.needs_marking or not given.is_scored:
            exercises[exercise].waiting += given.max_points
        else:
            exercises[exercise].points = (exercises[exercise].points or 0.0) + given.points
    max_points = ledger.blank.total.max_points
    known = sum(each.marked for each in score.notebooks.values())
    known_max = sum(each.max_marked for each in score.notebooks.values())
    total, extended = score.total, due_for(ledger.due, score.extension) if score.extension else None
    return Student(
        score.student,
        points=total.counted,
        max_points=max_points,
        waiting_points=total.counted - known,
        waiting_max_points=max(0.0, max_points - known_max),
        handed_in=score.handed_in.isoformat(timespec="seconds") if score.handed_in else "",
        extended_to=extended.isoformat(timespec="seconds") if extended else "",
        seconds_late=score.seconds_late,
        penalty=total.penalty,
        needs_marking=total.needs_marking,
        exercises=list(exercises.values()),
    )
