"""Makes the files of a graded notebook: the autograded notebook as text, and the feedback page.

    report + repaired notebook --> GradedNotebook --scores--> page

The class run and the service make pages themselves, once the gradebook has the scores. A worker of a cluster makes them
with predicted scores, and a page is made again if the gradebook has different ones.
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

from grader.classroom.gradebook.rules import CellScore, NotebookScore, NotebookScores, RegisteredNotebook
from grader.classroom.page.autograded import answer_digests, autograded, unanswered
from grader.classroom.page.exercises import put_score
from grader.classroom.page.feedback import FeedbackExporter, HideMarkSchemes, HideTests, PlainExporter
from grader.classroom.page.result_files import VERSION, NotebookRecord, record
from grader.classroom.page.summary import points_text, unformatted
from grader.classroom.source.basis import Basis
from grader.classroom.source.faults import Fault, of_result
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

    `text` is the autograded notebook as JSON, `record` the results of its tests, and `answers` are digests of its
    written answers. `page` shows the score in `shown`; without it there is no page yet.
    """

    text: str
    record: NotebookRecord = field(default_factory=lambda: NotebookRecord(VERSION, [], {}))
    answers: dict[str, str] = field(default_factory=dict)
    page: str = ""
    shown: NotebookScore | None = None

    def scores(self, answers_before: Callable[[], dict[str, str]]) -> NotebookScores:
        """Return the scores for the gradebook.

        Args:
            answers_before: returns digests of the previously graded written answers; called only if needed.
        """
        same = cache(lambda: {cell for cell, _ in self.answers.items() & answers_before().items()})
        return NotebookScores({test.name: test for test in self.record.tests}, self.record.unanswered, same)


@dataclass
class StudentResult:
    """One student's results, by the name of each graded notebook.

    `notebooks` are the repaired notebooks, and the autograded ones once `graded` has their texts; they do not travel.
    `unread` are the notebooks that cannot be read, with the reason for the student. `errors` are the reasons why
    something could not be graded, `notices` what else an instructor may want to know. `known_faults` are those of tests
    that could not be graded, from an earlier run. `basis` is what the scores depend on besides the submission.
    """

    student: str
    reports: dict[str, Report] = field(default_factory=dict)
    notebooks: dict[str, NotebookNode] = field(default_factory=dict)
    graded: dict[str, GradedNotebook] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    known_faults: list[Fault] = field(default_factory=list)
    basis: Basis | None = None

    @property
    def faults(self) -> list[Fault]:
        """The tests that cost this student points by a fault of their own."""
        tests = ((name, test) for name, graded in self.graded.items() for test in graded.record.tests)
        return self.known_faults + [of_result(name, test) for name, test in tests if test.is_ungradable]


@dataclass(frozen=True)
class PreviousScores:
    """The previous scores and answers on which a student's results may depend, by notebook.

    `scores` are those in the gradebook, `answers` digests of the written answers that were graded before.
    """

    scores: dict[str, NotebookScore] = field(default_factory=dict)
    answers: dict[str, dict[str, str]] = field(default_factory=dict)


class PageMaker:
    """Makes the texts of one assignment. Only in the main thread of a process is a hostile notebook stopped in time."""

    def __init__(self, config: Config, notebooks: Mapping[str, RegisteredNotebook]) -> None:
        """Prepare the exporter, one for the whole class, because it compiles nbgrader's templates once.

        Args:
            config: the configuration of the course.
            notebooks: the gradebook's entries of the assignment, by notebook.
        """
        self._config, self._notebooks = config, notebooks
        self._exporter = self._new_exporter(FeedbackExporter)

    def warm_up(self, sources: dict[str, NotebookNode]) -> None:
        """Render the cells that all pages share. It takes a second, best spent before there is anything to write."""
        for name, source in sources.items():
            cells = {cell: CellScore(0.0, 0.0) for cell in self._notebooks[name].checksums}
            self._rendered(name, deepcopy(source), NotebookScore.of(cells, {}))

    def finish(self, result: StudentResult) -> None:
        """Make the autograded notebooks of a result; its pages come later."""
        for name in [name for name in result.notebooks if name not in result.graded]:
            notebook = autograded(result.notebooks[name], result.reports[name], self._notebooks[name].checksums)
            # nbformat.writes validates, copies, splits lines and indents, and each of these takes longer than
            # json.dumps. The submission has been validated, and the rest is the grader's own.
            text = json.dumps(notebook, ensure_ascii=False)
            result.notebooks[name] = notebook
            found = record(result.reports[name], notebook, unanswered(notebook))
            result.graded[name] = GradedNotebook(text, found, answer_digests(notebook))

    def predict(self, result: StudentResult, previous: PreviousScores) -> None:
        """Make the pages of a result with the scores that the gradebook will probably have, without a late penalty."""
        for name, graded in result.graded.items():
            before = previous.answers.get(name, {})
            score = previous.scores.get(name, NotebookScore())
            self.show(result, name, self._notebooks[name].after(score, graded.scores(before.copy)))

    def show(self, result: StudentResult, name: str, shown: NotebookScore) -> str:
        """Return the page of a notebook with a score, and make it if necessary.

        Args:
            result: the student's result, finished.
            name: the notebook's name.
            shown: the score, with its cells.
        """
        graded = result.graded[name]
        if graded.shown != shown:
            # Parsing the text would take half as long as making the page.
            notebook = result.notebooks.pop(name, None) or from_dict(json.loads(graded.text))
            graded.page, graded.shown = self._rendered(name, notebook, shown), shown
        return graded.page

    def made_of(self, text: str, shown: NotebookScore) -> str:
        """Return a digest of everything that a page depends on.

        Args:
            text: the autograded notebook.
            shown: the score, with its cells and comments.
        """
        score = shown.penalty, sorted(shown.cells.items()), sorted(shown.comments.items())
        parts = (page_digest(), repr(page_config(self._config)), repr(score), text)
        return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()

    def _rendered(self, name: str, notebook: NotebookNode, shown: NotebookScore) -> str:
        for cell in notebook.cells:
            own = grade_id(cell) or ""
            if own in shown.cells:
                put_score(cell, shown.cells[own])
            if own in shown.comments:
                cell.metadata["nbgrader"]["comment"] = shown.comments[own].text
        header = {"notebook": name, "late_penalty": shown.penalty}
        with suppress(CpuLimitExceeded), cpu_limit(PAGE_SECONDS):
            return self._exporter.from_notebook_node(notebook, {"nbgrader": header})[0]
        with suppress(CpuLimitExceeded), cpu_limit(PAGE_SECONDS):
            return self._new_exporter(PlainExporter).from_notebook_node(notebook, {"nbgrader": header})[0]
        return unformatted(name, points_text(shown))

    def _new_exporter(self, exporter_class: type[FeedbackExporter]) -> FeedbackExporter:
        exporter = exporter_class(config=self._config)
        for preprocessor in (HideTests, HideMarkSchemes):
            exporter.register_preprocessor(preprocessor, enabled=True)
        return exporter


@cache
def page_digest() -> str:
    """Return a digest of the code and templates on which pages depend, but no score does."""
    digest = hashlib.sha256()
    for path in sorted(path for path in CLASSROOM.rglob("*") if path.suffix in (".py", ".j2", ".css")):
        digest.update(str(path.relative_to(CLASSROOM)).encode() + path.read_bytes())
    return digest.hexdigest()


def page_config(config: Config) -> Config:
    """Return the sections of a configuration on which pages depend."""
    makers = (FeedbackExporter, PlainExporter, HideTests, HideMarkSchemes)
    sections = {each.__name__ for maker in makers for each in maker.__mro__}
    return Config({name: section for name, section in config.items() if name in sections})
