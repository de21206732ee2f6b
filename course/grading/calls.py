"""Recorded messages as calls: what a test asked, what the code asked back in the middle, what it answered.

messages and answers, as bytes --> conversations --> Exchange: request, questions back, answer
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from course.grading.recorder import Exchanges
from course.grading.tensors import Blob
from course.grading.wire import opened


class Back(NamedTuple):
    """What the code asked a function of the test in the middle of a call, and what it was told."""

    question: dict[str, Any]
    given: Blob
    told: dict[str, Any]
    returned: Blob


@dataclass(frozen=True)
class Exchange:
    """One call and what came back. `said` is all that the code was told and asked before it answered, as it crossed."""

    said: bytes
    request: dict[str, Any]
    sent: Blob
    answer: dict[str, Any]
    got: Blob
    backs: list[Back]


def conversations(exchanges: Exchanges) -> list[list[Exchange]]:
    """The calls among the messages, by conversation. Raises whatever an answer that is none leads to."""
    found: list[list[Exchange]] = []
    latest: dict[int, list[Exchange]] = {}
    last: tuple[Any, Blob] = None, Blob()
    for message, heard in exchanges:
        tree, blob = opened(message)
        if "ask" in tree:
            said, request, sent, backs = b"", tree, blob, []
            if request.get("new"):
                latest[request["talk"]] = []
                found.append(latest[request["talk"]])
        else:
            backs.append(Back(*last, tree, blob))
        said += message
        answer, got = last = opened(heard)
        if "back" in answer:
            said += heard
        elif request["ask"] == "call":
            latest[request["talk"]].append(Exchange(said, request, sent, answer, got, backs))
    return found
