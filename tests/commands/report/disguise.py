"""Disguises an answer as someone does who hands in the work of another: other names, order, comments and layout.

source --ast--> other names, independent statements exchanged --unparse--> other comments --> disguised source
"""

import ast
import random
from collections.abc import Iterator
from itertools import pairwise

WORDS = ("first", "grid", "kappa", "mix", "node", "part", "quad", "res", "step", "tmp", "unit", "wide", "zeta")
REMARKS = ("now the sum", "shape?", "see the slides", "TODO check", "as in the formula", "works", "do not touch")


def disguised(source: str, chance: random.Random, *, parameters: bool = True) -> str:
    """Return an answer that does the same and looks different.

    Args:
        source: the answer.
        chance: where names, order and comments come from.
        parameters: whether parameters get other names as well, which tests may know.
    """
    tree = ast.parse(source)
    rename(tree, chance, parameters=parameters)
    exchange(tree, chance)
    return commented(ast.unparse(tree), chance)


def rename(tree: ast.AST, chance: random.Random, *, parameters: bool) -> None:
    """Give new names to all variables and, on demand, parameters. `self` and the names of functions stay."""
    given = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own = own | given if parameters else own - given
    numbers = chance.sample(range(100), len(own))
    new = {name: f"{chance.choice(WORDS)}_{number}" for name, number in zip(sorted(own), numbers, strict=True)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if name != "self":
                node.id = new.get(name, name)
            case ast.arg(arg=name) if name != "self":
                node.arg = new.get(name, name)


def exchange(tree: ast.AST, chance: random.Random) -> None:
    """Exchange neighbouring assignments that do not depend on each other, half of them."""
    for block in blocks(tree):
        for place, (first, second) in enumerate(pairwise(list(block))):
            if block[place] is first and are_independent(first, second) and chance.random() < 0.5:
                block[place : place + 2] = [second, first]


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield every block of statements."""
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield block


def are_independent(first: ast.stmt, second: ast.stmt) -> bool:
    """Return whether two statements are assignments, and neither names what the other sets."""
    if not (isinstance(first, ast.Assign) and isinstance(second, ast.Assign)):
        return False
    return not (_set(first) & _named(second) or _set(second) & _named(first))


def _set(statement: ast.stmt) -> set[str]:
    nodes = [node for node in ast.walk(statement) if isinstance(getattr(node, "ctx", None), ast.Store)]
    # What is assigned to an item changes the whole.
    return {ast.unparse(node.value if isinstance(node, ast.Subscript) else node) for node in nodes}


def _named(statement: ast.stmt) -> set[str]:
    return {ast.unparse(node) for node in ast.walk(statement) if isinstance(node, ast.Name | ast.Attribute)}


def commented(source: str, chance: random.Random) -> str:
    """Return a source with comments at the ends of some of its lines, and lines of comments between them."""
    lines = []
    for line in source.splitlines():
        if chance.random() < 0.3:
            lines.append(f"# {chance.choice(REMARKS)}")
        is_open = chance.random() < 0.3 and "'''" not in line and '"""' not in line
        lines.append(f"{line}  # {chance.choice(REMARKS)}" if is_open else line)
    return "\n".join(lines)
