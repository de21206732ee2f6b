"""Renders the feedback page of a student: the summary, and the notebook without hidden tests and scripts.

It replaces nbgrader's page. Three things make it fast: a cell that is the same in many notebooks is rendered
once for a class (and so is its code if only its points differ), the template is compiled once, and nbconvert's last
step, which parses the page again to add alt text, is skipped. The course's pictures have alt text already.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from ipython_pygments_lexers import IPython3Lexer
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, GetGrades
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]
from traitlets.config import Config

from grader.classroom.gradebook.reader import ledger_of
from grader.classroom.gradebook.rules import NotebookScore, due_for
from grader.classroom.page import sanitize
from grader.classroom.page.autograded import place_of
from grader.classroom.page.exercises import anchor, cell_state, is_by_person, put_score, score_of
from grader.classroom.page.summary import OVERVIEW, TEMPLATES, overview, styles, summary
from grader.engine.notebook.cells import FORMS, CellType, grade_id, type_of
from grader.engine.notebook.outline import GRADED, Outline
from grader.engine.view import relabelled
from grader.text import plural

KEPT_CELLS, KEPT_CHARACTERS = 1_000, 20_000
"""Number of cached cells, a few times as many as in an assignment, and the longest one in characters."""

BEYOND_PYTHON = re.compile("[%!?]")
"""Characters of IPython's own syntax: each line of it has one (magics, programs, help)."""
MAX_IPYTHON = 5_000
"""Longest code, in characters, that goes through IPython's lexer: for a cell magic, its time grows with the square."""

EMPTY_LINES, MAX_EMPTY_LINES = re.compile(r"\n(?:[^\S\n]*\n){20,}"), 20

_python, _ipython = PythonLexer(), IPython3Lexer()
_formatter = HtmlFormatter(cssclass=" highlight hl-ipython3")


class FeedbackExporter(HTMLExporter):
    """Renders an autograded notebook as a feedback page.

    `resources["nbgrader"]` has the notebook's name and its late penalty; the metadata of its cells, their points.
    """

    def __init__(self, **traits: Any) -> None:
        self._html_cache: dict[str, str] = {}
        super().__init__(raw_template=(TEMPLATES / "page.html.j2").read_text(), **traits)
        # Registered here, because filters in a course's configuration override the default filters.
        self.register_filter("highlight_code", _highlight)

    @property
    def default_config(self) -> Config:
        """Return nbconvert's default configuration."""
        config = super().default_config.copy()
        # _best_form replaces this section, and nbgrader's preprocessors would log warnings about its settings.
        config.pop("NbConvertBase", None)
        return config

    def default_filters(self) -> Any:
        """Yield nbconvert's filters and then those that replace or extend them."""
        yield from super().default_filters()
        yield from FILTERS.items()
        yield "cached_html", self._cached_html
        yield from PAGE_FILTERS.items()
        yield "filter_data_type", _best_form

    def _init_preprocessors(self) -> None:
        super()._init_preprocessors()
        # nbconvert's own preprocessors make styles that the page does not need.
        self._preprocessors = [
            each for each in self._preprocessors if not type(each).__module__.startswith("nbconvert")
        ]

    def from_notebook_node(  # type: ignore[override]  # nbconvert's HTMLExporter returns text, too
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        """Return the page of a notebook, and the resources it was made with.

        Args:
            nb: the autograded notebook, which is changed.
            resources: nbconvert's resources, with nbgrader's scores.
            options: nbconvert's options.
        """
        page_resources = self._init_resources(resources)
        page_resources["styles"] = styles()
        labels = Outline(nb).labels
        html, page_resources = TemplateExporter.from_notebook_node(self, _NotCopied(nb), page_resources, **options)
        return relabelled(html, labels), page_resources

    def _cached_html(self, cell: NotebookNode, render: Callable[[NotebookNode], str]) -> str:
        """Return the HTML of a cell, rendered once. It depends on the cell alone; even its anchor is the cell's id."""
        key = json.dumps(cell)
        html = self._html_cache.pop(key, None)
        if html is None:
            html = render(cell)
        if len(key) <= KEPT_CHARACTERS:
            # The cell used last goes to the end, and the first is dropped first.
            self._html_cache[key] = html
            if len(self._html_cache) > KEPT_CELLS:
                del self._html_cache[next(iter(self._html_cache))]
        return html

    def _preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        # nbconvert's method copies the notebook, and checks its schema again around each preprocessor.
        for preprocessor in self._preprocessors:
            nb, resources = preprocessor(nb, resources)
        return nb, resources


class PlainExporter(FeedbackExporter):
    """Renders the same page with all text verbatim, for a notebook that takes too long to format."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.register_filter("markdown2html", lambda source, cell=None: sanitize.verbatim(source))
        self.register_filter("highlight_code", lambda source, metadata=None: sanitize.verbatim(source))


class Grades(GetGrades):
    """Reads scores and comments from the gradebook as nbgrader does, and also which answers wait for a person.

    It adds the overview page of the assignment.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the notebook with its scores, and the resources with nbgrader's scores and the overview page.

        Args:
            nb: the autograded notebook.
            resources: nbconvert's resources, with nbgrader's names of notebook, assignment and student.
        """
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            ledger = ledger_of(gradebook.db, names["assignment"], student=names["student"], cells=True)
        self._notebooks = ledger.of(names["student"]).notebooks
        nb, resources = super().preprocess(nb, resources)
        if Path(OVERVIEW).stem not in self._notebooks:
            course = self.parent.parent.coursedir
            folder = Path(course.format_path(course.autograded_directory, names["student"], names["assignment"]))
            graded = {path.stem for path in folder.glob("*.ipynb")}
            # nbconvert writes these files beside the page.
            extension = ledger.of(names["student"]).extension
            extended_to = due_for(ledger.due, extension) if extension else None
            page = overview(names["assignment"], self._notebooks, graded, extended_to=extended_to)
            resources["outputs"] = {OVERVIEW: page.encode()}
        return nb, resources

    def _get_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        put_score(cell, self._notebooks[self.notebook_id].cells[cell.metadata.nbgrader.grade_id])


class _CellsOfOurs:
    """Applies nbgrader's preprocessor to some types of cells, so that a student's text between such markers stays."""

    cell_types: tuple[CellType, ...]

    def preprocess_cell(self, cell: NotebookNode, resources: dict[str, Any], index: int) -> tuple[NotebookNode, Any]:
        """Return the cell as the release shows it, and the resources.

        Args:
            cell: any cell of the notebook.
            resources: nbconvert's resources.
            index: the number of the cell.
        """
        if type_of(cell) not in self.cell_types:
            return cell, resources
        shown: tuple[NotebookNode, Any] = super().preprocess_cell(cell, resources, index)  # type: ignore[misc]
        return shown


class HideTests(_CellsOfOurs, ClearHiddenTests):
    """Removes the hidden part of test cells."""

    cell_types = (CellType.TEST,)


class HideMarkSchemes(_CellsOfOurs, ClearMarkScheme):
    """Removes the marking scheme from questions and tasks."""

    cell_types = (CellType.READ_ONLY, CellType.TASK)


class _NotCopied(NotebookNode):
    """A notebook that its exporter may change. nbconvert copies others first, which takes half as long as the page."""

    def __deepcopy__(self, memo: Any) -> "_NotCopied":
        return self


def _summary(notebook: NotebookNode, resources: dict[str, Any]) -> str:
    header = resources["nbgrader"]
    cells = {grade_id(cell) or "": score_of(cell) for cell in notebook.cells if type_of(cell) in GRADED}
    score = NotebookScore.of(cells, {}, header["late_penalty"])
    return summary(notebook, header["notebook"], score, place_of(notebook))


def _best_form(data: dict[str, Any]) -> list[str]:
    """Return the MIME type in which an output is shown."""
    return [form for form in FORMS if form in data][:1]


def highlighted(source: str, metadata: Any = None) -> str:
    """Return code as HTML with nbconvert's colours, or without colours if they would take long.

    Args:
        source: the code.
        metadata: not used; nbconvert passes the metadata of the cell.
    """
    # The highlighter's time grows with the square of the number of lines that hold only spaces.
    source = EMPTY_LINES.sub("\n" * MAX_EMPTY_LINES, source)
    return _highlighted_once(source) if len(source) <= KEPT_CHARACTERS else sanitize.verbatim(source)


@pass_context
def markdown_of(context: Context, source: str, cell: NotebookNode | None = None) -> str:
    """Return the markdown of a cell as sanitized HTML. All of an answer is unfolded; the course's own hints are not.

    Args:
        context: the variables of the template; in nbconvert's, one of them is the cell.
        source: the markdown.
        cell: the cell, if the template passes it.
    """
    cell = cell or context.get("cell")
    return sanitize.markdown(source, is_folded=cell is not None and type_of(cell) is not CellType.MANUAL_ANSWER)


def unchanged(html: str) -> str:
    """Return `html`. nbconvert's filter looks for links of IPython 2, in time that grows with the length cubed."""
    return html


def _highlight(source: str, metadata: Any = None) -> str:
    html, (first, _, _) = highlighted(source), source.partition("\n")
    # Only cells from the source are folded in the notebook: repair removes this setting from all others.
    is_folded = (metadata or {}).get("jupyter", {}).get("source_hidden")
    return f"<details><summary><code>{escape(first)}</code></summary>{html}</details>" if is_folded else html


@lru_cache(maxsize=256)
def _highlighted_once(source: str) -> str:
    """Return code with nbconvert's colours; plain Python goes through Python's lexer, which takes half the time."""
    is_ipython = len(source) <= MAX_IPYTHON and BEYOND_PYTHON.search(source)
    return highlight(source or " ", _ipython if is_ipython else _python, _formatter)


PAGE_FILTERS = {
    "anchor": anchor,
    "cell_state": cell_state,
    "is_by_person": is_by_person,
    "cell_type": lambda cell: type_of(cell).value,
    "counted": plural,
    "summary": _summary,
}

FILTERS = {"markdown2html": markdown_of, "strip_files_prefix": unchanged, "highlight_code": highlighted}
"""Filters that make a page safe and fast, here and in the formgrader."""
