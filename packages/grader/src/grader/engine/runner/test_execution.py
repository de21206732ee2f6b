"""Runs tests, each in a session with the sandbox, unless the answer cache knows the outcome.

test, seed, the student's names --> session with the sandbox --> TestOutcome
"""

import ast
import copy
import pickle
import random
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import replace
from functools import lru_cache
from types import ModuleType
from typing import Any, ClassVar

import numpy
from msgspec import structs

from grader.engine.diagnosis.recording import Recorder
from grader.engine.notebook.names import looks_for_names, names_bound, names_in_strings, names_used
from grader.engine.notebook.plan import Plan, Role, Step
from grader.engine.report import Verdict
from grader.engine.rpc.channel import Channel
from grader.engine.rpc.generators import seed_own
from grader.engine.rpc.state.torch_settings import settings_kept
from grader.engine.runner.answer_cache import AnswerCache, NonDeterministicTest, Session
from grader.engine.runner.names.imported_names import ImportedNames
from grader.engine.runner.names.mirrored_names import AllNames, mirrored
from grader.engine.runner.names.process_watch import sources_used, watched
from grader.engine.runner.outcome import IS_MODULE, TestOutcome, outcome_of
from grader.engine.runner.standins.client import RpcClient
from grader.engine.runner.standins.errors import StudentError
from grader.engine.sandbox.shell import execute
from grader.engine.torch_if_used import USES_TORCH, torch

MAX_SEEDS = 8
"""How many seeds of a test its result keeps."""


class TestExecutor:
    """Executes the tests of a notebook.

    Args:
        plan: the notebook's steps.
        cache: outcomes of earlier sessions.
        recorder: keeps the messages of tests.
        our_classes: the author's own classes, and the names that each defines.
    """

    __test__ = False  # pytest would collect a class with this name

    def __init__(
        self, plan: Plan, cache: AnswerCache, recorder: Recorder, our_classes: Mapping[str, frozenset[str]]
    ) -> None:
        self._plan = plan
        self._our_classes = our_classes
        self._cache = cache
        self._recorder = recorder
        self._read_only_cells = [step.source for step in plan.steps if step.role is Role.BOTH]
        self._read_only_names = frozenset[str]().union(*map(names_bound, self._read_only_cells))
        self._drawing = frozenset[str]().union(
            *(drawing_names(step.source) for step in plan.steps if step.role is not Role.SANDBOX)
        )
        self._shared: dict[int, tuple[Channel, Session, RpcClient]] = {}
        self._imports = ImportedNames(plan.names)

    def import_names(self, step: Step, namespace: dict[str, Any]) -> None:
        """Bind names that a read-only cell uses and that the source imports elsewhere.

        Args:
            step: the cell.
            namespace: the names of the runner.
        """
        if self._plan.names.imports:
            wanted = [name for name in names_used(step.source) if name not in namespace]
            namespace.update(self._imports.bound(wanted, step.name, with_later=True))

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
        client.forbidden, client.wrote, client.our_classes = step.forbidden, False, self._our_classes
        begin = len(session.exchanges)
        try:
            outcome = session.known_outcome()
            if outcome is None:
                outcome = outcome_of(step, lambda: self._execute(step, client, namespace))
                outcome = replace(_with_seeds(outcome, step.points), wrote=client.wrote)
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
        used = self._plan.used[step.index]
        # In a shared session, the sandbox goes on sharing them after a test that draws.
        client.draws |= draws(step.source, self._drawing) or not self._drawing.isdisjoint(used)
        seed_test(step.name, step.source, draws_own=client.draws)
        wanted = [name for name in used if name not in namespace and name not in self._plan.python]
        borrowed = self._plan.borrowed[step.index]
        wanted += [name for name in (*borrowed, *names_in_strings(step.source)) if name not in namespace]
        imported = self._imported(step, client, namespace, wanted) if self._plan.names.imports else {}
        wanted = [name for name in wanted if name not in imported]
        client.read_only_classes = {
            name: item
            for name in self._read_only_names & namespace.keys()
            if isinstance(item := namespace[name], type) and item.__module__ == "__main__"
        }
        answer = client.fetch_names(wanted, self._plan.views[step.index]) if wanted else {}
        # Only the requested names: a student's own torch or abs must not take part in judging.
        student_names = {name: answer[name] for name in wanted if name in answer}
        copies = _copies({name: namespace[name] for name in self._read_only_names & namespace.keys()})
        originals = {name: namespace[name] for name in copies.keys() - names_bound(step.source)}
        namespace.update(student_names | copies | imported)
        try:
            sources = sources_used(step.source, self._read_only_cells, namespace)
            with (
                settings_kept(),
                watched(client, sources, namespace),
                self._shared_names(step, client, namespace, borrowed),
            ):
                return _executed(step, namespace)
        except NameError as error:
            if not isinstance(error, StudentError) and error.name not in names_bound(step.source):
                with suppress(StudentError):  # nothing of the student's hides the error
                    setattr(error, IS_MODULE, bool(client.names(self._plan.views[step.index]).get(error.name or "")))
            raise
        finally:
            for name in (*student_names, *imported, *borrowed):
                namespace.pop(name, None)
            namespace.update(originals)

    def _shared_names(
        self, step: Step, client: RpcClient, namespace: dict[str, Any], borrowed: frozenset[str]
    ) -> AbstractContextManager[Any]:
        """Return a context in which the test may rebind, delete or list names of the student's, if it does."""
        watched, asks = self._plan.rebound[step.index] | borrowed, looks_for_names(step.source)
        if not watched and not asks:
            return nullcontext()
        stack, view = ExitStack(), self._plan.views[step.index]
        mirror = stack.enter_context(mirrored(client, namespace, watched))
        if asks:
            found = AllNames(
                namespace,
                mirror,
                lambda: client.names(view),
                lambda name: self._imports.bound([name], step.name) or client.fetch_names([name], view),
            )
            stack.enter_context(found.shown())
        return stack

    def _imported(
        self, step: Step, client: RpcClient, namespace: dict[str, Any], wanted: Collection[str]
    ) -> dict[str, Any]:
        """Return the names that the test uses and that the source imports, as the runner's own objects.

        If the test uses nothing else of the student's, it judges the imports of the answers: a module counts only if
        student code imported the same one, and any other object is the student's.
        """
        used = [name for name in self._plan.used[step.index] if name not in namespace]
        imported = self._imports.bound(used, step.name)
        if imported.keys() >= set(wanted) and (judged := self._imports.answered(imported)):
            theirs = client.names(self._plan.views[step.index])
            for name in judged:
                if not isinstance(imported[name], ModuleType) or theirs.get(name) != imported[name].__name__:
                    del imported[name]
        return imported


def _executed(step: Step, namespace: dict[str, Any]) -> Any:
    try:
        return execute(step.source, step.name, namespace)
    except BaseException as error:
        # `pytest.fail` and its like raise no Exception, and would end this process.
        if not any(base.__module__ == "_pytest.outcomes" for base in type(error).__mro__):
            raise
        raise AssertionError(str(error)) from error


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
    returned: ClassVar[list[int]] = []

    def seed(self) -> int:
        """Set the next seed and return it."""
        number = self.source.getrandbits(32)
        self.manual_seed(number)
        if len(self.returned) < MAX_SEEDS:
            self.returned.append(number)
        return number


def install_seeds() -> None:
    """Replace torch.Generator with the class above in this process."""
    setattr(torch, Generator.__name__, Generator)


def seed_test(test: str, source: str, *, draws_own: bool = True) -> None:
    """Seed the random numbers of a test.

    Args:
        test: its name.
        source: its code.
        draws_own: whether it may draw from `random` or `numpy.random`.
    """
    Generator.source = random.Random(f"{test}\n{source}")
    Generator.returned.clear()
    # Not torch.manual_seed, which also looks for graphics cards and takes milliseconds.
    torch.default_generator.manual_seed(zlib.crc32(test.encode()))
    if draws_own:
        seed_own(zlib.crc32(test.encode()))


def _with_seeds(outcome: TestOutcome, points: float) -> TestOutcome:
    """Return the outcome with the seeds of its test, which a student does not read, if it lost some of its points."""
    if outcome.result.points >= points:
        return outcome
    return replace(outcome, result=structs.replace(outcome.result, seeds=tuple(Generator.returned)))


def random_states() -> bytes:
    """Return the states of all random numbers of a test: they differ after it has drawn some."""
    drawn = Generator.source.getstate(), random.getstate(), numpy.random.get_state()
    return pickle.dumps((*drawn, torch.get_rng_state().tolist() if USES_TORCH else None))
