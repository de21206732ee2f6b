"""Forges replies that no honest sandbox sends, as the bytes that an attacker writes onto the socket.

ODD replies are none of the protocol's messages. LIES are messages of the protocol, but what they claim is not so.
"""

import json
import struct
from typing import Any

import torch

from grader.engine.rpc.channel import encode
from grader.engine.rpc.message import Message
from grader.engine.rpc.objects.handles import (
    BufferDescription,
    ModuleHandle,
    ObjectHandle,
    ParameterDescription,
    PartDescription,
)
from grader.engine.rpc.protocol import (
    MAX_FRAMES,
    MAX_LINE,
    VERSION,
    Callback,
    CellDone,
    Effects,
    ErrorCode,
    ErrorInfo,
    Frame,
    Gradients,
    ModuleChanges,
    NotConfined,
    Raised,
    Ready,
    Returned,
    Text,
)
from grader.text import MAX_MESSAGE


def raw(text: bytes, tensors: bytes = b"") -> bytes:
    """Return a message with any text in place of its JSON, and any bytes in place of its tensors."""
    return struct.pack(">II", len(text), len(tensors)) + text + tensors


def odd(message: Any, layouts: Any = ()) -> bytes:
    """Return a message whose JSON holds `message`, whatever the protocol says of it."""
    return raw(json.dumps([message, layouts]).encode())


def lie(message: Message, *tensors: torch.Tensor) -> bytes:
    """Return a message of the protocol with these tensors."""
    return encode(message, list(tensors))


def returned(value: Any, **more: Any) -> dict[str, Any]:
    """Return the JSON of a Returned."""
    return {"type": "Returned", "value": value, **more}


ERROR = {"kind": "ValueError", "name": "ValueError"}
OBJECT = {"type": "ObjectHandle", "object_id": 7, "name": "f"}

GIVEN = (
    *([], ["lent"], ["lent", -1], ["lent", 10**6], 5, ["container", 99], ["tensor", 10**9], ["object", 0], [[], 0]),
)
OF_THE_RUNNER = (
    *({"type": "ObjectRef", "object_id": 0}, {"type": "VerbRef", "verb": "get"}),
    *({"type": "LentRef", "number": 0, "name": "f"}, {"type": "GeneratorRef", "state": 0}),
    {"type": "MethodRef", "owner": {"type": "ObjectRef", "object_id": 0}, "method": "__class__"},
)
"""Handles that only a runner sends."""

ARRAY = {"array": [0, True]}
HEADERS = {
    "a huge shape": {"0": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 8]}},
    "an unknown type": {"0": {"dtype": "F99", "shape": [2], "data_offsets": [0, 8]}},
    "an offset out of range": {"0": {"dtype": "F32", "shape": [2], "data_offsets": [0, 2**63]}},
    "a name that is no number": {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}},
    "a number left out": {"1": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}},
    "no numbers of a huge shape": {"0": {"dtype": "F32", "shape": [0, 2**62], "data_offsets": [0, 0]}},
    "pairs of nothing": {"0j": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}},
}
"""Headers of safetensors that do not fit the eight bytes after them, for 17g in the corpus."""
TRUTH_VALUES = {"0": {"dtype": "BOOL", "shape": [8], "data_offsets": [0, 8]}}
"""A header that fits, though no truth value is a byte of ones."""


def with_header(header: dict[str, Any]) -> bytes:
    """Return a message whose tensors are eight bytes with this header."""
    described = json.dumps(header).encode()
    tensors = struct.pack("<Q", len(described)) + described + b"\xff" * 8
    return raw(json.dumps([returned({"tensor": 0}), []]).encode(), tensors)


ODD = {
    "no JSON": raw(b"\xff\x00"),
    "half of it": raw(b'[{"type": "Returned", "val'),
    "strides as text": odd(returned(1), [[0, "1"]]),
    "no safetensors": raw(json.dumps([returned({"tensor": 0}), []]).encode(), b"\xff" * 40),
    "a number": odd(5),
    "an earlier protocol's result": odd({"done": {"dict": []}, "effects": {"dict": []}, "differentiable": []}),
    "a request to run a cell": odd({"type": "RunCell", "source": "1", "name": "x"}),
    "the result of a callback": odd({"type": "CallbackReturned", "value": 1}),
    "a handle alone": odd(OBJECT),
    "junk beside the value": odd(returned(1, junk=1)),
    "junk beside the error": odd({"type": "Raised", "error": ERROR | {"junk": [[0] * 1_000]}}),
    "many frames": odd({"type": "Raised", "error": ERROR | {"frames": [["<c>", 1, "x"]] * (MAX_FRAMES + 1)}}),
    "an unknown value": odd(returned({"unknown": 1})),
    "a tensor that is not there": odd(returned({"tensor": 0})),
    "a dict of colliding keys": odd(returned({"set": [number * (2**61 - 1) for number in range(1_001)]})),
    "a negative object": odd(returned({"handle": OBJECT | {"object_id": -1}})),
    "a module that names no parts": odd(returned({"handle": {"type": "ModuleHandle", "object_id": 7, "name": "m"}})),
    **{f"what a test handed over {content}": odd(returned({"given": content})) for content in GIVEN},
    **{f"a handle of the runner's {content}": odd(returned({"handle": content})) for content in OF_THE_RUNNER},
}
"""One reply of each kind that breaks the protocol. tests/engine/rpc decodes many more of each."""

KINDS = (
    *("__import__", "print", "nonsense", "", "ExceptionGroup", "BaseExceptionGroup", "StopIteration", "GeneratorExit"),
    *("KeyboardInterrupt", "SystemExit", "AssertionError", "UnicodeDecodeError", "KeyError", "OSError", "MemoryError"),
)
NAMES = {"dict": [["Scale", 5], ["torch", True], ["m", 0], ["__builtins__", {"dict": []}]]}
ROOT = PartDescription("", 7, "m", "Module", True, [])
ZERO = torch.zeros(1)


def error(**more: Any) -> ErrorInfo:
    """Return the description of an error."""
    return ErrorInfo(**({"kind": "ValueError", "name": "ValueError"} | more))


def module(**more: Any) -> Returned:
    """Return the reply that the student's Scale is this module."""
    handle = ModuleHandle(**({"object_id": 7, "name": "m", "parts": [ROOT]} | more))
    return Returned(value={"dict": [["Scale", {"handle": handle}], ["double", {"handle": handle}]]})


def effect(**effects: Any) -> Returned:
    """Return the reply of a call that had these effects."""
    return Returned(value=1, effects=Effects(**effects))


LIES = {
    # Messages of the sandbox that do not answer what was asked
    "ready again": lie(Ready(pid=1, version=VERSION)),
    "ready in another version": lie(Ready(pid=1, version=99)),
    "not confined": lie(NotConfined(why="no reason")),
    "a cell done": lie(CellDone(outputs=[Text(text="x")])),
    "gradients of nothing": lie(Gradients(tensors=[])),
    "gradients that are not there": lie(Gradients(tensors=[99])),
    "a question": lie(Callback(function=0, call={"tuple": [{"tuple": []}, {"dict": []}]})),
    "a question to no function": lie(Callback(function=10**9, call={"tuple": ["__import__", "os"]})),
    "a question for the names of a function": lie(
        Callback(function=0, verb="get", call={"tuple": [{"tuple": ["__globals__"]}, {"dict": []}]})
    ),
    # Values that were not asked for
    **{f"the value {value!r}": lie(Returned(value=value)) for value in (3, None, "x", [], [[[]]], {"dict": []}, NAMES)},
    "an object with a huge id": lie(Returned(value={"dict": [["Scale", {"handle": ObjectHandle(
        object_id=10**300, name="x" * 10**6)}]]})),
    "an object with an odd name": lie(Returned(value={"dict": [["Scale", {"handle": ObjectHandle(
        object_id=0, name="<b>\x00\x1b[2J")}]]})),
    # Modules that cannot be
    "a module without parts": lie(module(parts=[])),
    "a part of nothing": lie(module(parts=[ROOT, PartDescription("a.b", 0, "x", "init", True, [])])),
    "a part before its module": lie(module(parts=[PartDescription("a", 0, "x", "Linear", True, []), ROOT])),
    "a module twice": lie(module(parts=[ROOT, ROOT])),
    "a base that is no layer": lie(module(parts=[PartDescription("", 7, "m", "init", True, ["forward", "__class__"])])),
    "a module in itself": lie(module(aliases=[("a", "")])),
    "a part in itself": lie(module(parts=[ROOT, PartDescription("a", 8, "x", "Module", True, [])],
        aliases=[("a.b", "a")])),
    "an alias of nothing": lie(module(aliases=[("a", "b")])),
    "a parameter of nothing": lie(module(parameters=[ParameterDescription("a.w", 8, True, 0)]), ZERO),
    "a parameter without a tensor": lie(module(parameters=[ParameterDescription("w", 8, True, 99)]), ZERO),
    "a parameter of whole numbers": lie(module(parameters=[ParameterDescription("w", 8, True, 0)]), ZERO.long()),
    "a buffer of nothing": lie(module(buffers=[BufferDescription("a.b", True, 0)]), ZERO),
    "a buffer without a tensor": lie(module(buffers=[BufferDescription("b", True, 99)]), ZERO),
    "a gradient without a parameter": lie(module(gradients=[("w", 0)]), ZERO),
    "a gradient of another shape": lie(
        module(parameters=[ParameterDescription("w", 8, True, 0)], gradients=[("w", 1)]), ZERO, torch.zeros(5)
    ),
    # Effects on things that do not exist
    "differentiable, but not there": lie(Returned(value=1, differentiable=[99])),
    "differentiable whole numbers": lie(Returned(value={"tensor": 0}, differentiable=[0, 0]), ZERO.long()),
    "truth values that are neither": with_header(TRUTH_VALUES),
    "an array that is differentiable": lie(Returned(value=ARRAY, differentiable=[0]), ZERO),
    "an array that is a leaf": lie(Returned(value=ARRAY, leaves=[(0, True, True)]), ZERO),
    "an array that is a tensor": lie(Returned(value={"tuple": [ARRAY, {"tensor": 0}]}), ZERO),
    "an array that no numpy can hold": lie(Returned(value=ARRAY), ZERO.bfloat16()),
    "text that is none": lie(Returned(value={"array": [0, True, "<U1"]}), torch.full((2, 4), 255).byte()),
    "a write into no array": lie(effect(written=[(0, 0)], containers=[(0, ARRAY)]), ZERO),
    "a leaf that is not there": lie(Returned(value=1, leaves=[(99, True, True)])),
    "a leaf of whole numbers": lie(Returned(value={"tensor": 0}, leaves=[(0, True, True)]), ZERO.long()),
    "a write into no tensor": lie(effect(written=[(99, 0)]), ZERO),
    "a write of no tensor": lie(effect(written=[(0, 99)]), ZERO),
    "a gradient in no tensor": lie(effect(gradients=[(99, None)])),
    "a gradient that is not there": lie(effect(gradients=[(0, 99)])),
    "a write into no list": lie(effect(containers=[(99, [])])),
    "a write that is no list": lie(effect(containers=[(0, 5), (1, {"dict": []})])),
    "states of no generator": lie(effect(generators=[0, 0, 0]), ZERO),
    "a random state that is not there": lie(effect(random=99)),
    "a random state of floats": lie(effect(random=0), ZERO),
    "a random state of one byte": lie(effect(random=0), ZERO.byte()),
    "a random state of zeros": lie(effect(random=0), torch.zeros(5056, dtype=torch.uint8)),
    "own states that were not asked for": lie(effect(own_random=0), torch.zeros(5018, dtype=torch.uint8)),
    "own states that are not there": lie(effect(own_random=99)),
    "printed text that was not asked for": lie(Returned(value=1, printed=[(False, "x" * 2**20), (True, "\ud7ff")])),
    "changes of no module": lie(effect(modules=[(99, ModuleChanges(training=[("", True)]))])),
    "a new form of no module": lie(effect(modules=[(0, ModuleChanges(description=ModuleHandle(
        object_id=0, name="m", parts=[ROOT])))])),
    "new parameters of no module": lie(Returned(value=1, grown=[(0, ["weight"]), (99, [])])),
    # Errors
    **{f"an error of kind {kind!r}": lie(Raised(error=error(kind=kind, message="x"))) for kind in KINDS},
    **{f"an error by {code}": lie(Raised(error=error(code=code))) for code in ErrorCode},
    "an error of the test's": lie(Raised(error=error(kind="StopIteration"), callback=10**9)),
    "an error in odd lines": lie(Raised(error=error(
        frames=[Frame("<scale>", line, "") for line in (0, -1, 10**300)]))),
    "an error that fills its room": lie(Raised(error=error(
        kind="k" * MAX_LINE, name="\x00" * MAX_LINE, message="\x1b" * MAX_MESSAGE,
        frames=[Frame("<" * MAX_LINE, 1, "<" * MAX_LINE)] * MAX_FRAMES))),
}  # fmt: skip
