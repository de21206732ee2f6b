"""Forbids the functions of libraries that do the work of an exercise, in a student's notebook as when it is graded.

    without("conv") --> torch's hook:  functions of torch, however deep the call
                    --> Python's hook: functions in Python, of NumPy and of SciPy, that student code calls itself

The visible check of a notebook calls the student's code in this context, and so does the grader's sandbox, with the
words in the tags of the answer cell.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from types import FrameType
from typing import Any, NoReturn

LIBRARIES = frozenset({"torch", "numpy", "scipy"})
"""Packages whose functions do work that an exercise is about."""


def without(*words: str, error: type[Exception] = AssertionError) -> AbstractContextManager[None]:
    """Return a context in which a function of torch, NumPy or SciPy fails if its name contains one of these words.

    A function of torch is seen under every name: in torch, in torch.nn.functional, as a method of a tensor, in
    torch.ops, compiled by torch.compile, and in a layer, including nn.LSTM, nn.GRU, nn.RNN, their cells, and
    nn.MultiheadAttention, in training and in evaluation. Functions of torch in Python, and those of NumPy and SciPy,
    are seen where student code calls them. If student code catches the error, the end of the block raises it again.

    Three kinds of calls are not seen: those in other threads, those inside code compiled by torch.jit, and internal
    calls of an allowed function. So "scaled_dot_product" does not forbid nn.MultiheadAttention, but "attention" does.

    Args:
        words: parts of names, long enough to permit what a correct answer may call: "batch_norm", because "norm" would
            forbid torch.norm as well.
        error: the class of the exception that the call raises. Its message names the function.

    Raises:
        ValueError: no words, or an empty one, which would forbid everything.
    """
    if not words or not all(words):
        raise ValueError(f'expected words that are in the names of functions, such as "conv2d", got {words}')
    return _forbidding(_LibraryCalls(words, error))


def rule(words: Sequence[str]) -> str:
    """Return the rule as a sentence for students."""
    return (
        "The exercise is to write it yourself, without functions of torch, NumPy or SciPy whose names contain "
        f"{' or '.join(words)}."
    )


@contextmanager
def _forbidding(calls: "_LibraryCalls") -> Iterator[None]:
    before, has_torch = sys.getprofile(), "torch" in sys.modules
    with _torch_functions()(calls) if has_torch else nullcontext():
        sys.setprofile(calls.see)
        try:
            yield
        finally:
            sys.setprofile(before)
    if not has_torch and "torch" in sys.modules:
        calls.refuse(f"Your code imports torch in a function: import it at the top. {rule(calls.words)}")
    if calls.refused is not None:  # student code caught it, and Python dropped the hook that raised
        raise calls.refused


class _LibraryCalls:
    """Refuses functions by their names."""

    def __init__(self, words: Sequence[str], error: type[Exception]) -> None:
        self.words, self._error = words, error
        self._is_forbidden = _matcher(tuple(words))
        self.refused: Exception | None = None

    def check(self, name: str) -> None:
        """Raise if functions with this name are forbidden."""
        if self._is_forbidden(name):
            self.refuse(f"Your code calls {name.lstrip('_')}. {rule(self.words)}")

    def refuse(self, why: str) -> NoReturn:
        """Raise the error with this message."""
        self.refused = self._error(why)
        raise self.refused

    def see(self, frame: FrameType, event: str, called: Any) -> None:
        """Check a call; Python calls this as the hook of a profiler."""
        # It runs for each call at any depth, so nearly all must return at the first condition.
        if event == "call":
            code = frame.f_code
            if not code.co_freevars and not self._is_forbidden(code.co_name):
                return
            if frame.f_back is None or not _is_of_library(frame) or _is_of_library(frame.f_back):
                return
            # A decorated function has the name of the function inside.
            inside = [str(getattr(frame.f_locals.get(name), "__name__", "")) for name in code.co_freevars]
            names = [code.co_name, *inside]
        elif event == "c_call":
            if not self._is_forbidden(called.__name__):
                return
            module = getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__
            if _library(module) not in LIBRARIES or _is_of_library(frame):
                return
            names = [called.__name__]
        else:
            return
        for name in names:
            self.check(name)


@cache
def _matcher(words: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a function that checks whether a name contains one of the words."""
    return cache(lambda name: any(word in name for word in words))


def _is_of_library(frame: FrameType) -> bool:
    return _library(frame.f_globals.get("__name__")) in LIBRARIES


def _library(module: object) -> str:
    return str(module).partition(".")[0]


@cache
def _torch_functions() -> "Callable[[_LibraryCalls], AbstractContextManager[Any]]":
    """Return the class of contexts in which torch shows each of its functions before it runs."""
    from torch.overrides import TorchFunctionMode  # late: it loads torch

    class TorchFunctions(TorchFunctionMode):
        def __init__(self, calls: _LibraryCalls) -> None:
            super().__init__()
            self._calls = calls

        def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
            # torch.ops.aten.conv2d.default is called "conv2d.default".
            self._calls.check(getattr(func, "__name__", "").partition(".")[0])
            return func(*args, **(kwargs or {}))

    return TorchFunctions
