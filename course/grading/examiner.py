"""The process with the tests: walks through a notebook, has the candidate run the student's cells, and judges.

    plan --> [candidate cell | read-only cell | test cell] ... --> results, outputs

It is trusted and unconfined, never runs a line of the student's, and knows the candidate only over the wire. A
candidate that hangs or dies costs one exercise: the driver hands a fresh one over, and the earlier cells run again
without the one that did it.
"""

import builtins
import os
import signal
import socket
import symtable
import time
import traceback
import zlib
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Any

import torch

from course.grading.candidate import READY
from course.grading.cells import execute
from course.grading.client import Client, StudentError
from course.grading.messages import explain_loss, explain_raise, explain_test
from course.grading.plan import Role, Step
from course.grading.report import Result, Verdict
from course.grading.wire import Channel, Closed, Late, WireError


@dataclass(frozen=True)
class Lost:
    """Why a candidate is gone."""

    verdict: Verdict
    why: str


class CandidateLost(Exception):
    """The candidate hung or died."""

    def __init__(self, lost: Lost) -> None:
        super().__init__(lost.why)
        self.lost = lost


def main(driver: Connection) -> None:
    """Grades what the driver sends; sends back {"results": …, "outputs": …}."""
    work = driver.recv()
    examiner = Examiner(driver, work["steps"], work["cell_seconds"], work["notebook_seconds"])
    driver.send({"results": examiner.examine(), "outputs": examiner.outputs})
    os._exit(0)


class Examiner:
    """One notebook's examination."""

    def __init__(self, driver: Connection, steps: list[Step], cell_seconds: float, notebook_seconds: float) -> None:
        self._driver = driver
        self._steps = steps
        self._cell_seconds = cell_seconds
        self._end = time.monotonic() + notebook_seconds
        self._namespace: dict[str, Any] = {"__name__": "__main__"}
        self._ran: list[Step] = []
        self._lost_exercises: dict[str, Lost] = {}
        self._unconfined: str | None = None
        self.outputs: dict[int, list[dict[str, Any]]] = {}
        self._connect()

    def examine(self) -> list[Result]:
        """Runs every step; returns a result for each test."""
        results = []
        for step in self._steps:
            if step.role is Role.TEST:
                results.append(self._test(step))
                self.outputs[step.index] = _shown(results[-1])
            else:
                self._run(step)
        return results

    # The student's cells

    def _run(self, step: Step) -> None:
        if step.role is Role.BOTH:
            execute(step.source, step.name, self._namespace)
        try:
            self._run_there(step)
        except CandidateLost as lost:
            self.outputs[step.index] = [_error_output(lost.lost.verdict, explain_loss(lost.lost.why))]
            if step.exercise:
                self._lost_exercises[step.exercise] = lost.lost
            self._replace_candidate()

    def _run_there(self, step: Step) -> None:
        done = self._with_candidate(lambda: self._client.run(step.source, step.name))
        self._ran.append(step)
        self.outputs[step.index] = _plain_outputs(done)

    # Tests

    def _test(self, step: Step) -> Result:
        lost = self._lost_exercises.get(step.exercise)
        if self._unconfined is not None:
            lost = Lost(Verdict.NOT_CONFINED, self._unconfined)
        elif time.monotonic() > self._end:
            lost = Lost(Verdict.TIMED_OUT, "the time for the whole notebook was used up")
        if lost is not None:
            return _no_points(step, lost.verdict, explain_loss(lost.why))
        try:
            value = self._with_candidate(lambda: self._run_test(step))
        except CandidateLost as error:
            self._lost_exercises[step.exercise] = error.lost
            self._replace_candidate()
            return _no_points(step, error.lost.verdict, explain_loss(error.lost.why))
        except StudentError as error:
            return _no_points(step, _verdict(error.said), explain_raise(step, error.said), traceback.format_exc())
        except Exception as error:
            verdict = Verdict.FAILED if isinstance(error, AssertionError) else Verdict.ERROR
            return _no_points(step, verdict, explain_test(step, error), traceback.format_exc())
        points = step.points
        if isinstance(value, int | float) and not isinstance(value, bool):
            points = min(max(float(value), 0.0), step.points)
        return Result(step.name, Verdict.PASSED if points == step.points else Verdict.FAILED, points, step.points)

    def _run_test(self, step: Step) -> Any:
        torch.manual_seed(zlib.crc32(step.name.encode()))
        wanted = [
            name for name in _names_used(step.source) if name not in self._namespace and not hasattr(builtins, name)
        ]
        found = self._client.look(wanted) if wanted else {}
        self._namespace.update(found)
        try:
            return execute(step.source, step.name, self._namespace)
        finally:
            for name in found:
                self._namespace.pop(name, None)

    # The candidate

    def _connect(self) -> None:
        self._channel = Channel(socket.socket(fileno=recv_handle(self._driver)))
        self._client = Client(self._channel)
        self._channel.deadline = time.monotonic() + 60
        try:
            answer, _ = self._channel.receive()
            if answer["done"] != READY:
                self._unconfined = answer["why"]
        except (Closed, Late, WireError, KeyError) as error:
            self._unconfined = f"the process for student code did not start ({type(error).__name__})"

    def _replace_candidate(self) -> None:
        self._channel.close()
        self._driver.send({"need": "candidate"})
        self._driver.recv()
        self._connect()
        steps, self._ran = self._ran, []
        for step in steps:
            try:
                self._run_there(step)
            except CandidateLost:
                self._replace_candidate()
                return

    def _with_candidate(self, act: Any) -> Any:
        if self._unconfined is not None:
            return {"outputs": [], "raised": None}
        self._channel.deadline = min(time.monotonic() + self._cell_seconds, self._end)
        try:
            return act()
        except Late:
            raise CandidateLost(Lost(Verdict.TIMED_OUT, f"it took longer than {self._cell_seconds:g} s")) from None
        except Closed:
            self._driver.send({"need": "exit code"})
            raise CandidateLost(Lost(Verdict.CRASHED, _death(self._driver.recv()))) from None


def _names_used(source: str) -> list[str]:
    """The names that a cell takes from outside: read but not bound at its top level, or global in a function of it."""
    names: set[str] = set()

    def walk(table: symtable.SymbolTable, is_top: bool) -> None:
        for symbol in table.get_symbols():
            outside = not (symbol.is_assigned() or symbol.is_imported()) if is_top else symbol.is_global()
            if symbol.is_referenced() and outside:
                names.add(symbol.get_name())
        for child in table.get_children():
            walk(child, False)

    walk(symtable.symtable(source, "<test>", "exec"), True)
    return sorted(names)


def _verdict(said: dict[str, Any]) -> Verdict:
    message = str(said.get("message"))
    if said.get("name") == "OutputLimit":
        return Verdict.OUTPUT_LIMIT
    if said.get("kind") == "MemoryError" or "can't allocate memory" in message or "not enough memory" in message:
        return Verdict.OUT_OF_MEMORY
    return Verdict.ERROR


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        return f"the process was ended by {signal.Signals(-code).name}"
    return f"the process ended itself with exit code {code}"


def _no_points(step: Step, verdict: Verdict, message: str, log: str = "") -> Result:
    return Result(step.name, verdict, 0.0, step.points, message, log)


def _shown(result: Result) -> list[dict[str, Any]]:
    """The output of a test cell, from which nbgrader takes the score: none for full points, a number, or an error."""
    if result.verdict is Verdict.PASSED:
        return []
    if result.points:
        data = {"text/plain": repr(result.points)}
        return [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}]
    return [_error_output(result.verdict, result.message)]


def _error_output(verdict: Verdict, message: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": str(verdict), "evalue": message, "traceback": [f"{verdict}: {message}"]}


def _plain_outputs(done: Any) -> list[dict[str, Any]]:
    """The outputs of a student's cell, put together anew: the candidate is not trusted to shape them."""
    outputs = []
    for output in done.get("outputs", ()) if isinstance(done, dict) else ():
        if output.get("output_type") == "stream":
            outputs.append({"output_type": "stream", "name": "stdout", "text": str(output.get("text"))})
        else:
            data = {str(kind): part for kind, part in output.get("data", {}).items() if isinstance(part, str)}
            outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    if isinstance(done, dict) and isinstance(said := done.get("raised"), dict):
        outputs.append(_error_output_of(said))
    return outputs


def _error_output_of(said: dict[str, Any]) -> dict[str, Any]:
    name, message = str(said.get("name")), str(said.get("message"))
    lines = [f"{frame[0]}, line {frame[1]}: {frame[2]}" for frame in said.get("frames", ()) if len(frame) == 3]
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": [*lines, f"{name}: {message}"]}
