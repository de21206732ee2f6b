"""Makes the copies of a test's objects in the sandbox, and carries over what student code changes in them.

    LibraryObject --load--> copies in the sandbox, whose changes come back as data --apply--> objects of the test

What comes back is checked and never unpickled: values, tensors, and modules of the student's as their stand-ins.
"""

import io
import pickle
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import msgspec

from grader.engine.rpc.message import ProtocolError, Tree
from grader.engine.rpc.objects import definitions
from grader.engine.rpc.objects.handles import Handle, LibraryObject
from grader.engine.rpc.objects.library_objects import has_state, parts_of
from grader.engine.rpc.values.trees import Packer, Place, Refer, library_values, tensor_at
from grader.engine.torch_if_used import USES_TORCH, nn, torch

FILES = (io.BytesIO, io.StringIO)
_HANDLE = msgspec.json.Decoder(Handle)
_SLOTS = ("_modules", "_parameters", "_buffers")
"""The tables of nn.Module whose content comes back."""


class _Unpickler(pickle.Unpickler):
    """Makes the copies; `known` holds what stands for their tensors and the student's objects in them, by id."""

    resolve: Callable[[Handle], Any]  # set while it loads, because it would keep the call alive

    def __init__(self, file: io.BytesIO, tensors: list[torch.Tensor], shared: list[Any]) -> None:
        super().__init__(file)
        self._tensors, self._shared = tensors, shared
        self.known: dict[int, Any] = {}
        self.found: dict[Any, Any] = {}

    def persistent_load(self, pid: Any) -> Any:
        """Return the object in this process that `pid` stands for."""
        match pid:
            case "handle", data:
                item = self.resolve(_HANDLE.decode(data))
            case "shared", number:
                item = self._shared[number]
            case kind, number, requires_grad:
                item = self._tensor(kind, number, requires_grad)
        self.known[id(item)], self.found[pid] = pid, item
        return item

    def _tensor(self, kind: str, number: int, requires_grad: bool) -> torch.Tensor:
        tensor = self._tensors[number]
        if kind == "parameter":
            tensor.__class__ = nn.Parameter  # this very tensor, whose changes the call watches
        return tensor.requires_grad_(requires_grad) if tensor.is_leaf else tensor


class _FormerUnpickler(pickle.Unpickler):
    """Makes the copies again as they arrived, with the tensors and objects that the first ones have."""

    def __init__(self, file: io.BytesIO, found: dict[Any, Any]) -> None:
        super().__init__(file)
        self._found = found

    def persistent_load(self, pid: Any) -> Any:
        """Return the object of the first copies."""
        return self._found[pid]


class _Repickler(pickle.Pickler):
    """Pickles a copy again, to see whether it has changed."""

    def __init__(self, file: io.BytesIO, known: dict[int, Any]) -> None:
        super().__init__(file, protocol=5)
        self._known = known

    def persistent_id(self, item: Any) -> Any:
        """Return what stands for a part whose content is compared elsewhere."""
        if (pid := self._known.get(id(item))) is not None:
            return pid
        if isinstance(item, torch.Tensor):
            return "new", tuple(item.shape)
        return ("code", item.__qualname__) if definitions.is_defined_by_test(item) else None


class Copies:
    """The copies of a call in the sandbox, which know how they arrived.

    Args:
        tensors: the tensors of the message.
        shared: the lists, dicts and sets to which the code of the test refers.
    """

    def __init__(self, tensors: list[torch.Tensor], shared: list[Any]) -> None:
        self._tensors, self._shared, self._data = tensors, shared, b""
        self._copies: list[_Copy] = []

    # Most calls hand over values only, and need neither.
    @cached_property
    def _file(self) -> io.BytesIO:
        return io.BytesIO()

    @cached_property
    def _unpickler(self) -> _Unpickler:
        return _Unpickler(self._file, self._tensors, self._shared)

    def item(self, handle: LibraryObject, resolve: Callable[[Handle], Any]) -> Any:
        """Return the copy of an object, one and the same for all its handles.

        Args:
            handle: the pickled object.
            resolve: finds the object of a handle in it.
        """
        if handle.number == len(self._copies):
            at = self._file.tell()
            self._file.write(handle.data)
            self._file.seek(at)
            self._data += handle.data
            self._unpickler.resolve = resolve
            try:
                self._copies.append(_Copy(self._unpickler.load(), self._unpickler.known))
            finally:
                del self._unpickler.resolve
        return self._copies[handle.number].item

    def items(self) -> list[Any]:
        """Return the copies, by number."""
        return [copy.item for copy in self._copies]

    def changes(self, refer: Refer, tensors: list[torch.Tensor]) -> list[tuple[int, Tree]]:
        """Return the changes of the copies, by number.

        Args:
            refer: makes a handle for a module of the student's.
            tensors: the tensors of the reply.

        Raises:
            ProtocolError: something has changed whose changes do not come back: a table that the test handed over, say.
        """
        changed: list[tuple[int, Tree]] = []
        former: list[Any] = []
        for number, copy in enumerate(self._copies):
            found = copy.switched()
            if copy.has_changed():
                if not former:
                    again = _FormerUnpickler(io.BytesIO(self._data), self._unpickler.found)
                    former = [again.load() for _ in self._copies]
                found += copy.changes(former[number])
            if found:
                packer = Packer(partial(_of_module, copy.item, refer), tensors, {})
                changed.append((number, packer.walk(found, 0)))
        return changed


def _of_module(copied: Any, refer: Refer, item: Any, place: Place) -> Handle:
    if not isinstance(item, nn.Module):
        raise _stays(copied)
    return refer(item, place)


def _stays(copied: Any) -> ProtocolError:
    return ProtocolError(
        f"your code changed the {type(copied).__name__} that it was given, and such a change does not reach the test; "
        "changes of tensors, arrays, tables, lists, dicts and sets do"
    )


class _Copy:
    """One copy, and its parts as they arrived."""

    def __init__(self, item: Any, known: dict[int, Any]) -> None:
        self.item, self._known = item, known
        self._parts = parts_of(item)
        self._modes = modes(self._parts)
        self._slots = [{name: dict(getattr(part, name)) for name in _SLOTS} for part in self._modules()]
        self._before = self._pickled(item)

    def _modules(self) -> list[nn.Module]:
        return [part for part in self._parts if isinstance(part, nn.Module)]

    def switched(self) -> list[Any]:
        """Return a change if a part of a module has another mode."""
        now = modes(self._parts)
        return [] if now == self._modes else [("modes", now)]

    def has_changed(self) -> bool:
        """Return whether anything else than tensors and modes has changed."""
        if (now := self._pickled(self.item)) is not None and now == self._before:
            return False
        # Tables may arrange their columns again when they are read.
        return not hasattr(self.item, "equals") or isinstance(self.item, type) or not self._equals()

    def _equals(self) -> bool:
        return bool(self.item.equals(pickle.loads(self._before or b"")))

    def changes(self, former: Any) -> list[Any]:
        """Return what has changed.

        Args:
            former: the copy as it arrived.
        """
        item = self.item
        if has_state(item):
            return [("state", item.state_dict())]
        if isinstance(item, FILES):
            return [("file", item.getvalue(), item.tell())]
        if library_values.can_update(item):
            return [("table", item)]
        if not definitions.is_of_torch(item) or isinstance(item, type):
            raise _stays(item)
        found: list[Any] = []
        for number, (part, before) in enumerate(zip(self._parts, parts_of(former), strict=True)):
            if isinstance(part, nn.Module):
                found += self._refilled(number, part)
            found += self._assigned(number, part, before)
        return found

    def _refilled(self, number: int, part: nn.Module) -> list[Any]:
        """Return the changed parts, parameters and buffers of a module."""
        found: list[Any] = []
        places = {id(each): place for place, each in enumerate(self._parts)}
        for table in _SLOTS:
            now, before = getattr(part, table), self._slots[number][table]
            for name in before.keys() - now.keys():
                found.append(("removed", number, table, name))
            for name, item in now.items():
                if name in before and before[name] is item:
                    continue
                if id(item) in places:
                    found.append(("part", number, name, places[id(item)]))
                elif isinstance(item, torch.Tensor):
                    pid = self._known.get(id(item), ("new",))
                    value = pid[1:2] if pid[0] in ("tensor", "parameter") else (item.detach(), item.requires_grad)
                    found.append(("tensor", number, table, name, *value))
                else:
                    found.append(("module", number, name, item))
            if list(now) != list(before):
                found.append(("order", number, table, list(now)))
        return found

    def _assigned(self, number: int, part: Any, former: Any) -> list[Any]:
        """Return the changed attributes of a part."""
        now, before = _attributes(part), _attributes(former)
        if isinstance(part, nn.Module) and self._pickled(_hooks(part)) != self._pickled(_hooks(former)):
            raise _stays(self.item)
        found: list[Any] = [("removed", number, "", name) for name in before.keys() - now.keys()]
        for name, value in now.items():
            content = self._pickled(value)
            if name not in before or content is None or content != self._pickled(before[name]):
                found.append(("attribute", number, name, value))
        return found

    def _pickled(self, item: Any) -> bytes | None:
        """Return the bytes of the copy or a part of it in its first modes; None if it cannot be pickled any more."""
        file, now = io.BytesIO(), modes(self._parts)
        _switch(self._parts, self._modes)
        try:
            _Repickler(file, self._known).dump(item)
        except Exception:  # student code may have put anything into it
            return None
        finally:
            _switch(self._parts, now)
        return file.getvalue()


def modes(parts: list[Any]) -> list[bool]:
    """Return whether each part of a module is in training mode; [] for anything else."""
    return [part.training for part in parts if isinstance(part, nn.Module)]


def _switch(parts: list[Any], new_modes: list[bool]) -> None:
    for part, mode in zip(parts, new_modes, strict=False):
        part.training = mode


def _attributes(part: Any) -> dict[str, Any]:
    own = getattr(part, "__dict__", {})
    return {name: own[name] for name in own if not _is_of_module(part, name)}


def _hooks(part: nn.Module) -> dict[str, Any]:
    return {name: each for name, each in vars(part).items() if _is_of_module(part, name) and "hooks" in name}


def _is_of_module(part: Any, name: str) -> bool:
    """Return whether nn.Module itself has the attribute."""
    return isinstance(part, nn.Module) and (name == "training" or name in _OF_MODULE)


_OF_MODULE = frozenset(vars(nn.Module())) if USES_TORCH else frozenset[str]()


# In the runner


def apply(handed: tuple[Any, list[Any]], changes: Any, tensors: list[torch.Tensor]) -> None:
    """Apply the changes of a copy to the object that was copied.

    Args:
        handed: the object, and its parts at the time of the call.
        changes: what `Copies.changes` found, unpacked; a module of the student's is its stand-in.
        tensors: those of the call.

    Raises:
        ProtocolError: the changes do not fit the object.
    """
    item, parts = handed
    try:
        for change in changes:
            _apply(item, parts, tensors, change)
    except Exception as error:
        why = f": {error}" if isinstance(error, ProtocolError) else f" ({type(error).__name__})"
        raise ProtocolError(f"a change must fit the {type(item).__name__}{why}") from None


def _apply(item: Any, parts: list[Any], tensors: list[torch.Tensor], change: Any) -> None:
    match change:
        case "modes", list(new_modes) if len(new_modes) == len(modes(parts)) and set(map(type, new_modes)) == {bool}:
            _switch(parts, new_modes)
        case "state", dict(state) if has_state(item):
            item.load_state_dict(state)
        case "table", new if library_values.can_update(item):
            library_values.update(item, new)
        case "file", str() | bytes() as written, int(place) if isinstance(item, FILES) and place >= 0:
            file: Any = item
            file.seek(0)
            file.truncate()
            file.write(written)
            file.seek(place)
        case "removed", int(number), str(table), str(name) if not _is_of_module(parts[number], name):
            del _table(parts[number], table)[name]
        case "order", int(number), str(table), list(names) if table and set(names) == set(_table(parts[number], table)):
            ordered = _table(parts[number], table)
            content = [(name, ordered[name]) for name in names]
            ordered.clear()
            ordered.update(content)
        case "part", int(number), str(name), int(place):
            _free(parts[number], name, "_modules")[name] = parts[place]
        case "module", int(number), str(name), nn.Module() as module:
            _free(parts[number], name, "_modules")[name] = module
        case "tensor", int(number), "_parameters" | "_buffers" as table, str(name), sent, torch.Tensor() as new, bool(
            need
        ):
            if sent is not None:
                new = tensor_at(tensors, sent)
            elif table == "_parameters":
                new = nn.Parameter(new, need)
            if table == "_parameters" and not isinstance(new, nn.Parameter):
                raise ProtocolError("a parameter")
            _free(parts[number], name, table)[name] = new
        case "attribute", int(number), str(name), value:
            _free(parts[number], name, "")[name] = value
        case _:
            raise ProtocolError("no such change")


def _table(part: Any, table: str) -> dict[str, Any]:
    """Return a table of a part: its attributes, or one of those of a module."""
    if table and (table not in _SLOTS or not isinstance(part, nn.Module)):
        raise ProtocolError("no such table")
    return getattr(part, table) if table else part.__dict__


def _free(part: Any, name: str, table: str) -> dict[str, Any]:
    """Return the table if the name in it hides no method of the test's or torch's."""
    others = [getattr(part, each) for each in _SLOTS if each != table] if isinstance(part, nn.Module) else []
    is_taken = hasattr(type(part), name) or _is_of_module(part, name) or any(name in each for each in others)
    if is_taken or name.startswith("__") or "." in name:
        raise ProtocolError("the name is taken")
    return _table(part, table)
