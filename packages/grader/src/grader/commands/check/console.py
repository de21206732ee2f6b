"""Runs `grader check` and shows its findings on the terminal: once, for a folder, or at every save.

It runs in a process of its own, or in one that the daemon forked.
"""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from grader.classroom.course_dir import CourseDir
from grader.commands.check.check import CheckedNotebook, check, notebook_after
from grader.engine.explanation import judged_with
from grader.engine.notebook.outline import Outline
from grader.engine.view import RIGHT, ExerciseView, relabelled
from grader.errors import GraderError
from grader.files import Stamp, stamp
from grader.text import one_line, plural, printable
from grader_kernel.contract import keep_check

POLL_SECONDS = 0.3
STYLES = {"good": "green", "part": "yellow", "bad": "red", "blank": "dim"}
"""The colour of each style of a state; its word says the same."""
INDENT = 4
MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION")


@dataclass(frozen=True)
class CheckOptions:
    """The options of the command line; `exercise` and `solution` are names of exercises or empty."""

    exercise: str = ""
    solution: str = ""
    watch: bool = False
    json: bool = False
    sandbox: bool = True


def run(course_dir: CourseDir, path: Path, options: CheckOptions) -> int:
    """Check a notebook, or all notebooks in a folder, and print the findings.

    Args:
        course_dir: the course folder.
        path: the notebook or folder.
        options: the options of the command.

    Returns:
        0 if all tests gave all their points, or with `watch` or `solution`; otherwise 1.

    Raises:
        GraderError: the notebook or folder cannot be checked, or the solution is not shown.
    """
    console = Console()
    if path.is_dir():
        return _folder(course_dir, path, options, console)
    if options.watch and path.is_file():
        with suppress(KeyboardInterrupt):
            _watch(course_dir, path, options, console)
        return 0
    checked = _checked(course_dir, path, options)
    report = checked.report
    if options.solution:
        return _solution(checked, options.solution)
    if options.json:
        print(json.dumps(report.as_json(), indent=2))
    else:
        ending = (*solution_offer(checked), next_step(checked, notebook_after(course_dir, checked.source_path)))
        console.print(overview(checked), *ending, sep="\n")
    return 0 if report.points == report.max_points else 1


def _checked(course_dir: CourseDir, path: Path, options: CheckOptions) -> CheckedNotebook:
    checked = check(course_dir, path, sandbox=options.sandbox, exercise=options.solution or options.exercise)
    if not (checked.is_part or checked.report.given_up):
        with suppress(OSError):  # nothing depends on it
            keep_check(checked.path, checked.report.points, checked.report.max_points)
    return checked


def _solution(checked: CheckedNotebook, exercise: str) -> int:
    """Print our solution, but only to a person who has found one."""
    own = next(iter(checked.exercises), None)
    if own is None or own.state != RIGHT or checked.report.given_up:
        points = f"{own.points:g} of {plural(own.max_points, 'point')}" if own else "no tests"
        raise GraderError(
            f"our solution is shown once yours has all points, and {exercise} has {points}: "
            f"run `grader check {checked.path} --exercise {exercise}` to see what is missing"
        )
    outline = Outline(checked.source)
    names = {label: name for name, label in outline.labels.items()}
    lines = outline.reference(names.get(exercise, exercise)).splitlines()
    print("\n".join(line for line in lines if line.strip() not in MARKERS))
    return 0


def _folder(course_dir: CourseDir, folder: Path, options: CheckOptions, console: Console) -> int:
    """Check all notebooks of a folder; print a line for one that cannot be checked, and continue."""
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
            console.print(overview(done[-1]), Text(), sep="\n")
        except GraderError as error:
            console.print(Text(f"not checked: {one_line(error)}\n"))
    if not done:
        return 1
    points, max_points = (sum(getattr(each.report, kind) for each in done) for kind in ("points", "max_points"))
    waiting = waiting_points(done)
    written = f"; written answers: {plural(waiting, 'point')} wait for marking" if waiting else ""
    total = f"{points:g} of {max_points:g} points from tests in {plural(len(done), 'notebook')}{written}"
    console.print(Text(total, "bold"))
    unfinished = next((each for each in done if each.first_to_do), done[-1])
    console.print(next_step(unfinished, notebook_after(course_dir, unfinished.source_path)))
    return 0 if points == max_points and len(done) == len(paths) else 1


def _watch(course_dir: CourseDir, path: Path, options: CheckOptions, console: Console) -> None:
    """Check a notebook now and after every save, including that of a file beside it that it uses, until Ctrl-C.

    An editor may write into a file or replace it.
    """
    known: CheckedNotebook | None = None
    stamps: dict[Path, Stamp | None] = {path: None}
    while True:
        settled = {file: _settled(file) for file in stamps}
        if settled[path] is not None and settled != stamps:
            changed = next(file for file in settled if settled[file] != stamps[file])
            stamps = settled
            console.print(Text(f"{changed.name}, as saved at {_time(settled[changed])}", "dim"))
            try:
                checked = _checked(course_dir, path, options)
            except GraderError as error:
                console.print(Text(f"grader: {one_line(error)}"))
            else:
                console.print(changes(known, checked) if known else overview(checked))
                console.print(next_step(checked, notebook_after(course_dir, checked.source_path)), Text())
                known = checked
                stamps = {path: settled[path]} | checked.helpers
        time.sleep(POLL_SECONDS)


def _settled(path: Path) -> Stamp | None:
    """Return the state of a file that is not being written; None if it is, or is missing."""
    before = stamp(path)
    if before is None or time.time_ns() - before[0] > 10 * POLL_SECONDS * 1e9:
        return before
    time.sleep(POLL_SECONDS / 3)
    return before if stamp(path) == before else None


def _time(saved: Stamp | None) -> str:
    return time.strftime("%H:%M:%S", time.localtime(saved[0] / 1e9 if saved else None))


def overview(checked: CheckedNotebook) -> Group:
    """Return a line for each exercise with its faults below it, then the points, stopped cells, and repairs."""
    width = max((len(each.exercise) for each in checked.exercises), default=0)
    lines: list[RenderableType] = []
    if checked.path.name != checked.source_path.name:
        lines.append(Text(f"checked as {'/'.join(checked.source_path.parts[-2:])}"))
    for exercise in checked.exercises:
        lines += [_line(exercise, width), *reasons(exercise)]
    lines += [Text(), Text(f"{checked.report.points:g} of {checked.report.max_points:g} points from tests", "bold")]
    if waiting := waiting_points([checked]):
        verb = "waits" if waiting == 1 else "wait"
        lines.append(Text(f"written answers: {plural(waiting, 'point')} {verb} for marking"))
    rest = [f"stopped before its end: {name}: {error}" for name, error in checked.answer_errors.items()]
    rest += [f"repaired: {change}" for change in checked.report.repairs]
    return Group(*lines, *(Text(relabelled(line, checked.labels)) for line in rest), *map(Text, checked.left_out))


def waiting_points(notebooks: Iterable[CheckedNotebook]) -> float:
    """Return the points of the written answers in notebooks, which a person marks."""
    return sum(each.max_points for checked in notebooks for each in checked.unmarked)


def reasons(exercise: ExerciseView) -> list[RenderableType]:
    """Return the faults of an exercise: its diagnosis, then each cause once with the tests that it failed."""
    lines: list[RenderableType] = [_indented(exercise.diagnosis)] if exercise.diagnosis else []
    for reason in exercise.reasons:
        lines.append(_indented(f"{', '.join(reason.tests)}: {reason.sentence}"))
        lines += [_indented(f"- {claim}", 2 * INDENT) for claim in reason.claims]
    if exercise.judged_with:
        lines.append(_indented(judged_with(exercise.judged_with)))
    return lines


def _indented(sentence: str, by: int = INDENT) -> Padding:
    return Padding(Text(printable(sentence)), (0, 0, 0, by), expand=False)


def _line(exercise: ExerciseView, width: int) -> Text:
    state = exercise.state
    points = f"{exercise.points:g} / {exercise.max_points:g}"
    return Text(f"{exercise.exercise:{width}}  {points:>9}  ").append(state.word, STYLES[state.style])


def next_step(checked: CheckedNotebook, following: str) -> Text:
    """Return the last sentence, which says what to do next.

    Args:
        checked: the notebook.
        following: the next notebook of the course, or ''.
    """
    if (exercise := checked.first_to_do) is None and checked.is_part:
        return Text("next: check the whole notebook, without --exercise")
    if exercise is None:
        return Text(f"next: hand in{f', or go on with {following}' if following else ''}")
    heading = one_line(checked.heading(exercise))
    place = f' in {checked.path.name}, below "{heading}"' if heading else f" in {checked.path.name}"
    return Text(f"next: {exercise.exercise}{place} ({exercise.state.word})")


def solution_offer(checked: CheckedNotebook) -> Iterator[Text]:
    """Yield the sentence that offers our solutions, if an exercise is right."""
    right = [each.exercise for each in checked.exercises if each.state == RIGHT]
    if right:
        yield Text(f"compare with our solution: --solution {right[-1]}", "dim")


def changes(before: CheckedNotebook, after: CheckedNotebook) -> Group:
    """Return the differences between two checks of a notebook, with the faults of exercises that changed."""
    earlier = {each.exercise: each for each in before.exercises}
    width = max((len(each.exercise) for each in after.exercises), default=0)
    lines: list[RenderableType] = []
    for exercise in after.exercises:
        known = earlier.get(exercise.exercise)
        if known != exercise:
            gained = exercise.points - (known.points if known else 0.0)
            lines += [_line(exercise, width).append(f" ({gained:+g})" if gained else ""), *reasons(exercise)]
    gained = after.report.points - before.report.points
    total = f"{after.report.points:g} of {after.report.max_points:g} points from tests"
    stops = after.answer_errors.items() - before.answer_errors.items()
    return Group(
        *(lines or [Text("nothing has changed")]),
        Text(f"{total} ({gained:+g})" if gained else total, "bold"),
        *(Text(relabelled(f"stopped before its end: {name}: {error}", after.labels)) for name, error in sorted(stops)),
    )
