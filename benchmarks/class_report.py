"""Measures the report on a class whose truth is known: `python -m benchmarks --only class_report`.

make_submissions --> Truth          grader grade, grader report --> report.json          both --> what was found
"""

import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.classes import ASSIGNMENT, PROGRAMS, environment, make
from benchmarks.synthetic import Truth, make_submissions
from grader.commands.report.model import ClassReport, Mistake, UnnamedGroup

HEADING = "## The report on a class"
SIZE, FIRST = 300, 20
"""Students of the class, and the number of pairs at the top of the report that are compared with the truth."""
LARGE = 5000


@dataclass(frozen=True)
class Found:
    """The findings of a report, compared with the truth.

    `mistakes` counts named mistakes that were made and those that were not; `split` are behaviours whose students are
    in more than one group; `honest` are pairs of two students with full marks among the first.
    """

    true_mistakes: int
    other_mistakes: int
    behaviours: int
    split: list[str]
    copied: int
    copied_first: int
    honest: int


def judged(report: ClassReport, truth: Truth) -> Found:
    """Compare a report with the truth."""
    names = [student.name for student in report.students]
    made: Counter[bool] = Counter()
    for mistake in report.mistakes:
        for place in mistake.students:
            answer = truth.answers[names[place]][mistake.exercise]
            made[[answer.name] == mistake.names] += 1
    first = [{names[pair.left], names[pair.right]} for pair in report.pairs[:FIRST]]
    right = truth.full_marks()
    behaviours = _groups_by_truth(report, truth, names)
    return Found(
        true_mistakes=made[True],
        other_mistakes=made[False],
        behaviours=len(behaviours),
        split=sorted(name for name, groups in behaviours.items() if len(groups) > 1),
        copied=len(truth.copied),
        copied_first=sum(set(pair) in first for pair in truth.copied),
        honest=sum(pair <= right for pair in first),
    )


def _groups_by_truth(report: ClassReport, truth: Truth, names: list[str]) -> dict[str, set[str]]:
    """Return the groups of the report, named or not, that hold the students with the same wrong answer.

    Only answers that several students were given count, together with the same wrong answers to what comes before in
    the notebook: an answer behaves as it does with those that it uses. Mutants that keep their points are right ones.
    """
    group_of: dict[tuple[str, str], str] = {}
    everything: list[Mistake | UnnamedGroup] = [*report.mistakes, *report.groups]
    for each in everything:
        label = each.key if isinstance(each, UnnamedGroup) else f"{each.exercise}: {each.names}"
        group_of |= {(names[place], each.exercise): label for place in each.students}
    lost = {
        (student.name, each.exercise)
        for student in report.students
        for each in student.exercises
        if each.points is not None and each.points < each.max_points
    }
    notebook_of = {each.name: each.notebook for each in report.exercises}
    given: dict[str, list[str]] = defaultdict(list)
    for student, answers in truth.answers.items():
        before: dict[str, str] = defaultdict(str)
        for exercise, answer in answers.items():
            if answer.kind != "right":
                before[notebook_of[exercise]] += f"{exercise}: {answer.name}; "
                if (student, exercise) in lost:
                    group = group_of.get((student, exercise), f"alone: {student}")
                    given[before[notebook_of[exercise]]].append(group)
    return {name: set(groups) for name, groups in given.items() if len(groups) > 1}


def table() -> str:
    """Return the part of the results, as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = make(Path(name) / "class", 0)
        truth = make_submissions(folder, ASSIGNMENT, SIZE)
        grading, _ = measured(folder, "grade", ASSIGNMENT)
        seconds, memory = measured(folder, "report", ASSIGNMENT)
        report = msgspec.json.decode((folder / "reports" / ASSIGNMENT / "report.json").read_bytes(), type=ClassReport)
    found = judged(report, truth)
    named = found.true_mistakes + found.other_mistakes
    return "\n".join([
        HEADING, "",
        f"{SIZE} students of {ASSIGNMENT} with known answers: right ones in many styles, known mistakes, mutants; all "
        "with other names, order and comments; some copied another's wrong answers. Grading them took "
        f"{grading:.0f} seconds.", "",
        "| | found | target |", "|---|--:|--:|",
        f"| mistakes counted that were made | {found.true_mistakes} of {named} "
        f"({100 * found.true_mistakes / max(1, named):.1f} %) | ≥ 95 % |",
        f"| wrong answers of several students whose group is split | {len(found.split)} of {found.behaviours} | 0 |",
        f"| copied work among the first {FIRST} pairs | {found.copied_first} of {found.copied} | all |",
        f"| pairs of two students with full marks among them | {found.honest} | 0 |",
        f"| `grader report`, seconds | {seconds:.1f} | < 10 |",
        f"| its memory, MiB | {memory:.0f} | < 500 |", "",
        "Where a student's other answers draw random numbers in another order (dropout for each head alone, say), "
        "numbers cannot be compared, and a group may be split. A copy with few and frequent wrong answers looks like "
        "chance.", "",
    ])  # fmt: skip


def measured(folder: Path, *arguments: str) -> tuple[float, float]:
    """Run a command of the grader in a course folder; return its seconds, and the MiB of its largest process."""
    probe = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=-3)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", probe, str(PROGRAMS / "grader"), *arguments],
        cwd=folder, env=environment(), check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return time.perf_counter() - begin, int(done.stdout) / 1024
