"""An answer is held by one window for a while."""

from grader.commands.mark.leases import Leases, Window

ADA, ADA_TOO, BOB = Window("ada", "1"), Window("ada", "2"), Window("bob", "3")


def test_an_answer_is_held_by_one_window_which_holds_one_answer() -> None:
    """Also of two windows of one person; the other one learns which. The next answer frees the previous one."""
    leases = Leases(60, clock=lambda: 0)
    assert leases.take("x", ADA) is None and leases.holder("x") == ADA
    assert leases.take("x", BOB) == leases.take("x", ADA_TOO) == ADA
    assert leases.take("y", ADA) is None and leases.holder("x") is None and leases.holder("y") == ADA
    assert leases.release(ADA) == ["y"] and leases.holder("y") is None


def test_a_lease_ends_unless_it_is_renewed() -> None:
    """The answer is free then, and its end is reported once."""
    now = [0.0]
    leases = Leases(60, clock=lambda: now[0])
    leases.take("x", ADA)
    leases.take("y", BOB)
    now[0] = 50
    leases.renew(ADA)
    now[0] = 61
    assert leases.holder("x") == ADA and leases.holder("y") is None
    assert leases.expired() == ["y"] and leases.expired() == []
    assert leases.take("y", ADA_TOO) is None
    now[0] = 200
    leases.renew(ADA)
    assert leases.holder("x") is None, "a lease that ended is not renewed"
    assert leases.take("x", BOB) is None
