"""The candidate's side of the wire: a namespace of student code, and what an examiner may ask of it.

    request {"ask": "call", ...}, tensors  ->  Service.answer  ->  {"done": value, ...} or {"raised": ...}, tensors

In every conversation the service numbers the objects it tells the examiner of, so that the examiner can hand them back.
It runs in the candidate, whose answers nobody trusts, and in diagnosis, where our own mutated reference takes the
student's place.
"""

import builtins
import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import nn

from course.grading.cells import Shell
from course.grading.containers import Watched
from course.grading.failure import describe
from course.grading.given import Given
from course.grading.own_work import refusing
from course.grading.random_state import Known
from course.grading.settings import default_dtype
from course.grading.tensors import FROM_NAME
from course.grading.twins import Twins
from course.grading.values import Reference, pack, unpack
from course.grading.wire import Packed, WireError

Answer = tuple[dict[str, Any], list[torch.Tensor]]


class _Talk:
    """What one conversation knows: objects by number, graphs of calls, the modules' twins, the random state."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.graphs: dict[int, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}
        self.twins = Twins(self.number)
        self.random = Known()
        self._numbers: dict[int, int] = {}

    def number(self, item: Any) -> int:
        """The number of an object, which it gets when it is first told of."""
        if id(item) not in self._numbers:
            self._numbers[id(item)] = len(self.objects)
            self.objects.append(item)
        return self._numbers[id(item)]


class Service:
    """Answers the examiner. `ask_back` sends a question to it in the middle of a call and returns its answer."""

    def __init__(self, shell: Shell, ask_back: Callable[[dict, list[torch.Tensor]], tuple[dict, Packed]]) -> None:
        self._shell = shell
        self._ask_back = ask_back
        self._talks: dict[int, _Talk] = {}
        self._left: dict[int, dict[str, Any]] = {}
        self._at: int | None = None
        # What the examiner may do with an object besides calling it.
        self._verbs: dict[str, Callable] = {
            **{"get": getattr, "set": setattr, "copy": copy.deepcopy, "len": len, "look": self._look},
            **{"iter": iter, "next": next, "isinstance": isinstance},
        }

    def answer(self, request: dict[str, Any], packed: Packed) -> Answer:
        """The answer to one request; whatever the student's code raises is an answer too."""
        if request["ask"] == "run":
            return self._run(request)
        if request.get("new"):
            self._talks[request["talk"]] = _Talk()
        self._talk = self._talks[request["talk"]]
        for graph in request.get("forget", ()):
            self._talk.graphs.pop(graph, None)
        try:
            return (self._call if request["ask"] == "call" else self._backward)(request, packed)
        except BaseException as error:
            # SystemExit and KeyboardInterrupt of the student's are failures of the student's code, not the end of it.
            return {"raised": describe(error) | {"examiner": getattr(error, "examiners_number", None)}}, []

    def number(self, item: Any) -> int:
        """The number of an object in the present conversation."""
        return self._talk.number(item)

    def known(self, number: int) -> Any:
        """The object that has this number in the present conversation."""
        return self._talk.objects[number]

    def _run(self, request: dict[str, Any]) -> Answer:
        done = self._shell.run(request["source"], request["name"], request["code"])
        self._left[request["place"]] = dict(self._shell.namespace)
        return {"done": done}, []

    def _look(self, names: list[str], place: int | None) -> dict[str, Any]:
        namespace = self._shell.namespace
        if place is not None and place != self._at:
            self._at = place
            for left in sorted(known for known in self._left if known <= place)[-1:]:
                # In place: the student's functions look their names up in this very dict.
                namespace.clear()
                namespace.update(self._left[left])
        found = {name: namespace[name] for name in names if name in namespace}
        return {name: item for name, item in found.items() if not isinstance(item, ModuleType)}

    def _call(self, request: dict[str, Any], packed: Packed) -> Answer:
        talk, given = self._talk, Given(request, packed)
        resolve = lambda said: self._resolve(said, given.generators)  # noqa: E731
        target, args, kwargs = unpack(request["call"], packed.tensors, resolve)
        watched = Watched((*args, *kwargs.values()))
        if "states" in request:
            for number, state in unpack(request["states"], packed.tensors, resolve).items():
                talk.twins.receive(number, talk.objects[number], state)
        inputs = given.inputs
        if request["grad"]:
            for number in request["modules"]:
                inputs += talk.twins.wanted(number, talk.objects[number])
        if "random" in request:
            talk.random.take(packed.tensors[request["random"]])
            torch.set_rng_state(talk.random.state)
        # What a call makes fits what the test makes, whatever the student's own cells have set.
        dtype = FROM_NAME[request.get("dtype", "float32")]
        with torch.set_grad_enabled(request["grad"]), refusing(request.get("refused", ())), default_dtype(dtype):
            result = target(*args, **kwargs)

        tensors: list[torch.Tensor] = []
        said = {"done": pack(result, self._refer, tensors)}
        states, grown = self._reported(request, inputs)
        differentiable, leaves = _kinds(tensors, inputs)
        effects = {kind: effect for kind, effect in (given.effects(watched) | {"states": states}).items() if effect}
        now = torch.get_rng_state()
        if talk.random.is_news(now):
            effects["random"] = now
        if differentiable:
            talk.graphs[request["graph"]] = inputs, [tensors[number] for number in differentiable]
            said["differentiable"] = differentiable
            if grown:
                said["grown"] = grown
        if leaves:
            said["leaves"] = leaves
        if effects:
            said["effects"] = pack(effects, self._refer, tensors)
        return said, tensors

    def _reported(self, request: dict[str, Any], inputs: list[torch.Tensor]) -> tuple[dict[int, Any], list[Any]]:
        """What the call did to each module; and which parameters it made or unfroze, that are `inputs` from now on."""
        twins, states, grown = self._talk.twins, {}, []
        for number in request["modules"]:
            module = self._talk.objects[number]
            if state := twins.report(number, module):
                states[number] = state
                if request["grad"] and (new := twins.unasked(number, module, inputs)):
                    inputs += new.values()
                    grown.append((number, list(new)))
        return states, grown

    def _backward(self, request: dict[str, Any], packed: Packed) -> Answer:
        inputs, outputs = self._talk.graphs[request["graph"]]
        used = [outputs[place] for place in request["outputs"]]
        gradients = torch.autograd.grad(used, inputs, packed.tensors, retain_graph=True, allow_unused=True)
        # A parameter of two modules is among the inputs twice, and has one gradient.
        once, had = [], set()
        for tensor, gradient in zip(inputs, gradients, strict=True):
            once.append(None if id(tensor) in had else gradient)
            had.add(id(tensor))
        tensors: list[torch.Tensor] = []
        return {"done": pack(once, self._refer, tensors)}, tensors

    def _refer(self, item: Any) -> Reference:
        if type(item).__module__ == "numpy":
            raise WireError(f"a numpy {type(item).__name__} came back where a torch.Tensor or a number is expected")
        says = {"remote": self.number(item), "name": str(getattr(item, "__name__", type(item).__name__))[:200]}
        if isinstance(item, nn.Module):
            return Reference(says | {"kind": "module", **self._talk.twins.anatomy(item)})
        return Reference(says | {"kind": "callable" if callable(item) else "object"})

    def _call_back(self, number: int, args: tuple, kwargs: dict) -> Any:
        """Calls a function that a test handed over. Gradients do not flow through it."""
        tensors: list[torch.Tensor] = []
        question = {"back": number, "call": pack((args, kwargs), self._refer, tensors)}
        answer, packed = self._ask_back(question, tensors)
        if "raised" in answer:
            raise _examiners_error(answer["raised"])
        return unpack(answer["done"], packed.tensors, self._resolve)

    def _resolve(self, said: dict[str, Any], generators: list[torch.Generator] | None = None) -> Any:
        # Every call names what is called: a match statement would take four times as long for that.
        number = said.get("remote")
        if type(number) is int:
            known, path = self.known(number), said.get("part")
            return known.get_submodule(path) if path else known
        match said:
            case {"owner": owner, "method": str(name)}:
                return getattr(owner, name)
            case {"verb": str(name)}:
                return self._verbs[name]
            case {"examiner": int(number)}:
                return lambda *args, **kwargs: self._call_back(number, args, kwargs)
            case {"generator": torch.Tensor() as state} if generators is not None:
                generators.append(torch.Generator().set_state(state))
                return generators[-1]
        raise WireError("what arrived names nothing that is known here")


def _examiners_error(said: dict[str, Any]) -> Exception:
    """What a function of the test raised, of the same built-in kind, marked so that the test gets its own back."""
    kind = getattr(builtins, said["kind"], RuntimeError)
    try:
        error = kind(said["message"])
    except TypeError:
        error = RuntimeError(said["message"])
    error.examiners_number = said["number"]
    return error


def _kinds(tensors: list[torch.Tensor], inputs: list[torch.Tensor]) -> tuple[list[int], dict[str, list[bool]]]:
    """Which results depend on inputs that want gradients, and which leaves are parameters and want gradients."""
    own = {id(tensor) for tensor in inputs}
    differentiable, leaves = [], {}
    for number, tensor in enumerate(tensors):
        if inputs and tensor.requires_grad and (not tensor.is_leaf or id(tensor) in own):
            differentiable.append(number)
        elif tensor.requires_grad or isinstance(tensor, nn.Parameter):
            leaves[str(number)] = [isinstance(tensor, nn.Parameter), tensor.requires_grad]
    return differentiable, leaves
