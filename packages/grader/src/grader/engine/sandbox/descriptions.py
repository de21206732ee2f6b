"""Describes the student's objects and classes, so that the runner's stand-ins have their names and special methods."""

import inspect
import sys
import textwrap
from collections.abc import Callable
from enum import Enum
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType
from typing import Any

from grader.engine.rpc.objects.handles import ClassDescription, Classes, Kind, ObjectHandle
from grader.engine.rpc.operations import special_methods

MAX_NAME = 200
"""Characters of an object's name."""
KINDS: dict[type, Kind] = {
    FunctionType: Kind.FUNCTION,
    BuiltinFunctionType: Kind.BUILTIN,
    MethodType: Kind.METHOD,
    GeneratorType: Kind.GENERATOR,
}
CODE = (
    *("co_name", "co_names", "co_varnames", "co_nlocals", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount"),
    *("co_flags", "co_freevars", "co_cellvars"),
)
"""Attributes of a code object that cross."""


class Descriptions:
    """The descriptions of one session.

    Args:
        object_id: returns the number of an object in the session.
    """

    def __init__(self, object_id: Callable[[Any], int]) -> None:
        self._object_id = object_id
        self._classes: dict[int, Classes] = {}

    def of(self, item: Any) -> ObjectHandle:
        """Return the handle of an object that does not cross.

        Args:
            item: the object.
        """
        kind = Kind.CLASS if isinstance(item, type) else KINDS.get(type(item), Kind.OBJECT)
        described = self.of_class(item if kind is Kind.CLASS else type(item)) if kind in _DESCRIBED else []
        name = str(item.name if isinstance(item, Enum) else getattr(item, "__name__", type(item).__name__))
        return ObjectHandle(
            object_id=self._object_id(item), name=_sent(name), is_callable=callable(item), kind=kind, of=described
        )

    def of_class(self, cls: type) -> Classes:
        """Return the descriptions of a class and its bases; the session keeps them.

        Args:
            cls: the class.
        """
        object_id = self._object_id(cls)
        if object_id not in self._classes:
            library = library_name(cls)
            bases = [] if library else [self.of_class(base) for base in cls.__bases__ if base is not object]
            found = {each.object_id: each for classes in bases for each in classes}
            numbers = [classes[-1].object_id for classes in bases]
            own = ClassDescription(object_id, _sent(cls.__name__), special_methods(cls), numbers, library)
            self._classes[object_id] = [*found.values(), own]
        return self._classes[object_id]


_DESCRIBED = (Kind.CLASS, Kind.OBJECT)


def library_name(cls: type) -> str:
    """Return "module:name" if a module that is not the student's notebook has the class under its own name, else ''."""
    module, name = cls.__module__, cls.__qualname__
    if module == "__main__" or not isinstance(module, str) or not isinstance(name, str):
        return ""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is cls else ""


def _sent(name: str) -> str:
    return name if name.isascii() and len(name) <= MAX_NAME else name[:MAX_NAME].encode(errors="replace").decode()


def signature(function: Callable) -> list[tuple[str, int, bool, Any, Any]]:
    """Return the parameters of a function: name, kind, whether it has a default, the default, and the annotation.

    Annotations, and the return value's at the end under the name "return", are objects like any other.

    Args:
        function: the function.
    """
    found = inspect.signature(function)
    empty = inspect.Parameter.empty
    rows = [
        (each.name, int(each.kind), each.default is not empty, _default(each.default), _annotation(each.annotation))
        for each in found.parameters.values()
    ]
    return [*rows, ("return", 0, False, None, _annotation(found.return_annotation))]


def _default(item: Any) -> Any:
    return None if item is inspect.Parameter.empty else item


def _annotation(item: Any) -> str | None:
    return None if item is inspect.Parameter.empty else inspect.formatannotation(item)


def code(function: Callable) -> tuple[dict[str, Any], str]:
    """Return the names and counts of the code of a function, and its source text or ''.

    Args:
        function: the function or method.
    """
    found = getattr(function, "__func__", function).__code__
    try:
        text = textwrap.dedent(inspect.getsource(found))
    except (OSError, TypeError):
        text = ""
    return {name: getattr(found, name) for name in CODE}, text
