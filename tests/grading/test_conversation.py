"""What one student's answers came to holds for the next with the same; whoever answers otherwise is judged anew."""

import socket
from pathlib import Path

import pytest
from notebooks import answer, answered, check, helpers, hidden, notebook

from course.grading import examiners
from course.grading.conversation import MAX_REMEMBERED, Conversation, Memory, Unrepeatable
from course.grading.grade import grade
from course.grading.wire import Channel, encode

RIGHT = "def double(x):\n    return 2 * x"
TEST = """
with open({runs!r}, "a") as file:
    file.write("x")
g = torch.Generator()
seed = g.seed()
x = torch.randn(3, generator=g)
assert torch.equal(double(x), 2 * x), f"not twice (seed {{seed}})"
assert double(1) == 2, f"one is not doubled (seed {{seed}})"
"""


@pytest.fixture
def runs(tmp_path):
    """A file that the hidden test adds a letter to each time it runs, and examiners who remember nothing yet."""
    examiners.dismiss()
    yield tmp_path / "runs"
    examiners.dismiss()


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


def test_the_same_answers_come_to_the_same_without_the_test(runs):
    """The test runs for the first of two who answer alike, however differently they write."""
    source = exercise(runs)
    first, second = result(source, RIGHT), result(source, "def double(number):\n    return number + number")
    assert first == second and first.verdict == "passed"
    assert runs.read_text() == "x"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("def double(x):\n    return x", "not twice"),
        ("def double(x):\n    return 3 if x is 1 else x + x", "one is not doubled"),
        ("double = 2", "not callable"),
        ("def double(x):\n    raise KeyError(7)", "KeyError"),
        ("", "not defined"),
    ],
)
def test_other_answers_are_judged_anew(runs, wrong, says):
    """A wrong answer after right ones is wrong, a right one after wrong ones right; and so the next time round."""
    source = exercise(runs)
    for _ in range(2):
        assert result(source, RIGHT).verdict == "passed"
        assert result(source, wrong).points == 0
        assert says in result(source, wrong).log + result(source, wrong).message
    assert len(runs.read_text()) <= 3


def test_where_it_was_raised_is_each_students_own(runs):
    """Two raise the same error at another place: each is told their own line."""
    source = exercise(runs)
    lines = ["raise ValueError('no')", "raise ValueError('no')  # here"]
    for line in lines:
        assert line in result(source, f"def double(x):\n    {line}").message


def test_all_get_the_same_numbers(runs):
    """Whoever examines them, today or next week: a score is no matter of luck."""
    source = exercise(runs)
    messages = []
    for _ in range(2):
        messages.append(result(source, "def double(x):\n    return x").message)
        examiners.dismiss()
    assert "seed" in messages[0] and messages[0] == messages[1]


def test_another_test_draws_other_numbers(runs):
    """Whoever edits a test gets new ones."""
    wrong = "def double(x):\n    return x"
    messages = [result(exercise(runs, test), wrong).message for test in (TEST, f"{TEST}\n", TEST)]
    assert messages[0] == messages[2] != messages[1]


def test_a_test_that_says_something_else_each_time_still_judges(runs):
    """It cannot be remembered, so it runs for everybody; right stays right and wrong stays wrong."""
    restless = TEST.replace("torch.randn(3, generator=g)", "torch.full((3,), float(len(open({runs!r}).read())))")
    source = exercise(runs, restless)
    for _ in range(2):
        assert result(source, RIGHT).verdict == "passed"
        assert result(source, "def double(x):\n    return -x").verdict == "failed"
    assert len(runs.read_text()) >= 4


def test_what_a_test_leaves_for_the_next_is_made_for_everybody(runs):
    """Tests that share a model of the student's run each time, and the second sees what the first has done to it."""
    source = notebook(
        helpers("imports", "import torch\nfrom torch import nn"),
        answer("make", "def make():\n    return nn.Linear(1, 1)"),
        check("make-check", "model = make()\nwith torch.no_grad():\n    model.weight.fill_(3)"),
        hidden("make-test-other", "Makes a layer.", "assert make().weight.shape == (1, 1)"),
        hidden("make-test-kept", "Keeps its weight.", "assert model.weight.item() == 3\nmodel(torch.ones(1, 1))"),
    )
    for _ in range(2):
        assert [str(result.verdict) for result in grade(source, source).results] == ["passed"] * 3


@pytest.fixture
def ends():
    """The examiner's end of a wire and the candidate's, and the socket behind that."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours), Channel(theirs), theirs


def remembered(ends, memory: Memory, *answers) -> Conversation:
    """A conversation in which a test said 1, 2, … and was answered so, and found that it ended there."""
    ours, theirs, _ = ends
    conversation = Conversation(ours, memory.of(b"test"))
    for number, said in enumerate(answers, 1):
        theirs.send(said, [])
        conversation.send(number, [])
        assert conversation.receive()[0] == said and theirs.receive()[0] == number
    conversation.came_to(f"after {answers}")
    return conversation


def test_the_next_words_come_after_the_same_answer_only(ends):
    """Who answers otherwise than those before hears nothing of what was said to them."""
    memory = Memory()
    remembered(ends, memory, "a", "b")
    ours, theirs, socket_of_theirs = ends
    theirs.send("another", [])
    conversation = Conversation(ours, memory.of(b"test"))
    assert conversation.found_before() is None
    assert theirs.receive()[0] == 1
    with pytest.raises(BlockingIOError):
        socket_of_theirs.recv(1, socket.MSG_DONTWAIT)
    # The test itself goes on: what it says first was said, what it says then is new.
    conversation.send(1, [])
    assert conversation.receive()[0] == "another"
    conversation.send("two", [])
    assert theirs.receive()[0] == "two"


def test_both_ways_are_remembered(ends):
    """As a tree: what was found after one answer does not push out what was found after another."""
    memory = Memory()
    remembered(ends, memory, "a", "b")
    remembered(ends, memory, "a", "c")
    ours, theirs, _ = ends
    for second in "bcb":
        theirs.send("a", [])
        theirs.send(second, [])
        assert Conversation(ours, memory.of(b"test")).found_before() == f"after {('a', second)}"
        assert [theirs.receive()[0], theirs.receive()[0]] == [1, 2]


def test_other_words_after_the_same_answers_are_noticed(ends):
    """At any point, and where the test ends earlier or goes on longer."""
    memory = Memory()
    remembered(ends, memory, "a")
    ours, theirs, _ = ends
    with pytest.raises(Unrepeatable):
        Conversation(ours, memory.of(b"test")).send("other words", [])
    with pytest.raises(Unrepeatable):
        Conversation(ours, memory.of(b"test")).came_to("an early end")
    with pytest.raises(Unrepeatable):
        remembered(ends, memory, "a", "b")
    memory.distrust(b"test")
    assert memory.of(b"test") is None


def test_a_memory_is_bounded():
    """When it is full, it starts anew; a test that did not repeat itself is not trusted again."""
    memory = Memory()
    memory.of(b"good").says = encode("something", [])
    memory.distrust(b"bad")
    memory.name(b"mistake", None)
    memory.count(MAX_REMEMBERED)
    assert memory.of(b"good").says is None and memory.of(b"bad") is None and not memory.names


def test_what_one_student_writes_into_our_values_is_gone_for_the_next(runs):
    """A tensor of a read-only cell that a test hands over is a copy: nobody's points depend on who came before."""
    source = exercise(runs, "assert torch.equal(double(ours), torch.tensor([2.0, 4.0])), 'not twice'")
    source.cells[0].source += "\nours = torch.tensor([1.0, 2.0])"
    spoiler = "def double(x):\n    y = 2 * x\n    x.zero_()\n    return y"
    for answer_ in (spoiler, RIGHT, spoiler, RIGHT):
        assert result(source, answer_).verdict == "passed"
    assert result(source, "def double(x):\n    return 0 * x").points == 0


def test_a_test_finds_our_values_as_the_read_only_cell_left_them(runs):
    """What was written into them in an earlier test makes no difference, and so does nobody's zero."""
    source = exercise(runs, "double(ours)\nassert torch.equal(double(ours), 2 * torch.tensor([1.0, 2.0])), 'spoiled'")
    source.cells[0].source += "\nours = torch.tensor([1.0, 2.0])"
    source.cells.append(hidden("double-test-again", "Once more.", "assert torch.equal(ours, torch.tensor([1.0, 2.0]))"))
    grades = grade(source, answered(source, double="def double(x):\n    return x.zero_()")).results
    assert [result.verdict for result in grades[-2:]] == ["failed", "passed"]
