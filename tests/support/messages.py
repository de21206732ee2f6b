"""The messages between the runner and the sandbox, with random instances of each."""

import random
from typing import Any

import msgspec
from msgspec import inspect

from grader.engine.rpc import protocol
from grader.engine.rpc.channel import FROM_SANDBOX, TO_SANDBOX
from grader.engine.rpc.message import Message
from grader.engine.rpc.objects import handles
from grader.engine.rpc.protocol import FromSandboxMessage, ToSandbox
from grader.engine.rpc.values.trees import pack

STRUCTS = [
    kind
    for kind in (vars(protocol) | vars(handles)).values()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind is not Message
]
MESSAGES = [(kind, TO_SANDBOX) for kind in ToSandbox.__args__] + [
    (kind, FROM_SANDBOX) for kind in FromSandboxMessage.__args__
]
VALUES = [
    *(None, True, 0, 2**14_000 - 1, 1 - 2**14_000, 0.1, -0.0, float("nan"), float("inf"), -float("inf")),
    *(
        "",
        "\ud800",
        "a\udfffb\\",
        "na\u00efve \N{SNOWMAN}",
        [],
        (),
        {},
        slice(1, None),
        [{(1, "\udc00"): [float("nan")]}],
    ),
]
STRINGS = ["", "name", "na\u00efve \N{SNOWMAN} \U0001f600", "\x00\x1b\u2028", '"\\', "0" * 1_000]
INTEGERS = [0, 1, 2**31, 2**63, 2**64, 2**14_000 - 1]


def made(kind: inspect.Type, rng: random.Random) -> Any:
    """A random instance of a field's type; its values include those that are hard to send."""
    match kind:
        case inspect.StructType():
            return kind.cls(**{field.name: made(field.type, rng) for field in kind.fields})
        case inspect.EnumType():
            return rng.choice(list(kind.cls))
        case inspect.UnionType():
            return made(rng.choice(kind.types), rng)
        case inspect.ListType():
            return [made(kind.item_type, rng) for _ in range(rng.choice((0, 1, kind.max_length or 3)))]
        case inspect.VarTupleType():
            return tuple(made(kind.item_type, rng) for _ in range(rng.randrange(3)))
        case inspect.TupleType():
            return tuple(made(item, rng) for item in kind.item_types)
        case inspect.DictType():
            return {made(kind.key_type, rng): made(kind.value_type, rng) for _ in range(rng.randrange(3))}
        case inspect.IntType():
            return rng.choice(INTEGERS) * (1 if kind.ge == 0 else rng.choice((-1, 1)))
        case inspect.FloatType():
            return rng.choice((0.0, -0.5, 1e-300, 1e300))
        case inspect.StrType():
            return rng.choice((*STRINGS, "x" * (kind.max_length or 0)))[: kind.max_length]
        case inspect.BoolType():
            return rng.choice((False, True))
        case inspect.BytesType():
            return rng.randbytes(rng.randrange(100))
        case inspect.NoneType():
            return None
        case inspect.AnyType():
            return pack(rng.choice(VALUES), None, [])
    raise AssertionError(f"no message has had a field of {kind} so far")


def example(struct: type, seed: int) -> Any:
    """A random instance of a class of messages."""
    return made(inspect.type_info(struct), random.Random(f"{struct.__name__} {seed}"))
