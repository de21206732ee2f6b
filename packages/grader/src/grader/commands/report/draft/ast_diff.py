"""Finds the differences between an answer and the reference solution, as edits of the reference's text.

    answer --its names become those of the reference--> tree --beside the tree of the reference--> Edit, Edit, ...

Trees are compared from the top, and equal parts are left out: an edit is the smallest node that differs.
"""

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from grader.commands.prove.mutation import ATOMS, extent, program
from grader.commands.report.canonical import UNREADABLE, matching, statements

SURE = 10
"""Votes of a statement that is equal in both answers for a pair of names; one in the same position has one vote."""


@dataclass(frozen=True)
class Edit:
    """A text that replaces the characters from `start` to `end`."""

    start: int
    end: int
    text: str

    @property
    def size(self) -> int:
        """Characters removed plus characters inserted."""
        return self.end - self.start + len(self.text)


def applied(text: str, edits: Sequence[Edit]) -> str:
    """Return a text after edits that do not overlap."""
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def differences(reference: str, answer: str) -> list[Edit]:
    """Return the edits that turn the reference solution into an answer, each as small as possible.

    Args:
        reference: the reference solution.
        answer: a student's answer. The result is empty if it is not valid Python.
    """
    try:
        ours, theirs = ast.parse(reference), ast.parse(answer)
        _Renamed(names(reference, answer)).visit(theirs)
        return _TreeComparison(reference).block(_bare(ours).body, _bare(theirs).body)
    except UNREADABLE:
        return []


def names(reference: str, answer: str) -> dict[str, str]:
    """Return the reference solution's names for a student's own names; attributes include their object.

    Two names belong together if they have the same position in otherwise equal statements.

    Args:
        reference: the reference solution.
        answer: a student's answer.
    """
    ours, theirs = statements(reference), statements(answer)
    votes: Counter[tuple[str, str]] = Counter()
    for one, other in matching(ours, theirs):
        numbers = {number: name for name, number in [*one.sets.items(), *one.uses.items()]}
        votes.update({(name, numbers[number]): SURE for name, number in [*other.sets.items(), *other.uses.items()]})
    texts = [each.text for each in ours], [each.text for each in theirs]
    for kind, first, last, begin, end in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if kind == "replace" and last - first == end - begin:
            for one, other in zip(ours[first:last], theirs[begin:end], strict=True):
                votes.update(pair for pair in zip(other.sets, one.sets, strict=False) if "." not in "".join(pair))
    # Tests know functions, classes and attributes by their names.
    fixed = _defined(reference) | _defined(answer)
    attributes = [
        {name for each in side for name in [*each.sets, *each.uses] if "." in name} for side in (ours, theirs)
    ]
    fixed |= attributes[0] & attributes[1]
    found: dict[str, str] = {}
    for (name, new), _ in votes.most_common():
        is_free = fixed.isdisjoint((name, new)) and name not in found and new not in found.values()
        if is_free and ("." in name) == ("." in new):
            found[name] = new
    # A name without a counterpart must not hide a name of the reference.
    taken = {name for each in ours for name in [*each.sets, *each.uses]}
    own = {name for each in theirs for name in each.sets}
    return found | {name: f"{name}_" for name in own - found.keys() - fixed if name in taken}


def _defined(source: str) -> set[str]:
    """The names of functions and classes in a source; methods also with `self`."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return {name for node in nodes for name in (node.name, f"self.{node.name}")}


class _Renamed(ast.NodeTransformer):
    """Renames the names in a tree."""

    def __init__(self, new: dict[str, str]) -> None:
        self._new = new

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._new.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._new.get(node.arg, node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name):
            key = f"{node.value.id}.{node.attr}"
            node.attr = self._new.get(key, key).rpartition(".")[2]
        return self.generic_visit(node)


def _bare(tree: ast.Module) -> ast.Module:
    """Remove annotations and docstrings from a tree."""
    for node in ast.walk(tree):
        match node:
            case ast.arg():
                node.annotation = None
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                node.returns = None
        if isinstance(body := getattr(node, "body", None), list):
            is_text = [isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in body]
            node.body = [  # type: ignore[attr-defined]
                _assignment(each) for each, text in zip(body, is_text, strict=True) if not text
            ]
    return tree


def _assignment(statement: ast.stmt) -> ast.stmt:
    """The statement; an annotated assignment loses its annotation."""
    match statement:
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return ast.copy_location(ast.Assign([target], value), statement)
    return statement


class _TreeComparison:
    """Compares the tree of the reference solution with others, and edits its text."""

    def __init__(self, reference: str) -> None:
        self._reference = reference

    def block(self, ours: Sequence[ast.stmt], theirs: Sequence[ast.stmt]) -> list[Edit]:
        """Return the edits that turn one block of statements into the other."""
        dumps = [ast.dump(each) for each in ours], [ast.dump(each) for each in theirs]
        found: list[Edit] = []
        for kind, first, last, begin, end in SequenceMatcher(None, *dumps, autojunk=False).get_opcodes():
            if kind == "equal":
                continue
            old, new = ours[first:last], theirs[begin:end]
            if len(old) == len(new):
                for one, other in zip(old, new, strict=True):
                    found += self._node(one, other) or []
            elif old:
                found.append(Edit(self._start(old[0]), self._end(old[-1]), self._written(new, old[0])))
            elif first < len(ours):
                start, indentation = self._start(ours[first]), " " * ours[first].col_offset
                found.append(Edit(start, start, f"{self._written(new, ours[first])}\n{indentation}"))
            elif ours:
                end_, indentation = self._end(ours[-1]), " " * ours[-1].col_offset
                found.append(Edit(end_, end_, f"\n{indentation}{self._written(new, ours[-1])}"))
        return found

    def _node(self, one: ast.AST, other: ast.AST) -> list[Edit] | None:
        """The edits that turn one node into the other; None if only an enclosing node can be replaced."""
        if ast.dump(one) == ast.dump(other):
            return []
        if type(one) is not type(other) or isinstance(one, ast.JoinedStr):  # Python gives no positions inside one
            return self._whole(one, other)
        found: list[Edit] = []
        for field in one._fields:
            if field in ("ctx", "type_comment", "kind"):
                continue
            edits = self._field(getattr(one, field, None), getattr(other, field, None))
            if edits is None:
                return self._whole(one, other)
            found += edits
        return found

    def _field(self, one: object, other: object) -> list[Edit] | None:
        match one, other:
            case ast.AST(), ast.AST():
                return self._node(one, other)
            case list(), list() if any(isinstance(each, ast.stmt) for each in one):
                return self.block(one, other)
            case list(), list() if len(one) == len(other):
                found = [self._field(*pair) for pair in zip(one, other, strict=True)]
                return None if None in found else [edit for edits in found for edit in edits or ()]
        return [] if one == other else None

    def _whole(self, one: ast.AST, other: ast.AST) -> list[Edit] | None:
        match one, other:
            case ast.stmt(), ast.stmt():
                return [Edit(self._start(one), self._end(one), self._written([other], one))]
            case ast.expr(), ast.expr():
                return self._expression(one, other)
        return None

    def _expression(self, one: ast.expr, other: ast.expr) -> list[Edit] | None:
        """An edit, with parentheses if the text would mean something else without them."""
        start, end, text = self._start(one), self._end(one), ast.unparse(other)
        bare, enclosed = Edit(start, end, text), Edit(start, end, f"({text})")
        meant = program(applied(self._reference, [bare]))
        meant_enclosed = program(applied(self._reference, [enclosed]))
        if isinstance(other, ATOMS) or meant_enclosed in (None, meant):
            return None if meant is None else [bare]
        return [enclosed]

    def _written(self, new: Sequence[ast.stmt], at: ast.stmt) -> str:
        """Statements as text, indented like the statement `at`."""
        text = "\n".join(ast.unparse(ast.fix_missing_locations(each)) for each in new) or "pass"
        return text.replace("\n", "\n" + " " * at.col_offset)

    def _start(self, node: ast.stmt | ast.expr) -> int:
        return extent(self._reference, node)[0]

    def _end(self, node: ast.stmt | ast.expr) -> int:
        return extent(self._reference, node)[1]
