"""Writes an answer in a canonical form that does not change with names, order, layout or comments.

    source --ast, or line by line where that fails--> statements --own names numbered--> features

Names are numbered within each statement, so its position does not matter. Order counts only where a statement uses a
name that another one sets: the two together are also a feature.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import count, islice, repeat

MAX_CHARACTERS, MAX_STATEMENTS = 10_000, 300
"""The part of an answer that is read."""
MAX_JOINED, MAX_LINE = 40, 500
"""In an answer with a syntax error: lines that a statement may have, and characters of one that is parsed."""

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Exceptions from parsing untrusted source and walking its tree."""
IGNORED_FIELDS = {"ctx", "annotation", "returns", "type_comment", "kind", "type_ignores", "type_params"}
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
FIELDS = {
    kind: tuple(
        field
        for field in kind._fields
        if field not in IGNORED_FIELDS and not (field in BLOCKS and not issubclass(kind, ast.expr))
    )
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""The fields of each type of node that are written; those of a statement are its header."""
FORMS = ("{}", "{}\n pass", "if 0: pass\n{}", "if 0: pass\n{}\n pass", "try: pass\n{}", "try: pass\n{}\n pass")
"""Contexts in which a single line may be valid Python."""
TOKEN = re.compile(r"""[^\W\d]\w*|\d[\w.]*|'[^']*'|"[^"]*"|[^\w\s]""")
COMMENT = re.compile(r"#.*")
TRIPLE = re.compile(r"'''|\"\"\"")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, or the header of a compound one, with the author's own names replaced by numbers.

    `first` and `last` are its lines, counted from 0. `sets` and `uses` are the author's own names in it, each with its
    number, and `scope` is the function around it.
    """

    text: str
    first: int
    last: int
    sets: Mapping[str, str]
    uses: Mapping[str, str]
    scope: int


def statements(source: str) -> list[Statement]:
    """Return the statements of an answer in order, without docstrings, annotations and `pass`.

    Args:
        source: any text. If it is not valid Python, each line is parsed alone.
    """
    lines = lines_of(source)
    try:
        writers = list(islice(_written(ast.parse("\n".join(lines)).body, count(1)), MAX_STATEMENTS))
    except UNREADABLE:
        writers = list(islice(_line_by_line(lines), MAX_STATEMENTS))
    own = {key for writer in writers for key in writer.binds}
    return [writer.numbered(own) for writer in writers]


def lines_of(source: str) -> list[str]:
    """Return the lines of any text that are read."""
    return source[:MAX_CHARACTERS].replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def features(answer: Sequence[Statement]) -> dict[str, bool]:
    """Return the features of an answer: its statements (True), and pairs in which one uses a name of the other (False).

    Args:
        answer: the statements of the answer.
    """
    found = {each.text: True for each in answer}
    attributes: dict[str, list[Statement]] = {}
    for each in answer:
        for name in each.sets:
            if "." in name:
                attributes.setdefault(name, []).append(each)
    latest: dict[tuple[int, str], Statement] = {}
    for each in answer:
        for name, number in each.uses.items():
            # Methods may be in any order, so every statement that sets an attribute counts.
            setters = attributes.get(name, ()) if "." in name else [latest.get((each.scope, name))]
            for setter in setters:
                if setter is not None:
                    found[f"{setter.text}\n{each.text}\n{setter.sets[name]}{number}"] = False
        latest |= {(each.scope, name): each for name in each.sets}
    return found


def matching(left: Sequence[Statement], right: Sequence[Statement]) -> Iterator[tuple[Statement, Statement]]:
    """Yield pairs of equal statements: first those in the same order, then those that were moved.

    Args:
        left: the statements of one answer.
        right: those of the other.
    """
    texts = [each.text for each in left], [each.text for each in right]
    rest_left, rest_right = dict(enumerate(left)), dict(enumerate(right))
    for block in SequenceMatcher(None, *texts, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            yield rest_left.pop(block.a + step), rest_right.pop(block.b + step)
    moved = defaultdict(list)
    for statement in reversed(rest_right.values()):
        moved[statement.text].append(statement)
    for statement in rest_left.values():
        if moved[statement.text]:
            yield statement, moved[statement.text].pop()


class _StatementWriter:
    """Writes one statement, and remembers the positions of names that may be the author's own."""

    def __init__(self, first: int, last: int, scope: int) -> None:
        self._first, self._last, self._scope = first, last, scope
        self._parts: list[str] = []
        self._names: list[tuple[int, str]] = []
        self._keywords: list[tuple[int, str]] = []
        self.binds: list[str] = []
        self._uses: list[str] = []

    def write(self, value: object) -> None:
        """Write the value of a node's field: a node, a list or a plain value."""
        parts = self._parts
        match value:
            case ast.Name(id=name):
                self._name(name, is_set=not isinstance(value.ctx, ast.Load))
            case ast.Attribute(value=base, attr=attribute):
                self.write(base)
                parts.append(".")
                if isinstance(base, ast.Name):
                    is_set = not isinstance(value.ctx, ast.Load)
                    self._name(f"{base.id}.{attribute}", is_set=is_set)
                else:
                    parts.append(attribute)
            case ast.Constant(value=constant):
                parts.append(repr(constant))
            case ast.arg(arg=name):
                self._name(name, is_set=True)
            case ast.Call(func=function, args=arguments, keywords=keywords):
                self._call(function, arguments, keywords)
            case ast.AST():
                kind = type(value)
                parts.append(f"{kind.__name__}(")
                for field in FIELDS[kind]:
                    self.write(getattr(value, field, None))
                parts.append(")")
            case list():
                parts.append("[")
                for each in value:
                    self.write(each)
                parts.append("]")
            case _:
                parts.append(f"{value!r},")

    def write_header(self, node: ast.AST, owner: str = "") -> None:
        """Write a statement without the blocks in it.

        Args:
            node: the statement.
            owner: a method's name for its object; '' for other statements.
        """
        match node:
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.write(ast.Assign([target], value))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._parts.append(f"{type(node).__name__} ")
                self._name(f"{owner}.{node.name}" if owner else node.name, is_set=True)
                for field in FIELDS[type(node)]:
                    if field != "name":
                        self.write(getattr(node, field))
            case ast.ExceptHandler(type=kind, name=name):
                self._parts.append("except ")
                self.write(kind)
                if name:
                    self._name(name, is_set=True)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                self._parts.append(f"import {getattr(node, 'module', '')} ")
                for alias in names:
                    self._parts.append(f"{alias.name} ")
                    self._name(alias.asname or alias.name, is_set=alias.asname is not None)
            case _:
                self.write(node)

    def write_tokens(self, line: str) -> None:
        """Write a line that is not valid Python."""
        self._parts.append("? ")
        tokens = TOKEN.findall(COMMENT.sub("", line))
        for position, token in enumerate(tokens):
            if token.isidentifier():
                self._name(token, is_set=position == 0 and tokens[1:2] == ["="])
            else:
                self._parts.append(token)

    def numbered(self, own: set[str]) -> Statement:
        """Return the statement with numbers in place of names.

        Args:
            own: the names that the whole answer binds; attributes include their object.
        """
        numbers: dict[str, str] = {}
        for position, key in self._names:
            if key in own:
                self._parts[position] = numbers.setdefault(key, f"${len(numbers)}")
        for position, callee in self._keywords:
            if callee in own:
                self._parts[position] = "="
        sets = {key: numbers[key] for key in self.binds}
        uses = {key: numbers[key] for key in self._uses if key in own}
        return Statement("".join(self._parts), self._first, self._last, sets, uses, self._scope)

    def _name(self, key: str, *, is_set: bool) -> None:
        (self.binds if is_set else self._uses).append(key)
        self._names.append((len(self._parts), key))
        self._parts.append(f"{key.rpartition('.')[2]} ")

    def _call(self, function: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]) -> None:
        """Write a call. The names of its arguments are the author's own if the function is."""
        callee = ""
        if isinstance(function, ast.Name):
            callee = function.id
        elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            callee = f"{function.value.id}.{function.attr}"
        self.write(function)
        self._parts.append("(")
        for argument in arguments:
            self.write(argument)
            self._parts.append(",")
        for keyword in keywords:
            self._keywords.append((len(self._parts), callee))
            self._parts.append(f"{keyword.arg}=")
            self.write(keyword.value)
        self._parts.append(")")


def _written(body: Sequence[ast.AST], scopes: Iterator[int], above: int = 0) -> Iterator[_StatementWriter]:
    """Write the statements of a block and of its nested blocks.

    Args:
        body: the block.
        scopes: numbers for the functions in it.
        above: the number of lines above it.
    """
    # A chain of `elif` is as deep as it is long, so do not recurse.
    waiting: list[tuple[ast.AST, int, bool]] = [(node, 0, False) for node in reversed(body)]
    while waiting:
        node, scope, is_in_class = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            scope = next(scopes)
        blocks = [each for name in BLOCKS for each in getattr(node, name, ())]
        if not _is_ignored(node):
            first, last = _lines(node, blocks)
            writer = _StatementWriter(above + first, above + last, scope)
            writer.write_header(node, _owner(node, is_in_class=is_in_class))
            yield writer
        waiting += [(each, scope, isinstance(node, ast.ClassDef)) for each in reversed(blocks)]


def _lines(node: ast.AST, blocks: Sequence[ast.AST]) -> tuple[int, int]:
    """The first and last line of a statement without its blocks, from 0."""
    begin = node.pattern if isinstance(node, ast.match_case) else node
    first, last = getattr(begin, "lineno", 1) - 1, (getattr(begin, "end_lineno", None) or 1) - 1
    if blocks:
        # A case has no line of its own, but its pattern has.
        last = max(first, getattr(getattr(blocks[0], "pattern", blocks[0]), "lineno", last + 2) - 2)
    return first, last


def _is_ignored(node: ast.AST) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None) | ast.Try() | ast.TryStar():
            return True
    return False


def _owner(node: ast.AST, *, is_in_class: bool) -> str:
    """A method's name for its object, or ''. Outside a class, only `self` marks a method."""
    match node:
        case ast.FunctionDef(args=ast.arguments(args=[ast.arg(arg=first), *_])) if is_in_class or first == "self":
            return first
    return ""


def _line_by_line(lines: Sequence[str]) -> Iterator[_StatementWriter]:
    """Write an answer with a syntax error line by line; a line is joined with those that close its brackets."""
    number = 0
    while number < len(lines):
        size = _lines_until_closed(lines, number)
        for joined in dict.fromkeys((size, 1)):
            writers = _line_alone("\n".join(lines[number : number + joined]).strip(), number)
            if writers is not None:
                break
        else:
            writer = _StatementWriter(number, number, 0)
            writer.write_tokens(lines[number])
            writers = [writer]
        yield from writers
        number += joined


def _line_alone(text: str, above: int) -> list[_StatementWriter] | None:
    """Write a statement or the header of a compound one; None if it is not valid Python alone."""
    for form in FORMS if len(text) <= MAX_LINE else ():
        try:
            body: Sequence[ast.AST] = ast.parse(form.replace("{}", text)).body
            added = form.index("{}") > 0
            if added:
                [first] = body
                body = [each for name in BLOCKS[1:] for each in getattr(first, name, ())]
            return list(_written(body, repeat(0), above - added))
        except UNREADABLE:
            continue
    return None


def _lines_until_closed(lines: Sequence[str], number: int) -> int:
    """The number of lines until all brackets and strings are closed; 1 if they never are."""
    depth, is_text = 0, False
    for size, line in enumerate(lines[number : number + MAX_JOINED], 1):
        is_text ^= len(TRIPLE.findall(line)) % 2 == 1
        code = COMMENT.sub("", line)
        depth += sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
        if depth <= 0 and not is_text and not code.rstrip().endswith("\\"):
            return size
    return 1
