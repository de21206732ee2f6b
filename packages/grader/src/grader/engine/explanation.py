"""Defines what a result tells a student, as fields, and renders it in English. Only this module knows the sentences.

runner: truth, cause, where, missing --+
carried_errors: judged_with -----------+--> Explanation --rendered here--> message, claim, reason, diagnosis
diagnosis: misconceptions -------------+

repair: cell, change, lines, place ------> Repair --rendered here--> sentence
"""

from enum import StrEnum

import msgspec

from grader.text import plural

NOT_GRADED = "Grading did not finish."
TIME_IS_UP = "the time for the whole notebook was used up"
NOT_DEFINED = (
    "{} is not defined: the cell that should define it is missing, did not run to its end, or gives it another name."
)
IS_MODULE = (
    "{0} is a module in the student's process, which the test does not share: the course should import {0} in the test "
    "or in a read-only cell."
)
CHANGED_ARGUMENTS = "In this test your code changed its arguments in place."
GOT_NONE = "The test got None: is a return missing, or does no gradient come back?"
UNUSABLE = "The test could not use what your code returned"
UNUSABLE_BY_A_FUNCTION = "A function of the test{} could not use what your code gave it"
DOES_NOT_HOLD = "This does not hold for your code."
PART = "This test gave part of its points."
UNGRADABLE = "This test cannot be graded: your teacher has been told."


class Cause(StrEnum):
    """The reason why a test lost points."""

    NONE = ""
    """It lost none, or only a message in `detail` is known."""
    PROPERTY = "property"
    """The checked property does not hold; `detail` is the message of the test's author."""
    PART = "part"
    """It ran to its end and gave some of its points."""
    UNUSABLE = "unusable"
    """A hidden test could not use what it got; `detail` asks for a reason."""
    TEST_ERROR = "test error"
    """A visible test could not use what it got: `error`, with its text in `detail`."""
    RAISED = "raised"
    """The student's code raised `error`; a visible test quotes its text in `detail`."""
    LIBRARY = "library"
    """The student's code called a function that the exercise forbids; `detail` is the rule."""
    PRINTED = "printed"
    """The student's code printed too much."""
    NO_VALUE = "no value"
    """The student's code returned a value that cannot reach a test; `detail` says why."""
    STOPPED = "stopped"
    """The sandbox hung or died; `detail` says why."""
    NOT_WRITTEN = "not written"
    """The answer still raises the `NotImplementedError` of the release."""
    UNDEFINED = "undefined"
    """No cell defines the name `missing`."""
    OUT_OF_TIME = "out of time"
    """The time for the notebook was used up."""
    NOT_GRADED = "not graded"
    """Grading failed in the grader itself."""
    UNGRADABLE = "ungradable"
    """The test itself is at fault; only instructors read why, in the `ending` of its result."""


class Where(msgspec.Struct, frozen=True):
    """A line of a student's cell: the name of the cell, the number from 1, and its text."""

    cell: str
    line: int
    text: str

    def __str__(self) -> str:
        return f" (in {self.cell}, line {self.line}: {self.text})"


class EndingKind(StrEnum):
    """Why a test ended without all of its points, seen from its code."""

    PROPERTY = "property"
    """An assertion failed, or the test gave part of its points."""
    NAME = "name"
    """A name is not defined."""
    BOUNDARY = "boundary"
    """The test passed something to student code that cannot cross to its process."""
    SYNTAX = "syntax"
    """Python cannot compile the test."""
    ERROR = "error"
    """The code of the test raised a different exception."""
    RAISED = "raised"
    """The code that the test called raised an exception."""
    STOPPED = "stopped"
    """A limit was reached, or the process of that code ended."""
    NOT_RUN = "not run"
    """A read-only cell did not run to its end."""


class Ending(msgspec.Struct, frozen=True):
    """The line of a test at which it ended, and why, for instructors: both may show a hidden test.

    Args:
        kind: what ended it.
        reason: the exception or the limit.
        line: the number of the line from 1; 0 if it is not known.
        text: the line.
    """

    kind: EndingKind
    reason: str
    line: int = 0
    text: str = ""


class NotRunKind(StrEnum):
    """Why a code cell of a submission is not run as it is."""

    EXPERIMENT = "experiment"
    """It is tagged so."""
    TEST = "test"
    """It is a check, which runs in another process."""
    READ_ONLY = "read-only"
    """The student changed it, and the original was restored."""


NOT_RUN = {
    NotRunKind.EXPERIMENT: "an experiment, which is not run",
    NotRunKind.TEST: "a check, whose names your cells cannot use",
    NotRunKind.READ_ONLY: "a read-only cell, of which only the original text counts",
}


class NotRun(msgspec.Struct, frozen=True):
    """A name that the student's code lacks, and the cell that binds it but is not run."""

    name: str
    cell: str
    kind: NotRunKind

    def __str__(self) -> str:
        return f"`{self.name}` is bound in {self.cell}, {NOT_RUN[self.kind]}."


class BoundAgain(msgspec.Struct, frozen=True):
    """A name of the exercise that a cell below its check binds again; a definition counts, anything else does not."""

    name: str
    cell: str
    counts: bool

    def __str__(self) -> str:
        if self.counts:
            return f"`{self.name}` is defined again in {self.cell}, below the check, and the test used that definition."
        return f"`{self.name}` is bound again in {self.cell}, below the check, which does not count."


class KnownMistake(msgspec.Struct, frozen=True):
    """The name of a misconception that behaves exactly like the student's code, and a hint for the student."""

    name: str
    hint: str


class Explanation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The explanation of a result: why a test lost points, and which of our answers it was judged with.

    Args:
        truth: the property that the test checks, from its opening comment; only for hidden tests and tests that gave
            some of their points.
        cause: why it lost points.
        detail: text that belongs to the cause.
        error: the class of the exception that is the cause.
        where: the line of the student's code that raised it.
        missing: the name that no cell defines.
        is_module: whether student code has a module of that name, which does not reach a test.
        not_run: the cells that bind what is missing, but are not run.
        bound_again: the names of the exercise that later cells bind again.
        got_none: whether the test met None where it expected a result.
        called_back: the function of the test that could not use what the student's code gave it.
        changed_arguments: whether the student's code modified its arguments in place.
        judged_with: the exercises that our answers replaced.
        misconceptions: those that, combined, behave exactly like the student's code.
    """

    truth: str = ""
    cause: Cause = Cause.NONE
    detail: str = ""
    error: str = ""
    where: Where | None = None
    missing: str = ""
    is_module: bool = False
    not_run: tuple[NotRun, ...] = ()
    bound_again: tuple[BoundAgain, ...] = ()
    got_none: bool = False
    called_back: str | None = None
    changed_arguments: bool = False
    judged_with: tuple[str, ...] = ()
    misconceptions: tuple[KnownMistake, ...] = ()

    @property
    def message(self) -> str:
        """The full text that is shown below the test."""
        text = self.detail
        if self.cause is not Cause.NONE:
            bound_again = " ".join(map(str, self.bound_again))
            text = joined(self.claim, self.reason, CHANGED_ARGUMENTS if self.changed_arguments else "", bound_again)
        return " ".join(filter(None, (text, judged_with(self.judged_with), self.diagnosis)))

    @property
    def claim(self) -> str:
        """The property that does not hold, and what the test found; '' if the reason covers it."""
        match self.cause:
            case Cause.PROPERTY:
                return joined(self.truth, self.detail or DOES_NOT_HOLD)
            case Cause.PART:
                return joined(self.truth or PART)
            case Cause.UNUSABLE if self.called_back is not None:
                # Code that is not a def, such as a lambda, has a name in angle brackets.
                name = f", {self.called_back}," if self.called_back.isidentifier() else ""
                return joined(self.truth, UNUSABLE_BY_A_FUNCTION.format(name))
            case Cause.UNUSABLE if self.got_none:
                return joined(self.truth, GOT_NONE)
            case Cause.UNUSABLE:
                return joined(self.truth, f"{UNUSABLE}: {self.detail}" if self.detail else UNUSABLE)
            case Cause.TEST_ERROR:
                return joined(self.truth, f"{self.error}: {self.detail}", GOT_NONE if self.got_none else "")
            case Cause.NONE:
                return self.detail
        return joined(self.truth)

    @property
    def reason(self) -> str:
        """The fault of the student's code, or what has to be fixed first; '' if only the claim is known."""
        return joined(self._fault, *map(str, self.not_run)) if self.not_run else self._fault

    @property
    def _fault(self) -> str:
        where = str(self.where or "")
        match self.cause:
            case Cause.RAISED:
                text = f"Your code raised {self.error}"
                return f"{text}: {self.detail}{where}" if self.detail else f"{text}{where}."
            case Cause.LIBRARY:
                return f"Your code hands its work to a library{where}. {self.detail}"
            case Cause.PRINTED:
                return f"Your code printed too much{where}"
            case Cause.NO_VALUE:
                text = "Your code returned something that no test can use"
                return f"{text}: {self.detail}" if self.detail else text
            case Cause.STOPPED:
                return f"Your code was stopped: {self.detail}."
            case Cause.NOT_WRITTEN:
                return f"Not written yet{where}."
            case Cause.UNDEFINED:
                return (IS_MODULE if self.is_module else NOT_DEFINED).format(self.missing)
            case Cause.OUT_OF_TIME:
                return f"Your code was stopped: {TIME_IS_UP}."
            case Cause.NOT_GRADED:
                return NOT_GRADED
            case Cause.UNGRADABLE:
                return UNGRADABLE
        return ""

    @property
    def diagnosis(self) -> str:
        """The known mistakes and their hints; '' if there are none."""
        if not self.misconceptions:
            return ""
        names = " and that ".join(self.causes)
        hints = " ".join(each.hint for each in self.misconceptions)
        if len(self.misconceptions) > 1:
            return f"These could be two mistakes at once: your code behaves like one that {names}. {hints}"
        return f"Your code behaves exactly like one that {names}. {hints}"

    @property
    def causes(self) -> list[str]:
        """The names of the known mistakes."""
        return [each.name for each in self.misconceptions]

    def undiagnosed(self) -> "Explanation":
        """Return a copy without the known mistakes."""
        return msgspec.structs.replace(self, misconceptions=())


class Change(StrEnum):
    """The damage to a cell of ours, or the student's text that was in the wrong place."""

    MISSING = "missing"
    MOVED = "moved"
    RETYPED = "retyped"
    """It was of the type `place`, and is of `cell_type` again."""
    EDITED = "edited"
    """Lines of ours were deleted or changed, and nothing was written into it."""
    UNKNOWN = "unknown"
    """No cell of ours has this name."""
    COPY_LEFT_OUT = "copy left out"
    COPY_KEPT = "copy kept"
    BLANK_LEFT_OUT = "blank left out"
    TYPED = "typed"
    """The student wrote `lines` into it."""
    TYPED_IN_TEST = "typed in test"
    """The student wrote `lines` into a test of the exercise `place`."""
    TYPED_IN_QUESTION = "typed in question"
    """The student wrote `lines` into the text of a question, above the box `place`."""
    ANSWERED_ELSEWHERE = "answered elsewhere"
    """Nothing was written into it, and the answer of `lines` was in `place`, '' for a cell of the student's own."""
    WRITTEN_BESIDE = "written beside"
    """Nothing was written into the box for a written answer, and the student's text is next to it."""


class Repair(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change that repairing a submission needed: the name of a cell, and what happened to it; see `Change`."""

    cell: str
    change: Change
    lines: int = 0
    place: str = ""
    cell_type: str = ""

    def __str__(self) -> str:
        return f"{self.cell}: {self.sentence}"

    @property
    def is_about_text(self) -> bool:
        """Whether the student's text was in the wrong place."""
        return self.change in TEXT_ELSEWHERE

    @property
    def sentence(self) -> str:
        """The sentence without the name of the cell."""
        text = plural(self.lines, "line")
        written = f"you wrote {text} into this cell"
        they, are = ("it", "is") if self.lines == 1 else ("they", "are")
        match self.change:
            case Change.MISSING:
                return "this cell was missing and was restored"
            case Change.MOVED:
                return "cells were moved; their order was restored"
            case Change.RETYPED:
                return f"this cell was of type {self.place} and is {self.cell_type} again"
            case Change.EDITED:
                return "this cell was edited; its original text was restored"
            case Change.UNKNOWN:
                return "no cell has this name; it was kept as an ordinary cell"
            case Change.COPY_LEFT_OUT:
                return "a copy of this cell was left out"
            case Change.COPY_KEPT:
                return "a copy of this cell was kept as an ordinary cell"
            case Change.BLANK_LEFT_OUT:
                return "a copy of the blank was left out"
            case Change.TYPED:
                return f"{written}; {they} {are} kept below it: write into a cell of your own"
            case Change.TYPED_IN_TEST:
                return (
                    f"{written}; {they} {'does' if self.lines == 1 else 'do'} not count and {are} kept below it: "
                    f"write your answer into the cell `{self.place}`"
                )
            case Change.TYPED_IN_QUESTION:
                return f"{written}; {they} {are} kept below it: write your answer into the box `{self.place}`"
            case Change.ANSWERED_ELSEWHERE:
                where = f"`{self.place}`" if self.place else "a different cell"
                moved = "was moved here and counts" if self.lines == 1 else "were moved here and count"
                written = f"the {text} that you wrote into {where}"
                return f"nothing was written into this cell, so {written} {moved} as the answer"
            case Change.WRITTEN_BESIDE:
                return (
                    "nothing was written into this box, but next to it: that text waits for marking; "
                    "write your next answers into the box"
                )


TEXT_ELSEWHERE = (
    Change.TYPED,
    Change.TYPED_IN_TEST,
    Change.TYPED_IN_QUESTION,
    Change.ANSWERED_ELSEWHERE,
    Change.WRITTEN_BESIDE,
)


def judged_with(exercises: tuple[str, ...]) -> str:
    """Return the sentence that names the exercises that our answers replaced; '' if there are none."""
    names = " and ".join(f"`{name}`" for name in exercises)
    return f"Judged with our {names}, because yours lost points." if exercises else ""


def joined(*parts: str) -> str:
    """Join the non-empty parts as sentences, each with a full stop."""
    first, *others = [part if part.endswith((".", "!", "?", ")")) else f"{part}." for part in parts if part] or [""]
    return " ".join((first, *map(_with_capital, others)))


def _with_capital(sentence: str) -> str:
    """Capitalize a sentence, unless it begins with a name such as `x` or `h_n`."""
    word = sentence.split(maxsplit=1)[0]
    return sentence[0].upper() + sentence[1:] if word.isalpha() and (len(word) > 1 or word == "a") else sentence
