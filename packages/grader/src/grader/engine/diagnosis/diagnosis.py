"""Names the one or two known misconceptions that alone behave exactly like the student's code.

    recorded calls of tests --replayed on--> the reference with a misconception in it --same replies?--> its name

A replay runs only the mutated reference solution, with the student's parameters. Tests that pass are not diagnosed, and
the hints were written for students beforehand.
"""

import hashlib
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import reduce
from itertools import chain, combinations
from typing import Any, TypeVar

import torch
from msgspec.structs import replace

from grader.engine.diagnosis.comparison import is_alike, is_informative
from grader.engine.diagnosis.fingerprints import fingerprint
from grader.engine.diagnosis.misconceptions import KnownMisconceptions, Misconception
from grader.engine.diagnosis.recording import Exchanges, RecordedCall, recorded_sessions
from grader.engine.diagnosis.replay import Replay, adopted
from grader.engine.explanation import KnownMistake
from grader.engine.notebook.plan import Step
from grader.engine.report import Fingerprint, Result, Verdict
from grader.engine.sandbox.server import Answer
from grader.engine.sandbox.shell import execute
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
) -> None:
    """Add to the first failed result of each exercise the misconception that behaves exactly like the student's answer.

    The fingerprint of the behaviour is added as well, with or without a misconception.

    Args:
        steps: all steps of the notebook.
        results: results of tests, by index of the step.
        known: the misconceptions of the notebook.
        exchanges: the tests' recorded messages, by exercise.
        cache: the results of earlier diagnoses. Identical answers were diagnosed before, so their diagnosis is reused.
    """
    failed: dict[str, Result] = {}
    for step in steps:
        result = results.get(step.index)
        if result is not None and result.verdict in (Verdict.FAILED, Verdict.ERROR):
            failed.setdefault(step.exercise, result)
    diagnosis = None
    for exercise, result in failed.items():
        if result.not_written:
            continue
        recorded = exchanges.get(exercise, [])
        digest = _digest(known, exercise, recorded)
        if digest not in cache.fingerprints:
            cache.keep(cache.fingerprints, digest, fingerprint(recorded))
        result.fingerprint = cache.fingerprints[digest]
        if not known.of(exercise):
            continue  # there is no name to find, so our answers need not run here
        if digest in cache.names:
            found = cache.names[digest]
        else:
            diagnosis = diagnosis or Diagnosis(known, cache)
            found = diagnosis.find(exercise, recorded)
            if not diagnosis.is_out_of_time():
                cache.keep(cache.names, digest, found)
        if found:
            mistakes = tuple(KnownMistake(each.name, each.hint) for each in found)
            result.explanation = replace(result.explanation, misconceptions=mistakes)


def _digest(known: KnownMisconceptions, exercise: str, exchanges: Exchanges) -> bytes:
    """Return a digest of all inputs of a diagnosis."""
    digest = hashlib.sha256(repr((known.cells, known.of(exercise), exercise)).encode())
    for message in chain.from_iterable(exchanges):
        # Each message begins with its length, so no separator is needed.
        digest.update(message)
    return digest.digest()


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
        try:
            return self._find(exercise, recorded_sessions(exchanges))
        except Exception:
            return ()  # the sandbox may have sent anything

    def _find(self, exercise: str, sessions: list[list[RecordedCall]]) -> tuple[Misconception, ...]:
        reference = dict(self._known.cells).get(exercise)
        if reference is None:
            return ()
        # The initialisation of parameters is free and counts only if nothing else differs.
        for exactly in (False, True):
            if not exactly and not any(map(is_informative, chain.from_iterable(sessions))):
                continue
            for calls in sessions:
                if not self._answers_alike(exercise, reference, calls, exactly):
                    # The session that differs from the reference also rules out most misconceptions.
                    others = [other for other in sessions if other is not calls]
                    return self._cause(exercise, reference, [calls, *others], exactly)
        return ()

    def _cause(
        self, exercise: str, reference: str, sessions: list[list[RecordedCall]], exactly: bool
    ) -> tuple[Misconception, ...]:
        """Return the only misconception with which the reference answers all calls alike, or the only pair."""
        known = self._known.of(exercise)
        for causes in (((one,) for one in known), combinations(known, 2)):
            found = []
            for cause in causes:
                if self.is_out_of_time():
                    return ()
                # An edit that does not fit the reference, alone or beside the other, is skipped.
                with suppress(GraderError):
                    answer = reduce(lambda text, misconception: misconception.apply(text), cause, reference)
                    if all(self._answers_alike(exercise, answer, calls, exactly) for calls in sessions):
                        found.append(cause)
            if found:
                return found[0] if len(found) == 1 else ()
        return ()

    def _answers_alike(self, exercise: str, answer: str, calls: list[RecordedCall], exactly: bool) -> bool:
        """Return whether this answer replies to every call of a session as the student's code did."""
        replay = None
        digest = hashlib.sha256(self._cells + repr((exercise, answer)).encode())
        for number, call in enumerate(calls):
            digest.update(call.sent)
            key = digest.digest()
            if replay is not None or key not in self._cache.answers:
                # A call that cannot be made on this answer is not answered alike.
                with suppress(Exception):
                    replay = replay or self._replayed(exercise, answer, calls[:number])
                    answered = replay.answer(call)
                    self._cache.keep(self._cache.answers, key, answered, tensors=answered[1])
            reply = self._cache.answers.get(key)
            if reply is None or not is_alike(call, reply, exactly=exactly):
                return False
            if replay is not None:
                replay.adopt(call, reply)
            digest.update(adopted(call))
        return True

    def _replayed(self, exercise: str, answer: str, calls: list[RecordedCall]) -> Replay:
        """Return a new session with this answer, in which these calls have been made."""
        namespace = dict(self._namespace)
        execute(answer, exercise, namespace)
        replay = Replay(namespace)
        for call in calls:
            replay.adopt(call, replay.answer(call))
        return replay
