"""The service accepts, grades at once, tells each student their own, and a class run gives the same scores."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output

from grader.classroom.course_dir import CourseDir
from grader.classroom.record.record import Record
from grader.classroom.student import TIMESTAMP
from grader.commands.serve.main import Options, serve
from grader.commands.serve.store import DATABASE
from grader.engine.report import report_schema
from grader.errors import GraderError
from tests.commands.serve.serving import Server, other, written
from tests.support.small_class import NAME, SCORES, grade_class, ledger, released
from tests.support.waiting import until

# The last test looks at what the others handed in.
pytestmark = pytest.mark.slow

MORE = BEST, CLOSED, LATE, STRICT, SOON, PAST = "02-best", "03-closed", "04-late", "05-strict", "06-soon", "07-past"
SETTINGS = f"""
c.SubmissionPolicy.assignments = {{
    "{BEST}": {{"counts": "best", "disclosure": "points", "attempts": 2}},
    "{CLOSED}": {{"open": "2999-01-01 00:00 UTC"}},
    "{LATE}": {{"due": "2001-01-01 00:00 UTC", "late": "refuse"}},
    "{STRICT}": {{"late": "refuse"}},
    "{SOON}": {{"due": "2999-01-01 00:00 UTC"}},
    "{PAST}": {{"due": "2001-01-01 00:00 UTC"}},
}}
c.SubmissionPolicy.cooldown = 0
c.SubmissionPolicy.disclosure = "points and sentences"
c.ServiceLimits.requests_per_minute = 1000
"""
WRONG = "def one(x=1):\n    return x + 1"
SLOW = "import time\ntime.sleep(1)\ndef two():\n    return 2"


def submitted(server: Server, student: str, name: str = "small", assignment: str = NAME) -> bytes:
    """The bytes that a class run would grade."""
    return (server.folder / "submitted" / student / assignment / f"{name}.ipynb").read_bytes()


def test_a_wrong_answer_is_mended(server: Server) -> None:
    """From the receipt to full points in the gradebook; the class run then gives the same."""
    data = written(server.folder, one=WRONG)
    receipt = server.hand_in("ann", data)
    assert receipt.status == 202 and receipt.json["state"] == "waiting" and receipt.json["attempt"] == 1
    form = server.report("ann", receipt.json["id"])
    assert form["state"] == "graded" and form["counts"] and form["sha256"] == receipt.json["sha256"]
    fields = report_schema()["$defs"]["PublishedReport"]["properties"]
    assert form["report"]["points"] == 5 and form["report"].keys() == fields.keys()
    failed = [test for test in form["report"]["tests"] if test["verdict"] == "failed"]
    # 'points and sentences': the sentences of the tests without the diagnosis.
    assert [test["message"] for test in failed] == ["one() is 1.", "one(x) is x. one(3) is not 3."]
    assert "adds one" not in str(form) and server.ask(f"/hand-in/{form['id']}/feedback", "ann").status == 403
    assert submitted(server, "ann") == data and ledger(server.folder)["ann"]["score"] == 5
    form = server.graded("ann", written(server.folder))
    assert form["report"]["points"] == SCORES["ann"] and form["attempt"] == 2
    assert ledger(server.folder)["ann"]["score"] == SCORES["ann"]


def test_a_second_notebook_leaves_the_first_as_it_is(server: Server) -> None:
    """In the gradebook, in submitted/ and on the pages; before it comes, it scores zero."""
    data = written(server.folder)
    server.graded("bob", data)
    before = ledger(server.folder)["bob"]
    assert before["grades"]["three-check"] == (0.0, None, False)
    page = server.folder / "feedback" / "bob" / NAME / "small.html"
    text = page.read_bytes()
    form = server.graded("bob", other(server.folder), NAME, "other")
    after = ledger(server.folder)["bob"]
    assert form["report"]["points"] == 4 and after["score"] == before["score"] + 4
    assert after["grades"] == before["grades"] | {"three-check": (4.0, None, False)}
    assert submitted(server, "bob") == data and page.read_bytes() == text
    # It came for the first time, so the record does not say "again".
    entries = [each for each in Record(server.folder).entries() if each.student == "bob"]
    assert [(each.cell, each.after, each.why) for each in entries] == [("three-check", 4, "a new hand-in")]


def test_the_best_counts_and_attempts_end(server: Server) -> None:
    """A worse or an equal one changes neither gradebook nor submitted/; a third attempt is refused in words."""
    good, bad = written(server.folder), written(server.folder, one=WRONG)
    first, second = server.graded("cat", good, BEST), server.graded("cat", bad, BEST)
    assert (first["attempts_left"], second["attempts_left"]) == (1, 0)
    assert (first["counts"], second["counts"]) == (True, False)
    assert (first["report"]["points"], second["report"]["points"]) == (8, 5)
    first_of_equals = server.graded("bob", bad, BEST)
    equal = server.graded("bob", written(server.folder, one="def one(x=1):\n    return 1 + x"), BEST)
    assert first_of_equals["counts"] and not equal["counts"]
    assert server.graded("dan", bad, BEST)["counts"] and server.graded("dan", good, BEST)["counts"]
    # disclosure = 'points'
    assert all(test["message"] == "" and test["causes"] == [] for test in second["report"]["tests"])
    assert [test["test"] for test in second["report"]["tests"]] == ["one-check", "hidden test 2", "two-check"]
    seen = [(each["exercise"], each["points"], each["max_points"]) for each in second["report"]["exercises"]]
    assert seen == [("one", 0, 3), ("two", 5, 5)]
    assert submitted(server, "cat", assignment=BEST) == good
    third = server.hand_in("cat", written(server.folder, two=SLOW), BEST)
    assert third.status == 403 and "all 2 attempts" in third.json["error"]
    counts = server.ask("/", "cat").json["assignments"][BEST]["notebooks"]["small"]
    assert counts["attempts_left"] == 0 and counts["counts"]["id"] == first["id"]


def test_times_are_kept(server: Server) -> None:
    """An assignment that is not open, and one that was due, accept nothing."""
    closed, late = (server.hand_in("ann", written(server.folder), assignment) for assignment in (CLOSED, LATE))
    assert closed.status == 403 and "opens at 2999-01-01" in closed.json["error"]
    assert late.status == 403 and "was due at 2001-01-01" in late.json["error"]


def test_a_newer_hand_in_supersedes_one_that_waits(server: Server) -> None:
    """The one that is being graded is finished, the newest is graded and counts, and the one between points to it."""
    texts = [written(server.folder, two=SLOW + f"\n# {number}") for number in range(3)]
    keys = [server.hand_in("dan", texts[0]).json["id"]]
    server.await_grading("dan", keys[0])
    keys += [server.hand_in("dan", text).json["id"] for text in texts[1:]]
    first, between, last = (server.report("dan", key) for key in keys)
    assert [form["state"] for form in (first, between, last)] == ["graded", "superseded", "graded"]
    assert between["superseded_by"] == keys[2] and last["counts"] and last["attempt"] == 2
    assert submitted(server, "dan") == texts[2]


def test_a_replay_gives_the_same_receipt(server: Server) -> None:
    """While it waits, while it is graded, and just after; also if it arrives many times at once."""
    text = written(server.folder, two=SLOW)
    with ThreadPoolExecutor(5) as pool:
        receipts = list(pool.map(lambda _: server.hand_in("eve", text), range(5)))
    keys = {receipt.json["id"] for receipt in receipts}
    assert {receipt.status for receipt in receipts} == {202} and len(keys) == 1
    server.report("eve", *keys)
    assert server.hand_in("eve", text).json["id"] in keys
    with sqlite3.connect(server.folder / DATABASE) as database:
        assert database.execute("select count(*) from hand_in where student = 'eve'").fetchone() == (1,)


def test_the_name_and_the_cells_of_a_file_decide_which_notebook_it_is(server: Server) -> None:
    """A numbered copy is that notebook; cells of another one under its name are refused, and cost no attempt."""
    form = server.graded("kim", written(server.folder), NAME, "small%20(1)")
    assert form["report"]["points"] == 8 and submitted(server, "kim") == written(server.folder)
    refused = server.graded("kim", other(server.folder), NAME, "small")
    assert refused["state"] == "refused" and "has the cells of other, and was handed in as small" in refused["error"]
    assert server.ask("/", "kim").json["assignments"][NAME]["notebooks"]["small"]["attempts"] == 1
    assert submitted(server, "kim") == written(server.folder)
    assert server.hand_in("kim", written(server.folder), NAME, "smal").status == 404


def test_what_is_no_notebook_supersedes_nothing(server: Server) -> None:
    """It is refused at once, and the notebook that waits keeps waiting."""
    first, waits = (written(server.folder, two=SLOW + f"\n# {number}") for number in range(2))
    server.await_grading("hal", server.hand_in("hal", first).json["id"])
    key = server.hand_in("hal", waits).json["id"]
    for content in (b"no notebook", b"[]", b"\x80\x81", b'{"cells": []', b"{}", b'{"cells": [], "nbformat": 3}'):
        refused = server.hand_in("hal", content)
        assert refused.status == 400 and "save it once more in JupyterLab" in refused.json["error"]
    assert server.report("hal", key)["state"] == "graded" and submitted(server, "hal") == waits


def test_the_same_answers_cost_no_attempt(server: Server) -> None:
    """Outputs, counts and one more save, also without an attempt left: the last report, at once."""
    blank = released(server.folder)
    first = server.graded("gus", nbformat.writes(blank).encode(), BEST)
    for number in range(3):
        for each in blank.cells:
            each.metadata["number"] = number
            if each.cell_type == "code":
                each.update(execution_count=number, outputs=[new_output("stream", text=f"{number}\n")])
        again = server.hand_in("gus", nbformat.writes(blank).encode(), BEST).json
        assert (again["id"], again["state"], again["attempts_left"]) == (first["id"], "graded", 1)
        assert again["report"] == first["report"]
    assert server.graded("gus", written(server.folder), BEST)["attempts_left"] == 0
    assert server.hand_in("gus", written(server.folder) + b"\n", BEST).json["state"] == "graded"


def test_a_late_hand_in_that_changes_nothing_replaces_none_in_time(server: Server) -> None:
    """The time of the submission stays, and with it all points; a late change has the late time."""
    time = server.folder / "submitted" / "hal" / SOON / TIMESTAMP
    data = written(server.folder)
    first = server.graded("hal", data, SOON)
    stamp, kept = time.read_text(), submitted(server, "hal", assignment=SOON)
    assert server.hand_in("hal", data.replace(b'"execution_count": null', b'"execution_count": 1'), SOON).json["counts"]
    assert (time.read_text(), submitted(server, "hal", assignment=SOON)) == (stamp, kept)
    last = server.graded("hal", written(server.folder, one=WRONG), SOON)
    assert last["counts"] and last["id"] != first["id"] and time.read_text() > stamp


def test_a_page_is_shown_without_scripts(server: Server) -> None:
    """After the due time nothing is held back: its student gets the page, in which only its own styles work."""
    graded = server.graded("gus", written(server.folder, one=WRONG))
    path = f"/hand-in/{graded['id']}/feedback"
    assert server.ask(path, "gus").status == 403
    with sqlite3.connect(server.folder / "gradebook.db") as gradebook:
        gradebook.execute("update assignment set duedate = '2001-01-01 00:00:00.000000' where name = ?", [NAME])
    try:
        page = server.ask(path, "gus")
        policy = page.headers["Content-Security-Policy"]
        assert page.status == 200 and b"one(x) is x." in page.body and b"assert one(3)" not in page.body
        assert policy.startswith("default-src 'none'") and "script" not in policy and " sandbox" in policy
        assert server.ask(path, "ann").status == 404 and server.ask(path).status == 401
        assert "adds one" in str(server.ask(path.removesuffix("/feedback"), "gus").json["report"])
    finally:
        with sqlite3.connect(server.folder / "gradebook.db") as gradebook:
            gradebook.execute("update assignment set duedate = null where name = ?", [NAME])


@pytest.mark.parametrize(("assignment", "points"), [(SOON, 6), (PAST, 8), (NAME, 8)])
def test_what_our_answers_gave_back_is_known_after_the_due_date(server: Server, assignment: str, points: int) -> None:
    """Student code beside our answers could show by points what it reads there. Without a due date it is known."""
    key = server.hand_in("fay", written(server.folder), assignment=assignment).json["id"]
    report = server.report("fay", key)["report"]
    judged = next(test for test in report["tests"] if test["test"] == "one-test-more")
    judged["alone"] = judged | {"verdict": "failed", "points": 0.0, "message": "alone"}
    with sqlite3.connect(server.folder / DATABASE) as database:
        database.execute("update hand_in set report = ? where id = ?", [json.dumps(report).encode(), key])
    report = server.ask(f"/hand-in/{key}", "fay").json["report"]
    (test,) = [test for test in report["tests"] if test["test"] == "one-test-more"]
    assert report["points"] == points and (test["message"] == "alone") == (points == 6)
    assert ("alone" in test) == (assignment == PAST)


def test_health_and_metrics_name_no_one(server: Server) -> None:
    """They need no token, and count."""
    health, metrics = server.ask("/health"), server.ask("/metrics")
    assert health.json["status"] == "ok" and health.json["hand_ins"].keys() == {"waiting", "grading"}
    until(lambda: server.ask("/health").json["hand_ins"] == {"waiting": 0, "grading": 0}, "the end of all jobs")
    assert b"grader_report_seconds_count" in metrics.body and b'grader_requests_total{status="202"}' in metrics.body
    assert not any(name.encode() in metrics.body + health.body for name in server.tokens)


def test_a_result_that_cannot_be_written_is_written_later(server: Server) -> None:
    """While another program locks the gradebook, hand-ins are accepted; afterwards they are graded by themselves.

    Only where the due date decides and was never read, a hand-in is refused.
    """
    assert server.ask("/", "hal").status == 200  # from here on the service knows the student's due dates
    locked = sqlite3.connect(server.folder / "gradebook.db")
    locked.execute("begin exclusive")
    data = written(server.folder)
    unknown, receipt = server.hand_in("ivy", data, STRICT), server.hand_in("hal", data)
    assert unknown.status == 503 and "in a minute" in unknown.json["error"] and unknown.headers["Retry-After"] == "60"
    until(lambda: "could not be written" in (server.folder / "serve.log").read_text(), "the line in the log")
    locked.close()
    assert receipt.status == 202 and server.report("hal", receipt.json["id"])["report"]["points"] == SCORES["ann"]
    assert ledger(server.folder)["hal"]["score"] == SCORES["ann"]


def test_one_service_at_a_time_serves_a_course(server: Server) -> None:
    """A second one refuses to start, and says what to do."""
    with pytest.raises(GraderError, match="another 'grader serve' uses .*: stop it first"):
        serve(CourseDir(server.folder), Options())


def test_a_class_run_gives_the_same_scores(server: Server) -> None:
    """It grades what lies in submitted/, and the gradebook is as before; it runs last in this module."""
    before = ledger(server.folder)
    assert {"ann", "bob", "dan", "eve", "fay", "gus"} <= set(grade_class(server.folder))
    after = ledger(server.folder)
    assert after == before
    log = (server.folder / "serve.log").read_text()
    assert "POST /hand-in/" in log and not any(token.partition(".")[2] in log for token in server.tokens.values())
    assert json.dumps(server.tokens["ann"]) not in log and not list(Path(server.folder).rglob("*.new"))
