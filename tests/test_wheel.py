"""The wheel for students: what is in it, and that the released notebooks run where there is nothing else of ours."""

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

REPOSITORY = Path(__file__).resolve().parents[1]
RELEASED = sorted(REPOSITORY.glob("release/**/*.ipynb"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make wheel` writes, in a copy of the repository where an older build has left something."""
    copy = tmp_path_factory.mktemp("repository")
    for file in ("Makefile", "README.md", "pyproject.toml"):
        shutil.copy(REPOSITORY / file, copy)
    for folder in ("course", "source", "release", "examples", "tests"):
        shutil.copytree(REPOSITORY / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "build/lib/course").mkdir(parents=True)
    (copy / "build/lib/course/gone.py").touch()
    # The environment that these tests run in is ready, whether make has made it or not.
    make = ["make", "wheel", f"VENV={sys.prefix}", f"--old-file={sys.prefix}/ready"]
    subprocess.run(make, cwd=copy, check=True, timeout=120)
    (path,) = copy.glob("dist/*")
    return path


@pytest.fixture(scope="module")
def student(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheel and what it requires, and nothing else."""
    folder, brought = tmp_path_factory.mktemp("student"), tmp_path_factory.mktemp("brought")
    python = folder / "bin/python"
    venv.create(folder)
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel]
    subprocess.run(install, check=True, timeout=120)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    # Links instead of copies: torch is large, and is here already.
    for name in required(wheel):
        for part in {file.parts[0] for file in distribution(name).files} - {"..", "__pycache__"}:
            if not (brought / part).exists():
                (brought / part).symlink_to(distribution(name).locate_file(part))
    (site_packages / "brought.pth").write_text(str(brought))
    return python


def required(wheel: Path) -> set[str]:
    """The names of all packages that pip installs with the wheel."""
    (own,) = distributions(path=[str(wheel)])
    waiting, seen = [Requirement(line) for line in own.requires or ()], set()
    while waiting:
        requirement = waiting.pop()
        if (key := (requirement.name, *sorted(requirement.extras))) in seen:
            continue
        seen.add(key)
        for needed in map(Requirement, distribution(requirement.name).requires or ()):
            extras = ("", *requirement.extras)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return {name for name, *_ in seen}


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in `folder`, where nothing says where this repository is."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """No solution, no hidden test, no misconception, no test, no submission, and nothing of an older build."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == {str(path.relative_to(REPOSITORY)) for path in REPOSITORY.glob("course/**/*.py")}


def test_the_pages_call_the_wheel_by_its_name(wheel: Path) -> None:
    """Who copies the command that installs the wheel has the right name, also on a computer that knows no `*`."""
    for page in ("instructors.md", "students.md"):
        assert f"pip install {wheel.name}\n" in (REPOSITORY / "docs" / page).read_text()


def test_the_notebooks_find_all_that_they_import(student: Path, tmp_path: Path) -> None:
    """What the wheel requires is enough: neither nbgrader nor anything else of the grader is needed."""
    cells = [cell for path in RELEASED for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell.source))]
    imports = {ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)}
    assert "from course import data, figures" in imports and "from course.explorer import QueryExplorer" in imports
    where = "import course, importlib.util as u; print(course.__file__, u.find_spec('nbgrader'))"
    done = run(student, "-c", "\n".join([*sorted(imports), where]), folder=tmp_path)
    assert done.stderr == ""
    file, grader = done.stdout.split()
    assert Path(file).is_relative_to(student.parents[1]) and grader == "None"


def test_a_notebook_runs_up_to_its_first_blank(student: Path, tmp_path: Path) -> None:
    """A student with the wheel and one notebook meets no error but NotImplementedError."""
    shutil.copy(REPOSITORY / "release/04-attention/vanilla-attention.ipynb", tmp_path)
    execute = ("-m", "nbconvert", "--to", "notebook", "--execute", "vanilla-attention.ipynb")
    done = run(student, *execute, folder=tmp_path)
    assert done.returncode == 1
    assert "NotImplementedError" in done.stderr.split()[-1]


def test_grading_without_the_repository_is_refused_in_one_line(student: Path, tmp_path: Path) -> None:
    """It needs packages and tests that a student's computer does not have; the line says where they are."""
    done = run(student, "-m", "course", "check", "vanilla-attention.ipynb", folder=tmp_path)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and line.startswith("course: ") and "requirements.txt" in line
