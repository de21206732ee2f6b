"""Shows that a sandbox whose replies are forged loses its own exercise and nothing else.

a reply of replies.py --written onto the socket by student code--> the grader --> points of both exercises
"""

import socket
import threading
from collections.abc import Callable

import pytest

from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.report import Report, Verdict
from grader.engine.rpc.channel import FROM_SANDBOX, Channel, decode, encode
from grader.engine.rpc.exceptions import to_data
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import BufferDescription, ModuleHandle, PartDescription
from grader.engine.rpc.protocol import ErrorInfo, Frame, Raised, Returned, RunCell
from grader.engine.runner.standins.client import RpcClient
from tests.attacks.build import LIMITS, RELEASED, RIGHT_DOUBLE, SOURCE, WRONG_SCALE, answered, appended, on_channel
from tests.attacks.replies import LIES, ODD
from tests.support.notebooks import answer, check, helpers, notebook, with_answer

HONEST = "a new Scale changes nothing"
"""Words of the visible test, which appear if it reaches the attacker's wrong Scale because no reply was forged."""
MODULE = """
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.full((d,), 3.0))

    def forward(self, x):
        return x * self.weight * 3
"""


def graded(forged: str, scale: str = WRONG_SCALE) -> Report:
    """Return the report on an attacker whose first answer is right and whose second one forges all later replies."""
    limits = Limits(cell_seconds=LIMITS["cell_seconds"], notebook_seconds=LIMITS["notebook_seconds"])
    return grade(SOURCE, appended(answered(RELEASED, RIGHT_DOUBLE, scale + on_channel(forged)), "'one more'"), limits)


def points(report: Report) -> list[float]:
    """Return the points of each test."""
    return [result.points for result in report.results]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("half of it", "no safetensors", "a request to run a cell", "an unknown value", "a dict of colliding keys"),
        *("a question for the names of a function", "the value 3", "a module in itself", "a buffer without a tensor"),
        *(
            "a write into no tensor",
            "states of no generator",
            "a random state of zeros",
            "own states that are not there",
        ),
        *("an error of kind 'KeyboardInterrupt'", "an error that fills its room"),
    ],
)
def test_a_forged_reply_costs_one_exercise(name: str) -> None:
    """The runner replaces the sandbox, goes on and keeps the earlier points; the student reads what happened.

    So it is with replies outside the protocol and with lies in it. All of them are decoded below.
    """
    report = graded(f"answer_by(lambda request, decoded: {(ODD | LIES)[name]!r})")
    assert points(report) == [1, 2, 2, 0, 0, 0] and HONEST not in report.results[3].message
    if name in ODD:
        assert report.results[3].verdict is Verdict.ERROR and "could not be read" in report.results[3].message


ASK: dict[str, Callable[[RpcClient], object]] = {
    "a cell": lambda client: client.run(RunCell(source="1", name="cell")),
    "a call": lambda client: client.fetch_names(["name"]),
    "gradients": lambda client: client.gradients_of(0, {}, None),
}


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_only_messages_of_the_protocol_are_decoded(ask: Callable[[RpcClient], object]) -> None:
    """Whatever the runner asks for, any other reply is a ProtocolError, and a lie is at worst an ordinary error."""
    assert [name for name, reply in ODD.items() if _error(ask, reply) is not ProtocolError] == []
    assert [name for name, reply in LIES.items() if not issubclass(_error(ask, reply), Exception)] == []


def _error(ask: Callable[[RpcClient], object], reply: bytes) -> type[BaseException]:
    """The class of the error that a reply leads to; Exception itself stands for none."""
    runner_end, sandbox_end = socket.socketpair()
    with runner_end, sandbox_end:
        sender = threading.Thread(target=lambda: (sandbox_end.sendall(reply), sandbox_end.shutdown(socket.SHUT_WR)))
        sender.start()
        try:
            ask(RpcClient(Channel(runner_end, FROM_SANDBOX)))
        except BaseException as error:
            return type(error)
        finally:
            sender.join()
    return Exception


CHANGES = "reply.effects = protocol.Effects(modules=[(module, protocol.ModuleChanges({}))])"
FORM = "reply.effects = protocol.Effects(modules=[(module, protocol.ModuleChanges(description=form({})))])"
LIES_ABOUT_A_CALL = {
    "a value of another shape": CHANGES.format("values=[('weight', add(torch.ones(7)), True)]"),
    "a value of whole numbers": CHANGES.format("values=[('weight', add(torch.ones(2).long()), True)]"),
    "a value that is not there": CHANGES.format("values=[('weight', 99, True)]"),
    "a value of nothing": CHANGES.format("values=[('bias', add(torch.ones(2)), True)]"),
    "a gradient of another shape": CHANGES.format("gradients=[('weight', add(torch.ones(7)))]"),
    "a gradient that is not there": CHANGES.format("gradients=[('weight', 99)]"),
    "a mode of nothing": CHANGES.format("training=[('part', False)], collecting=['bias']"),
    "changes of another module": "reply.effects = protocol.Effects(modules=[(module + 1, protocol.ModuleChanges())])",
    "a form without parts": FORM.format("parts=[]"),
    "a form without parameters": FORM.format("parts=[root]"),
    "a form that contains itself": FORM.format("parts=[root], aliases=[('part', '')]"),
    "a form that is a part": FORM.format("parts=[handles.PartDescription('a.b', module, 'm', 'Linear', True, [])]"),
    "a form of another object": FORM.format("parts=[handles.PartDescription('', 99, 'm', 'Linear', True, [])]"),
    "new parameters that are not there": "reply.grown = [(module, ['bias'])]",
    "new parameters of another module": "reply.grown = [(module + 1, ['weight'])]",
    "a parameter that is new a thousand times": "reply.grown = [(module, ['weight'] * 1_000)]",
    "a write of another shape": "reply.effects = protocol.Effects(written=[(0, add(torch.ones(7)))])",
    "a write of whole numbers": "reply.effects = protocol.Effects(written=[(0, add(torch.ones(2).long()))])",
    "a gradient of the input": "reply.effects = protocol.Effects(gradients=[(0, add(torch.ones(7)))])",
    "results that are differentiable twice": "reply.differentiable *= 2",
    "a result that is a parameter": "reply.leaves = [(0, True, True)]",
    "a result of whole numbers": "tensors[0] = tensors[0].long()",
    "a result on another place": "reply.value = {'tensor': add(torch.ones(2))}",
    "no result": "reply.value, tensors[:] = None, []",
}
"""Statements that change an honest reply to a call of a module, by what the reply claims then."""
LIES_ABOUT_GRADIENTS = {
    "none": "reply.tensors = []",
    "none of each": "reply.tensors = [None] * len(reply.tensors)",
    "too many": "reply.tensors *= 100",
    "of another shape": "tensors[:] = [torch.ones(7) for _ in tensors]",
    "of whole numbers": "tensors[:] = [torch.ones(1).long() for _ in tensors]",
    "that are not there": "reply.tensors = [99]",
    "that are not numbers": "tensors[:] = [tensor * float('nan') for tensor in tensors]",
}
"""The same for the reply with the gradients of a call."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "lie"),
    [
        *(pytest.param("Returned", lie, id=f"call: {name}") for name, lie in LIES_ABOUT_A_CALL.items()),
        *(pytest.param("Gradients", lie, id=f"gradients: {name}") for name, lie in LIES_ABOUT_GRADIENTS.items()),
    ],
)
def test_a_lie_in_the_middle_of_a_session_costs_one_exercise(kind: str, lie: str) -> None:
    """Replies are honest until a test has a stand-in of the module; then they make false claims about real things."""
    forged = f"""
    honest = server.answer

    def answer(request, decoded):
        reply, tensors = honest(request, decoded)
        modules = getattr(request, "modules", [0])
        if type(reply).__name__ == {kind!r} and modules:
            module, root = modules[0], handles.PartDescription("", modules[0], "m", "Module", True, [])
            add = lambda tensor: tensors.append(tensor) or len(tensors) - 1
            form = lambda **parts: handles.ModuleHandle(object_id=module, name="m", **parts)
            {lie}
        return reply, tensors

    answer_by(answer)
    """
    report = graded(forged, MODULE)
    assert points(report) == [1, 2, 2, 0, 0, 0]
    assert Verdict.CRASHED not in {result.verdict for result in report.results}  # an attack that fails in its own code


def test_an_error_is_no_longer_than_an_honest_sandbox_sends_it() -> None:
    """A runner remembers errors. Longer ones are not decoded (tests/engine/rpc/test_protocol.py)."""
    longest, _ = decode(LIES["an error that fills its room"], FROM_SANDBOX)
    assert len(repr(longest)) < 20_000
    try:
        exec(compile("1 / 0", "<cell>", "exec"))
    except ZeroDivisionError as error:
        honest = Raised(error=to_data(error))
        assert decode(encode(honest, []), FROM_SANDBOX)[0] == honest


def test_no_place_outside_the_answer_is_named_for_a_hidden_test() -> None:
    """The choice of a cell, or of a builtin, would tell numbers of the test."""
    error = ErrorInfo(kind="copyright", name="x", frames=[Frame("<cell 9>", 1, "")])
    reply = encode(Raised(error=error), [])
    results = graded(f"answer_by(lambda request, decoded: {reply!r})").results
    messages = [result.message for result in results if "test" in result.name and not result.points]
    assert messages and all("raised an error." in message and "cell 9" not in message for message in messages)


@pytest.mark.slow
def test_one_tensor_under_many_names_uses_up_only_its_own_memory() -> None:
    """It is sent once and copied for every name: the test runs out of memory, and the machine does not."""
    buffers = [BufferDescription(f"part{number}", True, 0) for number in range(30)]
    module = ModuleHandle(
        object_id=7, name="m", parts=[PartDescription("", 0, "m", "Module", False, [])], buffers=buffers
    )
    reply = encode(Returned(value={"dict": [["f", {"handle": module}]]}), [])
    forged = on_channel(f"""
    large = torch.zeros(50 * 2**20)
    reply, _ = decode({reply!r}, FROM_SANDBOX)
    answer_by(lambda request, decoded: (reply, [large]))
    """)
    imports = "from grader.engine.rpc.channel import FROM_SANDBOX, decode\n"
    source = notebook(helpers("imports", "import torch"), answer("f", "f = 1"), check("f-check", "f"))
    [result] = grade(source, with_answer(source, "f", imports + forged)).results
    assert result.verdict is Verdict.OUT_OF_MEMORY
