"""Reads the CSV files of spreadsheets and learning platforms, and writes such files.

Students choose their names there. A spreadsheet would run a cell that begins like a formula, so such a cell gets an
apostrophe in front, as OWASP advises ("CSV Injection").
"""

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from grader.errors import GraderError
from grader.text import one_line

MAX_MB = 50
"""The largest size of a CSV file, in MiB; a class of 10,000 students takes 2."""
SEPARATORS = ",;\t"
TITLE_LINES = 5
"""Lines at the top of a file in which the header is looked for."""
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How the files of Excel begin, of today and of before 2007."""
SEPARATOR_LINE = re.compile(r"sep=(.)[^\S\n]*(?:\n|$)", re.IGNORECASE)
"""A first line that tells Excel the separator."""
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
FORMULA = re.compile(r"(^|[;,])(\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20].)")
"""The possible beginning of a formula: the start of a cell, or after a separator of another spreadsheet."""


@dataclass(frozen=True)
class CsvRow:
    """A row of a CSV file with a cell for each column, and the number of its first line."""

    line: int
    cells: list[str]

    def cell(self, column: int | None) -> str:
        """Return the text of a cell in one line; '' for no column."""
        return "" if column is None else one_line(self.cells[column]).strip()


@dataclass(frozen=True)
class CsvTable:
    """A CSV file: its header and its rows, without empty ones."""

    path: Path
    header: list[str]
    rows: list[CsvRow]

    def column(self, *names: str) -> int | None:
        """Return the index of the first column with one of these names, ignoring case."""
        header = [name.casefold() for name in self.header]
        return next((header.index(name.casefold()) for name in names if name.casefold() in header), None)

    def has(self, *names: str) -> bool:
        """Return True if each of these names is a column."""
        return all(self.column(name) is not None for name in names)


def read_csv(path: Path) -> CsvTable:
    """Return the content of a CSV file with a header; commas, semicolons or tabs may separate its cells.

    Args:
        path: the file, in UTF-8 or, with a byte order mark, in UTF-16.

    Raises:
        GraderError: it cannot be read, is empty, is not CSV, or has a row with more cells than the header.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_MB * 2**20 + 1)
        if len(data) > MAX_MB * 2**20:
            raise GraderError(f"{path} has more than {MAX_MB} MB: give the CSV file that the platform wrote")
        if data.startswith(WORKBOOKS):
            raise GraderError(f"{path} is an Excel workbook: save it as CSV, in UTF-8")
        is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        # Unicode has two forms of some names; normalise them so that they match.
        text = unicodedata.normalize("NFC", data.decode("utf-16" if is_utf16 else "utf-8-sig"))
        header, *rows = _rows(text) or [CsvRow(1, [])]
    except (OSError, UnicodeError, csv.Error) as error:
        raise GraderError(f"{path} cannot be read ({error}): save it as CSV in UTF-8") from None
    names = [one_line(name).strip() for name in header.cells]
    if not any(names):
        raise GraderError(f"{path} is empty: it needs a first line with the names of the columns")
    width = len(names)
    wide = next((row for row in rows if any(cell.strip() for cell in row.cells[width:])), None)
    if sum(map(bool, names)) == 1 and (below := next((row for row in rows if sum(map(bool, row.cells)) > 1), None)):
        raise GraderError(
            f"{path} has one name on line {header.line}, and {len(below.cells)} cells on line {below.line}: remove "
            "what is above the names of the columns"
        )
    if wide:
        raise GraderError(
            f"{path} has {width} columns, and {len(wide.cells)} cells on line {wide.line}: put a cell that contains "
            'the separator into quotes ("Ada, C.")'
        )
    return CsvTable(path, names, [CsvRow(row.line, [*row.cells, *[""] * width][:width]) for row in rows])


def as_csv(rows: Iterable[Sequence[str | float | None]]) -> str:
    """Return rows as the text of a CSV file, in which no cell of text is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def neutral(text: str) -> str:
    """Return text in one line, with an apostrophe before any formula; numbers are unchanged."""
    text = one_line(text, len(text))
    return text if NUMBER.fullmatch(text) else FORMULA.sub(r"\1\2'", text)


def _rows(text: str) -> list[CsvRow]:
    named = SEPARATOR_LINE.match(text)
    lines = filter(None, (line.strip() for line in text[named.end() if named else 0 :].split("\n")))
    # A title above the header has no separator.
    first = next((line for line in islice(lines, TITLE_LINES) if any(each in line for each in SEPARATORS)), "")
    separator = named[1] if named else max(SEPARATORS, key=first.count)
    # Some programs write a space after each separator. Canvas indents a line on purpose, and quotes nothing then.
    is_spaced = re.search(rf'{re.escape(separator)} +"', text) is not None
    content = io.StringIO(text[named.end() :] if named else text, newline="")
    line = 2 if named else 1
    reader = csv.reader(content, delimiter=separator, strict=True, skipinitialspace=is_spaced)
    rows, above = [], line - 1
    for cells in reader:
        if any(cell.strip() for cell in cells):
            rows.append(CsvRow(line, cells))
        line = above + reader.line_num + 1
    return rows
