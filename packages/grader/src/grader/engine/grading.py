"""Grades one notebook; the commands, the nbgrader plug-in and the tests all call `grade`.

submission, source --repair, plan--> Job --supervisor.session--> JobResult --> Report
"""

from collections.abc import Mapping, Sequence

from nbformat import NotebookNode

from grader.engine.code_digest import with_kernel
from grader.engine.diagnosis.misconceptions import Misconception, known_misconceptions
from grader.engine.explanation import Cause, Ending, Explanation
from grader.engine.limits import Limits
from grader.engine.notebook.folder.assignment_files import AssignmentFiles
from grader.engine.notebook.folder.files import require_instantiated
from grader.engine.notebook.not_run import imports, with_imports_of_tests
from grader.engine.notebook.plan import Role, Step, plan
from grader.engine.notebook.repair import Repaired, repair
from grader.engine.notebook.source_names import names_of
from grader.engine.report import Report, Verdict, shown
from grader.engine.rpc.jobs import Job
from grader.engine.sandbox.isolation import confinement
from grader.engine.supervisor.session import GradingFailed, run_job
from grader.engine.torch_use import needs_torch


def grade(
    source: NotebookNode,
    submission: NotebookNode | Repaired,
    limits: Limits | None = None,
    *,
    sandbox: bool = True,
    misconceptions: Sequence[Misconception] = (),
    helper_packages: tuple[str, ...] = (),
    files: Mapping[str, bytes] | None = None,
    assignment_files: AssignmentFiles | None = None,
    unsound: Mapping[str, Ending] | None = None,
) -> Report:
    """Grade a submission with the tests in its source. This changes neither notebook and writes no file.

    Args:
        source: the instructor's notebook, with solutions and hidden tests.
        submission: the student's notebook, or the result of repairing it.
        limits: what the submission may use.
        sandbox: whether the kernel confines the student's process. Without it, student code has your access to files
            and the network.
        misconceptions: known misconceptions. A failed test names the one that behaves exactly like the student's code.
            Points never depend on them.
        helper_packages: packages besides `grader_kernel` that the notebook imports; the sandbox may read them.
        files: the student's files beside the notebook, by path, that its code gets in its folder. Without a sandbox
            it gets none.
        assignment_files: our files beside the source. Tests and student code read them in their working folders, and
            import modules from there. They replace files of the student's, and no process can write to them.
        unsound: the tests that our own solution fails, by grade_id, with the reason. A student who fails one of them
            reads that it cannot be graded.

    Raises:
        GraderError: a test of the source must still be instantiated by nbgrader, and would test nothing.
        SandboxUnavailable: `sandbox` is true, and the kernel cannot confine a process.
    """
    if sandbox:
        confinement.check()
    require_instantiated(source)
    packages = with_kernel(helper_packages)
    repaired = submission if isinstance(submission, Repaired) else repair(source, submission)
    steps = plan(repaired.notebook, source)
    names = names_of(source)
    all_steps = with_imports_of_tests([*imports(repaired.not_run, steps), *steps], names)
    known = known_misconceptions(source, misconceptions)
    job = Job(all_steps, known, repaired.not_run, names, unsound=unsound or {})
    modules = assignment_files.modules if assignment_files is not None else ()
    try:
        result = run_job(
            job,
            limits or Limits(),
            sandbox=sandbox,
            helper_packages=packages,
            files=files,
            ours=assignment_files,
            needs_torch=needs_torch([*(cell.source for cell in source.cells), *modules], packages),
        )
    except GradingFailed:
        return _given_up(steps, repaired)
    return Report(result.results, repaired.changes, result.outputs, unfinished=result.unfinished)


def _given_up(steps: list[Step], repaired: Repaired) -> Report:
    results = {
        step.index: step.result(Verdict.TIMED_OUT, Explanation(cause=Cause.NOT_GRADED))
        for step in steps
        if step.role is Role.TEST
    }
    # nbgrader takes the score from the outputs, and no output would mean full points.
    outputs = {index: shown(result) for index, result in results.items()}
    return Report(list(results.values()), repaired.changes, outputs, given_up=True)
