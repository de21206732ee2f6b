"""start.ipynb shows what the last checks found, and `make lab` opens it without nbgrader's tools for instructors."""

import json
import re
from pathlib import Path

import nbformat
import pytest

from grader_kernel import progress
from grader_kernel.contract import keep_check
from tests.support.notebooks import check, notebook
from tests.support.paths import REPOSITORY


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three notebooks of two assignments, and a home without checks."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name, points in (("01-one/1-first", 4), ("01-one/2-second", 6), ("02-two/1-third", 10)):
        path = tmp_path / "release" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook(check("one-check", "assert True", points=points)), path)
    return tmp_path / "release"


def shown(folder: Path) -> list[str]:
    """Return the rows of the table, without tags, and the sentence below it."""
    html = str(progress.show(folder).data)
    return [re.sub(r"<[^>]+>", " ", part).strip() for part in re.split("</tr>|</table>", html)[1:] if part.strip()]


def test_the_table_lists_the_notebooks_in_order_with_the_points_of_the_last_check(released: Path) -> None:
    """A later check replaces an earlier one; the sentence below names the first notebook not done, if there is one."""
    keep_check(released / "01-one/1-first.ipynb", 1, 4)
    keep_check(released / "01-one/1-first.ipynb", 4, 4)
    first, second, third, *ending = shown(released)
    assert re.match(r"01-one\s+first\s+█{12} 4 of 4\s+\d\d \w+", first)
    assert re.match(r"01-one\s+second\s+░{12} of 6\s+not yet", second) and third.startswith("02-two")
    assert "4 of 20 points. Go on with  second ." in " ".join(ending)
    for each in progress.notebooks(released):
        keep_check(released / each.path, each.max_points, each.max_points)
    assert "20 of 20 points. Everything that tests can judge is right." in " ".join(shown(released))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"other": {"points": 1}}'])
def test_a_damaged_file_is_no_check(released: Path, tmp_path: Path, content: str) -> None:
    """A file that cannot be read is as good as none, and the next check replaces it."""
    file = tmp_path / "state" / "grader" / "checks.json"
    file.parent.mkdir(parents=True)
    file.write_text(content)
    assert all(each.points is None for each in progress.notebooks(released))
    keep_check(released / "02-two/1-third.ipynb", 5, 10)
    assert [each.points for each in progress.notebooks(released)] == [None, None, 5]


def test_a_file_that_is_no_notebook_is_not_listed(released: Path) -> None:
    """A student's own files in the folders do no harm."""
    (released / "01-one" / "notes.ipynb").write_text("no JSON")
    (released / "01-one" / "own.ipynb").write_text(json.dumps({"cells": []}))
    assert len(progress.notebooks(released)) == 3


def test_students_see_no_tools_for_instructors() -> None:
    """`make lab` starts JupyterLab with the settings that tests/deploy/test_student_lab.py looks at."""
    lines = (REPOSITORY / "Makefile").read_text()
    assert re.findall(r"JUPYTER_CONFIG_PATH=\$\(CURDIR\)/(\S+) \$\(VENV\)/bin/jupyter lab", lines) == ["deploy/student"]
