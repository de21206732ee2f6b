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
        from grader.engine.runner import main, passes, test_execution
        usual = report.Result
        full = lambda name, verdict, points, most, *rest: usual(name, report.Verdict.PASSED, most, most)
        passes.NotebookRun.results = lambda self: [full("scale-check", "", 0.0, 5.0)]
        passes.Result = report.Result = full
        test_execution.outcome_of = lambda step, run: test_execution.TestOutcome(report.Verdict.PASSED, step.points)
        main.MEMORY_MB = limits.MAX_NOTEBOOK_MB = 2**40
        report.Report.points = 10.0
        """,
    )
