"""Makes the kill matrix of the whole course and the matrix of its sentences: `python -m benchmarks.matrix`."""

import time
from collections.abc import Sequence

from benchmarks.classes import REPOSITORY
from grader.classroom.course_dir import CourseDir
from grader.commands.prove.console import for_nothing_of
from grader.commands.prove.matrix import Kind, Matrix
from grader.commands.prove.prover import Prover

HEADING = "## The kill matrix"


def table() -> str:
    """Return the part of the results, as Markdown."""
    course_dir = CourseDir(REPOSITORY)
    prover = Prover(
        helper_packages=course_dir.helper_packages,
        answers=REPOSITORY / "tests" / "correct_answers",
        with_sentences=True,
    )
    names = course_dir.assignments()
    begin = time.perf_counter()
    matrices = list(prover.matrices(prover.exercises([course_dir.require(name) for name in names])))
    minutes = (time.perf_counter() - begin) / 60
    graded = sum(len(matrix.rows) for matrix in matrices)
    rows = [_row(name, [matrix for matrix in matrices if matrix.assignment == name]) for name in names]
    unproven = [matrix.exercise for matrix in matrices if not matrix.is_proven()]
    thin = [matrix.exercise for matrix in matrices if matrix.depends_on_one_test()]
    return "\n".join([
        HEADING, "",
        "`grader prove --sentences`: every known mistake, every right answer in another style, every mutant of our "
        f"solutions and trivial answers, {graded} answers in {minutes:.1f} minutes. An explained mutant may keep its "
        "points, and its record says why. Points for nothing are what trivial answers earn together, in tests that ask "
        "for more than names and parameters; a tenth is allowed in each exercise.",
        "",
        "| | exercises | tests | mistakes found | right answers kept | mutants found | explained | unexplained "
        "| points for nothing |",
        "|---|" + "--:|" * 8,
        *rows, _row("all", matrices), "",
        f"Not proven: {', '.join(unproven) or 'none'}. One test finds more than half of what is found in "
        f"{len(thin)} exercises: {', '.join(thin) or 'none'}.", "",
        "### Sentences", "",
        "The same answers, and what the visible checks and the hidden tests say to them. A sentence that names a cause "
        "is tied to the known mistakes that it means, or to a reason why it is true for everyone who gets it. False "
        "are those that another mistake gets, and names that the diagnosis gives to another mistake; dead are those "
        "that no mistake and no mutant gets. A lead to a mutant is counted where the mutant behaves like no mistake "
        "that the sentence means.",
        "",
        "| | sentences with a cause | of these true for everyone | untied | false | dead | leads that mutants get |",
        "|---|" + "--:|" * 6,
        *(_sentences(name, [matrix for matrix in matrices if matrix.assignment == name]) for name in names),
        _sentences("all", matrices), "",
    ])  # fmt: skip


def _sentences(name: str, matrices: Sequence[Matrix]) -> str:
    leads = [matrix.leads for matrix in matrices if matrix.leads is not None]
    cells = [
        sum(each.causes for each in leads),
        sum(each.always for each in leads),
        sum(len(each.untied) for each in leads),
        sum(len(each.false) + len(each.misnamed) for each in leads),
        sum(len(each.dead) for each in leads),
        sum(len(each.vague) for each in leads),
    ]
    return f"| {name} | " + " | ".join(map(str, cells)) + " |"


def _row(name: str, matrices: Sequence[Matrix]) -> str:
    rows = [row for matrix in matrices for row in matrix.rows]
    found = {kind: [bool(row.killed_by) for row in rows if row.kind is kind] for kind in Kind}
    right = found[Kind.RIGHT]
    cells = [
        len(matrices),
        sum(len(matrix.tests) for matrix in matrices),
        f"{sum(found[Kind.MISTAKE])} / {len(found[Kind.MISTAKE])}",
        f"{right.count(False)} / {len(right)}",
        f"{sum(found[Kind.MUTANT])} / {len(found[Kind.MUTANT])}",
        sum(bool(row.reason) for row in rows),
        sum(len(matrix.surviving(Kind.MUTANT)) + len(matrix.undecided) for matrix in matrices),
        for_nothing_of(*matrices),
    ]
    return f"| {name} | " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    print(table())
