"""Holds the mutation operators: each takes a node of a right answer and yields what a hasty programmer could write.

Operators change syntax trees; `mutation` writes the text.
"""

import ast
from collections.abc import Callable, Iterator
from itertools import chain, pairwise, permutations

from grader.commands.prove.syntax import (
    Site,
    changed,
    exchanged,
    is_method,
    method,
    replaced,
    shifted,
    value_of,
    without_each,
)

Change = Callable[[Site], Iterator[ast.AST]]
OPERATORS: list[tuple[str, type[ast.AST], Change]] = []
"""Each operator with its name and a type of node that it changes, in the order in which they are tried."""


def operator(name: str, *kinds: type[ast.AST]) -> Callable[[Change], Change]:
    """Register a function as an operator on these types of node."""

    def register(change: Change) -> Change:
        OPERATORS.extend((name, kind, change) for kind in kinds)
        return change

    return register


EXCHANGED_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mod, ast.Mult), ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,), ast.MatMult: (ast.Mult,),
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.And: (ast.Or,), ast.Or: (ast.And,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip

EXCHANGED_NAMES: dict[str, dict[str, None]] = {}
for _name, _other in chain.from_iterable(permutations(group.split(), 2) for group in (
    "softmax log_softmax", "max min", "amax amin", "sum mean", "argmax argmin", "zeros ones", "zeros_like ones_like",
    "triu tril", "cat stack", "tanh sigmoid relu", "Tanh Sigmoid ReLU", "exp log", "sin cos", "any all", "floor ceil",
    "train eval", "minimum maximum", "rand randn", "gelu relu", "max_pool2d avg_pool2d", "MaxPool2d AvgPool2d",
    "AdaptiveAvgPool2d AdaptiveMaxPool2d", "logical_and logical_or", "le lt", "ge gt", "eq ne", "var std", "sum prod",
    "repeat repeat_interleave", "mean max", "log log2", "squeeze unsqueeze", "BatchNorm1d LayerNorm",
)):  # fmt: skip
    EXCHANGED_NAMES.setdefault(_name, {})[_other] = None

IN_PLACE_OPERATORS = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
IN_PLACE_METHODS = set("add sub mul div masked_fill clamp exp sqrt tanh sigmoid relu unsqueeze transpose".split())
REDUCTIONS = set("sum mean max min amax amin argmax argmin var std norm logsumexp any all".split())
COMMUTATIVE = {"transpose", "transpose_", "swapaxes", "max", "min", "maximum", "minimum", "isinstance"}
"""Functions whose arguments may come in any order, or in an order that no one mistakes."""
WORDS = {"sum": ("mean", "none"), "mean": ("sum", "none"), "none": ("sum", "mean")}
"""Values of `reduction` and the like."""
STATEMENTS = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert, ast.Raise, ast.Delete, ast.If, ast.For,
    ast.While,
)  # fmt: skip
CONVERSIONS = ("detach", "float", "double", "half")
NO_GRADIENT = set(
    "arange argmax argmin argsort dim len linspace ne numel ones rand randn shape size tensor zeros".split()
)
"""Functions and attributes through which no gradient flows."""
WITHOUT_GRADIENT = (
    ast.Tuple, ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Constant, ast.Compare, ast.BoolOp, ast.Lambda,
)  # fmt: skip


@operator("exchanges the operator", ast.BinOp, ast.AugAssign)
def _other_operator(site: Site) -> Iterator[ast.AST]:
    for kind in EXCHANGED_OPERATORS.get(type(site.node.op), ()):
        yield changed(site.node, op=kind())


@operator("exchanges the operands", ast.BinOp)
def _other_order(site: Site) -> Iterator[ast.AST]:
    if isinstance(site.node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow | ast.MatMult):
        yield changed(site.node, left=site.node.right, right=site.node.left)


@operator("leaves out an operand", ast.BinOp)
def _one_operand(site: Site) -> Iterator[ast.AST]:
    yield from (site.node.left, site.node.right)


@operator("works in place", ast.BinOp)
def _in_place_operator(site: Site) -> Iterator[ast.AST]:
    name = IN_PLACE_OPERATORS.get(type(site.node.op))
    if name and isinstance(site.node.left, ast.Name):
        yield ast.Call(ast.Attribute(site.node.left, name, ast.Load()), [site.node.right], [])


@operator("assigns instead of adding up", ast.AugAssign)
def _assignment(site: Site) -> Iterator[ast.AST]:
    yield ast.Assign([site.node.target], site.node.value, lineno=site.node.lineno)


@operator("exchanges the comparison", ast.Compare)
def _other_comparison(site: Site) -> Iterator[ast.AST]:
    for number, kind in enumerate(site.node.ops):
        for other in EXCHANGED_OPERATORS.get(type(kind), ()):
            yield changed(site.node, ops=replaced(site.node.ops, number, other()))


@operator("exchanges and with or", ast.BoolOp)
def _other_connective(site: Site) -> Iterator[ast.AST]:
    for kind in EXCHANGED_OPERATORS[type(site.node.op)]:
        yield changed(site.node, op=kind())


@operator("leaves out a condition", ast.BoolOp)
def _fewer_conditions(site: Site) -> Iterator[ast.AST]:
    for values in without_each(site.node.values):
        yield changed(site.node, values=values) if len(values) > 1 else values[0]


@operator("drops the sign", ast.UnaryOp)
def _no_sign(site: Site) -> Iterator[ast.AST]:
    if value_of(site.node) is None:
        yield site.node.operand


@operator("changes the number", ast.Constant, ast.UnaryOp)
def _other_number(site: Site) -> Iterator[ast.AST]:
    value = value_of(site.node)
    signed = isinstance(site.parent, ast.UnaryOp) and isinstance(site.parent.op, ast.USub)
    if value is None or signed:
        return
    if isinstance(value, int):
        others: list[float] = [0, 1, -1, value + 1, value - 1, value * 2]
    else:
        others = [0.0, 1.0, -value, value * 2, value / 2]
    yield from (ast.Constant(other) for other in dict.fromkeys(others) if other != value)


@operator("flips the constant", ast.Constant)
def _other_constant(site: Site) -> Iterator[ast.AST]:
    value = site.node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif value is None:
        # In an index, True adds a dimension as None does.
        is_index = isinstance(site.parent, ast.Subscript | ast.Tuple)
        yield from (ast.Constant(other) for other in ([0] if is_index else [True, 0]))
    elif isinstance(value, str):
        yield from (ast.Constant(word) for word in WORDS.get(value, ()))


@operator("permutes the letters of einsum", ast.Constant)
def _other_letters(site: Site) -> Iterator[ast.AST]:
    value = site.node.value
    if isinstance(value, str) and "->" in value and " " not in value:
        for number, (first, second) in enumerate(pairwise(value)):
            if first.isalpha() and second.isalpha():
                yield ast.Constant(value[:number] + second + first + value[number + 2 :])


@operator("replaces infinity", ast.UnaryOp, ast.Call, ast.Attribute)
def _finite(site: Site) -> Iterator[ast.AST]:
    text = ast.unparse(site.node).replace('"', "'")
    if text in ("-math.inf", "-torch.inf", "float('-inf')", "-float('inf')"):
        yield from (ast.Constant(value) for value in (-1e9, 1e-9, 0.0))
    elif text in ("math.inf", "torch.inf", "float('inf')") and not isinstance(site.parent, ast.UnaryOp):
        yield from (ast.Constant(value) for value in (1e9, 0.0))


@operator("inverts the mask", ast.Call)
def _other_mask(site: Site) -> Iterator[ast.AST]:
    has_mask = getattr(site.node.func, "attr", "") in ("where", "masked_fill", "masked_fill_")
    if has_mask and site.node.args and not isinstance(site.node.args[0], ast.Compare | ast.UnaryOp):
        yield changed(site.node, args=[ast.UnaryOp(ast.Invert(), site.node.args[0]), *site.node.args[1:]])


@operator("exchanges the arguments", ast.Call)
def _other_arguments(site: Site) -> Iterator[ast.AST]:
    if getattr(site.node.func, "attr", getattr(site.node.func, "id", "")) not in COMMUTATIVE:
        yield from (changed(site.node, args=arguments) for arguments in exchanged(site.node.args))


@operator("leaves out an argument", ast.Call)
def _fewer_arguments(site: Site) -> Iterator[ast.AST]:
    if len(site.node.args) + is_method(site) > 1:
        yield from (changed(site.node, args=arguments) for arguments in without_each(site.node.args))


@operator("leaves out a keyword", ast.Call)
def _fewer_keywords(site: Site) -> Iterator[ast.AST]:
    yield from (changed(site.node, keywords=keywords) for keywords in without_each(site.node.keywords))


@operator("adds a keyword", ast.Call)
def _more_keywords(site: Site) -> Iterator[ast.AST]:
    name = getattr(site.node.func, "attr", "")
    present = {keyword.arg for keyword in site.node.keywords}
    for names, word, value in (
        (REDUCTIONS, "keepdim", True), ({"Linear", "Conv1d", "Conv2d"}, "bias", False),
        ({"triu", "tril"}, "diagonal", 1), ({"triu", "tril"}, "diagonal", -1), ({"var", "std"}, "correction", 0),
    ):  # fmt: skip
        has_dim = word != "keepdim" or "dim" in present or len(site.node.args) > (not is_method(site))
        if name in names and word not in present and has_dim:
            yield changed(site.node, keywords=[*site.node.keywords, ast.keyword(word, ast.Constant(value))])


@operator("leaves out the call", ast.Call)
def _no_call(site: Site) -> Iterator[ast.AST]:
    if is_method(site):
        yield site.node.func.value
    else:
        yield from (argument for argument in site.node.args if not isinstance(argument, ast.Constant | ast.Starred))


@operator("calls another function", ast.Attribute, ast.Name)
def _other_function(site: Site) -> Iterator[ast.AST]:
    field = "attr" if isinstance(site.node, ast.Attribute) else "id"
    if isinstance(site.parent, ast.Call) and site.parent.func is site.node:
        for name in EXCHANGED_NAMES.get(getattr(site.node, field), ()):
            yield changed(site.node, **{field: name})


@operator("works in place", ast.Attribute)
def _in_place_method(site: Site) -> Iterator[ast.AST]:
    is_called = isinstance(site.parent, ast.Call) and site.parent.func is site.node
    of_name = isinstance(site.node.value, ast.Name) and site.node.value.id in site.names
    if is_called and of_name and site.node.attr in IN_PLACE_METHODS:
        yield changed(site.node, attr=f"{site.node.attr}_")


@operator("reads another attribute", ast.Attribute)
def _other_attribute(site: Site) -> Iterator[ast.AST]:
    node = site.node
    if not (isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name)):
        return
    if node.value.id == "self" and node.attr == "training":
        yield from (ast.UnaryOp(ast.Not(), node), ast.Constant(True), ast.Constant(False))
    elif node.value.id == "self" and node.attr in site.attributes:
        yield from (changed(node, attr=name) for name in site.attributes if name != node.attr)
    elif node.attr in ("T", "mT", "data"):
        yield node.value


@operator("reads another name", ast.Name)
def _other_name(site: Site) -> Iterator[ast.AST]:
    if isinstance(site.node.ctx, ast.Load) and site.node.id in site.names:
        yield from (changed(site.node, id=name) for name in site.names if name not in (site.node.id, "self"))


@operator("exchanges the elements", ast.Tuple, ast.List)
def _other_elements(site: Site) -> Iterator[ast.AST]:
    if not isinstance(site.parent, ast.Compare):  # `in` takes no notice of the order
        yield from (changed(site.node, elts=elements) for elements in exchanged(site.node.elts))


@operator("moves a bound", ast.Slice)
def _other_bounds(site: Site) -> Iterator[ast.AST]:
    lower, upper = site.node.lower, site.node.upper
    yield from (changed(site.node, lower=bound) for bound in (shifted(lower) if lower is not None else ()))
    yield from (changed(site.node, upper=bound) for bound in (shifted(upper) if upper is not None else ()))
    if lower is not None or upper is not None:
        yield changed(site.node, lower=upper, upper=lower)
    is_whole = lower is None and upper is None
    yield changed(site.node, lower=ast.Constant(1) if is_whole else None)
    yield changed(site.node, upper=ast.Constant(-1) if is_whole else None)


@operator("moves an index", ast.Subscript)
def _other_index(site: Site) -> Iterator[ast.AST]:
    if not isinstance(site.node.slice, ast.Slice | ast.Tuple | ast.Compare):
        yield from (changed(site.node, slice=index) for index in shifted(site.node.slice))


@operator("leaves out the index", ast.Subscript)
def _no_index(site: Site) -> Iterator[ast.AST]:
    if isinstance(site.node.ctx, ast.Load):
        yield site.node.value


@operator("moves a bound of the range", ast.Call)
def _other_range(site: Site) -> Iterator[ast.AST]:
    if ast.unparse(site.node.func) in ("range", "torch.arange"):
        for number, argument in enumerate(site.node.args):
            for bound in shifted(argument):
                yield changed(site.node, args=replaced(site.node.args, number, bound))
        if isinstance(site.node.func, ast.Name) and ast.unparse(getattr(site.parent, "target", site.node)) != "_":
            yield ast.Call(ast.Name("reversed", ast.Load()), [site.node], [])


@operator("leaves out the statement", *STATEMENTS)
def _no_statement(site: Site) -> Iterator[ast.AST]:
    yield ast.Pass()


@operator("exchanges break and continue", ast.Break, ast.Continue)
def _other_jump(site: Site) -> Iterator[ast.AST]:
    yield ast.Continue() if isinstance(site.node, ast.Break) else ast.Break()
    yield ast.Pass()


@operator("negates the condition", ast.expr)
def _other_condition(site: Site) -> Iterator[ast.AST]:
    is_test = isinstance(site.parent, ast.If | ast.While | ast.IfExp) and site.parent.test is site.node
    if is_test or _filters_items(site):
        yield ast.UnaryOp(ast.Not(), site.node)


@operator("decides in advance", ast.expr)
def _constant_condition(site: Site) -> Iterator[ast.AST]:
    if isinstance(site.parent, ast.If) and site.parent.test is site.node:
        yield from (ast.Constant(True), ast.Constant(False))
    if _filters_items(site):
        yield ast.Constant(True)
    if isinstance(site.node, ast.IfExp):
        yield from (site.node.body, site.node.orelse)


def _filters_items(site: Site) -> bool:
    return isinstance(site.parent, ast.comprehension) and any(site.node is each for each in site.parent.ifs)


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
                yield ast.Tuple(replaced(site.node.elts, number, method(element, name)), ast.Load())


@operator("cuts the gradient", ast.expr)
def _detached(site: Site) -> Iterator[ast.AST]:
    is_assigned = isinstance(site.parent, ast.Assign | ast.AugAssign) and site.parent.value is site.node
    if is_assigned and not isinstance(site.node, WITHOUT_GRADIENT) and _last_name(site.node) not in NO_GRADIENT:
        yield method(site.node, "detach")


def _last_name(node: ast.expr) -> str:
    """Return the name of the function or attribute that gives an expression its value."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "attr", getattr(node, "id", ""))
