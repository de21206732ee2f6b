"""Nothing that a worker sends is written unless it is a whole result of what the worker was given."""

import zlib
from pathlib import Path

import msgspec
import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.page.page_maker import PageMaker, PreviousScores
from grader.classroom.results import ResultWriter
from grader.classroom.student import Submission, grade_submission, load_assignment, read_submission
from grader.commands.cluster.messages import (
    AssignmentBundle,
    BadReply,
    Reply,
    Requirements,
    Task,
    decoded_reply,
    encoded,
    unpacked,
)
from tests.support.small_class import NAME


@pytest.fixture(scope="module")
def exchange(graded: Path) -> tuple[AssignmentBundle, Submission, bytes]:
    """An assignment as it arrives, a submission, and the reply to it as it is sent."""
    course_dir = CourseDir(graded)
    assignment = load_assignment(course_dir, NAME, sandbox=True)
    with ResultWriter(course_dir, NAME) as writer:
        bundle = unpacked(AssignmentBundle.of(assignment, writer.notebooks, course_dir.config).packed())
    submission = read_submission(assignment, "bob", course_dir.handed_in(NAME, "bob"))
    task = Task("key", "bob", submission.digest, submission.notebooks, {}, PreviousScores())
    result = grade_submission(bundle.assignment, submission)
    pages = PageMaker(bundle.config, bundle.notebooks)
    pages.finish(result)
    pages.predict(result, PreviousScores())
    return bundle, submission, encoded(Reply.of(task, result))


def test_an_honest_reply_is_taken(exchange: tuple[AssignmentBundle, Submission, bytes], graded: Path) -> None:
    """Its page is the one that the class run makes."""
    bundle, submission, data = exchange
    result = decoded_reply(data).checked(submission, bundle)
    assert result.student == "bob" and result.reports["small"].points == 5.5
    assert result.graded["small"].page == (graded / "feedback" / "bob" / NAME / "small.html").read_text()


def test_settings_travel_and_passwords_do_not(again: Path) -> None:
    """Limits and settings of pages reach the worker; of the address of the gradebook, nothing does."""
    with (again / "nbgrader_config.py").open("a") as config:
        config.write("c.Limits.cell_seconds = 7\nc.ClearHiddenTests.begin_test_delimeter = 'HIDDEN'\n")
        config.write("c.CourseDirectory.db_url = 'postgresql://grader:secret@host/grades'\n")
    course_dir = CourseDir(again)
    packed = AssignmentBundle.of(load_assignment(course_dir, NAME, sandbox=True), {}, course_dir.config).packed()
    assert b"grader:secret" not in zlib.decompress(packed)
    bundle = unpacked(packed)
    assert bundle.assignment.limits.cell_seconds == 7
    assert bundle.config.ClearHiddenTests.begin_test_delimeter == "HIDDEN"


@pytest.mark.parametrize(
    "change",
    [
        "reply.student = 'ann'",
        "reply.digest = '0'",
        "reply.graded['large'], reply.reports['large'] = reply.graded['small'], reply.reports['small']",
        "reply.graded, reply.reports = {}, {}",
        "reply.reports = {}",
        "reply.graded['small'].record.tests[0].points = 1.5",
        "reply.graded['small'].record.tests[0].points = float('nan')",
        "del reply.graded['small'].record.tests[0]",
        "reply.graded['small'].page = ''",
        "reply.graded['small'].page = 'x' * (64 * 2**20 + 1)",
    ],
)
def test_any_other_reply_is_refused(exchange: tuple[AssignmentBundle, Submission, bytes], change: str) -> None:
    """Most of all one that says nothing of a notebook: it would stand for one that was not handed in."""
    bundle, submission, data = exchange
    reply = decoded_reply(data)
    exec(change, {"reply": reply})
    with pytest.raises(BadReply):
        reply.checked(submission, bundle)


def test_values_of_other_types_are_refused(exchange: tuple[AssignmentBundle, Submission, bytes]) -> None:
    """A name in place of points, or half a message."""
    _, _, data = exchange
    form = msgspec.msgpack.decode(data)
    form["graded"]["small"]["record"]["tests"][0]["points"] = "all"
    for wrong in (msgspec.msgpack.encode(form), data[:-5], b""):
        with pytest.raises(msgspec.DecodeError):
            decoded_reply(wrong)


def test_what_differs_is_named() -> None:
    """A library by its version here and there; otherwise it is a file."""
    here = Requirements.of(("course",), sandbox=True)
    assert here.missing() == ""
    other = msgspec.structs.replace(here, digest="", versions=here.versions | {"torch": "1.0", "rare": "2"})
    assert other.missing() == (
        f"it has torch {here.versions['torch']} and not 1.0, rare is missing and not 2: "
        "install the driver's versions on it"
    )
    assert "other files of grader or course" in msgspec.structs.replace(here, digest="").missing()
