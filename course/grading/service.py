"""The candidate's side of the wire: a namespace of student code, and what an examiner may ask of it.

    request {"ask": "call", ...}, tensors  ->  Service.answer  ->  {"done": value, ...} or {"raised": ...}, tensors

The service numbers every object it tells the examiner of, so that the examiner can hand it back. It runs in the
candidate, whose answers nobody trusts, and in diagnosis, where our own mutated reference takes the student's place.
"""

import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import nn

from course.grading.cells import Shell
from course.grading.failure import describe
from course.grading.wire import Packed, Reference, WireError, pack, unpack

Answer = tuple[dict[str, Any], list[torch.Tensor]]


class Service:
    """Answers the examiner. `ask_back` sends a question to it in the middle of a call and returns its answer."""

    def __init__(self, shell: Shell, ask_back: Callable[[dict, list[torch.Tensor]], tuple[dict, Packed]]) -> None:
        self._shell = shell
        self._ask_back = ask_back
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._graphs: dict[int, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}
        self._known: dict[tuple[int, str], int | torch.Tensor] = {}

    def answer(self, request: dict[str, Any], packed: Packed) -> Answer:
        """The answer to one request; whatever the student's code raises is an answer too."""
        for graph in request.get("forget", ()):
            self._graphs.pop(graph, None)
        ask = {
            "run": self._run,
            "look": self._look,
            "call": self._call,
            "backward": self._backward,
            "get": self._get,
            "copy": self._copy,
        }[request["ask"]]
        try:
            return ask(request, packed)
        except BaseException as error:
            # SystemExit and KeyboardInterrupt of the student's are failures of the student's code, not the end of it.
            return {"raised": describe(error)}, []

    def _run(self, request: dict[str, Any], packed: Packed) -> Answer:
        return {"done": self._shell.run(request["source"], request["name"])}, []

    def _look(self, request: dict[str, Any], packed: Packed) -> Answer:
        found = {name: self._shell.namespace[name] for name in request["names"] if name in self._shell.namespace}
        return self._done({name: item for name, item in found.items() if not isinstance(item, ModuleType)})

    def _get(self, request: dict[str, Any], packed: Packed) -> Answer:
        return self._done(getattr(unpack(request["of"], packed.tensors, self._resolve), request["name"]))

    def _copy(self, request: dict[str, Any], packed: Packed) -> Answer:
        return self._done(copy.deepcopy(unpack(request["of"], packed.tensors, self._resolve)))

    def _done(self, value: Any) -> Answer:
        tensors: list[torch.Tensor] = []
        return {"done": pack(value, self._refer, tensors)}, tensors

    def _call(self, request: dict[str, Any], packed: Packed) -> Answer:
        inputs, copies = _inputs_that_want_gradients(request, packed)
        generators: list[torch.Generator] = []
        resolve = lambda said: self._resolve(said, generators)  # noqa: E731
        target, args, kwargs = unpack(request["call"], packed.tensors, resolve)
        states = unpack(request.get("states", {"dict": []}), packed.tensors, resolve)
        for number, state in states.items():
            _write_state(self._objects[number], state)
            inputs += [self._objects[number].get_parameter(name) for name in state["wants"] if request["grad"]]
        if "random" in request:
            torch.set_rng_state(packed.tensors[request["random"]])
        random_before = torch.get_rng_state()
        with torch.set_grad_enabled(request["grad"]):
            result = target(*args, **kwargs)

        tensors: list[torch.Tensor] = []
        done = pack(result, self._refer, tensors)
        differentiable = [number for number, tensor in enumerate(tensors) if tensor.requires_grad and inputs]
        if differentiable:
            self._graphs[request["graph"]] = inputs, [tensors[number] for number in differentiable]
        now = torch.get_rng_state()
        effects = {
            "written": [(number, packed.tensors[number]) for number in packed.written()] + copies.written(),
            "random": None if torch.equal(random_before, now) else now,
            "generators": [generator.get_state() for generator in generators],
            "states": {number: self._written_state(self._objects[number]) for number in states},
        }
        return {"done": done, "differentiable": differentiable, "effects": pack(effects, self._refer, tensors)}, tensors

    def _backward(self, request: dict[str, Any], packed: Packed) -> Answer:
        inputs, outputs = self._graphs[request["graph"]]
        gradients = torch.autograd.grad(outputs, inputs, packed.tensors, retain_graph=True, allow_unused=True)
        return self._done(list(gradients))

    def _written_state(self, module: nn.Module) -> dict[str, torch.Tensor]:
        """The parameters and buffers that were written into since the examiner last heard of them, by name."""
        number, written = self._numbers[id(module)], {}
        for name, parameter in module.named_parameters():
            if self._known.get((number, name)) != parameter._version:
                self._known[number, name] = parameter._version
                written[name] = parameter.detach()
        for name, buffer in module.named_buffers():
            # By value: torch's own batch norm writes its running statistics without counting the version up.
            known = self._known.get((number, name))
            if known is None or not torch.equal(known, buffer):
                self._known[number, name] = buffer.detach().clone()
                written[name] = self._known[number, name]
        return written

    def _refer(self, item: Any) -> Reference:
        if type(item).__module__ == "numpy":
            raise WireError(f"a numpy {type(item).__name__} came back where a torch.Tensor or a number is expected")
        if id(item) not in self._numbers:
            self._numbers[id(item)] = len(self._objects)
            self._objects.append(item)
        says = {"remote": self._numbers[id(item)], "name": str(getattr(item, "__name__", type(item).__name__))[:200]}
        if isinstance(item, nn.Module):
            self._written_state(item)
            return Reference(says | {"kind": "module", **_anatomy(item)})
        return Reference(says | {"kind": "callable" if callable(item) else "object"})

    def _call_back(self, number: int, args: tuple, kwargs: dict) -> Any:
        """Calls a function that a test handed over. Gradients do not flow through it."""
        tensors: list[torch.Tensor] = []
        question = {"back": number, "call": pack((args, kwargs), self._refer, tensors)}
        answer, packed = self._ask_back(question, tensors)
        if "raised" in answer:
            raise RuntimeError(f"{answer['raised']['kind']}: {answer['raised']['message']}")
        return unpack(answer["done"], packed.tensors, self._resolve)

    def _resolve(self, said: dict[str, Any], generators: list[torch.Generator] | None = None) -> Any:
        match said:
            case {"remote": int(number), "part": str(path)}:
                return self._objects[number].get_submodule(path)
            case {"remote": int(number)}:
                return self._objects[number]
            case {"owner": owner, "method": str(name)}:
                return getattr(owner, name)
            case {"builtin": "list"}:
                return list
            case {"examiner": int(number)}:
                return lambda *args, **kwargs: self._call_back(number, args, kwargs)
            case {"generator": torch.Tensor() as state} if generators is not None:
                generators.append(torch.Generator().set_state(state))
                return generators[-1]
        raise WireError("what arrived names nothing that is known here")


class _Copies:
    """Inputs that were computed from others: they take part as copies, which the student's code may write into."""

    def __init__(self) -> None:
        self.of: dict[int, torch.Tensor] = {}

    def written(self) -> list[tuple[int, torch.Tensor]]:
        return [(number, tensor.detach()) for number, tensor in self.of.items() if tensor._version > 0]


def _inputs_that_want_gradients(request: dict[str, Any], packed: Packed) -> tuple[list[torch.Tensor], _Copies]:
    leaves, copies = [], _Copies()
    for number, is_leaf in request["wants"]:
        leaf = packed.tensors[number].requires_grad_()
        leaves.append(leaf)
        if not is_leaf:
            # A leaf that wants a gradient may not be written into; what was computed from one may.
            packed.tensors[number] = copies.of[number] = leaf.clone()
    return leaves, copies


def _write_state(module: nn.Module, state: dict[str, Any]) -> None:
    """Makes the module what the examiner's copy of it has become: values, requires_grad, training mode."""
    for name, (tensor, wants_gradient) in state["changed"].items():
        holder, _, last = name.rpartition(".")
        part = module.get_submodule(holder)
        current = part._parameters.get(last)
        current = part._buffers[last] if current is None else current
        current.data = tensor.clone()
        current.requires_grad_(wants_gradient)
    for name, training in state["training"].items():
        module.get_submodule(name).training = training


def _anatomy(module: nn.Module) -> dict[str, Any]:
    """Names, modes and values of everything a module is made of; a tensor under two names is sent under the first."""
    first: dict[int, str] = {}
    parameters = []
    for name, parameter in module.named_parameters(remove_duplicate=False):
        shared = first.setdefault(id(parameter), name)
        parameters.append((name, shared, parameter.requires_grad, parameter.detach() if shared == name else None))
    return {
        "modules": [(name, type(part).__name__, part.training) for name, part in module.named_modules()],
        "parameters": parameters,
        "buffers": [(name, buffer) for name, buffer in module.named_buffers()],
    }
