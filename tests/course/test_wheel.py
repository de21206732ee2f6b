"""Each wheel holds one package, and the released notebooks run with the two for students alone."""

import ast
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution, distributions
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement

from tests.support.paths import IMPORTED_FROM, REPOSITORY
from tests.support.waiting import HANGS

DATA = {"course": ["alice.txt"], "grader": ["py.typed"]}
"""Package -> files of it that are neither modules nor templates."""
RELEASED = sorted(REPOSITORY.glob("release/**/*.ipynb"))


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
    folder, requirements = tmp_path_factory.mktemp("student"), tmp_path_factory.mktemp("requirements")
    python = folder / "bin/python"
    venv.create(folder)
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*install, wheels["grader_kernel"], wheels["course"]], check=True, timeout=HANGS)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    # Links instead of copies: torch is large, and is already on this machine.
    for name in required(wheels["course"]) - {"grader-kernel"}:
        for part in {file.parts[0] for file in distribution(name).files or ()} - {"..", "__pycache__"}:
            if not (requirements / part).exists():
                (requirements / part).symlink_to(str(distribution(name).locate_file(part)))
    (site_packages / "requirements.pth").write_text(str(requirements))
    return python


def required(wheel: Path) -> set[str]:
    """Return the names of all packages that pip installs with the wheel."""
    (own,) = distributions(path=[str(wheel)])
    # Without the extras, which are for grading and for developers.
    waiting, seen = _needed(own.requires, set()), set()
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
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANGS)


@pytest.mark.parametrize("package", IMPORTED_FROM)
def test_a_wheel_holds_one_package_and_nothing_else(wheels: dict[str, Path], package: str) -> None:
    """No solution, hidden test, misconception, test or submission, and nothing of an older build."""
    with zipfile.ZipFile(wheels[package]) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = [name for name in archive.namelist() if name.endswith("/LICENSE")]
        assert archive.read(*licences) == (REPOSITORY / "LICENSE").read_bytes()
    folder = IMPORTED_FROM[package]
    files = {*folder.glob(f"{package}/**/*.py"), *folder.glob(f"{package}/**/page/templates/*")}
    files |= {folder / package / name for name in DATA.get(package, [])}
    assert names == {str(path.relative_to(folder)) for path in files}


def test_the_pages_call_the_wheels_by_their_names(wheels: dict[str, Path]) -> None:
    """The command that installs them can be copied, also on a computer whose shell does not expand `*`."""
    command = f"pip install {wheels['grader_kernel'].name} {wheels['course'].name}\n"
    for page in ("instructors.md", "students.md"):
        assert command in (REPOSITORY / "docs" / page).read_text()


def test_the_notebooks_find_every_import(student: Path, tmp_path: Path) -> None:
    """The requirements of the wheels are enough: notebooks need neither nbgrader nor the grader and its libraries."""
    cells = [cell for path in RELEASED for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell.source))]
    imports = {ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)}
    assert "from course import data, figures" in imports and "from course.explorer import QueryExplorer" in imports
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
