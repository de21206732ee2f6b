"""Drafts the entry of a mistake without a name: the smallest edit of the reference that behaves like it.

student's answer --ast_diff--> edits, each alone, all, no more than needed --+
reference --mutants, those closest to the answer first-----------------------+--graded--> alike? --> TOML
"""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.commands.prove.mutation import Mutant, mutants, program
from grader.commands.prove.prover import Prover, for_wrong_answers
from grader.commands.report.canonical import TOKEN, lines_of
from grader.commands.report.draft.ast_diff import Edit, applied, differences
from grader.commands.report.draft.misconception_toml import as_misconception, as_toml, change
from grader.commands.report.mistakes import without_details
from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.notebook.outline import Outline
from grader.engine.report import Report, Verdict
from grader.errors import GraderError
from grader.text import printable

if TYPE_CHECKING:
    from nbformat import NotebookNode

MAX_SECONDS = 60.0
"""Approximate limit of a search in seconds."""
MAX_INSIDE = 12
"""Mutants that are tried inside an edit that already behaves alike."""


@dataclass(frozen=True)
class Draft:
    """A draft of a mistake.

    `toml` is an entry for source/NN-name/misconceptions/EXERCISE.toml with `misconception` in it. If no edit behaves
    like the answer, the misconception is None, and `toml` shows the answer in a comment. `tried` edits were graded.
    """

    misconception: Misconception | None
    toml: str
    tried: int


def known_mistake(
    reference: str, known: Iterable[Misconception], behaves_alike: Callable[[str], bool]
) -> Misconception | None:
    """Return the first known misconception of an exercise that a wrong answer behaves like, or None.

    Args:
        reference: the reference solution.
        known: the known misconceptions of the exercise.
        behaves_alike: as in `draft`.
    """
    for each in known:
        with suppress(GraderError):  # an edit that does not fit the reference
            if behaves_alike(each.apply(reference)):
                return each
    return None


def draft(
    reference: str, exercise: str, answer: str, behaves_alike: Callable[[str], bool], seconds: float = MAX_SECONDS
) -> Draft | None:
    """Return a draft of the mistake in an answer, or None if the reference behaves alike.

    Args:
        reference: the reference solution.
        exercise: the exercise.
        answer: a student's wrong answer.
        behaves_alike: returns True if a given text behaves like this answer; it may be slow.
        seconds: the limit of the search. A grading that has begun by then is finished.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of odd code when it parses
        if behaves_alike(reference):
            return None
        search = _Search(reference, answer, behaves_alike, time.monotonic() + seconds)
        for candidate in search.candidates():
            found = as_misconception(reference, candidate, exercise)
            if found is not None:
                return Draft(found, as_toml(found), search.tried)
    lines = [
        f"No edit of the reference solution of {exercise} was found that behaves like this answer:",
        *map(printable, lines_of(answer)),
    ]
    return Draft(None, "".join(f"# {line}".rstrip() + "\n" for line in lines), search.tried)


@dataclass
class _Search:
    """Searches for texts that behave like an answer until the time is up."""

    reference: str
    answer: str
    behaves_alike: Callable[[str], bool]
    end: float
    tried: int = 0
    _seen: set[str | None] = field(default_factory=set)

    def candidates(self) -> Iterator[str]:
        """Yield the texts that behave alike, the best one first."""
        edits = sorted(differences(self.reference, self.answer), key=lambda edit: edit.size)
        for edit in edits:
            if self._is_alike(text := applied(self.reference, [edit])):
                # A smaller edit inside it may suffice if the rest is only a difference in style.
                first, last = (self.reference.count("\n", 0, end) + 1 for end in (edit.start, edit.end))
                inside = [
                    each for each in self._closest() if first <= each.line <= last and self._size(each.text) < edit.size
                ]
                yield from self._alike(inside[:MAX_INSIDE])
                yield text
                return
        needed = self._needed(edits)
        text = applied(self.reference, needed)
        yield from self._alike(
            each for each in self._closest() if not needed or self._size(each.text) < self._size(text)
        )
        if needed:
            yield text

    def _needed(self, edits: Sequence[Edit]) -> list[Edit]:
        """A minimal set of edits that behave alike together; empty if even all of them do not."""
        if len(edits) < 2 or not self._is_alike(applied(self.reference, edits)):
            return []
        needed = list(edits)
        for edit in reversed(edits):
            fewer = [each for each in needed if each is not edit]
            if len(fewer) > 1 and self._is_alike(applied(self.reference, fewer)):
                needed = fewer
        return needed

    def _alike(self, found: Iterable[Mutant]) -> Iterator[str]:
        """Yield the first mutant that behaves alike."""
        for each in found:
            if time.monotonic() > self.end:
                return
            if self._is_alike(each.text):
                yield each.text
                return

    def _is_alike(self, text: str) -> bool:
        meant = program(text)
        if meant is None or meant in self._seen or time.monotonic() > self.end:
            return False
        self._seen.add(meant)
        self.tried += 1
        return self.behaves_alike(text)

    def _closest(self) -> list[Mutant]:
        """The mutants of the reference, by the number of tokens in which they differ from the answer."""
        wanted = Counter(TOKEN.findall(applied(self.reference, differences(self.reference, self.answer))))

        def distance(mutant: Mutant) -> int:
            tokens = Counter(TOKEN.findall(mutant.text))
            return ((wanted - tokens) + (tokens - wanted)).total()

        return sorted(mutants(self.reference), key=distance)

    def _size(self, text: str) -> int:
        return change(self.reference, text).size


def behaves_like(source: "NotebookNode", exercise: str, answer: str, prover: Prover) -> Callable[[str], bool]:
    """Return a function that grades a text and returns True if it behaves like an answer in every test.

    Args:
        source: the instructor's notebook.
        exercise: the exercise.
        answer: the answer to behave like.
        prover: how to grade.

    Raises:
        SandboxUnavailable: the kernel cannot confine student code.
    """
    cut = Outline(source).alone(exercise)

    def graded(text: str) -> Report:
        return prover.report(cut, exercise, text, for_wrong_answers(prover.limits), [])

    wanted = graded(answer)
    return lambda text: _behave_alike(graded(text), wanted)


def _behave_alike(one: Report, other: Report) -> bool:
    """True if two reports show the same behaviour: everything passed, or the fingerprints match."""
    ends = [
        [(each.name, each.verdict, each.points, without_details(each.explanation)) for each in report.results]
        for report in (one, other)
    ]
    if ends[0] != ends[1]:
        return False
    prints = [[each.fingerprint for each in report.results if each.fingerprint is not None] for report in (one, other)]
    if not all(prints):
        return all(result.verdict is Verdict.PASSED for result in one.results)
    mine, theirs = prints[0][0], prints[1][0]
    # Different random parameters alone change the numbers.
    return mine.is_like(theirs) if mine.drawn == theirs.drawn else mine.structure == theirs.structure
