"""Grades a notebook in up to four passes: the sandbox runs the student's cells, and the runner runs the tests.

    steps --> [sandbox cell | read-only cell | test cell] ... --> results, outputs

The **visible pass** runs every cell and leaves the hidden tests out. Its outputs and the messages of visible tests are
all that a student sees of the sandbox. The **hidden pass** runs the hidden tests, each with the names as they were at
its place in the notebook. Nothing else of the sandbox is shown from then on, so code that remembers the arguments of a
hidden test cannot reveal them. If a hidden test fails, a later cell may be the cause, so the **isolated re-run**
repeats all hidden tests of its exercise in a fresh sandbox, in which no later cell has run, and only that run counts:
student code can tell the passes apart, so points of two passes must not be added up. If an exercise lost points and
builds on an earlier one that did, the **second run** judges it once more with our own answer to the earlier one
(carried_errors.py). A test that is judged **together** with the student's code runs in none of these passes, but in a
sandbox of its own (together.py).

A sandbox that hangs or dies costs one exercise. It is replaced, and the earlier cells run again in the fresh one,
without the cell that caused the failure.
"""

import traceback
from multiprocessing.connection import Connection
from typing import Any

from msgspec.structs import replace

from grader.engine.diagnosis.diagnosis import DiagnosisCache, name_misconceptions
from grader.engine.diagnosis.recording import Recorder
from grader.engine.notebook.names import Namespace, classes_defined, names_bound, names_defined
from grader.engine.notebook.plan import BLANK, Plan, Role, Step
from grader.engine.notebook.source_names import SourceNames, names_changed, names_in
from grader.engine.report import Result, UnfinishedCell, Verdict, error_output, shown
from grader.engine.rpc.channel import Channel
from grader.engine.rpc.exceptions import verdict_on
from grader.engine.rpc.generators import seed_own
from grader.engine.rpc.jobs import Job
from grader.engine.rpc.protocol import CellDone, RunCell
from grader.engine.runner.answer_cache import AnswerCache, NonDeterministicTest
from grader.engine.runner.carried_errors import best_results, next_run, with_our_answers
from grader.engine.runner.cell_outputs import OutputRoom, outputs_of
from grader.engine.runner.names.bound_elsewhere import names_bound_again, names_not_run
from grader.engine.runner.outcome import MAX_LOG, TestOutcome, ending_in_sandbox
from grader.engine.runner.sandbox_link import OUT_OF_TIME, RESOURCE_VERDICTS, SandboxFailure, SandboxLink, SandboxLost
from grader.engine.runner.standins.client import RpcClient
from grader.engine.runner.test_execution import TestExecutor
from grader.engine.runner.together import cells_above, judge_together
from grader.engine.sandbox.shell import compiled_bytes, execute
from grader.text import printable

PASSES = 4


class NotebookRun:
    """The grading of one notebook.

    Args:
        parent: the connection to the parent, which starts sandboxes.
        job: the notebook.
        answers: outcomes of earlier sessions.
        diagnoses: results of earlier diagnoses.
    """

    def __init__(self, parent: Connection, job: Job, answers: AnswerCache, diagnoses: DiagnosisCache) -> None:
        self._steps = job.steps
        self._plan = Plan(job.steps, job.names or SourceNames(), job.files.digest if job.files else "")
        self._known = job.known
        self._diagnoses = diagnoses
        self._recorder = Recorder()
        self._cells = {step.name: step.source for step in job.steps if step.role is not Role.TEST}
        self._notebook_seconds = job.notebook_seconds
        self._namespace = Namespace()
        self._bound_by_tests = {
            name for step in job.steps if step.role is Role.TEST for name in names_bound(step.source)
        }
        self._not_run = job.not_run
        self._unsound = job.unsound
        self._done: dict[int, CellDone] = {}
        """The names that cells bound, and their exceptions, before any hidden test had run."""
        self._final: set[int] = set()
        """Failed tests that no later cell can have caused."""
        self._ran: list[Step] = []
        """The cells that have run in the present sandbox, in order."""
        self._excluded_cells: set[int] = set()
        self._failures: dict[str, SandboxFailure] = {}
        """The failures of the sandbox that cost whole exercises, by exercise."""
        exercises = {step.exercise for step in job.steps}
        self._ours = {name: source for name, source in job.known.cells if name in exercises}
        """Our own answers by exercise."""
        self._shows_outputs = True
        self._room = OutputRoom(job.output_kb)
        self.outputs: dict[int, list[dict[str, Any]]] = {}
        our_classes: dict[str, frozenset[str]] = {}
        for source in [
            *(source for _, source in job.known.cells),
            *(step.source for step in job.steps if step.is_ours),
        ]:
            our_classes |= classes_defined(source)
        self._tests = TestExecutor(self._plan, answers, self._recorder, our_classes)
        self._link = SandboxLink(parent, job.cell_seconds)

    def results(self) -> list[Result]:
        """Run every step and return a result for each test, in order."""
        results = self._visible_pass()
        failures = dict(self._failures)
        results |= self._hidden_pass()
        if exercises := self._needing_rerun(results):
            self._failures = failures
            results |= self._isolated_rerun(exercises)
        together = self._together_pass(failures)
        counted, judged_again = self._judge_carried_errors(results | together)
        results |= counted
        exchanges = self._recorder.exchanges
        name_misconceptions(self._steps, results, self._known, exchanges, self._diagnoses, judged_again)
        results |= together
        self.outputs |= {index: shown(result) for index, result in results.items()}
        return [results[index] for index in sorted(results)]

    def unfinished(self) -> list[UnfinishedCell]:
        """Return the cells of ours, answers apart, that raised in the visible pass."""
        found = []
        for step in self._steps:
            done = self._done.get(step.index)
            if step.is_ours and not step.exercise and done is not None and done.error is not None:
                missing = (names_in(step.source) or frozenset()) - set(done.bound)
                ending = ending_in_sandbox(step, done.error)
                found.append(UnfinishedCell(step.index, ending, missing, missing - set(self._namespace.names)))
        return found

    def close(self) -> None:
        """Disconnect from the sandbox."""
        self._link.close()

    @property
    def was_interrupted(self) -> bool:
        """True if the CPU limit interrupted the code of this process, and so left it in an unknown state."""
        return self._link.was_interrupted

    # Passes

    def _visible_pass(self) -> dict[int, Result]:
        """Run all cells and the visible tests in order; return the tests' results by step index."""
        self._begin_pass()
        results = {}
        for step in self._steps:
            if step.role is not Role.TEST:
                self._run_cell(step)
            elif not step.is_hidden and not step.together:
                results[step.index] = self._test(step)
                self._namespace.keep(self._plan.needed_later[step.index])
            self._namespace.mark(step.index)
        return results

    def _hidden_pass(self) -> dict[int, Result]:
        """Run the hidden tests, each with the names in both processes as they were at its place."""
        self._begin_pass()
        results = {}
        for step in self._steps:
            self._namespace.redo(step.index)
            if step.is_hidden and not step.together:
                results[step.index] = self._test(step)
                self._namespace.keep(self._plan.needed_later[step.index])
        return results

    def _needing_rerun(self, results: dict[int, Result]) -> set[str]:
        """Return the exercises in which a hidden test may have lost points because of a later cell.

        A later cell causes neither a blank nor the lack of a name that another test should have bound. Nor can it be
        the cause if the re-run would leave nothing out.
        """
        return {
            step.exercise
            for step in self._steps
            if step.is_hidden
            and not step.together
            and results[step.index].points < results[step.index].max_points
            and step.index not in self._final
            and self._has_neighbours(step)
        }

    def _has_neighbours(self, test: Step) -> bool:
        """Return whether the re-run leaves cells out: those below the test, and tests of other exercises."""
        others = (step for step in self._steps if step.exercise != test.exercise)
        return any(step.role is Role.TEST or step.index > test.index for step in others)

    def _isolated_rerun(self, exercises: set[str]) -> dict[int, Result]:
        """Run the hidden tests of `exercises` again with only the cells above them."""
        self._begin_pass()
        results = self._isolated_run(self._steps, exercises)
        return {step.index: results[step.index] for step in self._steps if step.is_hidden and step.index in results}

    def _together_pass(self, failures: dict[str, SandboxFailure]) -> dict[int, Result]:
        """Run the tests that are judged together with the student's code, each in a fresh sandbox; see together.

        Args:
            failures: the failures of the visible pass.
        """
        results: dict[int, Result] = {}
        tests = [step for step in self._steps if step.together]
        if tests:
            self._begin_pass(self._notebook_seconds)
            self._failures, self._shows_outputs = dict(failures), False
        for test in tests:
            if not self._failure_of(test):
                above = cells_above(test, self._steps)
                self._ran = [step for step in above if step.index not in self._excluded_cells]
                self._replace_sandbox()
                self._ran = []  # no other test needs these cells again
            results[test.index] = self._test(test)
        return results

    def _judge_carried_errors(self, results: dict[int, Result]) -> tuple[dict[int, Result], set[str]]:
        """Judge exercises again with our answers to the earlier ones that cost them points; see carried_errors.

        Returns:
            The results that count, and the exercises whose tests all ran again: a mistake of theirs has a name there.
        """
        counted: dict[int, Result] = {}
        ran_again: set[str] = set()
        judged = {step.exercise for step in self._steps if step.together}  # our answer must not be beside the test
        self._begin_pass()
        self._shows_outputs = False  # they may quote our answers
        while run := next_run(self._steps, results | counted, self._ours, judged):
            judged |= run.exercises
            recorded = {exercise: self._recorder.exchanges.get(exercise, []) for exercise in run.exercises}
            self._failures = {}
            self._excluded_cells -= {step.index for step in self._steps if step.name in run.replaced}
            second = self._isolated_run(with_our_answers(self._steps, run, self._ours), set(run.exercises))
            counted |= best_results(run, self._steps, results, second)
            # Exercises that were cut short keep what they did before.
            finished = {step.exercise for step in self._steps if step.index in second}
            ran_again |= finished
            self._recorder.exchanges |= {name: each for name, each in recorded.items() if name not in finished}
        return counted, ran_again

    def _isolated_run(self, steps: list[Step], exercises: set[str]) -> dict[int, Result]:
        """Run cells in a fresh sandbox, with the tests of `exercises`; leave out exercises without time for all."""
        self._ran = []
        self._link.replace()
        self._namespace.rewind()
        self._recorder.forget(exercises)
        tests = {
            step.index: step.exercise
            for step in steps
            if step.role is Role.TEST and not step.together and step.exercise in exercises
        }
        results, last = {}, max(tests)
        for step in steps:
            if step.index > last or self._link.is_out_of_time():
                break
            if step.role is not Role.TEST:
                self._run_cell(step)
            elif step.index in tests:
                # Visible tests, too, because a hidden one may depend on them.
                results[step.index] = self._test(step)
            else:
                self._namespace.redo(step.index)
        cut_short = {tests[index] for index in tests if index not in results}
        cut_short |= {exercise for exercise, failure in self._failures.items() if failure is OUT_OF_TIME}
        return {index: result for index, result in results.items() if tests[index] not in cut_short}

    def _begin_pass(self, seconds: float | None = None) -> None:
        self._link.begin_pass(seconds or self._notebook_seconds / PASSES)
        self._namespace.rewind()
        seed_own(0)  # as in the sandbox, for read-only cells that draw

    # The student's cells

    def _run_cell(self, step: Step) -> None:
        if step.role is Role.BOTH:
            self._namespace.forget(self._plan.changed(step))
            try:
                self._tests.import_names(step, self._namespace.names)
                execute(step.source, step.name, self._namespace.names)
            except Exception:
                # It needs the student's code. What it binds is looked up in the sandbox, and not half made here.
                self._namespace.forget(names_changed(step.source) - names_defined(step.source))
        if step.index in self._excluded_cells or self._link.unconfined is not None:
            return
        try:
            self._run_in_sandbox(step)
        except SandboxLost as error:
            self._exclude(step, error.failure)
            if error.failure is not OUT_OF_TIME:
                self._replace_sandbox()

    def _run_in_sandbox(self, step: Step) -> None:
        if self._link.is_out_of_time():
            raise SandboxLost(OUT_OF_TIME)
        cell = RunCell(
            source=step.source,
            name=step.name,
            place=self._plan.places[step.index],
            code=compiled_bytes(step.source, step.name) if step.is_ours else b"",
            is_own=step.is_own,
            is_blank=BLANK in step.source,
            imports_except=self._imports_except(step),
        )
        try:
            done: CellDone = self._link.ask(lambda channel: RpcClient(channel).run(cell))
            outputs = outputs_of(done)
        except SandboxLost:
            raise
        except Exception as error:
            # The cell's outputs cannot cross the boundary.
            done, outputs = CellDone(), [error_output(Verdict.ERROR, printable(error))]
        if done.error is not None and verdict_on(done.error) is Verdict.OUTPUT_LIMIT:
            raise SandboxLost(SandboxFailure(Verdict.OUTPUT_LIMIT, printable(done.error.message)))
        self._ran.append(step)
        if step.index not in self.outputs and self._shows_outputs and not step.imports_only:
            self.outputs[step.index] = self._room.fitting(outputs)
            self._done[step.index] = done

    def _imports_except(self, step: Step) -> list[str] | None:
        """Return the names that no import of a cell binds, or None for a cell of which not only the imports run."""
        if not step.imports_only:
            return None
        return [] if step.is_ours else self._plan.judged_names

    def _exclude(self, step: Step, failure: SandboxFailure) -> None:
        """Exclude a cell in which the sandbox failed from later runs, and keep the failure for its exercise."""
        self._excluded_cells.add(step.index)
        if self._shows_outputs and not step.imports_only:
            self.outputs.setdefault(step.index, [error_output(failure.verdict, failure.explanation.message)])
        if step.exercise:
            self._failures[step.exercise] = failure

    # Tests

    def _failure_of(self, step: Step) -> SandboxFailure | None:
        """Return the failure because of which a test does not run, if there is one."""
        if self._link.unconfined is not None:
            return SandboxFailure(Verdict.NOT_CONFINED, self._link.unconfined)
        return OUT_OF_TIME if self._link.is_out_of_time() else self._failures.get(step.exercise)

    def _test(self, step: Step) -> Result:
        """Return the result of a test. A fault of the test itself is never explained as the student's."""
        result = self._tested(step)
        if result.points >= result.max_points or result.not_written or result.verdict is Verdict.NOT_CONFINED:
            return result
        missing = result.explanation.missing
        if step.name in self._unsound:
            result = result.as_ungradable(self._unsound[step.name])
        elif missing and (known := self._plan.names.bound) is not None and missing not in known:
            result = result.as_ungradable()
        if result.is_ungradable:
            self._final.add(step.index)
        return result

    def _tested(self, step: Step) -> Result:
        if failure := self._failure_of(step):
            return step.result(failure.verdict, failure.explanation)
        try:
            outcome = self._link.ask(lambda channel: self._outcome(step, channel))
        except SandboxLost as error:
            failure = error.failure.redacted() if step.is_hidden else error.failure
            self._failures[step.exercise] = failure
            # The log may quote the message that broke the protocol, at any length.
            log = printable(traceback.format_exc(), MAX_LOG)
            if failure is not OUT_OF_TIME:
                self._replace_sandbox()
            return step.result(failure.verdict, failure.explanation, log)
        except NonDeterministicTest:
            self._replace_sandbox()
            return self._tested(step)
        result = self._with_names(step, outcome.explained(step, self._cells))
        if result.not_written or outcome.result.explanation.missing in self._bound_by_tests:
            self._final.add(step.index)
        if result.verdict in RESOURCE_VERDICTS:
            self._replace_sandbox()
        return result

    def _outcome(self, step: Step, channel: Channel) -> TestOutcome:
        if step.together:
            return judge_together(step, channel, self._cells)
        self._namespace.forget(self._plan.changed(step))
        return self._tests.run(step, channel, self._namespace.names)

    def _with_names(self, test: Step, result: Result) -> Result:
        """Add to the explanation of lost points where the names that the test needed are bound as well."""
        if result.points >= result.max_points or result.is_ungradable:
            return result
        answers = [step for step in self._steps if step.role is not Role.TEST and step.exercise == test.exercise]
        ran = [(step, self._done[step.index]) for step in self._steps if step.index in self._done]
        not_run = names_not_run(result.explanation, answers, ran, self._not_run, self._cells)
        again = () if test.together else names_bound_again(test, answers, ran, self._plan)
        return replace(result, explanation=replace(result.explanation, not_run=not_run, bound_again=again))

    def _replace_sandbox(self) -> None:
        """Get a fresh sandbox, and repeat the cells that ran in the previous one."""
        self._link.replace()
        steps, self._ran = self._ran, []
        while steps:
            step = steps.pop(0)
            try:
                self._run_in_sandbox(step)
            except SandboxLost as error:
                if error.failure is OUT_OF_TIME:
                    return
                # The cell ran before and fails now. The loop ends, because each attempt excludes one more cell.
                self._exclude(step, error.failure)
                self._link.replace()
                steps, self._ran = self._ran + steps, []
