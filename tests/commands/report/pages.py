"""Reads pages of class reports as a browser reads them, and makes reports with other texts in them."""

import subprocess
from typing import Any

import msgspec
from bs4 import BeautifulSoup, Tag

from grader.commands.report.model import ClassReport
from tests.commands.mark.marker import BROWSER
from tests.support.waiting import HANGS

OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")
TIMES = {"made", "due", "handed_in"}
SIZES = {"tests": 14, "exercises": 4, "mistakes": 7, "groups": 5, "pairs": 4}
"""The number of each kind of thing in the reports of these tests."""


def read(text: str) -> Tag:
    """A page as a tree."""
    return BeautifulSoup(text, "html.parser")


def words(part: Tag) -> str:
    """The text of a part of a page."""
    return " ".join(part.get_text().split())


def section(shown: Tag, name: str) -> Tag:
    """A section of a page."""
    return shown.select_one(f"section:has(#{name})")


def table(shown: Tag, name: str) -> list[list[str]]:
    """The rows of a table, without its head."""
    return [[words(cell) for cell in row.find_all(["th", "td"])] for row in shown.select(f"#{name} tbody tr")]


def with_texts(report: ClassReport, text: str) -> ClassReport:
    """The report with `text` added to each of its texts that is not a time."""

    def changed(value: Any, name: str = "") -> Any:
        if isinstance(value, str):
            return value if name in TIMES else value + text
        if isinstance(value, dict):
            return {key: changed(each, key) for key, each in value.items()}
        return [changed(each, name) for each in value] if isinstance(value, list) else value

    return msgspec.convert(changed(msgspec.to_builtins(report)), ClassReport)


def opened(address: str) -> Tag:
    """A page as Chromium leaves it after its script ran."""
    command = [BROWSER, *OPTIONS, "--virtual-time-budget=3000", "--dump-dom", address]
    return read(subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=True).stdout)
