"""Who makes a known mistake is told which; nobody is told a mistake that is not there."""

import notebooks
import pytest
import torch

from course.grading.conversation import Memory
from course.grading.diagnosis import Diagnosis
from course.grading.grade import grade
from course.grading.notebook import with_answer
from course.grading.recorder import MAX_BYTES, MAX_EXCHANGES, Recorder
from course.grading.suspects import Suspects
from course.grading.wire import encode
from course.misconceptions import Misconception

SOLUTION = """
class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width))

    def forward(self, x):
        return x * self.weight + 1
"""
SOURCE = notebooks.notebook(
    notebooks.helpers("imports", "import torch\nfrom torch import nn"),
    notebooks.answer("scale", f"### BEGIN SOLUTION{SOLUTION}### END SOLUTION"),
    notebooks.hidden(
        "scale-test-values",
        "Every number is scaled, and one is added.",
        "layer, x = Scale(3), torch.rand(5, 3)\n"
        "assert torch.allclose(layer(x), x * layer.weight + 1), 'the values are not right'",
    ),
)
FORGETS = Misconception("scale", "forgets to add one", (" + 1", ""), "Nothing was added.")
DIVIDES = Misconception("scale", "divides by the weight", ("x * self", "x / self"), "You divided.")
CRASHES = Misconception("scale", "transposes the numbers", ("x * self", "x.T * self"), "Leave x as it is.")
REFUSES = Misconception("scale", "refuses", ("return x", "raise ValueError('No.')\n        return x"), "Take any x.")
STALE = Misconception("scale", "fits no more", ("x ** self", "x"), "This edit fits nothing.")


def told(answer: str) -> tuple[float, str]:
    """Points and all messages for an answer."""
    report = grade(
        SOURCE, with_answer(SOURCE, "scale", answer), misconceptions=[FORGETS, STALE, CRASHES, REFUSES, DIVIDES]
    )
    return report.points, " ".join(result.message for result in report.results)


@pytest.mark.parametrize("mistake", [FORGETS, DIVIDES, CRASHES], ids=lambda mistake: mistake.name)
def test_a_known_mistake_is_named_in_any_style(mistake: Misconception) -> None:
    """What counts is behaviour: the student's code is written differently and draws its parameters otherwise."""
    other = mistake.applied_to(SOLUTION).replace("torch.rand(width)", "torch.randn(width).abs() + 0.1")
    points, words = told(other.replace("return x", "number = x").rstrip() + "\n        return number\n")
    assert points == 0
    assert f"Your code behaves exactly like one that {mistake.name}. {mistake.say}" in words


WALK = "def walk(step, n):\n    x = 1.0\n    for _ in range(n):\n        x = step(x)\n    return x\n"
WALKS = notebooks.notebook(
    notebooks.helpers("imports", "import torch"),
    notebooks.answer("walk", f"### BEGIN SOLUTION\n{WALK}### END SOLUTION"),
    notebooks.hidden(
        "walk-test-far", "It goes n steps.", "assert walk(lambda x: x + torch.ones(()), 3) == 4, 'too near'"
    ),
)
SHORT = Misconception("walk", "leaves out a step", ("range(n)", "range(n - 1)"), "All n count.")
RESTS = Misconception("walk", "goes on from the start", ("step(x)", "step(1.0)"), "Go on from where you are.")
TURNS = Misconception("walk", "asks once more than it goes", ("return x", "step(x)\n    return x - 1"), "Ask n times.")


@pytest.mark.parametrize("mistake", [SHORT, RESTS, TURNS], ids=lambda mistake: mistake.name)
def test_a_mistake_in_what_is_asked_of_a_function_of_the_test_is_named(mistake: Misconception) -> None:
    """Code that calls back makes a mistake if it asks the same and answers the same; who asks otherwise does not."""
    answer = mistake.applied_to(WALK).replace("x", "place")
    [result] = grade(WALKS, with_answer(WALKS, "walk", answer), misconceptions=[TURNS, RESTS, SHORT]).results
    assert mistake.say in result.message
    others = [other for other in (SHORT, RESTS, TURNS) if other is not mistake]
    [result] = grade(WALKS, with_answer(WALKS, "walk", answer), misconceptions=others).results
    assert result.points == 0 and "exactly like" not in result.message


def test_an_error_raised_on_purpose_may_have_other_words() -> None:
    """Who raises the same kind where the mistake raises it made that mistake, whatever the message says."""
    _, words = told(SOLUTION.replace("return x", "raise ValueError('not today')\n        return x"))
    assert f"one that {REFUSES.name}." in words


def test_a_right_answer_is_told_nothing() -> None:
    """There is no mistake to name."""
    points, words = told(SOLUTION)
    assert points > 0 and words == ""


@pytest.mark.parametrize(
    "answer",
    [
        SOLUTION.replace("+ 1", "+ 2"),
        SOLUTION.replace("return x * self.weight + 1", "raise NotImplementedError"),
        SOLUTION.replace("self.weight", "self.scale"),
        SOLUTION.replace("x * self", "x[:, :2] * self"),
        SOLUTION.replace("return x", "raise RuntimeError('too wide')\n        return x"),
        "Scale = 3",
        "",
    ],
    ids=["unknown mistake", "blank", "other names", "another crash", "raises on purpose", "no class", "nothing"],
)
def test_a_mistake_that_nobody_listed_is_not_given_a_name(answer: str) -> None:
    """No name is better than a wrong one."""
    points, words = told(answer)
    assert points == 0 and words and "behaves exactly like" not in words


def test_our_code_answers_each_call_once() -> None:
    """What a mistake answered to one student's calls is remembered, and leads to the same name for the next."""
    cells = [("imports", "import torch"), ("twice", "def twice(x):\n    return x * 2")]
    thrice = Misconception("twice", "adds it three times", ("x * 2", "asked.append(x) or x * 3"), "Two are enough.")
    asked: list[torch.Tensor] = []
    memory = Memory()

    def named(*answers: torch.Tensor, name: str = "twice") -> Misconception | None:
        """The name for a student's code that answered so, again and again, to 'twice, of 1 and 2'."""
        call = {"ask": "call", "talk": 0, "wants": [], "grad": False, "modules": []}
        look = call | {"call": {"tuple": [_says(verb="look"), {"tuple": [["twice"], None]}, {"dict": []}]}}
        use = call | {"call": {"tuple": [_says(remote=0), {"tuple": [{"tensor": 0}]}, {"dict": []}]}}
        found = {"dict": [["twice", _says(remote=0, name=name, kind="callable")]]}
        exchanges = [
            (encode(look | {"new": True, "graph": 0}, []), encode({"done": found}, [])),
            *((encode(use | {"graph": 1}, [torch.tensor([1.0, 2.0])]), _done(answer)) for answer in answers),
        ]
        diagnosis = Diagnosis(Suspects(cells, [thrice]), memory)
        diagnosis._namespace["asked"] = asked
        return diagnosis.find("twice", exchanges)

    assert named(torch.tensor([3.0, 6.0])) == thrice and len(asked) == 1
    assert named(torch.tensor([3.0, 7.0])) is None and len(asked) == 1
    assert named(torch.tensor([2.0, 4.0])) is None and len(asked) == 1
    # Of another's answers only objects count for what ours says next, and their names do not.
    again = torch.tensor([3.0, 6.0])
    assert named(again, again) == thrice and len(asked) == 3
    assert named(again + 1e-6, again) == thrice and len(asked) == 3
    assert named(again, again, name="double") == thrice and len(asked) == 3


def _says(**said: object) -> dict[str, object]:
    return {"says": said}


def _done(answer: torch.Tensor) -> bytes:
    return encode({"done": {"tensor": 0}}, [answer])


def test_what_is_kept_is_bounded() -> None:
    """With too much in one exchange, what follows is left out; and then all that another test says of its objects."""
    large, small = (b"", bytes(MAX_BYTES)), (b"said", b"heard")
    recorder = Recorder()
    recorder.keep("scale", 1, [small, large, small])
    recorder.keep("scale", 1, [small])
    assert recorder.exchanges["scale"] == [small]
    recorder = Recorder()
    recorder.keep("scale", 0, [small] * (MAX_EXCHANGES + 1))
    recorder.keep("scale", 0, [small])
    assert len(recorder.exchanges["scale"]) == MAX_EXCHANGES + 1


def test_names_change_no_points() -> None:
    """With and without the list the same points are given."""
    wrong = with_answer(SOURCE, "scale", FORGETS.applied_to(SOLUTION))
    assert grade(SOURCE, wrong).points == grade(SOURCE, wrong, misconceptions=[FORGETS]).points == 0
