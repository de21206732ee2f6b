"""Runs `grader check`, in a process of its own or in one that the daemon forked."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.classroom.course_dir import CourseDir
from grader.commands.check.check import CheckedNotebook, check, notebook_after
from grader.commands.check.screen import next_step, screen, solution_offer, waiting_points
from grader.commands.check.watch import watch
from grader.engine.notebook.outline import Outline
from grader.engine.view import RIGHT
from grader.errors import GraderError
from grader.text import one_line, plural
from grader_kernel.contract import keep_check

MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION")


@dataclass(frozen=True)
class Options:
    """The choices of the command line; `exercise` and `solution` are the names of exercises or empty."""

    exercise: str = ""
    solution: str = ""
    watch: bool = False
    json: bool = False
    sandbox: bool = True


def run(course_dir: CourseDir, path: Path, options: Options) -> int:
    """Check a notebook, or all notebooks in a folder, and print what was found.

    Args:
        course_dir: the course folder.
        path: the notebook or folder.
        options: the options of the command.

    Returns:
        0 if all tests gave all their points, or if what was asked for was shown; otherwise 1.

    Raises:
        GraderError: something cannot be checked.
    """
    console = Console()
    if path.is_dir():
        return _folder(course_dir, path, options, console)
    if options.watch and path.is_file():
        watch(path, partial(_checked, course_dir, path, options), partial(notebook_after, course_dir), console)
        return 0
    checked = _checked(course_dir, path, options)
    report = checked.report
    if options.solution:
        return _solution(checked, options.solution)
    if options.json:
        print(json.dumps(report.as_json(), indent=2))
    else:
        console.print(screen(checked), *_ending(course_dir, checked), sep="\n")
    return 0 if report.points == report.max_points else 1


def _checked(course_dir: CourseDir, path: Path, options: Options) -> CheckedNotebook:
    checked = check(course_dir, path, sandbox=options.sandbox, exercise=options.solution or options.exercise)
    if not (checked.is_part or checked.report.given_up):
        with suppress(OSError):  # nothing depends on it
            keep_check(checked.path, checked.report.points, checked.report.max_points)
    return checked


def _ending(course_dir: CourseDir, checked: CheckedNotebook) -> Iterator[Text]:
    yield from solution_offer(checked)
    yield next_step(checked, notebook_after(course_dir, checked.source_path))


def _solution(checked: CheckedNotebook, exercise: str) -> int:
    """Print our solution, which a person who has found none must not see."""
    own = next(iter(checked.exercises), None)
    if own is None or own.state != RIGHT or checked.report.given_up:
        points = f"{own.points:g} of {plural(own.max_points, 'point')}" if own else "no tests"
        raise GraderError(
            f"our solution is shown once yours has all points, and {exercise} has {points}: "
            f"run `grader check {checked.path} --exercise {exercise}` to see what is missing"
        )
    lines = Outline(checked.source).reference(exercise).splitlines()
    print("\n".join(line for line in lines if line.strip() not in MARKERS))
    return 0


def _folder(course_dir: CourseDir, folder: Path, options: Options, console: Console) -> int:
    """Check all notebooks of a folder; one that cannot be checked is a line, and the others go on."""
    if options.watch or options.json or options.solution or options.exercise:
        raise GraderError(f"{folder} is a folder, and these options take one notebook: name one in it")
    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        raise GraderError(f"{folder} has no notebooks: name a notebook, or a folder with some")
    done: list[CheckedNotebook] = []
    for path in paths:
        console.print(Text(path.name, "bold"))
        try:
            done.append(_checked(course_dir, path, options))
            console.print(screen(done[-1]), Text(), sep="\n")
        except GraderError as error:
            console.print(Text(f"not checked: {one_line(error)}\n"))
    if not done:
        return 1
    points, max_points = (sum(getattr(each.report, kind) for each in done) for kind in ("points", "max_points"))
    waiting = waiting_points(done)
    written = f"; written answers: {plural(waiting, 'point')} wait for a person" if waiting else ""
    total = f"{points:g} of {max_points:g} points from tests in {plural(len(done), 'notebook')}{written}"
    console.print(Text(total, "bold"))
    unfinished = next((each for each in done if each.first_to_do), done[-1])
    console.print(next_step(unfinished, notebook_after(course_dir, unfinished.source_path)))
    return 0 if points == max_points and len(done) == len(paths) else 1
