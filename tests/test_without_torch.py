"""A course that never mentions torch is graded without it, alike where it is installed and where it is not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.classroom.config import course_needs_torch, load_config
from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.engine.torch_use import WITHOUT_TORCH, needs_torch
from tests.support import plain_course
from tests.support.notebooks import notebook, text
from tests.support.paths import REPOSITORY
from tests.support.plain_course import ASSIGNMENT, HANDED_IN, INSTALLED, SOURCE, run
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

POINTS = {student: points for student, (_, points) in HANDED_IN.items()}


@pytest.fixture(scope="module")
def without_torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment in which torch is not installed."""
    return plain_course.environment_without_torch(tmp_path_factory.mktemp("environment") / "venv")


def points(course: Path) -> dict[str, float]:
    """Each student's points in the gradebook."""
    return {name: score.total.tests for name, score in read_ledger(CourseDir(course), ASSIGNMENT).by_student.items()}


def test_a_course_in_plain_python_needs_no_torch(without_torch: Path, tmp_path: Path) -> None:
    """Each command of the grader works in an environment that lacks it; the doctor says if a course needs it."""
    course = plain_course.make(tmp_path / "course")
    done = run(without_torch, course, "grader", "release", ASSIGNMENT)
    assert done.returncode == 0, done.stderr
    done = run(without_torch, course, "grader", "grade", ASSIGNMENT)
    assert (done.returncode, done.stderr) == (0, "") and points(course) == POINTS
    done = run(without_torch, course, "grader", "check", f"submitted/bob/{ASSIGNMENT}/plain.ipynb", "--trust")
    assert "1 of 3 points" in done.stdout and "Not the largest of" in done.stdout, done.stderr
    done = run(without_torch, course, "grader", "check", f"submitted/eve/{ASSIGNMENT}/plain.ipynb")
    assert "No module named 'torch'" in " ".join(done.stdout.split()), done.stderr
    done = run(without_torch, course, "grader", "prove", "--draws", "2")
    assert done.returncode == 0 and "The tests find all that is wrong" in done.stdout, done.stdout + done.stderr
    done = run(without_torch, course, "grader", "doctor")
    assert done.returncode == 0 and "torch is not installed, and this course does without." in done.stdout
    mentions = notebook(text("Unlike torch, Python has lists."), *SOURCE.cells)
    plain_course.write(mentions, course / "source" / ASSIGNMENT)
    done = run(without_torch, course, "grader", "doctor")
    assert "this course needs it: pip install 'confined-grader[torch]'" in " ".join(done.stdout.split())


def test_the_plug_in_needs_no_torch(without_torch: Path, tmp_path: Path) -> None:
    """`nbgrader autograde` gives the same points as `grader grade`."""
    course = plain_course.make(tmp_path / "course")
    assert run(without_torch, course, "nbgrader", "generate_assignment", ASSIGNMENT).returncode == 0
    done = run(without_torch, course, "nbgrader", "autograde", ASSIGNMENT)
    assert done.returncode == 0 and points(course) == POINTS, done.stderr


def test_a_tensor_is_no_answer_where_torch_is_installed(tmp_path: Path) -> None:
    """The import works, although no process had loaded torch, and the points are the same."""
    course = plain_course.make(tmp_path / "course")
    assert run(INSTALLED, course, "grader", "release", ASSIGNMENT).returncode == 0
    assert run(INSTALLED, course, "grader", "grade", ASSIGNMENT).returncode == 0
    assert points(course) == POINTS
    page = (course / f"feedback/eve/{ASSIGNMENT}/plain.html").read_text()
    assert "a torch.Tensor came back" in page and "No module named" not in page


PROGRAM = """
import sys
from nbformat.v4 import new_code_cell, new_notebook
from grader.engine.grading import grade
from grader.engine.supervisor import forkserver, pool
from tests.support.plain_course import SOURCE
from tests.support.notebooks import answer, check, notebook

MAPS = "loaded = 'libtorch' in open('/proc/self/maps').read()"

def mapped(pid):
    return "libtorch" in open(f"/proc/{pid}/maps").read()

def servers():
    return {has: mapped(server._forkserver_pid) for has, server in forkserver._servers.items()}

def runners():
    return [mapped(runner.process.pid) for runner in pool._idle]

TENSORS = notebook(
    answer("twice", "import torch\\ndef twice(x):\\n    return 2 * x"),
    check("twice-check", "assert torch.equal(twice(torch.ones(2)), torch.full((2,), 2.0))"),
)
print(grade(SOURCE, SOURCE).points, servers(), runners())
print(grade(TENSORS, TENSORS).points, servers(), runners())
print(grade(SOURCE, SOURCE).points, servers(), runners())
"""


def test_torch_is_loaded_when_the_first_notebook_needs_it() -> None:
    """In one process: not for a plain notebook, then for one with tensors, whose runner then grades a plain one."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=REPOSITORY, capture_output=True, text=True, timeout=HANGS, check=True
    )
    assert done.stdout.splitlines() == [
        "3.0 {False: False} [False]",
        "1.0 {False: False, True: True} [False, True]",
        "3.0 {False: False, True: True} [False, True]",
    ]


ARRAYS = """
import numpy as np
from nbformat.v4 import new_notebook
from grader.engine.grading import grade
from grader.engine.supervisor import forkserver
from tests.support.notebooks import answer, check, helpers, notebook

ANSWERS = '''
import numpy as np
def same(x): return x
def doubled(x): return x * 2
def cleared(x): x[...] = 0
def called(f): return f(np.arange(3.0))
'''
CHECKS = [
    '''
for name in "complex128 complex64 float64 float32 float16 int64 int32 int8 bool uint64 uint16 uint8 <U3 M8[D]".split():
    for shape in ((), (0,), (3,), (2, 3), (2, 0, 3), (1, 1), (2, 3, 4)):
        x = np.array(np.arange(int(np.prod(shape))).reshape(shape) % 2).astype(name)
        y = same(x)
        assert type(y) is type(x) and y.dtype == x.dtype and y.shape == x.shape and np.array_equal(x, y), (name, shape)
''',
    '''
base = np.arange(24.0).reshape(2, 3, 4)
z = np.eye(3) + 1j
views = base.T, base[:, ::2], base[::-1], base[:, :, 1], np.broadcast_to(np.arange(3.0), (2, 3)), z.T, z[::2], z.real
for x in views:
    assert np.array_equal(same(x), x) and np.array_equal(doubled(x), x * 2)
''',
    "x = np.ones((4, 4))\\nview = x[::2, ::2]\\ncleared(view)\\nassert x.sum() == 12 and not view.any()",
    "x = np.ones(2)\\nx.flags.writeable = False\\ncleared(x)",
    "assert called(lambda x: x.sum()) == 3",
    "assert np.array_equal(doubled(np.arange(3)), [0, 2, 5])",
]
cells = [check(f"check-{number}", source) for number, source in enumerate(CHECKS)]
source = notebook(helpers("imports", f"import numpy as np\\n{'# torch' * TORCH}"), answer("all", ANSWERS), *cells)
report = grade(source, source)
print(*(result.verdict for result in report.results), [*forkserver._servers])
for result in report.results:
    print(result.message, result.fingerprint)
"""


def test_arrays_cross_without_torch_as_with_it(without_torch: Path) -> None:
    """Of all dtypes, shapes and strides, with writes; a wrong one fails alike, with the same fingerprint."""
    said = []
    for program, with_torch in ((without_torch / "python", False), (sys.executable, False), (sys.executable, True)):
        command = [program, "-c", f"TORCH = {with_torch}\n{ARRAYS}"]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=HANGS)
        assert done.returncode == 0, done.stderr
        verdicts, _, rest = done.stdout.partition("\n")
        assert verdicts == f"passed passed passed error passed failed [{with_torch}]", done.stdout
        said.append(re.sub(r"0x\w+", "", rest))
    assert said[0] == said[1] == said[2] and "Fingerprint(" in said[0]


def test_in_doubt_a_course_needs_torch() -> None:
    """Where the text mentions it, and where it imports a library that names torch among its requirements."""
    for source in (
        "import torch",
        "from torchvision import models",
        "Unlike PyTorch and torch, NumPy has no gradients.",
        "import numpy, safetensors",  # which can use torch, as its metadata say
        "    from confined_grader import nothing",
    ):
        assert needs_torch(["x = 1", source]), source
    for source in ("", "import numpy as np, math", "from no_such_library import x", "safetensors"):
        assert not needs_torch([source], ("grader_kernel", "json")), source


def test_a_helper_package_or_module_that_mentions_torch_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that the configuration names, and a module beside a source; students' files do not count."""
    course = plain_course.make(tmp_path / "course")
    (course / "submitted/ann" / ASSIGNMENT / "helper.py").write_text("import torch\n")
    assert not course_needs_torch(course, load_config(course))
    module = course / "source" / ASSIGNMENT / "tools.py"
    module.write_text("import torch\n")
    assert course_needs_torch(course, load_config(course))
    module.unlink()
    (tmp_path / "packages/a_helper_with_tensors").mkdir(parents=True)
    (tmp_path / "packages/a_helper_with_tensors/__init__.py").write_text("import torch\n")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("c.Grader.helper_packages = ['a_helper_with_tensors']\n")
    assert course_needs_torch(course, load_config(course))


HOSTILE = """
import msgspec, numpy
from grader.engine.rpc.channel import FROM_SANDBOX, decode, encode
from grader.engine.rpc.message import *
from grader.engine.rpc.objects.handles import *
from grader.engine.rpc.protocol import *
from grader.engine.runner.standins.client import RpcClient
from grader.engine.runner.standins.proxies import Verb
from grader.engine.torch_if_used import USES_TORCH, torch

assert not USES_TORCH
STATE = torch.from_numpy(numpy.zeros(5056, numpy.uint8))
PART = PartDescription("", 0, "Linear", "Linear", True, [])
MODULE = msgspec.to_builtins(ModuleHandle(object_id=0, name="Linear", parts=[PART]))

class Sandbox:
    def __init__(self, reply):
        self.reply = reply

    def send(self, message, tensors):
        encode(message, tensors)

    def receive(self):
        return decode(encode(self.reply, [STATE]), FROM_SANDBOX)

def answer(**reply):
    return RpcClient(Sandbox(Returned(**reply))).call(Verb.GET, (numpy.zeros(2), "x"), {})

assert answer(value=3) == 3 and answer(value={"array": [0, True]}).shape == (5056,)
tensor = {"tensor": 0}
for reply in (
    {"value": {"handle": MODULE}},
    {"value": tensor, "leaves": [(0, True, True)]},
    {"value": tensor, "leaves": [(0, False, True)]},
    {"value": tensor, "differentiable": [0]},
    {"value": None, "grown": [(0, ["weight"])]},
    {"value": None, "effects": Effects(random=0)},
    {"value": None, "effects": Effects(generators=[0])},
    {"value": None, "effects": Effects(gradients=[(0, 0)])},
    {"value": None, "effects": Effects(written=[(1, 0)])},
    {"value": None, "effects": Effects(modules=[(0, ModuleChanges(training=[("", True)]))])},
):
    try:
        answer(**reply)
    except ProtocolError:
        print("refused")
    else:
        print("accepted", reply)
try:
    answer(value=tensor).sum()
except ProtocolError:
    print("refused")
"""


def test_a_message_about_torch_breaks_the_protocol() -> None:
    """A sandbox may send anything. What only a process with torch can take is refused, and raises nothing else."""
    environment = {**os.environ, WITHOUT_TORCH: "1"}
    command = [sys.executable, "-c", HOSTILE]
    done = subprocess.run(command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, timeout=HANGS)
    assert (done.stderr, done.stdout.split("\n")) == ("", ["refused"] * 11 + [""])
