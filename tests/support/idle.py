"""Ends processes that wait for more work; they would end with the tests' own process anyway."""

from grader.engine.supervisor import parsers, pool


def end_runners() -> None:
    """End the idle runners."""
    while pool._idle:
        pool._idle.pop().end()


def end_parsers() -> None:
    """End the idle parsers."""
    while parsers._idle:
        parsers._idle.pop().end()
