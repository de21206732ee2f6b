"""Shows that a real browser runs no script of a submission, neither on the feedback page nor in the formgrader.

    attacks 61a to 61c, whose scripts set the page's title --> class run --> feedback page --+
                                                                         --> formgrader   ---+--> Chromium --> the title

MathML that a student writes is no MathML of the page: nothing in it runs, and nothing is fetched.

No text of a submission delays the formgrader's server either.
"""

import html
import json
import re
import shutil
import sqlite3
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.page import formulas, sanitize
from tests.attacks.aftermath import ASSIGNMENT, ATTACKS, NAME, hand_in
from tests.attacks.build import RELEASED, SOURCE
from tests.attacks.hostile_markup import MATHML, RAN
from tests.support.jupyterlab import jupyter
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SCRIPTS = [name for name in ATTACKS if "-script-in-" in name]
SLOW = [name for name in ATTACKS if "-slow-" in name]
FOREIGN = """onload = () => document.title ||= JSON.stringify(Array.from(frames, frame =>
    Array.from(frame.document.all).filter(each => !each.namespaceURI.endsWith("xhtml")).map(each => each.localName)))
"""
"""Makes the title of a page a list of the elements in each of its frames that are not HTML, as the browser reads it."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="pip cannot install Chromium; .ci/run does, so CI runs these"),
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Grade a class of the attacks with scripts, and of those that take long to render; return the course folder."""
    course = tmp_path_factory.mktemp("browser") / "course"
    hand_in(course / "source" / ASSIGNMENT, SOURCE)
    shutil.copy(REPOSITORY / "nbgrader_config.py", course)
    for attack in SCRIPTS:
        script = json.dumps(ATTACKS[attack].submission(RELEASED)).replace("attack()", RAN)
        assert RAN in script
        hand_in(course / "submitted" / attack / ASSIGNMENT, script.encode())
    for attack in SLOW:
        hand_in(course / "submitted" / attack / ASSIGNMENT, ATTACKS[attack].submission(RELEASED))
    assert len(list(ClassRun(CourseDir(course), ASSIGNMENT).outcomes())) == len(SCRIPTS + SLOW)
    return course


@pytest.fixture(scope="module")
def formgrader(course: Path) -> Iterator[str]:
    """Start a Jupyter server in the course folder; yield the address of its formgrader."""
    arguments = ["--ServerApp.port_retries=0", "--ServerApp.password="]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with jupyter("jupyter_server", arguments, cwd=course, **quiet) as address:
        yield f"{address}/formgrader"


@pytest.fixture
def requests() -> Iterator[tuple[str, dict[str, str], list[str]]]:
    """Start a server; yield its address, its pages by path, and the paths of requests for anything else."""
    pages: dict[str, str] = {"/favicon.ico": ""}
    others: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if self.path not in pages:
                others.append(self.path)
            self.wfile.write(pages.get(self.path, "").encode())

        def log_message(self, *args: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("localhost", 0), Handler) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://localhost:{server.server_port}", pages, others
        server.shutdown()


@pytest.mark.parametrize(
    "render", [sanitize.markdown, sanitize.html, lambda text: text], ids=["markdown", "html", "not cleaned"]
)
def test_no_mathml_of_a_student_runs_or_loads_anything(
    requests: tuple[str, dict[str, str], list[str]], render: Callable[[str], str]
) -> None:
    """The browser finds MathML only where the grader drew a formula. Of text that was not cleaned, scripts run."""
    address, pages, others = requests
    shown = [render(text.replace("RAN", RAN).replace("URL", f"{address}/fetched")) for text in MATHML]
    frames = "".join(f'<iframe srcdoc="{html.escape(each)}"></iframe>' for each in shown)
    pages["/page"] = f"<title></title>{frames}<script>{FOREIGN}</script>"
    found = title(f"{address}/page")
    if render not in (sanitize.markdown, sanitize.html):
        assert found == "7" and "/fetched" in others
        return
    assert others == []
    for text, names in zip(MATHML, json.loads(html.unescape(found)), strict=True):
        assert {*names} <= (formulas.ELEMENTS if "$" in text or "<var" in text else set()), text
    assert "math" in found


@pytest.mark.parametrize("attack", SCRIPTS)
def test_no_script_runs_in_the_feedback_or_in_the_formgrader(course: Path, formgrader: str, attack: str) -> None:
    """Students open the page that is handed back. In the formgrader, a script would have an instructor's rights."""
    assert title((course / "feedback" / attack / ASSIGNMENT / f"{NAME}.html").as_uri()) == NAME
    page = dom(marking_page(course, formgrader, attack))
    assert "Student's answer" in page and f"<title>{RAN[-1]}" not in page


@pytest.mark.parametrize("attack", SLOW)
def test_no_text_holds_up_the_formgrader(course: Path, formgrader: str, attack: str) -> None:
    """The server makes the page while it answers no other request, and it does answer."""
    with urllib.request.urlopen(marking_page(course, formgrader, attack), timeout=HANGS) as page:
        assert b"Student's answer" in page.read()


def marking_page(course: Path, formgrader: str, attack: str) -> str:
    """Return the address at which the formgrader shows a submission."""
    with sqlite3.connect(course / "gradebook.db") as database:
        query = """
            SELECT submitted_notebook.id FROM submitted_notebook
            JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
            WHERE student_id = ?
        """
        [submission] = database.execute(query, [attack]).fetchone()
    return f"{formgrader}/submissions/{submission}/"


def title(address: str) -> str:
    """Return the title of a page once its scripts have run."""
    return re.search("<title>(.*?)</title>", dom(address)).group(1)


def dom(address: str) -> str:
    """Return a page as HTML once its scripts have run, in a browser that reaches only this machine."""
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost", "--virtual-time-budget=5000", "--dump-dom",
         address],
        capture_output=True, text=True, timeout=HANGS, check=True,
    )  # fmt: skip
    return done.stdout
