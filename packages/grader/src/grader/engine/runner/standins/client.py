"""Makes a call in the sandbox look like a call in this process.

    test cell -> proxy -> RpcClient -> Request -> sandbox -> Reply -> value, or the student's exception

Gradients, the random state, writes into arguments and into their `.grad`, calls of the test's own functions by student
code, and printed text all work as in one process.
"""

import itertools
import sys
import weakref
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from enum import Enum
from types import FunctionType
from typing import Any, TypeVar

from grader.engine.notebook.names import View
from grader.engine.rpc import definitions, iterators, library_objects, protocol
from grader.engine.rpc.arrays import overwrite
from grader.engine.rpc.channel import MessageChannel
from grader.engine.rpc.containers import containers, write_back
from grader.engine.rpc.copied_objects import apply
from grader.engine.rpc.exceptions import to_data
from grader.engine.rpc.generators import advance, advance_own, kind_of, own_states, state_of
from grader.engine.rpc.gradients import gradient_of, put
from grader.engine.rpc.graphs import Graph, Graphs, attached, kinds
from grader.engine.rpc.lent import DELETE, SET, is_lent, lend, operate
from grader.engine.rpc.process_state import Changed, packed
from grader.engine.rpc.protocol import Handle, ProtocolError
from grader.engine.rpc.random_state import KnownState, accepted_state
from grader.engine.rpc.tensors import DecodedTensors, dtype_name
from grader.engine.rpc.values import Packer, Place, tensor_at, unpack
from grader.engine.runner.standins.classes import DATA, RemoteClass, local_class
from grader.engine.runner.standins.module_state import module_from
from grader.engine.runner.standins.proxies import (
    STAND_INS,
    Measure,
    ModuleState,
    RemoteModule,
    RemoteObject,
    StudentError,
    Verb,
    checked_field,
    handle_of,
    local_error,
)
from grader.engine.torch_if_used import USES_TORCH, torch

R = TypeVar("R")
CALLED_BACK = "called_back"
"""Attribute of an exception: the name of the function of the test that raised it when student code called it."""


class CannotPass(TypeError):
    """A test passed something to student code that cannot cross to its process, for which no student is to blame."""


class RpcClient:
    """One session with a sandbox. When another session with its id begins, the sandbox drops the objects of this one.

    Args:
        channel: sends requests to the sandbox and receives its replies.
        session: the id of the session.
    """

    def __init__(self, channel: MessageChannel, session: int = 0) -> None:
        self._channel = channel
        self._session = session
        self._is_new = True
        self._lent: list[Any] = []
        """Functions and objects of the test that student code got, by number."""
        self._lent_refs: dict[int, protocol.LentRef] = {}
        self._making: _Call | None = None
        """The call that student code is making."""
        self._errors: list[Exception] = []
        self.modules: weakref.WeakValueDictionary[int, RemoteModule] = weakref.WeakValueDictionary()
        self.parameters: weakref.WeakValueDictionary[int, torch.nn.Parameter] = weakref.WeakValueDictionary()
        self._objects: weakref.WeakValueDictionary[int, RemoteObject | StudentError] = weakref.WeakValueDictionary()
        """One stand-in for each object, so that `is` and default equality work."""
        self._classes: dict[int, RemoteClass] = {}
        self.our_classes: Mapping[str, frozenset[str]] = {}
        """The author's own classes, and the names that each defines; see names.classes_defined."""
        self.read_only_classes: Mapping[str, type] = {}
        """The classes that read-only cells define, which run in both processes."""
        self._graphs = itertools.count()
        self.unused_graphs: list[int] = []
        self._graphs_here = Graphs()
        """Calls whose gradients are no longer needed; the next request tells the sandbox."""
        self._random, self._own_random = KnownState(), KnownState()
        self._streams = sys.stdout, sys.stderr
        """Those of this process. A test that has replaced them captures what student code prints."""
        self.forbidden: tuple[str, ...] = ()
        """Student code may call no library function with one of these words in its name."""
        self.draws = False
        """Whether the test shares the generators of `random` and `numpy.random` with student code."""
        self.wrote = False
        """Whether student code wrote into tensors, lists or dicts that it was given."""
        self.before_call: Callable[[], None] | None = None
        """Brings names in the sandbox up to date, for a test that changes them."""
        self.process: Changed | None = None
        """What a test may change of its process; this code itself runs with everything as before."""

    def run(self, cell: protocol.RunCell) -> protocol.CellDone:
        """Run a cell in the sandbox and return its outputs, the exception that it ended with, and the names it bound.

        Args:
            cell: the cell, with its compiled code from `shell.compiled_bytes` if it is an instructor's.
        """
        self._channel.send(cell, [])
        return self._reply(protocol.CellDone)[0]

    def fetch_names(self, names: list[str], view: View | None = None) -> dict[str, Any]:
        """Return the objects of names in the sandbox: copies of values, and proxies of everything else.

        Args:
            names: the names; unbound ones are left out of the result.
            view: if given, the names in the sandbox first get the values that this test sees.
        """
        found = self.call(Verb.LOOK, (names, view), {})
        for name, item in found.items():
            if isinstance(item, RemoteClass):
                item._remote_class.named = name
        return found

    def class_of(self, described: protocol.Classes) -> Any:
        """Return the stand-in of a class.

        Args:
            described: the class and its bases, as the sandbox describes them.
        """
        return local_class(self, described, self._classes)

    def names(self, view: View | None = None) -> dict[str, str]:
        """Return all names in the sandbox, each with the name of the module that it is bound to, or ''.

        Args:
            view: as in `fetch_names`.

        Raises:
            ProtocolError: the answer is something else.
        """
        names = self.call(Verb.NAMES, (view,), {})
        if type(names) is not dict or any(type(text) is not str for text in (*names, *names.values())):
            raise ProtocolError("the names of the sandbox must come as a dict of texts")
        return names

    def bind(self, name: str, item: Any) -> None:
        """Bind a name in the sandbox, as far as its object can cross."""
        try:
            call = _Call(self, Verb.BIND, (name, item), {})
        except (ProtocolError, TypeError):
            return  # student code has no use for it
        self._made(call)

    def call(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """Return the value of a call in the sandbox. Modules and their stand-ins are in sync before and after it.

        Args:
            target: a RemoteObject, RemoteModule, Method or Verb.
            args: its arguments.
            kwargs: its keyword arguments.

        Raises:
            Exception: the student's, as a StudentError, or that of a function of the test that was called back.
        """
        return self._call(target, args, kwargs)[0]

    def call_measured(self, measure: Measure, target: Any, args: tuple, kwargs: dict) -> tuple[Any, int]:
        """Return the value of a call, and the number that `measure` finds in the process of the student's code.

        Args:
            measure: a function of a helper package. It takes a function and its arguments, makes the call, and returns
                its value and an integer from 0. Student code can forge the number.
            target: as in `call`, like the other arguments.
        """
        return self._call(target, args, kwargs, f"{measure.__module__}:{measure.__qualname__}")

    def _call(self, target: Any, args: tuple, kwargs: dict, measure: str = "") -> tuple[Any, int]:
        with nullcontext() if self.process is None else self.process.suspended():
            if self.before_call is not None:
                self.before_call()
            call = _Call(self, target, args, kwargs, measure)
            return self._made(call), call.measured

    def _made(self, call: "_Call") -> Any:
        value, outputs = call.exchange()
        attached(Graph(self, call.graph), outputs, call.collecting)
        return value

    def new_graph(self) -> int:
        """Return the number of a new call."""
        return next(self._graphs)

    def gradients_of(
        self, graph: int, gradients: dict[int, torch.Tensor], new: int | None
    ) -> tuple[list[torch.Tensor | None], list[int]]:
        """Return the gradients of the inputs of an earlier call.

        Args:
            graph: the number of the call.
            gradients: the gradients of its outputs, by place.
            new: the graph of this backward pass itself, if it is to be differentiated.

        Raises:
            ProtocolError: the reply contradicts itself.
        """
        request = protocol.Backward(session=self._session, graph=graph, outputs=list(gradients), new=new)
        with nullcontext() if self.process is None else self.process.suspended():
            reply, decoded = self._ask(request, list(gradients.values()), protocol.Gradients)
        found = [None if number is None else tensor_at(decoded.tensors, number) for number in reply.tensors]
        if any(place >= len(found) or found[place] is None for place in reply.again):
            raise ProtocolError("a gradient that can be differentiated must be there")
        return found, reply.again

    def _ask(
        self, request: protocol.Call | protocol.Backward, tensors: list[torch.Tensor], expected: type[R]
    ) -> tuple[R, DecodedTensors]:
        """Send a request of this session; return the reply, or raise what student code raised."""
        request.forget = self.unused_graphs.copy()
        self.unused_graphs.clear()
        if isinstance(request, protocol.Call):
            request.new, self._is_new = self._is_new, False
        try:
            self._channel.send(request, tensors)
        except ProtocolError as error:
            # Nothing was sent, and the test may go on.
            self.unused_graphs += request.forget
            self._is_new |= isinstance(request, protocol.Call) and request.new
            raise CannotPass(str(error)) from error
        return self._reply(expected)

    def _reply(self, expected: type[R]) -> tuple[R, DecodedTensors]:
        while True:
            reply, decoded = self._channel.receive()
            if printed := getattr(reply, "printed", None):
                for is_error, text in printed:
                    (sys.stderr if is_error else sys.stdout).write(text)
            if isinstance(reply, expected):
                return reply, decoded
            if isinstance(reply, protocol.Callback):
                self._answer_callback(reply, decoded)
            elif isinstance(reply, protocol.Raised):
                raise self._error(reply)
            else:
                raise ProtocolError(f"the reply must be a {expected.__name__}; a {type(reply).__name__} arrived")

    def _answer_callback(self, question: protocol.Callback, decoded: DecodedTensors) -> None:
        """Call the function of the test for student code, and send back its value or exception."""
        places, number = question.outputs, question.function
        if places is None and number >= len(self._lent):
            raise ProtocolError("student code may call back only functions that a test passed to it")
        inputs = []
        for place, is_leaf in question.requires_grad:
            inputs.append(leaf := _differentiable(tensor_at(decoded.tensors, place)).requires_grad_())
            decoded.tensors[place] = leaf if is_leaf else leaf.clone()
        args, kwargs = self._value(question.call, decoded)
        tensors: list[torch.Tensor] = []
        reply: protocol.CallbackReturned | protocol.CallbackRaised
        self._graphs_here.forget(question.forget)
        function = None if places is not None else self._lent[number]
        self.wrote |= question.verb in (SET, DELETE)
        again: list[int] = []
        try:
            with nullcontext() if self.process is None else self.process.resumed():
                if places is not None:
                    result, again = self._graphs_here.differentiate(number, places, list(args), question.graph)
                else:
                    with torch.set_grad_enabled(question.grad_enabled):
                        result = operate(function, question.verb, args, kwargs)
            reply = protocol.CallbackReturned(
                value=_packed(result, Packer(self._refer, tensors, parameter=self.known)), differentiable=again
            )
            if inputs and question.graph is not None:
                reply.differentiable, _ = kinds(tensors, inputs)
                self._graphs_here.add(question.graph, inputs, [tensors[number] for number in reply.differentiable])
        except Exception as error:
            setattr(error, CALLED_BACK, getattr(function, "__name__", ""))
            self._errors.append(error)
            info, tensors = to_data(error), []
            reply = protocol.CallbackRaised(kind=info.kind, message=info.message, number=len(self._errors) - 1)
        self._channel.send(reply, tensors)

    def _error(self, raised: protocol.Raised) -> Exception:
        """Return the exception to raise here: the original if a function of the test raised it."""
        if raised.callback is not None and raised.callback < len(self._errors):
            return self._errors[raised.callback]
        of = self.class_of(raised.of) if raised.of else None
        if raised.object_id is None or of is not None and not issubclass(of, StudentError):
            return local_error(raised.error)
        known = self._objects.get(raised.object_id)
        if isinstance(known, StudentError):
            return known
        error = self._objects[raised.object_id] = local_error(raised.error, self, raised.object_id, of)
        return error

    def _value(self, tree: protocol.Tree, decoded: DecodedTensors) -> Any:
        return unpack(tree, decoded.tensors, self._resolve, checked_field, decoded.arrays)

    def _refer(self, item: Any, place: Place) -> Handle:
        """Return the handle of an object that a test passes to student code and that stays here."""
        if (handle := handle_of(item)) is not None:
            return handle
        if callable(item) or is_lent(item):
            if id(item) not in self._lent_refs:
                self._lent_refs[id(item)] = lend(item, len(self._lent))
                self._lent.append(item)
            return self._lent_refs[id(item)]
        raise TypeError(f"a test may pass values, arrays and functions to student code, not a {type(item).__name__}")

    def known(self, parameter: torch.Tensor) -> protocol.ObjectRef | None:
        """Return the handle of a parameter of a student's module that still has a stand-in, whose changes come back.

        Args:
            parameter: one of the test's, or of a stand-in.
        """
        found = next((number for number, each in self.parameters.items() if each is parameter), None)
        modules = self.modules.values() if found is not None else ()
        is_tracked = any(each is parameter for module in modules for each in module.parameters())
        return protocol.ObjectRef(object_id=found) if is_tracked and found is not None else None

    def _resolve(self, handle: Handle, tensors: list[torch.Tensor]) -> Any:
        if isinstance(handle, protocol.ObjectHandle):
            return self._object(handle)
        if isinstance(handle, protocol.GivenRef):
            return self._given(handle.kind, handle.number)
        if not isinstance(handle, protocol.ModuleHandle):
            raise ProtocolError(f"a sandbox refers only to objects of its own; got a {type(handle).__name__}")
        module = self.modules.get(handle.object_id)
        if module is None:
            module = self.modules[handle.object_id] = module_from(self, handle, tensors)
        return module

    def _resolve_module(self, handle: Handle, tensors: list[torch.Tensor]) -> Any:
        if not isinstance(handle, protocol.ModuleHandle):
            raise ProtocolError("an object of the test may get a module of the student's, and no other object")
        return self._resolve(handle, tensors)

    def _given(self, kind: protocol.Given, number: int) -> Any:
        """Return an object of the test that student code gives back."""
        known: Any = self._lent if kind is protocol.Given.LENT else {}
        if kind is not protocol.Given.LENT and self._making is not None:
            known = self._making.given(kind)
        try:
            return known[number]
        except (IndexError, KeyError):
            raise ProtocolError(f"student code got no {kind} of the number {number}") from None

    def _object(self, handle: protocol.ObjectHandle) -> Any:
        """Return the stand-in of an object that is no module."""
        item = self._objects.get(handle.object_id)
        if item is not None:
            return item
        if handle.kind in STAND_INS:
            item = STAND_INS[handle.kind](self, handle.object_id, handle.name)
        elif not handle.of:
            item = RemoteObject(self, handle.object_id)
        else:
            of = self.class_of(handle.of)
            if handle.kind is protocol.Kind.CLASS:
                return of
            library = of._remote_class.library
            if library is not None and issubclass(library, Enum) and handle.name in library.__members__:
                return library[handle.name]
            if issubclass(of, RemoteModule) or library is not None and issubclass(library, DATA):
                raise ProtocolError(f"a value of the class {of.__name__} must cross as such; an object arrived")
            if issubclass(of, StudentError):
                kind = next(base.__name__ for base in of.__mro__ if base.__module__ == "builtins")
                info = protocol.ErrorInfo(kind=kind, name=of.__name__)
                item = local_error(info, self, handle.object_id, of)
                item._was_raised = False
            else:
                item = object.__new__(of)
                RemoteObject.__init__(item, self, handle.object_id)
        self._objects[handle.object_id] = item
        return item


def is_stand_in(item: Any) -> bool:
    """Return whether an object stands for one of the student's."""
    return handle_of(item) is not None


def _is_copied(item: Any) -> bool:
    """Return whether an object that is no function of the test's is copied for student code, and not lent to it."""
    return library_objects.crosses(item) and (definitions.is_of_torch(item) or not is_lent(item))


def _differentiable(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor; raise ProtocolError if its numbers can have no gradient."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ProtocolError(f"a tensor of {tensor.dtype} has no gradient")
    return tensor


def _packed(value: Any, packer: Packer) -> protocol.Tree:
    """Pack what a test passes to student code; raise CannotPass if it cannot cross."""
    return _crossing(lambda: packer.walk(value, 0))


def _crossing(pack: Callable[[], R]) -> R:
    try:
        return pack()
    except (TypeError, ProtocolError) as error:
        raise CannotPass(str(error)) from error


class _Call:
    """A call to send: its arguments, the changed modules and the tensors that collect gradients."""

    def __init__(self, client: RpcClient, target: Any, args: tuple, kwargs: dict, measure: str = "") -> None:
        if USES_TORCH and torch._C._functorch.peek_interpreter_stack() is not None:
            raise CannotPass("torch.func and vmap do not reach into another process; tag the cell `together`")
        self._client, self._target = client, target
        self._tensors: list[torch.Tensor] = []
        self._generators: list[Any] = []
        self.measured = 0
        self.graph = client.new_graph()
        self._packer = packer = Packer(self._refer, self._tensors, parameter=client.known)
        self._handed = library_objects.Handed()
        self._arrays = packer.arrays
        self._request = request = protocol.Call(
            session=client._session,
            call=_packed((target, args, kwargs), packer),
            graph=self.graph,
            grad_enabled=torch.is_grad_enabled(),
            forbidden=client.forbidden,
            captures=(sys.stdout, sys.stderr) != client._streams,
            measure=measure,
            dtype=dtype_name(torch.get_default_dtype()),
        )
        if client.process is not None and (changed := client.process.now):
            request.process = _crossing(lambda: packed(changed, lambda item: packer.walk(item, 0)))
        if shared := self._handed.shared:
            request.shared = _packed(shared, packer)
        self._containers = containers((*args, *kwargs.values(), *shared))
        differentiable = [n for n, tensor in enumerate(self._tensors) if tensor.requires_grad and request.grad_enabled]
        request.requires_grad = [(number, self._tensors[number].is_leaf) for number in differentiable]
        self.collecting = [self._tensors[number] for number in differentiable]
        # Gradients come after their tensors: a write into one comes back like any other write.
        for number, tensor in enumerate(self._tensors[:]):
            if (gradient := gradient_of(tensor)) is not None:
                request.gradients.append((number, len(self._tensors)))
                self._tensors.append(gradient)
        self._sent = list(self._tensors)
        self._states = self._add_modules()

    def _add_modules(self) -> dict[int, ModuleState]:
        """Send all modules, because any function may use any of them: a student's train() may use a global model."""
        request, packer = self._request, Packer(self._client._refer, self._sent)
        # valuerefs(), because items() takes several times as long.
        references = self._client.modules.valuerefs()
        states = {ref.key: module._remote.state for ref in references if (module := ref()) is not None}
        request.modules = list(states)
        for object_id, state in states.items():
            changes, parameters = state.changes(packer.place)
            if request.grad_enabled:
                self.collecting += parameters
            if changes:
                request.changes.append((object_id, changes))
        return states

    def exchange(self) -> tuple[Any, list[torch.Tensor]]:
        """Make the call; return its value and the tensors in it that have a gradient in the sandbox."""
        client = self._client
        before, client._making = client._making, self
        try:
            return self._exchanged()
        finally:
            client._making = before

    def _exchanged(self) -> tuple[Any, list[torch.Tensor]]:
        client, request = self._client, self._request
        random_state = torch.get_rng_state()
        if client._random.is_news(random_state):
            request.random = len(self._sent)
            self._sent.append(random_state)
        if client.draws and client._own_random.is_news(states := own_states()):
            request.own_random = len(self._sent)
            self._sent.append(states)
        reply, decoded = client._ask(request, self._sent, protocol.Returned)
        if request.measure:
            if reply.measured is None:
                raise ProtocolError("the reply to a measured call must hold its measure; there is none")
            self.measured = reply.measured
        tensors = decoded.tensors
        for number, is_parameter, requires_grad in reply.leaves:
            leaf = tensor_at(tensors, number).requires_grad_(requires_grad)
            tensors[number] = torch.nn.Parameter(leaf, requires_grad) if is_parameter else leaf
        value = client._value(reply.value, decoded)
        if reply.effects is not None:
            self._apply(reply.effects, decoded)
        for object_id, paths in reply.grown:
            self.collecting += self._state(object_id).tensors(paths)
        return value, [tensor_at(tensors, number) for number in reply.differentiable]

    def given(self, kind: protocol.Given) -> Any:
        """Return the objects of one kind that this call hands over, by number.

        Args:
            kind: the kind.
        """
        match kind:
            case protocol.Given.CONTAINER:
                return self._containers
            case protocol.Given.TENSOR:
                return dict(enumerate(self._tensors)) | self._arrays
        return [item for item, _ in self._handed.items]

    def _state(self, object_id: int) -> ModuleState:
        if object_id not in self._states:
            raise ProtocolError(f"a reply may name only modules of its call; there is no module {object_id}")
        return self._states[object_id]

    def _apply(self, effects: protocol.Effects, decoded: DecodedTensors) -> None:
        client, arrived = self._client, decoded.tensors
        client.wrote |= bool(effects.written or effects.containers)
        for number, place in effects.written:
            tensor, content = tensor_at(self._tensors, number), tensor_at(arrived, place)
            if number in self._arrays:
                overwrite(self._arrays[number], content)
            elif tensor.shape == content.shape and tensor.dtype is content.dtype:
                tensor.data.copy_(content)
            else:
                tensor.data = content
        for number, gradient in effects.gradients:
            put(tensor_at(self._tensors, number), None if gradient is None else tensor_at(arrived, gradient))
        contents = [(number, client._value(tree, decoded)) for number, tree in effects.containers]
        write_back(self._containers, contents)
        for object_id, changes in effects.modules:
            self._state(object_id).take(client, changes, arrived)
        sent, received = len(self._generators), len(effects.generators)
        if received and received != sent:
            raise ProtocolError(f"the states of {sent} generators must come back; {received} arrived")
        for generator, place in zip(self._generators, effects.generators, strict=False):
            advance(generator, tensor_at(arrived, place))
        for number, tree in effects.objects:
            if number >= len(handed := self._handed.items):
                raise ProtocolError(f"{len(handed)} objects were handed over; there is no object {number}")
            changes = unpack(tree, arrived, client._resolve_module, found=decoded.arrays)
            apply(handed[number], changes, self._tensors)
        for number, requires_grad in effects.requires_grad:
            if not (tensor := tensor_at(self._tensors, number)).is_leaf:
                raise ProtocolError("only a leaf can be frozen")
            _differentiable(tensor).requires_grad_(requires_grad)
        if effects.random is not None:
            after = tensor_at(arrived, effects.random)
            state = accepted_state(client._random.state, after)
            client._random.take(after)
            torch.set_rng_state(state)
        if effects.own_random is not None:
            if not client.draws:
                raise ProtocolError("the states of random and numpy.random must not come back to a test without them")
            after = tensor_at(arrived, effects.own_random)
            client._own_random.take(after)
            advance_own(after)

    def _refer(self, item: Any, place: Place) -> Handle:
        if (handle := handle_of(item)) is not None:
            return handle
        if (kind := kind_of(item)) is not None:
            self._generators.append(item)
            return protocol.GeneratorRef(state=place(state_of(item)), kind=kind)
        if iterators.is_of_python(item):
            items, item = iterators.tensors_in(item)
            if items is not None:
                if isinstance(self._target, type) and any(map(self._is_own_parameter, items)):
                    raise TypeError(
                        "an object of the student's would keep copies of a test's parameters; tag it together"
                    )
                return protocol.IteratorRef(items=self._packer.walk(items, 0))
        is_ours = isinstance(item, FunctionType) and definitions.is_defined_by_test(item)
        if definitions.needs_sending(item, is_stand_in) if is_ours else _is_copied(item):
            handle = self._handed.handle(item, self._part, place)
        return handle or self._client._refer(item, place)

    def _is_own_parameter(self, item: Any) -> bool:
        return isinstance(item, torch.nn.Parameter) and self._client.known(item) is None

    def _part(self, item: Any) -> Handle | None:
        """Return the handle of a part of a library's object that is not copied, None for one that is."""
        if isinstance(item, torch.nn.Parameter):
            return self._client.known(item)  # an optimiser of the test may hold parameters of the student's
        if isinstance(item, FunctionType) and definitions.is_defined_by_test(item) and definitions.binds_outside(item):
            return self._client._refer(item, lambda tensor: 0)
        return handle_of(item)
