"""Shows that AUTOTEST lines are graded as nbgrader instantiates them, or refused with cell, line and reason.

The assignment is nbgrader's own example `ps1_autotest` in other words; tests/foreign grades the original.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from traitlets.config import Config

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import release
from grader.classroom.source import autotests
from grader.classroom.source.basis import Basis
from grader.classroom.source.inputs import Inputs
from grader.classroom.source.sources import read_source
from grader.classroom.student import Assignment, load_assignment
from grader.errors import GraderError
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook
from tests.support.small_class import run

pytestmark = pytest.mark.slow

NAME = "ps1"
CONFIG = """
from pathlib import Path
from grader import nbgrader_plugin
c = get_config()
nbgrader_plugin.configure(c, root=Path(__file__).parent)
c.CourseDirectory.course_id = "auto"
"""
TEMPLATES = """
python3:
    setup: "from hashlib import sha1"
    hash: 'sha1({{snippet}}.encode("utf-8")+b"{{salt}}").hexdigest()'
    dispatch: "type({{snippet}})"
    normalize: "str({{snippet}})"
    check: 'assert {{snippet}} == \"\"\"{{value}}\"\"\", \"\"\"{{message}}\"\"\"'
    success: "print('Success!')  # of AUTOTEST"
    templates:
        default:
            - test: "type({{snippet}})"
              fail: "{{snippet}} has another type"
            - test: "{{snippet}}"
              fail: "{{snippet}} has another value"
"""
POWERS = '''def powers(n):
    """Return the squares of 1 to n."""
    ### BEGIN SOLUTION
    if n < 1:
        raise ValueError("n is 1 or more")
    return [i * i for i in range(1, n + 1)]
    ### END SOLUTION'''
SUMMED = '''def summed(n):
    """Return the sum of the squares of 1 to n."""
    ### BEGIN SOLUTION
    return sum(powers(n))
    ### END SOLUTION'''
RAISES = """def raises(call, error):
    try:
        call()
    except error:
        return True
    return False
"""
SOURCE = notebook(
    helpers("imports", "import math"),
    answer("powers", POWERS),
    code("powers(10)"),
    check("right-powers", '"""powers is right."""\n### AUTOTEST powers(1); powers(2)\n### HASHED AUTOTEST powers(3)'),
    check("refused-powers", f"{RAISES}\n### AUTOTEST raises(lambda: powers(0), ValueError)"),
    answer("summed", SUMMED),
    hidden("right-sum", "summed is right.", "### AUTOTEST summed(1)\n### AUTOTEST summed(2); summed(10)", points=0.5),
    check("sum-calls", "### AUTOTEST raises(lambda: summed(0), ValueError)", points=0.5),
)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache for each test, in the process and on the disk."""
    monkeypatch.setattr(autotests, "_known", {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course folder with the source; not released yet."""
    folder = tmp_path / "course"
    (folder / "source" / NAME).mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(CONFIG)
    (folder / "autotests.yml").write_text(TEMPLATES)
    write(folder, SOURCE)
    return folder


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that this process starts from now on."""
    started = list[str]()
    start = autotests.start_new_kernel

    def counted(kernel_name: str, **options: object) -> object:
        started.append(kernel_name)
        return start(kernel_name=kernel_name, **options)

    monkeypatch.setattr(autotests, "start_new_kernel", counted)
    return started


def write(course: Path, source: NotebookNode) -> Path:
    """Write the source of the assignment, and return its path."""
    path = course / "source" / NAME / "problem.ipynb"
    nbformat.write(source, path)
    return path


def read(course: Path) -> NotebookNode:
    """Return the source as students are graded with it."""
    return read_source(course / "source" / NAME / "problem.ipynb", 20, CourseDir(course).config)


def test_the_tests_that_run_are_those_that_were_released(course: Path, kernels: list[str]) -> None:
    """They are made once: our solution runs in one kernel for release, grading and every later command."""
    release(CourseDir(course), NAME)
    released = nbformat.read(course / "release" / NAME / "problem.ipynb", as_version=4)
    texts = {cell.source.partition("\n")[2] for cell in released.cells}
    made = read(course)
    assert all(made.cells[number].source in texts for number in (3, 4, 7))
    assert "sha1" in made.cells[3].source and "### AUTOTEST" not in nbformat.writes(made)
    autotests._known.clear()
    load_assignment(CourseDir(course), NAME, sandbox=True)
    assert kernels == ["python3"]


@pytest.mark.parametrize(
    "change",
    [
        lambda course: write(course, answered(SOURCE, imports="import math\nmath.pi")),
        lambda course: (course / "autotests.yml").write_text(TEMPLATES.replace("another", "a different")),
        lambda course: (course / "source" / NAME / "autotests.yml").write_text(TEMPLATES),
        lambda course: (course / "source" / NAME / "data.csv").write_text("1,2"),
    ],
)
def test_what_a_test_depends_on_makes_it_again(
    course: Path, kernels: list[str], change: Callable[[Path], object]
) -> None:
    """The notebook, the templates, and every file beside the notebook."""
    read(course)
    change(course)
    read(course)
    assert len(kernels) == 2


def basis(assignment: Assignment) -> Basis:
    """Return what scores in an assignment depend on besides submissions."""
    return Inputs.of(assignment, Config(), None, {}).basis("ann")


def test_only_what_is_in_source_decides_about_grading_again(course: Path, cache: Path) -> None:
    """A value that is another one in each kernel changes the tests if the cache is lost, and regrades no one."""
    write(course, answered(SOURCE, imports="import os", **{"sum-calls": "### AUTOTEST os.getpid()"}))
    first = load_assignment(CourseDir(course), NAME, sandbox=True)
    shutil.rmtree(cache)
    autotests._known.clear()
    second = load_assignment(CourseDir(course), NAME, sandbox=True)
    assert first.sources != second.sources and basis(first) == basis(second)
    (course / "autotests.yml").write_text(TEMPLATES.replace("another", "a different"))
    assert basis(load_assignment(CourseDir(course), NAME, sandbox=True)) != basis(first)


def broken(**cells: str) -> NotebookNode:
    """Return the source with other text in some cells."""
    return answered(SOURCE, **{name.replace("_", "-"): text for name, text in cells.items()})


REFUSED: dict[str, tuple[NotebookNode | str | None, str]] = {
    "unknown name": (broken(right_powers="x = 1\n### AUTOTEST powers(1)\n### AUTOTEST cubes(1)"),
                     "right-powers, line 3: .*NameError: name 'cubes' is not defined"),
    "raises": (broken(sum_calls="### AUTOTEST summed(0)"), "sum-calls, line 1: .*ValueError: n is 1 or more"),
    "own code": (broken(refused_powers="### AUTOTEST 1\nx = 2\n1 / 0"), "refused-powers, line 3: .*ZeroDivisionError"),
    "above": (broken(imports="import math\nimport no_such_module"), "imports, line 2: .*ModuleNotFoundError"),
    "no test": (broken(imports="# AUTOTEST 1"), "imports, line 1: .*only in test cells"),
    "empty": (broken(sum_calls="# nothing\n### AUTOTEST ;"), "sum-calls, line 2: .*names nothing to test"),
    "other kernel": (NotebookNode(SOURCE, metadata={"kernelspec": {"name": "ir-2", "display_name": "R"}}),
                     "right-powers, line 2: .*[Kk]ernel.*ir-2"),
    "no templates": (None, "right-powers, line [23]: .*there is no autotests.yml"),
    "broken templates": ("python3: [", "right-powers, line [23]: .*parsing"),
    "no dispatch": (TEMPLATES.replace("dispatch", "dispatched"),
                    r"right-powers, line [23]: .*autotests\.yml has no 'dispatch'"),
    "no default": (TEMPLATES.replace("default", "list"), r"right-powers, line [23]: .*autotests\.yml has no 'default'"),
    "no hash": (TEMPLATES.replace("    hash:", "    hashed:"),
                "right-powers, line [23]: .*hash property has not been set"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_made_a_test_is_refused_in_one_line(course: Path, what: str) -> None:
    """With the file, the first cell, its line and the reason, before anything is released or graded."""
    broken_part, words = REFUSED[what]
    if isinstance(broken_part, NotebookNode):
        write(course, broken_part)
    elif broken_part is None:
        (course / "autotests.yml").unlink()
    else:
        (course / "autotests.yml").write_text(broken_part)
    for act in (
        lambda: release(CourseDir(course), NAME),
        lambda: load_assignment(CourseDir(course), NAME, sandbox=True),
    ):
        with pytest.raises(GraderError, match=f"^source/{NAME}/problem.ipynb: {words}") as error:
            act()
        assert "\n" not in str(error.value)
    assert not (course / "release").exists()


def test_a_bad_assignment_stops_the_release_of_no_other(course: Path) -> None:
    """Each bad one has its line on standard error, and the exit status is 1."""
    for name, source in {
        "a": notebook(check("t-check", "# to come")),
        "b": notebook(answer("f", "f = 1"), check("f-check", "assert f")),
        "c": notebook(check("u-check", "assert (")),
    }.items():
        (course / "source" / name).mkdir()
        nbformat.write(source, course / "source" / name / "one.ipynb")
    shutil.rmtree(course / "source" / NAME)
    done = run(course, "grader", "release")
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["released release/b"]
    assert [line.split(":")[:2] for line in done.stderr.splitlines()] == [
        ["grader", " source/a/one.ipynb"],
        ["grader", " source/c/one.ipynb"],
    ]
