"""Finds pairs of students whose work is worth a look. It points to places, and never claims that someone copied.

    answers --canonical--> features, rare ones only --+
    behaviours, rare ones only -----------------------+--> students who share them --> SimilarPair, best score first

A score sums surprise: a shared feature that a fraction p of the class has counts -log p. Frequent features count
nothing, above all common right answers, and known mistakes count little, because people make them independently. Only
pairs that share a rare feature are ever looked at.
"""

import math
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy
from numpy.typing import NDArray

from grader.commands.report.canonical import features, lines_of, matching, statements
from grader.commands.report.model import Passage, SimilarPair, StudentIndex
from grader.text import printable

RARE_SHARE, ALWAYS_RARE = 0.05, 5
"""A feature is rare if at most this fraction of the class has it, or at most this many students."""
OF_KNOWN = 0.4
"""The weight of a known mistake, compared with a wrong behaviour that no list foresees."""
FOLLOWS_FROM_ANOTHER = 0.25
"""The weight of a pair of statements, one of which uses a name that the other sets: it mostly comes with them."""
MOST = 3.0
"""The maximum score of text in one exercise, as a multiple of the maximum of one behaviour."""
EXPECTED = 0.2
"""The prior fraction of students with the same behaviour who have an unusual line in common."""
DIFFERENT = 0.7
"""The penalty for an exercise in which the two ended differently: a copier may leave out one in two."""
OF_FULL_MARKS = 0.05
"""The weight of text if either answer has full marks: there are only so many ways to be right."""
MAX_ENTRIES = 6_000_000
"""Entries (pair, shared feature) that are counted; beyond that, the least rare features are left out."""
TELLING_SHARE = 0.5
"""The fraction of unusual lines that must match to be a reason, unless it is the only one."""
MAX_PASSAGES, MAX_LINES, MAX_CHARACTERS = 4, 300, 300
"""Exercises of a pair shown side by side, lines shown of each answer, and characters of each line."""
UNKNOWN, RIGHT = -1, 0
"""Outcomes of an answer other than the number of a wrong behaviour."""
TINY = 1e-9


@dataclass(frozen=True)
class StudentWork:
    """A student's work on an assignment, by exercise.

    `answers` are the sources, without blanks. `shares` are fractions of the points, 1 for full marks. `behaviours` name
    groups: answers to an exercise with the same name are wrong in the same way in every test. `known` are the exercises
    in which that is a known mistake.
    """

    index: StudentIndex
    answers: Mapping[str, str]
    shares: Mapping[str, float]
    behaviours: Mapping[str, str]
    known: Collection[str] = ()

    def is_right(self, exercise: str) -> bool:
        """Return True if the answer to an exercise has full marks."""
        return self.shares.get(exercise, 0.0) >= 1


def similar(students: Sequence[StudentWork], given: Mapping[str, Sequence[str]], most: int = 50) -> list[SimilarPair]:
    """Return the pairs of students whose work is worth a look, the most surprising ones first.

    A pair is left out unless its score exceeds what a random student shares with someone by chance.

    Args:
        students: the class.
        given: texts by exercise that students may share without suspicion: the released cell, the reference solution,
            and the known mistakes in it.
        most: the maximum number of pairs.
    """
    if len(students) < 2:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of odd code when it parses
        exercises = list(dict.fromkeys(exercise for student in students for exercise in student.answers))
        room = MAX_ENTRIES // (2 * max(1, len(exercises)))
        surveys = [_Survey(exercise, students, given.get(exercise, ())) for exercise in exercises]
        found = [survey.evidence(room) for survey in surveys]
        pairs, scores = _summed([pairs for pairs, _ in found], [scores for _, scores in found])
        scores -= sum(survey.against(pairs) for survey in surveys)
        expected = math.log(len(students))
        pairs, scores = pairs[scores > expected], scores[scores > expected]
        best = numpy.lexsort((pairs, -scores.round(6)))[:most]
        return [_pair(students, surveys, int(pairs[number]), float(scores[number])) for number in best]


Pairs = NDArray[numpy.int64]
"""Pairs of students, each as one number: first * size of the class + second."""
Scores = NDArray[numpy.float64]


class _Survey:
    """The answers of the class to one exercise: their usual features, and the students who share unusual ones."""

    def __init__(self, exercise: str, students: Sequence[StudentWork], given: Iterable[str]) -> None:
        self.exercise = exercise
        self._students = students
        self.authors = [number for number, student in enumerate(students) if exercise in student.answers]
        self._rare = max(ALWAYS_RARE, int(RARE_SHARE * len(self.authors)))
        self.usual = {feature for text in given for feature in features(statements(text))}
        self._alike: dict[str, list[int]] = defaultdict(list)
        """The students with the same behaviour, by its name."""
        self._known: set[str] = set()
        """The behaviours that are known mistakes."""
        self._ends: NDArray[numpy.int64] = numpy.full(len(students), UNKNOWN)
        """The outcome of each student's answer: UNKNOWN, RIGHT, or the number of a behaviour."""
        self._unusual: Scores = numpy.zeros(len(students))
        """The amount of unusual text in each student's answer."""
        self._groups: dict[tuple[int, ...], float] = defaultdict(float)
        """The amount of unusual text that these students share."""
        self._read_ends()
        self._read_texts()

    def _read_ends(self) -> None:
        numbers: dict[str, int] = {}
        for number in self.authors:
            student = self._students[number]
            if (behaviour := student.behaviours.get(self.exercise)) is not None:
                self._alike[behaviour].append(number)
                if self.exercise in student.known:
                    self._known.add(behaviour)
                self._ends[number] = numbers.setdefault(behaviour, RIGHT + 1 + len(numbers))
            elif student.is_right(self.exercise):
                self._ends[number] = RIGHT

    def _read_texts(self) -> None:
        authors_of: dict[str, list[int]] = defaultdict(list)
        weights: dict[str, float] = {}
        known: dict[str, dict[str, bool]] = {}
        for number in self.authors:
            source = self._students[number].answers[self.exercise]
            if source not in known:
                known[source] = features(statements(source))
            for feature, is_statement in known[source].items():
                if feature not in self.usual:
                    authors_of[feature].append(number)
                    weights[feature] = 1.0 if is_statement else FOLLOWS_FROM_ANOTHER
        for feature, authors in authors_of.items():
            if len(authors) > self._rare:
                self.usual.add(feature)
                continue
            weight = weights[feature] * self._surprise(len(authors))
            self._unusual[authors] += weight
            if 1 < len(authors) < len(self.authors):  # a line that all have says nothing
                self._groups[tuple(authors)] += weight

    def _surprise(self, students: int) -> float:
        return math.log(len(self.authors) / students)

    def is_rare(self, behaviour: str) -> bool:
        """Return True if at least two students have a behaviour, but few."""
        return 1 < len(self._alike.get(behaviour, ())) <= self._rare

    def reasons(self, left: StudentWork, right: StudentWork) -> list[tuple[float, str]]:
        """Return sentences about what two students share, each with the fraction of unusual lines that match."""
        found = []
        name = f"`{self.exercise}`"
        behaviour = left.behaviours.get(self.exercise, "")
        if is_alike := self.is_rare(behaviour) and behaviour == right.behaviours.get(self.exercise):
            number = f"{len(self._alike[behaviour])} of {len(self.authors)}"
            if behaviour in self._known:
                found.append(
                    (TELLING_SHARE, f"their wrong answers to {name} are the same known mistake, made by {number}")
                )
            else:
                found.append((1.0, f"their wrong answers to {name} behave alike in every test, as only {number} do"))
        texts = [{each.text for each in statements(work.answers[self.exercise])} - self.usual for work in (left, right)]
        same, unusual = texts[0] & texts[1], texts[0] | texts[1]
        if len(same) > is_alike:  # a single unusual line may cause the behaviour
            share = len(same) / len(unusual)
            words = f"{share:.0%} of the unusual lines of {name} match after renaming"
            if left.is_right(self.exercise) and right.is_right(self.exercise):
                words += ", which says less where both have full marks"
            found.append((share, words))
        return found

    def evidence(self, room: int) -> tuple[Pairs, Scores]:
        """Return the pairs that share something rare, with their scores.

        Args:
            room: the maximum number of entries for text, and for behaviour.
        """
        students = len(self._students)
        rare = {behaviour: group for behaviour, group in self._alike.items() if self.is_rare(behaviour)}
        alike = list(rare.values())
        weights = {
            tuple(group): self._surprise(len(group)) * (OF_KNOWN if behaviour in self._known else 1.0)
            for behaviour, group in rare.items()
        }
        by_behaviour = _shared(weights, students, room)
        by_text = _shared(self._groups, students, room)
        pairs = numpy.union1d(by_behaviour[0], by_text[0])
        text = _aligned(pairs, *by_text)
        follows = _aligned(pairs, *_shared(self._following(alike), students, room))
        left, right = numpy.divmod(pairs, students)
        same_share = 2 * text / numpy.maximum(self._unusual[left] + self._unusual[right], TINY)
        beyond = numpy.clip(text - follows, 0, MOST * self._surprise(2))
        is_right = (self._ends[left] == RIGHT) | (self._ends[right] == RIGHT)
        return pairs, _aligned(pairs, *by_behaviour) + same_share * beyond * numpy.where(is_right, OF_FULL_MARKS, 1.0)

    def against(self, pairs: Pairs) -> Scores:
        """Return the penalty of pairs who both answered the exercise and ended differently."""
        left, right = (self._ends[numbers] for numbers in numpy.divmod(pairs, len(self._students)))
        return DIFFERENT * ((left != right) & (left != UNKNOWN) & (right != UNKNOWN))

    def _following(self, alike: Sequence[Sequence[int]]) -> dict[tuple[int, ...], float]:
        """The amount of shared text that is expected of students who behave alike.

        If all students with a behaviour have a line, two of them sharing it says little.
        """
        group_of = {author: group for group, members in enumerate(alike) for author in members}
        found: dict[tuple[int, ...], float] = defaultdict(float)
        for authors, weight in self._groups.items():
            by_group: dict[int, list[int]] = defaultdict(list)
            for author in authors:
                if author in group_of:
                    by_group[group_of[author]].append(author)
            for group, members in by_group.items():
                if len(members) > 1:
                    part = (len(members) - 2 + EXPECTED) / (len(alike[group]) - 1)
                    found[tuple(members)] += weight * max(0.0, 1 + math.log(part) / self._surprise(len(authors)))
        return found


def _shared(groups: Mapping[tuple[int, ...], float], students: int, room: int) -> tuple[Pairs, Scores]:
    """Return all pairs in groups, the smallest groups first, with the weight that each pair shares in total."""
    pairs, scores = [], []
    for group, weight in sorted(groups.items(), key=lambda item: (len(item[0]), item[0])):
        left, right = _index_pairs(len(group))
        room -= len(left)
        if room < 0:
            break
        members = numpy.array(group, dtype=numpy.int64)
        pairs.append(members[left] * students + members[right])
        scores.append(numpy.full(len(left), weight))
    return _summed(pairs, scores)


@lru_cache(maxsize=1024)
def _index_pairs(size: int) -> tuple[NDArray[numpy.intp], NDArray[numpy.intp]]:
    """The indices of all pairs in a group."""
    left, right = numpy.triu_indices(size, 1)
    return left, right


def _summed(pairs: Sequence[Pairs], scores: Sequence[Scores]) -> tuple[Pairs, Scores]:
    """Return each pair once, with the sum of its scores."""
    if not pairs:
        return numpy.zeros(0, dtype=numpy.int64), numpy.zeros(0)
    unique, inverse = numpy.unique(numpy.concatenate(pairs), return_inverse=True)
    return unique, numpy.bincount(inverse, numpy.concatenate(scores)).astype(numpy.float64)


def _aligned(pairs: Pairs, some: Pairs, scores: Scores) -> Scores:
    """Return the scores of some pairs in the order of all pairs, 0 for the rest."""
    found = numpy.zeros(len(pairs))
    found[numpy.searchsorted(pairs, some)] = scores
    return found


def _pair(students: Sequence[StudentWork], surveys: Sequence[_Survey], pair: int, score: float) -> SimilarPair:
    left, right = (students[number] for number in divmod(pair, len(students)))
    both = [survey for survey in surveys if survey.exercise in left.answers and survey.exercise in right.answers]
    found = [(share, words, survey.exercise) for survey in both for share, words in survey.reasons(left, right)]
    found.sort(key=lambda reason: -reason[0])
    telling = [reason for reason in found if reason[0] >= TELLING_SHARE] or found[:1]
    shown = list(dict.fromkeys(exercise for *_, exercise in telling))[:MAX_PASSAGES]
    return SimilarPair(
        left=left.index,
        right=right.index,
        score=round(score, 2),
        reasons=[words for _, words, _ in telling],
        passages=[passage(each, left.answers[each], right.answers[each]) for each in shown],
    )


def passage(exercise: str, left: str, right: str) -> Passage:
    """Return two answers to an exercise side by side.

    Args:
        exercise: the exercise.
        left: the source of one answer.
        right: the source of the other.
    """
    shown, beside = (
        [printable(line, MAX_CHARACTERS) for line in lines_of(source)[:MAX_LINES]] for source in (left, right)
    )
    same = {
        (one, other)
        for first, second in matching(statements(left), statements(right))
        # The same statement may be broken into different lines.
        for one, other in zip(range(first.first, first.last + 1), range(second.first, second.last + 1), strict=False)
        if one < len(shown) and other < len(beside)
    }
    return Passage(exercise, shown, beside, sorted(same))
