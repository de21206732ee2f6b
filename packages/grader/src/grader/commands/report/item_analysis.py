"""Judges tests by the results of the class: whether they separate strong work from weak, and what they cost.

A test that our own solution passes may still be stricter than the exercise. It fails students who pass everything else,
and costs good and weak students alike, so its discrimination can look harmless.

Discrimination is the corrected item-total correlation of classical test theory: the correlation of a test's points
with a student's other points (Crocker and Algina, Introduction to Classical and Modern Test Theory, 1986, 14.2).
"""

import math
from collections import Counter, defaultdict
from statistics import StatisticsError, correlation

from msgspec.structs import replace

from grader.commands.report.load import ClassData
from grader.commands.report.model import ExerciseStatistics, TestStatistics
from grader.text import plural

ENOUGH = 10
"""The minimum number of students who tried an exercise for notes about its tests."""
NEGATIVE, ERRORS = -0.1, 2.0
"""A note needs a discrimination at most this low, and this many standard errors below 0: in a small class, chance alone
makes it negative."""
ALONE, OF_FAILED, OF_TRIED = 2, 1 / 2, 1 / 10
"""A note on a test that students fail alone needs this many, as shares of those who fail it and who tried it."""
ALL_PASS = "Everyone who tried the exercise passes: it does not tell students apart."
NONE_PASS = "No one who tried the exercise passes: is the task clear, and the test fair?"
TOGETHER = "It is judged together with the students' code, which can read and replace it."
REVERSED = "Students with many points fail it more often than those with few: is it fair?"
BY_PERSON = "A person set its points for {}."
FAILED_ALONE = "It fails {} students who pass all other tests of its exercise: is it too strict?"


def exercises(data: ClassData) -> list[ExerciseStatistics]:
    """Return the exercises in order, with the shares of points that are known."""
    found = []
    for place, exercise in enumerate(data.outline.exercises.values()):
        handed_in = [
            student.exercises[place]
            for student, records in zip(data.students, data.records, strict=True)
            if exercise.notebook in records
        ]
        shares = [each.share for each in handed_in if each.share is not None]
        blank, waiting = sum(not each.is_written for each in handed_in), sum(each.waiting > 0 for each in handed_in)
        found.append(replace(exercise, shares=shares, blank=blank, handed_in=len(handed_in), waiting=waiting))
    return found


def analysed_tests(data: ClassData) -> list[TestStatistics]:
    """Return the tests in the order of the notebooks."""
    rests: dict[str, list[tuple[float, float]]] = defaultdict(list)
    found: dict[str, TestStatistics] = {}
    together: set[str] = set()
    for student, records, by_person in zip(data.students, data.records, data.by_person, strict=True):
        written = {each.exercise for each in student.exercises if each.is_written}
        total = sum(test.points for record in records.values() for test in record.tests)
        for notebook, record in records.items():
            failed: dict[str, list[str]] = defaultdict(list)
            scored = Counter(result.exercise for result in record.tests if result.max_points)
            for result in record.tests:
                if result.points < result.max_points:
                    failed[result.exercise].append(result.name)
            for result in record.tests:
                most = data.outline.max_points.get(result.name, result.max_points)
                unseen = TestStatistics(result.name, result.exercise, notebook, most, 0, 0, None, 0.0)
                test = found.setdefault(result.name, unseen)
                if result.together:
                    together.add(result.name)
                if result.exercise in written:
                    test.tried += 1
                    test.passed += result.points >= result.max_points
                    test.failed_alone += failed[result.exercise] == [result.name] and scored[result.exercise] > 1
                    test.by_person += result.name in by_person
                    test.cost += result.max_points - by_person.get(result.name, result).points
                    rests[result.name].append((result.points, total - result.points))
    order = {name: place for place, name in enumerate(data.outline.exercise_of)}
    for name, test in found.items():
        test.discrimination = _discrimination(rests[name])
        test.notes = [TOGETHER, *_notes(test)] if name in together else _notes(test)
        if test.by_person:
            test.notes.append(BY_PERSON.format(plural(test.by_person, "student")))
    return sorted(found.values(), key=lambda test: order.get(test.name, len(order)))


def _discrimination(pairs: list[tuple[float, float]]) -> float | None:
    try:
        return correlation([test for test, _ in pairs], [rest for _, rest in pairs])
    except StatisticsError:
        return None  # fewer than two students, or constant points


def _notes(test: TestStatistics) -> list[str]:
    if test.tried < ENOUGH:
        return []
    notes = []
    if test.passed == test.tried:
        notes.append(ALL_PASS)
    if not test.passed:
        notes.append(NONE_PASS)
    enough = max(ALONE, OF_FAILED * (test.tried - test.passed), OF_TRIED * test.tried)
    if test.failed_alone >= enough:
        notes.append(FAILED_ALONE.format(test.failed_alone))
    if test.discrimination is not None and test.discrimination <= min(NEGATIVE, -ERRORS / math.sqrt(test.tried)):
        notes.append(REVERSED)
    return notes
