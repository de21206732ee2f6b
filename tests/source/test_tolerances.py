"""References pass their checks and hidden tests far from every tolerance, whichever kernels torch chooses."""

import msgspec
import pytest

from tests.support.claims import offered, run_python
from tests.support.exercises import NOTEBOOKS
from tests.support.notebooks import answer, check, hidden, notebook
from tests.support.tolerances import Closeness, closenesses, fragile


def measured(capability: str) -> list[Closeness]:
    """How near the tests of the course come to their limits in a process with these kernels."""
    printed = run_python(capability, "-m", "tests.support.tolerances", *map(str, NOTEBOOKS))
    return [msgspec.json.decode(line, type=Closeness) for line in printed.splitlines()]


@pytest.mark.slow
def test_no_reference_comes_near_a_tolerance() -> None:
    """It uses at most a tenth, with the plainest and with the fastest kernels of this machine.

    The error of a number that the text rounds to a few digits may use more: it is the same on every machine.
    """
    found = [measured(capability) for capability in dict.fromkeys((offered()[0], offered()[-1]))]
    assert len({each.notebook for each in found[0]}) == len(NOTEBOOKS) and fragile(found) == []


def test_the_share_of_a_tolerance_is_measured() -> None:
    """Of each way to compare; what does not hold, behind a `not`, does not count."""
    near = "assert (one() - 1.0005).abs().min() < 1e-3\nassert not torch.allclose(one(), one() * 2)"
    far = "assert math.isclose(1.0, 1.3, rel_tol=0, abs_tol=0.5)\nassert one().sum() < 0.001 + 3"
    source = notebook(
        answer("one", "import math\nimport torch\ndef one():\n    return torch.tensor([1.0, 2.0])"),
        check("one-check", "assert torch.allclose(one(), torch.tensor([1.0, 2.004]), atol=0.01, rtol=0)"),
        hidden("one-test-a", "A.", near),
        hidden("one-test-b", "B.", "torch.testing.assert_close(one(), one(), atol=1e-5, rtol=0)"),
        hidden("one-test-c", "C.", far),
    )
    shares = {(each.test, each.line.partition("(")[0]): each.share for each in closenesses(source)}
    assert shares == {
        ("one-check", "assert torch.allclose"): pytest.approx(0.4, rel=1e-3),
        ("one-test-a", "assert "): pytest.approx(0.5, rel=1e-2),
        ("one-test-b", "torch.testing.assert_close"): 0.0,
        ("one-test-c", "assert math.isclose"): pytest.approx(0.6),
    }


@pytest.mark.parametrize(
    ("shares", "is_fragile"), [((0.05, 0.09), False), ((0.2, 0.3), True), ((0.4, 0.4001), False), ((0.95, 0.95), True)]
)
def test_what_another_machine_may_fail_is_named(shares: tuple[float, float], is_fragile: bool) -> None:
    """More than a tenth is too much, unless it is the same with all kernels and leaves a tenth."""
    found = fragile([[Closeness("01/one", "one-check", "assert x", share)] for share in shares])
    assert bool(found) == is_fragile
