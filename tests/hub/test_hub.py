"""Shows that the course works on a JupyterHub, with the configuration and the commands of deploy/jupyterhub.

ada: log in --> open, answer, save, hand_in() --> report below the cell --> mend --> full points
bob: reads nothing of ada's                   prof: reads and marks what ada handed in
"""

import json

import pytest

from tests.hub.formgrader import Formgrader
from tests.hub.lab import Lab, visit
from tests.hub.machine import NEEDS_A_HUB, URL, Machine
from tests.support.small_class import NAME, RIGHT

COURSE = "/srv/attention/course"
NOTEBOOK = f"{NAME}/small.ipynb"
HAND_IN = "from course import hand_in; hand_in()"
SPY = """
import json, os, urllib.error, urllib.request
def read(path):
    try:
        return open(path, 'rb').read(1) and 'read'
    except OSError as error:
        return type(error).__name__
def ask(address):
    headers = {'Authorization': 'Bearer ' + os.environ['JUPYTERHUB_API_TOKEN']}
    try:
        return urllib.request.urlopen(urllib.request.Request(address, headers=headers)).status
    except urllib.error.HTTPError as error:
        return error.code
print(json.dumps([[read(path) for path in PATHS], [ask(address) for address in ADDRESSES]]))
"""
"""What a student can do in a cell: open files, and send the token of their own server to any address."""

pytestmark = [pytest.mark.slow, *NEEDS_A_HUB]


@pytest.fixture(scope="module")
def reports(labs: dict[str, Lab]) -> list[str]:
    """Answer wrongly as a student, hand in, mend the answer, hand in again; return the two reports."""
    ada = labs["ada"]
    ada.open(NOTEBOOK)
    ada.write(ada.cell("def one"), RIGHT["one"])
    last, reports = ada.append(HAND_IN), []
    for two in ("def two():\n    return 3", RIGHT["two"]):
        ada.write(ada.cell("def two"), two)
        ada.save()
        ada.run(last)
        reports.append(ada.press(last).inner_text())
    return reports


@pytest.fixture(scope="module")
def bob(labs: dict[str, Lab], reports: list[str]) -> Lab:
    """Open the same notebook as another student, after ada was graded."""
    labs["bob"].open(NOTEBOOK)
    return labs["bob"]


def test_what_a_student_hands_in_is_graded_at_once(reports: list[str], formgrader: Formgrader) -> None:
    """The report names the exercise that fails, the hub the student; a mark comes on top of the points from tests."""
    first, second = reports
    assert "3 of 8 points from tests" in first and "✗ two: not right yet, 0 of 5 points" in first
    assert "✓ one: right, 3 of 3 points" in first
    assert "8 of 8 points from tests" in second and "✗" not in second
    [submission] = formgrader.ask(f"submissions/{NAME}")
    assert (submission["student"], submission["autograded"], submission["score"]) == ("ada", True, 8.0)
    answer = visit(formgrader.page, f"{URL}/user/prof/api/contents/submitted/ada/{NOTEBOOK}")
    assert answer.status == 200 and HAND_IN in answer.text
    formgrader.mark(NAME, "small", 2)
    assert [each["score"] for each in formgrader.ask(f"submissions/{NAME}")] == [10.0]


def test_no_student_reads_what_another_one_has(machine: Machine, labs: dict[str, Lab], bob: Lab) -> None:
    """Files, report, page and server of a student are closed to another, who works on a copy of the release."""
    ada = labs["ada"]
    assert machine.run("bob", "stat", "--format=%U", f"/home/bob/{NOTEBOOK}").stdout == "bob\n"
    assert bob.cell("def two").inner_text().count("YOUR CODE HERE") == 1
    overview = json.loads(visit(ada.page, f"{URL}/services/grader/").text)
    hand_in = overview["assignments"][NAME]["notebooks"]["small"]["counts"]["id"]
    paths = [
        f"/home/ada/{NOTEBOOK}", f"{COURSE}/submitted/ada/{NOTEBOOK}", f"{COURSE}/source/{NOTEBOOK}",
        f"{COURSE}/feedback/ada/{NAME}/small.html", f"{COURSE}/gradebook.db", f"{COURSE}/hand_ins.db",
        "/srv/jupyterhub/jupyterhub.sqlite", "/srv/jupyterhub/cookie_secret",
    ]  # fmt: skip
    private = {f"services/grader/hand-in/{hand_in}": 404, f"services/grader/hand-in/{hand_in}/feedback": 404,
               f"user/ada/api/contents/{NOTEBOOK}": 403, "user/ada/api/kernels": 403}  # fmt: skip
    assert [visit(ada.page, f"{URL}/{address}").status for address in private] == [200] * 4
    assert [visit(bob.page, f"{URL}/{address}").status for address in private] == list(private.values())
    cell = bob.append(f"PATHS = {paths}\nADDRESSES = {[f'{URL}/{address}' for address in private]}\n{SPY}")
    assert json.loads(bob.run(cell).inner_text()) == [["PermissionError"] * len(paths), list(private.values())]
    assert not machine.run("root", "md5sum", *paths).returncode
