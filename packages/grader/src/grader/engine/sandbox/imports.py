"""Runs the imports of a cell that is not run itself, each on its own.

source --parsed, or line by line--> import statements --> names, but none of the excluded ones
"""

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

from grader.engine.notebook.magics import without_magics

IMPORT = re.compile(r"^(?:import|from)\s.*$", re.MULTILINE)


def run_imports(source: str, namespace: dict[str, Any], excluded: Collection[str]) -> None:
    """Run the imports at the top level of a cell. One that fails costs only its own names.

    Args:
        source: the cell, which may be anything.
        namespace: receives the names. Those of Python itself are not replaced.
        excluded: further names that no import binds.
    """
    for statement in _imports(source):
        found: dict[str, Any] = {"__name__": namespace["__name__"]}
        with suppress(Exception, SystemExit):
            exec(compile(ast.Module([statement], []), "<imports>", "exec"), found)
        for name, item in found.items():
            if not (name.startswith("__") or name in excluded or hasattr(builtins, name)):
                namespace[name] = item


def _imports(source: str) -> Iterator[ast.stmt]:
    try:
        texts = [without_magics(source)]
        ast.parse(texts[0])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        texts = IMPORT.findall(source)
    for text in texts:
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            for statement in ast.parse(text).body:
                is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
                if isinstance(statement, ast.Import | ast.ImportFrom) and not is_future:
                    yield statement
