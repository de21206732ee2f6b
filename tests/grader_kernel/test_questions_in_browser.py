"""Quick questions and their review work on a page in Chromium, by keyboard alone, and a browser keeps the answers."""

import json
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fsrs
import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from grader_kernel import questions
from grader_kernel.widget import FOLDER, html, module, script
from tests.commands.mark.marker import chromium, needs_browser
from tests.support.notebooks import code, notebook

pytestmark = [pytest.mark.slow, needs_browser]
LINES = ["s = q @ k", "w = s.softmax(-1)", "return w @ v", "pass = ()"]
ASKED = [
    questions.choose(
        "c", "Is `x < 1` *so*?", right={"Yes.": "Because."}, wrong={"No.": "It <b>is</b>.", "Maybe.": "M."}
    ),
    questions.number(
        "n", "How much?", right=0.79, tolerance=0.01, reason="By exp.", wrong={-2.0: "A sign.", 1.0: "One."}
    ),
    questions.order("o", "Sort.", lines=LINES, reason="Each needs one.", wrong={(LINES[1], LINES[0]): "Scores first."}),
    questions.point(
        "p", "Where?", rows=["she", "sat"], columns=["she", "sat"], row_label="query", column_label="key",
        right=[(1, 1)], reason="There.", wrong={(0, 1): "That is hidden."}, otherwise="Elsewhere.",
    ),
]  # fmt: skip
DAY = datetime(2026, 11, 3, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all tests of this file."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A page with all kinds of questions, and one with their review."""
    for name in ("question", "review"):
        (tmp_path / f"{name}.js").write_text(script(FOLDER / f"{name}.js"))
    (tmp_path / "page.js").write_text((FOLDER / "page.js").read_text())
    asked = "".join(html(FOLDER / "question.js", {"question": each.data, "answers": []}, "?") for each in ASKED)
    for name, body in (("index", asked), ("review", html(FOLDER / "review.js", _review(), "?"))):
        (tmp_path / f"{name}.html").write_text(
            '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'{body}<script defer src="page.js"></script>'
        )
    return tmp_path


def _review(count: int = 5) -> dict[str, Any]:
    return {"questions": [each.data for each in ASKED], "kept": {}, "count": count}


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    """The page of questions on 3 Nov, in a browser without a past; an error of a script fails the test."""
    context = browser.new_context(viewport={"width": 390, "height": 800}, timezone_id="UTC")
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.clock.set_fixed_time(DAY)
    page.goto(folder.joinpath("index.html").as_uri())
    yield page
    context.close()
    assert errors == []


def asked(page: Page, kind: int) -> Locator:
    """Return the widget of a question."""
    return page.locator(".gq").nth(kind)


def reply(page: Page, kind: int) -> Locator:
    """Return the place of its reply."""
    return asked(page, kind).get_by_role("status")


def press(page: Page, *keys: str) -> None:
    """Press keys."""
    for key in keys:
        page.keyboard.press(key)


def kept(page: Page) -> dict[str, Any]:
    """Return what the browser keeps."""
    return dict(json.loads(page.evaluate("localStorage.getItem('grader-questions') ?? '{}'")))


def test_an_option_is_chosen_by_keyboard(page: Page) -> None:
    """Wrong: its own reply, markup as text, and not the right option. Right: the reason. Then it is asked again."""
    box = asked(page, 0)
    assert box.locator("legend").inner_html() == "Is <code>x &lt; 1</code> <em>so</em>?"
    box.get_by_role("button", name="Answer").press("Enter")
    expect(reply(page, 0)).to_have_text("Choose one of the answers first.")
    box.get_by_role("radio", name="No.").focus()
    press(page, "Space", "Enter")
    expect(reply(page, 0)).to_have_text("✗ Not right. It <b>is</b>.Try again.")
    assert "Yes." not in reply(page, 0).inner_text() and "Because" not in reply(page, 0).inner_text()
    box.get_by_role("radio", name="Yes.").focus()
    press(page, "Space", "Enter")
    expect(reply(page, 0)).to_have_text("✓ Right. Because.")
    expect(box.get_by_role("button", name="Ask me again")).to_be_focused()
    press(page, "Enter")
    expect(reply(page, 0)).to_be_empty()
    expect(box.get_by_role("radio").first).to_be_focused()
    assert [(each["right"], each["answer"]) for each in kept(page)["c"]["answers"]] == [(False, "No."), (True, "Yes.")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0.79", "✓ Right. By exp."), ("0,79", "✓ Right. By exp."), (" .8 ", "✓ Right. By exp."),
        ("0.78", "✓ Right. By exp."), ("7.9e-1", "✓ Right. By exp."),
        ("−2", "✗ Not right. A sign.Try again."), ("-2,0", "✗ Not right. A sign.Try again."),
        ("1", "✗ Not right. One.Try again."), ("0.75", "✗ Not right. This is close."),
        ("79", "✗ Not right. This is another number."), ("1,000", "✗ Not right. One.Try again."),
        ("", "Write a number first."), ("two", "This is not a number that can be read."),
        ("1/2", "This is not a number"), ("0.7.9", "This is not a number"), ("NaN", "This is not a number"),
    ],
)  # fmt: skip
def test_a_number_is_written_by_keyboard(page: Page, text: str, says: str) -> None:
    """Comma or point, any minus sign, both ends of the tolerance; a known mistake has its reply; no reply says 0.79."""
    asked(page, 1).get_by_role("textbox", name="Your number").fill(text)
    press(page, "Enter")
    expect(reply(page, 1)).to_contain_text(says)
    assert "0.79" not in reply(page, 1).inner_text()
    assert ("n" in kept(page)) == says.startswith(("✓", "✗"))


def test_lines_are_moved_by_keyboard(page: Page) -> None:
    """The focus stays with the moved line, the new place is said; a known wrong pair has its reply, others a hint."""
    box = asked(page, 2)

    def lines() -> list[str]:
        return box.locator("li code").all_inner_texts()

    def to(target: list[str]) -> None:
        for place, line in enumerate(target):
            while lines().index(line) > place:
                box.get_by_role("button", name=f"Move up: {line}").press("Enter")
                focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
                assert focused in (f"Move up: {line}", f"Move down: {line}")
                said = f"{line}: now line {lines().index(line) + 1} of 4"
                expect(box.locator(".gq-aloud")).to_have_text(said)

    def answer(target: list[str]) -> None:
        to(target)
        box.get_by_role("button", name="Answer").press("Enter")

    assert sorted(lines()) == sorted(LINES) != lines() != LINES
    answer([LINES[1], LINES[0], *LINES[2:]])
    expect(reply(page, 2)).to_have_text("✗ Not right. Scores first.Try again.")
    answer([LINES[0], LINES[1], LINES[3], LINES[2]])
    expect(reply(page, 2)).to_contain_text("✗ Not right. The first 2 lines are right")
    answer([LINES[3], LINES[0], LINES[1], LINES[2]])
    expect(reply(page, 2)).to_contain_text("Which line needs nothing of the others?")
    answer(LINES)
    expect(reply(page, 2)).to_have_text("✓ Right. Each needs one.")
    assert [each["right"] for each in kept(page)["o"]["answers"]] == [False, False, False, True]


def test_a_cell_is_chosen_by_keyboard(page: Page) -> None:
    """The table has headers, a cell says its row and column, and the arrow keys go from cell to cell."""
    box = asked(page, 3)
    assert box.locator("th[scope=row]").all_inner_texts() == ["she", "sat"]
    expect(box.get_by_role("columnheader", name="she")).to_be_visible()
    box.get_by_role("button", name="Answer").press("Enter")
    expect(reply(page, 3)).to_have_text("Choose a cell of the table first.")
    box.get_by_role("button", name="query she, key she").press("Enter")
    box.get_by_role("button", name="Answer").press("Enter")
    expect(reply(page, 3)).to_have_text("✗ Not right. Elsewhere.Try again.")
    box.get_by_role("button", name="query she, key she").focus()
    press(page, "ArrowRight", "Space")
    expect(box.get_by_role("button", name="query she, key sat")).to_have_attribute("aria-pressed", "true")
    expect(box.locator("[aria-pressed=true]")).to_have_text("●")
    box.get_by_role("button", name="Answer").press("Enter")
    expect(reply(page, 3)).to_have_text("✗ Not right. That is hidden.Try again.")
    box.get_by_role("button", name="query she, key sat").focus()
    press(page, "ArrowDown", "ArrowRight", "Enter")
    box.get_by_role("button", name="Answer").press("Enter")
    expect(reply(page, 3)).to_have_text("✓ Right. There.")
    assert kept(page)["p"]["answers"][-1] == {"right": True, "answer": [1, 1], "time": DAY.timestamp()}


def test_a_page_remembers_and_a_double_click_is_one_attempt(page: Page) -> None:
    """After a reload the page says when and at which attempt. The page fits a telephone."""
    box = asked(page, 0)
    for option in ("Maybe.", "Yes."):
        box.get_by_role("radio", name=option).check()
        box.get_by_role("button", name="Answer").dblclick()
    asked(page, 1).get_by_role("textbox").fill("5")
    press(page, "Enter", "Enter")
    assert [len(kept(page)[name]["answers"]) for name in "cn"] == [2, 1]
    page.reload()
    expect(asked(page, 0)).to_contain_text("You answered this on 3 Nov: right at the 2nd attempt.")
    expect(asked(page, 1)).to_contain_text("You tried this on 3 Nov; it was not right yet.")
    assert "attempt" not in asked(page, 2).inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_damaged_store_does_no_harm(page: Page) -> None:
    """What the browser keeps is no JSON: the page starts with nothing kept."""
    page.evaluate("localStorage.setItem('grader-questions', '{')")
    page.reload()
    asked(page, 1).get_by_role("textbox").fill("1")
    press(page, "Enter")
    assert kept(page).keys() == {"n"}


def at(page: Page, folder: Path, days: int) -> Locator:
    """Open the page of the review some days later, and return the widget."""
    page.clock.set_fixed_time(DAY + timedelta(days=days))
    page.goto(folder.joinpath("review.html").as_uri())
    return page.locator(".gw")


def test_a_review_asks_what_is_due_and_comes_back_later(page: Page, folder: Path) -> None:
    """On the day after, what was wrong is due; what was right is due later, and later still after a review."""
    expect(at(page, folder, 0)).to_contain_text("There is nothing to review yet.")
    page.goto(folder.joinpath("index.html").as_uri())
    asked(page, 0).get_by_role("radio", name="No.").check()
    asked(page, 0).get_by_role("button", name="Answer").click()
    asked(page, 1).get_by_role("textbox").fill("0.79")
    press(page, "Enter")
    expect(at(page, folder, 0)).to_contain_text("Nothing is due; next: tomorrow.")

    box = at(page, folder, 1)
    expect(box).to_contain_text("Review: question 1 of 1 today")
    box.get_by_role("radio", name="Yes.").check()
    press(page, "Enter")
    expect(box.get_by_role("button", name="Next")).to_be_focused()
    good = kept(page)["c"]["card"]
    box.get_by_role("button", name="That was easy").click()
    easy = kept(page)["c"]["card"]
    assert easy["stability"] > good["stability"] and easy["due"] > good["due"] and easy["reps"] == good["reps"] == 2
    box.get_by_role("button", name="Next").click()
    expect(page.locator(".gw")).to_contain_text("You reviewed 1 question today. Nothing is due; next: ")
    expect(at(page, folder, 1)).to_contain_text("You reviewed 1 question today.")

    box = at(page, folder, 3)
    expect(box.locator("legend")).to_have_text("How much?")
    box.get_by_role("textbox").fill("1")
    press(page, "Enter")
    expect(box.get_by_role("button", name="That was easy")).to_have_count(0)
    wrong = kept(page)["n"]["card"]
    assert wrong["lapses"] == 1 and wrong["due"] == (DAY + timedelta(days=4)).timestamp()
    box.get_by_role("textbox").fill("0.79")
    press(page, "Enter")
    assert kept(page)["n"]["card"] == wrong and len(kept(page)["n"]["answers"]) == 3


def test_there_are_no_more_than_count_a_day(page: Page, folder: Path) -> None:
    """Also after a reload, and in a second tab that was open before; the rest is due tomorrow."""
    (folder / "review.html").write_text(
        (folder / "review.html").read_text().replace("count&quot;: 5", "count&quot;: 2")
    )
    page.evaluate(
        """now => localStorage.setItem('grader-questions', JSON.stringify(Object.fromEntries(['c', 'n', 'o', 'p'].map(
            (name, index) => [name, { answers: [{ right: false, answer: '', time: now + index }] }]))))""",
        DAY.timestamp(),
    )
    at(page, folder, 1)
    second = page.context.new_page()
    second.clock.set_fixed_time(DAY + timedelta(days=1))
    second.goto(page.url)
    expect(second.locator(".gw")).to_contain_text("question 1 of 2 today")
    box = page.locator(".gw")
    box.get_by_role("radio", name="No.").check()
    press(page, "Enter")
    box.get_by_role("button", name="Next").click()
    expect(box).to_contain_text("Review: question 2 of 2 today")
    box.get_by_role("textbox").fill("1")
    press(page, "Enter")
    page.reload()
    expect(box).to_contain_text("You reviewed 2 questions today. Nothing is due; next: tomorrow.")
    second.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(second.locator(".gw")).to_contain_text("You reviewed 2 questions today.")


def test_the_page_of_a_review_has_the_questions_of_its_folders(page: Page, folder: Path) -> None:
    """A question that changed since it was answered is asked as it is now."""
    source = 'from grader_kernel import questions\n\nquestions.choose("c", "New?", right={"A": "a"}, wrong={"B": "b"})'
    (folder / "course").mkdir()
    nbformat.write(notebook(code(source)), folder / "course" / "1-a.ipynb")
    asked(page, 0).get_by_role("radio", name="No.").check()
    press(page, "Enter")
    body = questions.review_page([folder / "course"])
    text = (folder / "review.html").read_text()
    (folder / "review.html").write_text(re.sub("<div.*</div>", lambda _: body, text))
    expect(at(page, folder, 1).locator("legend")).to_have_text("New?")


def test_the_copy_of_ts_fsrs_schedules_as_the_python_package_does(page: Page) -> None:
    """300 random histories of 8 ratings: the same stability, difficulty and days; an easier rating is a day later."""
    chance = random.Random(0)
    histories = []
    for _ in range(300):
        time, history = 1_800_000_000, []
        for _ in range(8):
            history.append([chance.choice(["Again", "Hard", "Good", "Easy"]), time])
            time += 86_400 * chance.choice([1, 2, 3, 5, 10, 40, 150])
        histories.append(history)
    found = page.evaluate(
        """async ([text, histories]) => {
            const { rated } = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
            return histories.map((history) => {
                let card = null;
                return history.map(([rating, time]) => (card = rated(card, rating, time)));
            });
        }""",
        [module(FOLDER / "review.js"), histories],
    )
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    for history, cards in zip(histories, found, strict=True):
        card = fsrs.Card()
        for (rating, time), got in zip(history, cards, strict=True):
            moment = datetime.fromtimestamp(time, UTC)
            after = {each.name: scheduler.review_card(card, each, moment)[0] for each in fsrs.Rating}
            days = {name: (each.due - moment).days for name, each in after.items()}
            if card.last_review is not None:  # ts-fsrs keeps the buttons of a review apart
                days["Hard"] = min(days["Hard"], days["Good"])
                days["Good"] = max(days["Good"], days["Hard"] + 1)
                days["Easy"] = max(days["Easy"], days["Good"] + 1)
            card = after[rating]
            assert got["stability"] == pytest.approx(card.stability, rel=1e-6)
            assert got["difficulty"] == pytest.approx(card.difficulty, abs=1e-6)
            assert got["due"] == time + 86_400 * days[rating]
