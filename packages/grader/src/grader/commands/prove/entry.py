"""Defines the command `grader prove`."""

import argparse
import json
import sys
from functools import partial
from pathlib import Path

from grader.commands.shared import Command, add_jobs, add_no_sandbox, console, count, prepare, start_up
from grader.errors import GraderError


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="*", metavar="ASSIGNMENT", help="default: every assignment")
    parser.add_argument(
        "--exercise", action="append", default=[], metavar="NAME", help="prove only this exercise (may be repeated)"
    )
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FOLDER",
        help="right answers in other styles (default: c.Grader.right_answers)",
    )
    parser.add_argument("--tenth", type=int, metavar="SEED", help="grade a tenth of the answers, drawn by SEED")
    parser.add_argument("--trivial", action="store_true", help="grade only trivial answers and the reference")
    parser.add_argument(
        "--draws",
        type=count,
        default=0,
        metavar="N",
        help="also run the tests with N other draws of their random numbers, on right answers, known mistakes and "
        "surviving mutants (with --tenth, on all its mutants), and list tests whose own draw misses what others find; "
        "the exit status is 1 if a right answer or a survivor keeps its points by luck",
    )
    parser.add_argument(
        "--sentences",
        action="store_true",
        help="also prove the sentences of the tests: one that names a cause may come only for the mistakes that it is "
        "tied to",
    )
    add_jobs(parser, "answers")
    parser.add_argument("--json", action="store_true", help="print the matrices as JSON")
    add_no_sandbox(parser, "do not confine the answers")


def _run(parsed: argparse.Namespace) -> int:
    with start_up():
        prepare(Path.cwd())
        from rich.progress import track

        from grader.classroom.config import Grader
        from grader.classroom.course_dir import CourseDir
        from grader.commands.prove.console import as_json, summary
        from grader.commands.prove.draws import with_other_draws
        from grader.commands.prove.prover import Prover
        from grader.commands.prove.sentences.console import entries
        from grader.engine.limits import Limits
        from grader.engine.view import with_labels

    course_dir = CourseDir(Path.cwd())
    if parsed.answers and not parsed.answers.is_dir():
        raise GraderError(f"--answers must name a folder of right answers, but {parsed.answers} is not a folder")
    answers = parsed.answers or course_dir.root / Grader(config=course_dir.config).right_answers
    prover = Prover(
        limits=Limits(config=course_dir.config),
        helper_packages=course_dir.helper_packages,
        answers=answers,
        only=parsed.exercise,
        tenth=parsed.tenth,
        is_trivial_only=parsed.trivial,
        jobs=parsed.jobs,
        sandbox=not parsed.no_sandbox,
        with_sentences=parsed.sentences,
        ignore=course_dir.directory.ignore,
    )
    exercises = prover.exercises([course_dir.require(name) for name in parsed.assignment or course_dir.assignments()])
    if not answers.is_dir():
        print(f"there is no folder {answers}, so no right answer in another style is graded", file=sys.stderr)
    screen = console(stderr=True)
    shown = partial(track, total=len(exercises), console=screen, transient=True, disable=not screen.is_terminal)
    matrices = list(shown(prover.matrices(exercises), "proving"))
    if parsed.draws:
        matrices = list(shown(with_other_draws(prover, exercises, matrices, parsed.draws), "drawing again"))
    if parsed.json:
        print(json.dumps(as_json(matrices), indent=2))
    else:
        labels = {name: label for each in exercises for name, label in each.labels.items()}
        console().print(summary(with_labels(matrices, labels), is_sample=prover.is_sample))
        for matrix in matrices:
            if matrix.leads is not None and matrix.leads.untied:
                print(f"\n# {matrix.assignment}/misconceptions/{matrix.exercise}.toml\n\n{entries(matrix.leads)}")
    return 0 if all(matrix.is_proven() for matrix in matrices) else 1


HELP = "try the tests on known mistakes, right answers, generated mutants and trivial answers"
COMMANDS = (Command("prove", HELP, _options, _run),)
