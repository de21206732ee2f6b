"""Builds attacks: defines the small assignment that they attack, and makes an attacker's notebook of it.

SOURCE --hidden tests removed--> RELEASED --answered, instead, first, ...--> the attacker's submission

The assignment has two exercises of five points each: a function `double` and a module `Scale`. Each has a check that
the student sees and two hidden tests. SECRETS are the numbers that occur in hidden tests only,
long enough that no address in memory contains one by chance.
"""

import copy
import re
from textwrap import dedent

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.support import notebooks

SECRETS = ("13297331", "12846173", "15518642", "11039857")

RIGHT_DOUBLE = """
def double(x):
    return 2 * x
"""
RIGHT_SCALE = """
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return x * self.weight
"""
WRONG_DOUBLE = """
def double(x):
    return 0 * x
"""
WRONG_SCALE = """
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()

    def forward(self, x):
        return 0 * x
"""
BLANK = "raise NotImplementedError"

LIMITS = {
    "cell_seconds": 2,
    "notebook_seconds": 20,
    "memory_mb": 512,
    "scratch_mb": 64,
    "output_kb": 100,
    "notebook_mb": 20,
}
"""Short ones, because many attacks try to use up everything."""

REACHED = "REACHED"
"""The word that an attack prints where it got through."""

COURSE = """
import os
from pathlib import Path
courses = [folder / "course" for folder in Path.cwd().parents]
course = next((course for course in courses if (course / "gradebook.db").exists()), courses[1])
"""
"""Finds the course folder as an attacker would who knows its place, if the kernel lets names be looked up."""

SOURCE = notebooks.notebook(
    notebooks.text("# Twice and scaled"),
    notebooks.helpers("imports", "import torch\nfrom torch import nn"),
    notebooks.answer("double", f"### BEGIN SOLUTION{RIGHT_DOUBLE}### END SOLUTION"),
    notebooks.check(
        "double-check",
        "x = torch.tensor([1.0, 2.0])\n"
        'assert torch.allclose(double(x.clone()), 2 * x), f"double(x) must be 2 * x for {x.tolist()}"\n'
        'assert abs(double(1.5) - 3) < 1e-6, "double must work for a number too"',
    ),
    notebooks.hidden(
        "double-test-values",
        "double(x) is 2x for tensors of any shape.",
        "x = torch.tensor([[13297331.0, -1.0], [0.5, 3.0]])\n"
        "torch.testing.assert_close(double(x.clone()), 2 * x)\n"
        "y = torch.randn(3, 2)\n"
        'assert torch.allclose(double(y.clone()), 2 * y), "other numbers go wrong"',
        points=2,
    ),
    notebooks.hidden(
        "double-test-gradient",
        "The gradient of double is 2 everywhere.",
        "x = torch.tensor([12846173.0, -2.0], requires_grad=True)\n"
        "double(x).sum().backward()\n"
        'assert torch.equal(x.grad, torch.tensor([2.0, 2.0])), "the gradient is not 2"',
        points=2,
    ),
    notebooks.text("Now with a parameter."),
    notebooks.answer("scale", f"### BEGIN SOLUTION{RIGHT_SCALE}### END SOLUTION", "without:linear"),
    notebooks.check(
        "scale-check",
        "m = Scale(2)\n"
        "assert torch.allclose(m(torch.tensor([3.0, 4.0])), torch.tensor([3.0, 4.0])), "
        '"a new Scale changes nothing"',
    ),
    notebooks.hidden(
        "scale-test-weight",
        "Scale multiplies by its weight.",
        "m = Scale(3)\n"
        "with torch.no_grad():\n"
        "    m.weight.copy_(torch.tensor([1.0, 15518642.0, -1.0]))\n"
        "x = torch.ones(2, 3)\n"
        'assert torch.allclose(m(x.clone()), x * m.weight), "the weight is not used"\n'
        'assert [name for name, _ in m.named_parameters()] == ["weight"], "there is one parameter, weight"',
        points=2,
    ),
    notebooks.hidden(
        "scale-test-gradient",
        "The weight learns.",
        "m = Scale(1)\n"
        "m(torch.tensor([11039857.0])).sum().backward()\n"
        'assert torch.equal(m.weight.grad, torch.tensor([11039857.0])), "the weight has no right gradient"',
        points=2,
    ),
    notebooks.written("question", "Because 2 is the smallest prime."),
)


def _released(source: NotebookNode) -> NotebookNode:
    """The notebook as students get it, without the hidden tests."""
    released = copy.deepcopy(source)
    for cell in released.cells:
        cell.source = re.sub("### BEGIN HIDDEN TESTS.*### END HIDDEN TESTS", "", cell.source, flags=re.DOTALL)
    return released


RELEASED = _released(SOURCE)


def answered(released: NotebookNode, double: str = RIGHT_DOUBLE, scale: str = WRONG_SCALE) -> NotebookNode:
    """Return an attacker's notebook with these two answers. By default the first is right and the second wrong."""
    return notebooks.answered(released, double=dedent(double), scale=dedent(scale))


def instead(released: NotebookNode, code: str) -> NotebookNode:
    """Return a notebook with an honest first answer; the second is `code`, followed by a wrong Scale."""
    return answered(released, scale=dedent(code) + WRONG_SCALE)


def first(released: NotebookNode, code: str) -> NotebookNode:
    """Return a notebook with two wrong answers that begins with a cell of the student's own with `code`."""
    return inserted(answered(released, double=WRONG_DOUBLE), "import torch\n" + dedent(code), 0)


def inserted(notebook: NotebookNode, code: str, index: int) -> NotebookNode:
    """Return a copy with a code cell of the student's own at `index`."""
    changed = copy.deepcopy(notebook)
    changed.cells.insert(index, new_code_cell(dedent(code)))
    return changed


def appended(notebook: NotebookNode, code: str = "", text: str = "") -> NotebookNode:
    """Return a copy with a code or a text cell of the student's own at its end."""
    changed = copy.deepcopy(notebook)
    changed.cells.append(new_markdown_cell(text) if text else new_code_cell(dedent(code)))
    return changed


def asking(notebook: NotebookNode, count: int) -> NotebookNode:
    """Return a copy with cells of the student's own that hold the numbers below `count`, see `number_of`."""
    for number in range(count):
        notebook = appended(notebook, str(number))
    return notebook


def trying(*statements: str, setup: str = "") -> str:
    """Return code that runs each statement, whether those before it failed or not, and prints which got through.

    Args:
        statements: the attempts.
        setup: code that runs before them.
    """
    return f"""{dedent(setup)}
for statement in {[dedent(statement) for statement in statements]!r}:
    try:
        exec(statement, globals())
    except BaseException:
        continue
    print({REACHED!r}, statement)
"""


def calling(*calls: tuple) -> str:
    """Return code that calls C functions by name, or system calls by number, and prints which did not fail."""
    return f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, *arguments in {list(calls)!r}:
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    call = libc.syscall if isinstance(name, int) else getattr(libc, name)
    call.restype = ctypes.c_long
    if call(*([ctypes.c_long(name)] if isinstance(name, int) else []), *arguments) not in (-1, 0xFFFFFFFF):
        print({REACHED!r}, name)
"""


def on_channel(code: str) -> str:
    """Return code with the sandbox's end of the channel at hand, as an attacker who knows our protocol would find it.

    `channel`, `server` and the socket `line` are those of the student's process; `protocol` and `handles` define every
    message. `raw(text, tensors)` makes a message of any text in place of its JSON, and of any bytes in place of its
    tensors; `odd(content)` makes one whose JSON holds `content`, whatever the protocol says of it. After
    `answer_by(function)`, `function(request, decoded)` returns the reply to every later request: either bytes that
    `raw` or `odd` made, which go onto the socket as they are, or a message and its tensors. A sandbox that is lost
    comes back without a memory of its replies, so the request must say which one comes next: `number_of(request)` is
    the number that a cell of `asking` holds, and 0 for all other requests.
    """
    return f"""
import gc, json, struct, sys, torch
from grader.engine.rpc import protocol
from grader.engine.rpc.channel import Channel
from grader.engine.rpc.objects import handles
from grader.engine.sandbox.server import RpcServer
channel = next(item for item in gc.get_objects() if type(item) is Channel)
server = next(item for item in gc.get_objects() if type(item) is RpcServer)
line = channel._socket

def raw(text, tensors=b""):
    return struct.pack(">II", len(text), len(tensors)) + text + tensors

def odd(content):
    return raw(json.dumps([content, []]).encode())

def number_of(request):
    source = getattr(request, "source", "")
    return int(source) if source.isdecimal() else 0

def answer_by(function):
    encode_and_send = channel.send

    def answer(request, decoded):
        reply = function(request, decoded)
        return (reply, None) if isinstance(reply, bytes) else reply

    def send(reply, tensors):
        line.sendall(reply) if isinstance(reply, bytes) else encode_and_send(reply, tensors)

    server.answer, channel.send = answer, send

{dedent(code)}
"""
