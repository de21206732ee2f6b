"""The one place where grading happens: two notebooks in, a report out."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import send_handle
from typing import Any

from nbformat import NotebookNode

from course.grading import candidate, confinement, examiner, processes
from course.grading.diagnosis import Suspects, suspects
from course.grading.limits import Limits
from course.grading.plan import Role, Step, plan
from course.grading.repair import repair
from course.grading.report import Report, Result, Verdict
from course.grading.scratch import MAX_ENTRIES, Scratch
from course.misconceptions import Misconception

GRACE_SECONDS = 30
"""How long after the notebook's own limit the examiner may take to report before it is given up."""

WATCH_SECONDS = 0.1
"""How often what a candidate uses is looked at, as far as the kernel does not limit it."""


def grade(
    source: NotebookNode,
    submission: NotebookNode,
    limits: Limits | None = None,
    *,
    sandbox: bool = True,
    misconceptions: Sequence[Misconception] = (),
) -> Report:
    """The report on `submission`, judged by the tests in `source`. Neither is changed; nothing is written.

    Where a test fails and the code behaves exactly like one of `misconceptions`, the message says so. Points never
    depend on it.

    Without `sandbox` the student's code runs in a process of its own but unconfined. Raises Unconfinable where the
    kernel cannot confine and the sandbox is wanted.
    """
    if sandbox:
        confinement.check()
    repaired = repair(source, submission)
    steps = plan(repaired.notebook)
    with _Pair(limits or Limits(), sandbox) as pair:
        answer = pair.examine(steps, suspects(source, misconceptions))
    if answer is None:
        why = "Grading did not come to an end."
        answer = {"results": [_given_up(step, why) for step in steps if step.role is Role.TEST], "outputs": {}}
    return Report(answer["results"], repaired.repairs, answer["outputs"])


def _given_up(step: Step, why: str) -> Result:
    return Result(step.name, Verdict.TIMED_OUT, 0.0, step.points, why)


@dataclass
class _Candidate:
    process: BaseProcess
    connection: Any
    scratch: Scratch | None
    excess: str = ""
    """What it had too much of, once it was ended for that."""

    def end(self) -> None:
        """Kills the process and removes what it left."""
        self.process.kill()
        self.process.join()
        self.process.close()
        if self.scratch is not None:
            self.scratch.remove()


class _Pair:
    """An examiner and its candidate, and a fresh candidate when the examiner asks for one."""

    def __init__(self, limits: Limits, sandbox: bool) -> None:
        self._limits = limits
        self._sandbox = sandbox

    def __enter__(self) -> "_Pair":
        # The candidate first: when it is forked, nobody has read the submission or the tests yet.
        self._candidate = self._start_candidate()
        self._driver, theirs = processes.pipe()
        self._examiner = processes.start(examiner.main, theirs)
        theirs.close()
        return self

    def __exit__(self, *_: object) -> None:
        self._examiner.kill()
        self._examiner.join()
        self._examiner.close()
        self._driver.close()
        self._candidate.end()

    def examine(self, steps: list[Step], known: Suspects) -> dict[str, Any] | None:
        """What the examiner found, or None where it did not come to an end."""
        limits = self._limits
        work = {name: getattr(limits, name) for name in ("cell_seconds", "notebook_seconds", "output_kb")}
        try:
            self._driver.send({"steps": steps, "suspects": known, **work})
            self._hand_over()
            while self._is_next(limits.notebook_seconds + GRACE_SECONDS):
                match self._driver.recv():
                    case {"need": "exit code"}:
                        self._candidate.process.join(1)
                        self._driver.send(self._candidate.excess or self._candidate.process.exitcode)
                    case {"need": "candidate"}:
                        self._replace_candidate()
                    case answer:
                        return answer
        except EOFError:
            return None
        return None

    def _is_next(self, seconds: float) -> bool:
        """Waits for the examiner to say something and meanwhile keeps an eye on the candidate."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._driver.poll(WATCH_SECONDS):
                return True
            self._watch()
        return False

    def _watch(self) -> None:
        """Ends a candidate that uses more than it may of what the kernel does not limit for one process alone."""
        candidate, limits = self._candidate, self._limits
        try:
            # Two links of the folder are no threads.
            threads = os.stat(f"/proc/{candidate.process.pid}/task").st_nlink - 2
        except OSError:
            return  # it has ended
        if threads > limits.threads:
            candidate.excess = f"it had more than {limits.threads} threads"
        elif candidate.scratch is not None and candidate.scratch.is_full(limits.scratch_mb):
            candidate.excess = f"its files were more than {limits.scratch_mb} MB or more than {MAX_ENTRIES} in number"
        if candidate.excess:
            candidate.process.kill()

    def _replace_candidate(self) -> None:
        self._candidate.end()
        self._candidate = self._start_candidate()
        self._driver.send("coming")
        self._hand_over()

    def _start_candidate(self) -> _Candidate:
        scratch = Scratch() if self._sandbox else None
        ours, theirs = processes.pipe()
        limits = {name: getattr(self._limits, name) for name in self._limits.trait_names(config=True)}
        process = processes.start(candidate.main, theirs, scratch and scratch.folder, limits)
        theirs.close()
        return _Candidate(process, ours, scratch)

    def _hand_over(self) -> None:
        """Gives our end of the candidate's socket to the examiner, and keeps none."""
        send_handle(self._driver, self._candidate.connection.fileno(), self._examiner.pid)
        self._candidate.connection.close()
