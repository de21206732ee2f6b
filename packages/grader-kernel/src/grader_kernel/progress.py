"""Shows the progress of a student: the points of each notebook's last check, as stored on this computer.

`grader check` and hand_in() --points from tests--> checks.json in the user's home --> a table in start.ipynb
"""

import json
import os
import time
from dataclasses import dataclass
from html import escape
from pathlib import Path

from IPython.display import HTML

from grader_kernel.answers import kept
from grader_kernel.contract import last_checks

BAR = 12
"""Characters of a full bar."""


@dataclass(frozen=True)
class Notebook:
    """A released notebook and its last check, if any."""

    path: Path
    max_points: float
    points: float | None = None
    when: float = 0.0

    @property
    def name(self) -> str:
        """The name without the number that orders the files."""
        return self.path.stem.lstrip("0123456789-")


def show(folder: str | os.PathLike[str] = ".") -> HTML:
    """Return a table of the assignments in a folder: a bar and the points of each notebook, and where to continue.

    Args:
        folder: a folder with one subfolder for each assignment.
    """
    found = notebooks(Path(folder))
    if not found:
        return HTML("<p>There are no assignments in this folder.</p>")
    rows = "".join(_row(notebook) for notebook in found)
    done = sum(notebook.points or 0 for notebook in found)
    most = sum(notebook.max_points for notebook in found)
    nearest = next((each for each in found if (each.points or 0) < each.max_points), None)
    ending = f"Go on with {_link(nearest)}." if nearest else "Everything that tests can judge is right."
    return HTML(
        "<table><thead><tr><th>assignment</th><th>notebook</th><th>points from tests</th><th>last check</th></tr>"
        f"</thead><tbody>{rows}</tbody></table><p>{done:g} of {most:g} points. {ending}</p>{_questions()}"
    )


def notebooks(folder: Path) -> list[Notebook]:
    """Return the released notebooks below a folder in order, each with its last check."""
    checks = last_checks()
    found = []
    for path in sorted(folder.glob("[0-9]*/*.ipynb")):
        most = _points_of_tests(path)
        check = checks.get(str(path.resolve()), {})
        if most:
            found.append(Notebook(path.relative_to(folder), most, check.get("points"), check.get("time", 0.0)))
    return found


def _questions() -> str:
    """Return a line about the quick questions that were answered; nothing if none was."""
    all_answers = [entry["answers"] for entry in kept().values() if entry["answers"]]
    if not all_answers:
        return ""
    solved = sum(any(answer["right"] for answer in answers) for answers in all_answers)
    at_once = sum(answers[0]["right"] for answers in all_answers)
    return f"<p>Quick questions: {solved} answered, {at_once} of them at the first attempt.</p>"


def _row(notebook: Notebook) -> str:
    if notebook.points is None:
        points, when = f"{'░' * BAR} of {notebook.max_points:g}", "not yet"
    else:
        full = int(BAR * notebook.points / notebook.max_points)
        points = f"{'█' * full}{'░' * (BAR - full)} {notebook.points:g} of {notebook.max_points:g}"
        when = time.strftime("%d %b, %H:%M", time.localtime(notebook.when))
    cells = escape(notebook.path.parent.name), _link(notebook), points, when
    return "<tr>" + "".join(f'<td style="text-align: left">{cell}</td>' for cell in cells) + "</tr>"


def _link(notebook: Notebook) -> str:
    return f'<a href="{escape(notebook.path.as_posix())}">{escape(notebook.name)}</a>'


def _points_of_tests(path: Path) -> float:
    """Return the maximum points of the tests in a notebook; 0 if it is unreadable or has none."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        graded = [cell["metadata"].get("nbgrader", {}) for cell in cells if cell["cell_type"] == "code"]
        return float(sum(cell.get("points", 0) for cell in graded if cell.get("grade")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return 0.0
