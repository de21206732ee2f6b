"""Wiring only: how nbgrader's own commands and the formgrader find the course and what they do with it."""

from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import ClearMarkScheme, GetGrades

c = get_config()  # noqa: F821  (nbgrader provides it)

c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = "attention"
# Beside the notebooks of an assignment stands what only instructors see.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "misconceptions.py"]

# A marking scheme stands in the question's own cell, above the answer: the formgrader shows it, no student sees it.
c.ClearMarkScheme.enforce_metadata = False
c.GenerateFeedback.preprocessors = [GetGrades, ClearMarkScheme, CSSHTMLHeaderPreprocessor]

# What a library prints on stderr costs no points, and a deleted test cell comes back.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = "(?s).*"
c.OverwriteCells.add_missing_cells = True

# Its debug panel would show the server's token to whoever looks.
c.FormgradeExtension.debug = False
