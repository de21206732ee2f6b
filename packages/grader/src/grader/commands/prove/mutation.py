"""Generates the mutants of a right answer: the same text with one small edit each.

answer --ast--> sites --operators--> nodes --unparse, in place--> mutants

Only the text of the changed node is rewritten, so an edit is as short as a person would make it.
"""

import ast
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from grader.commands.prove.operators import OPERATORS
from grader.commands.prove.syntax import Site

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
COMMENT = re.compile(r"(?:^|\s\s)\s*#.*$")
"""A comment to the right of a statement, or on a line of its own."""
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List)
"""Expressions that need no parentheses in any place."""

Position = tuple[int, int]
Binding = tuple[Position, str]
UNCHANGED = (ast.JoinedStr, ast.arguments, ast.Import, ast.ImportFrom)
"""Nodes that are not changed: Python gives no positions inside an f-string, and students do not write signatures."""


@dataclass(frozen=True)
class Mutant:
    """A right answer with one edit.

    `text` is the whole answer. `edit` shows the lines before and after with a sign, and without comments. `line` is the
    first changed line, counted from 1.
    """

    operator: str
    line: int
    edit: str
    text: str

    @property
    def name(self) -> str:
        """The operator and the line."""
        return f"{self.operator} in line {self.line}"


def mutants(answer: str, known: Collection[str] = ()) -> list[Mutant]:
    """Return all mutants of an answer, in the order of their positions.

    Edits that give the same program count once; an edit that gives the answer itself or a known answer does not count.

    Args:
        answer: the text of the answer cell. If it has markers of a solution, only the text between them changes.
        known: mistakes, and right answers in other styles.
    """
    tree = ast.parse(answer)
    seen = {program(answer), *map(program, known)}
    text, found = _Text(answer), []
    for site in sorted(_sites(tree, text), key=lambda site: (*_start(site.node), *_backwards(site.node))):
        for name, kind, change in OPERATORS:
            if not isinstance(site.node, kind):
                continue
            for node in change(site):
                mutated, result = text.replaced(site.node, node)
                if result is not None and result not in seen:
                    seen.add(result)
                    found.append(Mutant(name, *difference(answer, mutated), mutated))
    return found


def program(text: str) -> str | None:
    """Return a text that ignores layout and comments, to compare programs; None if `text` is not valid Python."""
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return None


def difference(before: str, after: str) -> tuple[int, str]:
    """Return the first line that differs, counted from 1, and all lines that do: `- before`, `+ after`."""
    old, new = before.splitlines(), after.splitlines()
    first = len(os.path.commonprefix([old, new]))
    same = len(os.path.commonprefix([old[first:][::-1], new[first:][::-1]]))
    lines = [f"- {COMMENT.sub('', line).strip()}" for line in old[first : len(old) - same]]
    lines += [f"+ {COMMENT.sub('', line).strip()}" for line in new[first : len(new) - same]]
    return first + 1, "\n".join(lines)


def extent(text: str, node: Any) -> tuple[int, int]:
    """Return the beginning and the end of a node in a program, in characters; ast counts bytes in a line.

    Args:
        text: the program.
        node: an expression or a statement in it.
    """
    lines = text.encode().splitlines(keepends=True)
    ends = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
    begin, end = (len(b"".join((*lines[: line - 1], lines[line - 1][:column])).decode()) for line, column in ends)
    return begin, end


class _Text:
    """The text of an answer, in which the text of a node can be replaced."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        lines = [line.strip() for line in answer.splitlines()]
        begins = [number for number, line in enumerate(lines, 1) if line == BEGIN]
        ends = [number for number, line in enumerate(lines, 1) if line == END]
        # Without markers, students write all lines.
        self._open = [range(1, len(lines) + 1)]
        if begins:
            self._open = [range(begin, end) for begin, end in zip(begins, ends, strict=True)]

    def is_open(self, node: ast.AST) -> bool:
        """Return True for a node in the part that students write."""
        return any(_start(node)[0] in lines and _end(node)[0] in lines for lines in self._open)

    def replaced(self, old: ast.AST, new: ast.AST) -> tuple[str, str | None]:
        """Return the text with a node replaced, and its program, which is None if the text is not valid.

        An expression gets parentheses if the text would mean something else without them.
        """
        start, end = extent(self._answer, old)
        bare = ast.unparse(ast.fix_missing_locations(new))
        if isinstance(new, ast.Tuple) and new.elts:
            bare = bare[1:-1]
        without = self._answer[:start] + bare + self._answer[end:]
        result = program(without)
        if isinstance(old, ast.expr) and not isinstance(new, ATOMS):
            enclosed = f"{self._answer[:start]}({bare}){self._answer[end:]}"
            meant = program(enclosed)
            if meant not in (None, result):
                return enclosed, meant
        return without, result


def _sites(tree: ast.Module, text: _Text) -> Iterator[Site]:
    """Yield all nodes that students write, with the names that they could use."""

    def visit(node: ast.AST, parent: ast.AST, bound: list[Binding], own: tuple[str, ...]) -> Iterator[Site]:
        if isinstance(node, ast.ClassDef):
            own = _attributes(node)
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            bound = [*bound, *_bindings(node)]
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            targets = [name for part in node.generators for name in _names(part.target)]
            bound = [*bound, *(((0, 0), name) for name in targets)]
        if isinstance(node, ast.expr | ast.stmt | ast.Slice) and text.is_open(node) and not _is_docstring(node):
            above = dict.fromkeys(name for position, name in bound if position <= _start(node))
            yield Site(node, parent, tuple(above), own)
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list") or isinstance(node, ast.Raise):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, UNCHANGED):
                    yield from visit(child, node, bound, own)

    return visit(tree, tree, [], ())


def _bindings(function: ast.FunctionDef | ast.Lambda) -> list[Binding]:
    """Return the names that a function binds, each with the position from which it has a value."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found = [((0, 0), parameter.arg) for parameter in parameters]
    found += [((0, 0), rest.arg) for rest in (arguments.vararg, arguments.kwarg) if rest is not None]
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets):
                found += [(_end(node), name) for target in targets for name in _names(target)]
            case ast.For(target=target, iter=items):
                found += [(_end(items), name) for name in _names(target)]
    return found


def _names(target: ast.AST) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _attributes(definition: ast.ClassDef) -> tuple[str, ...]:
    """Return the names of the attributes to which the methods of a class assign."""
    attributes = [node for node in ast.walk(definition) if isinstance(node, ast.Attribute)]
    stored = [node for node in attributes if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"]
    return tuple(dict.fromkeys(node.attr for node in stored))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _start(node: ast.AST) -> Position:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> Position:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _backwards(node: ast.AST) -> Position:
    """Return a key that orders nodes with the same beginning from the longest to the shortest."""
    line, column = _end(node)
    return -line, -column
