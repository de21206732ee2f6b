"""Reads the prose of the repository: text of pages and notebooks, docstrings, comments, messages, names of mistakes."""

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import nbformat

from grader.engine.notebook.cells import grade_id

CODE = re.compile(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)|<[^>\n]+>", re.DOTALL)
"""Parts of a text that are no English: code, formulas, targets of links, tags."""
WORDS = re.compile(r"[A-Za-z][A-Za-z'-]*[ ,.:;?!]")


class Kind(StrEnum):
    """The kinds of prose."""

    TEXT = "text"
    DOCSTRING = "docstring"
    COMMENT = "comment"
    MESSAGE = "message"
    """A string of code: a message, an alternative text, a label."""
    MISTAKE = "mistake"
    """The name or the hint of a misconception."""


@dataclass(frozen=True)
class Prose:
    """A piece of prose.

    Args:
        path: the file.
        cell: the grade_id of the cell, or its id; '' outside of notebooks.
        kind: what it is.
        text: the words, without code and formulas, and in one line.
    """

    path: Path
    cell: str
    kind: Kind
    text: str


def prose_of(path: Path) -> Iterator[Prose]:
    """Yield the prose of a page, a module, a notebook or a file of mistakes, by its suffix."""
    match path.suffix:
        case ".md":
            yield Prose(path, "", Kind.TEXT, path.read_text())
        case ".py":
            yield from (Prose(path, "", kind, text) for kind, text in _of_code(path.read_text()))
        case ".ipynb":
            yield from _of_notebook(path)
        case ".toml":
            for entry in tomllib.loads(path.read_text()).get("misconception", []):
                for text in (entry["name"], entry.get("hint", "")):
                    yield Prose(path, "", Kind.MISTAKE, _plain(text))


def _of_notebook(path: Path) -> Iterator[Prose]:
    for cell in nbformat.read(path, as_version=4).cells:
        name = grade_id(cell) or cell.id
        if cell.cell_type == "markdown":
            yield Prose(path, name, Kind.TEXT, _plain(cell.source))
        else:
            yield from (Prose(path, name, kind, text) for kind, text in _of_code(cell.source))


def _of_code(source: str) -> Iterator[tuple[Kind, str]]:
    """Yield docstrings, comments, and strings that have words in a row; an f-string is one text with {} in it."""
    tree = ast.parse(source)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            docstrings.add(id(node.body[0].value))  # type: ignore[attr-defined]
            yield Kind.DOCSTRING, _plain(text)
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in parts | docstrings and len(WORDS.findall(text)) > 1:
                yield Kind.MESSAGE, _plain(text)
            case ast.JoinedStr(values=values):
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else _placeholder(part) for part in values
                )
                if len(WORDS.findall(text)) > 1:
                    yield Kind.MESSAGE, _plain(text)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Kind.COMMENT, token.string


def _placeholder(part: ast.expr) -> str:
    """Return a mark for a value in an f-string; a bare name keeps its name."""
    value = part.value if isinstance(part, ast.FormattedValue) else part
    return f"{{{value.id}}}" if isinstance(value, ast.Name) else "{}"


def _plain(text: str) -> str:
    return " ".join(CODE.sub(" … ", text).split())
