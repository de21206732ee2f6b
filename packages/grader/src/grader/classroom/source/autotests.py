"""Makes tests of AUTOTEST lines as nbgrader does, by running our solution in a kernel, once for each state of a source.

notebook, autotests.yml, files --digest--> ~/.cache/grader/autotests/DIGEST.json, or nbgrader's InstantiateTests

The cache is in the home folder of whoever grades, which no submission can read or write.
"""

import copy
import hashlib
import json
import logging
import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbgrader
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.preprocessors.instantiatetests import CellExecutionError, InstantiateTests, start_new_kernel
from traitlets.config import Config

from grader.engine.notebook.cells import grade_id
from grader.engine.notebook.folder.files import AUTOTEST, autotest_line
from grader.errors import GraderError
from grader.files import replace_file, stamp
from grader.text import one_line

Resources = dict[str, Any]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
MAX_REASON = 300
"""Characters of an error that are shown."""
_known: dict[str, dict[str, str]] = {}
"""Instantiated cells by number, by digest: for this process, if there is no folder for a cache."""


class AutoTests(InstantiateTests):
    """nbgrader's InstantiateTests with a cache, and with errors that name the cell, the line and the reason.

    It takes the place of nbgrader's own, which is disabled.
    """

    _cell = ""
    _line = 0
    """Of the cell: the line whose tests are being made, or 0."""
    _above = 0
    """Of the cell: the last line whose tests were made, or 0."""
    _directives: tuple[tuple[int, str], ...] = ()
    """Of the cell: its AUTOTEST lines, each with its number."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the notebook, which is changed, and the resources.

        Args:
            nb: an instructor's notebook.
            resources: nbconvert's resources, with the folder of the notebook.

        Raises:
            GraderError: a test cannot be instantiated.
        """
        cells = [(number, cell) for number, cell in enumerate(nb.cells) if cell.cell_type == "code"]
        first = next(((number, cell) for number, cell in cells if autotest_line(cell.source)), None)
        if first is None:
            return nb, resources
        self._stand_at(*first)
        folder = Path(resources["metadata"]["path"])
        try:
            key = self._key(nb, folder)
            if (made := _cached(key)) is None:
                self._run(nb, resources, folder)
                made = {str(number): _without_directives(cell.source) for number, cell in cells}
                _keep(key, made)
        except GraderError:
            raise
        except Exception as error:
            raise self._refused(error) from error
        for number, cell in cells:
            cell.source = made[str(number)]
        return nb, resources

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> tuple[NotebookNode, Resources]:
        """Return the cell with its tests, and the resources.

        Args:
            cell: the cell, which is changed.
            resources: nbconvert's resources.
            index: its number.

        Raises:
            GraderError: a test cannot be instantiated.
        """
        self._stand_at(index, cell)
        lines = cell.source.splitlines() if cell.cell_type == "code" else ()
        self._directives = tuple((number, line) for number, line in enumerate(lines, 1) if autotest_line(line))
        for number, line in self._directives:
            self._line = number
            if not line.partition(AUTOTEST)[2].strip(" ;"):
                raise self._refused(ValueError(f"{AUTOTEST} names nothing to test"))
        self._line = 0
        try:
            return super().preprocess_cell(cell, resources, index)
        except Exception as error:
            raise self._refused(error) from error

    def _run(self, nb: NotebookNode, resources: Resources, folder: Path) -> None:
        """Do what nbgrader's `preprocess` does, and end the kernel whatever happens."""
        resources["kernel_name"] = name = nb.metadata.get("kernelspec", {}).get("name", "")
        if name not in self.comment_strs or name not in self.sanitizers:
            known = ", ".join(sorted(self.comment_strs.keys() & self.sanitizers.keys()))
            raise ValueError(f"its kernel is {name!r}, and nbgrader makes tests for {known}")
        self._load_test_template_file(resources)
        self.global_tests_loaded, self.sanitizer = True, self.sanitizers[name]
        manager, self.kc = start_new_kernel(kernel_name=name, cwd=str(folder), stderr=subprocess.DEVNULL)
        try:
            NbGraderPreprocessor.preprocess(self, nb, resources)
        finally:
            self.kc.stop_channels()
            manager.shutdown_kernel(now=True)

    def _instantiate_tests(self, snippet: str, salt: str | None = None) -> Any:
        lines = (number for number, line in self._directives if number >= self._above and snippet in line)
        self._line = self._above = next(lines, self._above)
        tests = super()._instantiate_tests(snippet, salt)
        self._line = 0
        return tests

    def _load_test_template_file(self, resources: Resources) -> None:
        folder = _folder_of_templates(Path(resources["metadata"]["path"]), self.autotest_filename, self.config)
        super()._load_test_template_file({**resources, "metadata": {"path": str(folder)}})

    def _stand_at(self, number: int, cell: NotebookNode) -> None:
        self._cell = grade_id(cell) or f"cell {number + 1}"
        self._line, self._above = autotest_line(cell.source), 0
        self._directives = ()

    def _key(self, nb: NotebookNode, folder: Path) -> str:
        """Return a digest of everything that the tests depend on."""
        beside = (path for path in sorted(folder.rglob("*")) if path.suffix != ".ipynb")
        settings = {name: value for name, value in self.trait_values(config=True).items() if name != "sanitizers"}
        parts = (
            nbgrader.__version__,
            [(cell.cell_type, cell.source, cell.metadata.get("nbgrader", {})) for cell in nb.cells],
            nb.metadata.get("kernelspec", {}).get("name"),
            templates(folder, self.config, self.autotest_filename),
            sorted(settings.items()),
            [(str(path), stamp(path)) for path in beside],
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _refused(self, error: Exception) -> GraderError:
        line = self._line or next((number for number, _ in self._directives if number > self._above), 0)
        if isinstance(error, CellExecutionError):
            reason = f"{error.ename}: {error.evalue}"
            places = re.findall(r"line (\d+)", COLOUR.sub("", "\n".join(map(str, error.traceback))))
            line = self._line or (self._above + int(places[0]) if places else 0)
        elif isinstance(error, KeyError):
            reason = f"{self.autotest_filename} has no {error}"
        elif isinstance(error, AttributeError) and error.__context__:
            reason = str(error.__context__)  # of YAML: nbgrader's message about it fails
        else:
            reason = str(error) or "nbgrader allows it only in test cells"
        place = f"{self._cell}, line {line}" if line else self._cell
        return GraderError(
            f"{place}: its {AUTOTEST} cannot be made a test ({one_line(reason, MAX_REASON)}): correct the cell, the "
            f"cells above it or {self.autotest_filename}"
        )


def instantiate(source: NotebookNode, folder: Path, config: Config) -> NotebookNode:
    """Return a copy of an instructor's notebook with instantiated tests.

    Args:
        source: the notebook.
        folder: the folder of its assignment.
        config: the configuration of the course.

    Raises:
        GraderError: a test cannot be instantiated; the message names the cell.
    """
    silent = logging.Logger("autotests", logging.CRITICAL + 1)
    resources = {"metadata": {"path": str(folder.resolve())}}
    made: NotebookNode = AutoTests(config=config, log=silent).preprocess(copy.deepcopy(source), resources)[0]
    return made


def templates(folder: Path, config: Config, name: str | None = None) -> str:
    """Return the text of the file by which the tests of an assignment are made.

    Args:
        folder: the folder of the assignment.
        config: the configuration of the course.
        name: the file's name, if it is not the configured one.

    Raises:
        FileNotFoundError: neither this folder nor that of the course has it.
    """
    name = name or AutoTests(config=config).autotest_filename
    return (_folder_of_templates(folder, name, config) / name).read_text(encoding="utf-8")


def _folder_of_templates(folder: Path, name: str, config: Config) -> Path:
    root = Path(CourseDirectory(config=config).root)
    for each in (folder, root):
        if (each / name).is_file():
            return each
    raise FileNotFoundError(f"there is no {name} in {folder} or {root}")


def _without_directives(source: str) -> str:
    """Return an instantiated cell in which no comment of a template looks like a line to instantiate."""
    return "\n".join(
        line.replace(AUTOTEST, AUTOTEST.lower()) if autotest_line(line) else line for line in source.split("\n")
    )


def _file(key: str) -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "grader", "autotests", f"{key}.json")


def _cached(key: str) -> dict[str, str] | None:
    if key not in _known:
        with suppress(OSError, ValueError):
            _known[key] = json.loads(_file(key).read_text(encoding="utf-8"))
    return _known.get(key)


def _keep(key: str, made: dict[str, str]) -> None:
    _known[key] = made
    with suppress(OSError):
        replace_file(_file(key), json.dumps(made), mode=0o600)
