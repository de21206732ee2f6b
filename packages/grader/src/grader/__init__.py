"""Grades notebooks of PyTorch exercises: student code runs confined, and only tensors and plain values leave it.

    from grader import grade, read_notebook
    report = grade(read_notebook(source), read_notebook(submission))

A name is imported at its first use, so that a process loads no more than it needs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.engine.diagnosis.misconceptions import Misconception as Misconception
    from grader.engine.grading import grade as grade
    from grader.engine.limits import Limits as Limits
    from grader.engine.notebook.folder.assignment_files import AssignmentFiles as AssignmentFiles
    from grader.engine.report import Report as Report
    from grader.engine.report import Result as Result
    from grader.engine.report import Verdict as Verdict
    from grader.engine.supervisor.parsers import read_notebook as read_notebook
    from grader.errors import GraderError as GraderError

__version__ = "0.1.0"
_MODULES = {
    "AssignmentFiles": "grader.engine.notebook.folder.assignment_files",
    "GraderError": "grader.errors",
    "Limits": "grader.engine.limits",
    "Misconception": "grader.engine.diagnosis.misconceptions",
    "Report": "grader.engine.report",
    "Result": "grader.engine.report",
    "Verdict": "grader.engine.report",
    "grade": "grader.engine.grading",
    "read_notebook": "grader.engine.supervisor.parsers",
}
__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'grader' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
