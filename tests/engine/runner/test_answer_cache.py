"""An outcome is reused where the same answers led to it before; other answers are judged by the test itself."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.engine.diagnosis import diagnosis
from grader.engine.grading import grade
from grader.engine.rpc.channel import FROM_SANDBOX, TO_SANDBOX, Channel, encode
from grader.engine.rpc.protocol import CellDone, RunCell, Text
from grader.engine.runner.answer_cache import MAX_REMEMBERED, AnswerCache, NonDeterministicTest, Session
from tests.support.idle import end_runners
from tests.support.notebooks import answer, answered, check, helpers, hidden, notebook

RIGHT = "def double(x):\n    return 2 * x"
TEST = """
with open({runs!r}, "a") as file:
    file.write("x")
g = torch.Generator()
g.seed()
x = torch.randn(3, generator=g)
assert torch.equal(double(x), 2 * x), "your vector should be twice as long"
assert double(1) == 2, "one is not doubled"
"""


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Path]:
    """A file to which the hidden test adds a letter each time it runs, and runners that remember nothing yet."""
    end_runners()
    yield tmp_path / "runs"
    end_runners()


def exercise(runs: Path, test: str = TEST):
    """An exercise whose hidden test runs once for every letter in the file `runs`."""
    return notebook(
        helpers("imports", "import torch"),
        answer("double", RIGHT),
        hidden("double-test-all", "Everything is doubled.", test.format(runs=str(runs))),
    )


def result(source, double: str):
    """The result of the hidden test for this answer."""
    return grade(source, answered(source, double=double)).results[-1]


def test_the_same_answers_lead_to_the_same_outcome_without_the_test(runs):
    """The test runs for the first of two submissions that answer alike, however differently they are written."""
    source = exercise(runs)
    first, second = result(source, RIGHT), result(source, "def double(number):\n    return number + number")
    assert first == second and first.verdict == "passed"
    assert runs.read_text() == "x"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "explanation"),
    [
        ("def double(x):\n    return x", "twice as long"),
        ("def double(x):\n    return 3 if x is 1 else x + x", "one is not doubled"),
        ("double = 2", "not callable"),
        ("def double(x):\n    raise KeyError(7)", "KeyError"),
        ("", "not defined"),
    ],
)
def test_other_answers_are_judged_by_the_test(runs, wrong, explanation):
    """A wrong answer after right ones is wrong, and a right one after wrong ones is right, also the second time."""
    source = exercise(runs)
    for _ in range(2):
        assert result(source, RIGHT).verdict == "passed"
        assert result(source, wrong).points == 0
        assert explanation in result(source, wrong).log + result(source, wrong).message
    assert len(runs.read_text()) <= 3


def test_an_exception_is_shown_at_each_students_own_line(runs):
    """Two submissions raise the same error in lines of their own; each message shows the line of its submission."""
    source = exercise(runs)
    lines = ["raise ValueError('no')", "raise ValueError('no')  # here"]
    for line in lines:
        assert line in result(source, f"def double(x):\n    {line}").message


@pytest.mark.slow
def test_every_runner_draws_the_same_numbers(runs):
    """A score does not depend on luck: the seed follows from the text of the test. No message has it."""
    seeds = []
    for test in (TEST, f"{TEST}\n", TEST):
        failed = result(exercise(runs, test), "def double(x):\n    return x")
        [seed] = failed.seeds
        assert str(seed) not in failed.message and "twice as long" in failed.message
        seeds.append(seed)
        end_runners()
    assert seeds[0] == seeds[2] != seeds[1]


@pytest.mark.slow
def test_a_test_that_sends_something_else_each_time_still_judges(runs):
    """Its outcomes cannot be cached, so it runs for every submission; right stays right and wrong stays wrong."""
    restless = TEST.replace("torch.randn(3, generator=g)", "torch.full((3,), float(len(open({runs!r}).read())))")
    source = exercise(runs, restless)
    for _ in range(2):
        assert result(source, RIGHT).verdict == "passed"
        assert result(source, "def double(x):\n    return -x").verdict == "failed"
    assert len(runs.read_text()) >= 4


def test_objects_that_tests_share_are_made_for_each_submission(runs):
    """Tests that share a student's model run each time, and the second sees what the first has done to the model."""
    source = notebook(
        helpers("imports", "import torch\nfrom torch import nn"),
        answer("make", "def make():\n    return nn.Linear(1, 1)"),
        check("make-check", "model = make()\nwith torch.no_grad():\n    model.weight.fill_(3)"),
        hidden("make-test-other", "Makes a layer.", "assert make().weight.shape == (1, 1)"),
        hidden("make-test-kept", "Keeps its weight.", "assert model.weight.item() == 3\nmodel(torch.ones(1, 1))"),
    )
    for _ in range(2):
        assert [str(result.verdict) for result in grade(source, source).results] == ["passed"] * 3


def request(name: object) -> RunCell:
    """One of the messages that a test sends."""
    return RunCell(source="", name=str(name))


def reply(text: str) -> CellDone:
    """One of the answers that a sandbox gives."""
    return CellDone(outputs=[Text(text=text)])


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel, socket.socket]]:
    """The runner's channel and the sandbox's, and the sandbox's socket."""
    runner, sandbox = socket.socketpair()
    with runner, sandbox:
        yield Channel(runner, FROM_SANDBOX), Channel(sandbox, TO_SANDBOX), sandbox


def cached(ends, cache: AnswerCache, *answers: str) -> None:
    """Hold the session of a test that sends 1, 2, … and gets these answers, and cache its outcome."""
    runner, sandbox, _ = ends
    session = Session(runner, cache.root(b"test"))
    for number, text in enumerate(answers, 1):
        sandbox.send(reply(text), [])
        session.send(request(number), [])
        assert session.receive()[0] == reply(text) and sandbox.receive()[0] == request(number)
    session.end(f"after {answers}")


def test_a_message_is_sent_again_only_after_the_same_answer(ends):
    """A sandbox that answers otherwise than earlier ones receives nothing of what was sent to those."""
    cache = AnswerCache()
    cached(ends, cache, "a", "b")
    runner, sandbox, sandbox_socket = ends
    sandbox.send(reply("another"), [])
    session = Session(runner, cache.root(b"test"))
    assert session.known_outcome() is None
    assert sandbox.receive()[0] == request(1)
    with pytest.raises(BlockingIOError):
        sandbox_socket.recv(1, socket.MSG_DONTWAIT)
    # The test itself goes on: its first message was sent already, its next one is new.
    session.send(request(1), [])
    assert session.receive()[0] == reply("another")
    session.send(request("two"), [])
    assert sandbox.receive()[0] == request("two")


def test_outcomes_after_different_answers_are_cached_side_by_side(ends):
    """As a tree: the outcome after one answer does not replace the outcome after another."""
    cache = AnswerCache()
    cached(ends, cache, "a", "b")
    cached(ends, cache, "a", "c")
    runner, sandbox, _ = ends
    for second in "bcb":
        sandbox.send(reply("a"), [])
        sandbox.send(reply(second), [])
        assert Session(runner, cache.root(b"test")).known_outcome() == f"after {('a', second)}"
        assert [sandbox.receive()[0], sandbox.receive()[0]] == [request(1), request(2)]


def test_another_message_after_the_same_answers_is_noticed(ends):
    """At any point, and where the test ends earlier or goes on longer."""
    cache = AnswerCache()
    cached(ends, cache, "a")
    runner = ends[0]
    with pytest.raises(NonDeterministicTest):
        Session(runner, cache.root(b"test")).send(request("other"), [])
    with pytest.raises(NonDeterministicTest):
        Session(runner, cache.root(b"test")).end("an early end")
    with pytest.raises(NonDeterministicTest):
        cached(ends, cache, "a", "b")
    cache.distrust(b"test")
    assert cache.root(b"test") is None


def test_a_cache_is_bounded():
    """When it is full, it starts empty again; a test that did not repeat itself is not trusted again."""
    cache = AnswerCache()
    cache.root(b"good").sends = encode(request("something"), [])
    cache.distrust(b"bad")
    cache.count(MAX_REMEMBERED)
    assert cache.root(b"good").sends is not None
    cache.count(1)
    assert cache.root(b"good").sends is None and cache.root(b"bad") is None


def test_the_cache_of_diagnoses_is_bounded(monkeypatch):
    """It has a budget of its own, and starts empty again when that is used up."""
    monkeypatch.setattr(diagnosis, "MAX_REMEMBERED", 2 * diagnosis.ENTRY_BYTES)
    cache = diagnosis.DiagnosisCache()
    cache.keep(cache.names, b"first", ())
    cache.keep(cache.names, b"second", ())
    assert cache.names.keys() == {b"first", b"second"}
    cache.keep(cache.answers, b"third", (CellDone(), []))
    assert not cache.names and cache.answers.keys() == {b"third"}


@pytest.mark.slow
def test_a_write_into_an_instructors_value_does_not_reach_the_next_student(runs):
    """Nor the next test: what a read-only cell made and a test hands over is a copy, whatever ran before."""
    source = exercise(runs, "assert torch.equal(double(given), torch.tensor([2.0, 4.0])), 'twice as long'")
    source.cells[0].source += "\ngiven = torch.tensor([1.0, 2.0])"
    again = hidden("double-test-again", "Once more.", "assert torch.equal(given, torch.tensor([1.0, 2.0]))")
    source.cells.append(again)
    spoiler = "def double(x):\n    y = 2 * x\n    x.zero_()\n    return y"
    for body, points in (
        (spoiler, 1),
        (RIGHT, 1),
        (spoiler, 1),
        (RIGHT, 1),
        ("def double(x):\n    return x.zero_()", 0),
    ):
        assert [each.points for each in grade(source, answered(source, double=body)).results] == [points, 1]
