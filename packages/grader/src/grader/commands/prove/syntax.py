"""Holds a node of an answer with its surroundings, and functions that build changed nodes."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Site:
    """A node of an answer, the node around it, the local names bound above it, and the attributes of its class."""

    node: Any
    parent: ast.AST
    names: tuple[str, ...]
    attributes: tuple[str, ...]


def changed(node: Any, **fields: object) -> Any:
    """Return a copy of a node with other fields."""
    twin = copy.copy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


def exchanged(items: list[Any]) -> Iterator[list[Any]]:
    """For each pair of neighbours, yield the list with the two exchanged."""
    for number, (first, second) in enumerate(pairwise(items)):
        yield [*items[:number], second, first, *items[number + 2 :]]


def replaced(items: list[Any], number: int, item: object) -> list[Any]:
    """Return the list with another item at a position."""
    return [*items[:number], item, *items[number + 1 :]]


def without_each(items: list[Any]) -> Iterator[list[Any]]:
    """For each item, yield the list without it."""
    for number in range(len(items)):
        yield items[:number] + items[number + 1 :]


def shifted(node: Any) -> Iterator[ast.AST]:
    """Yield an expression plus and minus 1; literal numbers have an operator of their own."""
    if value_of(node) is None:
        yield ast.BinOp(node, ast.Add(), ast.Constant(1))
        yield ast.BinOp(node, ast.Sub(), ast.Constant(1))


def value_of(node: Any) -> int | float | None:
    """Return the value of a literal number with its sign; None for anything else."""
    is_negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    value: Any = getattr(node.operand if is_negative else node, "value", None)
    if type(value) not in (int, float):
        return None
    return -value if is_negative else value


def method(node: Any, name: str) -> ast.Call:
    """Return a call of a method, without arguments."""
    return ast.Call(ast.Attribute(node, name, ast.Load()), [], [])


def is_method(site: Site) -> bool:
    """Return True for a call of a value's method; False for a function of a module or a layer of `self`."""
    match site.node.func:
        case ast.Attribute(value=ast.Name(id=name)):
            return name != "self" and name in site.names
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return False
    return isinstance(site.node.func, ast.Attribute)
