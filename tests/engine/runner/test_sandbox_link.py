"""A sandbox that does not keep to the protocol is unconfined or lost, and never anything else."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from multiprocessing import Pipe
from multiprocessing.reduction import send_handle

import pytest

from grader.engine.report import Verdict
from grader.engine.rpc.channel import LENGTHS
from grader.engine.rpc.jobs import NeedExitStatus, SandboxExit
from grader.engine.rpc.protocol import VERSION, RunCell, Text
from grader.engine.runner.sandbox_link import SandboxLink, SandboxLost
from grader.engine.runner.standins.client import RpcClient

READY = {"type": "Ready", "pid": os.getpid(), "version": VERSION}
UNREADABLE = "its reply could not be read"


def framed(*messages: object) -> bytes:
    """The bytes of messages, right or wrong ones."""
    texts = [json.dumps([message, []]).encode() for message in messages]
    return b"".join(LENGTHS.pack(len(text), 0) + text for text in texts)


def name_of(message: object) -> str:
    """The name of a case: the same in every process, since the workers of a test run compare their lists of tests."""
    return json.dumps(message).replace(f'"pid": {os.getpid()}', '"pid": "own"')[:60]


Connect = Callable[..., SandboxLink]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connect to a sandbox that sends these messages, whatever it is asked, and then ends."""
    with ExitStack() as cleanup:

        def start(*messages: object, ended: SandboxExit | None = None) -> SandboxLink:
            parent, to_parent = Pipe()
            runner, sandbox = socket.socketpair()
            send_handle(parent, runner.fileno(), os.getpid())
            runner.close()
            sandbox.sendall(framed(*messages))
            sandbox.shutdown(socket.SHUT_WR)
            parent.send(ended or SandboxExit(exit_status=0))
            link = SandboxLink(to_parent, cell_seconds=5)
            link.begin_pass(60)
            for each in (parent, to_parent, sandbox, link):
                cleanup.callback(each.close)
            link.parent = parent
            return link

        yield start


def test_a_sandbox_that_keeps_to_the_protocol_is_used(connect):
    """It says that it is ready, and answers."""
    link = connect(READY, {"type": "CellDone", "outputs": [{"type": "Text", "text": "hello"}]})
    assert link.unconfined is None
    assert link.ask(lambda channel: RpcClient(channel).run(RunCell(source="", name="cell"))).outputs == [
        Text(text="hello")
    ]


NO_START = "the process for student code did not start (ProtocolError)"


@pytest.mark.parametrize(
    ("first", "why"),
    [
        *(([READY | {"version": odd}], NO_START) for odd in (VERSION + 1, VERSION - 1, str(VERSION), None)),
        *(([odd], NO_START) for odd in (READY | {"more": 1}, {"type": "CellDone"}, {"type": "NotConfined"}, None, [])),
        ([], "the process for student code did not start (ConnectionClosed)"),
        ([{"type": "NotConfined", "why": "no Landlock"}], "no Landlock"),
    ],
    ids=name_of,
)
def test_a_sandbox_that_begins_otherwise_runs_nothing(connect, first, why):
    """Of another version, too, which could mean something else by a message. The instructor reads the reason."""
    assert connect(*first).unconfined == why


@pytest.mark.parametrize(
    "reply",
    [
        {"type": "CellDone", "more": 1},
        {"type": "CellDone", "error": {"kind": "ValueError", "name": "x", "code": "passed"}},
        {"type": "Returned", "value": 1},
        {"type": "Gradients", "tensors": [-1]},
        {"type": "Callback", "function": 0, "call": {"tuple": [{"tuple": []}, {"dict": []}]}},
        READY,
        {"type": "RunCell", "source": "", "name": ""},
        None,
    ],
    ids=name_of,
)
def test_a_reply_that_breaks_the_protocol_loses_the_sandbox(connect, reply):
    """Fields that no message has, messages of another kind or direction: test_protocol.py has one of each fault."""
    link = connect(READY, reply)
    with pytest.raises(SandboxLost) as caught:
        link.ask(lambda channel: RpcClient(channel).run(RunCell(source="", name="cell")))
    assert (caught.value.failure.verdict, caught.value.failure.why) == (Verdict.ERROR, UNREADABLE)


@pytest.mark.parametrize(
    ("ended", "verdict", "why", "redacted"),
    [
        (SandboxExit(), Verdict.CRASHED, "it closed its connection", "it closed its connection"),
        (SandboxExit(exit_status=41), Verdict.CRASHED, "the process ended itself", "the process ended itself"),
        (SandboxExit(exit_status=-6), Verdict.CRASHED, "the process was ended by SIGABRT", "the process ended itself"),
        (
            SandboxExit(exit_status=-40),
            Verdict.CRASHED,
            "the process was ended by signal 40",
            "the process ended itself",
        ),
        (SandboxExit(Verdict.OUTPUT_LIMIT, "its files"), Verdict.OUTPUT_LIMIT, "its files", "its files"),
    ],
    ids=["alive", "exit status", "signal", "real-time signal", "limit"],
)
def test_a_lost_sandbox_is_explained_by_how_the_parent_saw_it_end(connect, ended, verdict, why, redacted):
    """In a hidden test without numbers that student code may have taken from the test."""
    link = connect(READY, ended=ended)
    with pytest.raises(SandboxLost) as caught:
        link.ask(lambda channel: RpcClient(channel).run(RunCell(source="", name="cell")))
    failure = caught.value.failure
    assert isinstance(link.parent.recv(), NeedExitStatus)
    assert (failure.verdict, failure.why, failure.redacted().why) == (verdict, why, redacted)
