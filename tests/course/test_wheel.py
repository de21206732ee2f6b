"""Each wheel holds one package: those for students run the released notebooks, and the grader's grades any course."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Collection
from importlib.metadata import distribution, distributions, packages_distributions
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.paths import GRADER, IMPORTED_FROM, KERNEL, REPOSITORY
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

DATA = {"course": ["alice.txt"], "grader": ["py.typed"]}
"""Package -> files of it that are none of modules, templates and widgets."""
RELEASED = sorted(REPOSITORY.glob("release/**/*.ipynb"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
COMMANDS, TABLE, CONFIGURATION = (block for _, block in BLOCK.findall((GRADER / "README.md").read_text()))
"""The grader's README: two commands, what the second one prints, and the lines that connect a course."""
INSTALL, GRADE = COMMANDS.splitlines()
TINY_COURSE = Path("packages/grader/examples/tiny-course")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What `make wheel` writes, by package, in a copy of the repository where an older build left a module."""
    repository = tmp_path_factory.mktemp("repository")
    for file in ("LICENSE", "Makefile", "README.md", "pyproject.toml"):
        shutil.copy(REPOSITORY / file, repository)
    for folder in ("course", "packages", "source", "release", "examples", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(REPOSITORY / folder, repository / folder, ignore=ignored)
    for build in ("build/lib/course", "packages/grader/build/lib/grader"):
        (repository / build).mkdir(parents=True)
        (repository / build / "gone.py").touch()
    # The environment of these tests is ready, even if it was not made by make.
    make = ["make", "wheel", f"VENV={sys.prefix}", f"--old-file={sys.prefix}/ready"]
    subprocess.run(make, cwd=repository, check=True, timeout=HANGS)
    names = {"attention_seminar": "course", "confined_grader": "grader", "grader_kernel": "grader_kernel"}
    return {names[path.name.split("-")[0]]: path for path in repository.glob("dist/*")}


@pytest.fixture(scope="module")
def student(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with both wheels for students and their requirements, and nothing else."""
    return environment(tmp_path_factory.mktemp("student"), wheels["grader_kernel"], wheels["course"])


@pytest.fixture(scope="module")
def instructor(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment after the first command of the grader's README, with wheels in place of folders."""
    _pip, _install, *folders = shlex.split(INSTALL)
    chosen = [Requirement(Path(folder).name) for folder in folders]
    found = [wheels[each.name.replace("-", "_")] for each in chosen]
    return environment(tmp_path_factory.mktemp("instructor"), *found, extras=chosen[-1].extras)


@pytest.fixture
def tiny_course(tmp_path: Path) -> Path:
    """The course that the grader's README grades, in a copy of the folders above it."""
    return Path(shutil.copytree(REPOSITORY / TINY_COURSE, tmp_path / TINY_COURSE))


def environment(folder: Path, *wheels: Path, extras: Collection[str] = ()) -> Path:
    """Make an environment from wheels, the last of which requires the others; return its Python.

    Args:
        folder: the folder of the environment.
        wheels: what pip installs. Their requirements are links to what these tests run with.
        extras: those of the last wheel.
    """
    python, requirements = folder / "bin/python", folder / "requirements"
    venv.create(folder)
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*install, *wheels], check=True, timeout=HANGS)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    requirements.mkdir()
    # Links instead of copies: torch is large, and is already on this machine.
    for name in required(wheels[-1], extras) - {"grader-kernel"}:
        for part in {file.parts[0] for file in distribution(name).files or ()} - {"..", "__pycache__"}:
            if not (requirements / part).exists():
                (requirements / part).symlink_to(str(distribution(name).locate_file(part)))
    (site_packages / "requirements.pth").write_text(str(requirements))
    # The templates of nbconvert.
    (folder / "share").symlink_to(Path(sys.prefix) / "share")
    return python


def required(wheel: Path, extras: Collection[str] | None = ()) -> set[str]:
    """Return the names of all packages that pip installs with a wheel and some of its extras; None means all."""
    (own,) = distributions(path=[str(wheel)])
    wanted = {*(own.metadata.get_all("Provides-Extra", ()) if extras is None else extras)}
    waiting, seen = _needed(own.requires, wanted), set()
    while waiting:
        requirement = waiting.pop()
        if (key := (requirement.name, *sorted(requirement.extras))) not in seen:
            seen.add(key)
            waiting += _needed(distribution(requirement.name).requires, requirement.extras)
    return {name for name, *_ in seen}


def _needed(lines: list[str] | None, extras: set[str]) -> list[Requirement]:
    requirements = map(Requirement, lines or ())
    return [
        requirement
        for requirement in requirements
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`, with no path to this repository in the environment."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=HANGS)


def run_in(python: Path, command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of a README as in a terminal with an activated environment."""
    return run("sh", "-c", f'PATH={python.parent}:"$PATH"; {command}', folder=folder)


@pytest.mark.parametrize("package", IMPORTED_FROM)
def test_a_wheel_holds_one_package_and_nothing_else(wheels: dict[str, Path], package: str) -> None:
    """No solution, hidden test, misconception, test or submission, and nothing of an older build."""
    with zipfile.ZipFile(wheels[package]) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = [name for name in archive.namelist() if name.endswith("/LICENSE")]
        assert archive.read(*licences) == (REPOSITORY / "LICENSE").read_bytes()
    folder = IMPORTED_FROM[package]
    files = {*folder.glob(f"{package}/**/*.py"), *folder.glob(f"{package}/**/templates/*")}
    files |= {
        *folder.glob(f"{package}/**/widgets/**/*.js"),
        *(folder / package / name for name in DATA.get(package, [])),
    }
    assert names == {str(path.relative_to(folder)) for path in files}


@pytest.mark.parametrize("package", IMPORTED_FROM)
def test_what_a_package_imports_is_required(wheels: dict[str, Path], package: str) -> None:
    """By its wheel, by one of its extras, or by what these require; the kernel package looks for torch and a kernel."""
    nodes = [
        node
        for path in (IMPORTED_FROM[package] / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
    ]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    found = {canonicalize_name(name) for name in required(wheels[package], extras=None)}
    optional = {"grader_kernel": {"torch", "ipykernel"}, "grader": {"pandas"}}.get(package, set())
    imported = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - optional - {package}
    providers = packages_distributions()
    assert {name for name in imported if not {*map(canonicalize_name, providers.get(name, []))} & found} == set()
    assert {"course": "torch", "grader": "nbformat", "grader_kernel": "IPython"}[package] in imported


def test_the_notebooks_find_every_import(student: Path, tmp_path: Path) -> None:
    """The requirements of the wheels are enough: notebooks need neither nbgrader nor the grader and its libraries."""
    cells = [cell for path in RELEASED for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell.source))]
    imports = {ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)}
    assert "from course import data, figures" in imports and "from course import widgets" in imports
    missing = "[name for name in ('grader', 'nbgrader', 'msgspec', 'py_landlock') if u.find_spec(name) is None]"
    where = f"import course, importlib.util as u; print(course.__file__); print(*{missing})"
    done = run(student, "-c", "\n".join([*sorted(imports), where]), folder=tmp_path)
    assert done.stderr == ""
    file, *without = done.stdout.split()
    assert Path(file).is_relative_to(student.parents[1]) and without == ["grader", "nbgrader", "msgspec", "py_landlock"]


def test_a_notebook_runs_to_its_end(student: Path, tmp_path: Path) -> None:
    """A student with the wheels and one notebook runs all its cells and meets no error but NotImplementedError."""
    shutil.copy(REPOSITORY / "release/04-attention/1-vanilla-attention.ipynb", tmp_path)
    execute = (
        "-m",
        "nbconvert",
        "--to",
        "notebook",
        "--execute",
        "--output",
        "done.ipynb",
        "1-vanilla-attention.ipynb",
    )
    done = run(student, *execute, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    cells = [cell for cell in nbformat.read(tmp_path / "done.ipynb", as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    errors = [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    assert {error.ename for error in errors} == {"NotImplementedError"}
    assert "Not written yet: vanilla-attention." in errors[0].traceback[0]


def test_the_readme_of_the_kernel_package_holds(student: Path, tmp_path: Path) -> None:
    """The code in it runs for a student who has torch."""
    (code,) = [block for language, block in BLOCK.findall((KERNEL / "README.md").read_text()) if language == "python"]
    done = run(student, "-c", code, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_commands_in_the_readme_grade_the_tiny_course(instructor: Path, tiny_course: Path, tmp_path: Path) -> None:
    """Without this course, they print the table in it and write the sentence that it quotes on one page."""
    names = ("course", "tests", "examples", "grader", "grader_kernel")
    code = f"import importlib.util as u; print(*[name for name in {names} if u.find_spec(name)])"
    assert run(instructor, "-c", code, folder=tiny_course).stdout.split() == ["grader", "grader_kernel"]
    done = run_in(instructor, GRADE, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.rstrip() for line in done.stdout.splitlines()] == TABLE.splitlines()
    readme = " ".join((GRADER / "README.md").read_text().split())
    [(page, sentence)] = re.findall(r'`(feedback/\S+)`, tells him: "(.*?)"', readme)
    naming = [path for path in tiny_course.glob("feedback/*/*/softmax.html") if sentence in path.read_text()]
    assert naming == [tiny_course / page]


def test_three_lines_connect_a_course_to_the_grader(instructor: Path, tiny_course: Path) -> None:
    """A course is graded with the lines in the README as its whole configuration."""
    assert len([line for line in CONFIGURATION.splitlines() if line]) == 3
    (tiny_course / "nbgrader_config.py").write_text(CONFIGURATION)
    done = run_in(instructor, "grader grade 01-softmax --student ana", tiny_course)
    (row,) = [line for line in TABLE.splitlines() if "ana" in line]
    assert done.returncode == 0 and row in done.stdout, done.stderr
