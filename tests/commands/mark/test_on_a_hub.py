"""On a JupyterHub, those of its users mark whom the course names, and the hub protects them from forged requests."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.marks import MarkBook
from grader.classroom.record.record import Record
from tests.commands.mark.marked_course import NAME, make_mixed
from tests.commands.mark.marker import needs_browser
from tests.support.service_hub import PASSWORD, needs_proxy, service_hub
from tests.support.waiting import HANGS

pytestmark = [pytest.mark.slow, needs_browser, needs_proxy]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> CourseDir:
    """A graded class, whose course names a marker."""
    return make_mixed(tmp_path_factory.mktemp("hub") / "course", '\nc.Marking.markers = ["ada"]\n')


@pytest.fixture(scope="module")
def hub(course: CourseDir, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a hub with the service; yield the service's address."""
    with service_hub(course.root, "mark", tmp_path_factory.mktemp("jupyterhub"), "mark.css") as hub:
        yield hub.address


def logged_in(browser: Browser, address: str, user: str) -> Page:
    """Open an address of the service as a user, who logs in at the hub."""
    page = browser.new_context().new_page()
    page.set_default_timeout(HANGS * 1000)
    page.goto(address)
    page.get_by_label("Username").fill(user)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(address)
    return page


def test_a_named_user_marks(course: CourseDir, hub: str, browser: Browser) -> None:
    """With the hub's account, which the record names. The page follows others, and undoes, as on one machine."""
    page = logged_in(browser, f"{hub}{NAME}/essay/why", "ada")
    expect(page.locator("#page[data-ready]")).to_be_attached()
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Saved: answer 1, 2 students, 2 of 2 by you")
    assert MarkBook(course, NAME).read(("essay", "why"))["bob"].given.points == 2
    assert {entry.who for entry in Record(course.root).entries()} == {"ada"}
    with page.expect_response(lambda response: "/changes" in response.url) as news:
        page.keyboard.press("j")
    assert news.value.ok
    forged = page.request.post(f"{hub}{NAME}/undo", data={})
    assert forged.status in (401, 403), "the cookie alone changes nothing"
    page.keyboard.press("u")
    expect(page.locator("#status")).to_contain_text("Undone: answer 1")
    assert MarkBook(course, NAME).read(("essay", "why"))["bob"].given.points is None


def test_a_student_with_an_account_cannot_mark(hub: str, browser: Browser) -> None:
    """Although the hub lets all its users to the service."""
    page = logged_in(browser, hub, "ann")
    assert "not among the markers" in page.locator("main").inner_text()
    for path in (f"{NAME}/essay/why", f"{NAME}/essay/why/changes?after=0", f"{NAME}/"):
        assert page.request.get(f"{hub}{path}").status == 403
    assert page.request.post(f"{hub}{NAME}/essay/why/mark", data={}).status in (401, 403)
