"""Defines the report on a class as data: what the page, the JSON and the CSV files show.

    records, gradebook --load--> Student --analyses--> ClassReport --> page, JSON, CSV

Students are numbers here, places in `ClassReport.students`: a name stands in one place only, and can be left out.
"""

import msgspec

StudentIndex = int
"""A student, by place in `ClassReport.students`."""


class ExercisePoints(msgspec.Struct):
    """A student's points in one exercise, None if none are known, and whether anything was written there."""

    exercise: str
    points: float | None
    max_points: float
    is_written: bool = True


class Student(msgspec.Struct):
    """One row of the class.

    `points` and `max_points` are the gradebook's, after late penalties; `handed_in` is a time in ISO 8601 or ''.
    `needs_marking` counts the written answers that wait for a person. `troubles` say what could not be graded.
    """

    name: str
    points: float
    max_points: float
    handed_in: str = ""
    seconds_late: float = 0.0
    penalty: float = 0.0
    needs_marking: int = 0
    exercises: list[ExercisePoints] = []
    troubles: list[str] = []


class ExerciseStatistics(msgspec.Struct):
    """An exercise in the order of the notebooks: points that can be had, and the distribution of those that were.

    `shares` are the shares of points (0 to 1) of all students who handed the notebook in; `blank` counts those who
    wrote nothing. A written question is an exercise too, whose points are those of marking.
    """

    name: str
    notebook: str
    max_points: float
    shares: list[float]
    blank: int = 0
    is_question: bool = False


class TestStatistics(msgspec.Struct):
    """How a test did in the class.

    `tried` counts students whose exercise was not blank, `passed` those with all points of the test. `discrimination`
    is the correlation of the test's points with the rest of a student's points, None where either is the same for all.
    `cost` is the points that the class lost by it. `notes` say in words what stands out.
    """

    name: str
    exercise: str
    notebook: str
    max_points: float
    tried: int
    passed: int
    discrimination: float | None
    cost: float
    notes: list[str] = []


class Example(msgspec.Struct):
    """One student's answer as an example, without the name: its source, and the message of the first failed test."""

    source: str
    message: str


class Mistake(msgspec.Struct):
    """A known mistake, or several at once, that students made in an exercise.

    `names` complete the sentence "Code that …"; `hint` is what these students read. `cost` is the points that these
    students lost in the exercise.
    """

    exercise: str
    notebook: str
    names: list[str]
    hint: str
    students: list[StudentIndex]
    cost: float
    example: Example


class UnnamedGroup(msgspec.Struct):
    """Students whose wrong answers to an exercise behave alike in every test, and no known mistake does.

    `key` names the group for `--draft-mistake`. `failed` are the tests that they do not pass. `is_certain` is false
    where they drew different parameters, so that only kinds, shapes and messages could be compared.
    """

    key: str
    exercise: str
    notebook: str
    students: list[StudentIndex]
    failed: list[str]
    cost: float
    example: Example
    is_certain: bool = True


class LectureItem(msgspec.Struct):
    """One of the mistakes for the next lecture: the words, what it costs, and the notebook's own small example.

    `example` is the source of the cells of the notebook's example as Markdown, with code in fences.
    """

    title: str
    exercise: str
    notebook: str
    students: int
    cost: float
    explanation: str
    example: str


class Passage(msgspec.Struct):
    """Two answers to one exercise, side by side, as lines; `same` holds pairs of line numbers (from 0) that match."""

    exercise: str
    left: list[str]
    right: list[str]
    same: list[tuple[int, int]]


class SimilarPair(msgspec.Struct):
    """Two students whose work is worth a look, and the reasons in words; the highest score comes first."""

    left: StudentIndex
    right: StudentIndex
    score: float
    reasons: list[str]
    passages: list[Passage]


class Incident(msgspec.Struct):
    """Something that went wrong apart from answers: its kind (such as "timed out" or "repaired"), and where.

    `place` is a notebook or an exercise, `detail` the words of the grader; `students` are all whom it happened to.
    """

    kind: str
    place: str
    detail: str
    students: list[StudentIndex]


class ClassReport(msgspec.Struct):
    """Everything about one assignment. Times are in ISO 8601 and UTC.

    `missing` are the students of the gradebook's roster who have not handed in. `ungraded` are students who handed in
    and whose results are of another version of the grader or not there: `grader grade` completes them. `is_anonymous`
    says that the students' names are numbers. `refresh` is after how many seconds a page loads itself again, 0 never.
    """

    assignment: str
    made: str
    due: str
    students: list[Student]
    missing: list[str]
    ungraded: list[str]
    exercises: list[ExerciseStatistics]
    tests: list[TestStatistics]
    mistakes: list[Mistake]
    groups: list[UnnamedGroup]
    lecture: list[LectureItem]
    pairs: list[SimilarPair]
    incidents: list[Incident]
    is_anonymous: bool = False
    refresh: int = 0
