"""Defines every message between the runner and the sandbox.

    runner --Request--> sandbox --Reply--> runner
                        sandbox --Callback--> runner --CallbackReply--> sandbox        in the middle of a call

Messages are JSON, decoded strictly: an unknown field, a missing field or a wrong type is a ProtocolError. Objects that
do not cross are named by handles (objects/handles.py). The parent's messages are in jobs.py.
"""

from enum import StrEnum
from typing import Annotated

import msgspec

from grader.engine.rpc.message import Index, Message, Tree
from grader.engine.rpc.objects.handles import Classes, ModuleHandle
from grader.text import MAX_MESSAGE

VERSION = 5
"""Grows with every change of a message. A sandbox sends its version first; the runner must have the same."""
MAX_LINE, MAX_FRAMES = 200, 8
"""Characters of a name or a line of code, and innermost lines of the student's cells in a traceback."""

MAX_PRINTED = 2**20
"""Characters that student code may print in a call if the test captures them."""

Printed = tuple[bool, str]
"""Printed text, and whether it went to stderr."""


class ModuleChanges(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """The changes of a module since the last message about it, by path; false if there are none."""

    values: list[tuple[str, Index, bool]] = []  # parameters and buffers, and their requires_grad
    gradients: list[tuple[str, Index | None]] = []  # what their .grad holds
    training: list[tuple[str, bool]] = []
    collecting: list[str] | None = None  # the parameters that collect gradients from now on
    description: ModuleHandle | None = None  # from the sandbox, if parts were added or removed

    def __bool__(self) -> bool:
        return self != ModuleChanges()


# Runner to sandbox


class ProcessChanges(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What the test has changed of its process and student code must find (state/process_state.py)."""

    settings: bytes = b""  # pickled: their values by name
    held: list[tuple[str, str, list[Tree]]] = []  # holder, name in it, and its content; [] for none


class RunCell(Message):
    """Run a cell."""

    source: str
    name: str  # its name in tracebacks
    place: int = 0  # the number of tests above it
    code: bytes = b""  # an instructor's cell, compiled
    is_own: bool = False  # whether the student added it
    is_blank: bool = False  # whether it holds an unwritten answer
    imports_except: list[str] | None = None  # run only its imports, and bind none of these names


class RunTest(Message):
    """Run a test in the namespace of the cells: one that is judged together with the student's code."""

    source: str
    name: str  # its name in tracebacks
    code: bytes  # compiled, if it is plain Python
    nonce: str  # the reply repeats it
    points: float  # the most that it can give
    seed: int


class Call(Message):
    """Call an object in a session: `call` is the tree of (target, args, kwargs)."""

    session: Index
    call: Tree
    graph: Index
    new: bool = False  # whether the session begins
    forget: list[Index] = []  # graphs that are no longer needed
    modules: list[Index] = []  # modules that have stand-ins
    changes: list[tuple[Index, ModuleChanges]] = []
    grad_enabled: bool = True
    requires_grad: list[tuple[Index, bool]] = []  # tensors that require a gradient, and whether each is a leaf
    gradients: list[tuple[Index, Index]] = []  # tensors, and their .grad
    shared: Tree = None  # lists, dicts and sets to which the code of the test refers, as a list
    forbidden: tuple[str, ...] = ()  # words in names of functions that student code may not call
    captures: bool = False  # whether the test captures what is printed
    measure: str = ""  # the function "module:name" of a helper package that makes the call and measures it
    dtype: str = "float32"
    process: ProcessChanges | None = None
    random: Index | None = None  # the random state, if the sandbox does not know it
    own_random: Index | None = None  # the states of `random` and `numpy.random`, likewise, if the test uses them


class Backward(Message):
    """Compute the gradients of a call's inputs from those of its `outputs`, which are the tensors of the message."""

    session: Index
    graph: Index
    outputs: list[Index]
    new: Index | None = None  # the graph of the backward pass itself, if it is to be differentiated
    forget: list[Index] = []


class CallbackReturned(Message):
    """The result of the test's function, for student code."""

    value: Tree
    differentiable: list[Index] = []  # tensors of the value that depend on arguments that require gradients


class CallbackRaised(Message):
    """The exception of the test's function: nearest built-in class, message, and number in the runner."""

    kind: str
    message: str
    number: Index


Request = RunCell | Call | Backward
CallbackReply = CallbackReturned | CallbackRaised
ToSandbox = Request | RunTest | CallbackReply


# Sandbox to runner


class Ready(Message):
    """The sandbox is confined and waits for requests."""

    pid: int
    version: int  # no default, because defaults are not sent


class NotConfined(Message):
    """The sandbox could not be confined, and has ended."""

    why: Annotated[str, msgspec.Meta(max_length=MAX_MESSAGE)]


class ErrorCode(StrEnum):
    """The cause of an exception, as the grader's own code saw it. Class names in student code do not count."""

    RAISED = "raised"
    OUTPUT_LIMIT = "output limit"
    OUT_OF_MEMORY = "out of memory"
    FORBIDDEN_FUNCTION = "forbidden function"
    CANNOT_CROSS = "cannot cross"


class Frame(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A line of a student's cell in a traceback."""

    cell: Annotated[str, msgspec.Meta(max_length=MAX_LINE)]
    line: int
    text: Annotated[str, msgspec.Meta(max_length=MAX_LINE)]


class ErrorInfo(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """An exception: nearest built-in class, name of its own class, message, and frames in the cells."""

    kind: Annotated[str, msgspec.Meta(max_length=MAX_LINE)]
    name: Annotated[str, msgspec.Meta(max_length=MAX_LINE)]
    message: Annotated[str, msgspec.Meta(max_length=MAX_MESSAGE)] = ""
    frames: Annotated[list[Frame], msgspec.Meta(max_length=MAX_FRAMES)] = []
    code: ErrorCode = ErrorCode.RAISED


class Text(Message):
    """Text that a cell printed."""

    text: str


class Display(Message):
    """A value that a cell displayed, by MIME type."""

    data: dict[str, str]


class CellDone(Message):
    """The outputs of a cell, the exception that it ended with, and the names that it bound and defined."""

    outputs: list[Text | Display] = []
    error: ErrorInfo | None = None
    bound: list[str] = []
    defined: list[str] = []  # those that count for tests whose check is above the cell


class EndOfTest(Message):
    """The end of a test in the sandbox: its points if it ran to its end, or the exception that ended it.

    A sandbox that has not received the test cannot know its nonce.
    """

    nonce: Annotated[str, msgspec.Meta(max_length=MAX_LINE)]
    points: float | None = None
    error: ErrorInfo | None = None
    missing: Annotated[str, msgspec.Meta(max_length=MAX_LINE)] = ""  # the name that a NameError is about


class Effects(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """The side effects of a call; its tensors, lists and dicts are numbered as in the call."""

    written: list[tuple[Index, Index]] = []  # tensors, and their new values
    gradients: list[tuple[Index, Index | None]] = []  # tensors, and their .grad
    containers: list[tuple[Index, Tree]] = []  # lists and dicts, and their new content
    generators: list[Index] = []  # the states of those among the arguments, in order
    objects: list[tuple[Index, Tree]] = []  # changed objects of the test, and their changes
    requires_grad: list[tuple[Index, bool]] = []  # tensors that student code froze or unfroze
    modules: list[tuple[Index, ModuleChanges]] = []
    random: Index | None = None
    own_random: Index | None = None


class Returned(Message):
    """A call returned a value."""

    value: Tree
    effects: Effects | None = None
    differentiable: list[Index] = []  # tensors of the value that depend on inputs that require gradients
    leaves: list[tuple[Index, bool, bool]] = []  # tensors, whether each is a parameter, and requires_grad
    grown: list[tuple[Index, list[str]]] = []  # parameters that the call made or unfroze: further inputs of its graph
    measured: Index | None = None  # the result of the call's `measure`
    printed: list[Printed] = []  # if the test captures it


class Gradients(Message):
    """The gradients that a Backward requested, in the order of the call's inputs; None where there is none."""

    tensors: list[Index | None]
    again: list[Index] = []  # the places of those that are outputs of its new graph


class Raised(Message):
    """Student code raised. `callback` is the number of the exception if it came from the test's own function."""

    error: ErrorInfo
    callback: Index | None = None
    printed: list[Printed] = []
    object_id: Index | None = None  # the number of the exception
    of: Classes = []  # its class, if that is no built-in one


class Callback(Message):
    """Student code calls a function of the test; `call` is the tree of (args, kwargs).

    If it names `outputs` of an earlier call, it asks for the gradients of that call's arguments: the arguments are the
    gradients of the outputs, and `function` is the number of the graph.
    """

    function: Index
    call: Tree
    verb: str = ""  # another operation on an object of the test
    outputs: list[Index] | None = None
    graph: Index | None = None  # the number of the call's own graph
    requires_grad: list[tuple[Index, bool]] = []  # as in a Call
    grad_enabled: bool = True
    forget: list[Index] = []
    printed: list[Printed] = []


Reply = CellDone | Returned | Gradients | Raised
FromSandboxMessage = Ready | NotConfined | Reply | EndOfTest | Callback
