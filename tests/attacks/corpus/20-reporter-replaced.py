"""Patches the grader's own modules, which can be imported: verdicts, results, limits, the runner itself.

The modules are copies in the student process; the runner has its own.
"""

from nbformat import NotebookNode

from tests.attacks.build import first


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        from grader.engine import limits, report
        from grader.engine.notebook import plan
        from grader.engine.runner import main, passes, test_execution
        full = lambda name, points, *rest: report.Result(name, "scale", report.Verdict.PASSED, points, points)
        passes.NotebookRun.results = lambda self: [full("scale-check", 5.0)]
        plan.Step.result = lambda step, *rest: full(step.name, step.points)
        test_execution.outcome_of = lambda step, run: test_execution.TestOutcome(full(step.name, step.points))
        main.MEMORY_MB = limits.MAX_NOTEBOOK_MB = 2**40
        report.Report.points = 10.0
        """,
    )
