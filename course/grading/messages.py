"""What a student is told about a test that gave no points. Of a hidden test: what it is about, never how it looks.

A test cell opens with a docstring that states its truth; the release shows it too. An assertion's own message was
written for students. Everything else of a hidden test (code, traceback, values in somebody's error text) stays with us.
"""

import ast
import builtins
from typing import Any

from course.grading.plan import Step


def explain_test(step: Step, error: Exception) -> str:
    """The test itself found something wrong, or could not go on."""
    said = str(error).strip()
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and error.name:
        return f"{error.name} is not defined: the cell that should define it is missing or did not run to its end."
    if isinstance(error, AssertionError):
        return _join(_truth(step), said or "This does not hold for your code.")
    if step.is_hidden:
        return _join(_truth(step), "The test could not use what your code returned.")
    return _join(_truth(step), f"{type(error).__name__}: {said}")


def explain_raise(step: Step, said: dict[str, Any]) -> str:
    """The student's code raised an exception while the test called it."""
    if said.get("kind") == "NotImplementedError":
        return "Not written yet."
    where = _where(said)
    if step.is_hidden:
        # Its text may carry the test's numbers, and its name may be made up to carry them.
        name = str(said.get("kind")) if hasattr(builtins, str(said.get("kind"))) else "an error"
        return _join(_truth(step), f"Your code raised {name}{where}.")
    return f"Your code raised {said.get('name')}: {said.get('message')}{where}"


def explain_loss(why: str) -> str:
    """The process with the student's code hung or died."""
    return f"Your code was stopped: {why}."


def _where(said: dict[str, Any]) -> str:
    frames = said.get("frames")
    if not isinstance(frames, list) or not frames or len(frames[-1]) != 3:
        return ""
    cell, line, text = frames[-1]
    return f" (in {str(cell).strip('<>')}, line {line}: {text})"


def _truth(step: Step) -> str:
    return (ast.get_docstring(ast.parse(step.source)) or "").strip()


def _join(*parts: str) -> str:
    return " ".join(part if part.endswith((".", "!", "?", ")")) else f"{part}." for part in parts if part)
