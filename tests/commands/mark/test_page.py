"""The page of a question works in Chromium: what others do is seen at once, nothing is overwritten, no script runs."""

import json
from collections.abc import Iterator

import nbformat
import pytest
from playwright.sync_api import Browser, expect

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.marks import MarkBook
from grader.classroom.record.record import Record
from grader.classroom.record.requests import ask, requests_of
from tests.attacks.hostile_markup import MATHML, RAN
from tests.commands.mark.marked_course import NAME, by_formgrader, grade, hand_in, released
from tests.commands.mark.marker import Marker, needs_browser
from tests.commands.mark.marking_server import Server
from tests.support.axe import violations
from tests.support.notebooks import answered

HOSTILE = [
    *MATHML, "<script>RAN</script>", "<img src=x onerror=RAN>", "<a href='javascript:RAN' id=status>x</a>",
    "</script></article><script>RAN</script>", '<form action="URL"><button class="open" id="undo">',
    "]]><svg onload=RAN>",
]  # fmt: skip
pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture
def server(course: CourseDir) -> Iterator[Server]:
    """A server of the class."""
    server = Server(course.root, "ada", "bob")
    yield server
    server.kill()


def given(course: CourseDir, student: str, cell: str = "why") -> tuple[float | None, str | None]:
    """Return what a person gave a student."""
    mark = MarkBook(course, NAME).read(("essay", cell))[student].given
    return mark.points, mark.comment


def test_keys_mark_and_undo(course: CourseDir, server: Server, browser: Browser) -> None:
    """Digits, half a point, letters of comments, Enter and u; names are hidden; the history says who."""
    ada = Marker(browser, server.links["ada"]).open(f"{server.url}/{NAME}/essay/why")
    page, first = ada.page, ada.current()
    assert "ann" not in page.content() and "Answer 1" in ada.card(first or "")
    ada.press("1", ".")
    assert page.locator("input.value").input_value() == "1.5"
    ada.press(".", "a")  # One point for the first reason.
    assert page.locator("input.value").input_value() == "2"
    assert page.locator("textarea").first.input_value() == "The first reason"
    ada.press("a", "7")
    expect(page.locator("#status")).to_have_text("Give from 0 to 2 points.")
    ada.press("/")
    page.keyboard.type("Good, u and k are no keys here.")
    ada.press("Escape")
    assert ada.save() and given(course, "ann") == given(course, "bob") == (1, "Good, u and k are no keys here.")
    assert "2 students" in ada.status and ada.current() != first
    ada.press("k")
    expect(page.locator(".card.current")).to_have_attribute("data-group", first or "")
    page.get_by_role("button", name="History").click()
    expect(page.locator(".entries li")).to_contain_text("ada: none → 1")
    ada.press("u")
    expect(page.locator("#status")).to_contain_text("Undone: answer 1 waits")
    assert given(course, "ann") == (None, None)
    ada.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.get_by_label("Use single-key shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()
    ada.press("2")
    assert page.locator("input.value").input_value() == ""
    assert ada.errors == []


def test_what_another_marker_does_is_seen_at_once(course: CourseDir, server: Server, browser: Browser) -> None:
    """A holder, a mark, a new comment and a mark in the formgrader, without loading the page again."""
    ada, bob = (Marker(browser, server.links[name]).open(f"{server.url}/{NAME}/essay/why") for name in ("ada", "bob"))
    first, second = ada.current() or "", bob.current() or ""
    assert first != second
    expect(bob.page.locator(f"#answer-{first} .state")).to_have_text("being marked by ada")
    bob.page.locator(f"#answer-{first}").get_by_role("button").click()
    expect(bob.page.locator("#status")).to_have_text("Answer 1 is being marked by ada.")
    bob.page.get_by_label("New comment").fill("See the lecture")
    bob.page.get_by_label("Points", exact=True).last.fill("-0.5")
    bob.page.get_by_role("button", name="Add").click()
    new = ada.page.locator("#comments li", has_text="See the lecture")
    expect(new).to_contain_text("−0.5")
    new.locator("button.use").click()
    assert ada.page.locator("input.value").input_value() == "1.5", "it takes half a point off"
    assert ada.save()
    expect(bob.page.locator(f"#answer-{first} .state")).to_have_text("1.5 of 2 by ada")
    expect(bob.page.locator(f"#answer-{first} .said")).to_have_text("See the lecture")
    by_formgrader(course, "ann", "why", 0)
    by_formgrader(course, "bob", "why", 0)
    expect(bob.page.locator(f"#answer-{first} .state")).to_have_text("0 of 2")
    assert json.loads((course.root / "marking" / f"{NAME}.json").read_text()) == {
        "essay/why": [{"text": "See the lecture", "points": -0.5}]
    }
    ada.page.context.close()
    assert ada.errors == bob.errors == []


@pytest.mark.parametrize("choice", ["Keep that mark", "Replace it with mine"])
def test_a_conflict_shows_both(course: CourseDir, server: Server, browser: Browser, choice: str) -> None:
    """The formgrader knows no holder. Nothing is written until the marker has chosen."""
    ada = Marker(browser, server.links["ada"]).open(f"{server.url}/{NAME}/essay/why")
    ada.press("2")
    for student in ("ann", "bob"):
        by_formgrader(course, student, "why", 0.5, "Theirs.")
    conflict = ada.page.locator(".conflict")
    expect(conflict).to_be_visible()
    expect(conflict).to_contain_text("0.5 of 2: “Theirs.”")
    expect(conflict).to_contain_text("Yours, not saved: 2 of 2")
    assert not ada.save() and given(course, "ann") == (0.5, "Theirs.")
    conflict.get_by_role("button", name=choice).click()
    if choice == "Keep that mark":
        expect(ada.page.locator("input.value")).to_have_value("0.5")
        assert given(course, "ann") == (0.5, "Theirs.")
    else:
        expect(ada.page.locator("#status")).to_contain_text("Saved: answer 1")
        assert given(course, "ann") == given(course, "bob") == (2, None)
    assert ada.errors == []


def test_what_is_typed_stays_when_the_server_is_gone(course: CourseDir, server: Server, browser: Browser) -> None:
    """It is not shown as saved."""
    ada = Marker(browser, server.links["ada"]).open(f"{server.url}/{NAME}/essay/why")
    server.kill()
    assert not ada.save("2", "a") and "nothing was saved" in ada.status
    assert ada.page.locator("textarea").first.input_value() == "The first reason" and ada.saved() == {}
    assert "not saved yet" in ada.card(ada.current() or "")
    server.__init__(course.root, "ada")  # type: ignore[misc]  # the fixture ends it


def test_a_request_is_answered_on_the_page(course: CourseDir, server: Server, browser: Browser) -> None:
    """It is in the list, with the answer, and gone once it is answered."""
    record = Record(course.root)
    ask(record, "cat", NAME, "essay", "why", "<b>Please</b> look again.")
    ada = Marker(browser, server.links["ada"])
    expect(ada.page.locator("tr", has_text="why")).to_contain_text("1 request")
    expect(ada.page.locator("li")).to_contain_text("<b>Please</b> look again.")
    ada.open(f"{server.url}/{NAME}/essay/why")
    ada.page.get_by_label("Show").select_option("asks")
    card = ada.page.locator(".card", has_text="asks for a regrade")
    card.get_by_role("button", name="Mark answer").click()
    ada.page.get_by_label("Answer to this student").fill("Done.")
    ada.page.get_by_role("button", name="Send the answer").click()
    expect(ada.page.locator("#status")).to_contain_text("Answered")
    (request,) = requests_of(record.entries(), NAME)
    assert request.answer is not None and (request.answer.who, request.answer.why) == ("ada", "Done.")
    assert ada.errors == []


def test_no_script_of_an_answer_runs(course: CourseDir, server: Server, browser: Browser) -> None:
    """In a text, in code, in outputs of stock nbgrader, in a name: nothing runs, and nothing foreign is fetched."""
    foreign = "https://evil.example/x"
    texts = [text.replace("RAN", RAN).replace("URL", foreign) for text in HOSTILE]
    hand_in(
        course.root, "eve", answered(released(course.root), why="\n\n".join(texts), plot="\n".join(map(repr, texts)))
    )
    grade(course)
    place = course.root / "autograded" / "eve" / NAME / "essay.ipynb"
    notebook = nbformat.read(place, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "plot":
            forms = {"text/html": "".join(texts), "application/javascript": RAN, "image/svg+xml": f"<svg onload={RAN}>"}
            cell.outputs = [
                nbformat.v4.new_output("display_data", forms),
                nbformat.v4.new_output("stream", text=texts[-1]),
            ]
    nbformat.write(notebook, place)
    ada = Marker(browser, server.links["ada"])
    fetched: list[str] = []
    ada.page.on("request", lambda request: fetched.append(request.url))
    for cell_name in ("why", "plot", "two-check"):
        for names in ("", "?names=1"):
            ada.open(f"{server.url}/{NAME}/essay/{cell_name}{names}")
            assert RAN in ada.page.locator("main").inner_text() or cell_name == "two-check"
            assert ada.page.title() == f"{cell_name}: {NAME}"
            assert ada.page.locator("main script, main iframe, main [onerror], main [onload], main style").count() == 0
    assert all(url.startswith(server.url) for url in fetched) and fetched
    ada.page.get_by_role("button", name="Undo").click()
    assert ada.errors == []


def test_the_page_fits_and_can_be_read(server: Server, browser: Browser) -> None:
    """On a phone nothing is wider than the window; in the dark the text is light."""
    ada = Marker(browser, server.links["ada"], viewport={"width": 390, "height": 844}, color_scheme="dark")
    for address in (f"{server.url}/{NAME}/", f"{server.url}/{NAME}/essay/why"):
        ada.page.goto(address)
        expect(ada.page.locator("h1").first).to_be_visible()
        widths = ada.page.locator("html").evaluate("(all) => [all.scrollWidth, all.clientWidth]")
        assert widths[0] == widths[1]
    expect(ada.page.locator("form.mark")).to_be_visible()
    colours = ada.page.locator("body").evaluate(
        "(body) => [getComputedStyle(body).color, getComputedStyle(body).backgroundColor]"
    )
    ink, paper = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
    assert ink > 600 and paper < 100
    assert ada.page.get_by_role("status").count() == 1


def test_axe_finds_nothing_in_any_state(course: CourseDir, server: Server, browser: Browser) -> None:
    """The start, the list, all kinds of questions with and without names, the keys, the history, a conflict, a request
    and a refusal, each in light and dark: WCAG 2.1 AA holds."""
    ask(Record(course.root), "cat", NAME, "essay", "why", "Please look again.")
    ada = Marker(browser, server.links["ada"])
    found = {"list": violations(ada.page)}
    for name, address in (("start", "/"), ("refusal", f"/{NAME}/essay/none")):
        ada.page.goto(server.url + address)
        found[name] = violations(ada.page)
    for cell in ("plot", "collect", "two-check", "why?names=1", "why"):
        found[cell] = violations(ada.open(f"{server.url}/{NAME}/essay/{cell}").page)
    assert ada.save("2", "a")  # the answer with the request comes first
    ada.page.locator(".card", has_text="asks for a regrade").get_by_role("button", name="Mark answer").click()
    ada.page.get_by_role("button", name="History").click()
    expect(ada.page.locator(".entries li")).to_have_count(2)
    expect(ada.page.get_by_label("Answer to this student")).to_be_visible()
    found["history and request"] = violations(ada.page)
    ada.open(f"{server.url}/{NAME}/essay/why").press("1")
    for student in ("ann", "bob", "cat"):
        by_formgrader(course, student, "why", 0.5, "Theirs.")
    expect(ada.page.locator(".conflict")).to_be_visible()
    found["conflict"] = violations(ada.page)
    ada.page.get_by_role("button", name="Keys").click()
    expect(ada.page.get_by_role("dialog", name="Keys")).to_be_visible()
    found["keys"] = violations(ada.page)
    assert len(found) == 11 and found == dict.fromkeys(found, [])
