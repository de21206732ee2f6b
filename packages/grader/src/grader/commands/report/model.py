"""Defines the report on a class as data, which the page, the JSON and the CSV files show.

    records, gradebook --load--> Student --analyses--> ClassReport --> page, JSON, CSV

Other fields refer to students by their index in `ClassReport.students`, so names are in one place and can be left out.
"""

import msgspec

from grader.classroom.source.basis import Part

StudentIndex = int
"""The index of a student in `ClassReport.students`."""


class ExercisePoints(msgspec.Struct):
    """A student's points in one exercise (None until they are known), and whether the student wrote anything.

    `waiting` are those of `max_points` that wait for a person; `points` leaves them out.
    """

    exercise: str
    points: float | None
    max_points: float
    is_written: bool = True
    waiting: float = 0.0

    @property
    def share(self) -> float | None:
        """The fraction of the known points, 0 to 1; None if none are known."""
        known = self.max_points - self.waiting
        return None if self.points is None or known <= 0 else self.points / known


class Student(msgspec.Struct):
    """One row of the class.

    `points` and `max_points` are the gradebook's, after late penalties; `handed_in` is a time in ISO 8601 or '', as
    is `extended_to`, the due date of a student with an extension. `needs_marking` counts the cells that wait
    for a person; `waiting_points` and `waiting_max_points` are their part of `points` and `max_points`. `troubles` say
    why work was not graded, and `outdated` what has changed since the points were given.
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
    waiting_points: float = 0.0
    waiting_max_points: float = 0.0
    outdated: list[Part] = []

    @property
    def known_points(self) -> float:
        """The points of cells that wait for no one, after late penalties."""
        return self.points - self.waiting_points

    @property
    def known_max_points(self) -> float:
        """The maximum of these points."""
        return self.max_points - self.waiting_max_points

    @property
    def share(self) -> float | None:
        """The fraction of the known points, 0 to 1; None if none are known."""
        return self.known_points / self.known_max_points if self.known_max_points > 0 else None


class ExerciseStatistics(msgspec.Struct):
    """An exercise in the order of the notebooks, with the distribution of its points.

    `handed_in` counts the students who handed in the notebook, `shares` are the fractions of points (0 to 1) of those
    whose points are known, `waiting` counts those whose answer waits for a person, and `blank` those who wrote nothing.
    A written question is also an exercise; its points come from marking.
    """

    name: str
    notebook: str
    max_points: float
    shares: list[float]
    blank: int = 0
    is_question: bool = False
    handed_in: int = 0
    waiting: int = 0

    @property
    def mean(self) -> float | None:
        """The mean share; None as long as only blanks are known, because all that was written waits."""
        if not self.shares or (self.waiting and len(self.shares) <= self.blank):
            return None
        return sum(self.shares) / len(self.shares)


class TestStatistics(msgspec.Struct):
    """The statistics of a test in the class.

    `tried` counts students whose exercise was not blank, `passed` those with all points of the test. `discrimination`
    is the correlation of the test's points with a student's other points, None if either is constant. `cost` is the
    points that the class lost in the test. `failed_alone` counts those who tried and passed all other tests of the
    exercise, but not this one. `by_person` counts the students for whom a person set the points, which count only in
    `cost`. `notes` are sentences about anything unusual.
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
    by_person: int = 0


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
