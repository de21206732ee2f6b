"""Counts phrases that docs/style.md replaces, by the rules in tests/docs/english.toml. `make lint` runs it.

It reads text of pages and notebooks, docstrings, comments, messages, names and hints of mistakes:

python -m tests.support.english
"""

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat

from grader.engine.notebook.cells import grade_id
from tests.support.paths import REPOSITORY

RULES = REPOSITORY / "tests" / "docs" / "english.toml"
CODE = re.compile(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)|<[^>\n]+>", re.DOTALL)
"""Parts of a text that are no English: code, formulas, targets of links, tags."""
WORDS = re.compile(r"[A-Za-z][A-Za-z'-]*[ ,.:;?!]")


@dataclass(frozen=True)
class Rule:
    """A phrase to replace; the fields are explained in tests/docs/english.toml."""

    name: str
    pattern: str
    instead: str
    where: str
    example: str
    kept: dict[str, int] = field(default_factory=dict)

    def found(self, text: str) -> list[str]:
        """Return the phrases of a text that break the rule, each with the words around it."""
        return [
            text[max(0, match.start() - 30) : match.end() + 30]
            for match in re.finditer(self.pattern, text, re.MULTILINE)
        ]


def rules() -> list[Rule]:
    """Return all rules."""
    return [Rule(**entry) for entry in tomllib.loads(RULES.read_text())["rule"]]


def course_files() -> list[Path]:
    """Return the notebooks of the course and the files of its mistakes."""
    return [*sorted(REPOSITORY.glob("source/**/*.ipynb")), *sorted(REPOSITORY.glob("source/*/misconceptions/*.toml"))]


def other_files() -> list[Path]:
    """Return the pages and the modules."""
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md"), *REPOSITORY.glob("packages/**/*.md")]
    modules = [
        path
        for folder in ("packages/*/src", "course", "benchmarks", "examples", "tests")
        for path in REPOSITORY.glob(f"{folder}/**/*.py")
        if "correct_answers" not in path.parts
    ]
    # coverage.md quotes other documents, and style.md the phrases themselves.
    quoting = {REPOSITORY / "docs" / "coverage.md", REPOSITORY / "docs" / "style.md"}
    return sorted({*pages, *modules} - quoting)


@cache
def _read(path: Path) -> tuple[tuple[str, str], ...]:
    return tuple(prose_of(path))


def complaints(rule: Rule, paths: Iterable[Path]) -> Iterator[str]:
    """Yield a sentence for each file in which a phrase is found more often, or less often, than the rule keeps it."""
    hits: dict[str, list[str]] = {}
    for path in paths:
        name = str(path.relative_to(REPOSITORY))
        for cell, said in _read(path):
            hits.setdefault(name, []).extend(f"{cell or name}: … {text} …" for text in rule.found(said))
    for name in sorted(hits.keys() | rule.kept.keys()):
        found, kept = hits.get(name, []), rule.kept.get(name, 0)
        if len(found) > kept:
            head = f"{name}: {rule.name} ({len(found)} times, kept {kept}); write {rule.instead}"
            yield "\n    ".join([head, *found])
        elif len(found) < kept:
            yield f"{name}: {rule.name} is found {len(found)} times: lower `kept` in {RULES.name} from {kept}"


def all_complaints() -> list[str]:
    """Return what breaks a rule, in the whole repository."""
    files = {"course": course_files(), "pages": other_files()}
    files["everywhere"] = files["course"] + files["pages"]
    return [text for rule in rules() for text in complaints(rule, files[rule.where])]


def prose_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the prose of a page, a module, a notebook or a file of mistakes, each with the name of its cell."""
    match path.suffix:
        case ".md":
            yield "", path.read_text()
        case ".py":
            yield from (("", text) for text in _of_code(path.read_text()))
        case ".ipynb":
            yield from _of_notebook(path)
        case ".toml":
            for entry in tomllib.loads(path.read_text()).get("misconception", []):
                for text in (entry["name"], entry.get("hint", "")):
                    yield "", _plain(text)


def _of_notebook(path: Path) -> Iterator[tuple[str, str]]:
    for cell in nbformat.read(path, as_version=4).cells:
        name = grade_id(cell) or cell.id
        if cell.cell_type == "markdown":
            yield name, _plain(cell.source)
        else:
            yield from ((name, text) for text in _of_code(cell.source))


def _of_code(source: str) -> Iterator[str]:
    """Yield docstrings, comments, and strings that have words in a row; an f-string is one text with {} in it."""
    tree = ast.parse(source)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            docstrings.add(id(node.body[0].value))  # type: ignore[attr-defined]
            yield _plain(text)
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in parts | docstrings and len(WORDS.findall(text)) > 1:
                yield _plain(text)
            case ast.JoinedStr(values=values):
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else _placeholder(part) for part in values
                )
                if len(WORDS.findall(text)) > 1:
                    yield _plain(text)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def _placeholder(part: ast.expr) -> str:
    """Return a mark for a value in an f-string; a bare name keeps its name."""
    value = part.value if isinstance(part, ast.FormattedValue) else part
    return f"{{{value.id}}}" if isinstance(value, ast.Name) else "{}"


def _plain(text: str) -> str:
    return " ".join(CODE.sub(" … ", text).split())


if __name__ == "__main__":
    found = all_complaints()
    print(*found, sep="\n", file=sys.stderr)
    sys.exit(bool(found))
