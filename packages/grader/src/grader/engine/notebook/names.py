"""Finds the names that a cell reads and binds, and keeps the objects that cells bound."""

import ast
import dis
import re
import symtable
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from grader.engine.notebook.magics import TOP_LEVEL_AWAIT, code_in_magics

LISTING = re.compile(r"\b(?:globals|locals|dir|vars)\b")
"""The names of the functions of Python that list names."""
FORGOTTEN = object()
"""The value of a name that became the student's."""


class View(NamedTuple):
    """The position from which a test sees the student's names. A place is the number of tests above a cell.

    Args:
        place: the place of the test.
        check: that of the check of its exercise; None if the test is one.
        exercise: its exercise.
        checks_of_names: the places of the checks of earlier exercises, by the names that their tests use.
        checks: the same places, by exercise.
    """

    place: int
    check: int | None
    exercise: str
    checks_of_names: dict[str, int]
    checks: dict[str, int]


@lru_cache(maxsize=1024)
def names_used(source: str) -> list[str]:
    """Return the names that a cell, or a function in it, reads and that the cell does not bind itself."""
    top = symtable.symtable(source, "<test>", "exec")
    read: set[str] = set()
    tables = [top]
    for table in tables:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                read.add(symbol.get_name())
        tables += table.get_children()
    for code in code_in_magics(source):
        read.update(names_used(code))
    return sorted(read - names_bound(source))


class Reads(NamedTuple):
    """What a later use of the names that a statement binds may read.

    Args:
        bound: these names.
        inner: what functions and classes in the statement read.
        own: what the statement itself reads: `check = partial(close, tol=1)` may read later what `close` does.
    """

    bound: frozenset[str]
    inner: frozenset[str]
    own: frozenset[str]


@lru_cache(maxsize=1024)
def names_read_later(source: str) -> list[Reads]:
    """Return what the statements of a cell may read after it has run, in order."""
    found = []
    for statement in _simple(ast.parse(source).body):
        code = ast.unparse(statement)
        top = symtable.symtable(code, "<cell>", "exec")
        inner, tables = set[str](), top.get_children()
        for table in tables:
            inner.update(symbol.get_name() for symbol in table.get_symbols() if symbol.is_global())
            tables += table.get_children()
        own = frozenset(symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced())
        found.append(Reads(names_bound(code), frozenset(inner), own))
    return found


def _simple(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and instead of an `if`, a loop, a `with` or a `try` those in it."""
    for statement in body:
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
            for field in ("body", "handlers", "orelse", "finalbody"):
                for part in getattr(statement, field, ()):
                    yield from _simple(part.body if isinstance(part, ast.ExceptHandler) else [part])
        else:
            yield statement


@lru_cache(maxsize=1024)
def names_defined(source: str) -> frozenset[str]:
    """Return the names that a cell binds to functions, lambdas or classes."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    body = ast.parse(source).body
    found = {node.name for node in body if isinstance(node, kinds)}
    for node in body:
        if isinstance(node, ast.Assign) and any(isinstance(each, ast.Lambda) for each in ast.walk(node.value)):
            found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return frozenset(found)


@lru_cache(maxsize=1024)
def names_bound(source: str) -> frozenset[str]:
    """Return the names that a cell binds for later cells."""
    symbols = symtable.symtable(source, "<test>", "exec").get_symbols()
    own = (symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported())
    return frozenset(own).union(*map(names_bound, code_in_magics(source)))


@lru_cache(maxsize=1024)
def names_assigned(source: str) -> frozenset[str]:
    """Return the names that a cell binds by anything but an import, or deletes."""
    symbols = symtable.symtable(source, "<test>", "exec").get_symbols()
    own = frozenset(symbol.get_name() for symbol in symbols if symbol.is_assigned())
    return own.union(*map(names_assigned, code_in_magics(source)))


@lru_cache(maxsize=1024)
def names_rebound(source: str) -> frozenset[str]:
    """Return the names that a cell, or a function in it by `global`, binds by anything but an import, or deletes."""
    found = set(names_assigned(source))
    tables = symtable.symtable(source, "<test>", "exec").get_children()
    for table in tables:
        symbols = table.get_symbols()
        found |= {each.get_name() for each in symbols if each.is_declared_global() and each.is_assigned()}
        tables += table.get_children()
    return frozenset(found)


@lru_cache(maxsize=1024)
def functions_unused(source: str) -> frozenset[str]:
    """Return the names to which a cell binds a function and that it never reads: so it hides another one."""
    tree = ast.parse(source)
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and (
            isinstance(node.value, ast.Lambda) or isinstance(node.value, ast.Name) and node.value.id in found
        ):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found - read)


@lru_cache(maxsize=1024)
def names_borrowed(source: str) -> frozenset[str]:
    """Return the names that a cell binds or deletes, and reads or deletes before that: others have bound them."""
    is_read: dict[str, bool] = {}
    for step in dis.get_instructions(compile(source, "<test>", "exec", TOP_LEVEL_AWAIT)):
        if step.opname in ("LOAD_NAME", "DELETE_NAME", "STORE_NAME"):
            is_read.setdefault(step.argval, step.opname != "STORE_NAME")
    return frozenset(name for name in names_assigned(source) if is_read.get(name))


@lru_cache(maxsize=1024)
def looks_for_names(source: str) -> bool:
    """Return whether a cell asks which names there are: by `globals()`, `locals()`, `dir()` or `__main__`."""
    if "__main__" in source:
        return True
    if not LISTING.search(source):
        return False
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return any(
        isinstance(call.func, ast.Name)
        and (call.func.id in ("globals", "locals") or (call.func.id in ("dir", "vars") and not call.args))
        for call in calls
    )


@lru_cache(maxsize=1024)
def names_in_strings(source: str) -> list[str]:
    """Return the words in the strings of a cell that runs strings as code; [] for any other cell."""
    if not {"eval", "exec"} & set(names_used(source)):
        return []
    texts = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    return sorted({word for text in texts if isinstance(text, str) for word in re.findall(r"[^\W\d]\w*", text)})


@lru_cache(maxsize=1024)
def classes_defined(source: str) -> dict[str, frozenset[str]]:
    """Return the classes that a cell defines, each with the names of its methods and attributes.

    Those of bases in the same cell count, and the methods that `dataclass` and `total_ordering` add.

    Args:
        source: the cell, written by the author.
    """
    defined: dict[str, frozenset[str]] = {}
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            inner = [each for each in ast.walk(node) if each is not node]
            names = {each.name for each in inner if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
            names |= {each.id for each in inner if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
            names |= {
                each.attr for each in inner if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
            }
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            names |= {"__eq__"} if "dataclass" in decorators else set()
            names |= {"__lt__", "__eq__"} if "total_ordering" in decorators or "order" in decorators else set()
            bases = [defined.get(base.id, frozenset()) for base in node.bases if isinstance(base, ast.Name)]
            defined[node.name] = frozenset(names).union(*bases)
    return defined


class Namespace:
    """The names that cells bind. The changes of each step are kept, so that a later pass can repeat them."""

    def __init__(self) -> None:
        self._changes: dict[int, dict[str, Any]] = {}
        self.names: dict[str, Any] = {}
        self.rewind()

    def rewind(self) -> None:
        """Forget all names, as before the first step. The dict stays: functions that come back have it as globals."""
        self.names.clear()
        self.names["__name__"] = "__main__"
        self._before: dict[str, Any] = {}

    def keep(self, wanted: set[str]) -> None:
        """Drop the names that the last cell bound and that are not in `wanted`."""
        for name in [name for name in self.names if name not in wanted and name not in self._before]:
            del self.names[name]

    def forget(self, names: Iterable[str]) -> None:
        """Drop names that are the student's from here on.

        Args:
            names: the names.
        """
        for name in names:
            self.names.pop(name, None)

    def mark(self, step: int) -> None:
        """Record all changes since the last mark as those of `step`."""
        changes = {name: item for name, item in self.names.items() if self._before.get(name) is not item}
        self._changes[step] = changes | dict.fromkeys(self._before.keys() - self.names.keys(), FORGOTTEN)
        self._before = dict(self.names)

    def redo(self, step: int) -> None:
        """Restore the names that `step` bound in the visible pass, in which hidden tests do not run."""
        self.names.update(self._changes[step])
        self.forget([name for name, item in self._changes[step].items() if item is FORGOTTEN])
        self._before = dict(self.names)
