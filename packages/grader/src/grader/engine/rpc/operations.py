"""The operations of Python on an object, by the special method of its class that makes each possible.

The runner's stand-in of an object has those special methods that the student's class has, and each asks the sandbox to
make the operation. So reflection, missing methods and their errors are Python's own.
"""

import builtins
import copy
import math
import operator
from collections.abc import Callable
from typing import Any

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, f"__{name}__")
    for name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "lshift", "rshift", "and", "xor", "or")
} | {"pow": pow, "divmod": divmod}
COMPARISONS = {f"__{name}__": getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
IN_PLACE = {f"__i{name}__": getattr(operator, f"__i{name}__") for name in BINARY if name != "divmod"}
REFLECTED = {f"__r{name}__": lambda own, other, make=make: make(other, own) for name, make in BINARY.items()}
JUDGED = {f"__{name}__": make for name, make in BINARY.items()} | REFLECTED | IN_PLACE | COMPARISONS
"""Operations whose other operand the student's code sees: it could answer as the test expects."""
EXIT = "__exit__"


def _exit(manager: Any, kind: str, message: str) -> bool:
    """Leave a `with` block, after an exception of this built-in class if one is named."""
    error = _error(kind, message) if kind else None
    return bool(type(manager).__exit__(manager, type(error) if error else None, error, None))


def _error(kind: str, message: str) -> BaseException:
    try:
        return getattr(builtins, kind, RuntimeError)(message)
    except TypeError:  # some classes need more than a message
        return RuntimeError(message)


OPERATIONS: dict[str, Callable[..., Any]] = {
    **JUDGED,
    **{"__neg__": operator.neg, "__pos__": operator.pos, "__invert__": operator.invert, "__abs__": abs},
    **{"__round__": round, "__trunc__": math.trunc, "__floor__": math.floor, "__ceil__": math.ceil},
    **{"__int__": int, "__float__": float, "__complex__": complex, "__index__": operator.index},
    **{"__bool__": bool, "__hash__": hash, "__str__": str, "__repr__": repr, "__format__": format},
    **{"__len__": len, "__length_hint__": operator.length_hint, "__contains__": operator.contains},
    **{"__getitem__": operator.getitem, "__setitem__": operator.setitem, "__delitem__": operator.delitem},
    **{"__iter__": iter, "__next__": next, "__reversed__": reversed},
    **{"__enter__": lambda manager: type(manager).__enter__(manager), EXIT: _exit},
    **{"__copy__": copy.copy, "__dir__": dir},
}
CALL = "__call__"
SPECIAL = frozenset(OPERATIONS) | {CALL}


def special_methods(cls: type) -> list[str]:
    """Return the special methods that a class or a base other than `object` defines, for its instances.

    Args:
        cls: the class.
    """
    # Not getattr, which would find those of the metaclass, too.
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base is not object:
            own = vars(base)
            found.update([(name, own[name]) for name in SPECIAL.intersection(own)])
    return sorted([name for name, method in found.items() if method is not None])
