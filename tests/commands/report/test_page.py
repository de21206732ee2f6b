"""The page of the class report says what is in the report, for eyes and for screen readers."""

import re
from copy import deepcopy

import pytest
from bs4 import Tag

from grader.commands.report.model import ClassReport, Passage
from grader.commands.report.page.page import page, side_by_side
from tests.commands.report.fakes import fake_report
from tests.commands.report.pages import SIZES, read, section, table, words


@pytest.fixture(scope="module")
def report() -> ClassReport:
    """A class of 40 with a few of everything."""
    return fake_report(40, **SIZES)


@pytest.fixture(scope="module")
def shown(report: ClassReport) -> Tag:
    """Its page, as a browser reads it."""
    return read(page(report))


def test_every_link_leads_to_a_place_on_the_page(shown: Tag) -> None:
    """Links, labels and ids agree, and no id occurs twice."""
    ids = [part["id"] for part in shown.find_all(id=True)]
    assert len(ids) == len(set(ids))
    named = [
        "".join(part[name]).lstrip("#")
        for name in ("href", "for", "aria-labelledby", "data-table")
        for part in shown.find_all(attrs={name: True})
    ]
    assert set(named) <= set(ids) and len(named) > 30


def test_headings_and_tables_can_be_walked_through(shown: Tag) -> None:
    """No level of headings is skipped; each table has a caption and heads with a scope, each picture a text or none."""
    levels = [int(part.name[1]) for part in shown.find_all(re.compile(r"h\d"))]
    assert levels[0] == 1 and all(later <= earlier + 1 for earlier, later in zip(levels, levels[1:], strict=False))
    contents = [words(link) for link in shown.nav.find_all("a")]
    assert contents == [words(heading) for heading in shown.main.find_all("h2")] and len(contents) == 9
    assert all(each.caption for each in shown.select("table:not(.numbers table)"))
    assert all(head.get("scope") for head in shown.select("table:not(.numbers table) th"))
    assert all(picture.get("aria-label") or picture.get("aria-hidden") for picture in shown.find_all("svg"))
    assert shown.html["lang"] == "en" and shown.find("a")["href"] == "#" + shown.main["id"]


def test_a_picture_has_a_table_with_its_numbers(shown: Tag, report: ClassReport) -> None:
    """The table below the histogram counts each student once."""
    for figure in shown.find_all("figure"):
        numbers = [int(words(cell)) for cell in figure.select("td")]
        drawn = [int(words(text)) for text in figure.select("svg .count")]
        assert sum(numbers) == len(report.students) and [number for number in numbers if number] == drawn


def test_the_class_is_a_table_with_a_row_for_each_student(shown: Tag, report: ClassReport) -> None:
    """Points are numbers, a blank is a dash, and points that are not known yet are a question mark."""
    rows = table(shown, "students")
    assert [row[0] for row in rows] == [student.name for student in report.students]
    for row, student in zip(rows, report.students, strict=True):
        assert row[1:3] == [f"{student.points:g}", f"{student.known_max_points:g}"]
        assert row[4] == student.handed_in[:16].replace("T", " ")
        assert row[5:-1] == [
            "?" if each.points is None else f"{each.points:g}" if each.is_written else "–" for each in student.exercises
        ]
        assert ("late" in row[-1]) == (student.seconds_late > 0)


def test_tests_that_stand_out_come_first_in_words(report: ClassReport) -> None:
    """The one that costs most is first; the table keeps the order of the notebooks."""
    known = deepcopy(report)
    for test in known.tests:
        test.notes = []
    known.tests[5].notes, known.tests[5].cost = ["It fails 3 students who pass all others."], 3.0
    known.tests[3].notes, known.tests[3].cost = ["No student passes `it`."], 80.0
    shown = section(read(page(known)), "tests")
    assert [words(item) for item in shown.ul.find_all("li")] == [
        f"{known.tests[3].name}: No student passes it.",
        f"{known.tests[5].name}: It fails 3 students who pass all others.",
    ]
    assert [row[0] for row in table(shown, "tests-table")] == [test.name for test in known.tests]
    assert table(shown, "tests-table")[3][-2:] == ["80", "No student passes it."]


def test_a_mistake_is_named_with_its_cost_and_an_example_without_a_name(shown: Tag, report: ClassReport) -> None:
    """The example is folded, and so are the names of more than a few students."""
    entries = section(shown, "mistakes").select(".entries > li")
    by_exercise = sorted(
        report.mistakes, key=lambda each: list(dict.fromkeys(m.exercise for m in report.mistakes)).index(each.exercise)
    )
    for entry, mistake in zip(entries, by_exercise, strict=True):
        said = words(entry.select_one(".entry"))
        assert said.startswith("Code that " + mistake.names[0].replace("`", ""))
        assert f"{len(mistake.students)} student" in said and f"{mistake.cost:g} point" in said
        folded = entry.find("details")
        assert words(folded.pre) == " ".join(mistake.example.source.split())
        assert not any(report.students[place].name in words(folded) for place in mistake.students)
        assert all(report.students[place].name in words(entry) for place in mistake.students)


def test_a_group_has_the_command_that_drafts_its_entry(shown: Tag, report: ClassReport) -> None:
    """A group that could be compared in part only says so."""
    for entry, group in zip(section(shown, "groups").select(".entries > li"), report.groups, strict=True):
        assert words(entry.select_one(".command")) == f"grader report {report.assignment} --draft-mistake {group.key}"
        assert ("drawn at random" in words(entry)) == (not group.is_certain)


def test_lines_that_match_have_the_number_of_their_partner() -> None:
    """So it is read without colour, and so do lines that were moved."""
    left, right = side_by_side(
        Passage("one", ["a = 1", "b = 2", "c = 3"], ["y = 2", "# mine", "x = 1"], [(0, 2), (1, 0)])
    )
    assert [line.split() for line in read(left).get_text().splitlines()] == [
        "1 = 3 a = 1".split(),
        "2 = 1 b = 2".split(),
        "3 c = 3".split(),
    ]
    assert [words(mark) for mark in read(left).find_all("mark")] == ["1 = 3 a = 1 2 = 1 b = 2"]
    assert [words(mark) for mark in read(right).find_all("mark")] == ["1 = 2 y = 2", "3 = 1 x = 1"]


def test_the_page_says_look_here_and_never_that_work_was_copied(shown: Tag) -> None:
    """It explains why right answers that are alike say nothing."""
    said = words(section(shown, "pairs"))
    assert "Look here." in said and "Right answers that look alike say nothing" in said
    assert not re.search(r"copied|plagiari|cheat", words(shown.main), re.IGNORECASE)


def test_a_class_without_anything_has_a_page() -> None:
    """Each section that has nothing says so."""
    shown = read(page(ClassReport("01-small", "2026-03-09T08:15:00", "", *([] for _ in range(10)))))
    for name, sentence in {
        "glance": "0 of 0",
        "mistakes": "No answer behaves like a known mistake.",
        "groups": "No students share a wrong behaviour",
        "lecture": "No mistake costs the class points.",
        "pairs": "No two students share a rare mistake",
        "incidents": "Nothing crashed, timed out or had to be repaired.",
    }.items():
        assert sentence in words(section(shown, name))
    assert shown.find_all("figure") == [] and table(shown, "students") == []


def test_the_page_loads_itself_again_only_if_the_report_asks_for_it() -> None:
    """Without scripts too."""
    following, still = (read(page(fake_report(3, **SIZES, refresh=refresh))) for refresh in (15, 0))
    assert following.select_one('noscript meta[http-equiv="refresh"]')["content"] == "15"
    assert following.select_one("[data-refresh]")["data-refresh"] == "15"
    assert still.select('[http-equiv="refresh"], [data-refresh]') == []
