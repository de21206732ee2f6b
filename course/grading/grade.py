"""The one place where grading happens: two notebooks in, a report out."""

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import send_handle
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from course.grading import candidate, confinement, examiner, processes
from course.grading.limits import Limits
from course.grading.plan import Role, Step, plan
from course.grading.repair import repair
from course.grading.report import Report, Result, Verdict

GRACE_SECONDS = 30
"""How long after the notebook's own limit the examiner may take to report before it is given up."""


def grade(
    source: NotebookNode, submission: NotebookNode, limits: Limits | None = None, *, sandbox: bool = True
) -> Report:
    """The report on `submission`, judged by the tests in `source`. Neither is changed; nothing is written.

    Without `sandbox` the student's code runs in a process of its own but unconfined. Raises Unconfinable where the
    kernel cannot confine and the sandbox is wanted.
    """
    if sandbox:
        confinement.check()
    repaired = repair(source, submission)
    steps = plan(repaired.notebook)
    with _Pair(limits or Limits(), sandbox) as pair:
        answer = pair.examine(steps)
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


class _Pair:
    """An examiner and its candidate, and a fresh candidate when the examiner asks for one."""

    def __init__(self, limits: Limits, sandbox: bool) -> None:
        self._limits = limits
        self._sandbox = sandbox
        self._cleanup = ExitStack()

    def __enter__(self) -> "_Pair":
        # The candidate first: when it is forked, nobody has read the submission or the tests yet.
        self._candidate = self._start_candidate()
        self._driver, theirs = processes.pipe()
        self._examiner = processes.start(examiner.main, theirs)
        theirs.close()
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self._examiner, self._candidate.process):
            process.kill()
            process.join()
            process.close()
        self._driver.close()
        self._cleanup.close()

    def examine(self, steps: list[Step]) -> dict[str, Any] | None:
        """What the examiner found, or None where it did not come to an end."""
        limits = self._limits
        work = {"steps": steps, "cell_seconds": limits.cell_seconds, "notebook_seconds": limits.notebook_seconds}
        try:
            self._driver.send(work)
            self._hand_over()
            while self._driver.poll(limits.notebook_seconds + GRACE_SECONDS):
                match self._driver.recv():
                    case {"need": "exit code"}:
                        self._candidate.process.join(1)
                        self._driver.send(self._candidate.process.exitcode)
                    case {"need": "candidate"}:
                        self._replace_candidate()
                    case answer:
                        return answer
        except EOFError:
            return None
        return None

    def _replace_candidate(self) -> None:
        self._candidate.process.kill()
        self._candidate.process.join()
        self._candidate.process.close()
        self._candidate = self._start_candidate()
        self._driver.send("coming")
        self._hand_over()

    def _start_candidate(self) -> _Candidate:
        scratch = None
        if self._sandbox:
            scratch = Path(self._cleanup.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        ours, theirs = processes.pipe()
        limits = {name: getattr(self._limits, name) for name in self._limits.trait_names(config=True)}
        process = processes.start(candidate.main, theirs, scratch, limits)
        theirs.close()
        return _Candidate(process, ours)

    def _hand_over(self) -> None:
        """Gives our end of the candidate's socket to the examiner, and keeps none."""
        send_handle(self._driver, self._candidate.connection.fileno(), self._examiner.pid)
        self._candidate.connection.close()
