"""The process with the tests: walks through a notebook, has the candidate run the student's cells, and judges.

    plan --> [candidate cell | read-only cell | test cell] ... --> results, outputs

It is trusted and unconfined, never runs a line of the student's, and knows the candidate only over the wire. A
candidate that hangs or dies costs one exercise: the driver hands a fresh one over, and the earlier cells run again
without the one that did it.

There are up to three rounds. What a student is shown (outputs, and what tests say that they may read) comes from the
first, which runs every cell and leaves the hidden tests out. These run in the second, each with the names as they stood
at its place in the notebook. Nothing else of the candidate is shown from then on: code that keeps what a hidden test
hands it finds no place to tell it. Where a hidden test fails, a later cell may have had a hand in it: the third round
runs it again in a fresh candidate, in which no later cell has run.
"""

import gc
import os
import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from course.grading import seeds
from course.grading.cells import execute
from course.grading.client import Client
from course.grading.code import as_text
from course.grading.confinement import limit_memory
from course.grading.conversation import Memory, Unrepeatable
from course.grading.diagnosis import name_mistakes
from course.grading.line import Line
from course.grading.loss import OUT_OF_TIME, USED_UP, CandidateLost, Lost, in_silence
from course.grading.messages import NOT_WRITTEN, explain_loss
from course.grading.names import Namespace, names_bound
from course.grading.outputs import plain_outputs, size
from course.grading.plan import Role, Step, places, wanted_later
from course.grading.recorder import Recorder
from course.grading.report import Result, Verdict, error_output, shown
from course.grading.settings import settings_kept
from course.grading.suspects import Suspects
from course.grading.text import printable
from course.grading.trials import Trials
from course.grading.verdicts import no_points, verdict_on

ROUNDS = 3
MEMORY_MB = 3 * 1024
"""Mebibytes of address space for tests: what student code answers with is held here too, often more than once."""


def main(driver: Connection, processor: int) -> None:
    """Grades what the driver sends, one notebook after the other; sends back {"results": …, "outputs": …} for each."""
    os.sched_setaffinity(0, {processor})
    limit_memory(MEMORY_MB)
    # What a test prints is for whoever tries it out in a notebook, not for the screen of whoever grades a class.
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    # What a test drops is let go at once or after the notebook: never at a moment that differs from time to time.
    gc.disable()
    memory = Memory()
    seeds.install()
    is_whole = True
    with suppress(EOFError, OSError):
        while is_whole:
            # What our own cells set holds for their notebook.
            with settings_kept():
                is_whole = _examine_next(driver, memory)
            # Young objects only: what is remembered is looked at once.
            gc.collect(0)
    os._exit(0)


def _examine_next(driver: Connection, memory: Memory) -> bool:
    """Examines a notebook; whether it may examine more: not where it was cut off, and left who knows what half done."""
    work = driver.recv()
    examiner = Examiner(driver, memory, **work)
    answer = {"results": examiner.examine(), "outputs": examiner.outputs}
    examiner.close()
    driver.send(answer)
    return not examiner.was_cut_off


class Examiner:
    """One notebook's examination."""

    def __init__(
        self,
        driver: Connection,
        memory: Memory,
        steps: list[Step],
        suspects: Suspects,
        cell_seconds: float,
        notebook_seconds: float,
        output_kb: int,
    ) -> None:
        self._steps = steps
        self._suspects = suspects
        self._recorder = Recorder()
        self._cells = {step.name: step.source for step in steps if step.role is not Role.TEST}
        self._round_seconds = notebook_seconds / ROUNDS
        self._namespace = Namespace()
        self._memory = memory
        self._places = places(steps)
        self._hidden = {step.index for step in steps if step.is_hidden}
        self._bound_by_tests = {name for step in steps if step.role is Role.TEST for name in names_bound(step.source)}
        self._certain: set[int] = set()
        self._wanted_later = wanted_later(steps)
        self._ran: list[Step] = []
        self._lost_cells: set[int] = set()
        self._lost_exercises: dict[str, Lost] = {}
        self._room = output_kb * 1024
        self.outputs: dict[int, list[dict[str, Any]]] = {}
        self._trials = Trials(steps, memory, self._recorder if suspects.mistakes else None)
        self._line = Line(driver, cell_seconds)

    def examine(self) -> list[Result]:
        """Runs every step; returns a result for each test."""
        results = self._open_round()
        lost = dict(self._lost_exercises)
        results |= self._hidden_round()
        doubtful = self._doubtful(results)
        if doubtful:
            self._lost_exercises = lost
            results |= self._last_round(doubtful)
        if self._suspects.mistakes:
            name_mistakes(self._steps, results, self._suspects, self._recorder.exchanges, self._memory)
        self.outputs |= {index: shown(result) for index, result in results.items()}
        return [results[index] for index in sorted(results)]

    def close(self) -> None:
        """Lets the candidate go."""
        self._line.close()

    @property
    def was_cut_off(self) -> bool:
        """Whether this process was interrupted at some place or other of its own computing."""
        return self._line.was_cut_off

    def _open_round(self) -> dict[int, Result]:
        """Runs all cells and the visible tests in their order; returns the tests' results by step index."""
        self._begin_round()
        results = {}
        for step in self._steps:
            if step.role is not Role.TEST:
                self._run(step)
            elif not step.is_hidden:
                results[step.index] = self._test(step)
                self._namespace.keep(self._wanted_later[step.index])
            self._namespace.mark(step.index)
        return results

    def _hidden_round(self) -> dict[int, Result]:
        """Runs the hidden tests, with the names here and there as they stood at each one's place."""
        self._begin_round()
        results = {}
        for step in self._steps:
            self._namespace.redo(step.index)
            if step.is_hidden:
                results[step.index] = self._test(step)
                self._namespace.keep(self._wanted_later[step.index])
        return results

    def _doubtful(self, results: dict[int, Result]) -> set[int]:
        """The hidden tests that lost points where a later cell may be to blame, and those that may build on one.

        No later cell is to blame for what is not written, nor for what another test should have left, nor where the
        last round would run all that ran before.
        """
        failed = {index for index in self._hidden if results[index].points < results[index].max_points}
        exercises = {
            step.exercise for step in self._steps if step.index in failed - self._certain and self._is_crowded(step)
        }
        return {step.index for step in self._steps if step.index in failed and step.exercise in exercises}

    def _is_crowded(self, test: Step) -> bool:
        """Whether the notebook has cells below a test, or tests of other exercises: the last round leaves them out."""
        others = (step for step in self._steps if step.exercise != test.exercise)
        return any(step.role is Role.TEST or step.index > test.index for step in others)

    def _last_round(self, doubtful: set[int]) -> dict[int, Result]:
        """Runs the cells in their order in a fresh candidate, and the tests of every exercise that is in doubt."""
        self._begin_round()
        self._ran = []
        self._line.replace()
        exercises = {step.exercise for step in self._steps if step.index in doubtful}
        self._recorder.forget(exercises)
        results, last = {}, max(doubtful)
        for step in self._steps:
            if step.index > last:
                break
            if step.role is not Role.TEST:
                self._run(step)
            elif step.exercise in exercises:
                # All its tests, for one may build on another.
                results[step.index] = self._test(step)
            else:
                self._namespace.redo(step.index)
        return {index: result for index, result in results.items() if index in doubtful}

    def _begin_round(self) -> None:
        self._line.begin_round(self._round_seconds)
        self._namespace.rewind()

    # The student's cells

    def _run(self, step: Step) -> None:
        if step.role is Role.BOTH:
            # Where it uses the student's code, what it defines is looked up there like all that is the student's.
            with suppress(Exception):
                execute(step.source, step.name, self._namespace.names)
        if step.index in self._lost_cells:
            return
        try:
            self._run_there(step)
        except CandidateLost as error:
            self._lose(step, error.lost)
            if error.lost is not OUT_OF_TIME:
                self._replace_candidate()

    def _run_there(self, step: Step) -> None:
        if self._line.is_out_of_time():
            raise CandidateLost(OUT_OF_TIME)
        try:
            place = self._places[step.index]
            code = as_text(step.source, step.name) if step.is_ours else ""
            done = self._line.ask(lambda: Client(self._line.channel).run(step.source, step.name, place, code))
            outputs = plain_outputs(done)
            if done["raised"] is not None and verdict_on(done["raised"]) is Verdict.OUTPUT_LIMIT:
                raise CandidateLost(Lost(Verdict.OUTPUT_LIMIT, printable(done["raised"]["message"])))
        except Exception as error:
            if isinstance(error, CandidateLost):
                raise
            # The cell put out more than can cross, or the candidate answers what it likes.
            outputs = [error_output(Verdict.ERROR, printable(error))]
        self._ran.append(step)
        if step.index not in self.outputs:
            self.outputs[step.index] = self._fitting(outputs)

    def _lose(self, step: Step, lost: Lost) -> None:
        """Takes note of a cell that must not run again, and of its exercise."""
        self._lost_cells.add(step.index)
        self.outputs.setdefault(step.index, [error_output(lost.verdict, explain_loss(lost.why))])
        if step.exercise:
            self._lost_exercises[step.exercise] = lost

    def _fitting(self, outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """As many of the outputs as there is room for in the notebook; where it ends, it is said that it does."""
        kept = []
        for output in outputs if self._room >= 0 else ():
            self._room -= size(output)
            if self._room < 0:
                return [*kept, error_output(Verdict.OUTPUT_LIMIT, "more was put out than is shown")]
            kept.append(output)
        return kept

    # Tests

    def _test(self, step: Step) -> Result:
        lost = self._lost_exercises.get(step.exercise)
        if self._line.unconfined is not None:
            lost = Lost(Verdict.NOT_CONFINED, self._line.unconfined)
        elif self._line.is_out_of_time():
            lost = OUT_OF_TIME
        if lost is not None:
            return no_points(step, lost.verdict, explain_loss(lost.why))
        try:
            finding = self._line.ask(lambda: self._trials.run(step, self._line.channel, self._namespace.names))
        except CandidateLost as error:
            lost = in_silence(error.lost) if step.is_hidden else error.lost
            self._lost_exercises[step.exercise] = lost
            if lost is not OUT_OF_TIME:
                self._replace_candidate()
            return no_points(step, lost.verdict, explain_loss(lost.why), traceback.format_exc())
        except Unrepeatable:
            self._replace_candidate()
            return self._test(step)
        result = finding.result(step, self._cells)
        if result.message.startswith(NOT_WRITTEN) or finding.missing in self._bound_by_tests:
            self._certain.add(step.index)
        if finding.verdict in USED_UP:
            self._replace_candidate()
        return result

    def _replace_candidate(self) -> None:
        """Gets a fresh candidate and runs there again what ran before."""
        self._line.replace()
        steps, self._ran = self._ran, []
        while steps:
            step = steps.pop(0)
            try:
                self._run_there(step)
            except CandidateLost as error:
                if error.lost is OUT_OF_TIME:
                    return
                # It ran before and does not now. Once more, without it: every time there is a step less.
                self._lose(step, error.lost)
                self._line.replace()
                steps, self._ran = self._ran + steps, []
