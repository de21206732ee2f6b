"""Answers a runner's requests with a namespace of student code.

    Request, tensors  ->  RpcServer.answer  ->  Reply, tensors

In each session the server numbers the objects in its replies, so that the runner can refer to them. It runs in the
sandbox, whose replies are untrusted, and in diagnosis, where a mutated reference solution replaces the student's code.
"""

import copy
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import Any, Protocol

import numpy

from grader.engine.notebook.names import View
from grader.engine.rpc.exceptions import ForbiddenFunction, to_data
from grader.engine.rpc.generators import own_states, renewed, restore_own, seed_own
from grader.engine.rpc.graphs import Graphs, kinds
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.copied_objects import Copies
from grader.engine.rpc.objects.handles import (
    GeneratorRef,
    Handle,
    IteratorRef,
    LentRef,
    LibraryObject,
    MethodRef,
    ObjectRef,
    VerbRef,
)
from grader.engine.rpc.operations import OPERATIONS
from grader.engine.rpc.protocol import (
    MAX_LINE,
    Backward,
    Call,
    CellDone,
    Effects,
    ErrorCode,
    Gradients,
    ModuleChanges,
    Raised,
    Reply,
    Request,
    Returned,
    RunCell,
)
from grader.engine.rpc.state.process_state import Changed, applied, unpacked
from grader.engine.rpc.state.random_state import KnownState
from grader.engine.rpc.state.torch_settings import default_dtype
from grader.engine.rpc.values.containers import WatchedContainers
from grader.engine.rpc.values.tensors import FROM_NAME, DecodedTensors
from grader.engine.rpc.values.trees import Packer, Place, tensor_at, unpack
from grader.engine.sandbox.bindings import UNBOUND, Bindings, identifiers
from grader.engine.sandbox.call_arguments import CallArguments
from grader.engine.sandbox.callbacks import CALLBACK_NUMBER, AskBack, Callbacks
from grader.engine.sandbox.descriptions import Descriptions, code, library_name, signature
from grader.engine.sandbox.imports import run_imports
from grader.engine.sandbox.module_tracker import ModuleTracker
from grader.engine.sandbox.printed import PrintedText
from grader.engine.torch_if_used import USES_TORCH, nn, torch
from grader_kernel.without import without

NO_EFFECTS = Effects()
NOTHING = nullcontext()
Answer = tuple[Reply, list[torch.Tensor]]


class CellRunner(Protocol):
    """Runs cells of student code and holds the names that they bind; `shell.Shell` is one."""

    namespace: dict[str, Any]

    def run(self, source: str, name: str, code: bytes = b"") -> CellDone: ...


class _Session:
    """The state of one session: objects by number, graphs of calls, tracked modules, the random state."""

    def __init__(self, callbacks: Callbacks) -> None:
        self.callbacks = callbacks
        self.objects: list[Any] = []
        self.graphs = Graphs()
        self.random = KnownState()
        self.own_random: KnownState | None = None
        """The states of `random` and `numpy.random`, if the test uses them."""
        self._ids: dict[int, int] = {}
        self.descriptions = Descriptions(self.object_id)
        self.modules = ModuleTracker(self.object_id, self.descriptions.of_class)

    def object_id(self, item: Any) -> int:
        """Return the number of an object, assigned at its first appearance."""
        if id(item) not in self._ids:
            self._ids[id(item)] = len(self.objects)
            self.objects.append(item)
        return self._ids[id(item)]


class RpcServer:
    """Answers the requests of a runner.

    Args:
        shell: the student's cells and names.
        ask_back: sends a callback to the runner in the middle of a call and returns the reply.
    """

    def __init__(self, shell: CellRunner, ask_back: AskBack) -> None:
        self._shell = shell
        self._ask_back = ask_back
        self._sessions: dict[int, _Session] = {}
        self._bindings = Bindings()
        self._view: View | None = None
        self._printed = PrintedText()
        self._changed: Changed | None = None
        """What the test has changed of its process, while student code runs."""
        self._undo: Callable[[], None] = lambda: None
        """Gives the names back that they had before a test looked at them."""
        # Operations on an object other than a call.
        self._verbs: dict[str, Callable] = {
            **{"get": getattr, "set": setattr, "copy": copy.deepcopy, "len": len, "look": self._look},
            **{"iter": iter, "next": next, "isinstance": isinstance, "issubclass": issubclass, "names": self._names},
            **{"bind": self._bind, "unbind": self._unbind, "restore": self._restore},
            **{"delete": delattr, "signature": signature, "code": code, "hook": _hook, **OPERATIONS},
        }
        self._changed_by_test: dict[str, Any] = {}
        """What the names were bound to that the running test binds to something else."""

    def answer(self, request: Request, decoded: DecodedTensors) -> Answer:
        """Return the reply to one request. An exception of the student's code is also a reply.

        Args:
            request: the request.
            decoded: the tensors that came with it.
        """
        if isinstance(request, RunCell):
            return self._run(request)
        if isinstance(request, Call) and request.new:
            callbacks = Callbacks(
                self._ask_back, self._refer, self._resolve, self._printed, self._shell.namespace, self._suspended
            )
            self._sessions[request.session] = _Session(callbacks)
            # No score depends on what was drawn in earlier tests.
            seed_own(0)
        self._session = self._sessions[request.session]
        self._session.graphs.forget(request.forget)
        try:
            if isinstance(request, Call):
                return self._call(request, decoded)
            return self._backward(request, decoded)
        except BaseException as error:
            # SystemExit and KeyboardInterrupt of student code are its own failures and do not end the sandbox.
            return self._raised(error), []

    def _raised(self, error: BaseException) -> Raised:
        number = getattr(error, CALLBACK_NUMBER, None)
        raised = Raised(error=to_data(error), callback=number, printed=self._printed.take())
        if raised.callback is None and raised.error.code is ErrorCode.RAISED and isinstance(error, Exception):
            # The session keeps the exception for a test that asks for its attributes, but not what its frames hold.
            error.with_traceback(None)
            raised.object_id = self.object_id(error)
            if not library_name(type(error)).startswith("builtins:"):
                raised.of = self._session.descriptions.of_class(type(error))
        return raised

    def object_id(self, item: Any) -> int:
        """Return the number of an object in the current session."""
        return self._session.object_id(item)

    def object(self, object_id: int) -> Any:
        """Return the object with this number in the current session."""
        return self._session.objects[object_id]

    def change(self, object_id: int, changes: ModuleChanges, tensors: list[torch.Tensor]) -> None:
        """Apply changes to a module of the current session.

        Args:
            object_id: the number of the module.
            changes: the changes.
            tensors: the tensors to which the changes refer.
        """
        self._session.modules.receive(object_id, changes, tensors)

    def _run(self, request: RunCell) -> Answer:
        self._show(None)
        if request.imports_except is None:
            done = self._shell.run(request.source, request.name, request.code)
        else:
            done = CellDone()
            run_imports(request.source, self._shell.namespace, request.imports_except)
        done.bound, done.defined = self._bindings.record(request, self._shell.namespace)
        return done, []

    def _look(self, names: list[str], view: View | None = None) -> dict[str, Any]:
        namespace = self._shell.namespace
        if view != self._view:
            self._show(view)
        items = {name: namespace[name] for name in names if name in namespace}
        return {name: item for name, item in items.items() if not isinstance(item, ModuleType)}

    def _names(self, view: View | None = None) -> dict[str, str]:
        if view != self._view:
            self._show(view)
        namespace = dict(self._shell.namespace)
        return {
            name: str(item.__name__)[:MAX_LINE] if isinstance(item := namespace[name], ModuleType) else ""
            for name in identifiers(namespace)
        }

    def _bind(self, name: str, item: Any) -> None:
        self._unbind(name)
        self._shell.namespace[name] = item

    def _unbind(self, name: str) -> None:
        before = self._shell.namespace.pop(name, UNBOUND)
        self._changed_by_test.setdefault(name, before)

    def _restore(self, names: list[str]) -> None:
        """Undo what the running test did to names."""
        kept = {name: self._changed_by_test.pop(name) for name in names if name in self._changed_by_test}
        _replace(self._shell.namespace, kept, {name: item for name, item in kept.items() if item is not UNBOUND})

    def _show(self, view: View | None) -> None:
        """Give names the values that a test sees; without a view, those that the cells left."""
        self._undo()
        self._view, self._undo = view, lambda: None
        names, kept = ({}, {}) if view is None else self._bindings.seen_from(view)
        if view is None or not names:
            return
        # In place, because the student's functions look up their names in this very dict.
        namespace = self._shell.namespace
        if view.check is None:
            # Only what must differ: the rest has what student code has bound while visible tests ran.
            before = {name: namespace[name] for name in kept.keys() & namespace.keys()}
            namespace.update(kept)
            self._undo = lambda: _replace(namespace, kept, before)
        else:
            before = dict(namespace)
            _replace(namespace, before, names)
            self._undo = lambda: _replace(namespace, list(namespace), before)

    def _call(self, request: Call, decoded: DecodedTensors) -> Answer:
        session, arguments = self._session, CallArguments(request, decoded)
        resolve = lambda handle, tensors: self._resolve(handle, tensors, arguments)  # noqa: E731
        shared = unpack(request.shared, decoded.tensors, resolve, found=decoded.arrays) or []
        arguments.copies = Copies(decoded.tensors, shared)
        target, args, kwargs = unpack(request.call, decoded.tensors, resolve, found=decoded.arrays)
        watched = WatchedContainers((*args, *kwargs.values(), *shared))
        arguments.begin()
        for object_id, changes in request.changes:
            self.change(object_id, changes, decoded.tensors)
        inputs = arguments.inputs
        if request.grad_enabled:
            for object_id in request.modules:
                inputs += session.modules.collecting(object_id)
        if request.random is not None:
            state = tensor_at(decoded.tensors, request.random)
            session.random.take(state)
            torch.set_rng_state(state)
        if request.own_random is not None:
            states = tensor_at(decoded.tensors, request.own_random)
            session.own_random = KnownState()
            session.own_random.take(states)
            restore_own(states)
        # New tensors get the test's default dtype, even if the student's own cells have set another.
        dtype = FROM_NAME[request.dtype]
        forbidden = without(*request.forbidden, error=ForbiddenFunction) if request.forbidden else NOTHING
        printing = self._printed.collecting() if request.captures else NOTHING
        unpacking = lambda tree: unpack(tree, decoded.tensors, resolve, found=decoded.arrays)  # noqa: E731
        changed = applied(unpacked(request.process, unpacking)) if request.process is not None else None
        with (
            torch.set_grad_enabled(request.grad_enabled),
            forbidden,
            default_dtype(dtype),
            printing,
            NOTHING if changed is None and self._changed is None else self._as_in(changed),
        ):
            if request.measure:
                result, measured = pkgutil.resolve_name(request.measure)(target, *args, **kwargs)
            else:
                result, measured = target(*args, **kwargs), None

        tensors: list[torch.Tensor] = []
        known = session.callbacks.given | arguments.given(watched)
        value = Packer(self._refer, tensors, known).walk(result, 0)
        reply = Returned(value=value, measured=measured, printed=self._printed.take())
        of_value, packer = len(tensors), Packer(self._refer, tensors, known)
        modules, grown = self._module_changes(request, inputs, packer)
        reply.differentiable, reply.leaves = kinds(tensors[:of_value], inputs)
        effects = arguments.effects(watched, packer, self._refer)
        effects.modules = modules
        now = torch.get_rng_state()
        if session.random.is_news(now):
            effects.random = packer.place(now)
        if session.own_random is not None and session.own_random.is_news(states := own_states()):
            effects.own_random = packer.place(states)
        if reply.differentiable:
            session.graphs.add(request.graph, inputs, [tensors[number] for number in reply.differentiable])
            reply.grown = grown
        reply.effects = effects if effects != NO_EFFECTS else None
        return reply, tensors

    @contextmanager
    def _as_in(self, changed: Changed | None) -> Iterator[None]:
        """Have the process in a `with` block as the test left its own, but not for code of the grader's."""
        outer, self._changed = self._changed, changed
        try:
            with nullcontext() if changed is None else changed.resumed():
                yield
        finally:
            self._changed = outer

    def _module_changes(
        self, request: Call, inputs: list[torch.Tensor], packer: Packer
    ) -> tuple[list[tuple[int, ModuleChanges]], list[tuple[int, list[str]]]]:
        """Return changed modules, and parameters that the call made or unfroze; add the latter to `inputs`."""
        tracker, changed, grown = self._session.modules, [], []
        for object_id in request.modules:
            if changes := tracker.report(object_id, packer.place):
                changed.append((object_id, changes))
                if request.grad_enabled and (new := tracker.new_inputs(object_id, inputs)):
                    inputs += new.values()
                    grown.append((object_id, list(new)))
        return changed, grown

    def _backward(self, request: Backward, decoded: DecodedTensors) -> Answer:
        found, again = self._session.graphs.differentiate(request.graph, request.outputs, decoded.tensors, request.new)
        packer = Packer(self._refer, [])
        places = [None if gradient is None else packer.place(gradient) for gradient in found]
        return Gradients(tensors=places, again=again), packer.tensors

    def _refer(self, item: Any, place: Place) -> Handle:
        if isinstance(item, numpy.ndarray | numpy.generic) and type(item).__module__.partition(".")[0] == "numpy":
            raise ProtocolError(f"a numpy {type(item).__name__} came back where a plain array or a number is expected")
        if not USES_TORCH and type(item).__module__ in ("torch", "torch.nn.parameter"):
            raise ProtocolError(f"a torch.{type(item).__name__} came back, and the tests of this course know no torch")
        if isinstance(item, nn.Module):
            return self._session.modules.describe(item, place)
        return self._session.descriptions.of(item)

    def _suspended(self) -> AbstractContextManager[None]:
        """Take the test's changes of the process back while the grader's own code runs."""
        return NOTHING if self._changed is None else self._changed.suspended()

    def _resolve(self, handle: Handle, tensors: list[torch.Tensor], arguments: CallArguments | None = None) -> Any:
        # The target of every call is an ObjectRef, which a match statement would take four times as long to find.
        if isinstance(handle, ObjectRef):
            item = self.object(handle.object_id)
            return item.get_submodule(handle.part) if handle.part else item
        match handle:
            case MethodRef():
                return getattr(self._resolve(handle.owner, tensors), handle.method)
            case VerbRef():
                return self._verbs[handle.verb]
            case LentRef():
                return self._session.callbacks.lent(handle)
            case IteratorRef() if arguments is not None:
                return iter(unpack(handle.items, tensors, lambda part, _: self._resolve(part, tensors, arguments)))
            case GeneratorRef() if arguments is not None:
                arguments.generators.append(renewed(handle.kind, tensor_at(tensors, handle.state)))
                return arguments.generators[-1]
            case LibraryObject() if arguments is not None:
                return arguments.copies.item(handle, lambda part: self._resolve(part, tensors, arguments))
        raise ProtocolError(f"a runner refers to objects by the sandbox's own ids; got a {type(handle).__name__}")


def _hook(module: nn.Module, register: str, hook: Callable, more: dict[str, Any]) -> Any:
    """Register a hook of the test, which has the module itself; return the handle that removes it."""
    return getattr(module, register)(lambda _, *args: hook(*args), **more)


def _replace(namespace: dict[str, Any], old: Iterable[str], new: dict[str, Any]) -> None:
    for name in old:
        namespace.pop(name, None)
    namespace.update(new)
