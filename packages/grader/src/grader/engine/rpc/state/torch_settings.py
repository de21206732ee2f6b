"""Sets and restores process-wide settings of torch."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from grader.engine.torch_if_used import USES_TORCH, torch


@contextmanager
def settings_kept() -> Iterator[None]:
    """Restore the settings after the block: a test that failed halfway may have changed them for all later tests."""
    if not USES_TORCH:
        yield
        return
    gradients, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    deterministic = torch.are_deterministic_algorithms_enabled()
    try:
        yield
    finally:
        torch.set_grad_enabled(gradients)
        torch.set_default_dtype(dtype)
        torch.use_deterministic_algorithms(deterministic)


def default_dtype(dtype: torch.dtype) -> AbstractContextManager:
    """Return a context in which new floating-point tensors have this dtype."""
    return nullcontext() if torch.get_default_dtype() is dtype else _default_dtype(dtype)


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
