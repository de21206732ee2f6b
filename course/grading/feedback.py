"""The feedback page of a student: nbgrader's own page, without hidden tests and scripts, and quick for a class.

The page is nbgrader's template. What is ours: a cell that is the same in many notebooks is rendered once for a class
(and so is its code, where only its points differ), the templates are compiled once, and nbconvert's last step, which
parses the page again to add alt text, is left out; our pictures have theirs.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import nbgrader
from ipython_pygments_lexers import IPython3Lexer
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from traitlets import default
from traitlets.config import Config

from course.grading import sanitize
from course.grading.notebook import FORMS, Kind, kind

TEMPLATES = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"

PAGE = """
{%- extends 'index.html.j2' -%}
{%- block header -%}{{ super() }}
<script type="text/x-mathjax-config">
MathJax.Hub.Config({CommonHTML: {linebreaks: {automatic: false}}});
</script>
{%- endblock header -%}
{%- block body_loop -%}
{%- for cell in nb.cells -%}
{%- set html = cell | rendered_before -%}
{%- if html is not none -%}{{ html }}
{%- else -%}{%- block any_cell scoped -%}{{ cell | rendered_now(super) }}{%- endblock any_cell -%}
{%- endif -%}
{%- endfor -%}
{%- endblock body_loop -%}
"""
"""nbgrader's page, which asks for each cell whether it was rendered before, and whose formulas stay in one line: in a
table MathJax would break the shortest.

To enter a block takes as long as to render a short cell: who was rendered before enters none."""

STYLES = """
summary { display: list-item; cursor: pointer; }
.rendered_html table { margin: 0.5em 0 1em; }
.rendered_html td, .rendered_html th { padding: 0.1em 0.6em; }
"""
"""What nbgrader's page lacks: a sign that something can be unfolded, and room in and around a table."""

KEPT_CELLS, KEPT_CHARACTERS = 1_000, 20_000
"""How many rendered cells are kept, and how long they may be: a few times as many as an assignment has."""

BEYOND_PYTHON = re.compile("[%!?]")
"""What every line has that IPython understands and Python does not: magics, programs and questions."""

EMPTY_LINES, MAX_EMPTY_LINES = re.compile(r"\n(?:[^\S\n]*\n){20,}"), 20

_python, _ipython = PythonLexer(), IPython3Lexer()
_formatter = HtmlFormatter(cssclass=" highlight hl-ipython3")


class FeedbackExporter(HTMLExporter):
    """Renders an autograded notebook as nbgrader's feedback page. `resources["nbgrader"]` holds its scores."""

    def __init__(self, **more: Any) -> None:
        self._rendered: dict[str, str] = {}
        super().__init__(raw_template=PAGE, **more)
        # Here, for what a course's configuration names comes after the default filters.
        self.register_filter("highlight_code", _highlight)

    @property
    def default_config(self) -> Config:
        """Where nbgrader keeps its page."""
        ours = Config()
        ours.HTMLExporter.template_name = "feedback"
        ours.HTMLExporter.extra_template_basedirs = [str(TEMPLATES / "templates")]
        styles = TEMPLATES / "static" / "node_modules" / "bootstrap" / "dist" / "css"
        ours.HTMLExporter.extra_template_paths = [str(styles)]
        config = super().default_config.copy()
        # Of the forms of an output _most_telling chooses; nbgrader's preprocessors do not know this, and say so.
        config.pop("NbConvertBase", None)
        config.merge(ours)
        return config

    def default_filters(self) -> Any:
        """nbconvert's, with ours for prose and code."""
        yield from super().default_filters()
        yield from FILTERS.items()
        yield "rendered_before", self._rendered_before
        yield "rendered_now", self._rendered_now
        yield "filter_data_type", _most_telling

    def _init_preprocessors(self) -> None:
        super()._init_preprocessors()
        # The template's own makes the styles anew for every page.
        self._preprocessors = [one for one in self._preprocessors if type(one) is not CSSHTMLHeaderPreprocessor]
        self.register_preprocessor(Styles, enabled=True)

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **more: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page of `nb`, which is changed on the way, and the resources it was made with."""
        return TemplateExporter.from_notebook_node(self, _Own(nb), self._init_resources(resources), **more)

    def _rendered_before(self, cell: NotebookNode) -> str | None:
        """The HTML of a cell, which depends on nothing but the cell: its place on the page is its own id."""
        key = json.dumps(cell)
        html = self._rendered.pop(key, None)
        if html is not None:
            # The one used last stands last.
            self._rendered[key] = html
        return html

    def _rendered_now(self, cell: NotebookNode, render: Callable[[], str]) -> str:
        """The same of a cell that is new."""
        key, html = json.dumps(cell), render()
        if len(key) <= KEPT_CHARACTERS:
            self._rendered[key] = html
            if len(self._rendered) > KEPT_CELLS:
                del self._rendered[next(iter(self._rendered))]
        return html

    def _preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        # nbconvert's own would copy the notebook and check its schema again around each of them.
        for preprocessor in self._preprocessors:
            nb, resources = preprocessor(nb, resources)
        return nb, resources


class PlainExporter(FeedbackExporter):
    """The same page with all text as it was typed, for a notebook that takes too long to be made beautiful."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.register_filter("markdown2html", sanitize.as_it_is)
        self.register_filter("highlight_code", lambda source, metadata=None: sanitize.as_it_is(source))


class Styles(CSSHTMLHeaderPreprocessor):
    """The styles of highlighted code, which are the same on every page, and ours."""

    @default("style")
    def _style_default(self) -> str:
        # JupyterLab's own colours are variables, of which nbgrader's page knows none.
        return "default"

    def _generate_header(self, resources: dict[str, Any]) -> list[str]:
        self._styles = getattr(self, "_styles", None) or [*super()._generate_header(resources), STYLES]
        return self._styles


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


class _Own(NotebookNode):
    """A notebook that nobody else needs. To copy it, as nbconvert does first, would take as long as half the page."""

    def __deepcopy__(self, memo: Any) -> "_Own":
        return self


def _most_telling(data: dict[str, Any]) -> list[str]:
    """Of the forms of an output, the one to show."""
    return [form for form in FORMS if form in data][:1]


def highlighted(source: str, metadata: Any = None) -> str:
    """Code with colours, as nbconvert makes it; without, where that would take long."""
    # Lines that hold nothing but spaces take the highlighter time by the square of their number.
    source = EMPTY_LINES.sub("\n" * MAX_EMPTY_LINES, source)
    return _highlighted_once(source) if len(source) <= KEPT_CHARACTERS else sanitize.as_it_is(source)


def _as_linked(html: str) -> str:
    """HTML as it is. nbconvert looks for links of IPython 2, which takes time by the cube of the length."""
    return html


def _highlight(source: str, metadata: Any = None) -> str:
    html = highlighted(source)
    # Repair leaves this mark to our cells alone.
    return _folded(source, html) if (metadata or {}).get("jupyter", {}).get("source_hidden") else html


def _folded(source: str, html: str) -> str:
    """The code of a cell that is folded in the notebook: its first line, and all of it with a click."""
    first, _, _ = source.partition("\n")
    return f"<details><summary><code>{escape(first)}</code></summary>{html}</details>"


@lru_cache(maxsize=256)
def _highlighted_once(source: str) -> str:
    """As nbconvert does it; where code is Python and no more, by Python's own lexer, which takes half the time."""
    return highlight(source or " ", _ipython if BEYOND_PYTHON.search(source) else _python, _formatter)


FILTERS = {"markdown2html": sanitize.markdown, "strip_files_prefix": _as_linked, "highlight_code": highlighted}
"""What makes a page harmless and quick, here and in the formgrader."""
