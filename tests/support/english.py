"""Counts phrases that docs/style.md replaces, by the rules in tests/docs/english.toml. `make lint` runs it.

python -m tests.support.english
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.support.paths import REPOSITORY
from tests.support.prose import Prose, prose_of

RULES = REPOSITORY / "tests" / "docs" / "english.toml"


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
def _read(path: Path) -> tuple[Prose, ...]:
    return tuple(prose_of(path))


def complaints(rule: Rule, paths: Iterable[Path]) -> Iterator[str]:
    """Yield a sentence for each file in which a phrase is found more often, or less often, than the rule keeps it."""
    hits: dict[str, list[str]] = {}
    for path in paths:
        name = str(path.relative_to(REPOSITORY))
        for prose in _read(path):
            hits.setdefault(name, []).extend(f"{prose.cell or name}: … {text} …" for text in rule.found(prose.text))
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


if __name__ == "__main__":
    found = all_complaints()
    print(*found, sep="\n", file=sys.stderr)
    sys.exit(bool(found))
