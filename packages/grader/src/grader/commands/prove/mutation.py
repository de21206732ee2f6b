"""Generates the mutants of a right answer: the same text with one small edit each.

answer --ast--> sites --operators--> nodes --unparse, in place--> mutants

Only the text of the changed node is written again, so an edit is as short as a person would make it.
"""

import ast
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from grader.commands.prove import expressions, statements  # noqa: F401  their operators enter the table
from grader.commands.prove.operators import OPERATORS, Site

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
COMMENT = re.compile(r"(?:^|\s\s)\s*#.*$")
"""A comment to the right of a statement, or a line of nothing else."""
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List)
"""Expressions that mean the same with parentheses around them, wherever they stand."""

Position = tuple[int, int]
Binding = tuple[Position, str]
UNCHANGED = (ast.JoinedStr, ast.arguments, ast.Import, ast.ImportFrom)
"""Nodes that stay as they are: Python gives no positions inside an f-string, and a signature is not the student's."""


@dataclass(frozen=True)
class Mutant:
    """A right answer with one edit.

    `text` is the whole answer. `edit` shows the lines before and after, with a sign and without their comments.
    `line` is the first changed line, counted from 1.
    """

    operator: str
    line: int
    edit: str
    text: str

    @property
    def name(self) -> str:
        """The operator and the place."""
        return f"{self.operator} in line {self.line}"


def mutants(answer: str, known: Collection[str] = ()) -> list[Mutant]:
    """Return all mutants of an answer, in the order of their places.

    Two edits that give the same program count once, and an edit that gives the answer itself or a known one does not
    count.

    Args:
        answer: the text of the answer cell. If it has marks of a solution, only what lies between them changes.
        known: other answers of which something is known already: mistakes, and right answers in other styles.
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
    """Return what is the same for texts that differ in layout and comments only, or None if a text is no Python."""
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return None


def difference(before: str, after: str) -> tuple[int, str]:
    """Return the first line in which two texts differ, counted from 1, and the lines that do: `- before`, `+ after`."""
    old, new = before.splitlines(), after.splitlines()
    first = len(os.path.commonprefix([old, new]))
    same = len(os.path.commonprefix([old[first:][::-1], new[first:][::-1]]))
    lines = [f"- {COMMENT.sub('', line).strip()}" for line in old[first : len(old) - same]]
    lines += [f"+ {COMMENT.sub('', line).strip()}" for line in new[first : len(new) - same]]
    return first + 1, "\n".join(lines)


def extent(text: str, node: Any) -> tuple[int, int]:
    """Return where a node of a program begins and ends, in characters: ast counts bytes in a line.

    Args:
        text: the program.
        node: an expression or a statement in it.
    """
    lines = text.encode().splitlines(keepends=True)
    ends = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
    begin, end = (len(b"".join((*lines[: line - 1], lines[line - 1][:column])).decode()) for line, column in ends)
    return begin, end


class _Text:
    """The text of an answer, in which nodes have places."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._open = self._open_lines(answer.splitlines())

    def _open_lines(self, lines: list[str]) -> list[range]:
        """The lines between each pair of marks, or all lines if there are none."""
        begins = [number for number, line in enumerate(lines, 1) if line.strip() == BEGIN]
        ends = [number for number, line in enumerate(lines, 1) if line.strip() == END]
        if not begins:
            return [range(1, len(lines) + 1)]
        return [range(begin, end) for begin, end in zip(begins, ends, strict=True)]

    def is_open(self, node: ast.AST) -> bool:
        """Whether a node lies in what students write."""
        return any(_start(node)[0] in lines and _end(node)[0] in lines for lines in self._open)

    def replaced(self, old: ast.AST, new: ast.AST) -> tuple[str, str | None]:
        """Return the text with another node in the place of one, and its program, which is None if there is none.

        An expression gets parentheses where the text would mean something else without them.
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
    """Yield every node that students write, with the names that it could use."""

    def visit(node: ast.AST, parent: ast.AST, bound: list[Binding], own: tuple[str, ...]) -> Iterator[Site]:
        if isinstance(node, ast.ClassDef):
            own = _attributes(node)
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            bound = [*bound, *_bindings(node)]
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            targets = [name for part in node.generators for name in _names(part.target)]
            bound = [*bound, *(((0, 0), name) for name in targets)]
        if isinstance(node, ast.expr | ast.stmt | ast.Slice) and text.is_open(node) and not _is_text(node):
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
    """The names that a function binds, each with the place from which on it has a value."""
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
    """The names of the attributes that the methods of a class assign to."""
    return tuple(
        dict.fromkeys(
            node.attr
            for node in ast.walk(definition)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        )
    )


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _start(node: ast.AST) -> Position:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> Position:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _backwards(node: ast.AST) -> Position:
    """Orders nodes that begin at one place from the longest to the shortest."""
    line, column = _end(node)
    return -line, -column
