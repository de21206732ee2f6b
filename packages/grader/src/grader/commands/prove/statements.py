"""Holds the mutation operators that change a whole statement, or a value by the statement that it stands in."""

import ast
from collections.abc import Iterator

from grader.commands.prove.operators import Site, method, operator

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert, ast.Raise, ast.Delete)
COMPOUND = (ast.If, ast.For, ast.While)
CONVERSIONS = ("detach", "float", "double", "half")
NO_GRADIENT = set(
    "arange argmax argmin argsort dim len linspace ne numel ones rand randn shape size tensor zeros".split()
)
"""Functions and attributes from which no gradient flows."""
WITHOUT_GRADIENT = (
    ast.Tuple, ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Constant, ast.Compare, ast.BoolOp, ast.Lambda,
)  # fmt: skip


@operator("leaves out the statement", *SIMPLE, *COMPOUND)
def _no_statement(site: Site) -> Iterator[ast.AST]:
    yield ast.Pass()


@operator("exchanges break and continue", ast.Break, ast.Continue)
def _other_jump(site: Site) -> Iterator[ast.AST]:
    yield ast.Continue() if isinstance(site.node, ast.Break) else ast.Break()
    yield ast.Pass()


@operator("negates the condition", ast.expr)
def _other_condition(site: Site) -> Iterator[ast.AST]:
    if isinstance(site.parent, ast.If | ast.While | ast.IfExp) and site.parent.test is site.node:
        yield ast.UnaryOp(ast.Not(), site.node)
    if isinstance(site.parent, ast.comprehension) and any(site.node is condition for condition in site.parent.ifs):
        yield ast.UnaryOp(ast.Not(), site.node)


@operator("decides in advance", ast.expr)
def _constant_condition(site: Site) -> Iterator[ast.AST]:
    if isinstance(site.parent, ast.If) and site.parent.test is site.node:
        yield from (ast.Constant(True), ast.Constant(False))
    if isinstance(site.parent, ast.comprehension) and any(site.node is condition for condition in site.parent.ifs):
        yield ast.Constant(True)


@operator("decides in advance", ast.IfExp)
def _one_branch(site: Site) -> Iterator[ast.AST]:
    yield from (site.node.body, site.node.orelse)


@operator("skips an item", ast.expr)
def _fewer_items(site: Site) -> Iterator[ast.AST]:
    is_range = isinstance(site.node, ast.Call) and ast.unparse(site.node.func) == "range"
    if isinstance(site.parent, ast.For | ast.comprehension) and site.parent.iter is site.node and not is_range:
        items = ast.Call(ast.Name("list", ast.Load()), [site.node], [])
        yield ast.Subscript(items, ast.Slice(ast.Constant(1), None), ast.Load())
        yield ast.Subscript(items, ast.Slice(None, ast.Constant(-1)), ast.Load())


@operator("returns another value", ast.expr)
def _other_value(site: Site) -> Iterator[ast.AST]:
    if isinstance(site.parent, ast.Return) and not isinstance(site.node, ast.Name):
        yield from (ast.Name(name, ast.Load()) for name in site.names if name != "self")


@operator("converts the value", ast.expr)
def _converted(site: Site) -> Iterator[ast.AST]:
    if isinstance(site.parent, ast.Return) and not isinstance(site.node, ast.Tuple | ast.Constant):
        yield from (method(site.node, name) for name in CONVERSIONS)


@operator("converts an element", ast.Tuple)
def _converted_element(site: Site) -> Iterator[ast.AST]:
    if isinstance(site.parent, ast.Return):
        for number, element in enumerate(site.node.elts):
            for name in CONVERSIONS:
                elements = [*site.node.elts[:number], method(element, name), *site.node.elts[number + 1 :]]
                yield ast.Tuple(elements, ast.Load())


@operator("cuts the gradient", ast.expr)
def _detached(site: Site) -> Iterator[ast.AST]:
    is_assigned = isinstance(site.parent, ast.Assign | ast.AugAssign) and site.parent.value is site.node
    if is_assigned and not isinstance(site.node, WITHOUT_GRADIENT) and _last_name(site.node) not in NO_GRADIENT:
        yield method(site.node, "detach")


def _last_name(node: ast.expr) -> str:
    """The name of the function or attribute that gives an expression its value."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "attr", getattr(node, "id", ""))
