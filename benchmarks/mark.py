"""Measures `grader mark` on a large class: `python -m benchmarks --only mark`.

source/04-attention --> 300 students with written answers of their own --> grader mark --> Chromium, marks by HTTP
"""

import json
import os
import re
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from statistics import median

import nbformat
from playwright.sync_api import sync_playwright

from benchmarks.classes import ASSIGNMENT, PROGRAMS, environment, make
from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import NotebookScores, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.page.autograded import autograded
from grader.classroom.release import register
from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.engine.report import Report

HEADING = "## Marking by question"
SIZE, MARKS = 300, 100
"""Students of the class, all with different answers, and the marks that are timed."""
TARGET = 2
"""Seconds in which the page of a question with all answers is to open."""
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ANSWER = """The weights of student {student} sum to one:
$\\alpha_{{ij}} = \\frac{{\\exp(e_{{ij}})}}{{\\sum_k \\exp(e_{{ik}})}}$.

1. The **encoder** reads the source word by word, and keeps a state $h_j$ for each; that of {student} is `h[{student}]`.
2. The decoder mixes them into $c_i = \\sum_j \\alpha_{{ij}} h_j$, so that each target word has a context of its own.

| word | weight |
|---|---|
| river | 0.{student} |
| bank | 0.1 |

Without attention there is one vector for the whole sentence, and a long one does not fit into it. {picture}"""


def make_class(folder: Path) -> str:
    """Make a class whose answers wait for a person, as grading leaves it; return the address of a question."""
    make(folder, 0)
    course_dir = CourseDir(folder)
    register(course_dir, ASSIGNMENT)
    paths = sorted((folder / "source" / ASSIGNMENT).glob("*.ipynb"))
    sources = {path.stem: nbformat.read(path, as_version=4) for path in paths}
    address = ""
    with GradebookWriter(course_dir, ASSIGNMENT) as writer:
        registered = writer.notebooks()
        for number in range(SIZE):
            student, scores = f"student{number:03}", {}
            (place := folder / "autograded" / student / ASSIGNMENT).mkdir(parents=True)
            for name, source in sources.items():
                for cell in source.cells:
                    if type_of(cell) is CellType.MANUAL_ANSWER:
                        picture = f"![](data:image/png;base64,{PICTURE})" if number % 10 == 0 else ""
                        cell.source = ANSWER.format(student=number, picture=picture)
                        address = address or f"{ASSIGNMENT}/{name}/{grade_id(cell)}"
                done = autograded(source, Report(), registered[name].checksums)
                (place / f"{name}.ipynb").write_text(json.dumps(done))
                scores[name] = NotebookScores({}, ())
            writer.write([StudentScores(student, scores, datetime(2026, 1, 2, 12))])
    return address


@contextmanager
def server(folder: Path) -> Iterator[tuple[str, float, int]]:
    """Yield the link, the seconds until it was printed, and the id of the process."""
    begin = time.perf_counter()
    command = [PROGRAMS / "grader", "mark", ASSIGNMENT, "--no-browser", "--bind=127.0.0.1:0"]
    with subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        link = process.stdout.readline().split()[-1]
        yield link, time.perf_counter() - begin, process.pid
        process.terminate()


def in_browser(link: str, address: str) -> tuple[list[float], dict[str, str]]:
    """Return the seconds from the address to a page that can be marked, twice, and the headers of that page."""
    seconds = []
    with sync_playwright() as playwright:
        path = next(filter(os.path.exists, ("/usr/bin/chromium", "/usr/bin/google-chrome")), None)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(link)
        for _ in range(2):
            begin = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("form.mark", timeout=60_000)
            seconds.append(time.perf_counter() - begin)
        assert page.locator(".card").count() == SIZE
        token = page.locator("#page").get_attribute("data-token") or ""
        cookie = "; ".join(f"{each['name']}={each['value']}" for each in page.context.cookies())
        browser.close()
    return seconds, {"Cookie": cookie, "X-XSRFToken": token}


def marks(address: str, headers: dict[str, str]) -> float:
    """Return the median seconds of a mark from the request to the answer that says that it is saved."""

    def ask(path: str, data: bytes | None = None) -> dict[str, list[dict[str, str]]]:
        request = urllib.request.Request(f"{address}/{path}", data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: dict[str, list[dict[str, str]]] = json.load(answer)
        return found

    seconds = []
    for state in ask("changes?after=0&tab=x")["states"][-MARKS:]:
        given = {"tab": "x", "group": state["group"], "version": state["version"], "points": 1, "comment": "Good."}
        begin = time.perf_counter()
        ask("mark", json.dumps(given).encode())
        seconds.append(time.perf_counter() - begin)
    return median(seconds)


def table() -> str:
    """Return the part of the results, as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "class"
        place = make_class(folder)
        with server(folder) as (link, start, process):
            address = f"{link.partition('/?')[0]}/{place}"
            (first, again), headers = in_browser(link, address)
            each = marks(address, headers)
            status = Path(f"/proc/{process}/status").read_text()
    memory = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]
    return "\n".join([
        HEADING, "",
        f"{SIZE} students with different answers to every written question of {ASSIGNMENT}, with formulas, lists, "
        "tables and a few pictures. Seconds in Chromium from the address until the first answer can be marked.", "",
        "| | measured | target |", "|---|--:|--:|",
        f"| from the command to the link, seconds | {start:.1f} | |",
        f"| page of a question with {SIZE} answers, just after the start, seconds | {first:.2f} | < {TARGET} |",
        f"| the same once more, seconds | {again:.2f} | < {TARGET} |",
        f"| a mark, from the request to the answer, median, milliseconds | {1000 * each:.0f} | |",
        f"| memory of the server, MiB | {memory:.0f} | |", "",
    ])  # fmt: skip
