"""Reads the course: its notebooks, and what start.ipynb says of them in its tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from book.errors import BookError
from grader.engine.notebook.cells import CellType
from grader.engine.notebook.outline import Outline

START = "start"
HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*$")
FENCE = re.compile(r"^\s*(```|~~~)")
EMPHASISED = re.compile(r"\*\*(.+?)\*\*|^#+ ([^\n]+)$", re.MULTILINE | re.DOTALL)
"""Bold words and headings."""
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)")
PAPER = re.compile(r"\b(?:19|20)\d\d\b|^\d{4}\.\d{4,5}\b")
"""A link to a paper gives its year or its number on arXiv."""
PLACE = re.compile(r"§+\s?\d+(?:\.\d+)*")
READING = "Further reading"


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it: its words in lower case, without marks and formulas.

    Args:
        heading: Markdown, or the text that Sphinx has made of it.
    """
    words = re.sub(r"\$[^$]*\$|\]\([^)]*\)", "", heading)
    return re.sub(r"[^\w -]", "", words.lower()).strip().replace(" ", "-")


@dataclass(frozen=True)
class Section:
    """A heading with the text up to the next one.

    Args:
        level: 1 for the title.
        title: the heading as Markdown.
        anchor: its anchor on the page; '' for the title.
        text: the heading and what follows.
    """

    level: int
    title: str
    anchor: str
    text: str


@dataclass(frozen=True)
class Exercise:
    """An exercise of a notebook: the heading above its blank, and its points."""

    name: str
    title: str
    anchor: str
    points: float


@dataclass(frozen=True)
class Reading:
    """A notebook's reference to a paper.

    Args:
        name: authors, year and number.
        url: the paper.
        section: where the notebook says it.
        advice: what to read there, as Markdown; '' outside of the list for further reading.
        places: the sections of the paper that are named, such as "§3.1".
    """

    name: str
    url: str
    section: Section
    advice: str
    places: tuple[str, ...]


@dataclass(frozen=True)
class Notebook:
    """A notebook as students get it, with the instructors' copy that has outputs.

    Args:
        page: the path below release/ and source/, without suffix: also its page in the book.
        released: the students' notebook.
        source: the instructors' notebook.
        builds: what students build in it, as Markdown.
        minutes: how long it takes.
        points: how many points it has.
        terms: the terms that it explains.
    """

    page: str
    released: NotebookNode
    source: NotebookNode
    builds: str = ""
    minutes: int = 0
    points: int = 0
    terms: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The students' notebook in the repository."""
        return f"release/{self.page}.ipynb"

    @property
    def name(self) -> str:
        """The name without the number, as tables have it."""
        return self.page.rpartition("/")[2].lstrip("0123456789-")

    @property
    def title(self) -> str:
        """The heading of the notebook, as Markdown."""
        return self.sections[0].title

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """All headings with their text, in order; raises BookError if the first one is no title."""
        cells = self.released.cells
        sections = tuple(_sections("\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")))
        if not sections or sections[0].level != 1:
            raise BookError(f"a notebook must begin with a title; {self.file} does not: begin it with a line '# …'")
        return sections

    def anchor_of(self, term: str) -> str:
        """Return the anchor of the section in which a term stands out; '' for the top of the page."""
        for section in self.sections:
            found = (" ".join("".join(match.groups("")).split()) for match in EMPHASISED.finditer(section.text))
            if any(term.lower() in each.lower() for each in found):
                return section.anchor
        raise BookError(
            f"a term must be in bold or in a heading where it is explained; {term!r} is not in {self.file}: "
            "correct the index in source/start.ipynb"
        )

    def exercises(self) -> Iterator[Exercise]:
        """Yield the exercises in order, each with the last heading above its blank."""
        outline = Outline(self.released)
        headings = iter(self.sections)
        heading = self.sections[0]
        for cell, kind, name in zip(self.released.cells, outline.types, outline.names, strict=True):
            if cell.cell_type == "markdown":
                for _ in _headings(cell.source):
                    heading = next(headings)
            elif kind is CellType.AUTOGRADED_ANSWER:
                title = heading.title.removeprefix("Exercise · ")
                yield Exercise(name, title, heading.anchor, outline.max_points(name))

    def readings(self) -> Iterator[Reading]:
        """Yield each link to a paper, in order."""
        for section in self.sections:
            for match in LINK.finditer(section.text):
                name, url = match["text"], match["target"]
                if not url.startswith("http") or not PAPER.search(name):
                    continue
                line = section.text[match.end() :].partition("\n")[0]
                before_next = LINK.split(line, maxsplit=1)[0]
                advice = ""
                if section.title == READING:
                    advice = line.lstrip(" ,:;.")
                places = PLACE.findall(name + " " + re.split(r"(?<=[a-z)])\. ", before_next)[0])
                yield Reading(name, url, section, advice, tuple(dict.fromkeys(places)))


@dataclass(frozen=True)
class Assignment:
    """A folder of notebooks.

    Args:
        name: the folder.
        title: what the book calls it.
        needs: what a reader should know, as Markdown.
        notebooks: in the order of their numbers.
    """

    name: str
    title: str
    needs: str
    notebooks: tuple[Notebook, ...]


@dataclass(frozen=True)
class Course:
    """All of the course that the book shows.

    Args:
        folder: the course folder.
        start: the notebook that leads through the course.
        assignments: in order.
    """

    folder: Path
    start: Notebook
    assignments: tuple[Assignment, ...]

    @property
    def notebooks(self) -> list[Notebook]:
        """The notebooks of all assignments, in order."""
        return [notebook for assignment in self.assignments for notebook in assignment.notebooks]

    @cached_property
    def terms(self) -> dict[str, list[Notebook]]:
        """Each term with the notebooks that explain it, in alphabetical order."""
        terms: dict[str, list[Notebook]] = {}
        for notebook in self.notebooks:
            for term in notebook.terms:
                terms.setdefault(term, []).append(notebook)
        return dict(sorted(terms.items(), key=lambda item: item[0].lower()))

    @cached_property
    def papers(self) -> dict[str, "Paper"]:
        """Each paper by its address, in the order in which the course cites them."""
        papers: dict[str, Paper] = {}
        for notebook in self.notebooks:
            for reading in notebook.readings():
                paper = papers.setdefault(reading.url, Paper(reading.url))
                paper.cited.setdefault(notebook.page, []).append(reading)
        return papers


@dataclass
class Paper:
    """A paper that the course cites.

    Args:
        url: its address.
        cited: page of a notebook -> what the notebook says of it.
    """

    url: str
    cited: dict[str, list[Reading]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Authors, year and number, without a section of the paper."""
        names = [reading.name for readings in self.cited.values() for reading in readings]
        return re.sub(r",? §.*", "", max(names, key=lambda name: len(re.sub(r",? §.*", "", name))))

    @property
    def anchor(self) -> str:
        """The name of its entry in the list of papers."""
        return "paper-" + "-".join(re.findall(r"[a-z0-9]+", self.url.partition("//")[2].lower()))


def read_course(folder: Path, titles: dict[str, str]) -> Course:
    """Return the course in a folder.

    Args:
        folder: has release/, source/ and start.ipynb in both.
        titles: folder of an assignment -> its title.

    Raises:
        BookError: a notebook is missing in source/ or in the table of start.ipynb, or has no title.
    """
    start = _pair(folder, START)
    text = "\n\n".join(cell.source for cell in start.released.cells if cell.cell_type == "markdown")
    rows = [_cells(line) for line in text.splitlines() if line.startswith("|")]
    described = {page: row for row in rows if len(row) == 5 and (page := _linked(row[1]))}
    terms = {page: row[1] for row in rows if len(row) == 2 and (page := _linked(row[0]))}
    ready = {row[0].strip("`"): row[1:] for row in rows if len(row) == 3 and re.fullmatch(r"`[\w-]+`", row[0])}
    assignments = []
    for name in sorted({path.parent.name for path in folder.glob("release/*/*.ipynb")}):
        notebooks = []
        for path in sorted(folder.glob(f"release/{name}/*.ipynb")):
            page = f"{name}/{path.stem}"
            if page not in described:
                raise BookError(f"each notebook needs a row in source/start.ipynb; {page} has none: run `make readme`")
            _, _, builds, minutes, points = described[page]
            explained = tuple(term for term in terms.get(page, "").split(", ") if term)
            notebooks.append(_pair(folder, page, builds, int(minutes.split()[0]), int(points), explained))
        needs, _ = ready.get(name, ("", ""))
        assignments.append(Assignment(name, titles.get(name, name), needs, tuple(notebooks)))
    return Course(folder, start, tuple(assignments))


def _pair(folder: Path, page: str, *about: object) -> Notebook:
    both = [folder / where / f"{page}.ipynb" for where in ("release", "source")]
    for path in both:
        if not path.exists():
            raise BookError(
                f"the book needs release/ as `make release` writes it; {path.relative_to(folder)} is missing"
            )
    released, source = (nbformat.read(path, as_version=4) for path in both)
    return Notebook(page, released, source, *about)  # type: ignore[arg-type]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _linked(cell: str) -> str:
    """Return the page that a cell of a table links to; '' if it links to no notebook."""
    match = LINK.fullmatch(cell)
    return match["target"].removesuffix(".ipynb") if match and match["target"].endswith(".ipynb") else ""


def _headings(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield level, title and line of each heading outside of code."""
    fenced = False
    for number, line in enumerate(text.splitlines()):
        fenced ^= bool(FENCE.match(line))
        if not fenced and (match := HEADING.match(line)):
            yield len(match[1]), match[2], number


def _sections(text: str) -> Iterator[Section]:
    lines, headings, used = text.splitlines(), list(_headings(text)), dict[str, int]()
    ends = [number for _, _, number in headings] + [len(lines)]
    for (level, title, start), end in zip(headings, ends[1:], strict=True):
        anchor = slug(title)
        used[anchor] = used.get(anchor, -1) + 1
        anchor = f"{anchor}-{used[anchor]}" if used[anchor] else anchor
        yield Section(level, title, "" if level == 1 else anchor, "\n".join(lines[start:end]))
