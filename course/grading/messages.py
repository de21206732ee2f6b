"""What a student is told about a test that gave no points. Of a hidden test: what it is about, never how it looks.

A hidden test opens with a comment that states its truth; the release shows it too. An assertion's own message was
written for students. Everything else of a hidden test (code, traceback, values in somebody's error text) stays with us.
"""

import builtins
import re
from itertools import takewhile
from typing import Any

from course.grading.client import StudentError
from course.grading.failure import MAX_LINE
from course.grading.own_work import HandedOver
from course.grading.plan import Step
from course.grading.report import Verdict
from course.grading.tensors import WireError
from course.grading.text import printable
from course.grading.verdicts import verdict_on

NOT_WRITTEN = "Not written yet"
WROTE = "In this test your code wrote into what it was given."
MET_NONE = "The test met a None: is a return missing, or does no gradient come back?"
KINDS = {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)}
UNFIT = {
    "does not require grad": "no gradient comes back through it.",
    "did not match|dtype": "is its dtype the one that is asked for?",
    "must match|shapes|sizes|invalid for input": "is its shape the one that is asked for?",
}
"""What torch's words on a result that a test cannot use come down to; the words themselves may tell numbers."""
LAST_LINE = 200
"""Where a hidden test is concerned, lines behind it have no number: whoever hands in a longer cell chooses a number."""


def explain_test(step: Step, error: Exception) -> str:
    """The test itself found something wrong, or could not go on."""
    said = printable(error).strip()
    if is_undefined(error):
        return (
            f"{error.name} is not defined: the cell that should define it is missing, did not run to its end, or gives "
            "it another name."
        )
    if isinstance(error, AssertionError):
        # A library's own words (torch.testing's) tell numbers of the test; the author's were written for students.
        own = said if not step.is_hidden or _is_authors(error, step) else ""
        return joined(_truth(step), own or "This does not hold for your code.")
    met_none = MET_NONE if isinstance(error, AttributeError | TypeError) and "NoneType" in said else ""
    if step.is_hidden:
        return joined(_truth(step), met_none or f"The test could not use what your code returned{_why(said)}")
    return joined(_truth(step), f"{type(error).__name__}: {said}", met_none)


def _why(said: str) -> str:
    """The end of a sentence: what is probably wrong with a result that made torch say this."""
    return next((f": {why}" for pattern, why in UNFIT.items() if re.search(pattern, said)), ".")


def is_undefined(error: Exception) -> bool:
    """Whether a name is missing that another cell should have left."""
    return isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and bool(error.name)


def explain_raise(step: Step, said: dict[str, Any], cells: dict[str, str]) -> str:
    """The student's code raised, while the test called it, what `said` describes, as failure.bounded leaves it.

    `cells` are the sources of all cells by name.
    """
    where = _where(said, cells, step)
    if said["kind"] == "NotImplementedError" and not said["message"]:
        # A `raise` that was left below an answer, or another exercise that this one calls: only the place tells.
        return f"{NOT_WRITTEN}{where}."
    truth = _truth(step) if step.is_hidden else ""
    if step.refused and said["name"] == HandedOver.__name__:
        to_write = f"This exercise is to write it, without {', '.join(step.refused)}."
        return joined(truth, f"Your code hands its work to torch{where}. {to_write}")
    if verdict_on(said) is Verdict.OUTPUT_LIMIT:
        return joined(truth, f"Your code printed too much{where}")
    if said["name"] == WireError.__name__:
        why = "" if step.is_hidden else f": {printable(said['message'])}"
        return joined(truth, f"Your code returned what no test can take{why}")
    if step.is_hidden:
        # Its text may carry the test's numbers, and its name may be made up to carry them.
        name = said["kind"] if said["kind"] in KINDS else "an error"
        return joined(truth, f"Your code raised {name}{where}.")
    return f"Your code raised {printable(said['name'])}: {printable(said['message'])}{where}"


def explain_loss(why: str) -> str:
    """The process with the student's code hung or died."""
    return f"Your code was stopped: {why}."


def _where(said: dict[str, Any], cells: dict[str, str], step: Step) -> str:
    # The candidate names a place; what stands there we know ourselves. Its own words could be a hidden test's numbers,
    # and so could the choice of a place: where a hidden test is concerned, only the answer to its exercise has lines.
    frames = [(cell.strip("<>"), line) for cell, line, _ in said["frames"]]
    if step.is_hidden:
        frames = [(cell, line) for cell, line in frames if cell == step.exercise]
    for cell, line in frames[-1:]:
        # Not splitlines(), which also cuts where Python counts no new line.
        lines = cells.get(cell, "").split("\n")[: LAST_LINE if step.is_hidden else None]
        if 1 <= line <= len(lines):
            return f" (in {cell}, line {line}: {printable(lines[line - 1].strip(), MAX_LINE)})"
    return ""


def _is_authors(error: AssertionError, step: Step) -> bool:
    """Whether the words of `error` stand in the test itself: in its own assert, or as the msg of torch.testing.

    They are not where they repeat an exception of the student's that the test has caught.
    """
    caught = str(error.__context__) if isinstance(error.__context__, StudentError) else ""
    if caught and caught in str(error):
        return False
    innermost = error.__traceback__
    while innermost.tb_next is not None:
        innermost = innermost.tb_next
    frame = innermost.tb_frame
    if frame.f_globals.get("__name__") == "torch.testing._comparison":
        msg = frame.f_locals.get("msg")
        return isinstance(msg, str) and msg == str(error)
    return frame.f_code.co_filename == f"<{step.name}>"


def _truth(step: Step) -> str:
    """The comment that a hidden test opens with."""
    opening = takewhile(lambda line: line.startswith("# "), step.source.splitlines() if step.is_hidden else ())
    return " ".join(line[2:].strip() for line in opening)


def joined(*parts: str) -> str:
    """The parts that say something, as sentences."""
    first, *others = (part if part.endswith((".", "!", "?", ")")) else f"{part}." for part in parts if part)
    return " ".join((first, *map(_with_capital, others)))


def _with_capital(sentence: str) -> str:
    """As a sentence begins that follows another; `x` and `h_n` are names and stay what they are."""
    word = sentence.split(maxsplit=1)[0]
    return sentence[0].upper() + sentence[1:] if word.isalpha() and (len(word) > 1 or word == "a") else sentence
