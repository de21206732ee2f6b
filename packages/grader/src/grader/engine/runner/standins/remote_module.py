"""Stands in for the student's modules, as a test cell sees them.

A RemoteModule is a real local module with the same parameters and buffers under the same names, whose forward runs in
the sandbox and takes part in autograd here.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from grader.engine.rpc.objects.handles import Handle, ObjectRef
from grader.engine.rpc.protocol import ModuleChanges
from grader.engine.rpc.values.trees import Place
from grader.engine.runner.standins.proxies import Caller, Measure, Method, Verb, checked_attribute
from grader.engine.torch_if_used import nn, torch


class ModuleState(Protocol):
    """The state of a RemoteModule as the sandbox knows it; `module_state.RemoteModuleState` is one."""

    def changes(self, place: Place) -> tuple[ModuleChanges, list[torch.Tensor]]: ...

    def tensors(self, paths: list[str]) -> list[torch.Tensor]: ...

    def take(self, client: Caller, changes: ModuleChanges, tensors: list[torch.Tensor]) -> None: ...


class RemoteModule(nn.Module):
    """A module of the student's. Its only own attribute is `_remote`, so that it hides none of the student's."""

    def __init__(self, remote: "ModuleRef") -> None:
        nn.Module.__init__(self)
        self.__dict__["_remote"] = remote

    @property  # type: ignore[misc]  # nothing assigns __class__, so it needs no setter
    def __class__(self) -> type:
        # A test may look for the nn.Linear in a model. Only type() sees a RemoteModule.
        return self._remote.base or type(self)

    def __handle__(self) -> Handle:
        return ObjectRef(object_id=self._remote.object_id, part=self._remote.path)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value of the student's module for these arguments."""
        return self._remote.client.call(self, args, kwargs)

    def __measured__(self, measure: Measure, args: tuple, kwargs: dict) -> tuple[Any, int]:
        return self._remote.client.call_measured(measure, self, args, kwargs)

    def register_forward_hook(self, hook: Callable, **more: Any) -> Any:
        """Register a hook that runs here, wherever the module is called; return a handle with `remove`."""
        return self._hooked("register_forward_hook", hook, more)

    def register_forward_pre_hook(self, hook: Callable, **more: Any) -> Any:
        """Register a hook as `register_forward_hook` does."""
        return self._hooked("register_forward_pre_hook", hook, more)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> Any:
        """Register a hook as `register_forward_hook` does."""
        return self._hooked("register_full_backward_hook", hook, {"prepend": prepend})

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> Any:
        """Register a hook as `register_forward_hook` does."""
        return self._hooked("register_full_backward_pre_hook", hook, {"prepend": prepend})

    def _hooked(self, name: str, hook: Callable, more: dict) -> Any:
        # In the sandbox, because there the module's own forward calls its parts.
        return self._remote.client.call(Verb.HOOK, (self, name, lambda *args: hook(self, *args), more), {})

    def train(self, mode: bool = True) -> "RemoteModule":
        """Switch the mode as nn.Module does, or as the student's own class does."""
        return self._switched("train", mode)

    def eval(self) -> "RemoteModule":
        """Switch the mode as nn.Module does, or as the student's own class does."""
        return self._switched("eval")

    def _switched(self, name: str, *mode: bool) -> "RemoteModule":
        if name not in self._remote.own_modes:
            return getattr(super(), name)(*mode)
        self._remote.client.call(Method(self, name), mode, {})
        return self

    def __getattr__(self, name: str) -> Any:
        try:
            return checked_attribute(super().__getattr__(name), name)
        except AttributeError:
            # Private names are torch's own; a test uses only names that an exercise gives.
            if name.startswith("_"):
                raise
        return checked_attribute(self._remote.client.call(Verb.GET, (self, name), {}), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_remote" not in self.__dict__ or name in self.__dict__ or name in self._buffers or name in self._parameters:
            super().__setattr__(name, value)
        elif isinstance(value, nn.Module):
            if self._modules.get(name) is not value:
                raise TypeError(f"a test cannot set '{name}' of a student's module to a module of its own")
        else:
            self._remote.client.call(Verb.SET, (self, name, value), {})

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int) and key < 0:
            key += len(self)
        own = self._modules | self._parameters
        if str(key) in own:
            return own[str(key)]
        return self._remote.client.call(Method(self, "__getitem__"), (key,), {})

    def __len__(self) -> int:
        return self._remote.client.call(Verb.LEN, (self,), {})

    def __bool__(self) -> bool:
        return not isinstance(self, nn.Sequential | nn.ModuleList | nn.ModuleDict) or bool(self._modules)

    def __contains__(self, key: Any) -> bool:
        return self._remote.client.call(Method(self, "__contains__"), (key,), {})

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self, nn.Sequential | nn.ModuleList):
            return iter(self._modules.values())
        return iter(self._remote.client.call(Verb.ITER, (self,), {}))

    def __deepcopy__(self, memo: dict) -> "RemoteModule":
        return self._remote.client.call(Verb.COPY, (self,), {})

    def extra_repr(self) -> str:
        """Return what the student's module, or a layer of torch, adds to its name in `repr`."""
        return str(self._remote.client.call(Method(self, "extra_repr"), (), {}))

    def _get_name(self) -> str:
        return self._remote.class_name


class ModuleRef:
    """The module in the sandbox that a RemoteModule stands for.

    Args:
        client: makes its calls.
        object_id: the id of the whole module.
        path: the path of this part in the whole module, '' for the whole.
        state: the state of the whole module.
        own_id: the id of this part.
        class_name: the name of its class.
        base: the name of the nearest class of torch.nn that it is an instance of.
    """

    def __init__(
        self,
        client: Caller,
        object_id: int,
        path: str,
        state: ModuleState,
        own_id: int,
        class_name: str,
        base: str,
    ) -> None:
        self.client, self.object_id, self.path, self.state = client, object_id, path, state
        self.own_id = own_id
        self.own_modes: frozenset[str] = frozenset()
        """Those of the methods `train` and `eval` that the student's class defines."""
        self.set_class(class_name, base)

    def set_class(self, class_name: str, base: str) -> None:
        """Set the name of its class, and that of its nearest class of torch.nn."""
        self.class_name = class_name
        layer = getattr(nn, base, nn.Module)
        is_layer = isinstance(layer, type) and layer is not nn.Module and issubclass(layer, nn.Module)
        self.base: type[nn.Module] | None = layer if is_layer else None
