"""Plays one small notebook in the fork server, so that all its children inherit what a first use sets up.

    STUDENT --RunCell--> RpcServer <--messages--> RpcClient <-- TEST

The first operation of torch reads /proc/cpuinfo, which a confined process cannot. oneDNN compiles kernels for the first
recurrent layer and the first convolution, an optimiser imports torch._dynamo, the first exception passes through all
libraries, the first value shown creates IPython's formatters, and every library function is resolved at its first call.
Together this takes more than a second, much of which every child would repeat. Without torch, a notebook in plain
Python does the rest of this.
"""

import sys
from typing import Any

from grader.engine.notebook.names import View
from grader.engine.rpc.channel import FROM_SANDBOX, TO_SANDBOX, decode, encode
from grader.engine.rpc.message import Message
from grader.engine.rpc.protocol import CallbackReply, CellDone, RunCell
from grader.engine.rpc.values.tensors import DecodedTensors
from grader.engine.runner.standins.client import RpcClient
from grader.engine.sandbox.server import RpcServer
from grader.engine.sandbox.shell import Shell, execute
from grader.engine.torch_if_used import USES_TORCH, torch

STUDENT = '''
import math
import torch
import torch.nn.functional as F
from torch import nn


class Reader(nn.Module):
    """Words in, a score for each word out."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.embed = nn.Embedding(6, width)
        self.reader = nn.LSTM(width, 3, batch_first=True, bidirectional=True)
        self.norm, self.dropout, self.fc = nn.LayerNorm(6), nn.Dropout(0.1), nn.Linear(6, 6)

    def forward(self, words: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        states, _ = self.reader(self.embed(words))
        scores = states @ states.transpose(-2, -1) / math.sqrt(6)
        if mask is not None:
            scores = scores.masked_fill(mask, -1e9)
        return self.fc(self.norm(self.dropout(scores.softmax(-1) @ states)))


def train(model):
    optimiser = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimiser.zero_grad()
        F.cross_entropy(model(torch.arange(6)[None])[0], torch.arange(6)).backward()
        optimiser.step()


def twice(x):
    return 2 * x


def wrong(x):
    return nn.Linear(3, 3)(x)


def both_ways(layer, x):
    """With gradients and without, because torch has different kernels for each."""
    out = layer(x)
    (out[0] if isinstance(out, tuple) else out).sum().backward()
    with torch.no_grad():
        layer.eval()(x)


torch.manual_seed(0)
for kind in (nn.RNN, nn.LSTM, nn.GRU):
    both_ways(kind(4, 3, batch_first=True, bidirectional=True), torch.randn(2, 3, 4))
for dtype in (torch.float32, torch.float64):
    both_ways(nn.Conv2d(1, 2, 3, dtype=dtype), torch.randn(1, 1, 6, 6, dtype=dtype))
both_ways(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), torch.randn(2, 3, 4))
train(Reader())
for word, vector in zip(("she", "sat", "river"), torch.eye(3) * 2):
    print(f"{word:5} {vector.sum():.2f}", vector, vector.tolist())
torch.eye(3)
'''
TEST = """
x = torch.randn(2, 3)
torch.testing.assert_close(twice(x), 2 * x)
torch.autograd.gradcheck(twice, (x.double().requires_grad_(),))
try:
    wrong(torch.zeros(2, 2))
except RuntimeError:
    model = Reader()
model.load_state_dict(model.state_dict())
model(torch.arange(6)[None]).sum().backward()
with torch.no_grad():
    before = model.eval()(torch.arange(6)[None], torch.eye(6).bool())
train(model)
assert not torch.allclose(before, model(torch.arange(6)[None]))
"""

PLAIN_STUDENT = """
import math


class Reader:
    def __init__(self, width=4):
        self.width = width


def twice(x):
    return 2 * x


def wrong(x):
    return math.sqrt(-x)


for word, number in zip(("she", "sat", "river"), (1.5, 2.5, 3.5)):
    print(f"{word:5} {number:.2f}", [number])
{word: number}
"""
PLAIN_TEST = """
assert twice([1.5]) == [1.5, 1.5] and twice("x") == "xx"
try:
    wrong(1.0)
except ValueError:
    assert Reader(3).width == 3
"""


def play() -> CellDone:
    """Play the notebook and return the outputs of its cell; leave the random state and the streams as they are.

    Raises:
        Exception: whatever the test raises.
    """
    random, streams = torch.get_rng_state(), (sys.stdin, sys.stdout, sys.stderr)
    shell = Shell(output_characters=10_000)
    try:
        client = RpcClient(_BothEnds(RpcServer(shell, _no_callback)))
        done = client.run(RunCell(source=STUDENT if USES_TORCH else PLAIN_STUDENT, name="warm-up"))
        names = client.fetch_names(["Reader", "train", "twice", "wrong"], view=View(0, 0, "", {}, {}))
        execute(TEST if USES_TORCH else PLAIN_TEST, "warm-up", {"torch": torch, **names})
    finally:
        shell.namespace.clear()
        sys.stdin, sys.stdout, sys.stderr = streams
        torch.set_rng_state(random)
    return done


def _no_callback(*_: Any) -> tuple[CallbackReply, DecodedTensors]:
    raise AssertionError("the warm-up hands over no functions")


class _BothEnds:
    """A channel whose two ends are in this process."""

    def __init__(self, server: RpcServer) -> None:
        self._server = server
        self._reply = b""

    def send(self, message: Message, tensors: list[torch.Tensor]) -> None:
        request, decoded = decode(encode(message, tensors), TO_SANDBOX, watch=True)
        self._reply = encode(*self._server.answer(request, decoded))

    def receive(self) -> tuple[Any, DecodedTensors]:
        return decode(self._reply, FROM_SANDBOX)
