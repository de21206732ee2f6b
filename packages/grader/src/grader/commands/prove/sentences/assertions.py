"""Finds the sentences of test cells, and which of them name a cause instead of what was measured.

test cell --ast--> assertions --their messages, through tables, names and functions--> Sentence
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

FIELD = "…"
"""Stands for a field of an f-string in the text of a sentence."""
MIN_WORDS = 3
"""Shorter strings are names and numbers that a sentence quotes."""
COMPARISONS = {"equal", "allclose", "isclose"}
BUILTINS = {"any", "all", "isinstance", "hasattr", "callable", "issubclass"}
HIDDEN = "### BEGIN HIDDEN TESTS"


@dataclass(frozen=True)
class Sentence:
    """A string in a test cell that can become an assertion's message, or a part of one.

    `names_cause` is true if it asks a question, or if it belongs to an assertion of a visible check that an answer is
    not a certain wrong one.
    """

    test: str
    text: str
    names_cause: bool

    def is_in(self, message: str) -> bool:
        """Return True if a message can be this sentence, or hold it."""
        parts = (re.escape(_on_one_line(part)) for part in self.text.split(FIELD))
        return re.search(".*?".join(parts), _on_one_line(message)) is not None


def sentences(test: str, source: str) -> list[Sentence]:
    """Return the sentences of a test cell, in order.

    Args:
        test: its name.
        source: its text.
    """
    cell = _Cell(ast.parse(source))
    is_visible = HIDDEN not in source
    found: dict[str, bool] = {}
    for node in ast.walk(cell.tree):
        for message in _messages_of(node):
            denies = is_visible and isinstance(node, ast.Assert) and _denies(node.test)
            for string, holds_others in cell.strings(message):
                text = _text(string)
                if len(text.replace(FIELD, " ").split()) >= MIN_WORDS:
                    names_cause = "?" in text or denies and not holds_others
                    found[text] = found.get(text, False) or names_cause
    return [Sentence(test, text, names_cause) for text, names_cause in found.items()]


def said(known: Sequence[Sentence], test: str, message: str) -> list[Sentence]:
    """Return the sentences of a test that are in its message; of two that overlap, the longer one."""
    fitting = [each for each in known if each.test == test and each.is_in(message)]
    return [
        each for each in fitting if not any(each.text != other.text and each.text in other.text for other in fitting)
    ]


class _Cell:
    """The names of a test cell with the expressions that they may stand for."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._bound: dict[str, list[ast.expr]] = {}
        self._returned: dict[str, list[ast.expr]] = {}
        self._strings: dict[int, list[tuple[ast.expr, bool]]] = {}
        nodes = list(ast.walk(tree))
        functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
        for name, function in functions.items():
            values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return | ast.Yield)]
            self._returned[name] = [value for value in values if value is not None]
        # Assignments come first, because a loop may go over a table with a name.
        for node in nodes:
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._bind(target, [value])
                case ast.NamedExpr(target=target, value=value):
                    self._bind(target, [value])
                case ast.Call(func=ast.Name(id=name)) if name in functions:
                    self._bind_arguments(functions[name], node)
        for node in nodes:
            match node:
                case ast.For(target=target, iter=items) | ast.comprehension(target=target, iter=items):
                    self._bind(target, self._elements(items))

    def strings(self, node: ast.AST) -> list[tuple[ast.expr, bool]]:
        """Return the strings that an expression may stand for or hold, each with whether it holds other sentences."""
        if id(node) not in self._strings:
            self._strings[id(node)] = []  # an expression that refers to itself
            self._strings[id(node)] = list(self._strings_in(node))
        return self._strings[id(node)]

    def _strings_in(self, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        match node:
            case ast.Constant(value=str()):
                yield node, False
            case ast.JoinedStr(values=values):
                fields = [part.value for part in values if isinstance(part, ast.FormattedValue)]
                inner = [each for field in fields for each in self.strings(field)]
                yield node, any(len(_text(string).split()) >= MIN_WORDS for string, _ in inner)
                yield from inner
            case _:
                for part in self._parts(node):
                    yield from self.strings(part)

    def _parts(self, node: ast.AST) -> list[Any]:
        match node:
            case ast.Name(id=name):
                return self._bound.get(name, [])
            case ast.IfExp(body=body, orelse=other):
                return [body, other]
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.BoolOp(values=values) | ast.Dict(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
                return values
            case ast.Subscript(value=value) | ast.Starred(value=value) | ast.Attribute(value=value):
                return [value]
            case ast.Call(func=ast.Name(id=name)) if name in self._returned:
                return self._returned[name]
            case ast.Call(func=ast.Attribute(value=value), args=arguments):
                return [value, *arguments]
        return []

    def _elements(self, node: ast.expr, seen: set[int] | None = None) -> list[ast.expr]:
        """Return the expressions over which a loop goes."""
        seen = set() if seen is None else seen
        if id(node) in seen:
            return []
        seen.add(id(node))
        match node:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                inner = [self._elements(each.value, seen) if isinstance(each, ast.Starred) else [each]
                         for each in elements]  # fmt: skip
                return [each for part in inner for each in part]
            case ast.Name(id=name):
                return [each for value in self._bound.get(name, []) for each in self._elements(value, seen)]
            case ast.IfExp(body=body, orelse=other) | ast.BinOp(left=body, right=other):
                return self._elements(body, seen) + self._elements(other, seen)
            case ast.Dict(keys=keys):
                return [key for key in keys if key is not None]
            case ast.Call(func=ast.Attribute(value=ast.expr() as table, attr="items")):
                return [ast.Tuple([key, value]) for key, value in self._pairs(table)]
            case ast.Call(func=ast.Attribute(value=ast.expr() as table, attr="values")):
                return [value for _, value in self._pairs(table)]
            case ast.Call(func=ast.Name(id="zip"), args=arguments):
                columns = [self._elements(each, seen) for each in arguments]
                return [ast.Tuple(list(row)) for row in zip(*columns, strict=False)]
            case ast.Call(func=ast.Name(id="enumerate"), args=[items, *_]):
                return [ast.Tuple([ast.Constant(0), each]) for each in self._elements(items, seen)]
        return []

    def _pairs(self, table: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
        tables = self._bound.get(table.id, []) if isinstance(table, ast.Name) else [table]
        dicts = [each for each in tables if isinstance(each, ast.Dict)]
        return [(key, value) for each in dicts for key, value in zip(each.keys, each.values, strict=True) if key]

    def _bind(self, target: ast.expr, values: list[ast.expr]) -> None:
        """Bind a target to the values that it takes in turn."""
        if isinstance(target, ast.Name):
            bound = self._bound.setdefault(target.id, [])
            bound += [value for value in values if value not in bound]
        elif isinstance(target, ast.Tuple):
            for value in values:
                if isinstance(value, ast.Tuple | ast.List):
                    for part, element in zip(target.elts, value.elts, strict=False):
                        self._bind(part, [element])

    def _bind_arguments(self, function: ast.FunctionDef, call: ast.Call) -> None:
        names = [parameter.arg for parameter in function.args.args]
        for name, value in [*zip(names, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]:
            if name is not None:
                self._bound.setdefault(name, []).append(value)


def _messages_of(node: ast.AST) -> list[ast.expr]:
    """Return the messages with which a node may end a test."""
    match node:
        case ast.Assert(msg=ast.expr() as message):
            return [message]
        case ast.Raise(exc=ast.Call(func=ast.Name(id="AssertionError"), args=messages)):
            return messages
        case ast.Call(keywords=keywords):
            return [word.value for word in keywords if word.arg == "msg"]
    return []


def _denies(test: ast.expr) -> bool:
    """Return True for a condition that something differs from a certain wrong value."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return any(map(_compares, ast.walk(operand)))
        case ast.Compare(left=ast.Call(func=ast.Name(id="abs")), ops=[ast.Gt() | ast.GtE()]):
            return True
        case ast.Compare(ops=[ast.NotEq()]):
            return True
        case ast.BoolOp(values=values):
            return any(map(_denies, values))
    return False


def _compares(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name not in BUILTINS
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in COMPARISONS
        case ast.Compare(ops=operators):
            return any(isinstance(each, ast.Eq) for each in operators)
    return False


def _text(string: ast.expr) -> str:
    """Return a string's text, with a sign for each field."""
    parts = string.values if isinstance(string, ast.JoinedStr) else [string]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else FIELD for part in parts).strip()


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
