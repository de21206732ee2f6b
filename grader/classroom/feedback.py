"""Renders the feedback page of a student: nbgrader's own page without hidden tests and scripts, fast for a class.

The page is nbgrader's template. Three things make it fast: a cell that is the same in many notebooks is rendered once
for a class (and so is its code if only its points differ), the templates are compiled once, and nbconvert's last step,
which parses the page again to add alt text, is skipped. The course's pictures have alt text already.
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
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]
from traitlets import default
from traitlets.config import Config

from grader.classroom import sanitize
from grader.notebook.cells import FORMS, CellType, type_of

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
{%- set html = cell | cached_html -%}
{%- if html is not none -%}{{ html }}
{%- else -%}{%- block any_cell scoped -%}{{ cell | rendered_html(super) }}{%- endblock any_cell -%}
{%- endif -%}
{%- endfor -%}
{%- endblock body_loop -%}
"""
"""nbgrader's page with two changes: cells that were rendered before come from a cache, and formulas stay on one line,
because MathJax breaks even the shortest in a table.

A cached cell enters no block: entering one takes as long as rendering a short cell."""

STYLES = """
summary { display: list-item; cursor: pointer; }
.rendered_html table { margin: 0.5em 0 1em; }
.rendered_html td, .rendered_html th { padding: 0.1em 0.6em; }
"""
"""What nbgrader's page lacks: a sign that something can be unfolded, and space in and around a table."""

KEPT_CELLS, KEPT_CHARACTERS = 1_000, 20_000
"""How many rendered cells are cached, a few times as many as an assignment has, and how long they may be."""

BEYOND_PYTHON = re.compile("[%!?]")
"""Characters of which every line has one that IPython understands and Python does not: magics, programs, help."""
MAX_IPYTHON = 5_000
"""Longest code, in characters, that goes through IPython's lexer: for a cell magic, its time grows with the square."""

EMPTY_LINES, MAX_EMPTY_LINES = re.compile(r"\n(?:[^\S\n]*\n){20,}"), 20

_python, _ipython = PythonLexer(), IPython3Lexer()
_formatter = HtmlFormatter(cssclass=" highlight hl-ipython3")


class FeedbackExporter(HTMLExporter):
    """Renders an autograded notebook as nbgrader's feedback page; `resources["nbgrader"]` holds its scores."""

    def __init__(self, **traits: Any) -> None:
        self._html_cache: dict[str, str] = {}
        super().__init__(raw_template=PAGE, **traits)
        # Registered here, because filters in a course's configuration override the default filters.
        self.register_filter("highlight_code", _highlight)

    @property
    def default_config(self) -> Config:
        """Return nbconvert's default configuration with the paths of nbgrader's page."""
        page_config = Config()
        page_config.HTMLExporter.template_name = "feedback"
        page_config.HTMLExporter.extra_template_basedirs = [str(TEMPLATES / "templates")]
        styles = TEMPLATES / "static" / "node_modules" / "bootstrap" / "dist" / "css"
        page_config.HTMLExporter.extra_template_paths = [str(styles)]
        config = super().default_config.copy()
        # _best_form replaces this section, and nbgrader's preprocessors would log warnings about its settings.
        config.pop("NbConvertBase", None)
        config.merge(page_config)
        return config

    def default_filters(self) -> Any:
        """Yield nbconvert's filters and then those that replace or extend them."""
        yield from super().default_filters()
        yield from FILTERS.items()
        yield "cached_html", self._cached_html
        yield "rendered_html", self._rendered_html
        yield "filter_data_type", _best_form

    def _init_preprocessors(self) -> None:
        super()._init_preprocessors()
        # The template's own preprocessor makes the styles again for every page.
        self._preprocessors = [
            preprocessor for preprocessor in self._preprocessors if type(preprocessor) is not CSSHTMLHeaderPreprocessor
        ]
        self.register_preprocessor(Styles, enabled=True)

    def from_notebook_node(  # type: ignore[override]  # nbconvert's HTMLExporter returns text, too
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        """Return the page of a notebook, and the resources it was made with.

        Args:
            nb: the autograded notebook; it is changed on the way.
            resources: nbconvert's resources, with nbgrader's scores.
            options: nbconvert's options.
        """
        return TemplateExporter.from_notebook_node(self, _NotCopied(nb), self._init_resources(resources), **options)

    def _cached_html(self, cell: NotebookNode) -> str | None:
        """The HTML of a cell that was rendered before. It depends on the cell alone, even its anchor: the cell's id."""
        key = json.dumps(cell)
        html = self._html_cache.pop(key, None)
        if html is not None:
            # The cell used last goes to the end, and the first is dropped first.
            self._html_cache[key] = html
        return html

    def _rendered_html(self, cell: NotebookNode, render: Callable[[], str]) -> str:
        """The HTML of a cell that was not rendered before."""
        key, html = json.dumps(cell), render()
        if len(key) <= KEPT_CHARACTERS:
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
        self.register_filter("markdown2html", sanitize.verbatim)
        self.register_filter("highlight_code", lambda source, metadata=None: sanitize.verbatim(source))


class Styles(CSSHTMLHeaderPreprocessor):
    """Adds the styles of highlighted code, which are the same on every page, and STYLES."""

    @default("style")
    def _style_default(self) -> str:
        # JupyterLab's own colours are CSS variables, and nbgrader's page defines none of them.
        return "default"

    def _generate_header(self, resources: dict[str, Any]) -> list[str]:
        self._styles = getattr(self, "_styles", None) or [*super()._generate_header(resources), STYLES]
        return self._styles


class HideTests(ClearHiddenTests):
    """Removes the hidden part of test cells, and keeps what a student writes between the same markers."""

    def preprocess_cell(self, cell: NotebookNode, resources: dict[str, Any], index: int) -> tuple[NotebookNode, Any]:
        """Return the cell as the release shows it, and the resources.

        Args:
            cell: any cell of the notebook.
            resources: nbconvert's resources.
            index: the number of the cell.
        """
        return super().preprocess_cell(cell, resources, index) if type_of(cell) is CellType.TEST else (cell, resources)


class HideMarkSchemes(ClearMarkScheme):
    """Removes the marking scheme from questions, and keeps what a student writes between the same markers."""

    def preprocess_cell(self, cell: NotebookNode, resources: dict[str, Any], index: int) -> tuple[NotebookNode, Any]:
        """Return the cell as the release shows it, and the resources.

        Args:
            cell: any cell of the notebook.
            resources: nbconvert's resources.
            index: the number of the cell.
        """
        return (
            super().preprocess_cell(cell, resources, index)
            if type_of(cell) is CellType.READ_ONLY
            else (cell, resources)
        )


class _NotCopied(NotebookNode):
    """A notebook that its exporter may change. nbconvert copies others first, which takes half as long as the page."""

    def __deepcopy__(self, memo: Any) -> "_NotCopied":
        return self


def _best_form(data: dict[str, Any]) -> list[str]:
    """The MIME type in which an output is shown."""
    return [form for form in FORMS if form in data][:1]


def highlighted(source: str, metadata: Any = None) -> str:
    """Return code as HTML with colours, the same as nbconvert's; without colours if they would take long.

    Args:
        source: the code.
        metadata: not used; nbconvert passes the metadata of the cell.
    """
    # The highlighter's time grows with the square of the number of lines that hold only spaces.
    source = EMPTY_LINES.sub("\n" * MAX_EMPTY_LINES, source)
    return _highlighted_once(source) if len(source) <= KEPT_CHARACTERS else sanitize.verbatim(source)


def unchanged(html: str) -> str:
    """Return `html`. nbconvert's filter looks for links of IPython 2, in time that grows with the length cubed."""
    return html


def _highlight(source: str, metadata: Any = None) -> str:
    html = highlighted(source)
    # Only cells from the source have this setting: repair removes it from all others.
    return _folded(source, html) if (metadata or {}).get("jupyter", {}).get("source_hidden") else html


def _folded(source: str, html: str) -> str:
    """The code of a cell that is folded in the notebook: its first line, and all of it after a click."""
    first, _, _ = source.partition("\n")
    return f"<details><summary><code>{escape(first)}</code></summary>{html}</details>"


@lru_cache(maxsize=256)
def _highlighted_once(source: str) -> str:
    """Code with nbconvert's colours; plain Python goes through Python's lexer, which takes half the time."""
    is_ipython = len(source) <= MAX_IPYTHON and BEYOND_PYTHON.search(source)
    return highlight(source or " ", _ipython if is_ipython else _python, _formatter)


FILTERS = {"markdown2html": sanitize.markdown, "strip_files_prefix": unchanged, "highlight_code": highlighted}
"""Filters that make a page safe and fast, here and in the formgrader."""
