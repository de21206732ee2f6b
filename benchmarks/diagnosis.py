"""Measures how often the grader names the right cause of lost points, a wrong one, or none.

answers to one exercise with a cause that is known beforehand --grade--> causes that it names --> right, wrong, silent

`python -m benchmarks.diagnosis [ASSIGNMENT ...]` prints the table for some assignments only.
"""

import argparse
import copy
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations

from nbformat import NotebookNode

from benchmarks.classes import REPOSITORY
from grader.classroom.course_dir import CourseDir
from grader.commands.prove.mutation import mutants, program
from grader.commands.prove.prover import ExerciseToProve, Prover, for_wrong_answers
from grader.engine.diagnosis.misconceptions import Misconception, load
from grader.engine.notebook.cells import grade_id
from grader.engine.supervisor.pool import side_by_side
from grader.errors import GraderError

HEADING = "## Names of causes"
SOURCE = REPOSITORY / "source"
PAIRS = 20
"""Pairs of mistakes for each exercise, drawn with its name as the seed."""
DRAWS = 10
"""Further draws of random numbers in which the cause named for a mutant must be named again."""
SLOWEST = 20
"""Answers whose diagnosis is timed: those that took the longest to grade."""
ROUNDS = 2
"""Repetitions of each timing, with the list and without it; the shortest counts."""
PROVER = Prover(helper_packages=("course",))


class Kind(StrEnum):
    """The kinds of answers, by the knowledge about their causes."""

    KNOWN = "a known mistake"
    LEFT_OUT = "a known mistake that is left out of the list"
    PAIR = "two known mistakes at once"
    MUTANT = "a mutant of our solution"


class Outcome(StrEnum):
    """The result of naming the causes of lost points."""

    RIGHT = "right"
    WRONG = "wrong"
    SILENT = "silent"


@dataclass
class Probe:
    """An answer, the list that the grader compares it with, and the names that are right to give."""

    kind: Kind
    exercise: ExerciseToProve
    answer: str
    known: list[Misconception]
    right: frozenset[str] = frozenset()
    seconds: float = 0.0
    told: list[str] = field(default_factory=list)

    def outcome(self) -> Outcome | None:
        """Grade the answer; return None if it loses no points."""
        begin = time.perf_counter()
        told = self._causes(self.exercise.source)
        self.seconds = time.perf_counter() - begin
        if told is None:
            return None
        self.told = sorted(told)
        if not told:
            return Outcome.SILENT
        is_right = self._is_told_again(told) if self.kind is Kind.MUTANT else told <= self.right
        return Outcome.RIGHT if is_right else Outcome.WRONG

    def diagnosis_seconds(self) -> float:
        """Return the seconds that the list adds to the grading of the answer."""
        with_list, without = (min(self._timed(known) for _ in range(ROUNDS)) for known in (self.known, []))
        return with_list - without

    def _timed(self, known: list[Misconception]) -> float:
        begin = time.perf_counter()
        self._causes(self.exercise.source, known)
        return time.perf_counter() - begin

    def _is_told_again(self, told: set[str]) -> bool:
        """Return True if other random numbers give the same names. A mutant can behave like a known mistake."""
        again = (self._causes(_redrawn(self.exercise, number)) for number in range(DRAWS))
        return all(causes in (None, told) for causes in again)

    def _causes(self, source: NotebookNode, known: list[Misconception] | None = None) -> set[str] | None:
        report = PROVER.report(
            source,
            self.exercise.name,
            self.answer,
            for_wrong_answers(PROVER.limits),
            self.known if known is None else known,
        )
        if report.points == report.max_points:
            return None
        return {cause for result in report.results for cause in result.explanation.causes}


def _redrawn(exercise: ExerciseToProve, number: int) -> NotebookNode:
    """Return the source with other random numbers in its tests, which follow from their text."""
    source = copy.copy(exercise.source)
    source.cells = [
        type(cell)(cell, source=f"{cell.source}\n# draw {number}") if grade_id(cell) in exercise.tests else cell
        for cell in source.cells
    ]
    return source


def probes(exercise: ExerciseToProve, known: list[Misconception], tenth: bool) -> Iterator[Probe]:
    """Yield the answers to one exercise.

    Args:
        exercise: the exercise.
        known: the known mistakes of its assignment.
        tenth: whether to grade a random tenth of the mutants instead of all.
    """
    reference = exercise.right["reference"]
    own = [each for each in known if each.exercise == exercise.name]
    for each in own:
        text = each.apply(reference)
        yield Probe(Kind.KNOWN, exercise, text, known, frozenset([each.name]))
        yield Probe(Kind.LEFT_OUT, exercise, text, [other for other in known if other is not each])
    draw = random.Random(exercise.name)
    pairs = list(_pairs(reference, own))
    for names, text in draw.sample(pairs, min(PAIRS, len(pairs))):
        yield Probe(Kind.PAIR, exercise, text, known, names)
    generated = mutants(reference, [each.apply(reference) for each in own])
    for mutant in draw.sample(generated, len(generated) // 10) if tenth else generated:
        yield Probe(Kind.MUTANT, exercise, mutant.text, known)


def _pairs(reference: str, own: list[Misconception]) -> Iterator[tuple[frozenset[str], str]]:
    alone = {program(each.apply(reference)) for each in own}
    for first, second in combinations(own, 2):
        try:
            text = second.apply(first.apply(reference))
        except GraderError:
            continue  # the first edit removes the text of the second
        if program(text) is not None and program(text) not in alone:
            yield frozenset([first.name, second.name]), text


def measured(assignments: Sequence[str], tenth: bool) -> tuple[dict[Kind, Counter[Outcome]], list[Probe], float]:
    """Grade all probes of some assignments.

    Returns:
        the outcomes of each kind, the probes with a wrong name, and the seconds of the slowest diagnosis.
    """
    outcomes: dict[Kind, Counter[Outcome]] = defaultdict(Counter)
    wrong, slowest = [], 0.0
    with ThreadPoolExecutor(side_by_side(0)) as pool:
        for name in assignments:
            known = load(SOURCE / name)
            asked = [
                probe for exercise in PROVER.exercises([SOURCE / name]) for probe in probes(exercise, known, tenth)
            ]
            for probe, outcome in zip(asked, pool.map(Probe.outcome, asked), strict=True):
                if outcome is not None:
                    outcomes[probe.kind][outcome] += 1
                if outcome is Outcome.WRONG:
                    wrong.append(probe)
            slow = sorted(asked, key=lambda probe: probe.seconds)[-SLOWEST:]
            slowest = max(slowest, *(probe.diagnosis_seconds() for probe in slow))
    return outcomes, wrong, slowest


def table(assignments: Sequence[str] = (), *, tenth: bool = False) -> str:
    """Return the part of the results, as Markdown.

    Args:
        assignments: those to measure, all if it is empty.
        tenth: whether a tenth of the mutants is enough.
    """
    names = assignments or CourseDir(REPOSITORY).assignments()
    outcomes, wrong, slowest = measured(names, tenth)
    unknown = sum((outcomes[kind] for kind in Kind if kind is not Kind.KNOWN), Counter[Outcome]())
    rows = [(str(kind), outcomes[kind]) for kind in Kind] + [("all but the first row", unknown)]
    lines = [
        HEADING, "",
        f"Answers to one exercise that lose points, in {', '.join(names)}. A name for a mutant is right if {DRAWS} "
        "other draws of the tests give no other name. The slowest diagnosis added "
        f"{slowest:.1f} seconds to a notebook.", "",
        "| an answer with | answers | right | wrong | silent | right, % | wrong, % |", "|---|" + "--:|" * 6,
        *(_row(name, counts) for name, counts in rows), "",
    ]  # fmt: skip
    if wrong:
        lines += ["Wrong names:", ""]
        lines += [f"- {each.exercise.name}, {each.kind}: {' + '.join(each.told)}" for each in wrong]
    return "\n".join(lines)


def _row(name: str, counts: Counter[Outcome]) -> str:
    numbers = [counts[outcome] for outcome in Outcome]
    total = sum(numbers)
    shares = [f"{100 * number / max(total, 1):.2f}" for number in numbers[:2]]
    return f"| {name} | {total} | " + " | ".join([*map(str, numbers), *shares]) + " |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.diagnosis", description=__doc__)
    parser.add_argument("assignment", nargs="*", help="default: every assignment")
    parser.add_argument("--tenth", action="store_true", help="a tenth of the mutants")
    chosen = parser.parse_args()
    print(table(chosen.assignment, tenth=chosen.tenth))
