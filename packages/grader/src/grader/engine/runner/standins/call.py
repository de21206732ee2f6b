"""Makes one call: packs its arguments, sends what the modules of the student's have changed, applies what comes back.

target, arguments, modules --Call.exchange--> Returned: value, effects on arguments and modules
"""

import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from grader.engine.rpc import message, protocol
from grader.engine.rpc.generators import advance, advance_own, kind_of, own_states, state_of
from grader.engine.rpc.gradients import gradient_of, put
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects import definitions, handles, iterators, library_objects
from grader.engine.rpc.objects.copied_objects import FILES, apply
from grader.engine.rpc.objects.handles import Handle
from grader.engine.rpc.objects.lent import is_lent
from grader.engine.rpc.state.process_state import packed
from grader.engine.rpc.state.random_state import accepted_state
from grader.engine.rpc.values.arrays import overwrite
from grader.engine.rpc.values.containers import containers, write_back
from grader.engine.rpc.values.tensors import DecodedTensors, dtype_name
from grader.engine.rpc.values.trees import Packer, Place, tensor_at, unpack
from grader.engine.runner.standins.proxies import handle_of
from grader.engine.runner.standins.remote_module import ModuleState
from grader.engine.torch_if_used import USES_TORCH, torch

if TYPE_CHECKING:
    from grader.engine.runner.standins.client import RpcClient

R = TypeVar("R")


class CannotPass(TypeError):
    """A test passed something to student code that cannot cross to its process, for which no student is to blame."""


def is_stand_in(item: Any) -> bool:
    """Return whether an object stands for one of the student's."""
    return handle_of(item) is not None


def _is_copied(item: Any) -> bool:
    """Return whether an object that is no function of the test's is copied for student code, and not lent to it."""
    is_ours = definitions.is_of_torch(item) or isinstance(item, FILES)
    return library_objects.crosses(item) and (is_ours or not is_lent(item))


def differentiable(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor; raise ProtocolError if its numbers can have no gradient."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ProtocolError(f"a tensor of {tensor.dtype} has no gradient")
    return tensor


def packed_tree(value: Any, packer: Packer) -> message.Tree:
    """Pack what a test passes to student code; raise CannotPass if it cannot cross."""
    return _crossing(lambda: packer.walk(value, 0))


def _crossing(pack: Callable[[], R]) -> R:
    try:
        return pack()
    except (TypeError, ProtocolError) as error:
        raise CannotPass(str(error)) from error


class Call:
    """A call to send: its arguments, the changed modules and the tensors that collect gradients."""

    def __init__(self, client: "RpcClient", target: Any, args: tuple, kwargs: dict, measure: str = "") -> None:
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
            call=packed_tree((target, args, kwargs), packer),
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
            request.shared = packed_tree(shared, packer)
        del self._packer  # which knows this call
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

    def given(self, kind: handles.Given) -> Any:
        """Return the objects of one kind that this call hands over, by number.

        Args:
            kind: the kind.
        """
        match kind:
            case handles.Given.CONTAINER:
                return self._containers
            case handles.Given.TENSOR:
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
            differentiable(tensor).requires_grad_(requires_grad)
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
            return handles.GeneratorRef(state=place(state_of(item)), kind=kind)
        if iterators.is_of_python(item):
            items, item = iterators.tensors_in(item)
            if items is not None:
                if isinstance(self._target, type) and any(map(self._is_own_parameter, items)):
                    raise TypeError(
                        "an object of the student's would keep copies of a test's parameters; tag it together"
                    )
                return handles.IteratorRef(items=self._packer.walk(items, 0))
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
