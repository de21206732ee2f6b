"""Grades notebooks of PyTorch exercises: student code runs confined, and only tensors and plain values leave it.

    from grader import grade, read_notebook
    report = grade(read_notebook(source), read_notebook(submission))

A name is imported at its first use, so that a process loads no more than it needs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.diagnosis.misconceptions import Misconception as Misconception
    from grader.errors import GraderError as GraderError
    from grader.grading import grade as grade
    from grader.limits import Limits as Limits
    from grader.report import Report as Report
    from grader.report import Result as Result
    from grader.report import Verdict as Verdict
    from grader.supervisor.readers import read_notebook as read_notebook

__version__ = "0.1.0"
__all__ = [
    "GraderError",
    "Limits",
    "Misconception",
    "Report",
    "Result",
    "Verdict",
    "__version__",
    "grade",
    "read_notebook",
]

_MODULES = {
    "GraderError": "grader.errors",
    "Limits": "grader.limits",
    "Misconception": "grader.diagnosis.misconceptions",
    "Report": "grader.report",
    "Result": "grader.report",
    "Verdict": "grader.report",
    "grade": "grader.grading",
    "read_notebook": "grader.supervisor.readers",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'grader' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
