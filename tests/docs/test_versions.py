"""The versions of the three distributions agree wherever they are written, and each changelog keeps its format."""

import re
import tomllib
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

import grader
from tests.support.paths import GRADER, KERNEL, REPOSITORY

FOLDERS = {"attention-seminar": REPOSITORY, "confined-grader": GRADER, "grader-kernel": KERNEL}
"""Distribution -> its folder."""
DATED = re.compile(r"\[(?P<version>\d+\.\d+\.\d+)\] - (?P<date>\d{4}-\d{2}-\d{2})")
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
"""The headings of Keep a Changelog, in its order."""


def project(name: str) -> dict[str, Any]:
    """Return the metadata in the pyproject.toml of a distribution."""
    content: dict[str, Any] = tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text())["project"]
    return content


def version(name: str) -> str:
    """Return the version of a distribution; the grader's is in its package."""
    return str(grader.__version__ if "version" in project(name).get("dynamic", ()) else project(name)["version"])


def entries() -> Iterator[str]:
    """Yield each entry of the changelogs, on one line."""
    for folder in FOLDERS.values():
        text = (folder / "CHANGELOG.md").read_text()
        yield from (" ".join(entry.split()) for entry in re.findall(r"^- (.*(?:\n  .*)*)", text, re.MULTILINE))


@pytest.mark.parametrize("name", FOLDERS)
def test_the_newest_dated_entry_is_of_the_version(name: str) -> None:
    """Above it is what is not released, below are older ones; kinds of changes are in Keep a Changelog's order."""
    unreleased, *released = re.findall(r"^## (.*)$", (FOLDERS[name] / "CHANGELOG.md").read_text(), re.MULTILINE)
    found = [match.groupdict() for match in map(DATED.fullmatch, released) if match]
    assert project(name)["name"] == name and unreleased == "[Unreleased]" and len(found) == len(released)
    assert found[0]["version"] == version(name)
    ages = [(date.fromisoformat(each["date"]), [*map(int, each["version"].split("."))]) for each in found]
    assert ages == sorted(ages, reverse=True)
    for section in re.split(r"^## ", (FOLDERS[name] / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.*)$", section, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds]


def test_an_entry_is_in_one_changelog() -> None:
    """No change is described twice."""
    found = [*entries()]
    assert len(found) > 50 and len(found) == len(set(found))


def test_other_files_name_the_version() -> None:
    """Notebooks and grader share the kernel package's rules, so both require it; CITATION.cff names the course."""
    for name in ("attention-seminar", "confined-grader"):
        pinned = [line for line in project(name)["dependencies"] if line.startswith("grader-kernel")]
        assert pinned == [f"grader-kernel=={version('grader-kernel')}"]
    cited = re.findall(r"^version: (.*)$", (REPOSITORY / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == [version("attention-seminar")]


def test_every_page_names_the_wheels_of_these_versions() -> None:
    """The commands that install them can be copied."""
    pages = [
        path
        for pattern in ("*.md", "docs/*.md", "deploy/**/*.md", "packages/**/*.md")
        for path in REPOSITORY.glob(pattern)
    ]
    wheel = re.compile(r"(\w+)-(\d+\.\d+\.\d+)-py3-none-any\.whl")
    named = {match.groups() for page in pages for match in wheel.finditer(page.read_text())}
    assert named == {(name.replace("-", "_"), version(name)) for name in FOLDERS}


@pytest.mark.parametrize("name", FOLDERS)
def test_contributors_find_the_changelog_and_the_tag_of_each_distribution(name: str) -> None:
    """CONTRIBUTING.md has a row with both. A tag begins with the name of the folder, or with `course`."""
    (row,) = re.findall(rf"^\| `{name}` \|.*-v.*$", (REPOSITORY / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    changelog = (FOLDERS[name] / "CHANGELOG.md").relative_to(REPOSITORY)
    tag = "course" if name == "attention-seminar" else FOLDERS[name].name
    assert f"`{changelog}`" in row and re.search(rf"`{tag}-v\d+\.\d+\.\d+`", row)
