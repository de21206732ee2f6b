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
from typing import Any, TypeVar

from grader.engine.notebook.names import View
from grader.engine.rpc import message, protocol
from grader.engine.rpc.channel import MessageChannel
from grader.engine.rpc.exceptions import to_data
from grader.engine.rpc.graphs import Graph, Graphs, attached, kinds
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects import handles
from grader.engine.rpc.objects.handles import Handle
from grader.engine.rpc.objects.lent import DELETE, SET, is_lent, lend, operate
from grader.engine.rpc.state.process_state import Changed
from grader.engine.rpc.state.random_state import KnownState
from grader.engine.rpc.values.tensors import DecodedTensors
from grader.engine.rpc.values.trees import Packer, Place, tensor_at, unpack
from grader.engine.runner.standins.call import Call, CannotPass, differentiable, packed_tree
from grader.engine.runner.standins.classes import DATA, RemoteClass, local_class
from grader.engine.runner.standins.errors import StudentError, local_error
from grader.engine.runner.standins.functions import STAND_INS
from grader.engine.runner.standins.module_state import module_from
from grader.engine.runner.standins.proxies import Measure, RemoteObject, Verb, checked_field, handle_of
from grader.engine.runner.standins.remote_module import RemoteModule
from grader.engine.torch_if_used import torch

R = TypeVar("R")
CALLED_BACK = "called_back"
"""Attribute of an exception: the name of the function of the test that raised it when student code called it."""


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
        self._lent_refs: dict[int, handles.LentRef] = {}
        self._making: Call | None = None
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
        """Calls whose gradients are no longer needed; the next request tells the sandbox."""
        self._graphs_here = Graphs()
        """Calls of functions of the test by student code."""
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

    def class_of(self, described: handles.Classes) -> Any:
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
            call = Call(self, Verb.BIND, (name, item), {})
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
            call = Call(self, target, args, kwargs, measure)
            return self._made(call), call.measured

    def _made(self, call: Call) -> Any:
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
            inputs.append(leaf := differentiable(tensor_at(decoded.tensors, place)).requires_grad_())
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
                value=packed_tree(result, Packer(self._refer, tensors, parameter=self.known)), differentiable=again
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

    def _value(self, tree: message.Tree, decoded: DecodedTensors) -> Any:
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

    def known(self, parameter: torch.Tensor) -> handles.ObjectRef | None:
        """Return the handle of a parameter of a student's module that still has a stand-in, whose changes come back.

        Args:
            parameter: one of the test's, or of a stand-in.
        """
        found = next((number for number, each in self.parameters.items() if each is parameter), None)
        modules = self.modules.values() if found is not None else ()
        is_tracked = any(each is parameter for module in modules for each in module.parameters())
        return handles.ObjectRef(object_id=found) if is_tracked and found is not None else None

    def _resolve(self, handle: Handle, tensors: list[torch.Tensor]) -> Any:
        if isinstance(handle, handles.ObjectHandle):
            return self._object(handle)
        if isinstance(handle, handles.GivenRef):
            return self._given(handle.kind, handle.number)
        if not isinstance(handle, handles.ModuleHandle):
            raise ProtocolError(f"a sandbox refers only to objects of its own; got a {type(handle).__name__}")
        module = self.modules.get(handle.object_id)
        if module is None:
            module = self.modules[handle.object_id] = module_from(self, handle, tensors)
        return module

    def _resolve_module(self, handle: Handle, tensors: list[torch.Tensor]) -> Any:
        if not isinstance(handle, handles.ModuleHandle):
            raise ProtocolError("an object of the test may get a module of the student's, and no other object")
        return self._resolve(handle, tensors)

    def _given(self, kind: handles.Given, number: int) -> Any:
        """Return an object of the test that student code gives back."""
        known: Any = self._lent if kind is handles.Given.LENT else {}
        if kind is not handles.Given.LENT and self._making is not None:
            known = self._making.given(kind)
        try:
            return known[number]
        except (IndexError, KeyError):
            raise ProtocolError(f"student code got no {kind} of the number {number}") from None

    def _object(self, handle: handles.ObjectHandle) -> Any:
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
            if handle.kind is handles.Kind.CLASS:
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
