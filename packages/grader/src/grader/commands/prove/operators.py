"""Defines what a mutation operator is: it takes a place in a right answer and yields what could replace it.

Operators change syntax trees and say nothing about text, which `mutation` writes. They are in `expressions` and
`statements`; the decorator puts each into the table, by the types of node that it changes.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Site:
    """A node of an answer and its surroundings.

    `parent` is the node around it, `names` the local names bound above it, and `attributes` what the class around it
    assigns to `self`.
    """

    node: Any
    parent: ast.AST
    names: tuple[str, ...]
    attributes: tuple[str, ...]


Change = Callable[[Site], Iterator[ast.AST]]
OPERATORS: list[tuple[str, type[ast.AST], Change]] = []
"""All operators by name and type of node, in the order in which they are tried."""


def operator(name: str, *kinds: type[ast.AST]) -> Callable[[Change], Change]:
    """Put a function into the table of operators, for the types of node that it changes."""

    def register(change: Change) -> Change:
        OPERATORS.extend((name, kind, change) for kind in kinds)
        return change

    return register


def changed(node: Any, **fields: object) -> Any:
    """Return a copy of a node with other fields."""
    twin = copy.copy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


def exchanged(items: list[Any]) -> Iterator[list[Any]]:
    """Yield the list with two neighbours exchanged, for each pair of them."""
    for number, (first, second) in enumerate(pairwise(items)):
        yield [*items[:number], second, first, *items[number + 2 :]]


def without_each(items: list[Any]) -> Iterator[list[Any]]:
    """Yield the list without one of its items, for each of them."""
    for number in range(len(items)):
        yield items[:number] + items[number + 1 :]


def shifted(node: Any) -> Iterator[ast.AST]:
    """Yield an expression one larger and one smaller; plain numbers have an operator of their own."""
    if value_of(node) is None:
        yield ast.BinOp(node, ast.Add(), ast.Constant(1))
        yield ast.BinOp(node, ast.Sub(), ast.Constant(1))


def value_of(node: Any) -> int | float | None:
    """Return the value of a literal number, with its sign, or None for anything else."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    if is_number and not isinstance(node.value, bool):
        return sign * node.value
    return None


def method(node: Any, name: str) -> ast.Call:
    """Return a call of a method without arguments."""
    return ast.Call(ast.Attribute(node, name, ast.Load()), [], [])


def is_method(site: Site) -> bool:
    """Whether a call is one of a method of a value, and not of a function in a module or a layer of `self`."""
    function = site.node.func
    if not isinstance(function, ast.Attribute):
        return False
    base = function.value
    if isinstance(base, ast.Name):
        return base.id != "self" and base.id in site.names
    return not (isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "super")
