"""Shows that code with a known misconception gets its name, and that no other code gets one."""

import pytest
import torch

from grader.engine.diagnosis.diagnosis import Diagnosis, DiagnosisCache
from grader.engine.diagnosis.misconceptions import KnownMisconceptions, Misconception
from grader.engine.diagnosis.recording import MAX_BYTES, MAX_EXCHANGES, Recorder
from grader.engine.grading import grade
from grader.engine.rpc.channel import encode
from grader.engine.rpc.objects.handles import ObjectHandle, ObjectRef, VerbRef
from grader.engine.rpc.protocol import Call, Returned
from tests.support import notebooks
from tests.support.notebooks import with_answer
from tests.support.scale_notebook import SOLUTION, SOURCE

FORGETS = Misconception("scale", "forgets to add one", " + 1", "", "Nothing was added.")
DIVIDES = Misconception("scale", "divides by the weight", "x * self", "x / self", "You divided.")
CRASHES = Misconception("scale", "transposes the numbers", "x * self", "x.T * self", "Leave x as it is.")
REFUSES = Misconception("scale", "refuses", "return x", "raise ValueError('No.')\nreturn x", "Take any x.")
STALE = Misconception("scale", "fits no more", "x ** self", "x", "This edit fits nothing.")


def graded(answer: str) -> tuple[float, str]:
    """Return the points and all messages for an answer."""
    report = grade(
        SOURCE, with_answer(SOURCE, "scale", answer), misconceptions=[FORGETS, STALE, CRASHES, REFUSES, DIVIDES]
    )
    return report.points, " ".join(result.message for result in report.results)


@pytest.mark.parametrize("misconception", [FORGETS, DIVIDES, CRASHES], ids=lambda misconception: misconception.name)
def test_a_known_misconception_is_named_in_any_style(misconception: Misconception) -> None:
    """Only behaviour counts: the student's code is written differently and draws its parameters in another way."""
    answer = misconception.apply(SOLUTION).replace("torch.rand(width)", "torch.randn(width).abs() + 0.1")
    points, message = graded(answer.replace("return x", "number = x").rstrip() + "\n        return number\n")
    assert points == 0
    assert f"Your code behaves exactly like one that {misconception.name}. {misconception.hint}" in message


def test_two_misconceptions_at_once_are_both_named() -> None:
    """Where no single one explains the code, and only this pair does. A right answer gets no message."""
    points, message = graded(SOLUTION)
    assert points > 0 and message == ""
    points, message = graded(DIVIDES.apply(FORGETS.apply(SOLUTION)))
    assert points == 0
    both = f"one that {FORGETS.name} and that {DIVIDES.name}. {FORGETS.hint} {DIVIDES.hint}"
    assert f"These could be two mistakes at once: your code behaves like {both}" in message
    assert "exactly" not in message


def test_a_misconception_has_no_name_if_another_cause_predicts_the_same() -> None:
    """Its hint might accuse a student of something that the code does not do."""
    twin = Misconception("scale", "multiplies by a reciprocal", "* self.weight", "* (1 / self.weight) ", "Divide once.")
    answer = with_answer(SOURCE, "scale", DIVIDES.apply(SOLUTION))
    for known, is_named in (([DIVIDES], True), ([twin, FORGETS], True), ([DIVIDES, twin], False)):
        [result] = grade(SOURCE, answer, misconceptions=known).results
        assert ("behaves exactly like" in result.message) == is_named


WALK = "def walk(step, n):\n    x = 1.0\n    for _ in range(n):\n        x = step(x)\n    return x\n"
WALKS = notebooks.notebook(
    notebooks.helpers("imports", "import torch"),
    notebooks.answer("walk", f"### BEGIN SOLUTION\n{WALK}### END SOLUTION"),
    notebooks.hidden(
        "walk-test-far", "It goes n steps.", "assert walk(lambda x: x + torch.ones(()), 3) == 4, 'too near'"
    ),
)
SHORT = Misconception("walk", "leaves out a step", "range(n)", "range(n - 1)", "All n count.")
RESTS = Misconception("walk", "goes on from the start", "step(x)", "step(1.0)", "Go on from where you are.")
TURNS = Misconception("walk", "asks once more than it goes", "return x", "step(x)\nreturn x - 1", "Ask n times.")


@pytest.mark.parametrize("misconception", [SHORT, RESTS, TURNS], ids=lambda misconception: misconception.name)
def test_a_misconception_shows_in_the_callbacks_to_the_test(misconception: Misconception) -> None:
    """Code behaves alike only if it calls the test's function with the same arguments and returns the same result."""
    answer = with_answer(WALKS, "walk", misconception.apply(WALK).replace("x", "place"))
    [result] = grade(WALKS, answer, misconceptions=[TURNS, RESTS, SHORT]).results
    assert misconception.hint in result.message
    others = [other for other in (SHORT, RESTS, TURNS) if other is not misconception]
    [result] = grade(WALKS, answer, misconceptions=others).results
    assert result.points == 0 and "exactly like" not in result.message


def test_an_error_raised_on_purpose_may_have_another_message() -> None:
    """An error of the same class at the same call is the same behaviour, whatever its message says."""
    _, message = graded(SOLUTION.replace("return x", "raise ValueError('not today')\n        return x"))
    assert f"one that {REFUSES.name}." in message


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
)
def test_a_mistake_that_is_not_listed_gets_no_name(answer: str) -> None:
    """No name is better than a wrong one."""
    points, message = graded(answer)
    assert points == 0 and message and "behaves exactly like" not in message


def test_a_misconception_answers_each_call_once() -> None:
    """Its answer to one student's calls is cached, and leads to the same name for the next student."""
    cells = [("imports", "import torch"), ("twice", "def twice(x):\n    return x * 2")]
    thrice = Misconception("twice", "adds it three times", "x * 2", "asked.append(x) or x * 3", "Two are enough.")
    asked: list[torch.Tensor] = []
    cache = DiagnosisCache()

    def named(*answers: torch.Tensor, name: str = "twice") -> tuple[Misconception, ...]:
        """Return the misconceptions of code that answers `twice(tensor([1, 2]))` so, once for each of `answers`."""
        names = {"dict": [["twice", {"handle": ObjectHandle(object_id=0, name=name, is_callable=True)}]]}
        exchanges = [
            (_call(VerbRef(verb="look"), ["twice"], None, graph=0, new=True), encode(Returned(value=names), [])),
            *(
                (_call(ObjectRef(object_id=0), torch.tensor([1.0, 2.0]), graph=1), _returned(answer))
                for answer in answers
            ),
        ]
        diagnosis = Diagnosis(KnownMisconceptions(cells, [thrice]), cache)
        diagnosis._namespace["asked"] = asked
        return diagnosis.find("twice", exchanges)

    assert named(torch.tensor([3.0, 6.0])) == (thrice,) and len(asked) == 1
    assert named(torch.tensor([3.0, 7.0])) == () and len(asked) == 1
    assert named(torch.tensor([2.0, 4.0])) == () and len(asked) == 1
    # Of a student's earlier answers, only objects affect the later calls, and their names do not.
    again = torch.tensor([3.0, 6.0])
    assert named(again, again) == (thrice,) and len(asked) == 3
    assert named(again + 1e-6, again) == (thrice,) and len(asked) == 3
    assert named(again, again, name="double") == (thrice,) and len(asked) == 3


def _call(target: ObjectRef | VerbRef, *arguments: object, graph: int, new: bool = False) -> bytes:
    """The message of a call with plain arguments and tensors."""
    tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
    plain = [{"tensor": 0} if isinstance(argument, torch.Tensor) else argument for argument in arguments]
    call = {"tuple": [{"handle": target}, {"tuple": plain}, {"dict": []}]}
    return encode(Call(session=0, call=call, graph=graph, new=new, grad_enabled=False), tensors)


def _returned(answer: torch.Tensor) -> bytes:
    return encode(Returned(value={"tensor": 0}), [answer])


def test_what_is_kept_is_bounded() -> None:
    """After an exchange that is too large, the rest is left out, and so are later tests in the same session."""
    large, small = (b"", bytes(MAX_BYTES)), (b"sent", b"received")
    recorder = Recorder()
    recorder.keep("scale", 1, [small, large, small])
    recorder.keep("scale", 1, [small])
    assert recorder.exchanges["scale"] == [small]
    recorder = Recorder()
    recorder.keep("scale", 0, [small] * (MAX_EXCHANGES + 1))
    recorder.keep("scale", 0, [small])
    assert len(recorder.exchanges["scale"]) == MAX_EXCHANGES + 1
