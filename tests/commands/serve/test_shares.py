"""Every pool has a share: while one student is at a limit, another one gets through."""

import select
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import count

import pytest

from grader.commands.serve.store import DATABASE
from tests.commands.serve.serving import Answer, Server, answer, make_served_course, other, raw, written
from tests.support.small_class import NAME
from tests.support.waiting import HANGS, until

CONNECTIONS, PER_MINUTE, AT_ONCE, WAITING = 50, 60, 3, 2
SETTINGS = f"""
c.SubmissionPolicy.cooldown = 0
c.Limits.notebook_mb = 1
c.ServiceLimits.student_mb = 1
c.ServiceLimits.upload_mb = 2
c.ServiceLimits.connections = {CONNECTIONS}
c.ServiceLimits.requests_per_minute = {PER_MINUTE}
c.ServiceLimits.requests_at_once = {AT_ONCE}
c.ServiceLimits.waiting = {WAITING}
c.ServiceLimits.body_seconds = {HANGS}
"""
HASTY = """
c.SubmissionPolicy.cooldown = 0
c.ServiceLimits.body_seconds = 1
c.ServiceLimits.header_seconds = 1
c.ServiceLimits.wait_seconds = 1
"""
PLACE = f"/hand-in/{NAME}/small"
POST = f"POST {PLACE} HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN\nContent-Length: "
EMPTY = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
LARGE = 600_000
"""Bytes of a notebook of which two are more than a student may have."""


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that waits for nothing longer than a second."""
    server = Server(make_served_course(tmp_path_factory.mktemp("hasty") / "course", HASTY))
    yield server
    assert server.stop() == 0


def gets_through(server: Server, student: str) -> bool:
    """Whether a student hands in, and has a report with all points; a busy machine may need more than one attempt."""
    receipts: list[Answer] = []

    def is_accepted() -> bool:
        receipts.append(server.hand_in(student, written(server.folder)))
        return receipts[-1].status != 408

    until(is_accepted, "a notebook that arrives in time")
    assert receipts[-1].status == 202, receipts[-1]
    return bool(server.report(student, receipts[-1].json["id"])["report"]["points"] == 8)


def slow(name: str, seconds: float = 1) -> str:
    """A right answer that takes some seconds."""
    return f"import time\ntime.sleep({seconds})\ndef {name}():\n    return {['one', 'two', 'three'].index(name) + 1}"


def metric(server: Server, name: str) -> float:
    """A number that the service tells without a token."""
    lines = server.ask("/metrics").body.decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def await_uploads(server: Server, number: int) -> None:
    """Wait until this number of bytes of unfinished hand-ins is in memory."""
    until(lambda: metric(server, "grader_upload_bytes") == number, "the bytes")


def stored(server: Server, student: str) -> int:
    """How many bytes of a student's hand-ins are stored."""
    with sqlite3.connect(server.folder / DATABASE) as database:
        query = "select coalesce(sum(length(content)), 0) from hand_in where student = ?"
        return int(database.execute(query, [student]).fetchone()[0])


@pytest.mark.slow
def test_requests_per_minute_are_counted_for_each_student(server: Server) -> None:
    """A flood is slowed down, with a number of seconds to wait; other students are served as before."""
    answers = [server.ask("/", "cat") for _ in range(PER_MINUTE + 10)]
    refused = [each for each in answers if each.status == 429]
    assert refused and int(refused[-1].headers["Retry-After"]) >= 1 and "in a minute" in refused[-1].json["error"]
    assert answers[PER_MINUTE - 1].status == 200 and server.ask("/", "dan").status == 200


@pytest.mark.slow
def test_requests_at_once_are_counted_for_each_student(server: Server) -> None:
    """A student who waits for more reports at a time is refused, and those that wait are answered."""
    for seconds in (1.5, 6, 24):  # a busy machine may have graded before three requests have come and a fourth is sent
        key = server.hand_in("gus", written(server.folder, two=slow("two", seconds))).json["id"]
        wait = f"GET /hand-in/{key}?wait=60 HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN"
        with ExitStack() as stack:
            waiting = [stack.enter_context(raw(server, wait, student="gus")) for _ in range(AT_ONCE)]
            error = ""
            while not error and not select.select(waiting[:1], [], [], seconds / 10)[0]:
                error = server.ask("/", "gus").json.get("error", "")
            assert server.ask("/", "dan").status == 200
            assert {answer(connection)[0] for connection in waiting} == {200}
        if error:
            break
    assert "at a time" in error
    assert server.ask("/", "gus").status == 200


@pytest.mark.slow
def test_requests_at_once_include_those_of_a_client_that_hung_up(server: Server) -> None:
    """As long as a notebook waits for the disk, it is in memory and counts, whether or not anyone wants the receipt."""
    with closing(sqlite3.connect(server.folder / DATABASE, timeout=HANGS)) as disk:
        disk.execute("begin immediate")
        with ExitStack() as stack:
            for _ in range(AT_ONCE):
                stack.enter_context(raw(server, f"{POST}{len(EMPTY)}", EMPTY, student="hal"))
            await_uploads(server, len(EMPTY) * AT_ONCE)
        until(lambda: metric(server, "grader_connections") == 1, "the end of the connections")
        assert "at a time" in server.ask("/", "hal").json["error"]
        await_uploads(server, len(EMPTY) * AT_ONCE)
    assert gets_through(server, "ann")
    until(lambda: server.ask("/", "hal").status == 200, "the end of the requests")


def refused_at_last(server: Server, student: str, reason: str, blanks: int = 0, *, both: bool = False) -> list[Answer]:
    """Hand in notebooks that take a second until one is refused for a reason, and return all answers."""
    answers: list[Answer] = []
    numbers = count()

    def is_refused() -> bool:
        text = f"{slow('two')}\n#{next(numbers)}"
        answers.append(server.hand_in(student, written(server.folder, two=text) + b" " * blanks))
        if both:
            answers.append(server.hand_in(student, other(server.folder, text.replace("two", "three")), name="other"))
        assert stored(server, student) <= 2**20
        return reason in answers[-1].json.get("error", "")

    until(is_refused, "a refusal")
    assert answers[-1].status == 429 and answers[-1].headers["Retry-After"]
    return answers


def test_waiting_hand_ins_are_counted_for_each_student(server: Server) -> None:
    """While one job of fay runs and others wait, further ones are refused, and another student's report comes."""
    refused_at_last(server, "fay", f"{WAITING} of your notebooks are waiting", both=True)
    assert gets_through(server, "ann")


@pytest.mark.slow
def test_student_mb_of_one_fill_no_disk(server: Server) -> None:
    """The notebooks that wait for eve's slow job have a budget of bytes, and a further one is refused in words."""
    answers = refused_at_last(server, "eve", "all the space", LARGE)
    assert gets_through(server, "ann")
    assert server.report("eve", answers[0].json["id"])["state"] == "graded"


def test_upload_mb_are_not_filled_by_two_students(server: Server) -> None:
    """eve and fay send slowly as much as the service takes, and a third student's notebook is accepted."""
    half, head = b"{" * 2**19, f"{POST}{2**19 + 1}"
    with ExitStack() as stack:
        for number, student in enumerate(("eve", "eve", "fay"), 1):
            stack.enter_context(raw(server, head, half, student=student))
            await_uploads(server, number * 2**19)
        assert answer(raw(server, head, half, student="fay"))[0] == 503
        assert gets_through(server, "ann")
    await_uploads(server, 0)


@pytest.mark.slow
def test_connections_have_room_beside_a_silent_crowd(server: Server) -> None:
    """Five times as many silent connections as there is room for: a notebook is graded meanwhile."""
    with ExitStack() as crowd:
        for _ in range(5 * CONNECTIONS):
            crowd.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=HANGS))
        assert gets_through(server, "bob")
        assert 1 < metric(server, "grader_connections") <= CONNECTIONS


def test_health_and_metrics_take_nothing_from_the_disk(server: Server) -> None:
    """While a disk hangs, and a student waits for it, both are answered: so a flood of them delays no one there."""
    with closing(sqlite3.connect(server.folder / DATABASE, timeout=HANGS)) as disk:
        disk.execute("begin immediate")
        waits = raw(server, f"{POST}{len(EMPTY)}", EMPTY, student="ivy")
        await_uploads(server, len(EMPTY))
        assert server.ask("/health").json["status"] == "ok" and not select.select([waits], [], [], 0)[0]
    assert answer(waits)[0] == 202


@pytest.mark.slow
def test_header_and_body_seconds_of_a_slow_client_cost_no_other(hasty: Server) -> None:
    """A silent connection is closed; a slow notebook is given up, and its student reads why; another is graded."""
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=HANGS) as silent:
        slow_client = raw(hasty, f"{POST}1000", b"{", student="eve")
        assert gets_through(hasty, "ann")
        assert silent.recv(1) == b""
    status, body = answer(slow_client)
    assert status == 408 and "within 1 seconds" in body["error"]


@pytest.mark.slow
def test_wait_seconds_of_a_patient_client_cost_no_other(hasty: Server) -> None:
    """It hears of the state before there is a report; another student's notebook is graded meanwhile."""
    for seconds in (2, 4, 8):  # a busy machine may have graded before the request comes
        key = hasty.hand_in("eve", written(hasty.folder, two=slow("two", seconds))).json["id"]
        patient = raw(
            hasty, f"GET /hand-in/{key}?wait=9999 HTTP/1.1\nHost: x\nAuthorization: Bearer TOKEN", student="eve"
        )
        assert gets_through(hasty, "ann")
        status, body = answer(patient)
        assert status == 200
        if body["state"] != "graded":
            break
    assert body["state"] in ("waiting", "grading")
