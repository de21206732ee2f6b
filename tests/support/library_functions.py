"""Makes a call of every function of torch, NumPy and SciPy whose name holds a word.

operators of torch.ops --schema--> call          modules --signature--> call
"""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import torch

MODULES = """
    torch torch.nn.functional torch.special torch.linalg torch.functional torch.sparse torch.nested torch.masked
    torch._VF torch._refs torch._refs.nn.functional torch._refs.special torch._decomp.decompositions
    torch.nn.attention torch.nn.attention.flex_attention torch.nn.grad torch.nn.quantized.functional
    numpy numpy.linalg numpy.fft numpy.polynomial.polynomial scipy.signal scipy.special scipy.ndimage
""".split()
CLASSES = torch.Tensor, torch._C._nn, torch._C._VariableFunctions, torch._C._special, torch._C._linalg
ONE = torch.ones(1)
BY_TYPE = {
    "Tensor": ONE, "List[Tensor]": [ONE], "List[Optional[Tensor]]": [ONE], "List[int]": [1], "List[SymInt]": [1],
    "List[float]": [1.0], "List[bool]": [False] * 8, "int": 1, "SymInt": 1, "number": 1, "float": 1.0, "bool": False,
    "str": "x", "Device": torch.device("cpu"),
}  # fmt: skip
"""Arguments by the types of a schema; None for all others."""


def calls(words: tuple[str, ...]) -> list[tuple[str, list[Callable[[], object]]]]:
    """Return each function whose name holds a word, with calls of which one has arguments that it takes."""
    return _of_operators(words) + _of_modules(words)


def _of_operators(words: tuple[str, ...]) -> list[tuple[str, list[Callable[[], object]]]]:
    found = []
    for schema in torch._C._jit_get_all_schemas():
        namespace, name = schema.name.split("::")
        if any(word in name for word in words):
            operator = getattr(getattr(getattr(torch.ops, namespace), name), schema.overload_name or "default")
            needed = [argument for argument in schema.arguments if not argument.has_default_value()]
            args = [BY_TYPE.get(str(argument.type)) for argument in needed if not argument.kwarg_only]
            kwargs = {argument.name: BY_TYPE.get(str(argument.type)) for argument in needed if argument.kwarg_only}
            found.append((f"torch.ops.{namespace}.{name}.{schema.overload_name}", [_call(operator, args, kwargs)]))
    return found


def _of_modules(words: tuple[str, ...]) -> list[tuple[str, list[Callable[[], object]]]]:
    found: dict[int, tuple[str, list[Callable[[], object]]]] = {}
    for place in (*filter(None, map(_imported, MODULES)), *CLASSES):
        for name in dir(place):
            function = getattr(place, name)
            if any(word in name for word in words) and _is_function(function):
                found[id(function)] = f"{getattr(place, '__name__', place)}.{name}", _guesses(function)
    return list(found.values())


def _imported(module: str) -> object | None:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def _is_function(found: object) -> bool:
    return callable(found) and not inspect.isclass(found) and type(found).__module__ != "typing"


def _guesses(function: Any) -> list[Callable[[], object]]:
    """Calls with one tensor for each argument that is needed, or with 0 to 8 of them where no signature is known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return [_call(function, [ONE] * number, {}) for number in range(9)]
    needed = [each for each in parameters if each.default is each.empty]
    args = [ONE for each in needed if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    kwargs = {each.name: ONE for each in needed if each.kind == each.KEYWORD_ONLY}
    guess = _call(function, args, kwargs)
    return [guess, *(_call(function, [ONE] * number, {}) for number in range(9))]


def _call(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Callable[[], object]:
    return lambda: function(*args, **kwargs)
