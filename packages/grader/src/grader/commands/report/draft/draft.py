"""Drafts the entry of a mistake that has no name yet: the smallest edit of the reference that behaves like it.

student's answer --ast_diff--> edits, each alone, all, no more than needed --+
reference --mutants, those closest to the answer first------------------------+--graded--> alike? --> TOML
"""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.commands.prove.matrix import Prover, for_wrong_answers
from grader.commands.prove.mutation import Mutant, mutants, program
from grader.commands.report.canonical import TOKEN, lines_of
from grader.commands.report.draft.ast_diff import Edit, applied, changed_lines, differences
from grader.commands.report.draft.misconception_toml import as_misconception, as_toml, change
from grader.commands.report.mistakes import without_details
from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.notebook.outline import Outline
from grader.engine.report import Report, Verdict
from grader.text import printable

if TYPE_CHECKING:
    from nbformat import NotebookNode

MAX_SECONDS = 60.0
"""Seconds, about, that a search may take."""
MAX_INSIDE = 12
"""Mutants that are tried in the place of an edit that behaves alike already."""


@dataclass(frozen=True)
class Draft:
    """A draft of a mistake.

    `toml` is an entry for source/NN-name/misconceptions/EXERCISE.toml with `misconception` in it. If no edit behaves
    like the answer, the misconception is None, and the text shows the answer in a comment. `tried` edits were graded.
    """

    misconception: Misconception | None
    toml: str
    tried: int


def draft(
    reference: str,
    exercise: str,
    answer: str,
    behaves_alike: Callable[[str], bool],
    seconds: float = MAX_SECONDS,
) -> Draft | None:
    """Return a draft of the mistake in an answer; None if the reference behaves alike, for then there is no mistake.

    Args:
        reference: the reference solution.
        exercise: the exercise.
        answer: a student's wrong answer.
        behaves_alike: tells whether another answer behaves like this one, which takes a while.
        seconds: how long to search. A grading that has begun by then is finished.
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
    """Looks for texts that behave like an answer, until the time is over."""

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
                # An edit inside it may do as well, if the student wrote something else differently, too.
                lines = changed_lines(self.reference, [edit])
                inside = [each for each in self._closest() if each.line in lines and self._size(each.text) < edit.size]
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
        """Those edits that together behave alike, and not without any of them; none if not even all do."""
        if len(edits) < 2 or not self._is_alike(applied(self.reference, edits)):
            return []
        needed = list(edits)
        for edit in reversed(edits):
            fewer = [each for each in needed if each is not edit]
            if len(fewer) > 1 and self._is_alike(applied(self.reference, fewer)):
                needed = fewer
        return needed

    def _alike(self, found: "Iterator[Mutant] | Sequence[Mutant]") -> Iterator[str]:
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
        """The mutants of the reference, in the order of how much of the answer's text they lack, or have beyond it."""
        wanted = Counter(TOKEN.findall(applied(self.reference, differences(self.reference, self.answer))))

        def distance(mutant: Mutant) -> int:
            tokens = Counter(TOKEN.findall(mutant.text))
            return ((wanted - tokens) + (tokens - wanted)).total()

        return sorted(mutants(self.reference), key=distance)

    def _size(self, text: str) -> int:
        return change(self.reference, text).size


def behaves_like(
    source: "NotebookNode", exercise: str, answer: str, prover: Prover | None = None
) -> Callable[[str], bool]:
    """Return a function that grades an answer and tells whether it behaves like another one in every test.

    Args:
        source: the instructor's notebook.
        exercise: the exercise.
        answer: the answer to behave like.
        prover: how to grade; as usual if it is None.

    Raises:
        SandboxUnavailable: the kernel cannot confine student code.
    """
    cut, prover = Outline(source).alone(exercise), prover or Prover()

    def graded(text: str) -> Report:
        return prover.report(cut, exercise, text, for_wrong_answers(prover.limits), [])

    wanted = graded(answer)
    return lambda text: _behave_alike(graded(text), wanted)


def _behave_alike(one: Report, other: Report) -> bool:
    """Whether two reports are of the same behaviour: all passed, or the fingerprints are alike."""
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
    # With other parameters, numbers differ for that reason alone.
    return mine.is_like(theirs) if mine.drawn == theirs.drawn else mine.structure == theirs.structure
