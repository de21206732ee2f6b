"""`nbgrader zip_collect` takes in the archives of Canvas and Moodle as `grader import` does."""

import re
from pathlib import Path

import pytest
from nbgrader.apps.zipcollectapp import ZipCollectApp

from tests.commands.lms.import_course import Course
from tests.support.nbgrader_programs import run_program
from tests.support.platform_files import MOODLE_WORKSHEET, Packed, packed, write_csv
from tests.support.small_class import NAME


class Collected:
    """A course whose archives nbgrader collects."""

    def __init__(self, course: Course, logged: pytest.LogCaptureFixture) -> None:
        self.course, self._logged = course, logged
        self.folder = course.folder / "downloaded" / NAME
        (self.folder / "archive").mkdir(parents=True)

    def put(self, name: str, files: list[Packed] | bytes) -> None:
        """Put a file where nbgrader looks for archives."""
        path = self.folder / "archive" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(files if isinstance(files, bytes) else packed(files))

    def collect(self, *options: str, status: int = 0) -> str:
        """Run nbgrader's program in the course folder, and return the messages that it logged."""
        ended, logged = run_program(ZipCollectApp, self._logged, NAME, *options)
        assert ended == status, logged
        return logged

    def configure(self, text: str, *, before: bool = False) -> None:
        """Add settings to the course's own, before or after the call of the plug-in."""
        file = self.course.folder / "nbgrader_config.py"
        call = "nbgrader_plugin.configure(c"
        own = file.read_text()
        file.write_text(own.replace(call, f"{text}\n{call}") if before else f"{own}\n{text}\n")


@pytest.fixture
def collected(course: Course, caplog: pytest.LogCaptureFixture) -> Collected:
    """The course with an empty folder of archives."""
    return Collected(course, caplog)


def canvas(course: Course) -> list[Packed]:
    """Return an archive of Canvas with what is right, what is odd, and what would harm, also from within."""
    inner = packed([
        Packed("../../../nbgrader_config.py", b"c.Grader.helper_packages = []"),
        Packed("../../../../source/01-small/small.ipynb", course.work("eve")),
        Packed("/tmp/small.ipynb", course.work("eve")),
        Packed("source/small.ipynb", b"../../source", mode=0o120777),
        Packed("more.zip", packed([Packed("small.ipynb", course.work("eve"))])),
        Packed("bomb.ipynb", bytes(3 * 2**20)),
        Packed("work/small.ipynb", course.work("bob")),
    ])  # fmt: skip
    return [
        Packed("leeann_101_9005_small-2.ipynb", course.work("ann")),
        Packed("leeann_101_9001_small.ipynb", course.work("an older upload of ann")),
        Packed("oduyabob_LATE_102_9002_work.zip", inner),
        Packed("../../../x_103_9003_homework.ipynb", course.work("zofie")),
        Packed("x_103_9004_work.zip", b"PK\x03\x04"),
        Packed("stranger_777_9004_small.ipynb", course.work("eve")),
        Packed("leeann_101_9006_2-other.ipynb", b"../../gradebook.db", mode=0o120777),
        Packed("leeann_101_9007_bomb.ipynb", bytes(3 * 2**20)),
    ]


def test_an_archive_is_collected_as_it_is_imported(collected: Collected) -> None:
    """The same files and lines, and no file elsewhere. What would harm is listed, and the rest comes in."""
    course = collected.course
    before = {path for path in course.folder.parent.rglob("*") if "submitted" not in path.parts}
    said = course.take(canvas(course), status=1)
    imported = course.submitted()
    assert imported == {f"{who} small.ipynb": course.work(who) for who in ("ann", "bob", "zofie")}
    everywhere = set(course.folder.parent.rglob("*"))
    assert {path for path in everywhere if "submitted" not in path.parts} - before == {course.folder / "all.zip"}
    for words in (
        "leeann_101_9006_2-other.ipynb was not imported: it is neither a file nor a folder",
        "bob: source/small.ipynb in work.zip was not imported: it is neither a file nor a folder",
        "bob: bomb.ipynb in work.zip was not imported: it would be more than 200 times as large",
        "bob: more.zip was not opened: it is an archive in an archive",
        "zofie: work.zip is not a zip archive, or is damaged",
    ):
        assert words in said
    collected.put("submissions.zip", canvas(course))
    logged = collected.collect("--force")
    assert course.submitted() == imported
    lines = [line.removeprefix("grader: ") for line in said.splitlines() if line.startswith("grader: ")]
    assert len(lines) == 11 and all(line in logged for line in lines)
    new = {path for path in course.folder.parent.rglob("*") if path.is_file()} - everywhere
    assert {str(path.relative_to(collected.folder)) for path in new} == {
        "archive/submissions.zip", *(f"extracted/{who}/small.ipynb" for who in ("ann", "bob", "zofie"))
    }  # fmt: skip


def test_several_archives_may_lie_together(collected: Collected) -> None:
    """Of both platforms and in folders of the instructor's. Nothing says which one of two works is newer."""
    work = collected.course.work
    for name in ("1", "2"):
        collected.put(f"{name}.zip", [Packed("leeann_101_9001_small.ipynb", work(name))])
    collected.put("group 2/moodle.ZIP", [Packed("Bob Oduya_12_assignsubmission_file/small (1).ipynb", work("bob"))])
    collected.put("x_103_9001_small.ipynb", work("zofie"))
    collected.put(".DS_Store", b"")
    logged = collected.collect()
    assert collected.course.submitted() == {"ann small.ipynb": work("1"), "bob small.ipynb": work("bob")}
    assert "ann: nothing was written: another small is in extracted/, and may be newer" in logged
    assert "x_103_9001_small.ipynb was not imported: put the zip archive that the platform made there" in logged
    assert "DS_Store" not in logged
    collected.collect("--force", "--LmsExtractorPlugin.replace=True")
    assert collected.course.submitted()["ann small.ipynb"] == work("2")


def test_a_worksheet_tells_the_time(collected: Collected) -> None:
    """Its settings are the options of `grader import`; nbgrader finds the timestamp beside the notebook."""
    write_csv(collected.folder / "archive", MOODLE_WORKSHEET, "worksheet.csv")
    file = "Ann Lee_11_assignsubmission_file/small.ipynb"
    collected.put("all.zip", [Packed(file, collected.course.work("ann"))])
    worksheet = f"--LmsExtractorPlugin.worksheet=downloaded/{NAME}/archive/worksheet.csv"
    assert "name it, as in --time-zone Europe/Berlin" in collected.collect(worksheet, status=1)
    collected.configure("c.LmsExtractorPlugin.time_zone = 'America/New_York'")
    logged = collected.collect(worksheet, "--force")
    assert collected.course.submitted() == {
        "ann small.ipynb": collected.course.work("ann"), "ann timestamp.txt": b"2026-03-02 16:30:00 UTC"
    }  # fmt: skip
    assert "worksheet.csv was not imported" not in logged


@pytest.mark.filterwarnings("ignore:Config option")
def test_an_archive_of_something_else_or_a_misspelt_limit_ends_the_command(collected: Collected) -> None:
    """With one line, and nothing is collected."""
    for content, words in (
        (b"PK", "all.zip is not a zip archive, or is damaged"),
        ([Packed("small.ipynb", b"{}")], "no file there is named as Canvas or Moodle names submissions"),
        ([Packed("leeann_101_9001_small.ipynb", b"{}")], "there is no c.Archives.ratios"),
    ):
        collected.put("all.zip", content)
        if "ratios" in words:
            collected.configure("c.Archives.ratios = 9")
        logged = collected.collect(status=1)
        assert len(re.findall("ERROR", logged)) == 1 and words in logged and collected.course.submitted() == {}


@pytest.mark.parametrize("before", [False, True])
def test_the_expression_of_a_course_counts(collected: Collected, before: bool) -> None:
    """Set before or after the call: nbgrader's own extractor and collector work as they do without the grader."""
    collected.configure(
        r"c.FileNameCollectorPlugin.named_regexp = r'.*/(?P<student_id>\w+)-(?P<file_id>\w+)'", before=before
    )
    collected.put("all.zip", [Packed("kim-small.ipynb", collected.course.work("kim"))])
    collected.collect()
    assert collected.course.submitted() == {"kim small.ipynb": collected.course.work("kim")}
    assert (collected.folder / "extracted" / "all" / "kim-small.ipynb").exists()


@pytest.mark.parametrize("before", [False, True])
def test_the_collector_of_a_course_counts(collected: Collected, before: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the files under the names that nbgrader's own extractor gives them."""
    (collected.course.folder / "own_collector.py").write_text(
        "from nbgrader.plugins import FileNameCollectorPlugin\n"
        "class Own(FileNameCollectorPlugin):\n"
        "    def collect(self, file):\n"
        "        return {'student_id': file.split('/')[-2], 'file_id': 'small'}\n"
    )
    monkeypatch.syspath_prepend(str(collected.course.folder))
    collected.configure("c.ZipCollectApp.collector_plugin = 'own_collector.Own'", before=before)
    collected.put("all.zip", [Packed("kim/mine.ipynb", collected.course.work("kim"))])
    collected.collect()
    assert collected.course.submitted() == {"kim small.ipynb": collected.course.work("kim")}


def test_what_was_not_extracted_now_is_not_collected(collected: Collected) -> None:
    """nbgrader also looks at what is in the folder if there are no archives; its names say nothing of students."""
    (collected.folder / "archive").rmdir()
    old: Path = collected.folder / "extracted" / "Ann Lee_11_assignsubmission_file"
    old.mkdir(parents=True)
    (old / "small.ipynb").write_bytes(collected.course.work("ann"))
    assert "Skipped submission" in collected.collect() and collected.course.submitted() == {}
