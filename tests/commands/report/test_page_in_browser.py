"""The page of a class report works in Chromium: it sorts, filters, fits into any window and on paper."""

import html
import json
import re
import subprocess
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from grader.commands.report.model import ClassReport
from grader.commands.report.page.page import page
from tests.commands.mark.marker import BROWSER, chromium, needs_browser
from tests.commands.report.fakes import fake_report
from tests.commands.report.pages import OPTIONS, SIZES, opened, read, table, with_texts, words
from tests.support.axe import violations
from tests.support.waiting import HANGS

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def report() -> ClassReport:
    """A class of 40 with a few of everything."""
    return fake_report(40, **SIZES)


def test_the_address_says_how_tables_are_sorted_and_filtered_and_what_is_open(
    report: ClassReport, tmp_path: Path
) -> None:
    """So a page that loads again stays as its reader left it. Cells that are no number come last in both directions."""
    (tmp_path / "page.html").write_text(page(report))
    pair = read(page(report)).select_one("section:has(#pairs) ol details")["id"]
    column = 5 + len(report.exercises)  # the last exercise, in which some answers wait for marking
    shown = opened(
        f"{(tmp_path / 'page.html').as_uri()}#tests?students.sort=-{column}&students.find={quote('LATE 0')}&open={pair}"
    )
    rows = shown.select("#students tbody tr")
    heads = shown.select("#students thead th")
    assert [head.get("aria-sort") for head in heads].count("descending") == 1
    assert heads[column - 1]["aria-sort"] == "descending" and words(heads[column - 1]) == report.exercises[-1].name
    keys = [words(row.find_all(["th", "td"])[column - 1]) for row in rows]
    numbers = [float(key) for key in keys if key not in "?–"]
    assert numbers == sorted(numbers, reverse=True) and len(set(numbers)) > 1
    assert keys[len(numbers) :] and set(keys[len(numbers) :]) <= {"?", "–"}
    texts = {row: " ".join(words(cell) for cell in row.find_all(["th", "td"])).lower() for row in rows}
    visible = [row for row in rows if not row.has_attr("hidden")]
    assert visible == [row for row in rows if "late" in texts[row] and "0" in texts[row]] and 0 < len(visible) < len(
        rows
    )
    assert shown.select_one('output[for="students-find"]').string == f"{len(visible)} of {len(rows)}"
    assert [part["id"] for part in shown.select("details[open]")] == [pair]
    plain = opened((tmp_path / "page.html").as_uri())
    assert table(plain, "students") == table(read(page(report)), "students")
    assert plain.select("details[open], tr[hidden], [aria-sort]") == []
    # The policy lets the script run: it puts a button into each head of a column that can be sorted.
    assert all(head.button for head in plain.select("table[data-sortable] thead th"))


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_the_window(report: ClassReport, tmp_path: Path, width: int) -> None:
    """On a phone and on a screen, with long words in all texts; a wider element is found."""
    pages = [page(report), page(with_texts(report, "long" * 60)), page(fake_report(0))]
    pages = [text.replace("<details", "<details open") for text in pages]
    pages.append('<meta name="viewport" content="width=device-width"><p style="width: 2000px">wide</p>')
    frames = "".join(f'<iframe width="{width}" height="800" srcdoc="{html.escape(text)}"></iframe>' for text in pages)
    measure = "Array.from(frames, ({document: {documentElement: all}}) => [all.scrollWidth, all.clientWidth])"
    whole = tmp_path / "frames.html"
    whole.write_text(
        f"<title>0</title>{frames}<script>onload = () => document.title = JSON.stringify({measure})</script>"
    )
    *real, wide = json.loads(opened(whole.as_uri()).title.string)
    assert all(inner == outer > width - 40 for inner, outer in real) and wide[0] > wide[1]


def test_the_sheet_for_the_lecture_is_one_page_of_paper(tmp_path: Path) -> None:
    """However long the examples of the notebook are; the whole report has more pages."""
    small = fake_report(3, **SIZES)
    long = msgspec.structs.replace(
        small,
        lecture=[
            msgspec.structs.replace(item, example=item.example * 9, explanation=item.explanation * 9)
            for item in small.lecture
        ],
    )
    counts = []
    for style in ("only-lecture", ""):
        source, paper = tmp_path / "page.html", tmp_path / "page.pdf"
        source.write_text(page(long).replace("<html ", f'<html class="{style}" '))
        command = [BROWSER, *OPTIONS, f"--print-to-pdf={paper}", source.as_uri()]
        subprocess.run(command, capture_output=True, timeout=HANGS, check=True)
        counts.append(len(re.findall(rb"/Type /Page\b(?!s)", paper.read_bytes())))
    assert counts[0] == 1 < counts[1]


def test_axe_finds_nothing_in_any_state(report: ClassReport, tmp_path: Path) -> None:
    """Everything unfolded, in light and dark: classes of all sizes, without names, that loads again, without mistakes,
    with long words, sorted and filtered, filtered to nothing, and the sheet for the lecture. WCAG 2.1 AA holds."""
    texts = {
        "whole": page(report),
        "without names": page(fake_report(12, is_anonymous=True, **SIZES)),
        "that loads again": page(fake_report(5, refresh=600, **SIZES)),
        "no student": page(fake_report(0)),
        "one": page(fake_report(1, **SIZES)),
        "without mistakes": page(fake_report(8, tests=3, exercises=2, mistakes=0, groups=0, pairs=0)),
        "long words": page(with_texts(fake_report(3, **SIZES), "long" * 20)),
        "lecture": page(report).replace("<html ", '<html class="only-lecture" '),
    }
    states = dict.fromkeys(texts, "")
    states |= {"sorted": "#tests?students.sort=-5&students.find=late", "filtered": "#students?students.find=zzz"}
    found = {}
    with chromium() as browser:
        for name, state in states.items():
            path = tmp_path / f"{name}.html"
            path.write_text(texts.get(name, texts["whole"]))
            shown = browser.new_page()
            shown.goto(path.as_uri() + state)
            found[name] = violations(shown)
            shown.close()
    assert len(found) == 10 and found == dict.fromkeys(found, [])
