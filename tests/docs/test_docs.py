"""The pages name only what exists: links, make targets, commands, limits, settings, folders."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from traitlets import Integer

from grader.classroom.config import Grader
from grader.commands.cli import COMMANDS, main
from grader.commands.serve.web.limits import ServiceLimits
from grader.engine.limits import Limits
from tests.support.paths import GRADER, KERNEL, REPOSITORY

PAGES = [
    *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((REPOSITORY / "docs").glob("*.md")),
    *sorted((GRADER / "docs").glob("*.md")),
    *sorted((GRADER / "src").rglob("README.md")),
    *(folder / "README.md" for folder in (GRADER, KERNEL)),
]
LINK = re.compile(r"\]\((?!https?://|mailto:)(?P<target>[^)#\s]+)(?:#[^)]*)?\)")
# A sentence may say "make sure".
MAKE = re.compile(r"(?:^|`)make (?P<target>[a-z]+)", re.MULTILINE)
CODE = re.compile(r"```.*?```|`[^`]+`", re.DOTALL)
# "nbgrader" has other commands, Python imports "from grader", and a comment may speak of "the grader".
COMMAND = re.compile(r"(?<!nb)(?<!from )(?<!the )grader (?P<command>[a-z]+(?:-[a-z]+)*)")
SETTING = re.compile(r"c\.(Limits|Grader)\.([a-z_]+)")
INSTALL = re.compile(r"pip install (.+?)[`\n]")
LOCAL = re.compile(r"(?P<folder>\.[\w/-]*)(?:\[(?P<extras>[\w,]+)\])?")
"""A folder that pip installs from, with extras."""


def matches(pattern: re.Pattern[str], *, code_only: bool = False) -> list[tuple[Path, str]]:
    """Return the text that the group of `pattern` matches, with its page, each once per page.

    Args:
        pattern: a pattern with one group.
        code_only: whether to search only text in backticks.
    """
    texts = {page: page.read_text() for page in PAGES}
    if code_only:
        texts = {page: "\n".join(CODE.findall(text)) for page, text in texts.items()}
    return sorted({(page, match[1]) for page, text in texts.items() for match in pattern.finditer(text)})


def test_all_pages_are_read() -> None:
    """Each storey, command and process has a README, and no page is empty."""
    package = GRADER / "src" / "grader"
    rooms = {path.parent for within in ("*", "*/*") for path in package.glob(f"{within}/__init__.py")}
    assert {page.parent for page in PAGES if page.name == "README.md"} == rooms | {REPOSITORY, GRADER, KERNEL}
    assert len(rooms) == 31 and all(page.read_text().startswith("# ") for page in PAGES)


def test_links_lead_to_files_and_make_targets_exist() -> None:
    """A relative link names a file or folder of this repository, and `make WORD` a rule of the Makefile."""
    paths = [(page.parent / target).resolve() for page, target in matches(LINK)]
    assert paths and [path for path in paths if not (path.exists() and path.is_relative_to(REPOSITORY))] == []
    rules = re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert {target for _, target in matches(MAKE)} <= {*rules}


def test_commands_on_pages_exist(capsys: pytest.CaptureFixture[str]) -> None:
    """`grader COMMAND --help` answers."""
    for command in {command for _, command in matches(COMMAND, code_only=True)}:
        with pytest.raises(SystemExit) as end:
            main([command, "--help"])
        assert end.value.code == 0 and f"grader {command}" in capsys.readouterr().out


def test_each_command_is_described() -> None:
    """The grader's README has a row for every command, and the search for commands finds it there."""
    page = GRADER / "README.md"
    assert sorted(re.findall(r"^\| `grader ([a-z-]+)", page.read_text(), re.MULTILINE)) == sorted(COMMANDS)
    assert {command for found, command in matches(COMMAND, code_only=True) if found == page} >= COMMANDS.keys()


def test_what_pip_installs_exists() -> None:
    """A folder in a command of pip has a pyproject.toml, with the extras that are named."""
    words = [word for _, arguments in matches(INSTALL) for word in shlex.split(arguments)]
    for local in filter(None, map(LOCAL.fullmatch, words)):
        project = tomllib.loads((REPOSITORY / local["folder"] / "pyproject.toml").read_text())["project"]
        assert {*(local["extras"] or "").split(",")} - {""} <= project.get("optional-dependencies", {}).keys()


@pytest.mark.parametrize("limits", [Limits, ServiceLimits])
def test_each_limit_is_described(limits: type[Limits | ServiceLimits]) -> None:
    """Every limit has a row in docs/instructors.md or in serve.md, with its default."""
    page = (REPOSITORY / "docs" / "instructors.md" if limits is Limits else GRADER / "docs" / "serve.md").read_text()
    names = limits.class_traits(config=True) if limits is Limits else limits.class_own_traits(config=True)
    rows = [f"| `c.{limits.__name__}.{name}` | {getattr(limits(), name)} |" for name in names]
    assert rows and [row for row in rows if row not in page] == []


def test_every_setting_on_a_page_exists() -> None:
    """A name after c.Limits is an integer that can be set, and a name after c.Grader is a setting too."""
    limits, settings = Limits.class_traits(config=True), Grader.class_traits(config=True)
    named = {match.groups() for page in PAGES for match in SETTING.finditer(page.read_text())}
    assert ("Grader", "helper_packages") in named and ("Limits", "cell_seconds") in named
    assert {limit for kind, limit in named if kind == "Limits" and not isinstance(limits.get(limit), Integer)} == set()
    assert {setting for kind, setting in named if kind == "Grader"} <= settings.keys()


def test_every_attack_tries_a_promise() -> None:
    """The table in threat-model.md names each number of the corpus and no other."""
    page = (GRADER / "docs" / "threat-model.md").read_text()
    named = set()
    for cell in re.findall(r"^\| \*\*.*\| ([\d, –]+) \|$", page, re.MULTILINE):
        for first, last in re.findall(r"(\d+)(?:–(\d+))?", cell):
            named |= set(range(int(first), int(last or first) + 1))
    assert named == {int(path.name[:2]) for path in (REPOSITORY / "tests/attacks/corpus").glob("*.py")}


def test_the_layout_in_the_readme_exists() -> None:
    """Each line of "Layout" begins with a path of the repository, and every folder of the repository is listed."""
    layout = (REPOSITORY / "README.md").read_text().split("## Layout")[1].split("```")[1]
    paths = [line.split()[0] for line in layout.strip().splitlines()]
    assert [path for path in paths if not (REPOSITORY / path).exists()] == []
    folders = {path.parent.name for path in REPOSITORY.glob("*/*.*") if path.suffix in (".py", ".md", ".ipynb")}
    ignored = {"demo", "build", "dist", "submitted", "feedback"}
    assert {f"{name}/" for name in folders - ignored if not name.startswith(".")} <= set(paths)
