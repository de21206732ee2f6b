"""Values come out of a tree as they went in, and no tree that `pack` does not make is accepted."""

import json
import types

import numpy
import pytest
import torch

from grader.engine.rpc.channel import TO_SANDBOX, decode, encode
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import GeneratorRef, ObjectHandle
from grader.engine.rpc.protocol import CallbackReturned
from grader.engine.rpc.values import arrays
from grader.engine.rpc.values import trees as values
from grader.engine.rpc.values.trees import pack, unpack
from tests.engine.rpc.conftest import crossed, refuse

INTEGERS = [2**14_000 - 1, 1 - 2**14_000, 2**64, -(2**63) - 1, 0]


def test_numbers_cross():
    """JSON has no NaN and no infinity, a tree has both; integers keep all their digits up to the limit."""
    nan, *others = crossed([float("nan"), float("inf"), -float("inf"), *INTEGERS])
    assert nan != nan and others == [float("inf"), -float("inf"), *INTEGERS]
    assert {type(number) for number in others[2:]} == {int}


@pytest.mark.parametrize(
    "text",
    ["\ud800", "a\udfffb", "\\ud800 \ud800", "na\u00efve \N{SNOWMAN} \U0001f600", "\x00\x7f\u2028", '"\\/\n'],
    ids=ascii,
)
def test_every_string_crosses(text):
    """Half of a surrogate pair has no encoding of its own, yet student code may hold one."""
    assert crossed([text, {text: text}]) == [text, {text: text}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ([[]] * (values.MAX_NODES + 1), "parts"),
        (10**5000, "bits"),
        (2**14_000, "bits"),
        (object(), "no object"),
        (types.SimpleNamespace(), "no SimpleNamespace"),
        (torch.float8_e5m2, "do not cross"),
    ],
    ids=["many", "long", "one bit more", "object", "namespace", "dtype"],
)
def test_values_out_of_bounds_are_not_packed(value, rule):
    """The error names the rule that the value breaks."""
    with pytest.raises(ProtocolError, match=rule):
        pack(value, refuse, [])


def test_depth_is_bounded_at_both_ends():
    """The deepest value that packs is the deepest tree that unpacks."""
    value = "leaf"
    for _ in range(values.MAX_DEPTH):
        value = [value]
    assert unpack(pack(value, refuse, []), [], refuse) == value
    with pytest.raises(ProtocolError, match="levels"):
        pack([value], refuse, [])
    with pytest.raises(ProtocolError, match="levels"):
        unpack([value], [], refuse)


@pytest.mark.slow
def test_keys_that_collide_are_refused():
    """A dict of 40,000 keys with one hash would take half a minute; as many keys of an honest dict cross."""
    colliding = dict.fromkeys(number * (2**61 - 1) for number in range(1_001))
    with pytest.raises(ProtocolError, match="1000 keys of a dict"):
        unpack(pack(colliding, refuse, []), [], refuse)
    honest = {number: str(number) for number in range(40_000)}
    assert unpack(pack(honest, refuse, []), [], refuse) == honest


def test_a_number_of_numpy_keeps_its_dtype():
    """To the last bit, and as a key of a dict; floats that are longer on some processors than on others are refused."""
    for name in arrays.DTYPES:
        number = numpy.dtype(name).type(1 / 3)
        [[key, arrived]] = crossed({number: number}).items()
        assert type(arrived) is type(key) is type(number) and arrived == key == number
    with pytest.raises(ProtocolError, match="no longdouble"):
        pack(numpy.longdouble(1), refuse, [])


def test_a_handle_reaches_the_receiver_as_the_sender_made_it():
    """`refer` names what does not cross, with a tensor of the message; `resolve` finds what the name stands for."""
    tensors = []
    tree = pack([object()], lambda item, place: GeneratorRef(state=place(torch.ones(1))), tensors)
    arrived, decoded = decode(encode(CallbackReturned(value=tree), tensors), TO_SANDBOX)
    [(handle, state)] = unpack(
        arrived.value, decoded.tensors, lambda handle, tensors: (handle, tensors[handle.state].item())
    )
    assert handle == GeneratorRef(state=0) and state == 1.0


@pytest.mark.parametrize(
    "handle",
    [
        *(5, None, [], {}, "ObjectHandle", {"type": "Handle"}, {"object_id": 0, "name": "f"}),
        *({"type": "ObjectHandle", "object_id": odd, "name": "f"} for odd in (-1, "0", True)),
        {"type": "ObjectHandle", "object_id": 0, "name": "f", "more": 1},
        {"type": "RunCell", "source": "", "name": ""},
        {"type": "MethodRef", "owner": {"type": "VerbRef", "verb": "get"}, "method": "f"},
        {"type": "ModuleHandle", "object_id": 0, "name": "m", "parts": [["", -1, "m", "Module", True, []]]},
    ],
    ids=lambda handle: json.dumps(handle)[:80],
)
def test_handles_are_decoded_strictly(handle):
    """As in a message (test_protocol.py): a tree with anything else is refused, and the right one beside it is not."""
    right = {"type": "ObjectHandle", "object_id": 0, "name": "f"}
    accept = lambda handle, tensors: handle  # noqa: E731
    assert unpack([{"handle": right}], [], accept) == [ObjectHandle(object_id=0, name="f")]
    with pytest.raises(ProtocolError):
        unpack([{"handle": right}, {"handle": handle}], [], accept)


@pytest.mark.parametrize(
    "tree",
    [
        *({"tensor": 0}, {"tensor": -1}, {"tensor": "0"}, {"tuple": 3}, {"dict": [[1]]}, {"dict": [[[], 1]]}, {"a": 1}),
        *({"dict": [1]}, {"slice": [1, 2]}, {"dtype": "float8"}, {"dtype": "__class__"}, {"handle": 1}, {}, {"x": 1}),
        *({"dict": {"a": 1}}, {"tensor": None}, {"tensor": True}, [{"tuple": [{"tensor": 7}]}], {"dict": [[1, 2, 3]]}),
        *({"named": ["Pair", ["a"], [1, 2]]}, {"named": ["Pair", ["a", "a"], [1, 2]]}, {"named": ["Pair", 7, [1]]}),
        *({"named": ["a b", ["a"], [1]]}, {"named": ["Pair", ["a=print()"], [1]]}, {"named": ["Pair", ["_a"], [1]]}),
        *({"named": ["Pair", ["a"]]}, {"named": ["Pair", [["a"]], [1]]}, {"named": [7, ["a"], [1]]}, {"named": "Pair"}),
        *({"named": ["Pair", [f"a{number}" for number in range(101)], [0] * 101]}, {"named": ["P" * 200, ["a"], [1]]}),
        *({"named": ["class", ["a"], [1]]}, {"named": ["Pair", ["__init__"], [1]]}, {"named": ["x", ["a" * 101], [0]]}),
        *({"numpy": ["int64", digits]} for digits in ("00", "0" * 32, "x", 1)),
        *({"numpy": ["object", "0" * 16]}, {"numpy": [["int64"], "0" * 16]}, {"numpy": ["int64"]}, {"numpy": "int64"}),
        *({"numpy": ["float32", "zz"]}, {"numpy": ["<U1", "ffffffff"]}, {"numpy": ["<M8", "0"]}, {"numpy_dtype": "O"}),
        *({"float": "1.0"}, {"float": 1.0}, {"float": ["nan"]}, {"text": 1}, {"text": "\\u12"}, {"text": "\xe9"}),
        *({"tuple": {}}, {"dict": 5}, {"slice": 5}, {"dtype": []}, {"float": "x"}, {"numpy_dtype": []}, {"set": [[]]}),
        *({"set": {}}, {"frozenset": [{"dict": []}]}, {"set": [{"array": [0, True]}]}, {"complex": [1, 2]}),
        *({"complex": [0.5]}, {"deque": [-1, []]}, {"deque": ["x", []]}, {"deque": [None, 5]}, {"Counter": 5}),
        *({"defaultdict": [5, []]}, {"defaultdict": [None, 5]}, {"OrderedDict": [[[], 1]]}, {"type": "object_"}),
        *({"type": []}, {"type": "os.system"}, {"standard": []}, {"standard": ["Fraction", 1, 0]}),
        *(
            {"standard": ["Fraction", "1e999999999", 1]},
            {"standard": ["system"]},
            {"standard": ["Decimal", "1e999999999"]},
        ),
        *({"standard": ["range", 0, 1, 0]}, {"standard": [[], ""]}, {"standard": ["range", {"tensor": 0}, 1, 1]}),
        *({"standard": ["bytes", "zz"]}, {"standard": ["bytes", 10**15]}, {"standard": ["bytearray", 10**15]}),
        *({"standard": ["timedelta", 10**15, 0, 0]}, {"standard": ["date", "x"]}, {"standard": ["date", 1, 2, 3]}),
        *(
            {"handle": None},
            {"handle": []},
            {"handle": {}},
            {"says": {"type": "ObjectHandle", "object_id": 7, "name": "f"}},
        ),
        *({"tuple": [], "dict": []}, json.loads('{"frozenset": [' * 40 + "]}" * 40), [0] * (values.MAX_NODES + 1)),
    ],
    ids=lambda tree: str(tree)[:60],
)
def test_trees_that_pack_does_not_make_are_refused(tree):
    """However they are made up, they end in a ProtocolError and in nothing else."""
    with pytest.raises(ProtocolError):
        unpack(tree, [], refuse)
