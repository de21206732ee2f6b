"""Defines what represents in a message an object that does not cross.

An object of student code is named by its number in the session, and so is one of the test.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar, get_args

import msgspec

from grader.engine.rpc.message import Index, Message, Tree

H = TypeVar("H")


class ClassDescription(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A class: its number in the session, the special methods of its instances, and the numbers of its bases.

    `library` is "module:name" for a class that a library has under that name; its own bases are left out.
    """

    object_id: Index
    name: str
    methods: list[str]
    bases: list[Index]
    library: str


Classes = list[ClassDescription]
"""A class at the end, and before it all its bases, each after its own."""


class Kind(StrEnum):
    """The kinds of objects whose class needs no description; and classes themselves."""

    OBJECT = "object"
    CLASS = "class"
    FUNCTION = "function"
    BUILTIN = "builtin_function_or_method"
    METHOD = "method"
    GENERATOR = "generator"


class ObjectHandle(Message):
    """From the sandbox: an object that stays there, by its number in the session."""

    object_id: Index
    name: str
    is_callable: bool = False
    kind: Kind = Kind.OBJECT
    of: Classes = []  # the class itself, or that of the object; empty for the kinds that need none


class PartDescription(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A submodule, or the module itself under the path ""."""

    path: str
    object_id: Index
    class_name: str
    base: str  # the nearest class of torch.nn
    training: bool
    own_modes: list[str]  # which of the methods train and eval its class overrides


class ParameterDescription(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A parameter under one of its names."""

    path: str
    object_id: Index
    requires_grad: bool
    tensor: Index


class BufferDescription(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A buffer."""

    path: str
    is_persistent: bool  # whether state_dict holds it
    tensor: Index


class ModuleHandle(Message):
    """From the sandbox: an nn.Module that stays there, described for a stand-in."""

    object_id: Index
    name: str
    parts: list[PartDescription]
    aliases: list[tuple[str, str]] = []  # further paths of parts, each with the first path
    parameters: list[ParameterDescription] = []
    gradients: list[tuple[str, Index]] = []
    buffers: list[BufferDescription] = []
    classes: list[tuple[str, Classes]] = []  # of the parts at these paths; those of others are layers of torch


class Given(StrEnum):
    """The kinds of objects that student code gets from the test and may give back: as the same objects."""

    LENT = "lent"
    CONTAINER = "container"
    TENSOR = "tensor"
    OBJECT = "object"


class ObjectRef(Message):
    """From the runner: an object, or its submodule at the path `part`."""

    object_id: Index
    part: str = ""


class MethodRef(Message):
    """From the runner: a method of an object, named but not fetched."""

    owner: ObjectRef
    method: str


ABOUT_NAMES = ("look", "names")
"""The operations that look names up or list them, and run no student code."""


class VerbRef(Message):
    """From the runner: an operation on an object other than a call (proxies.Verb)."""

    verb: str


class LentRef(Message):
    """From the runner: a function or an object of the test that stays there, by its number in the session (lent.py)."""

    number: Index
    name: str  # of the function, or of the class of the object
    text: str | None = None  # the function's docstring
    signature: bytes = b""  # the function's, pickled
    classes: list[str] = []  # the object's class and its bases
    methods: list[str] = []  # special methods of the class
    member: str = ""  # the name of a member of an Enum
    is_module: bool = False  # whether it is a module, which may be a part of another one
    has_parameters: bool = False  # which stay with the runner


class GivenRef(Message):
    """From the sandbox: an object of the test, by its number of this kind in the session or in the call."""

    kind: Given
    number: Index


class IteratorRef(Message):
    """From the runner: an iterator of the test whose items cross with the call."""

    items: Tree


class GeneratorRef(Message):
    """From the runner: a generator of torch, of numpy or of Python, by its state."""

    state: Index
    kind: str = "torch"


class LibraryObject(Message):
    """From the runner: an object that is copied, pickled without its tensors (library_objects.py)."""

    number: Index  # among those of the call
    data: bytes


FromSandbox = ObjectHandle | ModuleHandle
Handle = FromSandbox | ObjectRef | MethodRef | VerbRef | LentRef | GivenRef | IteratorRef | GeneratorRef | LibraryObject


FROM_SANDBOX_BY_NAME: dict[str, type[FromSandbox]] = {kind.__name__: kind for kind in get_args(FromSandbox)}
HANDLES_BY_NAME: dict[str, type[Handle]] = {kind.__name__: kind for kind in get_args(Handle)}


def handle_from(part: Any, kinds: Mapping[str, type[H]]) -> H:
    """Return the handle of a part of a tree.

    msgspec examines a union at every conversion, which takes fifty times as long as one for a known class.

    Args:
        part: the part that arrived.
        kinds: the classes that may arrive, by name.

    Raises:
        ValueError: it is none of them.
        TypeError: it is no dict.
        msgspec.ValidationError: its fields are wrong.
    """
    kind = kinds.get(part["type"]) if type(part) is dict and "type" in part else None
    if kind is None:
        raise ValueError("no handle of a known kind")
    return msgspec.convert(part, kind)
