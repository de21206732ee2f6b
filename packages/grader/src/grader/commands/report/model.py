"""Defines the report on a class as data, which the page, the JSON and the CSV files show.

    records, gradebook --load--> Student --analyses--> ClassReport --> page, JSON, CSV

Other fields refer to students by their index in `ClassReport.students`, so names are in one place and can be left out.
"""

import msgspec

from grader.classroom.basis import Part

StudentIndex = int
"""The index of a student in `ClassReport.students`."""


class ExercisePoints(msgspec.Struct):
    """A student's points in one exercise (None until they are known), and whether the student wrote anything."""

    exercise: str
    points: float | None
    max_points: float
    is_written: bool = True


class Student(msgspec.Struct):
    """One row of the class.

    `points` and `max_points` are the gradebook's, after late penalties; `handed_in` is a time in ISO 8601 or '', as
    is `extended_to`, the due date of a student with an extension. `needs_marking` counts the written
    answers that wait for a person. `troubles` say why work was not graded. `outdated` names what has
    changed since the points were given.
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
    extended_to: str = ""
    outdated: list[Part] = []


class ExerciseStatistics(msgspec.Struct):
    """An exercise in the order of the notebooks, with the distribution of its points.

    `shares` are the fractions of points (0 to 1) of all students who handed in the notebook; `blank` counts those who
    wrote nothing. A written question is also an exercise; its points come from marking.
    """

    name: str
    notebook: str
    max_points: float
    shares: list[float]
    blank: int = 0
    is_question: bool = False


class TestStatistics(msgspec.Struct):
    """The statistics of a test in the class.

    `tried` counts students whose exercise was not blank, `passed` those with all points of the test. `discrimination`
    is the correlation of the test's points with a student's other points, None if either is constant. `cost` is the
    points that the class lost in the test. `failed_alone` counts those who tried and passed all other tests of the
    exercise, but not this one. `notes` are sentences about anything unusual.
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
    failed_alone: int = 0


class Example(msgspec.Struct):
    """One student's answer without the name: its source, and the message of the first failed test."""

    source: str
    message: str


class Mistake(msgspec.Struct):
    """A known mistake, or a combination of several, that students made in an exercise.

    `names` complete the sentence "Code that …"; `hint` is the text that these students read. `cost` is the
    points that they lost in the exercise.
    """

    exercise: str
    notebook: str
    names: list[str]
    hint: str
    students: list[StudentIndex]
    cost: float
    example: Example


class UnnamedGroup(msgspec.Struct):
    """Students whose wrong answers to an exercise behave alike in every test, but like no known mistake.

    `key` names the group for `--draft-mistake`. `failed` are the tests that they fail. `is_certain` is false
    if they drew different parameters, so that only kinds, shapes and messages could be compared.
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
    """A mistake to discuss in the next lecture, with its cost and the notebook's own small example.

    `example` holds the cells of that example as Markdown, with code in fences.
    """

    title: str
    exercise: str
    notebook: str
    students: int
    cost: float
    explanation: str
    example: str


class Passage(msgspec.Struct):
    """The lines of two answers to one exercise; `same` holds pairs of matching line numbers (from 0)."""

    exercise: str
    left: list[str]
    right: list[str]
    same: list[tuple[int, int]]


class SimilarPair(msgspec.Struct):
    """Two students whose work is worth a look, with the reasons as sentences."""

    left: StudentIndex
    right: StudentIndex
    score: float
    reasons: list[str]
    passages: list[Passage]


class Incident(msgspec.Struct):
    """A technical problem: its kind (such as "timed out" or "repaired") and its location.

    `place` is a notebook or an exercise, `detail` the grader's message; `students` are the affected students.
    """

    kind: str
    place: str
    detail: str
    students: list[StudentIndex]


class ClassReport(msgspec.Struct):
    """Everything about one assignment. Times are in ISO 8601 and UTC.

    `missing` are the students of the gradebook's roster who have not handed in. `ungraded` are students who handed in
    but whose results are missing or from a different version of the grader: `grader grade` completes them.
    `is_anonymous` is true if numbers replace the students' names. `refresh` is the number of seconds after which the
    page reloads itself, 0 for never.
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
