"""Names the one or two known misconceptions that alone behave exactly like the student's code.

    recorded calls of tests --replayed on--> the reference with a misconception in it --same replies?--> its name

A replay runs only the mutated reference solution, with the student's parameters. Tests that pass are not diagnosed, and
the hints were written for students beforehand.
"""

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain, combinations
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from grader.engine.diagnosis.comparison import draws, is_alike, is_informative, is_same
from grader.engine.diagnosis.fingerprints import fingerprint
from grader.engine.diagnosis.misconceptions import KnownMisconceptions, Misconception, apply_all
from grader.engine.diagnosis.recording import Exchanges, RecordedCall, recorded_sessions
from grader.engine.diagnosis.replay import Replay, adopted
from grader.engine.explanation import KnownMistake
from grader.engine.notebook.plan import Step
from grader.engine.report import Fingerprint, Result, Verdict
from grader.engine.sandbox.server import Answer
from grader.engine.sandbox.shell import execute
from grader.engine.torch_if_used import torch
from grader.errors import GraderError

MAX_SECONDS = 2.0
"""CPU seconds for the diagnoses of one notebook; then the search ends."""
MAX_REMEMBERED = 32 * 2**20
"""Approximate bytes that a cache may hold. A full cache is emptied."""
ENTRY_BYTES = 2_000
"""Approximate bytes of an entry without its tensors."""

T = TypeVar("T")


class DiagnosisCache:
    """The results of earlier diagnoses: most tests make the same calls for all students, who share misconceptions."""

    def __init__(self) -> None:
        self.names: dict[bytes, tuple[Misconception, ...]] = {}
        """The misconceptions found, by a digest of all inputs of the diagnosis."""
        self.fingerprints: dict[bytes, Fingerprint | None] = {}
        """The fingerprints of behaviours, by the same digest."""
        self.answers: dict[bytes, Answer] = {}
        """The answers of mutated references to calls, by a digest of their inputs."""
        self._bytes = 0

    def keep(self, table: dict[bytes, T], digest: bytes, value: T, tensors: Iterable[torch.Tensor] = ()) -> None:
        """Remember a value.

        Args:
            table: one of the tables above.
            digest: a digest of all its inputs.
            value: the value.
            tensors: the tensors in it.
        """
        self._bytes += ENTRY_BYTES + sum(tensor.nbytes for tensor in tensors)
        if self._bytes > MAX_REMEMBERED:
            self._bytes = 0
            for full in (self.names, self.fingerprints, self.answers):
                full.clear()
        table[digest] = value


def name_misconceptions(
    steps: list[Step],
    results: dict[int, Result],
    known: KnownMisconceptions,
    exchanges: dict[str, Exchanges],
    cache: DiagnosisCache,
    judged_again: Collection[str] = (),
) -> None:
    """Add to the first failed result of each exercise the misconception that behaves exactly like the student's answer.

    The fingerprint of the behaviour is added as well, with or without a misconception.

    Args:
        steps: all steps of the notebook.
        results: results of tests, by index of the step.
        known: the misconceptions of the notebook.
        exchanges: the tests' recorded messages, by exercise.
        cache: the results of earlier diagnoses. Identical answers were diagnosed before, so their diagnosis is reused.
        judged_again: the exercises whose messages come from a run with our answers to earlier ones. What stopped their
            tests before, such as an endless loop in an earlier answer, is not in these messages.
    """
    failed: dict[str, Result] = {}
    for step in steps:
        result = results.get(step.index)
        if result is None or result.points >= result.max_points:
            continue
        if result.verdict in (Verdict.FAILED, Verdict.ERROR) or step.exercise in judged_again:
            failed.setdefault(step.exercise, result)
    digests: dict[str, bytes] = {}
    for exercise, result in failed.items():
        if result.not_written and exercise not in judged_again:
            continue
        recorded = exchanges.get(exercise, [])
        digest = _digest(known, exercise, recorded)
        if digest not in cache.fingerprints:
            cache.keep(cache.fingerprints, digest, fingerprint(recorded))
        result.fingerprint = cache.fingerprints[digest]
        if result.fingerprint is not None and known.of(exercise):
            digests[exercise] = digest  # otherwise there is no name to find, so our answers need not run here
    causes = {exercise: cache.names[digest] for exercise, digest in digests.items() if digest in cache.names}
    if new := {exercise: exchanges[exercise] for exercise in digests if exercise not in causes}:
        for exercise, found in Diagnosis(known, cache).find_all(new).items():
            cache.keep(cache.names, digests[exercise], found)
            causes[exercise] = found
    for exercise, found in causes.items():
        if found:
            mistakes = tuple(KnownMistake(each.name, each.hint) for each in found)
            failed[exercise].explanation = replace(failed[exercise].explanation, misconceptions=mistakes)


def _digest(known: KnownMisconceptions, exercise: str, exchanges: Exchanges) -> bytes:
    """Return a digest of all inputs of a diagnosis."""
    digest = hashlib.sha256(repr((known.cells, known.of(exercise), exercise)).encode())
    for message in chain.from_iterable(exchanges):
        # Each message begins with its length, so no separator is needed.
        digest.update(message)
    return digest.digest()


class _Difference(NamedTuple):
    """Our answer, the recorded calls with the session that differs from it first, and whether numbers count exactly."""

    reference: str
    sessions: list[list[RecordedCall]]
    exactly: bool


class Diagnosis:
    """Compares recorded calls with known misconceptions, for at most MAX_SECONDS.

    Args:
        known: the misconceptions of the notebook.
        cache: the results of earlier diagnoses.
    """

    def __init__(self, known: KnownMisconceptions, cache: DiagnosisCache) -> None:
        self._known = known
        self._cache = cache
        self._end = time.process_time() + MAX_SECONDS
        self._cells = hashlib.sha256(repr(known.cells).encode()).digest()
        self._namespace: dict[str, Any] = {"__name__": "__main__"}
        for name, source in known.cells:
            # A read-only cell that needs the student's code fails here; the comparison does not need it.
            with suppress(Exception):
                execute(source, name, self._namespace)

    def is_out_of_time(self) -> bool:
        """Return whether the time is over, after which `find` gives up."""
        return time.process_time() > self._end

    def find(self, exercise: str, exchanges: Exchanges) -> tuple[Misconception, ...]:
        """Return the misconception, or the two at once, that answer all recorded calls as the student's code did.

        Nothing is returned where several causes fit, because the calls cannot tell them apart.

        Args:
            exercise: the exercise.
            exchanges: the recorded messages of its tests.
        """
        return self.find_all({exercise: exchanges}).get(exercise, ())

    def find_all(self, exchanges: dict[str, Exchanges]) -> dict[str, tuple[Misconception, ...]]:
        """Return what `find` returns for each of several exercises, without those for which the time did not suffice.

        Args:
            exchanges: the recorded messages of the tests, by exercise.
        """
        found: dict[str, tuple[Misconception, ...]] = {}
        differences: dict[str, _Difference] = {}
        for exercise, recorded in exchanges.items():
            difference = None
            with suppress(Exception):  # the sandbox may have sent anything
                difference = self._difference(exercise, recorded_sessions(recorded))
            if self.is_out_of_time():
                return found
            if difference is None:
                found[exercise] = ()
            else:
                differences[exercise] = difference
        # One mistake is more likely than two, so the single ones of all exercises come before the pairs of the first.
        for count in (1, 2):
            for exercise in [each for each in differences if each not in found]:
                cause: tuple[Misconception, ...] | None = ()
                with suppress(Exception):
                    cause = self._cause(exercise, differences[exercise], count)
                if self.is_out_of_time():
                    return found
                if cause is not None or count == 2:
                    found[exercise] = cause or ()
        return found

    def _difference(self, exercise: str, sessions: list[list[RecordedCall]]) -> _Difference | None:
        """Return how the student's code differs from our answer; None if it does not, or if there is no answer."""
        reference = dict(self._known.cells).get(exercise)
        if reference is None:
            return None
        # The initialisation of parameters is free and counts only if nothing else differs.
        for exactly in (False, True):
            if not exactly and not any(map(is_informative, chain.from_iterable(sessions))):
                continue
            for calls in sessions:
                if not self._answers_alike(exercise, reference, calls, exactly):
                    # The session that differs from the reference also rules out most misconceptions.
                    others = [other for other in sessions if other is not calls]
                    return _Difference(reference, [calls, *others], exactly)
        return None

    def _cause(self, exercise: str, difference: _Difference, count: int) -> tuple[Misconception, ...] | None:
        """Return the only cause of `count` misconceptions with which our answer answers all calls alike.

        Returns:
            () if there are several, or if the only one does not show; None if there is none.
        """
        reference, sessions, exactly = difference
        found = []
        for cause in combinations(self._known.of(exercise), count):
            if self.is_out_of_time():
                return None
            # An edit that does not fit the reference, or is in the text of the other one, is skipped.
            with suppress(GraderError):
                answer = apply_all(cause, reference)
                if all(self._answers_alike(exercise, answer, calls, exactly) for calls in sessions):
                    found.append(cause)
        if not found:
            return None
        is_shown = len(found) == 1 and self._shows(exercise, reference, found[0], sessions, exactly)
        return found[0] if is_shown else ()

    def _shows(
        self,
        exercise: str,
        reference: str,
        cause: tuple[Misconception, ...],
        sessions: list[list[RecordedCall]],
        exactly: bool,
    ) -> bool:
        """Return whether the student's calls show each misconception of a cause that fits them all.

        One half of a pair may only undo what the other does, or fit by chance. So each of them alone must change an
        answer, and none that the student's code gave as the reference does. A misconception that throws dice is not
        shown where neither the student's code nor the reference throws any.
        """
        texts = [one.apply(reference) for one in cause]
        changes = [len(cause) == 1] * len(cause)
        for calls in sessions:
            alone = [self._answers(exercise, text, calls) for text in (reference, *texts)]
            for call, right, *others in zip(calls, *alone, strict=True):
                is_right = right is not None and is_alike(call, right, exactly=exactly)
                for number, other in enumerate(others):
                    if other and draws(other[0]) and not draws(call.reply) and right and not draws(right[0]):
                        return False
                    if len(cause) > 1 and not _is_same(right, other, exactly):
                        if is_right:
                            return False
                        changes[number] = True
        return all(changes)

    def _answers_alike(self, exercise: str, answer: str, calls: list[RecordedCall], exactly: bool) -> bool:
        """Return whether this answer replies to every call of a session as the student's code did."""
        replies = self._answers(exercise, answer, calls)
        pairs = zip(calls, replies, strict=True)
        return all(reply is not None and is_alike(call, reply, exactly=exactly) for call, reply in pairs)

    def _answers(self, exercise: str, answer: str, calls: list[RecordedCall]) -> Iterator[Answer | None]:
        """Yield what this answer replies to each call of a session; None from the first that cannot be made on it."""
        replay = None
        digest = hashlib.sha256(self._cells + repr((exercise, answer)).encode())
        for number, call in enumerate(calls):
            digest.update(call.sent)
            key = digest.digest()
            if replay is not None or key not in self._cache.answers:
                with suppress(Exception):
                    replay = replay or self._replayed(exercise, answer, calls[:number])
                    answered = replay.answer(call)
                    self._cache.keep(self._cache.answers, key, answered, tensors=answered[1])
            reply = self._cache.answers.get(key)
            if reply is None:
                yield from [None] * (len(calls) - number)
                return
            yield reply
            try:
                if replay is not None:
                    replay.adopt(call, reply)
                digest.update(adopted(call))
            except Exception:  # an answer of another kind than the student's has no objects to adopt
                yield from [None] * (len(calls) - number - 1)
                return

    def _replayed(self, exercise: str, answer: str, calls: list[RecordedCall]) -> Replay:
        """Return a new session with this answer, in which these calls have been made."""
        namespace = dict(self._namespace)
        execute(answer, exercise, namespace)
        replay = Replay(namespace)
        for call in calls:
            replay.adopt(call, replay.answer(call))
        return replay


def _is_same(left: Answer | None, right: Answer | None, exactly: bool) -> bool:
    """Return whether two answers are alike; nothing is known of two that could not be given."""
    return left is right if left is None or right is None else is_same(left, right, exactly=exactly)
