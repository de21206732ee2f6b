"""A service that was started before a change says so: to its instructor, and beside the points that students read."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.page.summary import OUTDATED
from grader.classroom.source.inputs import marked_outdated
from grader.commands.feedback.feedback import Feedback
from tests.commands.serve.serving import Server, make_served_course, written
from tests.support.notebooks import cell
from tests.support.small_class import NAME, SOURCE
from tests.support.waiting import until

pytestmark = pytest.mark.slow

RESTART = "source/ changed after this service was started, which grades by the earlier version: start it again"


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """A service on a course folder, which ends well."""
    server = Server(folder)
    try:
        yield server
    finally:
        assert server.stop() == 0


def await_health(server: Server, outdated: dict[str, str]) -> None:
    """Wait until the service knows which assignments have changed."""
    until(lambda: server.ask("/health").json["outdated"] == outdated, f"health with {outdated}")


def test_it_says_so_until_it_is_started_again(tmp_path: Path) -> None:
    """From the change to the next start, and for what was graded before beyond that."""
    folder = make_served_course(tmp_path / "course")
    with serving(folder) as server:
        key = while_it_runs(server)
        link = server.ask(f"/feedback/{NAME}/small", "ann", b"").json["link"]
    with serving(folder) as server:
        void = server.ask(f"/{link}")
        assert void.status == 410 and b"until the service is started again" in void.body
        assert server.ask("/health").json["outdated"] == {}
        until(lambda: server.report("ann", key).get("outdated") == OUTDATED, "the old report with a notice")
        new = server.graded("cat", written(folder))
        assert "outdated" not in new and new["report"]["max_points"] == 12
        assert server.ask("/health").json["outdated"] == {}


def while_it_runs(server: Server) -> str:
    """Change source/ and the configuration of a service, and undo it; return ann's hand-in before the last change."""
    folder = server.folder
    file, config = folder / "source" / NAME / "small.ipynb", folder / "nbgrader_config.py"
    first = server.graded("ann", written(folder))
    assert "outdated" not in first and server.ask("/health").json["outdated"] == {}
    before = file.read_bytes()
    # A touch is no change.
    file.write_bytes(before)
    changed = copy.deepcopy(SOURCE)
    cell(changed, "one-check").metadata.nbgrader["points"] = 5
    nbformat.write(changed, file)
    await_health(server, {NAME: RESTART})
    assert f"{NAME}: {RESTART}" in (folder / "serve.log").read_text()
    page = f"/hand-in/{first['id']}/feedback"
    assert server.report("ann", first["id"])["outdated"] == OUTDATED
    assert OUTDATED.encode() in server.ask(page, "ann").body
    assert server.ask(f"/feedback/{NAME}/small", "ann", b"").json["outdated"] == OUTDATED
    # It still takes notebooks, and grades them by what it knows.
    late = server.graded("bob", written(folder))
    assert late["outdated"] == OUTDATED and late["report"]["max_points"] == 8
    ledger = read_ledger(CourseDir(folder), NAME)
    assert marked_outdated(CourseDir(folder), ledger) == ""
    assert {name for name, score in ledger.by_student.items() if score.outdated} == {"ann", "bob"}
    # Half a notebook is a change that cannot be read; no one learns from outside what is in it.
    file.write_bytes(before[: len(before) // 2])
    until(lambda: "cannot be loaded" in server.ask("/health").json["outdated"][NAME], "a broken source")
    assert "small.ipynb" not in server.ask("/health").body.decode()
    assert "small.ipynb" in (folder / "serve.log").read_text().partition(f"{NAME} cannot be loaded: ")[2]
    file.write_bytes(before)
    await_health(server, {})
    assert "outdated" not in server.report("ann", first["id"])
    assert OUTDATED.encode() not in server.ask(page, "ann").body
    limits = config.read_text()
    config.write_text(f"{limits}\nc.Limits.cell_seconds = 77\n")
    await_health(server, {NAME: RESTART.replace("source/", "c.Limits")})
    config.write_text(limits)
    await_health(server, {})
    # Work that its student has back is no younger than the hand-in.
    assert list(Feedback(CourseDir(folder), NAME, unmarked=True).give(["ann"])) == []
    assert OUTDATED.encode() not in server.ask(page, "ann").body
    nbformat.write(changed, file)
    await_health(server, {NAME: RESTART})
    assert OUTDATED.encode() in server.ask(page, "ann").body
    return str(first["id"])
