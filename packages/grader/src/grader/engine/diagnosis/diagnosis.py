"""Names the known misconception, or the two, that behave exactly as the student's code did, if no other cause does.

    recorded calls of tests --replayed on--> the reference with one misconception in it --same replies?--> its name

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

from grader.engine.diagnosis.fingerprints import fingerprint
from grader.engine.diagnosis.likeness import is_alike, is_telling
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
"""CPU seconds for the diagnoses of one notebook; after that no further misconception is looked for."""
MAX_REMEMBERED = 32 * 2**20
"""Bytes, about, that a cache may hold. When it is full, it starts again empty."""
ENTRY_BYTES = 2_000
"""Bytes, about, of an entry without its tensors."""

T = TypeVar("T")


class DiagnosisCache:
    """The results of earlier diagnoses: most tests ask all students the same, and many share a misconception."""

    def __init__(self) -> None:
        self.names: dict[bytes, tuple[Misconception, ...]] = {}
        """The misconceptions found, by a digest of all that the diagnosis depends on."""
        self.fingerprints: dict[bytes, Fingerprint | None] = {}
        """The fingerprints of behaviours, by the same digest."""
        self.answers: dict[bytes, Answer] = {}
        """The answers of mutated references to calls, by such a digest, too."""
        self._bytes = 0

    def keep(self, table: dict[bytes, T], digest: bytes, value: T, tensors: Iterable[torch.Tensor] = ()) -> None:
        """Remember a value.

        Args:
            table: one of the tables above.
            digest: a digest of all that the value depends on.
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
    """A digest of all that a diagnosis depends on."""
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
            # A read-only cell that needs the student's code fails here, and is not needed to compare answers.
            with suppress(Exception):
                execute(source, name, self._namespace)

    def is_out_of_time(self) -> bool:
        """Return whether the time is over, after which `find` gives up."""
        return time.process_time() > self._end

    def find(self, exercise: str, exchanges: Exchanges) -> tuple[Misconception, ...]:
        """Return the misconception, or the two at once, that answer all recorded calls as the student's code did.

        Nothing is returned where several causes predict the same, because the calls do not tell which one it is.

        Args:
            exercise: the exercise.
            exchanges: the recorded messages of its tests.
        """
        try:
            return self._find(exercise, recorded_sessions(exchanges))
        except Exception:
            return ()  # the sandbox may have answered anything

    def _find(self, exercise: str, sessions: list[list[RecordedCall]]) -> tuple[Misconception, ...]:
        reference = dict(self._known.cells).get(exercise)
        if reference is None:
            return ()
        # How parameters are drawn is free, and counts only where nothing else differs.
        for exactly in (False, True):
            if not exactly and not any(map(is_telling, chain.from_iterable(sessions))):
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
        """The only misconception with which the reference answers all calls alike; or else the only two."""
        known = self._known.of(exercise)
        for causes in (((one,) for one in known), combinations(known, 2)):
            found = []
            for cause in causes:
                if self.is_out_of_time():
                    return ()
                # An edit that no longer fits the reference, or not beside another one, is skipped.
                with suppress(GraderError):
                    answer = reduce(lambda text, misconception: misconception.apply(text), cause, reference)
                    if all(self._answers_alike(exercise, answer, calls, exactly) for calls in sessions):
                        found.append(cause)
            if found:
                return found[0] if len(found) == 1 else ()
        return ()

    def _answers_alike(self, exercise: str, answer: str, calls: list[RecordedCall], exactly: bool) -> bool:
        """Whether the exercise with this answer gives the same reply to every call of a session as the student's."""
        replay = None
        digest = hashlib.sha256(self._cells + repr((exercise, answer)).encode())
        for number, call in enumerate(calls):
            digest.update(call.sent)
            key = digest.digest()
            if replay is not None or key not in self._cache.answers:
                # If the call cannot even be made on this answer, it is not answered alike.
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
        """A new session with this answer, in which these calls have been made."""
        namespace = dict(self._namespace)
        execute(answer, exercise, namespace)
        replay = Replay(namespace)
        for call in calls:
            replay.adopt(call, replay.answer(call))
        return replay
