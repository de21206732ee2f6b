"""Runs tests, each in a session with the sandbox, unless the answer cache knows the outcome.

test, seed, the student's names --> session with the sandbox --> TestOutcome
"""

import ast
import builtins
import copy
import random
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch

from grader.engine.diagnosis.recording import Recorder
from grader.engine.notebook.names import names_bound, names_used
from grader.engine.notebook.plan import Plan, Role, Step
from grader.engine.report import Verdict
from grader.engine.rpc.channel import Channel
from grader.engine.rpc.generators import seed_own
from grader.engine.rpc.torch_settings import settings_kept
from grader.engine.runner.answer_cache import AnswerCache, NonDeterministicTest, Session
from grader.engine.runner.outcome import TestOutcome, outcome_of
from grader.engine.runner.standins.client import RpcClient
from grader.engine.sandbox.shell import execute


class TestExecutor:
    """Executes the tests of a notebook.

    Args:
        plan: the notebook's steps.
        cache: outcomes of earlier sessions.
        recorder: keeps the messages of tests.
    """

    __test__ = False  # pytest would collect a class with this name

    def __init__(self, plan: Plan, cache: AnswerCache, recorder: Recorder) -> None:
        self._plan = plan
        self._cache = cache
        self._recorder = recorder
        self._read_only_names = {
            name for step in plan.steps if step.role is Role.BOTH for name in names_bound(step.source)
        }
        self._drawing = frozenset[str]().union(
            *(drawing_names(step.source) for step in plan.steps if step.role is Role.BOTH)
        )
        self._shared: dict[int, tuple[Channel, Session, RpcClient]] = {}

    def run(self, step: Step, channel: Channel, namespace: dict[str, Any]) -> TestOutcome:
        """Return the outcome of the test `step`.

        Args:
            step: the test.
            channel: the channel to the sandbox.
            namespace: the names that the cells in the runner have bound so far.

        Raises:
            ProtocolError: a message broke the protocol.
            NonDeterministicTest: the test depends on more than its answers and must run again with a fresh sandbox.
        """
        session, client = self._session(step, channel)
        client.forbidden, client.wrote = step.forbidden, False
        client.draws = draws(step.source, self._drawing)
        begin = len(session.exchanges)
        try:
            outcome = session.known_outcome()
            if outcome is None:
                outcome = outcome_of(step, lambda: self._execute(step, client, namespace))
                outcome = replace(outcome, wrote=client.wrote)
                if outcome.result.verdict is not Verdict.OUT_OF_MEMORY:
                    # Free memory depends on more than the answers, so OUT_OF_MEMORY is not cached.
                    session.end(outcome)
                    self._cache.count(outcome.nbytes)
            return outcome
        except NonDeterministicTest:
            self._cache.distrust(self._plan.digests[step.index])
            raise
        finally:
            self._cache.count(session.added)
            self._recorder.keep(step.exercise, self._plan.sessions[step.index], session.exchanges[begin:])

    def _session(self, step: Step, channel: Channel) -> tuple[Session, RpcClient]:
        session_id = self._plan.sessions[step.index]
        if not session_id:
            session = Session(channel, self._cache.root(self._plan.digests[step.index]))
            return session, RpcClient(session)
        # In a shared session, a test's outcome depends on more than its own answers, so it is not cached.
        if session_id not in self._shared or self._shared[session_id][0] is not channel:
            session = Session(channel)
            self._shared[session_id] = channel, session, RpcClient(session, session_id)
        return self._shared[session_id][1:]

    def _execute(self, step: Step, client: RpcClient, namespace: dict[str, Any]) -> Any:
        seed_test(step.name, step.source)
        wanted = [name for name in names_used(step.source) if name not in namespace and not hasattr(builtins, name)]
        answer = client.fetch_names(wanted, self._plan.views[step.index]) if wanted else {}
        # Only the requested names: a student's own torch or abs must not take part in judging.
        student_names = {name: answer[name] for name in wanted if name in answer}
        copies = _copies({name: namespace[name] for name in self._read_only_names & namespace.keys()})
        originals = {name: namespace[name] for name in copies.keys() - names_bound(step.source)}
        namespace.update(student_names | copies)
        try:
            with settings_kept():
                return execute(step.source, step.name, namespace)
        finally:
            for name in student_names:
                namespace.pop(name, None)
            namespace.update(originals)


@lru_cache(maxsize=1024)
def draws(source: str, drawing: frozenset[str]) -> bool:
    """Return whether a test may use the generators of `random` or `numpy.random`.

    Args:
        source: the test.
        drawing: the names of read-only cells that use them.
    """
    return any("random" in name or name in drawing for name in _identifiers(ast.parse(source)))


@lru_cache(maxsize=1024)
def drawing_names(source: str) -> frozenset[str]:
    """Return the names of modules, functions and classes of a read-only cell that may use these generators."""
    names: set[str] = set()
    for statement in ast.parse(source).body:
        if not any("random" in name for name in _identifiers(statement)):
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in statement.names}
        elif isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names.add(statement.name)
    return frozenset(names)


def _identifiers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) | ast.ImportFrom(module=str(name)):
                yield name


def _copies(names: dict[str, Any]) -> dict[str, Any]:
    """Copy the values that student code can change, so that no test depends on an earlier one."""
    copies = {}
    for name, item in names.items():
        if isinstance(item, torch.Tensor | list | dict):
            # A tensor that autograd computed cannot be copied.
            with suppress(RuntimeError):
                copies[name] = copy.deepcopy(item)
    return copies


class Generator(torch.Generator):
    """A torch.Generator that takes its `seed` from the running test instead of the operating system.

    All students get the same numbers, and none can predict them, so no score depends on luck.
    """

    source = random.Random()

    def seed(self) -> int:
        """Set the next seed and return it."""
        number = self.source.getrandbits(32)
        self.manual_seed(number)
        return number


def install_seeds() -> None:
    """Replace torch.Generator with the class above in this process."""
    setattr(torch, Generator.__name__, Generator)


def seed_test(test: str, source: str) -> None:
    """Seed the random numbers of a test.

    Args:
        test: its name.
        source: its code.
    """
    Generator.source = random.Random(f"{test}\n{source}")
    # Not torch.manual_seed, which also looks for graphics cards and takes milliseconds.
    torch.default_generator.manual_seed(zlib.crc32(test.encode()))
    seed_own(zlib.crc32(test.encode()))
