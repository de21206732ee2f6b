"""Defines how a server refuses a request."""

from dataclasses import dataclass


@dataclass(eq=False)
class Refusal(Exception):
    """The refusal of a request: an HTTP status, a reason, and the seconds after which to repeat it."""

    status: int
    why: str
    retry_after: float | None = None
