"""The text of the repository keeps the rules of CONTRIBUTING.md: none of the phrases that its readers stumbled over."""

import io
import re
import tokenize
from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY

PAGES = [
    *REPOSITORY.glob("*.md"),
    # coverage.md quotes headings of the notebooks.
    *(path for path in REPOSITORY.glob("docs/*.md") if path.name != "coverage.md"),
    *REPOSITORY.glob("packages/**/*.md"),
]
MODULES = [
    *REPOSITORY.glob("packages/*/src/**/*.py"),
    *REPOSITORY.glob("course/**/*.py"),
    *REPOSITORY.glob("benchmarks/*.py"),
    *REPOSITORY.glob("examples/*.py"),
    *(path for path in REPOSITORY.glob("tests/**/*.py") if "correct_answers" not in path.parts),
]
BANNED = {
    "a clause as the subject": re.compile(
        r"(?:^|[.:;] |\"\"\"|# )(?:Who|Whose|Whoever|Of what|Of whom) [a-z][^?]*?[.:;\"]"
    ),
    "is told": re.compile(r"\b(?:is|are|was|were) told\b"),
    "anew": re.compile(r"\banew\b"),
    "stands there": re.compile(r"\b(?:stands?|lies?) there\b"),
    "put right": re.compile(r"\bputs? right\b"),
    "at the most": re.compile(r"\bat the most\b"),
    "nobody, anybody, somebody": re.compile(r"\b(?:any|some)body\b|\bnobody\b(?!'s fault)"),
}


def text_of(path: Path) -> str:
    """The prose of a file: all of a page, comments and strings of a module."""
    if path.suffix == ".md":
        return path.read_text()
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    kinds = (tokenize.COMMENT, tokenize.STRING)
    return "\n".join(token.string for token in tokens if token.type in kinds)


@pytest.mark.parametrize("path", [*PAGES, *MODULES], ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_no_phrase_is_one_that_a_native_engineer_would_reword(path: Path) -> None:
    """Neither a docstring nor a comment, a message or a page uses it."""
    if path == Path(__file__):
        return
    prose = " ".join(text_of(path).split())
    assert {name: pattern.findall(prose)[:3] for name, pattern in BANNED.items() if pattern.search(prose)} == {}


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("Who has the right mark is done.", "a clause as the subject"),
        ("The student is told which.", "is told"),
        ("A cell that is put right.", "put right"),
    ],
)
def test_a_banned_phrase_is_found(phrase: str, name: str) -> None:
    """The test above can fail."""
    assert BANNED[name].search(phrase)
