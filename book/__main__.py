"""Builds the book: `make book`."""

import argparse
import os
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace, patch_docutils

from book.course import read_course
from book.errors import BookError
from book.links import check_links
from book.pages import Pages
from book.settings import SETTINGS, Settings, read_settings

HERE = Path(__file__).parent


def build(course: Path, output: Path, settings: Settings) -> Path:
    """Build the book, and return the folder with its pages.

    Args:
        course: the course folder, with release/, source/ and the guides.
        output: where to write; what an earlier build wrote there is removed.
        settings: where the book is published.

    Raises:
        BookError: a page cannot be made, a link is broken, or a page loads something from elsewhere.
        SphinxError: Sphinx has an error, or a warning: each counts as an error.
    """
    pages, doctrees, html = (output / name for name in ("pages", "doctrees", "html"))
    for folder in (pages, doctrees, html):
        shutil.rmtree(folder, ignore_errors=True)
    (pages / "extra").mkdir(parents=True)
    Pages(pages, read_course(course, settings.titles), settings).write()
    with patch_docutils(HERE), docutils_namespace():
        app = Sphinx(
            pages, HERE, html, doctrees, "html", {"html_extra_path": [str(pages / "extra")]},
            status=None, warningiserror=True, parallel=len(os.sched_getaffinity(0)),
        )  # fmt: skip
        app.build(force_all=True)
    if app.statuscode:
        raise BookError("the book must be built without a warning of Sphinx: correct what the lines above say")
    (html / ".buildinfo").unlink()  # for a second build over the first: it differs with the folder
    check_links(html)
    return html


def main() -> int:
    """Build what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m book", description="Build the course as a static book.")
    parser.add_argument("--course", type=Path, default=HERE.parent, help="the course folder")
    parser.add_argument("--output", type=Path, default=HERE / "_build", help="the folder to write into")
    parser.add_argument("--settings", type=Path, default=SETTINGS, help="where the book is published, as TOML")
    options = parser.parse_args()
    try:
        html = build(options.course.resolve(), options.output.resolve(), read_settings(options.settings))
    except (BookError, SphinxError) as error:
        print(f"make book: {error}", file=sys.stderr)
        return 1
    print(f"{html}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
