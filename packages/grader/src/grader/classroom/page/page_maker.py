"""Makes what a student is given for a graded notebook: the autograded notebook as text, and the feedback page.

    report + repaired notebook --> GradedNotebook --scores--> page

The class run and the service make pages themselves, once the gradebook has the scores. A worker of a cluster makes them
with scores that it predicts, and a page is made again where the gradebook has others.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from nbformat import NotebookNode, from_dict
from traitlets.config import Config

from grader.classroom.gradebook.rules import Mark, NotebookScores, RegisteredNotebook, Shown
from grader.classroom.page.autograded import answer_digests, autograded, unanswered
from grader.classroom.page.feedback import FeedbackExporter, HideMarkSchemes, HideTests, PlainExporter
from grader.classroom.page.records import record
from grader.classroom.page.sanitize import verbatim
from grader.classroom.page.summary import Standing
from grader.engine.cpu_limit import CpuLimitExceeded, cpu_limit
from grader.engine.notebook.cells import grade_id
from grader.engine.report import Report

CLASSROOM = Path(__file__).parents[1]
"""The folder with the code that writes autograded notebooks and pages."""
PAGE_SECONDS = 10
"""CPU seconds for one feedback page, which usually takes between a hundredth of a second and two seconds."""


@dataclass
class GradedNotebook:
    """The results of grading one notebook.

    `text` is the autograded notebook as JSON, `answers` are digests of its written answers, and `record` is what the
    report on the class is made from. `page` shows the scores in `shown`; without these there is no page yet.
    """

    text: str
    points: dict[str, float]
    unanswered: list[str]
    answers: dict[str, str]
    record: bytes
    page: str = ""
    shown: Shown | None = None

    def scores(self, answers_before: Callable[[], dict[str, str]]) -> NotebookScores:
        """Return what the gradebook is to have.

        Args:
            answers_before: returns digests of the written answers that were graded before; called if it matters.
        """
        same = cache(lambda: {cell for cell, _ in self.answers.items() & answers_before().items()})
        return NotebookScores(self.points, self.unanswered, same)


@dataclass
class StudentResult:
    """One student's results, by the name of each notebook that was graded: its report and what it leaves behind.

    `notebooks` are the repaired notebooks, and the autograded ones once `graded` has their texts; they do not travel.
    `unread` are the notebooks that cannot be read. `troubles` say in words what could not be graded, `remarks` what
    else an instructor may want to know.
    """

    student: str
    reports: dict[str, Report] = field(default_factory=dict)
    notebooks: dict[str, NotebookNode] = field(default_factory=dict)
    graded: dict[str, GradedNotebook] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Earlier:
    """The earlier marks and answers on which a student's results may depend, by notebook.

    `marks` are what the gradebook has of the cells, `answers` digests of the written answers that were graded before.
    """

    marks: dict[str, dict[str, Mark]] = field(default_factory=dict)
    answers: dict[str, dict[str, str]] = field(default_factory=dict)


class PageMaker:
    """Makes the texts of one assignment. Only in the main thread of a process is a hostile notebook stopped in time."""

    def __init__(self, config: Config, notebooks: Mapping[str, RegisteredNotebook]) -> None:
        """Prepare the exporter, one for the whole class, because it compiles nbgrader's templates once.

        Args:
            config: the configuration of the course.
            notebooks: what the gradebook has of the assignment, by notebook.
        """
        self._config, self._notebooks = config, notebooks
        self._exporter = self._new_exporter(FeedbackExporter)

    def warm_up(self, sources: dict[str, NotebookNode]) -> None:
        """Render what all pages have in common. It takes a second, best spent before there is anything to write."""
        for name, source in sources.items():
            cells = {cell: {"score": 0.0, "points": 0.0} for cell in self._notebooks[name].checksums}
            self._rendered(name, deepcopy(source), Shown(cells))

    def finish(self, result: StudentResult) -> None:
        """Make the autograded notebooks of a result; its pages come later."""
        for name in [name for name in result.notebooks if name not in result.graded]:
            notebook = autograded(result.notebooks[name], result.reports[name], self._notebooks[name].checksums)
            points = {test.name: test.points for test in result.reports[name].results}
            # nbformat.writes validates, copies, splits lines and indents, and each of these takes longer than
            # json.dumps. What was read has been validated, and the rest is the grader's own.
            text = json.dumps(notebook, ensure_ascii=False)
            result.notebooks[name] = notebook
            blank = sorted(unanswered(notebook))
            found = record(result.reports[name], notebook, blank)
            result.graded[name] = GradedNotebook(text, points, blank, answer_digests(notebook), found)

    def predict(self, result: StudentResult, earlier: Earlier) -> None:
        """Make the pages of a result with the scores that the gradebook will most likely have, and no late penalty."""
        for name, graded in result.graded.items():
            before = earlier.answers.get(name, {})
            scores = graded.scores(before.copy)
            predicted = self._notebooks[name].predicted(scores, earlier.marks.get(name, {}))
            self.show(result, name, Shown(predicted))

    def show(self, result: StudentResult, name: str, shown: Shown) -> str:
        """Return the page of a notebook with some scores; it is made if there is none that shows them.

        Args:
            result: the student's result, finished.
            name: the notebook's name.
            shown: the scores.
        """
        graded = result.graded[name]
        if graded.shown != shown:
            # Parsing the text would take half as long as making the page.
            notebook = result.notebooks.pop(name, None) or from_dict(json.loads(graded.text))
            graded.page, graded.shown = self._rendered(name, notebook, shown), shown
        return graded.page

    def _rendered(self, name: str, notebook: NotebookNode, shown: Shown) -> str:
        for cell in notebook.cells:
            if (cell_name := grade_id(cell)) is not None:
                cell.metadata["nbgrader"].update(shown.cells.get(cell_name, {}))
        header = {"notebook": name, "late_penalty": shown.late_penalty}
        with suppress(CpuLimitExceeded), cpu_limit(PAGE_SECONDS):
            return self._exporter.from_notebook_node(notebook, {"nbgrader": header})[0]
        with suppress(CpuLimitExceeded), cpu_limit(PAGE_SECONDS):
            return self._new_exporter(PlainExporter).from_notebook_node(notebook, {"nbgrader": header})[0]
        points = standing(name, shown).text
        return verbatim(f"{name}: {points}. This notebook takes too long to be shown as a page.")

    def _new_exporter(self, exporter_class: type[FeedbackExporter]) -> FeedbackExporter:
        exporter = exporter_class(config=self._config)
        for preprocessor in (HideTests, HideMarkSchemes):
            exporter.register_preprocessor(preprocessor, enabled=True)
        return exporter


@cache
def page_digest() -> str:
    """Return a digest of the code and the templates on which pages depend, and no score does."""
    digest = hashlib.sha256()
    for path in sorted(path for path in CLASSROOM.rglob("*") if path.suffix in (".py", ".j2", ".css")):
        digest.update(str(path.relative_to(CLASSROOM)).encode() + path.read_bytes())
    return digest.hexdigest()


def standing(name: str, shown: Shown, *, has_page: bool = True) -> Standing:
    """Return the standing of a notebook with some scores."""
    return Standing.of(name, shown.cells.values(), shown.late_penalty, has_page=has_page)


def page_config(config: Config) -> Config:
    """Return the sections of a configuration on which pages depend."""
    makers = (FeedbackExporter, PlainExporter, HideTests, HideMarkSchemes)
    sections = {each.__name__ for maker in makers for each in maker.__mro__}
    return Config({name: section for name, section in config.items() if name in sections})
