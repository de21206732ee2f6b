"""Forbids the functions of torch that do the work of an exercise, in the student's notebook as when it is graded.

In a grader, the tags of the answer cell forbid them, in the process of the student's code. In a notebook there is one
process, and the visible check forbids them while it calls the student's code.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from torch.overrides import TorchFunctionMode


def without(*words: str) -> AbstractContextManager:
    """Return a context in which a call of a function of torch fails if its name contains one of these words.

    It sees a function under every name: in torch, in torch.nn.functional, as a method of a tensor, in torch.ops, and
    in a layer, including nn.LSTM, nn.GRU, nn.RNN, their cells, and nn.MultiheadAttention, in training and in
    evaluation. Three kinds of calls it does not see: those inside of code compiled by torch.jit.script, those in other
    threads, and those by which torch's own functions in Python do their work. So the word "scaled_dot_product" does
    not forbid nn.MultiheadAttention, and the word "attention" does.

    Args:
        words: parts of names, long enough to leave out what a right answer may call: "batch_norm", because "norm" would
            forbid torch.norm as well.

    Raises:
        AssertionError: at the call, naming the function.
        ValueError: there is no word, or one is empty and would forbid everything.
    """
    if not words or not all(words):
        raise ValueError(f'expected words that are in the names of functions, such as "conv2d", got {words}')
    return _Without(words)


class _Without(TorchFunctionMode):
    def __init__(self, words: Iterable[str]) -> None:
        super().__init__()
        self._words = tuple(words)

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        # torch.ops.aten.conv2d.default is called "conv2d.default".
        name = getattr(func, "__name__", "").split(".")[0]
        if any(word in name for word in self._words):
            raise AssertionError(f"The exercise is to write it yourself, without {name}.")
        return func(*args, **(kwargs or {}))
