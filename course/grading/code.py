"""Cells as code: compiled once for a class where they are ours, by the process that hands them over.

A cell is code in two parts, for the value of its last line is shown.
"""

import ast
import base64
import marshal
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

KEPT = 1024
"""How many cells a process keeps compiled: an examiner runs the same tests for every student."""


class Code(NamedTuple):
    """All of a cell but its last expression, and that, where it ends with one."""

    most: CodeType
    last: CodeType | None


@lru_cache(maxsize=KEPT)
def compiled(source: str, name: str, flags: int = 0) -> Code:
    """The code of a cell that tracebacks call `<name>`. `flags` are those of compile(), whose errors it raises."""
    filename = f"<{name}>"
    tree = ast.parse(source, filename)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    most = compile(tree, filename, "exec", flags)
    return Code(most, None if last is None else compile(last, filename, "eval", flags))


@lru_cache(maxsize=KEPT)
def as_text(source: str, name: str) -> str:
    """The code of a cell for another process of the same Python, as text; empty where the cell is not plain Python.

    For cells of ours only: a source that is made for it can break the compiler.
    """
    try:
        return base64.b64encode(marshal.dumps(tuple(compiled(source, name)))).decode()
    except (SyntaxError, ValueError):
        return ""


def from_text(text: str) -> Code:
    """The code that a text of `as_text` is. For the candidate only, which runs what the examiner says in any case."""
    return Code(*marshal.loads(base64.b64decode(text)))
