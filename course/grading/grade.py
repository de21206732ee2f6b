"""The one place where grading happens: two notebooks in, a report out."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import send_handle
from typing import Any

from nbformat import NotebookNode

from course.grading import confinement, processes
from course.grading.clock import SLOWEST
from course.grading.examiners import Examiner, examining
from course.grading.limits import Limits
from course.grading.plan import Role, Step, plan
from course.grading.repair import Repaired, repair
from course.grading.report import GIVEN_UP, Report, Result, Verdict, shown
from course.grading.scratch import MAX_ENTRIES, Scratch
from course.grading.suspects import suspects
from course.misconceptions import Misconception

GRACE_SECONDS = 30
"""How long after the last moment of the notebook's own limit the examiner may take to report before it is given up."""

WATCH_SECONDS = 0.1
"""How often what a candidate uses is looked at, as far as the kernel does not limit it."""


def grade(
    source: NotebookNode,
    submission: NotebookNode | Repaired,
    limits: Limits | None = None,
    *,
    sandbox: bool = True,
    misconceptions: Sequence[Misconception] = (),
) -> Report:
    """The report on `submission`, judged by the tests in `source`. Neither is changed; nothing is written.

    A submission is repaired first; who has done that already hands over what `repair` gave.

    Where a test fails and the code behaves exactly like one of `misconceptions`, the message says so. Points never
    depend on it.

    Without `sandbox` the student's code runs in a process of its own but unconfined. Raises Unconfinable where the
    kernel cannot confine and the sandbox is wanted.
    """
    if sandbox:
        confinement.check()
    repaired = submission if isinstance(submission, Repaired) else repair(source, submission)
    steps = plan(repaired.notebook, source)
    work = {"steps": steps, "suspects": suspects(source, misconceptions)}
    try:
        answer = _found(work, limits or Limits(), sandbox)
    except _GivenUpError:
        given_up = {step.index: _given_up(step) for step in steps if step.role is Role.TEST}
        # Never without outputs: below a test they are where nbgrader reads the score, and nothing is full points.
        outputs = {index: shown(result) for index, result in given_up.items()}
        answer = {"results": list(given_up.values()), "outputs": outputs}
    return Report(answer["results"], repaired.repairs, answer["outputs"])


def _found(work: dict[str, Any], limits: Limits, sandbox: bool, fresh: bool = False) -> dict[str, Any]:
    """What an examiner found. One that ends may have been worn out by notebooks before: a fresh one is then asked."""
    try:
        with examining(fresh) as examiner, _Candidates(limits, sandbox, examiner.processor) as candidates:
            return _examined(examiner, candidates, work)
    except _EndedError:
        if fresh:
            raise
    return _found(work, limits, sandbox, fresh=True)


def _given_up(step: Step) -> Result:
    return Result(step.name, Verdict.TIMED_OUT, 0.0, step.points, GIVEN_UP)


@dataclass
class _Candidate:
    process: BaseProcess
    connection: Any
    scratch: Scratch | None
    excess: str = ""
    """What it had too much of, once it was ended for that."""
    is_over: bool = False

    def end(self) -> None:
        """Kills the process and removes what it left; once is enough."""
        if self.is_over:
            return
        self.is_over = True
        try:
            processes.end(self.process)
        finally:
            if self.scratch is not None:
                self.scratch.remove()


class _GivenUpError(Exception):
    """The examiner did not report in time."""


class _EndedError(_GivenUpError):
    """The examiner ended without a report."""


def _examined(examiner: Examiner, candidates: "_Candidates", work: dict[str, Any]) -> dict[str, Any]:
    """What the examiner found."""
    limits, connection = candidates.limits, examiner.connection
    bounds = {name: getattr(limits, name) for name in ("cell_seconds", "notebook_seconds", "output_kb")}
    try:
        connection.send(work | bounds)
        candidates.hand_over(examiner)
        while _is_next(connection, candidates, SLOWEST * limits.notebook_seconds + GRACE_SECONDS):
            match connection.recv():
                case {"need": "exit code"}:
                    connection.send(candidates.how_it_ended())
                case {"need": "candidate"}:
                    candidates.replace()
                    connection.send("coming")
                    candidates.hand_over(examiner)
                case answer:
                    return answer
    except (EOFError, OSError) as error:
        raise _EndedError from error
    raise _GivenUpError


def _is_next(connection: Connection, candidates: "_Candidates", seconds: float) -> bool:
    """Waits for the examiner to say something and meanwhile keeps an eye on the candidate."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if connection.poll(WATCH_SECONDS):
            return True
        candidates.watch()
    return False


class _Candidates:
    """The candidate of a notebook, and a fresh one when the examiner asks for it.

    They are forked from the fork server, which never reads a submission or a test: nothing is in their memory to find.
    """

    def __init__(self, limits: Limits, sandbox: bool, processor: int) -> None:
        self.limits = limits
        self._processor = processor
        self._sandbox = sandbox

    def __enter__(self) -> "_Candidates":
        self._current = self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._current.connection.close()
        self._current.end()

    def replace(self) -> None:
        """Ends the candidate and starts another."""
        self._current.end()
        self._current = self._start()

    def hand_over(self, examiner: Examiner) -> None:
        """Gives our end of the candidate's socket to the examiner, and keeps none."""
        send_handle(examiner.connection, self._current.connection.fileno(), examiner.process.pid)
        self._current.connection.close()

    def how_it_ended(self) -> str | int | None:
        """What the candidate had too much of, or its exit code."""
        self._current.process.join(1)
        return self._current.excess or self._current.process.exitcode

    def watch(self) -> None:
        """Ends a candidate that uses more than it may of what the kernel does not limit for one process alone."""
        candidate = self._current
        try:
            # Two links of the folder are no threads.
            threads = os.stat(f"/proc/{candidate.process.pid}/task").st_nlink - 2
        except OSError:
            return  # it has ended
        if threads > self.limits.threads:
            candidate.excess = f"it had more than {self.limits.threads} threads"
        elif candidate.scratch is not None and candidate.scratch.is_full(self.limits.scratch_mb):
            megabytes = self.limits.scratch_mb
            candidate.excess = f"its files were more than {megabytes} MB or more than {MAX_ENTRIES} in number"
        if candidate.excess:
            candidate.process.kill()

    def _start(self) -> _Candidate:
        scratch = Scratch() if self._sandbox else None
        ours, theirs = processes.pipe()
        limits = {name: getattr(self.limits, name) for name in self.limits.trait_names(config=True)}
        process = processes.start(
            "course.grading.candidate:main", theirs, scratch and scratch.folder, limits, self._processor
        )
        theirs.close()
        return _Candidate(process, ours, scratch)
