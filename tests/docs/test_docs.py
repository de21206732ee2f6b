"""The pages name only what exists: links, make targets, commands, limits, settings, folders."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from traitlets import Integer

from grader.classroom.config import Grader
from grader.commands.cli import main
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


def name(item: object) -> str:
    """Return the part of a parameter that names a test."""
    return str(item.relative_to(REPOSITORY)) if isinstance(item, Path) else str(item)


def test_all_pages_are_read() -> None:
    """Each storey, command and process has a README, and no page is empty."""
    package = GRADER / "src" / "grader"
    rooms = {path.parent for within in ("*", "*/*") for path in package.glob(f"{within}/__init__.py")}
    assert {page.parent for page in PAGES if page.name == "README.md"} == rooms | {REPOSITORY, GRADER, KERNEL}
    assert len(rooms) == 31 and all(page.read_text().startswith("# ") for page in PAGES)


@pytest.mark.parametrize(("page", "target"), matches(LINK), ids=name)
def test_a_link_leads_to_a_file(page: Path, target: str) -> None:
    """A relative link names a file or folder of this repository."""
    path = (page.parent / target).resolve()
    assert path.exists() and path.is_relative_to(REPOSITORY)


@pytest.mark.parametrize(("page", "target"), matches(MAKE), ids=name)
def test_a_make_target_exists(page: Path, target: str) -> None:
    """`make WORD` stands for a rule of the Makefile."""
    assert re.search(rf"^{target}:", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize(("page", "command"), matches(COMMAND, code_only=True), ids=name)
def test_a_command_exists(page: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`grader COMMAND --help` answers."""
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0 and f"grader {command}" in capsys.readouterr().out


COMMANDS = [
    *("release", "grade", "worker-setup", "check", "report", "serve", "tokens", "roster", "import", "export"),
    *("prove", "doctor", "extend", "requests", "backup", "restore", "mark", "feedback", "rename"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_described(command: str) -> None:
    """The grader's README has a row for every command, and the search for commands finds it there."""
    rows = [line for line in (GRADER / "README.md").read_text().splitlines() if line.startswith("| `grader ")]
    assert len(rows) == len(COMMANDS) and len([row for row in rows if row.startswith(f"| `grader {command}")]) == 1
    assert (GRADER / "README.md", command) in matches(COMMAND, code_only=True)


@pytest.mark.parametrize(("page", "arguments"), matches(INSTALL), ids=name)
def test_what_pip_installs_exists(page: Path, arguments: str) -> None:
    """A folder in a command of pip has a pyproject.toml, with the extras that are named."""
    for local in filter(None, map(LOCAL.fullmatch, shlex.split(arguments))):
        project = tomllib.loads((REPOSITORY / local["folder"] / "pyproject.toml").read_text())["project"]
        assert {*(local["extras"] or "").split(",")} - {""} <= project.get("optional-dependencies", {}).keys()


@pytest.mark.parametrize("limit", [*Limits.class_traits(config=True)])
def test_a_limit_is_described(limit: str) -> None:
    """Every limit has a row in docs/instructors.md, with its default."""
    default = getattr(Limits(), limit)
    assert f"| `c.Limits.{limit}` | {default} |" in (REPOSITORY / "docs" / "instructors.md").read_text()


@pytest.mark.parametrize("limit", [*ServiceLimits.class_own_traits(config=True)])
def test_a_limit_of_the_service_is_described(limit: str) -> None:
    """Every limit has a row in serve.md, with its default."""
    default = getattr(ServiceLimits(), limit)
    assert f"| `c.ServiceLimits.{limit}` | {default} |" in (GRADER / "docs" / "serve.md").read_text()


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
