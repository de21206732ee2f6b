"""Mutants: every operator makes the edits that it is named after, and every mutant is another program."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.commands.prove.mutation import difference, mutants, program
from grader.commands.prove.operators import OPERATORS

BLANK = """def f(x, y, dim=-1):
    ### BEGIN SOLUTION
{body}
    ### END SOLUTION
"""
LAYER = """class Layer(nn.Module):
    def __init__(self):
        self.first, self.second = 1, 2

    def forward(self, x):
        ### BEGIN SOLUTION
        {body}
        ### END SOLUTION
"""
MESSAGE = 'raise ValueError(f"{n + 1} is not {x}")'
EXAMPLES = {
    "exchanges the operator": ("return x + y", {"return x - y", "return x * y"}),
    "exchanges the operands": ("return x @ y", {"return y @ x"}),
    "leaves out an operand": ("return x / math.sqrt(y)", {"return x", "return math.sqrt(y)"}),
    "works in place": ("return x + y, x.clamp(0)", {"return x.add_(y), x.clamp(0)", "return x + y, x.clamp_(0)"}),
    "assigns instead of adding up": ("x += y", {"x = y"}),
    "exchanges the comparison": ("return x < y", {"return x <= y", "return x > y", "return x >= y"}),
    "exchanges and with or": ("return x and y", {"return x or y"}),
    "leaves out a condition": ("return x and y", {"return x", "return y"}),
    "drops the sign": ("return -x, ~y", {"return x, ~y", "return -x, y"}),
    "changes the number": ("return x[3]", {f"return x[{number}]" for number in (0, 1, -1, 4, 2, 6)}),
    "flips the constant": ("return x.sum(keepdim=True)", {"return x.sum(keepdim=False)"}),
    "permutes the letters of einsum": (
        "return torch.einsum('ij,jk->ik', x, y)",
        {f"return torch.einsum('{letters}', x, y)" for letters in ("ji,jk->ik", "ij,kj->ik", "ij,jk->ki")},
    ),
    "replaces infinity": (
        "return x.masked_fill(y, -math.inf)",
        {f"return x.masked_fill(y, {value})" for value in ("-1000000000.0", "1e-09", "0.0")},
    ),
    "inverts the mask": ("return x.masked_fill(y, 0)", {"return x.masked_fill(~y, 0)"}),
    "exchanges the arguments": ("return torch.stack(x, y)", {"return torch.stack(y, x)"}),
    "leaves out an argument": ("return torch.stack(x, y)", {"return torch.stack(y)", "return torch.stack(x)"}),
    "leaves out a keyword": (
        "return x.sum(dim=0, keepdim=True)",
        {"return x.sum(keepdim=True)", "return x.sum(dim=0)"},
    ),
    "adds a keyword": (
        "return x.sum(0), x.triu()",
        {
            "return x.sum(0, keepdim=True), x.triu()",
            "return x.sum(0), x.triu(diagonal=1)",
            "return x.sum(0), x.triu(diagonal=-1)",
        },
    ),
    "leaves out the call": (
        "return F.relu(x).transpose(0, 1)",
        {"return x.transpose(0, 1)", "return F.relu(x)"},
    ),
    "calls another function": ("return x.softmax(1)", {"return x.log_softmax(1)"}),
    "reads another name": ("return x", {"return y", "return dim"}),
    "exchanges the elements": ("return x, y", {"return y, x"}),
    "moves a bound": (
        "return x[y:]",
        {"return x[y + 1:]", "return x[y - 1:]", "return x[:y]", "return x[:]"},
    ),
    "moves an index": ("return x[y]", {"return x[y + 1]", "return x[y - 1]"}),
    "leaves out the index": ("return x[0]", {"return x"}),
    "moves a bound of the range": (
        "return range(y)",
        {"return range(y + 1)", "return range(y - 1)", "return reversed(range(y))"},
    ),
    "leaves out the statement": ("x = x * y", {"pass"}),
    "exchanges break and continue": ("for y in x:\n        break", {"continue", "pass"}),
    "negates the condition": ("return x if y else dim", {"return x if not y else dim"}),
    "decides in advance": ("return x if y else dim", {"return x", "return dim"}),
    "skips an item": ("return [1 for y in x]", {"return [1 for y in list(x)[1:]]", "return [1 for y in list(x)[:-1]]"}),
    "returns another value": ("return x + y", {"return x", "return y", "return dim"}),
    "converts the value": ("return x", {f"return x.{name}()" for name in ("detach", "float", "double", "half")}),
    "converts an element": (
        "return x, y",
        {
            *(f"return x.{name}(), y" for name in ("detach", "float", "double", "half")),
            *(f"return x, y.{name}()" for name in ("detach", "float", "double", "half")),
        },
    ),
    "cuts the gradient": ("y = x * 2", {"y = (x * 2).detach()"}),
}
"""For each operator a line, and the lines that it makes of it where no operator before it makes the same."""


def lines(answer: str, operator: str) -> set[str]:
    """The changed lines that an operator makes of an answer."""
    edits = [mutant.edit for mutant in mutants(answer) if mutant.operator == operator]
    return {line.removeprefix("+ ") for edit in edits for line in edit.splitlines() if line.startswith("+ ")}


def test_an_operator_makes_the_edits_of_its_name() -> None:
    """All of them, and no others, unless an earlier operator made the edit; every operator has an example."""
    assert {name for name, _, _ in OPERATORS} == EXAMPLES.keys() | {"reads another attribute"}
    for operator, (line, expected) in EXAMPLES.items():
        answer = BLANK.format(body="    " + line)
        earlier = {mutant.edit.split("+ ")[-1] for mutant in mutants(answer) if mutant.operator != operator}
        found = lines(answer, operator)
        assert found <= expected and expected - found <= earlier, operator


def test_attributes_of_self_are_exchanged() -> None:
    """Only for those that the class assigns; `training` is read wrongly in three ways."""
    answer = LAYER.format(body="return self.first(x)")
    assert lines(answer, "reads another attribute") == {"return self.second(x)"}
    answer = LAYER.format(body="return self.training")
    assert lines(answer, "reads another attribute") == {"return not self.training", "return True", "return False"}


def test_an_edit_means_what_it_says() -> None:
    """An expression gets parentheses where it needs them, and has none where it does not. A letter may be two bytes."""
    answer = "def f(a, b):\n    return 2 * max(a + b) - g((a, b))"
    edits = lines(answer, "leaves out the call")
    assert edits == {"return 2 * (a + b) - g((a, b))", "return 2 * max(a + b) - (a, b)"}
    assert lines(answer, "exchanges the elements") == {"return 2 * max(a + b) - g((b, a))"}
    assert "return 'ä', x * y" in lines("def f(x, y):\n    return 'ä', x + y", "exchanges the operator")


def test_only_what_students_write_is_changed() -> None:
    """Neither the signature, nor the documentation, nor the text of a message; without marks, all of a body."""
    marked = 'def f(x, n=3):\n    """Return 2."""\n    n = n + 5\n    ### BEGIN SOLUTION\n    x = x * 7\n'
    marked += f"    {MESSAGE}\n    ### END SOLUTION\n    return x - 9\n"
    unchanged = [line for line in marked.splitlines() if line.strip() not in ("x = x * 7", MESSAGE)]
    for mutant in mutants(marked):
        assert [line for line in mutant.text.splitlines() if line in unchanged] == unchanged
        assert MESSAGE in mutant.text or mutant.edit == f"- {MESSAGE}\n+ pass"
    unmarked = "def f(x):\n    y = x * 7\n    return y"
    assert {mutant.line for mutant in mutants(unmarked)} == {2, 3}


def test_what_is_known_is_no_mutant() -> None:
    """Neither a known mistake nor a right answer in another style, however it is laid out."""
    answer = BLANK.format(body="    return x + y")
    known = answer.replace("x + y", "(x\n        - y)  # as in the paper")
    every, rest = mutants(answer), mutants(answer, [known])
    assert {mutant.edit for mutant in every} - {mutant.edit for mutant in rest} == {"- return x + y\n+ return x - y"}


def test_a_name_is_exchanged_for_names_that_have_a_value() -> None:
    """Parameters, and locals that are bound above; a variable of a comprehension inside it only."""
    answer = "def f(x, *rest):\n    y = x\n    z = [x for each in rest]\n    return y"
    assert lines(answer, "reads another name") == {
        "y = rest", "z = [rest for each in rest]", "z = [y for each in rest]", "z = [each for each in rest]",
        "z = [x for each in x]", "z = [x for each in y]", "z = [x for each in each]",
        "return x", "return rest", "return z",
    }  # fmt: skip


def test_a_difference_shows_lines_without_their_comments() -> None:
    """With a sign, and the number of the first one."""
    assert difference("a\nb  # (B,)\nc", "a\nd  # (B,)\nc") == (2, "- b\n+ d")
    assert difference("a\nb\nc\nb", "a\nb") == (3, "- c\n- b") and difference("a", "a")[1] == ""
    assert difference("    x = '#'\n", "    x = 1\n") == (1, "- x = '#'\n+ x = 1")


NAMES = st.sampled_from(["x", "y", "self.a", "torch.inf"])
EXPRESSIONS = st.recursive(
    NAMES | st.integers(-3, 3).map(str) | st.sampled_from(["True", "None", "'mean'", "-1.5", "[1, 2]"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+ - * / // % ** @ < == and or".split()), inner),
        st.builds("torch.{}({}, dim={})".format, st.sampled_from(["sum", "softmax", "triu"]), inner, inner),
        st.builds("({}).{}({}, {})".format, inner, st.sampled_from(["transpose", "masked_fill"]), inner, inner),
        st.builds("({})[{}:, {}]".format, inner, inner, inner),
        st.builds("[{} for z in {} if {}]".format, inner, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("(lambda z: {})".format, inner),
        st.builds("({}, {})".format, inner, inner),
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    st.builds("y = {}".format, EXPRESSIONS),
    st.builds("y += {}".format, EXPRESSIONS),
    st.builds("for i in range({}):\n        y = {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("if {}:\n        raise ValueError(f'{{x}}')".format, EXPRESSIONS),
    st.builds("return {}".format, EXPRESSIONS),
)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(STATEMENTS, min_size=1, max_size=3))
def test_every_mutant_is_another_program(statements: list[str]) -> None:
    """It is Python, no two are the same, and its edit is its difference from the answer."""
    answer = BLANK.format(body="\n".join(f"    {statement}" for statement in statements))
    found = mutants(answer)
    programs = [program(mutant.text) for mutant in found]
    assert None not in programs and len({*programs, program(answer)}) == len(found) + 1
    assert all((mutant.line, mutant.edit) == difference(answer, mutant.text) for mutant in found)
    assert mutants(answer) == found
