"""What torch sets up at the first use of an operation, done once in the fork server for all its children.

The first operation of all reads /proc/cpuinfo, which a confined process cannot. oneDNN is loaded and compiles kernels
for the first recurrent layer and the first convolution, an optimiser imports torch._dynamo, a gradient check more of
torch: together about a second.
"""

import torch
import torch.nn.functional as F
from torch import nn


def everything() -> None:
    """Uses once what the course's notebooks use; one thread, small sizes, nothing is kept."""
    state = torch.get_rng_state()
    for layer in (nn.RNN, nn.LSTM, nn.GRU):
        _both_ways(layer(4, 3, batch_first=True, bidirectional=True), torch.randn(2, 3, 4))
    for dtype in (torch.float32, torch.float64):
        _both_ways(nn.Conv2d(1, 2, 3, dtype=dtype), torch.randn(1, 1, 6, 6, dtype=dtype))
    _both_ways(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), torch.randn(2, 3, 4))
    model = nn.Linear(4, 3)
    optimiser = torch.optim.Adam(model.parameters())
    F.cross_entropy(model(torch.randn(2, 4)), torch.tensor([0, 2])).backward()
    optimiser.step()
    torch.autograd.gradcheck(torch.softmax, (torch.randn(2, 3, dtype=torch.float64, requires_grad=True), 1))
    torch.testing.assert_close(torch.ones(2), torch.ones(2))
    repr(torch.randn(2, 2))
    torch.set_rng_state(state)


def _both_ways(layer: nn.Module, x: torch.Tensor) -> None:
    """Once with gradients and once without, for torch has kernels of its own for each."""
    out = layer(x)
    (out[0] if isinstance(out, tuple) else out).sum().backward()
    with torch.no_grad():
        layer.eval()(x)
