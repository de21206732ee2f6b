"""Turns cells as IPython runs them, with magics and `await`, into Python.

instructor's cell --as_python--> Python that calls get_ipython()      student's cell --without_magics--> only its names
"""

import ast
import re
from functools import lru_cache

MAGIC = re.compile(r"^([ \t]*)(?:([^\s#%!'\"(=][^#%!'\"(=\n]*)=[ \t]*)?(?:[%!?].*|[\w.]+\?+)$", re.MULTILINE)
"""A line that is a magic, a command of the shell or a call for help, or that binds what one returns to names."""
CALL = "get_ipython()."
"""The beginning of each magic in a cell that was turned into Python."""
TOP_LEVEL_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
"""The flag with which a notebook compiles its cells."""
NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
"""The exceptions of Python's compiler for a text that it cannot compile."""


@lru_cache(maxsize=1024)
def as_python(source: str) -> str:
    """Return an instructor's cell as Python. A cell that is Python already is returned as it is.

    So nothing in a string is taken for a magic. IPython itself handles the magics of students.
    """
    if _is_python(source):
        return source
    from IPython.core.inputtransformer2 import TransformerManager  # slow to load, and rarely needed

    try:
        return TransformerManager().transform_cell(source)
    except NOT_PYTHON:
        return source  # compiling it gives the reason


@lru_cache(maxsize=1024)
def syntax_error(source: str) -> SyntaxError | None:
    """Return why an instructor's cell cannot be compiled as a notebook does it, or None."""
    try:
        compile(as_python(source), "<cell>", "exec", TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return error
    except NOT_PYTHON as error:
        return SyntaxError(str(error) or "it is nested too deeply")
    return None


@lru_cache(maxsize=1024)
def without_magics(source: str) -> str:
    """Return a student's cell with each magic as the names that it binds; as it is if it is Python already.

    IPython's own transformation may take minutes for a crafted cell.
    """
    return source if _is_python(source) else MAGIC.sub(_bound, source)


def code_in_magics(source: str) -> list[str]:
    """Return the code that the magics in a cell run, such as `f(1)` in `%timeit -o f(1)`, and what binds their results.

    Args:
        source: what `as_python` returned.
    """
    found: list[str] = []
    for call in ast.walk(ast.parse(source)) if CALL in source else ():
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            match call.func.attr, texts:
                case "run_line_magic", [_, line]:
                    found += _statements(line)
                case "run_cell_magic", ["capture", line, body]:
                    names = [word for word in line.split() if word.isidentifier()]
                    found += [*(f"{name} = None" for name in names), *_statements(body)]
                case "run_cell_magic", [_, line, body]:
                    found += [*_statements(line), *_statements(body)]
    return found


def _statements(line: str) -> list[str]:
    """Return the Python behind the options of a magic, as a list with at most one text."""
    starts = [0, *(match.end() for match in re.finditer(r"\s+", line.partition("\n")[0]))]
    for start in starts:
        code = as_python(line[start:])
        if not code.startswith("-") and _is_python(code):
            return [code] if code.strip() else []
    return []


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except NOT_PYTHON:
        return False
    return True


def _bound(magic: re.Match[str]) -> str:
    indent, names = magic[1], magic[2]
    return f"{indent}{names.strip()} = None" if names else f"{indent}pass"
