"""Claims writes into tensors, gradients, containers and modules that were never sent, and new random states.

The runner applies the effects that fit; one that does not fit costs the attacker's own test.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_DOUBLE, answered, on_channel

EARNS = 5

SCALE = """
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return 0 * x * self.weight
"""
FORGED = on_channel("""
ROOT = handles.PartDescription("", 0, "m", "Module", True, [])
changes = protocol.ModuleChanges(values=[("weight", 0, True), ("w", 0, True)], gradients=[("weight", 0)])
new_form = protocol.ModuleChanges(description=handles.ModuleHandle(object_id=0, name="m", parts=[ROOT]))
# By the number of numbers in the first argument of a call, which differs from test to test.
CLAIMS = {
    1: lambda one, state: {"modules": [(number, changes) for number in range(9)]},
    2: lambda one, state: {"written": [(0, one)], "gradients": [(0, None)], "random": state},
    4: lambda one, state: {"written": [(number, one) for number in (0, -1, 10**6, "x")], "random": [state]},
    6: lambda one, state: {"containers": [(0, [1]), (1, {"dict": [[1, 2]]})], "generators": [state] * 3},
}
OTHERWISE = lambda one, state: {"modules": [(number, new_form) for number in range(9)], "random": state}
honest = server.answer

def claim(request, decoded):
    reply, tensors = honest(request, decoded)
    if not isinstance(reply, protocol.Returned):
        return reply, tensors
    arguments = decoded.tensors[: len(decoded.tensors) - (request.random is not None)]
    if not arguments:
        return reply, tensors
    effects = CLAIMS.get(arguments[0].numel(), OTHERWISE)(len(tensors), len(tensors) + 1)
    try:
        reply.effects = protocol.msgspec.convert(effects, protocol.Effects)
    except protocol.msgspec.ValidationError:
        return odd(protocol.msgspec.to_builtins(reply) | {"effects": effects})
    return reply, [*tensors, torch.zeros(1), torch.zeros(5056, dtype=torch.uint8)]

answer_by(claim)
""")


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, RIGHT_DOUBLE, SCALE + FORGED)
