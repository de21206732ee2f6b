"""README.md and docs/ name only what exists: links, commands, limits, numbers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from traitlets import Integer

from course.cli import main
from course.grading.limits import Limits
from course.misconceptions import load

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?://|mailto:)(?P<target>[^)#\s]+)(?:#[^)]*)?\)")
MAKE = re.compile(r"(?:^|`)make (?P<target>[a-z]+)", re.MULTILINE)
COMMAND = re.compile(r"python -m course (?P<command>[a-z]+)")
COUNTED = {
    "known mistakes": lambda: sum(len(load(path)) for path in (REPOSITORY / "source").glob("*/")),
    "right answers in other styles": lambda: len(list((REPOSITORY / "tests/submissions").glob("*/*/right-*.py"))),
    "attacks": lambda: len(list((REPOSITORY / "tests/attacks/corpus").glob("*.py"))),
}


def found(pattern: re.Pattern[str]) -> list[tuple[Path, str]]:
    """What the one group of `pattern` matches, with the page that it stands on, each once a page."""
    return sorted({(page, match[1]) for page in PAGES for match in pattern.finditer(page.read_text())})


def name(item: object) -> str:
    return item.name if isinstance(item, Path) else str(item)


@pytest.mark.parametrize(("page", "target"), found(LINK), ids=name)
def test_a_link_leads_somewhere(page: Path, target: str) -> None:
    """A relative link names a file or folder of this repository."""
    path = (page.parent / target).resolve()
    assert path.exists() and path.is_relative_to(REPOSITORY)


@pytest.mark.parametrize(("page", "target"), found(MAKE), ids=name)
def test_a_make_target_exists(page: Path, target: str) -> None:
    """`make WORD` stands for a rule of the Makefile."""
    assert re.search(rf"^{target}:", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize(("page", "command"), found(COMMAND), ids=name)
def test_a_command_exists(page: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m course COMMAND --help` answers."""
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0 and f"course {command}" in capsys.readouterr().out


@pytest.mark.parametrize("what", [*Limits.class_traits(config=True)])
def test_a_limit_is_described(what: str) -> None:
    """Every limit has a row in docs/instructors.md, with its default."""
    default = getattr(Limits(), what)
    assert f"| `c.Limits.{what}` | {default} |" in (REPOSITORY / "docs" / "instructors.md").read_text()


def test_no_limit_is_described_that_is_gone() -> None:
    """Whatever a page calls c.Limits.NAME is a whole number that one can set."""
    traits = Limits.class_traits(config=True)
    named = {limit for _, limit in found(re.compile(r"c\.Limits\.([a-z_]+)"))}
    assert {limit for limit in named if not isinstance(traits.get(limit), Integer)} == set()


@pytest.mark.parametrize("what", COUNTED)
def test_a_number_in_the_readme_is_the_number_there_is(what: str) -> None:
    """Mistakes, styles and attacks are as many as README.md says."""
    (said,) = re.findall(rf"(\d+) {what}", " ".join((REPOSITORY / "README.md").read_text().split()))
    assert int(said) == COUNTED[what]()


def relative(cells: str) -> Iterator[str]:
    """The paths of the tree in README.md."""
    return (line.split()[0] for line in cells.strip().splitlines())


def test_the_tree_in_the_readme_exists() -> None:
    """Each line of "What lies where" opens with something that is there."""
    tree = (REPOSITORY / "README.md").read_text().split("## What lies where")[1].split("```")[1]
    assert [path for path in relative(tree) if not (REPOSITORY / path).exists()] == []
