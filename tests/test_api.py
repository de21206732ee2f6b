"""The public names of the package, and what the parent process loads."""

import subprocess
import sys

import pytest

import grader
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow


def run(code: str) -> str:
    """What a fresh process prints."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HANGS
    ).stdout


def test_commands_load_nothing_slow() -> None:
    """Their modules load no torch, which takes longer than all of them; `grader --help` needs none of these modules."""
    modules = "commands.check.check, commands.cli, classroom.class_run, classroom.autograde_plugin, engine.grading"
    names = ", ".join(f"grader.{name}" for name in modules.split(", "))
    assert run(f"import {names}, sys; print('torch' in sys.modules)") == "False\n"
    slow = "torch", "nbgrader", "nbformat", "rich", "jinja2", "distributed", "tornado", "sqlalchemy"
    assert run(f"import sys, grader.commands.cli; print([name for name in {slow} if name in sys.modules])") == "[]\n"


@pytest.mark.parametrize("name", grader.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    """In a process that has loaded nothing else of the package, and without torch."""
    program = f"from grader import {name}; import sys; print({name}.__class__.__name__, 'torch' in sys.modules)"
    kind = {"__version__": "str", "grade": "function", "read_notebook": "function"}
    kind |= {"Limits": "MetaHasTraits", "Result": "StructMeta", "Verdict": "EnumType"}
    assert run(program) == f"{kind.get(name, 'type')} False\n"


def test_the_package_tells_its_public_names_and_no_others() -> None:
    """`from grader import *` gives exactly these, whatever was imported before; another name is an AttributeError."""
    program = "before = set(globals()) | {'before'}; from grader import *; print(sorted(set(globals()) - before))"
    assert run(program) == f"{sorted(grader.__all__)}\n"
    for module in (
        "grader.engine.grading",
        "grader.engine.limits, grader.engine.report",
        "grader.commands.cli, grader.engine.grading",
    ):
        program = f"import {module}; from grader import grade, Limits; print(grade.__module__, Limits.__module__)"
        assert run(program) == "grader.engine.grading grader.engine.limits\n"
    with pytest.raises(AttributeError, match="module 'grader' has no attribute 'grades'"):
        grader.grades  # noqa: B018
