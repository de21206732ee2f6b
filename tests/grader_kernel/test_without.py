"""A library function that does the work of an exercise fails under every name and on every way to it."""

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator

import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from grader.engine.sandbox.isolation.namespaces import succeeds_in_child
from grader_kernel.without import rule, without
from tests.support.library_functions import calls

X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
SENTENCES = torch.zeros(2, 5, 4)
torchs_own_warnings = pytest.mark.filterwarnings("ignore")
"""A test calls all of torch, which warns of layers that it deprecates and, in `compile`, of modules of its own."""
CALLS: dict[str, dict[str, Callable[[], object]]] = {
    "log_softmax": {
        "torch": lambda: torch.log_softmax(X, 1),
        "functional": lambda: F.log_softmax(X, 1),
        "method": lambda: X.log_softmax(1),
        "layer": lambda: nn.LogSoftmax(1)(X),
        "packet": lambda: torch.ops.aten.log_softmax(X, 1),
        "overload": lambda: torch.ops.aten.log_softmax.int(X, 1),
    },
    "lstm": {"layer": lambda: nn.LSTM(4, 3)(SENTENCES), "eval": lambda: nn.LSTM(4, 3).eval()(SENTENCES)},
    "multi_head_attention_forward": {
        "layer": lambda: nn.MultiheadAttention(4, 2)(*3 * (SENTENCES,)),
        # In evaluation, without gradients, torch otherwise calls one fused function.
        "fused": lambda: in_evaluation(nn.MultiheadAttention(4, 2, batch_first=True), *3 * (SENTENCES,)),
        "encoder": lambda: in_evaluation(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), SENTENCES),
    },
    "conv2d": {"layer": lambda: nn.Conv2d(1, 1, 2)(X[None]), "overload": lambda: torch.ops.aten.conv2d(X[None], W)},
    "max_pool2d": {
        "layer": lambda: nn.MaxPool2d(2)(X[None]),
        "functional": lambda: F.max_pool2d(X[None], 2, return_indices=True),
    },
    "dropout_": {"in place": lambda: torch.dropout_(X.clone(), 0.5, True)},
}
"""Calls by the name of the function, as the message gives it."""
W = torch.ones(1, 1, 2, 2)
WORDS = ("log_softmax", "lstm", "gru", "rnn", "attention", "conv", "pool", "dropout")


def in_evaluation(layer: nn.Module, *inputs: Tensor) -> object:
    with torch.no_grad():
        return layer.eval()(*inputs)


def is_refused(call: Callable[[], object], words: tuple[str, ...]) -> bool:
    """Whether a call fails because of these words."""
    with contextlib.suppress(TypeError, ValueError, RuntimeError, IndexError):
        try:
            with without(*words):
                call()
        except AssertionError as error:
            return str(error).endswith(rule(words))
    return False


@pytest.mark.parametrize(
    ("name", "call"),
    [pytest.param(name, call, id=f"{name}-{how}") for name in CALLS for how, call in CALLS[name].items()],
)
def test_a_forbidden_function_fails_under_every_name(name: str, call: Callable[[], object]) -> None:
    """The message names the function that was called; outside of the block the call works."""
    call()
    with pytest.raises(AssertionError) as refusal, without(*WORDS):
        call()
    assert str(refusal.value) == f"Your code calls {name}. {rule(WORDS)}"


def test_other_functions_work() -> None:
    """Those of which a forbidden one is made, those with a word of its name, a student's own, and a library's calls."""

    def log_softmax(x: Tensor) -> Tensor:
        return x - x.logsumexp(1, keepdim=True)

    with without(*WORDS, "batch_norm"):
        assert torch.allclose(log_softmax(X), X.softmax(1).log(), atol=1e-6)
        assert torch.equal(F.linear(X, torch.eye(3)), X)
        assert torch.allclose(torch.norm(X), X.pow(2).sum().sqrt())
        nn.Linear(2, 2).to(torch.float64)  # it calls a function `convert`
        numpy.linspace(0, 1, 3)


@pytest.mark.parametrize("words", [(), ("",), ("conv", "")], ids=repr)
def test_an_empty_word_is_refused(words: tuple[str, ...]) -> None:
    """It would forbid every function, and no word would forbid none."""
    with pytest.raises(ValueError, match='expected words that are in the names of functions, such as "conv2d"'):
        without(*words)


def test_every_function_whose_name_holds_a_word_is_refused() -> None:
    """Each operator of torch, and each function that its modules, NumPy's and SciPy's hold."""

    found = calls(WORDS)
    assert len(found) > 500
    assert [name for name, guesses in found if not any(is_refused(guess, WORDS) for guess in guesses)] == []


SAVED = F.conv2d
WAYS: dict[str, Callable[[], object]] = {
    "a saved reference": lambda: SAVED(X[None], W),
    "getattr": lambda: getattr(F, "co" + "nv2d")(X[None], W),
    "functools.partial": functools.partial(F.conv2d, X[None], W),
    "torch._C": lambda: torch._C._VariableFunctions.conv2d(X[None], W),
    "torch.ops": lambda: torch.ops.aten.slow_conv_dilated2d(X[None, None], W, [2, 2]),
    "the operator in an overload": lambda: torch.ops.aten.conv2d.default._op(X[None, None], W),
    "torch.compile": lambda: torch.compile(lambda: F.conv2d(X[None], W), backend="eager")(),
    "torch.vmap": lambda: torch.vmap(lambda x: F.conv2d(x, W))(X[None, None]),
    "map": lambda: list(map(F.conv2d, [X[None]], [W])),
    "a gradient": lambda: torch.nn.grad.conv2d_input((1, 1, 2, 3), W, torch.ones(1, 1, 1, 2)),
    "torch's references": lambda: torch._refs.nn.functional.dropout(X),
    "NumPy": lambda: torch.from_numpy(numpy.convolve(X[0].numpy(), W.flatten().numpy())),
    "NumPy, saved": functools.partial(numpy.convolve, X[0].numpy(), W.flatten().numpy()),
}


def is_seen(way: str) -> None:
    """Raise unless a way works outside of the block and is refused in it, also if the refusal is caught."""
    WAYS[way]()
    with pytest.raises(AssertionError, match="The exercise is to write it yourself"), without(*WORDS):
        WAYS[way]()
    with pytest.raises(AssertionError, match="The exercise is to write it yourself"), without(*WORDS):
        with contextlib.suppress(AssertionError):
            WAYS[way]()
        WAYS["NumPy"]()


@pytest.mark.slow
@torchs_own_warnings
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_a_function_is_seen(way: str) -> None:
    """Whatever calls it, and whoever catches the refusal. In a child: torch.compile leaves much behind in a process."""
    assert succeeds_in_child(lambda: is_seen(way))


def test_a_profiler_goes_on_afterwards() -> None:
    """Python has one hook for all."""
    seen = []
    sys.setprofile(lambda *event: seen.append(event))
    try:
        with without(*WORDS):
            pass
        del seen[:]
        len("")
    finally:
        sys.setprofile(None)
    assert seen


IMAGES = torch.rand(2, 4, 4, 4)
LABELS = torch.zeros(2, dtype=torch.int64)
MADE: dict[str, Callable[[], object]] = {
    "AdaptiveLogSoftmaxWithLoss": lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 4, [2])(torch.rand(2, 4), LABELS),
    "FractionalMaxPool2d": lambda: nn.FractionalMaxPool2d(2, output_size=2)(IMAGES),
    "FractionalMaxPool3d": lambda: nn.FractionalMaxPool3d(2, output_size=2)(IMAGES[None]),
    "NLLLoss2d": lambda: nn.NLLLoss2d()(IMAGES, torch.zeros(2, 4, 4, dtype=torch.int64)),
    "UpsamplingBilinear2d": lambda: nn.UpsamplingBilinear2d(2)(IMAGES),
}
"""Calls of layers that take other arguments than most."""
COMPUTE_NOTHING = {"RNNBase", "RNNCellBase", "LinearCrossEntropyOptions"}


def attempts(layer: type[nn.Module]) -> Iterator[Callable[[], object]]:
    """Calls of a layer with many inputs: 4 features or channels, up to 3 axes of places."""
    needed = [each for each in inspect.signature(layer).parameters.values() if each.default is each.empty]
    inputs = [torch.rand(*shape) for shape in ((2, 4), (4, 4), (2, 4, 4), (2, 4, 4, 4), (2, 4, 4, 4, 4))]
    for made in (4, [2, 4]):
        with contextlib.suppress(TypeError, ValueError):
            module = layer(*[made] * len(needed))
            for args in [*([x] * number for x in inputs for number in (1, 2, 3)), [inputs[0], LABELS]]:
                yield functools.partial(module, *args)


LAYER_WORDS = (*WORDS, "linear", "norm", "gelu", "leaky_relu", "cross_entropy", "nll_loss")
LAYERS = [
    layer
    for layer in vars(nn).values()
    if inspect.isclass(layer)
    and any(word.replace("_", "") in layer.__name__.lower() for word in LAYER_WORDS)
    and layer.__name__ not in COMPUTE_NOTHING
]


@torchs_own_warnings
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.__name__)
def test_a_layer_with_a_word_in_its_name_is_refused(layer: type[nn.Module]) -> None:
    """The function that it calls has the word in its name as well."""
    calls = [MADE[layer.__name__]] if layer.__name__ in MADE else attempts(layer)
    assert any(is_refused(call, LAYER_WORDS) for call in calls)
