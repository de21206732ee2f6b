"""Proves of all figures that keys move them, that they have names, and that their factories refuse bad arguments."""

import json
import math
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from course import data, widgets
from grader_kernel.widget import Widget
from tests.commands.mark.marker import needs_browser
from tests.support.widgets import text_of

pytestmark = [pytest.mark.slow, needs_browser]
LN2 = math.log(2)
FOUR = ["river", "bank", "tree", "boat"]
SCORES = [0, 0, 0, 0, 2 * LN2, LN2]
ROWS = {
    "of the text": SCORES,
    "of the text, plus 1,000": [1000 + score for score in SCORES],
    "with the first two masked": [-math.inf, -math.inf, *SCORES[2:]],
}
WORDS = data.sentence_vectors()
FEATURES = {
    "water": [0, 0, 0, 0, 2, 1],
    "people": [2, 1, 0, 0, 0, 1],
    "action": [0, 2, 0, 0, 0, 0],
    "place": [0, 0, 1, 0, 1, 1],
}
COLUMN = [[0, 1, 0], [0, 1, 0], [0, 1, 0]]
PICTURE = [[0, 1, 1, 0, 1], [0, 1, -1, 0, 0], [0, 1, 1, 0, 1], [0, 1, -1, 0, 1], [1, 0, 1, 1, 0]]
ENDINGS = {(1,): [0, 0, 0, 0.4, 0.6], (1, 3): [0, 0, 0.1, 0, 0.9], (1, 4): [0, 0, 0.5, 0.3, 0.2]}
FIGURES: dict[str, Callable[[], Widget]] = {
    "convolution": lambda: widgets.convolution(
        PICTURE, {"column": COLUMN, "sum": [[1, 1], [1, 1]]}, size=4, position=1
    ),
    "gates": lambda: widgets.gates(f=1, g=1),
    "beam": lambda: widgets.beam(["", "<bos>", "<eos>", *FOUR[:2]], ENDINGS, start="by the", max_length=2),
    "query": lambda: widgets.query(dict(zip(data.TOKENS, WORDS.tolist(), strict=True))),
    "mask": lambda: widgets.mask(data.TOKENS, (WORDS @ WORDS.T).tolist(), padding=2),
    "heads": lambda: widgets.heads(data.TOKENS, FEATURES, query=5, count=2),
    "waves": lambda: widgets.waves(position=5, other=12, hand=2),
    "rotary": lambda: widgets.rotary(query=5, key=4),
    "window": lambda: widgets.window(["BOS", *data.TOKENS], window=3, sinks=1, written=2),
    "cache": lambda: widgets.cache(power=14),
    "online": lambda: widgets.online(data.TOKENS, data.sentence_vectors().tolist(), ROWS, step=1),
    "speculative": lambda: widgets.speculative(FOUR, [0.4, 0.3, 0.1, 0.2], [0.5, 0.1, 0.3, 0.1]),
    "sampling": lambda: widgets.sampling([*FOUR, "cat"], [4 * LN2, 3 * LN2, 2 * LN2, LN2, LN2]),
}


KEYS = {"button": ("Enter",), "checkbox": ("Space",)}
CONTROLS = ".gw-controls :is(input, select, button)"
MOVE = """async ([text, state]) => {
    const made = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    globalThis.held = { state };
    const model = { get: (name) => held[name], set: (name, value) => { held[name] = value; }, save_changes() {},
                    on() {}, off() {} };
    document.body.innerHTML = "<div></div>";
    made.default.render({ model, el: document.body.firstChild });
}"""


@pytest.mark.parametrize("name", FIGURES)
def test_the_keyboard_moves_every_control(name: str, page: Page) -> None:
    """Each has a name and changes the text; nothing fails or is wider than a phone, and the state stays JSON.

    So the drawing has a name and a description, and a page loads at most 30 kB for it.
    """
    assert len(text_of(name).encode()) <= 30_000
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.evaluate(MOVE, [text_of(name), FIGURES[name]().state])
    for index in range(page.locator(CONTROLS).count()):
        page.evaluate(MOVE, [text_of(name), FIGURES[name]().state])
        control, said = page.locator(CONTROLS).nth(index), page.locator(".gw-text")
        keys = KEYS.get(control.evaluate("element => element.type"), ("ArrowDown", "ArrowUp", "ArrowUp", "Home", "End"))
        texts = {said.inner_text()}
        for key in keys:
            control.press(key, timeout=3000)
            # JupyterLab would take the arrows of an element that is not marked.
            assert control.get_attribute("data-lm-suppress-shortcuts") == "true"
            texts.add(said.inner_text())
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert "NaN" not in page.content() and "undefined" not in page.content()
            state = page.evaluate("held.state")
            assert json.loads(json.dumps(state, allow_nan=False)) == state
        assert len(texts) > 1, f"control {index} changes nothing"
    assert errors == []
    for element in page.locator(".gw-controls :is(input, select)").all():
        assert element.evaluate("element => element.labels[0].innerText.trim()")
    assert all(button.inner_text() for button in page.locator("button").all())
    described = page.locator("svg[role=img]").get_attribute("aria-describedby")
    assert page.locator(f"#{described}").inner_text().endswith(".")
    sizes = page.locator("svg text").evaluate_all("all => all.map((one) => parseFloat(getComputedStyle(one).fontSize))")
    assert sizes and min(sizes) >= 11


def test_the_focus_stays_when_the_controls_change(page: Page) -> None:
    """A GRU has other sliders than an LSTM; who chose it by keyboard is still at the choice."""
    page.evaluate(MOVE, [text_of("gates"), FIGURES["gates"]().state])
    page.get_by_label("cell").press("ArrowDown")
    assert page.get_by_label("update z").count() == 1 and page.get_by_label("forget f").count() == 0
    assert page.get_by_label("cell").evaluate("element => element === document.activeElement")


def test_a_button_that_has_nothing_left_to_do_keeps_the_focus(page: Page) -> None:
    """The focus stays, assistive technology reads that the button is disabled, and another press changes nothing."""
    page.evaluate(MOVE, [text_of("window"), FIGURES["window"]().state])
    button = page.get_by_role("button", name="write a token")
    for _ in range(5):
        button.press("Enter")
    assert page.evaluate("held.state.written") == 7 and button.is_disabled()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert page.evaluate("held.state.written") == 7
    assert button.evaluate("element => element === document.activeElement")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: widgets.convolution(PICTURE[:2], {"sum": [[1]]}, size=1),
            "picture should have as many rows as columns",
        ),
        (lambda: widgets.convolution(PICTURE, {}, size=5), "at least one filter"),
        (lambda: widgets.convolution(PICTURE, {"half": [[0.5]]}, size=5), "the filter 'half' should hold integers"),  # type: ignore[list-item]
        (lambda: widgets.convolution(PICTURE, {"sum": [[1]]}, size=6), "size should be 1 to 5, not 6"),
        (lambda: widgets.gates("RNN"), "kind should be 'LSTM' or 'GRU', not 'RNN'"),
        (lambda: widgets.gates(x=1), "there is no gate 'x'"),
        (lambda: widgets.gates(f=7), "f should be -6 to 6, not 7"),
        (lambda: widgets.beam("abcde", ENDINGS, start=""), r"a row for \(1, 3, 4\), which can occur"),
        (lambda: widgets.beam("abcd", ENDINGS, start=""), "4 probabilities that sum to 1"),
        (lambda: widgets.beam("abcde", ENDINGS, start="", beam_size=5), "beam_size should be 1 to 4, not 5"),
        (lambda: widgets.beam("abcde", ENDINGS, start="", eos=1), "bos and eos should differ"),
        (lambda: widgets.beam("a" * 20, {(1,): [0.05] * 20}, start="", max_length=1), "sequences should be 1 to 16"),
        (lambda: widgets.query({"a": (1, 0)}), "number of keys should be 2 to 8, not 1"),
        (lambda: widgets.query({"a": (1, 0), "b": (1, 0, 0)}), "keys should have 2 finite numbers"),
        (lambda: widgets.query({"a": (1, 0), "b": (0, 1)}, length=4), "length should be 0 to 3, not 4"),
        (lambda: widgets.mask(["a", "b"], [[0, 0], [0, math.inf]]), "scores should have 2 finite numbers"),
        (lambda: widgets.mask(["a", "b"], [[0, 0]]), "scores should have 2 rows, not 1"),
        (lambda: widgets.mask(["a", "b"], [[0, 0], [0, 0]], padding=3), "padding should be 0 to 2"),
        (lambda: widgets.mask(["a", "b"], [[0, 0], [0, 0]], how="last"), "how should be 'first', 'zero' or 'after'"),
        (lambda: widgets.heads(["a", "b"], {"x": [0, 1], "y": [0]}), "features should have 2 finite numbers"),
        (lambda: widgets.heads(["a", "b"], dict.fromkeys("xyz", [0, 1]), count=2), "2 does not divide 3"),
        (lambda: widgets.heads(["a", "b"], dict.fromkeys("xy", [0, 1]), count=2, head=2), "head should be 0 to 1"),
        (lambda: widgets.waves(dim=5, position=0, other=0), "even"),
        (lambda: widgets.waves(position=61, other=0), "position should be 0 to 60, not 61"),
        (lambda: widgets.rotary(query=13, key=0), "query should be 0 to 12"),
        (lambda: widgets.rotary(query=0, key=0, base=7), "base should be 10, 100 or 10000"),
        (lambda: widgets.rotary(query=0, key=0, key_vector=[1, 0]), "key_vector should have four finite features"),
        (lambda: widgets.window(["a", "b"], window=3, sinks=0), "window should be 1 to 2"),
        (lambda: widgets.cache(groups=5), "groups should divide heads"),
        (lambda: widgets.online(["a", "b", "c"], [[1], [2]], {"x": [0, 0, 0]}), "3 values of one dimension"),
        (lambda: widgets.online(["a", "b", "c"], [[1], [2], [3]], {"x": [0, math.nan, 0]}), "finite or -inf"),
        (lambda: widgets.speculative(["a", "b"], [0.5, 0.6], [0.5, 0.5]), "target should have 2 probabilities"),
        (lambda: widgets.sampling(["a", "b"], [1.0, -math.inf]), "2 finite logits"),
    ],
)
def test_bad_arguments_are_named(make: Callable[[], Widget], message: str) -> None:
    """Each factory says which argument is wrong, and what it should be."""
    with pytest.raises(ValueError, match=message):
        make()
