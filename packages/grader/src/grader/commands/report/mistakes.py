"""Counts who made which mistake: the known ones by their names, the others by the fingerprints of their behaviour.

first failed test of each exercise --causes--> Mistake        --fingerprint--> Group of those who behave alike
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from msgspec.structs import replace
from nbformat import NotebookNode

from grader.commands.report.load import ClassData
from grader.commands.report.model import Example, LectureItem, Mistake, StudentIndex, UnnamedGroup
from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.explanation import Cause, Explanation
from grader.engine.fingerprint import Fingerprint
from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.engine.report import Result

OWN_NAME = re.compile(r"(?<=name |able )'[^']*'")
"""A name of the student's own in Python's errors about names."""
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf")
KEY_CHARACTERS = 6
LECTURE_ITEMS = 3
EXAMPLE_CELLS = 4
"""Cells of the example for a lecture, the last ones before the blank."""


@dataclass(frozen=True)
class WrongAnswer:
    """One student's wrong answer to an exercise: the results of its tests, and the source."""

    index: StudentIndex
    exercise: str
    results: Sequence[Result]
    source: str

    @property
    def first(self) -> Result:
        """The first test that it failed and that a diagnosis belongs to."""
        marked = [each for each in self.failed if each.explanation.causes or each.fingerprint is not None]
        return (marked or self.failed)[0]

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of its behaviour; only for those that have one."""
        assert self.first.fingerprint is not None
        return self.first.fingerprint

    @property
    def failed(self) -> list[Result]:
        """The tests that did not give all their points."""
        return [each for each in self.results if each.points < each.max_points]


def wrong_answers(data: ClassData) -> list[WrongAnswer]:
    """Return all answers that were written and lost points in tests."""
    found = []
    for index, (student, results) in enumerate(zip(data.students, data.results(), strict=True)):
        sources = {name: text for record in data.records[index].values() for name, text in record.answers.items()}
        written = {each.exercise for each in student.exercises if each.is_written}
        for exercise, tests in results.items():
            # A test that needs an exercise which is still blank says nothing about this one.
            told = [each for each in tests if each.explanation.cause is not Cause.NOT_WRITTEN]
            wrong = WrongAnswer(index, exercise, told, sources.get(exercise, ""))
            if exercise in written and wrong.failed:
                found.append(wrong)
    return found


@dataclass(frozen=True)
class BehaviourGroup:
    """Wrong answers to one exercise that behave alike, and the names of the mistake, if it has a name."""

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
            "cost": sum(each.max_points - each.points for wrong in self.members for each in wrong.results),
            "example": _example(self.members),
        }


def behaviour_groups(answers: Iterable[WrongAnswer]) -> list[BehaviourGroup]:
    """Divide wrong answers into groups that behave alike. A name that one member has holds for all of them.

    The grader may have had no time for the name of every mistake in a notebook. Where numbers could not be compared,
    the others have no name. Answers without a fingerprint have no group, such as those that crash.
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
            # One mistake may have several groups: it is the same with whatever else the students did.
            known = members if is_one else [each for each in members if tuple(each.first.explanation.causes) == names]
            named.setdefault(names, BehaviourGroup([], names, is_certain)).members.extend(known)
        if unnamed and not is_one:
            others.append(BehaviourGroup(unnamed, (), is_certain))
    return [*named.values(), *others]


def known_mistakes(
    data: ClassData, groups: Iterable[BehaviourGroup], misconceptions: Iterable[Misconception]
) -> list[Mistake]:
    """Return the mistakes with a name, those of most students first.

    Args:
        gathered: the class.
        groups: its wrong answers.
        misconceptions: the known misconceptions of the assignment, with what was said to students.
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
        gathered: the class.
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
    """Divide wrong answers to one exercise, all with fingerprints, into groups that behave alike.

    Alike are those with like fingerprints, of which the tests say the same. Answers that drew different parameters have
    different numbers for that reason alone. They are taken for alike if all else is the same, and among the answers
    with the same parameters there is no other such group.

    Returns:
        The groups, and whether the numbers of all members could be compared.
    """
    by_words: dict[tuple[object, ...], list[list[WrongAnswer]]] = defaultdict(list)
    for wrong in answers:
        alike = by_words[wrong.fingerprint.structure, bool(wrong.fingerprint.drawn), *_told(wrong)]
        members = next((each for each in alike if wrong.fingerprint.is_like(each[0].fingerprint)), None)
        if members is None:
            alike.append(members := [])
        members.append(wrong)
    found = []
    for alike in by_words.values():
        if len({members[0].fingerprint.drawn for members in alike}) == len(alike) > 1:
            found.append((list(chain.from_iterable(alike)), False))
        else:
            found += [(members, True) for members in alike]
    return found


def _told(wrong: WrongAnswer) -> tuple[object, ...]:
    """The messages of the tests, without places and numbers."""
    return tuple((each.name, each.verdict, without_details(each.explanation)) for each in wrong.results)


def without_details(explanation: Explanation) -> str:
    """Return what a test says without what differs in one behaviour: numbers, places, names, and a diagnosis."""
    common = replace(explanation, where=None, judged_with=(), misconceptions=())
    return NUMBER.sub("#", OWN_NAME.sub("", common.message))


def _key(members: list[WrongAnswer]) -> str:
    """A short name of a group, the same in each run as long as the behaviour is the same."""
    fingerprint = min((each.fingerprint for each in members), key=lambda each: (each.drawn, each.numbers))
    numbers = [f"{number:.3g}" for number in fingerprint.numbers]  # rounding must not change the name
    behaviour = repr((fingerprint.structure, fingerprint.drawn, numbers, _told(members[0])))
    return hashlib.sha256(behaviour.encode()).hexdigest()[:KEY_CHARACTERS]


def _example(members: Sequence[WrongAnswer]) -> Example:
    """The shortest of the answers, without the name of its author: it has least beside the mistake."""
    shortest = min(members, key=lambda each: (len(each.source), each.source))
    return Example(shortest.source, shortest.first.explanation.undiagnosed().message)


def lecture(
    sources: dict[str, NotebookNode], mistakes: Sequence[Mistake], groups: Sequence[UnnamedGroup]
) -> list[LectureItem]:
    """Return the mistakes that cost most, with or without a name.

    Args:
        sources: the instructors' notebooks by name.
        mistakes: the known mistakes that were made.
        groups: the groups without a name.
    """
    items = [
        LectureItem(
            "; ".join(each.names), each.exercise, each.notebook, len(each.students), each.cost, each.hint,
            example(sources, each.notebook, each.exercise),
        )
        for each in mistakes
    ]  # fmt: skip
    items += [
        LectureItem(
            "a mistake without a name", each.exercise, each.notebook, len(each.students), each.cost,
            each.example.message, example(sources, each.notebook, each.exercise),
        )
        for each in groups
    ]  # fmt: skip
    return sorted(items, key=lambda each: -each.cost)[:LECTURE_ITEMS]


def example(sources: dict[str, NotebookNode], notebook: str, exercise: str) -> str:
    """Return the example that a notebook works before an exercise, as Markdown; '' if the exercise is not there.

    Args:
        sources: the instructors' notebooks by name.
        notebook: the notebook's name.
        exercise: the grade_id of the blank.
    """
    cells = sources[notebook].cells if notebook in sources else []
    blank = next((place for place, cell in enumerate(cells) if grade_id(cell) == exercise), 0)
    before: list[NotebookNode] = []
    for cell in reversed(cells[:blank]):
        if type_of(cell) in (CellType.AUTOGRADED_ANSWER, CellType.TEST, CellType.MANUAL_ANSWER):
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
