"""Patches the grader's own modules, which can be imported: verdicts, results, limits, the examiner itself.

They are copies in the student's process; the examiner has its own.
"""

from attacks.build import first
from nbformat import NotebookNode


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        import course.grading.examiner as examiner
        import course.grading.report as report
        examiner.Examiner.examine = lambda self: [report.Result("scale-check", "passed", 5.0, 5.0)]
        examiner._no_points = lambda step, *rest: report.Result(step.name, "passed", step.points, step.points)
        report.Report.points = 10.0
        """,
    )
