"""Shows that an assignment goes through nbgrader's exchange on a JupyterHub, and its feedback comes back.

prof: Generate, Release -->             Collect, Autograde, mark, Generate Feedback, Release Feedback -->
ada:                        Fetch, answer, Submit -->                                    Fetch Feedback, open the page
"""

import pytest
from playwright.sync_api import Locator, expect

from tests.hub.conftest import EXCHANGED
from tests.hub.formgrader import Formgrader
from tests.hub.lab import Lab, visit
from tests.hub.machine import NEEDS_A_HUB, Machine
from tests.support.small_class import RIGHT

EXCHANGE = "/srv/attention/exchange"
COLLECTED = f"/srv/attention/course/submitted/ada/{EXCHANGED}"

pytestmark = [pytest.mark.slow, *NEEDS_A_HUB]


class AssignmentList:
    """The tab "Assignment List" in a student's JupyterLab."""

    def __init__(self, lab: Lab) -> None:
        """Open the tab from the menu."""
        lab.menu("Nbgrader").filter(has_text="Assignment List").click()
        self.node = lab.page.locator("#nbgrader-assignment-list")

    def listed(self, stage: str) -> Locator:
        """Return the row of the assignment among the released, fetched or submitted ones."""
        return self.node.locator(f"#{stage}_assignments_list > .list_item").filter(has_text=EXCHANGED)

    def press(self, stage: str, button: str) -> None:
        """Press the button of the assignment, once the list shows it at a stage."""
        self.listed(stage).get_by_role("button", name=button, exact=True).click()


@pytest.fixture(scope="module")
def ada(labs: dict[str, Lab], formgrader: Formgrader) -> Lab:
    """Release as the instructor; fetch, answer and submit as the student."""
    formgrader.press(EXCHANGED, "assign")
    formgrader.press(EXCHANGED, "release")
    ada = labs["ada"]
    AssignmentList(ada).press("released", "Fetch")
    expect(AssignmentList(ada).listed("fetched")).to_be_visible()
    ada.open(f"{EXCHANGED}/small.ipynb")
    for name in ("one", "two"):
        ada.write(ada.cell(f"def {name}"), RIGHT[name])
    ada.answer(RIGHT["why"])
    ada.save()
    AssignmentList(ada).press("fetched", "Submit")
    expect(AssignmentList(ada).listed("submitted")).to_be_visible()
    return ada


@pytest.fixture(scope="module")
def prof(formgrader: Formgrader, ada: Lab) -> Formgrader:
    """Collect and grade as the instructor."""
    formgrader.press(EXCHANGED, "collect")
    formgrader.press("ada", "autograde", f"manage_submissions/{EXCHANGED}")
    return formgrader


def test_the_formgrader_opens_beside_jupyterlab_and_grades(formgrader: Formgrader, prof: Formgrader) -> None:
    """It is at the instructor's own server, no page may show it in a frame, and a written answer waits for a mark."""
    assert formgrader.url.endswith("/user/prof/formgrader")
    answer = visit(formgrader.page, f"{formgrader.url}/manage_assignments")
    assert answer.status == 200 and "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    [submission] = prof.ask(f"submissions/{EXCHANGED}")
    assert (submission["student"], submission["autograded"], submission["score"]) == ("ada", True, 8.0)
    assert submission["needs_manual_grade"]


def test_a_student_has_the_settings_of_the_folder_for_students(ada: Lab) -> None:
    """The style sheet is part of the page, none of the tools for instructors is in the menu, and no news is shown."""
    assert ada.menu("Nbgrader").all_inner_texts() == ["Assignment List"]
    ada.page.keyboard.press("Escape")
    expect(ada.page.locator(".jp-toast-message, .Toastify__toast")).to_have_count(0)
    expect(ada.page.locator('link[href="/user/ada/custom/custom.css"]')).to_be_attached()
    assert "--jp-mirror-editor-comment-color" in visit(ada.page, f"{ada.url}/user/ada/custom/custom.css").text


def test_no_student_finds_or_renames_what_others_submitted(machine: Machine, prof: Formgrader) -> None:
    """The exchange is open to every user. The service may replace what an instructor collected."""
    inbound, feedback = f"{EXCHANGE}/attention/inbound", f"{EXCHANGE}/attention/feedback"
    [submission] = machine.run("prof", "ls", inbound).stdout.splitlines()
    assert submission.startswith(f"ada+{EXCHANGED}+")
    for command in (["ls", inbound], ["ls", feedback], ["mv", f"{EXCHANGE}/attention", f"{EXCHANGE}/mine"],
                    ["rm", "-r", f"{EXCHANGE}/attention/outbound/{EXCHANGED}"]):  # fmt: skip
        assert machine.run("bob", *command).returncode, command
    assert machine.run("bob", "cat", f"{EXCHANGE}/attention/outbound/{EXCHANGED}/small.ipynb").returncode == 0
    assert machine.run("grader", "touch", f"{COLLECTED}/small.ipynb", f"{COLLECTED}/new").returncode == 0
    assert machine.run("grader", "rm", f"{COLLECTED}/new").returncode == 0


def test_the_student_opens_the_feedback_with_the_mark(prof: Formgrader, ada: Lab) -> None:
    """The page that comes back through the exchange has the points from tests and those for the written answer."""
    prof.mark(EXCHANGED, "small", 2)
    for button in ("generate-feedback", "release-feedback"):
        prof.press(EXCHANGED, button)
    AssignmentList(ada).press("submitted", "Fetch Feedback")
    AssignmentList(ada).listed("submitted").get_by_text("view feedback").click()
    ada.page.locator(".jp-DirListing-item").filter(has_text="small.html").dblclick()
    page = ada.page.frame_locator(".jp-HTMLViewer iframe")
    expect(page.locator("body")).to_contain_text("10 of 10")
