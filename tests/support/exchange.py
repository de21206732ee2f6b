"""A student who uses nbgrader's exchange, with the programs that students use."""

from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat import write as write_notebook
from nbgrader.apps import FetchFeedbackApp, NbGrader, SubmitApp
from nbgrader.apps.collectapp import CollectApp
from nbgrader.apps.releaseassignmentapp import ReleaseAssignmentApp

from tests.support.nbgrader_programs import run_program

IGNORED = ("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
"""Warnings of nbgrader's release_feedback, which leaves files open."""


class ExchangeStudent:
    """A student with a home folder of their own."""

    def __init__(self, name: str, course: Path, home: Path, logged: pytest.LogCaptureFixture) -> None:
        """Take a student.

        Args:
            name: the student's name.
            course: the course folder, which holds the exchange.
            home: the student's folder.
            logged: pytest's capture of logs.
        """
        self.name, self._course, self._home, self._logged = name, course, home, logged
        (course / "exchange").mkdir(exist_ok=True)
        (course / "exchange").chmod(0o777)

    def submit(self, assignment: str, notebook: str, content: NotebookNode, at: pytest.MonkeyPatch) -> None:
        """Submit a notebook of a released assignment, and let the instructor collect it."""
        at.chdir(self._course)
        self._run(ReleaseAssignmentApp, assignment, "--force")
        (self._home / assignment).mkdir(parents=True, exist_ok=True)
        write_notebook(content, self._home / assignment / f"{notebook}.ipynb")
        at.chdir(self._home)
        self._run(SubmitApp, assignment, *self._own())
        at.chdir(self._course)
        self._run(CollectApp, assignment)

    def fetched(self, assignment: str, notebook: str, at: pytest.MonkeyPatch) -> str:
        """Fetch the feedback, and return the page of a notebook."""
        at.chdir(self._home)
        self._run(FetchFeedbackApp, assignment, *self._own())
        [page] = (self._home / assignment / "feedback").rglob(f"{notebook}.html")
        at.chdir(self._course)
        return page.read_text(encoding="utf-8")

    def _own(self) -> tuple[str, ...]:
        cache, root = self._home / "cache", self._course / "exchange"
        return (
            f"--Exchange.root={root}", f"--Exchange.cache={cache}", "--course=attention",
            f"--CourseDirectory.student_id={self.name}",
        )  # fmt: skip

    def _run(self, program: type[NbGrader], *arguments: str) -> None:
        status, logged = run_program(program, self._logged, *arguments)
        assert status == 0, logged
