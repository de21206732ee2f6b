"""Wiring only: how nbgrader's own commands and the formgrader find the course and what they do with it."""

from pathlib import Path

from nbgrader.preprocessors import AssignLatePenalties, GetGrades, SaveAutoGrades

from course.grading.feedback import FILTERS, FeedbackExporter, HideMarkSchemes, HideTests
from course.grading.plugin import GradeCells, RepairCells, SubmissionExporter
from course.same_cells import SameCells

c = get_config()  # noqa: F821  (nbgrader provides it)

c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = "attention"
# Beside the notebooks of an assignment stands what only instructors see, or only the grader.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints",
    "*.pyc",
    "__pycache__",
    "feedback",
    "misconceptions.py",
    ".graded.json",
]

# Who adds or removes a cell after grading is told what to do.
c.GenerateAssignment.preprocessors.prepend([SameCells])

# A marking scheme stands in the question's own cell, above the answer: the formgrader shows it, no student sees it.
c.ClearMarkScheme.enforce_metadata = False

# Feedback shows what a hidden test is about and what it found, never the test; and no script of a submission runs in
# anybody's browser, in feedback or in the formgrader; nor does any text of it hold these up.
c.GenerateFeedback.preprocessors = [GetGrades, HideTests, HideMarkSchemes]
c.GenerateFeedback.exporter_class = FeedbackExporter
c.HTMLExporter.filters = FILTERS

# `nbgrader autograde` and the formgrader's button grade as `python -m course grade` does.
c.Autograde.exporter_class = SubmissionExporter
c.Autograde.sanitize_preprocessors = [RepairCells]
c.Autograde.autograde_preprocessors = [GradeCells, SaveAutoGrades, AssignLatePenalties]

# Its debug panel would show the server's token to whoever looks.
c.FormgradeExtension.debug = False
