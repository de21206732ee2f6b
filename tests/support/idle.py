"""Ends processes that wait for more work; they would end with the tests' own process anyway."""

from grader.engine.supervisor import pool, readers


def end_runners() -> None:
    """End the idle runners."""
    while pool._idle:
        pool._idle.pop().end()


def end_readers() -> None:
    """End the idle readers."""
    while readers._idle:
        readers._idle.pop().end()
