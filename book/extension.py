"""Adds to Sphinx what the book needs: formulas as MathML, and pages that load only what they use."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

import course.widgets
from book.notebook import WIDGET
from grader.classroom.page.formulas import mathml
from grader_kernel import widget

FOLDED_PART = re.compile(
    r'(<a class="(?:current )?reference internal" href="[^"]*">([^<"]*)</a><details[^>]*>)<summary>'
)
"""A link to a part in the list of contents, and the arrow beside it."""
NESTING = re.compile(
    r"(?P<gap>(?:\\qquad(?![a-zA-Z])(?:\s|\\quad(?![a-zA-Z]))*)+)"
    r"|(?P<opens>\\begin(?![a-zA-Z])|\\left(?![a-zA-Z])|\{)|(?P<closes>\\end(?![a-zA-Z])|\\right(?![a-zA-Z])|\})|\\."
)
"""Matches what opens or closes a group in TeX, and the wide gaps between formulas on one line."""
PAGE_SCRIPT = "page.js"
SHARED = {"kit.js", PAGE_SCRIPT}
"""Files beside the modules of widgets that are none."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx; the book's conf.py names this module as an extension."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("html-page-context", _scripts_of_page)
    app.connect("doctree-read", _lazy_pictures)
    app.connect("build-finished", _without_unused_files)
    app.connect("build-finished", _with_widgets)
    app.connect("build-finished", _with_named_parts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(_drawn(node, node.astext().strip(), display=False))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    parts = [_drawn(node, part, display=True) for part in formulas(node.astext())]
    translator.body.append(f'<div class="math">{" ".join(parts)}</div>\n')
    raise nodes.SkipNode


def formulas(tex: str) -> list[str]:
    r"""Return the formulas that stand on one line with wide gaps, `\qquad`, between them.

    Each is drawn by itself, so that a narrow page shows them below one another. A gap inside a group stays.

    Args:
        tex: what stands between the signs of a formula that has a line of its own.
    """
    found, start, depth = [], 0, 0
    for token in NESTING.finditer(tex):
        depth += bool(token["opens"]) - bool(token["closes"])
        if token["gap"] and depth == 0:
            found.append(tex[start : token.start()].strip())
            start = token.end()
    found.append(tex[start:].strip())
    return [formula for formula in found if formula]


def _drawn(node: nodes.Element, tex: str, *, display: bool) -> str:
    drawn = mathml(tex, display=display)
    if drawn is None:
        page = Path(node.document["source"]).name if node.document is not None else "a page"
        raise ExtensionError(
            f"every formula must be one that a browser can draw; {page} has ${tex}$: write it otherwise"
        )
    return drawn


def _lazy_pictures(app: Sphinx, doctree: nodes.document) -> None:
    for image in doctree.findall(nodes.image):
        image["loading"] = "lazy"


def _scripts_of_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    context["has_widgets"] = WIDGET in context.get("body", "")


def _with_widgets(app: Sphinx, error: Exception | None) -> None:
    """Write the modules of widgets, and what shows them on a page, which loads those that it has."""
    folder = Path(app.outdir) / "_static" / "widgets"
    folder.mkdir(parents=True, exist_ok=True)
    for place in (widget.FOLDER, course.widgets.FOLDER):
        for path in place.glob("*.js"):
            if path.name not in SHARED:
                folder.joinpath(path.name).write_text(widget.script(path), encoding="utf-8")
    folder.joinpath(PAGE_SCRIPT).write_bytes(widget.FOLDER.joinpath(PAGE_SCRIPT).read_bytes())


def _with_named_parts(app: Sphinx, error: Exception | None) -> None:
    """Name the arrows that unfold a part of the contents; the theme leaves them nameless to assistive technology."""
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        path.write_text(FOLDED_PART.sub(r'\g<1><summary aria-label="Pages of \g<2>">', text), encoding="utf-8")


def _without_unused_files(app: Sphinx, error: Exception | None) -> None:
    """Remove what the theme brings along and no page loads."""
    static = Path(app.outdir) / "_static"
    patterns = ("**/*.map", "*webpack-macros.html", "scripts/fontawesome.js*", "images/logo_*", "locales/**/*.[mp]o")
    unused = {path for pattern in patterns for path in static.glob(pattern)}
    for path in unused:
        path.unlink()
