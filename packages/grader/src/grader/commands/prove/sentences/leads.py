"""Judges which answers get which sentences: a sentence that names a cause may come only for what it means.

rows with the messages of their tests, sentences of the tests, ties --> Leads: untied, false, dead, stale, ...
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from grader.commands.prove.sentences.assertions import Sentence, said
from grader.engine.diagnosis.misconceptions import Tie

if TYPE_CHECKING:
    from grader.commands.prove.matrix import AnswerRow


class Lead(msgspec.Struct):
    """A sentence that an answer gets from a test; `edit` is the answer's difference from the reference."""

    test: str
    sentence: str
    kind: str
    name: str
    edit: str


class Untied(msgspec.Struct):
    """A sentence that names a cause and is not tied, the tests that say it, and the known mistakes that get it.

    `mutants` are the edits of the mutants that get it.
    """

    sentence: str
    tests: list[str]
    mistakes: list[str]
    mutants: list[str]


class Leads(msgspec.Struct):
    """The verdict on the sentences that the answers to an exercise get.

    Args:
        causes: the number of sentences that name a cause.
        always: the number of those that are recorded as true for everyone who gets them.
        untied: those that no entry ties.
        false: leads to known mistakes that their sentences do not mean, and whatever a right answer gets.
        vague: leads to mutants that behave in these tests like no mistake that the sentence means.
        dead: sentences that no known mistake and no mutant gets, without a recorded reason.
        stale: what entries say and the rows do not show, one sentence each.
        misnamed: known mistakes that the diagnosis takes for others, each with the names that it gives.
    """

    causes: int
    always: int
    untied: list[Untied]
    false: list[Lead]
    vague: list[Lead]
    dead: list[str]
    stale: list[str]
    misnamed: dict[str, list[str]]

    def are_true(self) -> bool:
        """Return True if nothing is left to mend."""
        return not (self.untied or self.false or self.dead or self.stale or self.misnamed)


def leads(
    known: Sequence[Sentence],
    own: Sequence[Tie],
    common: Sequence[Tie],
    rows: Sequence["AnswerRow"],
    *,
    is_sample: bool,
) -> Leads:
    """Return what follows from the messages of the rows of an exercise.

    Args:
        known: the sentences of the exercise's tests.
        own: the exercise's ties; of two that fit a sentence, the first counts.
        common: the ties of all exercises, for the other sentences.
        rows: the rows, graded.
        is_sample: whether only some rows were graded. Then nothing is dead or stale, and mutants are not judged.
    """
    judge = _Judge(known, [*own, *common], [row for row in rows if not row.is_undecided])
    found = Leads(len(judge.causes), judge.always(), judge.untied(), judge.false(), [], [], [], judge.misnamed())
    if not is_sample:
        found.vague, found.dead, found.stale = judge.vague(), judge.dead(), judge.stale(own)
    return found


class _Judge:
    """The rows of an exercise by kind, and the sentences that each gets."""

    def __init__(self, known: Sequence[Sentence], ties: Sequence[Tie], rows: Sequence["AnswerRow"]) -> None:
        self._known = known
        self._ties = {each.text: next((tie for tie in ties if tie.says in each.text), None) for each in known}
        self._of = {kind: [row for row in rows if row.kind == kind] for kind in ("right answer", "mistake", "mutant")}
        self._got = {id(row): _got(known, row) for row in rows}
        self.causes = list(dict.fromkeys(each.text for each in known if each.names_cause or self._ties[each.text]))

    def always(self) -> int:
        ties = (self._ties[text] for text in self.causes)
        return sum(bool(tie and tie.always) for tie in ties)

    def untied(self) -> list[Untied]:
        found = []
        for text in self.causes:
            if self._ties[text] is None:
                tests = sorted({each.test for each in self._known if each.text == text})
                edits = [row.edit for row in self._getting(text, "mutant")]
                found.append(Untied(text, tests, [row.name for row in self._getting(text, "mistake")], edits))
        return found

    def false(self) -> list[Lead]:
        found = [
            Lead(test, message, row.kind, row.name, "")
            for row in self._of["right answer"] for test, message in row.messages.items()
        ]  # fmt: skip
        for row in self._of["mistake"]:
            for sentence in self._got[id(row)]:
                tie = self._ties[sentence.text]
                if tie is not None and tie.means and row.name not in tie.means:
                    found.append(_lead(sentence, row))
        return found

    def vague(self) -> list[Lead]:
        behaviour = {row.name: row.messages for row in self._of["mistake"]}
        return [
            _lead(sentence, row)
            for row in self._of["mutant"]
            for sentence in self._got[id(row)]
            if (tie := self._ties[sentence.text]) is not None
            and tie.means
            and not tie.mutants
            and not any(behaviour.get(name) == row.messages for name in tie.means)
        ]

    def dead(self) -> list[str]:
        return [
            text
            for text in self.causes
            if (tie := self._ties[text]) is not None and tie.means and not self._getting(text, "mistake", "mutant")
        ]

    def stale(self, own: Sequence[Tie]) -> list[str]:
        """Return what the exercise's own entries say and the rows do not show."""
        found = []
        for tie in own:
            texts = [text for text, its in self._ties.items() if its is tie]
            getting = {row.name for text in texts for row in self._getting(text, "mistake", "mutant")}
            if not texts:
                found.append(f"no sentence of the tests that another entry does not tie says {tie.says!r}")
            elif tie.dead and getting:
                found.append(f"{tie.says!r} is not dead: {sorted(getting)[0]!r} gets it")
            found += [f"{name!r} does not get {tie.says!r}" for name in tie.means if texts and name not in getting]
        return found

    def misnamed(self) -> dict[str, list[str]]:
        return {row.name: row.named for row in self._of["mistake"] if row.named and row.named != [row.name]}

    def _getting(self, text: str, *kinds: str) -> list["AnswerRow"]:
        """Return the rows of some kinds that get a sentence."""
        rows = (row for kind in kinds for row in self._of[kind])
        return [row for row in rows if any(each.text == text for each in self._got[id(row)])]


def _got(known: Sequence[Sentence], row: "AnswerRow") -> list[Sentence]:
    return [sentence for test, message in row.messages.items() for sentence in said(known, test, message)]


def _lead(sentence: Sentence, row: "AnswerRow") -> Lead:
    return Lead(sentence.test, sentence.text, row.kind, row.name, row.edit)
