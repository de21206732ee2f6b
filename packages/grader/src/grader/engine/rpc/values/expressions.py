"""Takes expressions and matrices of sympy apart into names and numbers, and makes them again; see library_values.py.

x**2 + 1  <-->  ["sympy.core.add:Add", [Pow of x and 2], [Integer 1]]

By their constructors, never by `sympify`, which evaluates strings as code.
"""

import sys
from typing import Any

import sympy
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef
from sympy.core.singleton import Singleton

CLASSES = "core functions logic sets integrals series concrete calculus geometry matrices".split()
"""Packages of sympy whose expressions cross."""
MATRICES = {"MutableDenseMatrix": sympy.Matrix, "ImmutableDenseMatrix": sympy.ImmutableMatrix}


def class_named(name: str) -> Any:
    """Return no class: all expressions have one name."""
    return None


def crosses(kind: type) -> bool:
    """Return whether values of a class cross.

    Args:
        kind: a class of sympy.
    """
    if kind in MATRICES.values() or issubclass(kind, AppliedUndef):
        return True
    is_other_symbol = issubclass(kind, sympy.Symbol) and kind is not sympy.Symbol  # one of its own, as a Dummy is
    return issubclass(kind, sympy.Basic) and kind.__module__.split(".")[1] in CLASSES and not is_other_symbol


def parts(item: Any, kind: str) -> list[Any]:
    """Return the name of the class of an expression, and its parts.

    Args:
        item: the expression.
        kind: unused.
    """
    found = _parts(item)
    if make(found, kind) != item:
        raise TypeError(f"this {type(item).__name__} is more than its parts")
    return found


def _parts(item: Any) -> list[Any]:
    made = type(item)
    if made in MATRICES.values():
        return [made.__name__, *item.shape, [_parts(each) for each in item.flat()]]
    if made is sympy.Symbol:
        return ["Symbol", item.name, dict(item._assumptions_orig)]
    if isinstance(item, sympy.Rational):
        return ["Rational", int(item.p), int(item.q)]
    if made is sympy.Float:
        return ["Float", [int(number) for number in item._mpf_], int(item._prec)]
    if isinstance(item, AppliedUndef):
        return ["Function", item.func.__name__, *(_parts(each) for each in item.args)]
    if isinstance(item, sympy.Atom) and not isinstance(made, Singleton):
        raise TypeError(f"{made.__name__} does not cross")
    if _class(f"{made.__module__}:{made.__name__}") is not made:
        raise TypeError(f"{made.__name__} does not cross")
    return [f"{made.__module__}:{made.__name__}", *(_parts(each) for each in item.args)]


def make(content: Any, kind: str) -> Any:
    """Return the expression with these parts.

    Args:
        content: the name of its class, and its parts.
        kind: unused.
    """
    with sympy.evaluate(False):  # it is as student code left it, and evaluating it could take forever
        return _made(*content)


def _made(name: Any, *inner: Any) -> Any:
    if name in MATRICES:
        rows, columns, entries = inner
        return MATRICES[name](_count(rows), _count(columns), [_made(*each) for each in entries])
    if name == "Symbol":
        label, assumptions = inner
        if type(label) is not str or any(type(truth) is not bool for truth in assumptions.values()):
            raise TypeError
        return sympy.Symbol(label, **assumptions)
    if name == "Rational":
        numerator, denominator = inner
        return sympy.Rational(_count(numerator, signed=True), _count(denominator))
    if name == "Float":
        number, precision = inner
        sign, mantissa, exponent, bits = number
        parts_of_it = (_count(sign), _count(mantissa), _count(exponent, signed=True), _count(bits))
        return sympy.Float(parts_of_it, precision=_count(precision))
    made = [_made(*each) for each in (inner[1:] if name == "Function" else inner)]
    if name == "Function":
        if type(inner[0]) is not str:
            raise TypeError
        return sympy.Function(inner[0])(*made)
    found = _class(name)
    # Integrals and sums are evaluated only by `doit`, but would be multiplied by 1.
    with sympy.evaluate(issubclass(found, ExprWithLimits)):
        return found(*made)


def _class(name: Any) -> Any:
    module, _, own = name.partition(":")
    found = vars(sys.modules[module]).get(own) if module.partition(".")[0] == "sympy" else None
    if not isinstance(found, type) or not issubclass(found, sympy.Basic) or not crosses(found):
        raise ValueError
    return found


def _count(number: Any, signed: bool = False) -> int:
    if type(number) is not int or (number < 0 and not signed):
        raise TypeError
    return number
