"""A function of torch that does the work of an exercise fails in the student's notebook, in the grader's words."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.forbidden import without

X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
SENTENCES = torch.zeros(2, 5, 4)
CALLS: dict[str, dict[str, Callable[[], object]]] = {
    "log_softmax": {
        "torch": lambda: torch.log_softmax(X, 1),
        "functional": lambda: F.log_softmax(X, 1),
        "method": lambda: X.log_softmax(1),
        "layer": lambda: nn.LogSoftmax(1)(X),
        "packet": lambda: torch.ops.aten.log_softmax(X, 1),
        "overload": lambda: torch.ops.aten.log_softmax.int(X, 1),
    },
    "lstm": {"layer": lambda: nn.LSTM(4, 3)(SENTENCES), "eval": lambda: nn.LSTM(4, 3).eval()(SENTENCES)},
    "gru": {"layer": lambda: nn.GRU(4, 3)(SENTENCES)},
    "rnn_tanh": {"layer": lambda: nn.RNN(4, 3)(SENTENCES)},
    "lstm_cell": {"layer": lambda: nn.LSTMCell(4, 3)(SENTENCES[0])},
    "gru_cell": {"layer": lambda: nn.GRUCell(4, 3)(SENTENCES[0])},
    "rnn_tanh_cell": {"layer": lambda: nn.RNNCell(4, 3)(SENTENCES[0])},
    "multi_head_attention_forward": {
        "layer": lambda: nn.MultiheadAttention(4, 2)(*3 * (SENTENCES,)),
        # In evaluation, without gradients, torch otherwise calls one fused function.
        "fused": lambda: in_evaluation(nn.MultiheadAttention(4, 2, batch_first=True), *3 * (SENTENCES,)),
        "encoder": lambda: in_evaluation(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), SENTENCES),
    },
    "conv2d": {"layer": lambda: nn.Conv2d(1, 1, 2)(X[None]), "overload": lambda: torch.ops.aten.conv2d(X[None], W)},
    "max_pool2d": {"layer": lambda: nn.MaxPool2d(2)(X[None])},
    "max_pool2d_with_indices": {"functional": lambda: F.max_pool2d(X[None], 2, return_indices=True)},
    "dropout_": {"in place": lambda: torch.dropout_(X.clone(), 0.5, True)},
}
"""Calls by the name of the function, as the message gives it."""
W = torch.ones(1, 1, 2, 2)
WORDS = ("log_softmax", "lstm", "gru", "rnn_tanh", "attention", "conv", "pool", "dropout")


def in_evaluation(layer: nn.Module, *inputs: Tensor) -> object:
    with torch.no_grad():
        return layer.eval()(*inputs)


@pytest.mark.parametrize(
    ("name", "call"),
    [pytest.param(name, call, id=f"{name}-{how}") for name in CALLS for how, call in CALLS[name].items()],
)
def test_a_forbidden_function_fails_under_every_name(name: str, call: Callable[[], object]) -> None:
    """The message names the function that was called; outside of the block the call works."""
    call()
    with pytest.raises(AssertionError) as refusal, without(*WORDS):
        call()
    assert str(refusal.value) == f"The exercise is to write it yourself, without {name}."


def test_other_functions_work() -> None:
    """Those of which the forbidden one is made work, and so do those whose names have a word in common with it."""
    with without(*WORDS, "batch_norm"):
        assert torch.allclose(X - X.logsumexp(1, keepdim=True), X.softmax(1).log(), atol=1e-6)
        assert torch.equal(F.linear(X, torch.eye(3)), X)
        assert torch.allclose(torch.norm(X), X.pow(2).sum().sqrt())


def test_a_function_of_the_student_may_have_any_name() -> None:
    """Only those of torch are forbidden."""

    def log_softmax(x: Tensor) -> Tensor:
        return x - x.logsumexp(1, keepdim=True)

    with without("log_softmax"):
        assert torch.allclose(log_softmax(X).exp().sum(1), torch.ones(2))


@pytest.mark.parametrize("words", [(), ("",), ("conv", "")], ids=repr)
def test_an_empty_word_is_refused(words: tuple[str, ...]) -> None:
    """It would forbid every function, and no word would forbid none."""
    with pytest.raises(ValueError, match='expected words that are in the names of functions, such as "conv2d"'):
        without(*words)
