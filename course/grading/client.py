"""The examiner's side of the wire: asks the candidate, and makes a call there look like a call here.

    test cell -> proxy -> Client -> request -> candidate -> answer -> value, or the student's exception

Gradients, the random state, writes into arguments and their `grad`, and calls back into the test's own functions travel
with a call.
"""

import builtins
import itertools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator

from course.grading.anatomy import module_from
from course.grading.containers import containers, rewrite
from course.grading.conversation import Conversation
from course.grading.failure import bounded, describe
from course.grading.gradients import gradient_of, put
from course.grading.proxies import Method, Remote, RemoteModule, Verb, field
from course.grading.random_state import Known, left_behind
from course.grading.tensors import dtype_name
from course.grading.values import Reference, pack, unpack
from course.grading.wire import Channel, Packed, WireError

MAX_NAME = 40
"""Characters of the name of a student's object."""


class StudentError(Exception):
    """What the student's code raised; `said` describes it as failure.describe does."""

    said: dict[str, Any]


class Client:
    """One conversation with the process of the student's code.

    Another one with the same number takes its place, and the objects of this one are let go there.
    """

    def __init__(self, channel: Channel | Conversation, number: int = 0) -> None:
        self._channel = channel
        self._talk: dict[str, Any] = {"talk": number, "new": True}
        self._functions: list[Callable] = []
        self._errors: list[Exception] = []
        self.modules: weakref.WeakValueDictionary[int, RemoteModule] = weakref.WeakValueDictionary()
        self.parameters: weakref.WeakValueDictionary[int, torch.nn.Parameter] = weakref.WeakValueDictionary()
        self._graphs = itertools.count()
        self._forgotten: list[int] = []
        self._random = Known()
        self.refused: tuple[str, ...] = ()
        """Functions of torch that student code must do without for now."""
        self.wrote = False
        """Whether student code wrote into tensors, lists or dicts that it was given."""

    def run(self, source: str, name: str, place: int = 0, code: str = "") -> dict[str, Any]:
        """Runs a cell there, after which `place` is left; returns its outputs and what it raised.

        `code` is what code.as_text says of it; without, the cell is compiled there.
        """
        self._channel.send({"ask": "run", "source": source, "name": name, "place": place, "code": code}, [])
        return self._answer()[0]["done"]

    def look(self, names: list[str], place: int | None = None) -> dict[str, Any]:
        """What stands under `names` there: copies of values, proxies of the rest; without those that are not there.

        With `place`, all names there become again what the last cell run at this place or before it left.
        """
        return self.call(Verb.LOOK, (names, place), {})

    def call(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """Calls `target` there, with every module there as its twin here has become, and the other way round after."""
        call = _Call(self, target, args, kwargs)
        value, outputs = call.exchange()
        if outputs:
            _InGraph.apply(_Graph(self, call.graph), outputs, *call.collecting)
        return value

    def backward(self, graph: int, gradients: dict[int, torch.Tensor]) -> list[torch.Tensor | None]:
        """The gradients of the inputs of a call, from those of its outputs, by the outputs' places."""
        request = {"ask": "backward", "graph": graph, "outputs": list(gradients)}
        answer, packed = self._ask(request, list(gradients.values()))
        return self._value(answer["done"], packed)

    def forget(self, graph: int) -> None:
        """Nobody will ask for the gradients of this call again; the candidate hears of it with the next request."""
        self._forgotten.append(graph)

    def _ask(self, request: dict[str, Any], tensors: list[torch.Tensor]) -> tuple[dict[str, Any], Packed]:
        request |= self._talk
        if self._forgotten:
            request["forget"] = self._forgotten
        self._channel.send(request, tensors)
        self._talk.pop("new", None)
        self._forgotten = []
        return self._answer()

    def _answer(self) -> tuple[dict[str, Any], Packed]:
        while True:
            answer, packed = self._channel.receive()
            if "back" in answer:
                self._answer_back(answer, packed)
                continue
            if "raised" in answer:
                raise self._error(answer["raised"])
            if "done" not in answer:
                raise WireError("an answer says what was done or what was raised; this one says neither")
            return answer, packed

    def _answer_back(self, asked: dict[str, Any], packed: Packed) -> None:
        """The student's code calls a function that a test handed it."""
        number, tensors = asked["back"], []
        if type(number) is not int or not 0 <= number < len(self._functions):
            raise WireError("student code calls back only what a test handed it")
        args, kwargs = self._value(asked["call"], packed)
        try:
            answer = {"done": pack(self._functions[number](*args, **kwargs), self._refer, tensors)}
        except Exception as error:
            self._errors.append(error)
            said = {"kind": describe(error)["kind"], "message": str(error), "number": len(self._errors) - 1}
            answer, tensors = {"raised": said}, []
        self._channel.send(answer, tensors)

    def _error(self, said: Any) -> Exception:
        """What to raise here for what was raised there; what the test's own function raised comes back as it was."""
        number = said.get("examiner") if isinstance(said, dict) else None
        if type(number) is int and 0 <= number < len(self._errors):
            return self._errors[number]
        return _local_error(bounded(said))

    def _value(self, tree: Any, packed: Packed) -> Any:
        return unpack(tree, packed.tensors, self._resolve, field)

    def _refer(self, item: Any) -> Reference:
        if isinstance(item, RemoteModule):
            return Reference({"remote": item._remote.number, "part": item._remote.path})
        if isinstance(item, Remote):
            return Reference({"remote": item._number})
        if isinstance(item, Method):
            return Reference({"owner": item.owner, "method": item.name})
        if isinstance(item, Verb):
            return Reference({"verb": item.value})
        if callable(item):
            self._functions.append(item)
            return Reference({"examiner": len(self._functions) - 1})
        raise TypeError(f"a test hands values, tensors and functions to student code; this is a {type(item).__name__}")

    def _resolve(self, said: dict[str, Any]) -> Any:
        number = said.get("remote")
        if type(number) is not int:
            raise WireError("the candidate names objects of its own by number; this has none")
        if said.get("kind") != "module":
            # A test may show it to the student, so it holds no more than a name.
            name = str(said.get("name"))[:MAX_NAME]
            return Remote(self, number, name if name.isidentifier() else "object")
        module = self.modules.get(number)
        if module is None:
            module = self.modules[number] = module_from(self, number, said)
        return module


class _Call:
    """One call, ready to be sent: what it hands over, which modules changed and who collects gradients of it."""

    def __init__(self, client: Client, target: Any, args: tuple, kwargs: dict) -> None:
        self.client = client
        self._tensors: list[torch.Tensor] = []
        self._generators: list[Generator] = []
        self._grad = torch.is_grad_enabled()
        self._tree = pack((target, args, kwargs), self._refer, self._tensors)
        self._containers = containers((*args, *kwargs.values()))
        wanting = [number for number, tensor in enumerate(self._tensors) if tensor.requires_grad and self._grad]
        self._wants = [(number, self._tensors[number].is_leaf) for number in wanting]
        self.collecting = [self._tensors[number] for number in wanting]
        # Behind the tensors that hold them: what is written into a gradient comes back like any other write.
        self._gradients = []
        for number, tensor in enumerate(self._tensors[:]):
            if (gradient := gradient_of(tensor)) is not None:
                self._gradients.append((number, len(self._tensors)))
                self._tensors.append(gradient)
        # All modules, for any function may use any of them: a student's train() may work on a global model.
        # By reference, at every call: items() takes several times as long.
        references = client.modules.valuerefs()
        self._states = {to.key: module._remote.state for to in references if (module := to()) is not None}
        self._changes = {}
        for number, state in self._states.items():
            changes, parameters = state.changes()
            self.collecting += parameters if self._grad else []
            if changes:
                self._changes[number] = changes
        self.graph = next(client._graphs)

    def exchange(self) -> tuple[Any, list[torch.Tensor]]:
        """Makes the call; returns its value and those tensors of it that have a gradient there."""
        client, sent = self.client, list(self._tensors)
        request = {"ask": "call", "call": self._tree, "grad": self._grad, "graph": self.graph}
        request["modules"] = list(self._states)
        if self._wants:
            request["wants"] = self._wants
        if self._gradients:
            request["gradients"] = self._gradients
        if client.refused:
            request["refused"] = client.refused
        if torch.get_default_dtype() is not torch.float32:
            request["dtype"] = dtype_name(torch.get_default_dtype())
        if self._changes:
            request["states"] = pack(self._changes, client._refer, sent)
        now = torch.get_rng_state()
        if client._random.is_news(now):
            request["random"] = len(sent)
            sent.append(now)
        answer, packed = client._ask(request, sent)
        for number, (is_parameter, wants_gradient) in answer.get("leaves", {}).items():
            leaf = packed.tensors[int(number)].requires_grad_(wants_gradient)
            packed.tensors[int(number)] = torch.nn.Parameter(leaf, wants_gradient) if is_parameter else leaf
        value = client._value(answer["done"], packed)
        self._apply(client._value(answer["effects"], packed) if "effects" in answer else {})
        for number, paths in answer.get("grown", ()):
            self.collecting += self._states[number].tensors(paths)
        return value, [packed.tensors[number] for number in answer.get("differentiable", ())]

    def _apply(self, effects: dict[str, Any]) -> None:
        self.client.wrote |= "written" in effects or "containers" in effects
        for number, now in effects.get("written", ()):
            tensor = self._tensors[number]
            if tensor.shape == now.shape and tensor.dtype is now.dtype:
                tensor.data.copy_(now)
            else:
                tensor.data = now
        for number, gradient in effects.get("gradients", ()):
            put(self._tensors[number], gradient)
        rewrite(self._containers, effects.get("containers", ()))
        for number, written in effects.get("states", {}).items():
            self._states[number].take(self.client, written)
        for generator, state in zip(self._generators, effects.get("generators", ()), strict=True):
            generator.set_state(left_behind(generator.get_state(), state))
        if "random" in effects:
            state = left_behind(self.client._random.state, effects["random"])
            self.client._random.take(effects["random"])
            torch.set_rng_state(state)

    def _refer(self, item: Any) -> Reference:
        if isinstance(item, Generator):
            self._generators.append(item)
            return Reference({"generator": item.get_state()})
        return self.client._refer(item)


class _Graph:
    """A call that somebody may ask for the gradients of, as long as this lives."""

    __slots__ = ("client", "number")

    def __init__(self, client: Client, number: int) -> None:
        self.client, self.number = client, number

    def __del__(self) -> None:
        self.client.forget(self.number)


class _InGraph(torch.autograd.Function):
    """One call over the wire as a node of the graph here; its backward asks the candidate for the gradients."""

    @staticmethod
    def forward(ctx: Any, graph: _Graph, outputs: list[torch.Tensor], *collecting: torch.Tensor) -> tuple:
        ctx.graph = graph
        # What a test does not use is not differentiated, as in one process: not everything can be.
        ctx.set_materialize_grads(False)
        # autograd hangs its graph on these very tensors, which are parts of the call's value; in a list, for it takes
        # none of them for an input.
        return tuple(outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple:
        used = {place: gradient for place, gradient in enumerate(gradients) if gradient is not None}
        return None, None, *ctx.graph.client.backward(ctx.graph.number, used)


def _local_error(said: dict[str, Any]) -> Exception:
    """An exception that a test can catch by its built-in kind and that still is a StudentError."""
    kind = getattr(builtins, said["kind"], None)
    if kind is StopIteration:
        # A loop of the test over calls (map, zip) would take it for its own end. Remote.__next__ knows it by `said`.
        kind = RuntimeError
    kinds = (kind,) if isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception else ()
    message = said["message"]
    # Some kinds are made from more than a message, and KeyError shows its message in quotes.
    own = {"__init__": lambda self: None, "__str__": lambda self: message}
    try:
        error = type("StudentError", (StudentError, *kinds), own)()
    except TypeError:
        error = StudentError(message)
    error.said = said
    return error
