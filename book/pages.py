"""Writes the pages that Sphinx reads: notebooks, assignments, glossary, papers, and the guides of the repository."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path, PurePosixPath

from book.course import Assignment, Course, Notebook, Paper
from book.errors import BookError
from book.notebook import NotebookPage
from book.settings import Settings
from grader_kernel.questions import review_page

GUIDES = ("docs/*.md", "packages/grader/README.md", "packages/grader/docs/*.md", "packages/grader-kernel/README.md",
          "deploy/*/README.md", "CONTRIBUTING.md", "SECURITY.md")  # fmt: skip
FIRST = ("docs/students.md", "docs/instructors.md", "packages/grader/README.md")
"""Guides that come before the others."""
CODE = re.compile(r"```.*?```|`[^`]+`", re.DOTALL)
RELATIVE_LINK = re.compile(
    r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?://|mailto:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)]*)?\)"
)
OWN_WORDS = "## Our words, and the field's"


@dataclass(frozen=True)
class Pages:
    """The source of the book in a folder.

    Args:
        folder: where pages are written.
        course: what they are about.
        settings: where the book is published.
    """

    folder: Path
    course: Course
    settings: Settings

    def write(self) -> None:
        """Write all pages; raises BookError if one cannot be made."""
        for notebook in (self.course.start, *self.course.notebooks):
            self._write_notebook(notebook)
        for assignment in self.course.assignments:
            self._write(f"{assignment.name}/index.md", assignment_page(assignment))
        self._write("glossary.md", glossary(self.course))
        self._write("papers.md", papers(self.course))
        self._write("review.md", review(self.course))
        guides = self._guides()
        for path in guides:
            self._write(path, self._linked(path, (self.course.folder / path).read_text(), guides))
        self._write("index.md", landing(self.course, guides))

    def _write_notebook(self, notebook: Notebook) -> None:
        page = NotebookPage(self.course, notebook, self.settings)
        self._write(f"{notebook.page}.ipynb", json.dumps(page.made(), indent=1, ensure_ascii=False) + "\n")
        for path, picture in page.pictures.items():
            file = self.folder / "extra" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(picture)

    def _write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def _guides(self) -> list[str]:
        root = self.course.folder
        found = {path.relative_to(root).as_posix() for pattern in GUIDES for path in root.glob(pattern)}
        return sorted(found, key=lambda path: (path not in FIRST, path))

    def _linked(self, page: str, text: str, guides: list[str]) -> str:
        """Return a guide whose links lead to pages of the book, to the repository, or nowhere."""

        def replaced(match: re.Match[str]) -> str:
            inside_code = any(code.start() <= match.start() < code.end() for code in codes)
            if inside_code:
                return match[0]
            path = self._normal(page, match["path"])
            if match["picture"]:
                return self._picture(page, path, match["text"])
            target = self._page_of(path, guides)
            if target:
                return f"[{match['text']}]({relpath(target, PurePosixPath(page).parent)}{match['anchor'] or ''})"
            url = self.settings.file_url(path, is_folder=(self.course.folder / path).is_dir())
            if url:
                return f"[{match['text']}]({url})"
            words = match["text"]
            return words if "`" in words or words == path else f"{words} (`{path}`)"

        codes = list(CODE.finditer(text))
        return RELATIVE_LINK.sub(replaced, text)

    def _normal(self, page: str, target: str) -> str:
        path = (self.course.folder / page).parent.joinpath(target).resolve()
        root = self.course.folder.resolve()
        if not path.exists() or not path.is_relative_to(root):
            raise BookError(f"a link must lead to a file of the repository; {page} links to {target}: correct the link")
        return path.relative_to(root).as_posix()

    def _page_of(self, path: str, guides: list[str]) -> str:
        """Return the source of the page that shows a file of the repository; '' if there is none."""
        if path in guides:
            return path
        top, _, rest = path.partition("/")
        return rest if top in ("release", "source") and rest.endswith(".ipynb") else ""

    def _picture(self, page: str, path: str, alt: str) -> str:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes((self.course.folder / path).read_bytes())
        return f"![{alt}]({relpath(path, PurePosixPath(page).parent)})"


def landing(course: Course, guides: list[str]) -> str:
    """Return the first page: what the course is, its assignments, and how to read the book."""
    intro = course.start.sections[0].text.partition("\n")[2].partition("\n|")[0].strip()
    hours = round(sum(notebook.minutes for notebook in course.notebooks) / 60)
    rows = "\n".join(
        f"| [{each.title}]({each.name}/index.md) | {'; '.join(_ends(each))} | {_hours(each)} |"
        for each in course.assignments
    )
    ours = ("index", "docs/", "CONTRIBUTING", "SECURITY")
    groups = {
        "Course": ["Start <start>", *(f"{each.name}/index.md" for each in course.assignments)],
        "To look things up": ["glossary.md", "papers.md", "review.md"],
        "Guides": [path for path in guides if path.startswith(ours)],
        "The grader": [path for path in guides if not path.startswith(ours)],
    }
    trees = "\n\n".join(_toctree(caption, pages) for caption, pages in groups.items() if pages)
    return f"""{course.start.sections[0].text.partition(chr(10))[0]}

{intro.partition(chr(10) + chr(10))[0]}

This book has the whole course to read: {len(course.notebooks)} notebooks, about {hours} hours with their exercises. You
can see every picture and every number without running anything. To write the exercises, open a notebook in JupyterLab;
the top of each page says how. [Start](start.ipynb) leads you through the course.

| assignment | you build | time |
|---|---|---|
{rows}

The [glossary](glossary.md) says where each term is explained, and the [list of papers](papers.md) what to read of each.

{trees}
"""


def _ends(assignment: Assignment) -> Iterator[str]:
    for notebook in assignment.notebooks:
        yield notebook.builds


def _hours(assignment: Assignment) -> str:
    return f"{sum(notebook.minutes for notebook in assignment.notebooks) / 60:.0f} h"


def _toctree(caption: str, pages: list[str]) -> str:
    listed = "\n".join(page.removesuffix(".md") for page in pages)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```"


def assignment_page(assignment: Assignment) -> str:
    """Return the page of an assignment: its notebooks with their exercises, and what a reader should know."""
    number = assignment.name.partition("-")[0]
    parts = [f"# {number} · {assignment.title}" if number.isdigit() else f"# {assignment.title}"]
    minutes, points = (sum(getattr(each, what) for each in assignment.notebooks) for what in ("minutes", "points"))
    parts.append(f"{len(assignment.notebooks)} notebooks, {minutes} minutes, {points} points.")
    if assignment.needs:
        parts.append(f"You should know: {assignment.needs}. If not, [Start](../start.ipynb) says what to read.")
    for notebook in assignment.notebooks:
        file = PurePosixPath(notebook.page).name + ".ipynb"
        parts.append(f"## [{notebook.title}]({file})")
        parts.append(f"*{notebook.name}* · {notebook.minutes} minutes · {notebook.points} points")
        parts.append(f"You build: {notebook.builds}.")
        exercises = [f"- [{each.title}]({file}#{each.anchor}), {each.points:g} points" for each in notebook.exercises()]
        if exercises:
            parts.append("\n".join(exercises))
    pages = [PurePosixPath(notebook.page).name for notebook in assignment.notebooks]
    parts.append("```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```")
    return "\n\n".join(parts) + "\n"


def glossary(course: Course) -> str:
    """Return the glossary: each term with the sections that explain it, and our short words beside the field's."""
    entries = []
    for term, notebooks in course.terms.items():
        places = []
        for notebook in notebooks:
            anchor = notebook.anchor_of(term)
            target = f"{notebook.page}.ipynb" + (f"#{anchor}" if anchor else "")
            places.append(f"[{notebook.name}]({target}) ({notebook.page.partition('-')[0]})")
        entries.append(f"{term}\n  {'; '.join(places)}")
    listed = "\n\n".join(entries)
    parts = [
        "# Glossary",
        "Each term leads to the section that explains it. The number is the assignment's.",
        f"```{{glossary}}\n{listed}\n```" if entries else "",
    ]
    own = [section.text for section in course.start.sections if section.text.startswith(OWN_WORDS)]
    return "\n\n".join([*parts, *own]) + "\n"


def papers(course: Course) -> str:
    """Return the list of papers, by the assignment that cites them first, with what to read of each, and why."""
    parts = [
        "# Papers",
        "The papers of the course, grouped by the assignment that cites them first. Below each paper are the notebooks "
        "that send you there, and the sections that they name.",
    ]
    shown = set[str]()
    by_page = {notebook.page: notebook for notebook in course.notebooks}
    for assignment in course.assignments:
        pages = {notebook.page for notebook in assignment.notebooks}
        cited = [each for each in course.papers.values() if each.url not in shown and pages & each.cited.keys()]
        if cited:
            parts.append(f"## {assignment.title}")
        for paper in cited:
            shown.add(paper.url)
            parts.append(f"({paper.anchor})=\n**[{paper.name}]({paper.url})**")
            parts.append("\n".join(_citations(paper, by_page)))
    return "\n\n".join(parts) + "\n"


def review(course: Course) -> str:
    """Return the page that asks again what a reader has answered; answers stay in the reader's browser."""
    folders = [course.folder / "release" / assignment.name for assignment in course.assignments]
    return f"""# Review

Up to five quick questions a day, of those that you have answered in this book. A question comes back after days if you
knew the answer, and soon if you did not. Your answers stay in this browser.

{review_page(folders)}
"""


def _citations(paper: Paper, notebooks: dict[str, Notebook]) -> Iterator[str]:
    for page, readings in paper.cited.items():
        advice = [reading.advice for reading in readings if reading.advice]
        places: dict[str, list[str]] = {}
        for reading in readings:
            if not reading.advice:
                places.setdefault(reading.section.anchor, []).extend(reading.places)
        titles = {reading.section.anchor: reading.section.title for reading in readings}
        where = []
        for anchor, found in places.items():
            named = f" ({', '.join(dict.fromkeys(found))})" if found else ""
            where.append(f"[{titles[anchor]}]({page}.ipynb{f'#{anchor}' if anchor else ''}){named}")
        said = f": {'; '.join(advice)}" if advice else ""
        cited = f". Cited in {'; '.join(where)}" if where else ""
        yield f"- [{notebooks[page].name}]({page}.ipynb){said.rstrip('.')}{cited}"
