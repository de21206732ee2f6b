"""Shows a checked notebook on a terminal: exercise by exercise, a cause once, and what to do next."""

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from grader.commands.check.check import CheckedNotebook
from grader.engine.explanation import judged_with
from grader.engine.view import RIGHT, ExerciseView
from grader.text import one_line, plural, printable

STYLES = {"good": "green", "part": "yellow", "bad": "red", "blank": "dim"}
"""The colour of each style of a state; its word says the same."""
INDENT = 4


def screen(checked: CheckedNotebook) -> Group:
    """Return a line for each exercise with what is wrong below it, then the points, what stopped, and the repairs."""
    width = max((len(each.exercise) for each in checked.exercises), default=0)
    lines: list[RenderableType] = []
    for exercise in checked.exercises:
        lines += [_line(exercise, width), *reasons(exercise)]
    lines += [Text(), Text(f"{checked.report.points:g} of {checked.report.max_points:g} points from tests", "bold")]
    if waiting := waiting_points([checked]):
        verb = "waits" if waiting == 1 else "wait"
        lines.append(Text(f"written answers: {plural(waiting, 'point')} {verb} for a person"))
    lines += [Text(f"stopped before its end: {name}: {error}") for name, error in checked.answer_errors.items()]
    return Group(*lines, *(Text(f"repaired: {change}") for change in checked.report.repairs))


def waiting_points(notebooks: Iterable[CheckedNotebook]) -> float:
    """Return the points of the written answers in notebooks, which a person marks."""
    return sum(each.max_points for checked in notebooks for each in checked.unmarked)


def reasons(exercise: ExerciseView) -> list[RenderableType]:
    """Return what is wrong with an exercise: its diagnosis, then each cause once with the tests that it failed."""
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
    return Text(f"next: {exercise.exercise}{place} ({exercise.state.word})")


def solution_offer(checked: CheckedNotebook) -> Iterator[Text]:
    """Yield the sentence that offers our solutions, if an exercise is right."""
    right = [each.exercise for each in checked.exercises if each.state == RIGHT]
    if right:
        yield Text(f"compare with our solution: --solution {right[-1]}", "dim")


def changes(before: CheckedNotebook, after: CheckedNotebook) -> Group:
    """Return what has changed between two checks of a notebook, with what is wrong in exercises that changed."""
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
        *(Text(f"stopped before its end: {name}: {error}") for name, error in sorted(stops)),
    )
