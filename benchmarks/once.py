"""Measures where a single mistake costs points: `python -m benchmarks.once [ASSIGNMENT ...]`.

our notebooks with one known mistake --grade--> points lost in its exercise, and in all others
"""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nbformat import NotebookNode

from benchmarks.classes import REPOSITORY
from grader.commands.prove.prover import Prover, for_wrong_answers
from grader.engine.diagnosis.misconceptions import load
from grader.engine.notebook.folder.files import read_sources
from grader.engine.notebook.outline import Outline
from grader.engine.supervisor.pool import side_by_side

HEADING = "## A mistake is paid for once"
PROVER = Prover(helper_packages=("course",))
ASSIGNMENTS = ("02-recurrence", "04-attention", "05-transformer")


@dataclass(frozen=True)
class Submission:
    """A source, and the notebook with one wrong answer in it."""

    source: NotebookNode
    exercise: str
    mistake: str
    answer: str

    def lost(self) -> tuple[float, float]:
        """Return the points lost in the exercise of the mistake, and those lost in others."""
        report = PROVER.report(self.source, self.exercise, self.answer, for_wrong_answers(PROVER.limits))
        inside = outside = 0.0
        for result in report.results:
            lost = result.max_points - result.points
            if result.exercise == self.exercise:
                inside += lost
            else:
                outside += lost
        return inside, outside


def submissions(assignment: str) -> Iterator[Submission]:
    """Yield a notebook for each known mistake of an assignment."""
    folder = REPOSITORY / "source" / assignment
    sources = read_sources(folder, PROVER.limits.notebook_mb).values()
    own = {exercise: outline for outline in map(Outline, sources) for exercise in outline.coded}
    for mistake in load(folder):
        outline = own[mistake.exercise]
        answer = mistake.apply(outline.reference(mistake.exercise))
        yield Submission(outline.notebook, mistake.exercise, mistake.name, answer)


def table(assignments: Sequence[str] = ASSIGNMENTS) -> str:
    """Return the part of the results, as Markdown."""
    rows, remarks = [], []
    with ThreadPoolExecutor(side_by_side(0)) as pool:
        for assignment in assignments:
            handed_in = list(submissions(assignment))
            lost = list(pool.map(Submission.lost, handed_in))
            inside, outside = map(sum, zip(*lost, strict=True))
            share = 100 * outside / (inside + outside)
            rows.append(f"| {assignment} | {len(handed_in)} | {inside:g} | {outside:g} | {share:.2f} |")
            remarks += [
                f"- {each.exercise}, {each.mistake}: {points:g}"
                for each, (_, points) in zip(handed_in, lost, strict=True)
                if points
            ]
    lines = [
        HEADING, "",
        "Our notebooks with one known mistake each. All points beside those of its exercise would be lost twice.", "",
        "| | submissions | points lost in the exercise | in others | share of others, % |", "|---|" + "--:|" * 4,
        *rows, "",
    ]  # fmt: skip
    return "\n".join(lines + (["Lost in others:", "", *remarks, ""] if remarks else []))


if __name__ == "__main__":
    print(table(sys.argv[1:] or ASSIGNMENTS))
