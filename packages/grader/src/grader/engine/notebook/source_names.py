"""Finds what the cells of a source say about names: what they import, and what its answers define.

source --names_of--> SourceNames --imports--> the runner binds those that a test needs  (runner/names/imported_names.py)
                                 --used, bound--> names of the answers that a test replaces
                                 --changed--> names of our cells that are the student's by then

Everything comes from the source, which is trusted, and nothing from a submission.
"""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from grader.engine.notebook.cells import HIDDEN, CellType, grade_id, is_sandbox_only, type_of
from grader.engine.notebook.magics import NOT_PYTHON, without_magics
from grader.engine.notebook.names import names_assigned, names_bound, names_used

if TYPE_CHECKING:
    from nbformat import NotebookNode

PATH = re.compile(r"""^sys\.path\.(?:append|insert)\((?:\d+, *)?(["'])([\w./-]+)\1\)""", re.MULTILINE)
IMPORT = re.compile(r"^(?:import|from)\s.*$", re.MULTILINE)
SETTING = re.compile(r"^[ \t]*%(?:matplotlib|config|load_ext|autoreload)\b.*$", re.MULTILINE)
"""Magics that bind no name."""
UNKNOWN_NAMES = re.compile(r"import\s*\*|\bglobal\s|(?<![.\w])(?:exec|globals)\(|^\s*[%!]", re.MULTILINE)
"""Code that may bind names that are not written in it."""
_INNER = (ast.If, ast.For, ast.While, ast.With, ast.Try)
"""Statements whose own statements run with the cell."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
CHANGING = frozenset(
    "append extend insert remove pop clear sort reverse update setdefault popitem add discard appendleft extendleft "
    "popleft rotate difference_update intersection_update symmetric_difference_update fill itemset resize put".split()
)
"""Methods that change their object."""
CHANGING_FIRST = frozenset(
    "shuffle heapify heappush heappop heapreplace insort insort_left insort_right fill_diagonal copyto place putmask "
    "put setattr delattr next".split()
)
"""Functions that change their first argument."""


@dataclass(frozen=True)
class Import:
    """An import in a cell of the source.

    Args:
        code: the statement.
        names: the names that it binds; empty for `from module import *`.
        is_fallback: whether it runs only if an import before it failed: in `except` or `else`.
        is_answer: whether it is in an answer cell, and so may be the student's work.
    """

    code: str
    names: tuple[str, ...]
    is_fallback: bool = False
    is_answer: bool = False


@dataclass(frozen=True)
class SourceNames:
    """The names that the cells of a source import, bind and use.

    Args:
        imports: the imports of its answers, tests and the cells that the runner does not run, in order.
        above: how many of the imports are above each of the other cells, by grade_id.
        defined: the names that the same cells bind otherwise.
        answers_bind: the names that its answers bind.
        answers_define: those of them that are functions or classes.
        answers_use: the names that its answers read and do not bind, among them those of Python.
        changed: at each of its tests and read-only cells, by grade_id, the names of read-only cells above it that an
            answer or an unmarked cell between the two binds again or changes.
        tests: the imports of its visible tests, by grade_id.
        paths: the folders beside the notebook that its cells add to `sys.path`.
        bound: all names that its cells bind; None if they cannot be known.
    """

    imports: tuple[Import, ...] = ()
    above: dict[str, int] = field(default_factory=dict)
    defined: frozenset[str] = frozenset()
    answers_bind: frozenset[str] = frozenset()
    answers_define: frozenset[str] = frozenset()
    answers_use: frozenset[str] = frozenset()
    changed: dict[str, frozenset[str]] = field(default_factory=dict)
    tests: dict[str, tuple[Import, ...]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    bound: frozenset[str] | None = None

    @cached_property
    def digest(self) -> str:
        """A digest of what the runner makes of this."""
        sets = self.defined, self.answers_bind, self.answers_define, self.answers_use
        changed = [(cell, sorted(names)) for cell, names in self.changed.items()]
        parts = self.imports, self.above, self.paths, changed, [sorted(names) for names in sets]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that only imports bind, without those of `from module import *`."""
        return frozenset(name for each in self.imports for name in each.names) - self.defined


def names_of(source: "NotebookNode") -> SourceNames:
    """Return what the cells of a source say about names."""
    cells = [(grade_id(cell) or "", _kind(cell), cell.source) for cell in source.cells if cell.cell_type == "code"]
    return _names_of(tuple(cells))


def _kind(cell: "NotebookNode") -> CellType:
    return CellType.UNMARKED if is_sandbox_only(cell) else type_of(cell)


@lru_cache(maxsize=64)
def _names_of(cells: tuple[tuple[str, CellType, str], ...]) -> SourceNames:
    imports, above = list[Import](), dict[str, int]()
    defined, bound, functions, used = set[str](), set[str](), set[str](), set[str]()
    tests, paths = dict[str, tuple[Import, ...]](), list[str]()
    found_in = [names_in(text) for *_, text in cells]
    ours, theirs, changed = set[str](), set[str](), dict[str, frozenset[str]]()
    for name, kind, text in cells:
        if kind in (CellType.TEST, CellType.READ_ONLY):
            above[name] = len(imports)
            if theirs:
                changed[name] = frozenset(theirs)
            if kind is CellType.READ_ONLY and (code := _python(text)) is not None:
                ours |= names_assigned(code)
                theirs -= names_assigned(code)
            if kind is CellType.TEST:
                found = tuple(imports_in(text))
                imports += found  # a test may use what one above it imports
                if HIDDEN not in text:
                    tests[name] = found
            continue
        paths += [found[2] for found in PATH.finditer(text)]
        is_answer = kind is not CellType.UNMARKED
        imports += imports_in(text, is_answer=is_answer)
        code = _python(text)
        if code is not None:
            binds = names_bound(code)
            defined |= names_assigned(code)
            theirs |= ours & names_changed(code) if ours else set()
            if is_answer:
                bound |= binds
                functions |= {each.name for each in ast.parse(code).body if isinstance(each, _DEFINITIONS)}
                used.update(names_used(code))
    return SourceNames(
        imports=tuple(imports),
        above=above,
        defined=frozenset(defined),
        answers_bind=frozenset(bound),
        answers_define=frozenset(functions),
        answers_use=frozenset(used),
        changed=changed,
        tests=tests,
        paths=tuple(paths),
        bound=None if None in found_in else frozenset[str]().union(*filter(None, found_in)),
    )


def imports_in(text: str, *, is_answer: bool = False) -> Iterator[Import]:
    """Yield the imports of a cell of the source, those in `if` and `try` included, but not those in functions.

    Args:
        text: the cell.
        is_answer: whether it is an answer.
    """
    code = _python(text)
    for part in [code] if code is not None else IMPORT.findall(text):
        try:
            body = ast.parse(part).body
        except SyntaxError:
            continue
        for statement, is_fallback in _imports(body, is_fallback=False):
            names = [(alias.asname or alias.name).partition(".")[0] for alias in statement.names]
            yield Import(ast.unparse(statement), () if names == ["*"] else tuple(names), is_fallback, is_answer)


def _imports(body: list[ast.stmt], *, is_fallback: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for statement in body:
        if isinstance(statement, ast.Import):
            yield statement, is_fallback
        elif isinstance(statement, ast.ImportFrom):
            # A future import is no name, and a relative one has no package here.
            if statement.module != "__future__" and not statement.level:
                yield statement, is_fallback
        elif isinstance(statement, _INNER):
            yield from _imports(statement.body, is_fallback=is_fallback)
            for handler in getattr(statement, "handlers", ()):
                yield from _imports(handler.body, is_fallback=True)
            yield from _imports(getattr(statement, "orelse", []), is_fallback=is_fallback or type(statement) is ast.If)
            yield from _imports(getattr(statement, "finalbody", []), is_fallback=is_fallback)


def names_changed(code: str) -> frozenset[str]:
    """Return the names that the statements of a cell bind, by anything but an import, or whose objects they change.

    What the functions do that it calls is seen for the methods and functions only that are known to change an object.

    Args:
        code: the cell, in Python.
    """
    found = set(names_assigned(code))
    left: list[ast.AST] = [ast.parse(code)]
    while left:
        node = left.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                continue
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                found.add(_root(node))
            case ast.Call(func=ast.Attribute(attr=method) | ast.Name(id=method) as function, args=arguments):
                words = {word.arg: word.value for word in node.keywords}
                if method in CHANGING or "inplace" in words:
                    found.add(_root(function))
                if method in CHANGING_FIRST and arguments:
                    found.add(_root(arguments[0]))
                if "out" in words:
                    found.add(_root(words["out"]))
        left += ast.iter_child_nodes(node)
    return frozenset(found - {""})


def _root(node: ast.AST) -> str:
    """Return the name of which an expression is a part, an attribute or the result of a method, or ''."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(maxsize=1024)
def _python(text: str) -> str | None:
    """Return a cell without its magics, or None if it is not Python even so."""
    code = without_magics(text)
    try:
        ast.parse(code)
    except NOT_PYTHON:
        return None
    return code


@lru_cache(maxsize=1024)
def names_in(text: str) -> frozenset[str] | None:
    """Return the names that the text of a cell binds; None if they cannot be known."""
    text = SETTING.sub("", text)
    if UNKNOWN_NAMES.search(text):
        return None
    try:
        return names_bound(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
