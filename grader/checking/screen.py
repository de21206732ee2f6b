"""Shows a checked notebook on a terminal: exercise by exercise, a cause once, and what to do next."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from grader.checking.check import CheckedNotebook
from grader.classroom.page.causes import Found
from grader.classroom.page.exercises import NOT_WRITTEN, RIGHT, Exercise
from grader.classroom.page.summary import counted
from grader.report import JUDGED_WITH, Result, Verdict
from grader.text import one_line, printable

STYLES = {"good": "green", "part": "yellow", "bad": "red", "blank": "dim"}
"""The colour of each style of a state; its word says the same."""
INDENT = 4
ORDINARY = (Verdict.PASSED, Verdict.FAILED, Verdict.ERROR)
"""Verdicts whose message says all."""


def screen(checked: CheckedNotebook) -> Group:
    """Return a line for each exercise with what is wrong below it, then the points, what stopped, and the repairs."""
    width = max((len(exercise.name) for exercise in checked.exercises), default=0)
    lines: list[RenderableType] = []
    for exercise in checked.exercises:
        lines += [_line(exercise, width), *reasons(checked, exercise)]
    lines += [Text(), Text(f"{checked.report.points:g} of {checked.report.max_points:g} points from tests", "bold")]
    if checked.waiting:
        verb = "waits" if checked.waiting == 1 else "wait"
        lines.append(Text(f"written answers: {counted(checked.waiting, 'point')} {verb} for a person"))
    lines += [Text(f"stopped before its end: {name}: {error}") for name, error in checked.answer_errors.items()]
    return Group(*lines, *(Text(f"repaired: {change}") for change in checked.report.repairs))


def reasons(checked: CheckedNotebook, exercise: Exercise) -> list[RenderableType]:
    """Return what is wrong with an exercise, each cause once with the tests that it failed."""
    if exercise.state in (RIGHT, NOT_WRITTEN):
        return []
    causes: dict[str, tuple[str, list[str], list[str]]] = {}
    for result, found in checked.findings(exercise):
        if result.points < result.max_points:
            _, tests, truths = causes.setdefault(*_cause(checked, result, found))
            tests.append(result.name)
            truths += [found.truth] if found.sentence and found.truth else []
    lines: list[RenderableType] = []
    for sentence, tests, truths in causes.values():
        lines.append(_indented(f"{', '.join(tests)}: {sentence}"))
        lines += [_indented(f"- {truth}", 2 * INDENT) for truth in truths]
    if exercise.diagnosis:
        lines.append(_indented(exercise.diagnosis))
    if exercise.judged_with:
        lines.append(_indented(JUDGED_WITH.format(" and ".join(exercise.judged_with))))
    return lines


def _indented(sentence: str, by: int = INDENT) -> Padding:
    return Padding(Text(printable(sentence)), (0, 0, 0, by), expand=False)


def _line(exercise: Exercise, width: int) -> Text:
    state = exercise.state
    points = f"{exercise.score:g} / {exercise.points:g}"
    return Text(f"{exercise.name:{width}}  {points:>9}  ").append(state.word, STYLES[state.style])


def _cause(checked: CheckedNotebook, result: Result, found: Found) -> tuple[str, tuple[str, list[str], list[str]]]:
    """The key of the cause of a failure, and its sentence with room for tests and truths."""
    sentence = found.sentence or found.truth
    if found.first:
        is_exercise = any(found.first == exercise.name for exercise in checked.exercises)
        sentence = f"first mend {found.first}" if is_exercise else found.first
    elif found.is_not_written:
        sentence = "a part is not written yet"
    if result.verdict not in ORDINARY:
        sentence = f"{result.verdict}: {sentence}"
    return found.key or sentence, (sentence, [], [])


def next_step(checked: CheckedNotebook, following: str) -> Text:
    """Return the sentence with which a screen ends.

    Args:
        checked: the notebook.
        following: the next notebook of the course; '' if there is none.
    """
    if (exercise := checked.first_to_do) is None and checked.is_part:
        return Text("next: check the whole notebook, without --exercise")
    if exercise is None:
        return Text(f"next: hand in{f', or go on with {following}' if following else ''}")
    heading = one_line(checked.heading(exercise))
    place = f' in {checked.path.name}, below "{heading}"' if heading else f" in {checked.path.name}"
    return Text(f"next: {exercise.name}{place} ({exercise.state.word})")


def solution_offer(checked: CheckedNotebook) -> Iterator[Text]:
    """Yield the sentence that offers our solutions, if an exercise is right."""
    right = [exercise.name for exercise in checked.exercises if exercise.state is RIGHT]
    if right:
        yield Text(f"compare with our solution: --solution {right[-1]}", "dim")


def changes(before: CheckedNotebook, after: CheckedNotebook) -> Group:
    """Return what has changed between two checks of a notebook, with what is wrong in exercises that changed."""
    earlier = {exercise.name: exercise for exercise in before.exercises}
    width = max((len(exercise.name) for exercise in after.exercises), default=0)
    lines: list[RenderableType] = []
    for exercise in after.exercises:
        known = earlier.get(exercise.name)
        said = [] if known is None else _plain(reasons(before, known))
        found = reasons(after, exercise)
        if known is None or (known.score, known.state) != (exercise.score, exercise.state) or said != _plain(found):
            gained = exercise.score - (known.score if known else 0.0)
            lines += [_line(exercise, width).append(f" ({gained:+g})" if gained else ""), *found]
    gained = after.report.points - before.report.points
    total = f"{after.report.points:g} of {after.report.max_points:g} points from tests"
    stops = after.answer_errors.items() - before.answer_errors.items()
    return Group(
        *(lines or [Text("nothing has changed")]),
        Text(f"{total} ({gained:+g})" if gained else total, "bold"),
        *(Text(f"stopped before its end: {name}: {error}") for name, error in sorted(stops)),
    )


def _plain(lines: list[RenderableType]) -> list[str]:
    return [str(line.renderable) for line in lines if isinstance(line, Padding)]
