"""The page of a class report runs no stranger's code: texts of students stay text, and the browser has a policy."""

import base64
import hashlib
from collections import Counter
from copy import deepcopy

import pytest
from bs4 import Tag
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.commands.report.model import ClassReport
from grader.commands.report.page.page import MAX_SOURCE, page
from tests.commands.report.fakes import fake_report
from tests.commands.report.pages import read, with_texts

Elements = Counter[tuple[str, ...]]

HOSTILE = [
    "<script>document.title = 7</script>",
    "</script></style></title></pre></details><img src=x onerror=document.title=7>",
    '"><a href="javascript:document.title=7" onclick="document.title=7">x</a>',
    "' style='position: fixed",
    "{{ 7 * 7 }}{% include 'x' %}",
    "<!--",
    "&lt;script&gt;`<b>`",
    "\u202egro.elpmaxe\u2066\ud800\x00\x1b[31m",
    "<svg><style>*{display:none}</style></svg>```html\n<iframe srcdoc=x>\n```\n[x](javascript:1) ![x](http://x.test/x.png)",
]


@pytest.fixture(scope="module")
def small() -> ClassReport:
    """A class of 3, whose page is made in no time."""
    return fake_report(3, tests=3, exercises=2, mistakes=2, groups=1, pairs=1)


@pytest.fixture(scope="module")
def expected(small: ClassReport) -> Elements:
    """The elements of its page with harmless texts."""
    return elements(read(page(with_texts(small, "x"))))


def elements(shown: Tag) -> Elements:
    """The elements of a page with the names of their attributes, but for the words of code and of formulas."""
    for part in shown.select(".highlight, .lecture .text"):
        part.clear()
    return Counter((part.name, *sorted(part.attrs)) for part in shown.find_all(True) if part.name != "code")


def test_the_page_needs_nothing_from_outside(small: ClassReport) -> None:
    """No element loads a file, and no link leaves the page."""
    shown = read(page(small))
    assert shown.find_all(["link", "img", "iframe", "object", "base", "form"]) == []
    assert shown.find_all(src=True) == [] and len(shown.find_all(["script", "style"])) == 2
    assert all(link["href"].startswith("#") for link in shown.find_all("a"))
    assert "url(" not in shown.style.string.replace("url(#hatch)", "") and "@import" not in shown.style.string


@pytest.mark.slow
def test_the_policy_allows_the_script_and_the_styles_of_the_page_alone(small: ClassReport) -> None:
    """It has their hashes; so no attribute holds a script or a style either."""
    shown = read(page(small))
    policy = shown.select_one('meta[http-equiv="Content-Security-Policy"]')["content"]
    rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
    for name in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(shown.find(name).string.encode()).digest()).decode()
        assert rules[f"{name}-src"] == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not [
        part for part in shown.find_all(True) for name in part.attrs if name == "style" or name.startswith("on")
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_stranger_stays_text(small: ClassReport, expected: Elements, text: str) -> None:
    """Names, messages, reasons and sources have markup in them, and add no element or attribute."""
    hostile = read(page(with_texts(small, text)))
    example = hostile.select_one(".lecture .text")
    assert {part.name for part in example.find_all(True)} <= set(
        "div p strong em pre code span a math semantics".split()
    ) | {part.name for part in example.select("math *")}
    assert not [link for link in example.find_all("a") if not link.get("href", "#").startswith("#")]
    assert elements(hostile) == expected


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(text=st.text(max_size=60))
def test_no_text_breaks_the_page(small: ClassReport, expected: Elements, text: str) -> None:
    """Any text can be a name and a message; the page can be written in UTF-8 and has the same elements."""
    made = page(with_texts(small, f"x{text}x"))
    made.encode()
    assert elements(read(made)) == expected


def test_characters_that_reorder_a_line_are_left_out(small: ClassReport) -> None:
    """Otherwise code could look like other code, and a name like another name."""
    made = page(with_texts(small, "a\u202eb\u2066c"))
    assert "abc" in made and not set("\u202e\u2066") & set(made)


def test_a_long_answer_is_cut(small: ClassReport) -> None:
    """A student may write a million characters; the page says that the rest is left out."""
    long = deepcopy(small)
    long.mistakes[0].example.source = "x = 1\n" * 200_000
    assert len(page(long)) < len(page(small)) + 20 * MAX_SOURCE
    assert "the rest is left out" in page(long) and "the rest is left out" not in page(small)
