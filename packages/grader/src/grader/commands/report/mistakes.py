"""Counts mistakes: known ones by name, others by the fingerprint of their behaviour; picks those for the next lecture.

first failed test of each exercise --causes--> Mistake        --fingerprint--> UnnamedGroup        both --> LectureItem
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from msgspec.structs import replace
from nbformat import NotebookNode

from grader.classroom.gradebook.rules import CellScore
from grader.commands.report.load import ClassData
from grader.commands.report.model import Example, LectureItem, Mistake, StudentIndex, UnnamedGroup
from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.explanation import Cause, Explanation
from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.engine.notebook.outline import GRADED
from grader.engine.report import Fingerprint, Result

OWN_NAME = re.compile(r"(?<=name |able )'[^']*'")
"""A student's own name in Python's errors about names."""
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf")
KEY_CHARACTERS = 6
LECTURE_ITEMS = 3
EXAMPLE_CELLS = 4
"""Cells of the example for a lecture, the last ones before the blank."""


@dataclass(frozen=True)
class WrongAnswer:
    """One student's wrong answer to an exercise, with the results of its tests and its source.

    `by_person` are the scores of the student's tests whose points a person set, by name.
    """

    index: StudentIndex
    exercise: str
    results: Sequence[Result]
    source: str
    by_person: Mapping[str, CellScore] = field(default_factory=dict)

    @property
    def first(self) -> Result:
        """The first failed test with a diagnosis or a fingerprint, or else the first failed test."""
        marked = [each for each in self.failed if each.explanation.causes or each.fingerprint is not None]
        return (marked or self.failed)[0]

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of its behaviour, which must exist."""
        assert self.first.fingerprint is not None
        return self.first.fingerprint

    @property
    def does_not_run(self) -> bool:
        """Whether its cell did not bind the name that the tests call, so that it behaves in no way."""
        return self.first.fingerprint is None and self.first.explanation.cause is Cause.UNDEFINED

    @property
    def cost(self) -> float:
        """The points that it lost, after those that a person set."""
        return sum(each.max_points - self.by_person.get(each.name, each).points for each in self.results)

    @property
    def message(self) -> str:
        """What its first failed test says; '' if a person set the points of that one."""
        return "" if self.first.name in self.by_person else self.first.explanation.undiagnosed().message

    @property
    def failed(self) -> list[Result]:
        """The tests that lost points."""
        return [each for each in self.results if each.points < each.max_points]


def wrong_answers(data: ClassData) -> list[WrongAnswer]:
    """Return all written answers that lost points in tests."""
    found = []
    for index, (student, records, by_person) in enumerate(
        zip(data.students, data.records, data.by_person, strict=True)
    ):
        sources = {name: text for record in records.values() for name, text in record.answers.items()}
        written = {each.exercise for each in student.exercises if each.is_written}
        results: dict[str, list[Result]] = defaultdict(list)
        for test in chain.from_iterable(record.tests for record in records.values()):
            # A test that needs a blank exercise says nothing about this one, unless ours stood in for the blank.
            if test.explanation.cause is not Cause.NOT_WRITTEN or test.fingerprint is not None:
                results[test.exercise].append(test)
        for exercise, tests in results.items():
            wrong = WrongAnswer(index, exercise, tests, sources.get(exercise, ""), by_person)
            if exercise in written and wrong.failed:
                found.append(wrong)
    return found


@dataclass(frozen=True)
class BehaviourGroup:
    """Wrong answers to one exercise that behave alike, and the names of the mistake, if any."""

    members: list[WrongAnswer]
    causes: tuple[str, ...]
    is_certain: bool

    @property
    def exercise(self) -> str:
        """The exercise."""
        return self.members[0].exercise

    def common(self, data: ClassData) -> dict[str, Any]:
        """Return the fields that `Mistake` and `UnnamedGroup` have in common."""
        return {
            "exercise": self.exercise,
            "notebook": data.outline.notebook_of(self.exercise),
            "students": sorted(wrong.index for wrong in self.members),
            "cost": sum(wrong.cost for wrong in self.members),
            "example": _example(self.members),
        }


def behaviour_groups(answers: Iterable[WrongAnswer]) -> list[BehaviourGroup]:
    """Group wrong answers by behaviour. A name that one member has applies to all of them.

    The grader may have run out of time before it named every mistake in a notebook. If numbers could not be compared,
    a name applies to its own answers only. Answers without a fingerprint, such as crashes, have no group.
    """
    by_exercise: dict[str, list[WrongAnswer]] = defaultdict(list)
    for wrong in answers:
        if wrong.first.fingerprint is not None:
            by_exercise[wrong.exercise].append(wrong)
    return list(chain.from_iterable(map(_by_name, by_exercise.values())))


def _by_name(answers: list[WrongAnswer]) -> list[BehaviourGroup]:
    named: dict[tuple[str, ...], BehaviourGroup] = {}
    others = []
    for members, is_certain in grouped(answers):
        unnamed = [each for each in members if not each.first.explanation.causes]
        causes = {tuple(each.first.explanation.causes) for each in members} - {()}
        is_one = len(causes) == 1 and is_certain
        for names in sorted(causes):
            # One mistake may have several groups, depending on the students' other answers.
            known = members if is_one else [each for each in members if tuple(each.first.explanation.causes) == names]
            named.setdefault(names, BehaviourGroup([], names, is_certain)).members.extend(known)
        if unnamed and not is_one:
            others.append(BehaviourGroup(unnamed, (), is_certain))
    return [*named.values(), *others]


def known_mistakes(
    data: ClassData, groups: Iterable[BehaviourGroup], misconceptions: Iterable[Misconception]
) -> list[Mistake]:
    """Return the mistakes with a name, the most frequent first.

    Args:
        data: the class.
        groups: its wrong answers.
        misconceptions: the known misconceptions of the assignment, with their hints.
    """
    hints = {(each.exercise, each.name): each.hint for each in misconceptions}
    found = []
    for group in groups:
        if group.causes:
            hint = " ".join(hints.get((group.exercise, name), "") for name in group.causes).strip()
            found.append(Mistake(**group.common(data), names=list(group.causes), hint=hint))
    return sorted(found, key=lambda each: (-len(each.students), -each.cost, each.exercise, each.names))


def unnamed_groups(data: ClassData, groups: Iterable[BehaviourGroup]) -> list[UnnamedGroup]:
    """Return the groups of several students whose mistake has no name, the largest first.

    Args:
        data: the class.
        groups: its wrong answers.
    """
    found = []
    for group in groups:
        if not group.causes and len(group.members) > 1:
            key = f"{group.exercise}-{_key(group.members)}"
            failed = [each.name for each in group.members[0].failed]
            found.append(UnnamedGroup(**group.common(data), key=key, failed=failed, is_certain=group.is_certain))
    return sorted(found, key=lambda each: (-len(each.students), -each.cost, each.key))


def grouped(answers: Sequence[WrongAnswer]) -> list[tuple[list[WrongAnswer], bool]]:
    """Group wrong answers to one exercise, all with fingerprints, by behaviour.

    Answers behave alike if their fingerprints match and their tests give the same messages. Different random parameters
    change numbers without a change in behaviour: such answers are one group if everything else matches and their
    parameters are all different.

    Returns:
        The groups, each with True if the numbers of all members could be compared.
    """
    by_messages: dict[tuple[object, ...], list[list[WrongAnswer]]] = defaultdict(list)
    for wrong in answers:
        alike = by_messages[wrong.fingerprint.structure, bool(wrong.fingerprint.drawn), *_messages(wrong)]
        members = next((each for each in alike if wrong.fingerprint.is_like(each[0].fingerprint)), None)
        if members is None:
            alike.append(members := [])
        members.append(wrong)
    found = []
    for alike in by_messages.values():
        if len({members[0].fingerprint.drawn for members in alike}) == len(alike) > 1:
            found.append((list(chain.from_iterable(alike)), False))
        else:
            found += [(members, True) for members in alike]
    return found


def _messages(wrong: WrongAnswer) -> tuple[object, ...]:
    """The messages of the tests without locations and numbers."""
    return tuple((each.name, each.verdict, without_details(each.explanation)) for each in wrong.results)


def without_details(explanation: Explanation) -> str:
    """Return a test's message without details that vary within a behaviour: numbers, locations, names and diagnosis."""
    common = replace(explanation, where=None, judged_with=(), misconceptions=())
    return NUMBER.sub("#", OWN_NAME.sub("", common.message))


def _key(members: list[WrongAnswer]) -> str:
    """A short name of a group, which depends only on the behaviour."""
    fingerprint = min((each.fingerprint for each in members), key=lambda each: (each.drawn, each.numbers))
    numbers = [f"{number:.3g}" for number in fingerprint.numbers]  # rounding errors must not change the name
    behaviour = repr((fingerprint.structure, fingerprint.drawn, numbers, _messages(members[0])))
    return hashlib.sha256(behaviour.encode()).hexdigest()[:KEY_CHARACTERS]


def _example(members: Sequence[WrongAnswer]) -> Example:
    """The shortest of the answers, without its author's name: it has the least besides the mistake."""
    shortest = min(members, key=lambda each: (not each.message, len(each.source), each.source))
    return Example(shortest.source, shortest.message)


def lecture(
    sources: dict[str, NotebookNode], mistakes: Sequence[Mistake], groups: Sequence[UnnamedGroup]
) -> list[LectureItem]:
    """Return the mistakes that cost the class most, with or without a name.

    Args:
        sources: the instructors' notebooks by name.
        mistakes: the known mistakes.
        groups: the unnamed groups.
    """
    found: list[tuple[Mistake | UnnamedGroup, str, str]] = [
        *((each, "; ".join(each.names), each.hint) for each in mistakes),
        *((each, "a mistake without a name", each.example.message) for each in groups),
    ]
    return [
        LectureItem(
            title, each.exercise, each.notebook, len(each.students), each.cost, text,
            _worked_example(sources[each.notebook], each.exercise) if each.notebook in sources else "",
        )
        for each, title, text in sorted(found, key=lambda item: -item[0].cost)[:LECTURE_ITEMS]
    ]  # fmt: skip


def _worked_example(source: NotebookNode, exercise: str) -> str:
    """The worked example before an exercise of a notebook, as Markdown; '' if the exercise does not exist."""
    cells = source.cells
    blank = next((place for place, cell in enumerate(cells) if grade_id(cell) == exercise), 0)
    before: list[NotebookNode] = []
    for cell in reversed(cells[:blank]):
        if type_of(cell) in (CellType.AUTOGRADED_ANSWER, *GRADED):
            break
        before.insert(0, cell)
        if len(before) == EXAMPLE_CELLS:
            break
    return "\n\n".join(_markdown(cell) for cell in before)


def _markdown(cell: NotebookNode) -> str:
    if cell.cell_type != "code":
        return str(cell.source)
    shown = [
        "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
        for output in cell.outputs
        if "image/png" not in output.get("data", {})
    ]
    parts = [f"```python\n{cell.source}\n```", *(f"```\n{text.rstrip()}\n```" for text in shown if text.strip())]
    return "\n\n".join(parts)
