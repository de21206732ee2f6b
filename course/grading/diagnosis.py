"""Names the mistake: which known misconception behaves exactly as the student's code did?

    calls of the tests and their answers --replayed on--> our reference with one mistake made --the same?--> its name

What answers is our own mutated reference, with the student's parameters. Right answers are never replayed, and what is
said was written for students beforehand.
"""

import hashlib
import time
from contextlib import suppress
from itertools import chain
from typing import Any

from course.errors import CourseError
from course.grading.calls import Exchange, conversations
from course.grading.cells import execute
from course.grading.conversation import Memory
from course.grading.messages import NOT_WRITTEN
from course.grading.plan import Step
from course.grading.recorder import Exchanges
from course.grading.replay import Replay, adopted, is_alike, is_telling
from course.grading.report import Result, Verdict
from course.grading.suspects import Suspects
from course.misconceptions import Misconception

MAX_SECONDS = 2.0
"""What finding a name may take in one notebook; after that nobody is told one."""


def name_mistakes(
    steps: list[Step], results: dict[int, Result], known: Suspects, exchanges: dict[str, Exchanges], memory: Memory
) -> None:
    """Tells a student whose exercise failed which known mistake behaves exactly like it.

    `exchanges` are the tests' by exercise. Who answers as somebody before makes the same mistake.
    """
    failed: dict[str, Result] = {}
    for step in steps:
        result = results.get(step.index)
        if result is not None and result.verdict in (Verdict.FAILED, Verdict.ERROR):
            failed.setdefault(step.exercise, result)
    diagnosis = None
    for exercise, result in failed.items():
        if result.message.startswith(NOT_WRITTEN):
            continue
        said = exchanges.get(exercise, [])
        digest = _digest(known, exercise, said)
        if digest in memory.names:
            mistake = memory.names[digest]
        else:
            diagnosis = diagnosis or Diagnosis(known, memory)
            mistake = diagnosis.find(exercise, said)
            if not diagnosis.is_out_of_time():
                memory.name(digest, mistake)
        if mistake is not None:
            result.message += f" Your code behaves exactly like one that {mistake.name}. {mistake.say}"


def _digest(known: Suspects, exercise: str, exchanges: Exchanges) -> bytes:
    """What names all that a diagnosis depends on."""
    mistakes = [mistake for mistake in known.mistakes if mistake.exercise == exercise]
    digest = hashlib.sha256(repr((known.cells, mistakes, exercise)).encode())
    for message in chain.from_iterable(exchanges):
        # Each begins with its length.
        digest.update(message)
    return digest.digest()


class Diagnosis:
    """Compares recorded calls with known mistakes, for at most MAX_SECONDS.

    `memory` keeps what each mistake answered: most students are asked the same, and answer alike for long.
    """

    def __init__(self, known: Suspects, memory: Memory) -> None:
        self._known = known
        self._memory = memory
        self._end = time.process_time() + MAX_SECONDS
        self._cells = hashlib.sha256(repr(known.cells).encode()).digest()
        self._namespace: dict[str, Any] = {"__name__": "__main__"}
        for name, source in known.cells:
            # A helper of ours that wants what only a student's notebook has is not needed to compare answers.
            with suppress(Exception):
                execute(source, name, self._namespace)

    def is_out_of_time(self) -> bool:
        """Whether it gave up."""
        return time.process_time() > self._end

    def find(self, exercise: str, exchanges: Exchanges) -> Misconception | None:
        """The mistake of `exercise` that answers every recorded call as the student's code did, or None."""
        try:
            return self._find(exercise, conversations(exchanges))
        except Exception:
            return None  # the candidate answers what it likes

    def _find(self, exercise: str, talks: list[list[Exchange]]) -> Misconception | None:
        reference = dict(self._known.cells).get(exercise)
        if reference is None or not any(map(is_telling, chain.from_iterable(talks))):
            return None
        other = next((talk for talk in talks if not self._answers_alike(exercise, reference, talk)), None)
        if other is None:
            return None
        # The conversation that told the student's code from the reference tells most mistakes from it too.
        talks = [other, *(talk for talk in talks if talk is not other)]
        for mistake in self._known.mistakes:
            if self.is_out_of_time():
                return None
            # An edit that does not fit the reference any more names nobody.
            with suppress(CourseError):
                if mistake.exercise == exercise:
                    answer = mistake.applied_to(reference)
                    if all(self._answers_alike(exercise, answer, talk) for talk in talks):
                        return mistake
        return None

    def _answers_alike(self, exercise: str, answer: str, talk: list[Exchange]) -> bool:
        """Whether the exercise, with this answer, answers every call of a conversation as it was answered."""
        replay = None
        digest = hashlib.sha256(self._cells + repr((exercise, answer)).encode())
        for number, exchange in enumerate(talk):
            digest.update(exchange.said)
            key = digest.digest()
            if replay is not None or key not in self._memory.answers:
                # A call that our code cannot even be asked is one that it does not answer alike.
                with suppress(Exception):
                    replay = replay or self._replayed(exercise, answer, talk[:number])
                    self._memory.answer(key, replay.answer(exchange))
            ours = self._memory.answers.get(key)
            if ours is None or not is_alike(exchange, ours):
                return False
            if replay is not None:
                replay.adopt(exchange, ours)
            digest.update(adopted(exchange))
        return True

    def _replayed(self, exercise: str, answer: str, talk: list[Exchange]) -> Replay:
        """A conversation with the exercise that has gone so far."""
        namespace = dict(self._namespace)
        execute(answer, exercise, namespace)
        replay = Replay(namespace)
        for exchange in talk:
            replay.adopt(exchange, replay.answer(exchange))
        return replay
