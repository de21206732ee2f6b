"""The feedback page of a student: nbgrader's own page, without hidden tests and scripts, and quick for a class.

The page is nbgrader's template. What is ours: markdown and code are rendered once for a whole class, the templates are
compiled once, and nbconvert's last step, which parses the page again to add alt text, is left out; our pictures have
theirs.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import nbgrader
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme
from traitlets.config import Config

from course.grading import sanitize
from course.grading.notebook import Kind, kind

TEMPLATES = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"


class FeedbackExporter(HTMLExporter):
    """Renders an autograded notebook as nbgrader's feedback page. `resources["nbgrader"]` holds its scores."""

    @property
    def default_config(self) -> Config:
        """Where nbgrader keeps its page."""
        ours = Config()
        ours.HTMLExporter.template_name = "feedback"
        ours.HTMLExporter.extra_template_basedirs = [str(TEMPLATES / "templates")]
        styles = TEMPLATES / "static" / "node_modules" / "bootstrap" / "dist" / "css"
        ours.HTMLExporter.extra_template_paths = [str(styles)]
        config = super().default_config.copy()
        config.merge(ours)
        return config

    def default_filters(self) -> Any:
        """nbconvert's, with ours for prose and code."""
        yield from super().default_filters()
        yield "markdown2html", sanitize.markdown
        yield "highlight_code", _highlight
        yield "filter_data_type", _most_telling

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **more: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page of `nb` and the resources it was made with."""
        return TemplateExporter.from_notebook_node(self, nb, self._init_resources(resources), **more)

    def _preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        # nbconvert's own would copy the notebook and check its schema again around each of them.
        for preprocessor in self._preprocessors:
            nb, resources = preprocessor(nb, resources)
        return nb, resources


class HideTests(ClearHiddenTests):
    """Takes the hidden part out of our test cells, and leaves alone what a student writes between such marks."""

    def preprocess_cell(self, cell: NotebookNode, resources: dict[str, Any], index: int) -> tuple[NotebookNode, Any]:
        """The cell as the release shows it."""
        return super().preprocess_cell(cell, resources, index) if kind(cell) is Kind.TEST else (cell, resources)


class HideMarkSchemes(ClearMarkScheme):
    """Takes the marking scheme out of our questions, and leaves alone what a student writes between such marks."""

    def preprocess_cell(self, cell: NotebookNode, resources: dict[str, Any], index: int) -> tuple[NotebookNode, Any]:
        """The cell as the release shows it."""
        return super().preprocess_cell(cell, resources, index) if kind(cell) is Kind.READ_ONLY else (cell, resources)


def _most_telling(data: dict[str, Any]) -> list[str]:
    """Of the forms of an output, the one to show."""
    return [form for form in ("text/html", "image/png", "image/jpeg", "text/plain") if form in data][:1]


def _highlight(source: str, metadata: Any = None) -> str:
    return _highlighted(source)


@lru_cache(maxsize=4096)
def _highlighted(source: str) -> str:
    return Highlight2HTML(pygments_lexer="ipython3")(source)
