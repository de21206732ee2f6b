"""Every message arrives as it was sent, and everything that the protocol does not define is refused."""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from grader.engine.rpc import protocol
from grader.engine.rpc.channel import FROM_SANDBOX, LENGTHS, TO_SANDBOX, decode, encode
from grader.engine.rpc.message import Message, ProtocolError
from grader.engine.rpc.objects.handles import Handle
from grader.engine.rpc.protocol import MAX_LINE, Display, Text
from grader.text import MAX_MESSAGE
from tests.support.messages import MESSAGES, STRUCTS, example

PARTS = [(kind, kind) for kind in STRUCTS if kind not in dict(MESSAGES) and not issubclass(kind, Message)] + [
    (kind, union) for union in (Handle, Text | Display) for kind in union.__args__
]
"""Classes that occur inside of messages only, each with the type of the field that holds it."""


def struct_name(kind: Any) -> str:
    """Part of the name of a test case."""
    return kind.__name__ if kind in STRUCTS else ""


def test_every_class_is_a_message_or_part_of_one():
    """So that the tests below leave none out."""
    assert len(STRUCTS) == len(MESSAGES) + len(PARTS) and len(MESSAGES) == 6 + 8


@pytest.mark.parametrize(("struct", "decoder"), MESSAGES, ids=struct_name)
def test_every_message_arrives_as_it_was_sent_in_one_direction_only(struct, decoder):
    """With the largest integers, the oddest strings, and values that JSON does not know; the sender refuses its own."""
    for seed in range(20):
        message = example(struct, seed)
        sent = encode(message, [])
        arrived, _ = decode(sent, decoder)
        assert arrived == message and type(arrived) is struct
        with pytest.raises(ProtocolError):
            decode(sent, TO_SANDBOX if decoder is FROM_SANDBOX else FROM_SANDBOX)


def test_every_part_arrives_as_it_was_sent():
    """In a field of a message, and in a tree, where it is converted from JSON that was decoded before."""
    for (struct, kind), seed in product(PARTS, range(20)):
        part = example(struct, seed)
        sent = msgspec.json.encode(part)
        assert msgspec.json.decode(sent, type=kind) == msgspec.convert(msgspec.json.decode(sent), kind) == part


def misfits(kind: inspect.Type) -> Iterator[Any]:
    """JSON that does not fit a type: other types, and values on the other side of its bounds."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    if any(isinstance(each, inspect.AnyType) for each in kinds):
        return
    fitting = {
        inspect.IntType: int,
        inspect.FloatType: float,
        inspect.BoolType: bool,
        inspect.ListType: list,
        inspect.TupleType: list,
        inspect.VarTupleType: list,
        inspect.DictType: dict,
        inspect.NoneType: type(None),
        inspect.StrType: str,
        inspect.BytesType: str,
        inspect.EnumType: str,
    }
    own = {
        (list if each.array_like else dict) if isinstance(each, inspect.StructType) else fitting[type(each)]
        for each in kinds
    }
    own |= {int} if float in own else set()
    yield from (odd for odd in (7, 0.5, True, "7", [7], {"7": 7}, None) if type(odd) not in own)
    for each in kinds:
        match each:
            case inspect.IntType(ge=0):
                yield from (-1, -(2**70), 0.0, 1e300)
            case inspect.StrType(max_length=int(length)):
                yield "x" * (length + 1)
            case inspect.EnumType():
                yield "no member"
            case inspect.BytesType():
                yield "no base64"
            case inspect.ListType() | inspect.VarTupleType():
                yield from ([odd] for odd in misfits(each.item_type))
            case inspect.TupleType():
                yield from ([], [0] * (len(each.item_types) + 1))
            case inspect.StructType(array_like=False):
                yield {"more": 1}


def broken(struct: type) -> Iterator[tuple[str, Any]]:
    """Messages of this class with one fault each, as JSON, and the name of the fault."""
    info = inspect.type_info(struct)
    right = json.loads(msgspec.json.encode(example(struct, 1)))
    assert msgspec.json.decode(json.dumps(right), type=struct)
    if info.array_like:
        yield "an item more", [*right, 0]
        yield "an item less", right[:-1]
        for place, field in enumerate(info.fields):
            for odd in misfits(field.type):
                yield field.name, [*right[:place], odd, *right[place + 1 :]]
        return
    if info.tag is not None:
        yield "no tag", {name: value for name, value in right.items() if name != "type"}
        yield from (("tag", right | {"type": odd}) for odd in ("Message", "", struct.__name__.lower(), 7, None, ["x"]))
    yield "an unknown field", right | {"more": 1}
    for field in info.fields:
        if field.required:
            yield f"no {field.name}", {name: value for name, value in right.items() if name != field.encode_name}
        yield from ((field.name, right | {field.encode_name: odd}) for odd in misfits(field.type))


def framed(content: Any) -> bytes:
    """The bytes of a message without tensors."""
    text = json.dumps([content, []]).encode()
    return LENGTHS.pack(len(text), 0) + text


@pytest.mark.parametrize(("struct", "kind"), MESSAGES + PARTS, ids=struct_name)
def test_messages_and_parts_are_decoded_strictly(struct, kind):
    """An unknown field, a missing one, a wrong type, an unknown tag, a negative index, an error message too long."""
    if (struct, kind) in MESSAGES:
        decoders, refusal = [lambda message: decode(framed(message), kind)], ProtocolError
    else:
        in_a_field = lambda part: msgspec.json.decode(json.dumps(part), type=kind)  # noqa: E731
        decoders, refusal = [in_a_field, lambda part: msgspec.convert(part, kind)], msgspec.ValidationError
    for (what, content), decoder in product(broken(struct), decoders):
        with pytest.raises(refusal):
            decoder(content)
            pytest.fail(f"{what} is accepted: {content!r:.200}")


ERROR, FRAME = {"kind": "ValueError", "name": "x", "message": "", "frames": []}, ["<c>", 1, "x"]
HANDLE = {"type": "ModuleHandle", "object_id": 7, "name": "m", "parts": [["", 0, "m", "M", True, []]]}
OUT_OF_BOUNDS: list[dict[str, Any]] = [
    {"type": "Returned", "value": 1, "differentiable": [-1]},
    {"type": "Returned", "value": 1, "leaves": [[-1, True, True]]},
    {"type": "Returned", "value": 1, "grown": [[-1, []]]},
    *(
        {"type": "Returned", "value": 1, "effects": effects}
        for effects in (
            *({"written": [[-1, 0]]}, {"written": [[0, -1]]}, {"gradients": [[-1, None]]}, {"containers": [[-1, []]]}),
            *({"generators": [-1]}, {"random": -1}, {"own_random": -1}, {"modules": [[-1, {}]]}),
        )
    ),
    *({"type": "Gradients", "tensors": [-1]}, {"type": "Callback", "function": -1, "call": {"tuple": [[], {}]}}),
    {"type": "Raised", "error": ERROR, "callback": -1},
    {"type": "NotConfined", "why": "x" * (MAX_MESSAGE + 1)},
    *({"type": "Raised", "error": ERROR | {field: "x" * (MAX_LINE + 1)}} for field in ("kind", "name")),
    {"type": "Raised", "error": ERROR | {"message": "x" * (MAX_MESSAGE + 1)}},
    {"type": "Raised", "error": ERROR | {"frames": [FRAME] * (protocol.MAX_FRAMES + 1)}},
    {"type": "Raised", "error": ERROR | {"frames": [["c" * (MAX_LINE + 1), 1, "x"]]}},
    {"type": "Raised", "error": ERROR | {"frames": [["<c>", 1, "x" * (MAX_LINE + 1)]]}},
]
"""Numbers below zero and texts that are too long, whatever the classes of the protocol say of their fields."""


def test_the_bounds_of_a_reply_are_those_of_the_protocol():
    """A negative number would count from the end of a list; a runner remembers errors, which may not be long."""
    for reply in OUT_OF_BOUNDS:
        with pytest.raises(ProtocolError):
            decode(framed(reply), FROM_SANDBOX)
            pytest.fail(f"this is accepted: {reply!r:.200}")
    for fields in ({"parameters": [["w", 0, True, -1]]}, {"buffers": [["b", True, -1]]}, {"object_id": -1}):
        assert msgspec.convert(HANDLE, Handle)
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(HANDLE | fields, Handle)


def test_values_alone_may_be_anything():
    """Every other field has a type, so that the tests above find what does not fit it."""
    fields = [(kind, field) for kind in STRUCTS for field in inspect.type_info(kind).fields]
    assert {f"{kind.__name__}.{field.name}" for kind, field in fields if "AnyType" in repr(field.type)} == {
        *("Call.call", "Call.process", "Call.shared", "Callback.call", "CallbackReturned.value", "IteratorRef.items"),
        *("Effects.containers", "Effects.objects", "ProcessChanges.held", "Returned.effects", "Returned.value"),
    }


def test_the_version_is_always_sent():
    """A default would be filled in by the receiver, who would then find its own version and no other."""
    ready = protocol.Ready(pid=1, version=protocol.VERSION)
    assert b'"version":' in encode(ready, [])
    with pytest.raises(ProtocolError, match="version"):
        decode(framed({"type": "Ready", "pid": 1}), FROM_SANDBOX)


def test_changes_are_false_where_nothing_changed():
    """An empty list of parameters that collect gradients is a change: there were some before."""
    assert not protocol.ModuleChanges() and not protocol.ModuleChanges(values=[])
    assert protocol.ModuleChanges(collecting=[]) and protocol.ModuleChanges(training=[("", False)])
