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
MODULE = {"type": "ModuleHandle", "object_id": 7, "name": "m", "parts": []}
OBJECT = {"type": "ObjectHandle", "object_id": 7, "name": "f"}

ENVELOPES = {
    "no text": b"",
    "no JSON": b"\xff\x00",
    "a number": b"5",
    "an empty list": b"[]",
    "a message alone": b'[{"type": "Returned", "value": 1}]',
    "three parts": b'[{"type": "Returned", "value": 1}, [], 5]',
    "a dict": b'{"message": {"type": "Returned", "value": 1}, "layouts": []}',
    "something after it": b'[{"type": "Returned", "value": 1}, []] [',
    "half of it": b'[{"type": "Returned", "val',
    "two types": b'[{"type": "Returned", "value": 1, "type": "Raised"}, []]',
    "not UTF-8": b'[{"type": "Returned", "value": "\xff"}, []]',
    "half a surrogate pair": b'[{"type": "Returned", "value": "\\ud800"}, []]',
    "not a number": b'[{"type": "Returned", "value": NaN}, []]',
    "an infinite number": b'[{"type": "Returned", "value": 1e999}, []]',
    "five thousand digits": b'[{"type": "Returned", "value": ' + b"9" * 5_000 + b"}, []]",
    "a hundred thousand levels": b'[{"type": "Returned", "value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}, []]",
    "a million parts": b'[{"type": "Returned", "value": [' + b"0," * 10**6 + b"0]}, []]",
}
"""Texts in place of the JSON of a message and its layouts."""

LAYOUTS = {
    "a number": 5,
    "numbers": [5],
    "no strides": [[0]],
    "a name": [["0", [1]]],
    "strides as text": [[0, "1"]],
    "a truth value": [[True, [1]]],
    "a fraction": [[0, [0.5]]],
}

MESSAGES = {
    **{f"message {content!r}": content for content in (5, None, True, "x", [], {}, [[], {}])},
    **{f"type {content!r}": {"type": content} for content in (5, None, [], "Nothing", "Message", "ErrorInfo", "")},
    "an earlier protocol's result": {"done": {"dict": []}, "effects": {"dict": []}, "differentiable": []},
    "an earlier protocol's error": {"raised": {"kind": "ValueError", "name": "x", "message": "x", "frames": []}},
    "an earlier protocol's question": {"back": 0, "call": {"tuple": []}},
    # Messages of the runner, and parts of messages.
    "a request to run a cell": {"type": "RunCell", "source": "1", "name": "x"},
    "a request to call": {"type": "Call", "session": 0, "call": {"tuple": []}, "graph": 0},
    "a request for gradients": {"type": "Backward", "session": 0, "graph": 0, "outputs": []},
    "the result of a callback": {"type": "CallbackReturned", "value": 1},
    "the error of a callback": {"type": "CallbackRaised", "kind": "ValueError", "message": "x", "number": 0},
    "a handle alone": OBJECT,
    "a module alone": MODULE,
    "an output alone": {"type": "Text", "text": "x"},
    # Raised
    "no error": {"type": "Raised"},
    **{f"error {content!r}": {"type": "Raised", "error": content} for content in (5, None, "x", [], {}, ["x", "y"])},
    "no name": {"type": "Raised", "error": {"kind": "ValueError"}},
    "a number for a name": {"type": "Raised", "error": ERROR | {"name": 3}},
    "a dict for a message": {"type": "Raised", "error": ERROR | {"message": {}}},
    "a list for a kind": {"type": "Raised", "error": ERROR | {"kind": ["x"]}},
    "a number for frames": {"type": "Raised", "error": ERROR | {"kind": "__import__", "frames": 5}},
    "null for frames": {"type": "Raised", "error": ERROR | {"kind": "ExceptionGroup", "frames": None}},
    "numbers for frames": {"type": "Raised", "error": ERROR | {"frames": [5]}},
    "short frames": {"type": "Raised", "error": ERROR | {"frames": [["<c>"], ["<c>", 2]]}},
    "a long frame": {"type": "Raised", "error": ERROR | {"frames": [["<c>", 1, "x", "more"]]}},
    "odd frames": {"type": "Raised", "error": ERROR | {"frames": [[[], {}, None]]}},
    "a line that is text": {"type": "Raised", "error": ERROR | {"frames": [["<c>", "1", "x"]]}},
    "a long kind": {"type": "Raised", "error": ERROR | {"kind": "k" * (MAX_LINE + 1)}},
    "a long name": {"type": "Raised", "error": ERROR | {"name": "n" * (MAX_LINE + 1)}},
    "a long message": {"type": "Raised", "error": ERROR | {"message": "m" * (MAX_MESSAGE + 1)}},
    "a long cell": {"type": "Raised", "error": ERROR | {"frames": [["c" * (MAX_LINE + 1), 1, "x"]]}},
    "a long line": {"type": "Raised", "error": ERROR | {"frames": [["<c>", 1, "x" * (MAX_LINE + 1)]]}},
    "many frames": {"type": "Raised", "error": ERROR | {"frames": [["<c>", 1, "x"]] * (MAX_FRAMES + 1)}},
    "a code of its own": {"type": "Raised", "error": ERROR | {"code": "passed"}},
    "junk beside the error": {"type": "Raised", "error": ERROR | {"junk": [[0] * 1_000]}},
    **{f"callback {content!r}": {"type": "Raised", "error": ERROR, "callback": content} for content in (-1, "0", True)},
    # Returned
    "no value": {"type": "Returned"},
    "junk beside the value": returned(1, junk=1),
    **{f"differentiable {content!r}": returned(1, differentiable=content) for content in (5, {}, ["x"], [-1], [None])},
    **{f"leaves {content!r}": returned(1, leaves=content) for content in (5, {}, [5], [[0, True]], [[0, 1, 1]])},
    **{f"grown {content!r}": returned(1, grown=content) for content in (5, [5], [[{}, 3]], [[0, "weight"]])},
    **{f"effects {content!r}": returned(1, effects=content) for content in (5, [], "x", {"junk": 1}, {"dict": []})},
    **{
        f"written {content!r}": returned(1, effects={"written": content})
        for content in (5, {"dict": []}, [5], [[0]], [[-1, 0]], [["x", 0]], [[0, None]])
    },
    **{
        f"gradients {content!r}": returned(1, effects={"gradients": content})
        for content in (5, [5], [[0, "x"]], [["x", None]], [[0, {"dict": []}]], [[-1, None]])
    },
    **{f"containers {content!r}": returned(1, effects={"containers": content}) for content in (5, [[0]], [["x", []]])},
    **{f"generators {content!r}": returned(1, effects={"generators": content}) for content in (5, ["x"], [-1])},
    **{f"random {content!r}": returned(1, effects={"random": content}) for content in ("x", -1, [0], 0.5)},
    **{f"own {content!r}": returned(1, effects={"own_random": content}) for content in ("x", -1, [0], 0.5)},
    **{f"printed {content!r}": returned(1, printed=content) for content in (5, "x", [5], [["x", "y"]], [[False, 5]])},
    **{
        f"modules {content!r}": returned(1, effects={"modules": content})
        for content in (5, {}, [5], [[0]], [[0, 5]], [["x", {}]], [[-1, {}]], [[0, {"dict": []}]])
    },
    **{
        f"changes {content!r}": returned(1, effects={"modules": [[0, content]]})
        for content in (
            *({"values": 5}, {"values": [["weight", 0]]}, {"values": {"weight": [0, True]}}, {"gradients": [[0, 0]]}),
            *({"training": [["", 1]]}, {"collecting": "x"}, {"description": 5}, {"description": {}}),
            *({"description": OBJECT}, {"description": {"parts": [["a", 0, "x", "y", True]]}}, {"anatomy": MODULE}),
        )
    },
    # Others
    "gradients that are a number": {"type": "Gradients", "tensors": 5},
    "gradients that are text": {"type": "Gradients", "tensors": ["x"]},
    "a negative gradient": {"type": "Gradients", "tensors": [-1]},
    **{
        f"function {content!r}": {"type": "Callback", "function": content, "call": {"tuple": [[], {"dict": []}]}}
        for content in ("x", True, -1, None, 0.5, [])
    },
    "a callback without arguments": {"type": "Callback", "function": 0},
    **{f"outputs {content!r}": {"type": "CellDone", "outputs": content} for content in (5, {}, [5], [{}], [["x"]])},
    **{
        f"output {content!r}": {"type": "CellDone", "outputs": [content]}
        for content in (
            *({"output_type": "stream", "text": "x"}, {"type": "Text"}, {"type": "Text", "text": 5}),
            *({"type": "Display"}, {"type": "Display", "data": 5}, {"type": "Display", "data": {"text/html": 5}}),
            *({"type": "Text", "text": "x", "junk": 1}, {"type": "CellDone"}),
        )
    },
    "a cell with an odd error": {"type": "CellDone", "error": {"name": [], "message": {}, "frames": [[1, 2]]}},
    "a cell with an empty error": {"type": "CellDone", "error": {}},
    "a pid that is text": {"type": "Ready", "pid": "1"},
    "a reason that is a number": {"type": "NotConfined", "why": 5},
    "a long reason": {"type": "NotConfined", "why": "x" * (MAX_MESSAGE + 1)},
}
"""Contents in place of a message."""

TREES = {
    **{
        f"tree {content!r}": content
        for content in (
            *({}, {"a": 1, "b": 2}, {"unknown": 1}, {"tensor": 0}, {"tensor": -1}, {"tensor": True}, {"tensor": "x"}),
            *({"tuple": 5}, {"tuple": {}}, {"dict": 5}, {"dict": [[5]]}, {"dict": [[[], 1]]}, {"dict": [[1, 2, 3]]}),
            *({"slice": [1]}, {"slice": 5}, {"dtype": "int99"}, {"dtype": []}, {"float": "x"}, {"float": []}),
            *({"text": 5}, {"text": "\u00e9"}, {"text": "\\x"}, {"numpy": 5}, {"numpy": ["object", "00"]}),
            *({"numpy": ["float32", "zz"]}, {"numpy": ["float32", "00"]}, {"numpy": [[], "00"]}),
            *({"array": [0, True]}, {"array": 0}, {"array": [[], True]}, {"array": [0, True, "O"]}, {"set": [[]]}),
            *({"set": {}}, {"frozenset": [{"dict": []}]}, {"set": [{"array": [0, True]}]}, {"complex": [1, 2]}),
            *({"complex": [0.5]}, {"deque": [-1, []]}, {"deque": ["x", []]}, {"deque": [None, 5]}, {"Counter": 5}),
            *({"defaultdict": [5, []]}, {"defaultdict": [None, 5]}, {"OrderedDict": [[[], 1]]}, {"type": "object_"}),
            *({"type": []}, {"type": "os.system"}, {"numpy_dtype": "O"}, {"numpy_dtype": []}, {"standard": []}),
            *({"standard": ["Fraction", 1, 0]}, {"standard": ["Fraction", "1e999999999", 1]}, {"standard": ["system"]}),
            *(
                {"standard": ["Decimal", "1e999999999"]},
                {"standard": ["range", 0, 1, 0]},
                {"standard": [[], ""]},
            ),
            *({"standard": ["bytes", "zz"]}, {"standard": ["bytes", 10**15]}, {"standard": ["bytearray", 10**15]}),
            *({"standard": ["timedelta", 10**15, 0, 0]}, {"standard": ["date", "x"]}, {"standard": ["date", 1, 2, 3]}),
            *(
                {"standard": ["range", {"tensor": 0}, 1, 1]},
                {"numpy": ["<U1", "ffffffff"]},
                {"numpy": ["<M8", "0"]},
            ),
            *({"named": 5}, {"named": ["x", ["a"], []]}, {"named": ["class", ["a"], [1]]}),
            *({"named": ["x", ["__init__"], [1]]}, {"named": ["x", [[]], [1]]}, {"named": [5, ["a"], [1]]}),
            *({"given": []}, {"given": ["lent"]}, {"given": ["lent", -1]}, {"given": ["lent", 10**6]}, {"given": 5}),
            *({"given": ["container", 99]}, {"given": ["tensor", 10**9]}, {"given": ["object", 0]}, {"given": [[], 0]}),
            *({"library": []}, {"library": 5}, {"library": ["pandas.read_pickle", "x"]}, {"library": [[], []]}),
            *({"library": ["pandas.DataFrame", [1, 2, 3]]}, {"library": ["sympy.expression", ["os:system", "x"]]}),
            *({"handle": 5}, {"handle": None}, {"handle": []}, {"handle": {}}, {"says": OBJECT}),
        )
    },
    "keys that collide": {"set": [number * (2**61 - 1) for number in range(1_001)]},
    "a set forty levels deep": json.loads('{"frozenset": [' * 40 + "]}" * 40),
    "a value forty levels deep": json.loads("[" * 40 + "]" * 40),
    "many fields": {"named": ["x", [f"a{number}" for number in range(101)], [0] * 101]},
    "a long field": {"named": ["x", ["a" * 101], [0]]},
    **{
        f"handle {content!r}": {"handle": content}
        for content in (
            *(OBJECT | {"object_id": -1}, OBJECT | {"object_id": True}, OBJECT | {"object_id": "x"}),
            *(OBJECT | {"name": []}, OBJECT | {"is_callable": 1}, OBJECT | {"junk": 1}, {"type": "ObjectHandle"}),
            *(MODULE | {"object_id": -1}, MODULE | {"parts": 5}, MODULE | {"parts": [5]}, MODULE | {"parts": [["a"]]}),
            *(MODULE | {"parts": [["a.b", 0, "x", "init", 3, []]]}, MODULE | {"parts": [["", 0, "m", "M", True, 5]]}),
            *(
                MODULE | {"parts": [["", 0, "m", "M", True, [], 1]]},
                MODULE | {"parameters": 5},
                MODULE | {"buffers": 5},
            ),
            *(MODULE | {"parameters": [["w", 0, True, -1]]}, MODULE | {"buffers": [["b", 1, 0]]}),
            *(MODULE | {"parameters": [["w", 0, True, 0, 1]]}, MODULE | {"buffers": [["b", True, 0, 1]]}),
            *(MODULE | {"aliases": [["a"]]}, MODULE | {"gradients": [["w", None]]}, MODULE | {"anatomy": []}),
            # Handles that only a runner sends.
            *({"type": "ObjectRef", "object_id": 0}, {"type": "VerbRef", "verb": "get"}),
            *({"type": "LentRef", "number": 0, "name": "f"}, {"type": "GeneratorRef", "state": 0}),
            {"type": "MethodRef", "owner": {"type": "ObjectRef", "object_id": 0}, "method": "__class__"},
        )
    },
    "no parts": {"handle": {key: part for key, part in MODULE.items() if key != "parts"}},
}
"""Contents in place of a value that a call returns."""

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
"""Headers of safetensors that do not fit the eight bytes after them."""
TRUTH_VALUES = {"0": {"dtype": "BOOL", "shape": [8], "data_offsets": [0, 8]}}
"""A header that fits, though no truth value is a byte of ones."""


def with_header(header: dict[str, Any]) -> bytes:
    """Return a message whose tensors are eight bytes with this header."""
    described = json.dumps(header).encode()
    tensors = struct.pack("<Q", len(described)) + described + b"\xff" * 8
    return raw(json.dumps([returned({"tensor": 0}), []]).encode(), tensors)


ODD = {
    **{f"text: {name}": raw(text) for name, text in ENVELOPES.items()},
    **{f"layouts: {name}": odd(returned(1), layouts) for name, layouts in LAYOUTS.items()},
    **{name: odd(message) for name, message in MESSAGES.items()},
    **{name: odd(returned(tree)) for name, tree in TREES.items()},
    **{f"tensors: {name}": with_header(header) for name, header in HEADERS.items()},
    "tensors: no safetensors": raw(json.dumps([returned({"tensor": 0}), []]).encode(), b"\xff" * 40),
}

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
