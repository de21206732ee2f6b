"""Runs the commands of a course folder: `grader release`, `grade`, `check`, `serve` and so on; and `grader doctor`."""

import argparse
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from rich.console import Console
from traitlets import TraitError

from grader.classroom.config import helper_packages, load_config
from grader.classroom.course_root import CONFIG_FILE, course_of, require_known
from grader.commands.arguments import ANSWERS, parser
from grader.engine.imports import skip_slow_imports
from grader.engine.supervisor import forkserver
from grader.errors import GraderError
from grader.text import HOW_TO_CONTINUE, INTERRUPTED, one_line

# The classroom loads nbgrader, so it is imported where it is used: --help stays quick, and the fork server loads its
# modules at the same time.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Args:
        arguments: the command line without the program; by default, that of the process.

    Returns:
        0 if everything was done, 1 if something was not (a printed line says what), 130 after Ctrl-C.
    """
    skip_slow_imports()
    parsed = parser().parse_args(arguments)
    try:
        return COMMANDS[parsed.command](parsed)
    except GraderError as error:
        print(f"grader: {one_line(error)}", file=sys.stderr)
        return 1
    except TraitError as error:
        print(f"grader: {CONFIG_FILE} cannot be used: {one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(HOW_TO_CONTINUE, file=sys.stderr)
        return INTERRUPTED


def _release(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.classroom.release import release, release_start

    course_dir = CourseDir(Path.cwd())
    for assignment in parsed.assignment or course_dir.assignments():
        release(course_dir, assignment)
        print(f"released {os.path.relpath(course_dir.folder('release', assignment))}")
    release_start(course_dir)
    return 0


def _grade(parsed: argparse.Namespace) -> int:
    if parsed.explain:
        return _explain(parsed)
    with _start_up():
        if not parsed.scheduler:
            _prepare(Path.cwd())
        from grader.classroom.class_run import ClassRun
        from grader.classroom.course_dir import CourseDir
        from grader.commands.grade.screen import grade_and_show

    course_dir = CourseDir(Path.cwd())
    sandbox = not parsed.no_sandbox
    run = ClassRun(course_dir, parsed.assignment, parsed.jobs, force=parsed.force, sandbox=sandbox, only=parsed.student)
    grade: Callable[..., int] = grade_and_show
    if parsed.changed:
        from grader.commands.regrade.regrading import regrade

        grade = partial(regrade, yes=parsed.yes)
    if not parsed.scheduler:
        return grade(run)
    run.student_count()  # an assignment that does not exist needs no cluster
    _require_dask()
    from grader.commands.cluster.crew import Crew

    with closing(Crew(parsed.scheduler, course_dir.config, _note)) as crew:
        return grade(run, crew)


def _explain(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.commands.explain import explanation

    console = Console()
    for part in explanation(CourseDir(Path.cwd()), parsed.assignment, parsed.explain):
        console.print(part)
    return 0


def _worker_setup(parsed: argparse.Namespace) -> int:
    _require_dask()
    from grader.commands.cluster.command import set_up

    config, status = load_config(Path.cwd()), 0
    for worker, words in set_up(parsed.scheduler, config, helper_packages(config), sandbox=not parsed.no_sandbox):
        print(f"{worker}: {words or 'ready'}", flush=True)
        status |= bool(words)
    return status


def _report(parsed: argparse.Namespace) -> int:
    if parsed.draft_mistake:
        _prepare(Path.cwd())
    from grader.classroom.course_dir import CourseDir
    from grader.commands.report.command import Options, drafted, report

    course_dir = CourseDir(Path.cwd())
    if parsed.draft_mistake:
        print(drafted(course_dir, parsed.assignment, parsed.draft_mistake), end="")
        return 0
    for page in report(course_dir, parsed.assignment, Options(parsed.anonymous, parsed.follow, parsed.output)):
        print(f"wrote {os.path.relpath(page)}", flush=True)
    return 0


def _check(parsed: argparse.Namespace) -> int:
    root = course_of(Path.cwd())
    require_known(root, trust=parsed.trust)
    with _start_up():
        _prepare(root)
        from grader.classroom.course_dir import CourseDir
        from grader.commands.check.command import Options, run

    shown = Options(parsed.exercise, parsed.solution, parsed.watch, parsed.json, not parsed.no_sandbox)
    return run(CourseDir(root), parsed.notebook, shown)


def _serve(parsed: argparse.Namespace) -> int:
    with _start_up():
        _prepare(Path.cwd())
        from grader.classroom.course_dir import CourseDir
        from grader.commands.serve.main import Options, serve

    course_dir = CourseDir(Path.cwd())
    options = Options(
        parsed.bind, parsed.jobs, sandbox=not parsed.no_sandbox, certfile=parsed.certfile, keyfile=parsed.keyfile
    )
    if not parsed.scheduler:
        return serve(course_dir, options)
    _require_dask()
    from grader.commands.cluster.on_demand import OnDemand

    with closing(OnDemand(parsed.scheduler, course_dir, _note)) as cluster:
        return serve(course_dir, replace(options, grade=cluster.grade, jobs=parsed.jobs or cluster.at_once))


def _tokens(parsed: argparse.Namespace) -> int:
    from grader.classroom.students.roster import read_roster
    from grader.commands.serve.accounts import TOKENS, make_tokens

    load_config(Path.cwd())  # tokens belong into a course folder
    roster = read_roster(parsed.roster, parsed.id_column)
    for line in (*roster.left_out, *roster.refused):
        _note(line)
    tokens = make_tokens(Path.cwd(), roster.require_usable(), parsed.renew)
    if tokens:
        print(f"wrote the tokens of {len(tokens)} students to {TOKENS}: hand them out, and remove the file")
    else:
        print("every student has a token: use --renew NAME for one who lost it")
    return 0


def _roster(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.classroom.students.roster import read_roster
    from grader.commands.lms.command import put_students

    print(put_students(CourseDir(Path.cwd()), read_roster(parsed.roster, parsed.id_column), _note))
    return 0


def _import(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.commands.lms.command import ImportOptions, import_archive

    options = ImportOptions(
        parsed.archive, parsed.assignment, parsed.platform, parsed.worksheet, parsed.time_zone, parsed.replace
    )
    words, is_complete = import_archive(CourseDir(Path.cwd()), options, _note)
    print(words)
    return 0 if is_complete else 1


def _export(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.commands.lms.command import ExportOptions, export, write

    titles = tuple(parsed.column)
    options = ExportOptions(
        parsed.assignment, parsed.platform, parsed.template, titles, parsed.comments, parsed.unmarked
    )
    exported = export(CourseDir(Path.cwd()), options)
    usual = "grades.csv" if parsed.platform == "csv" else f"grades-{parsed.platform}.csv"
    print(write(exported, parsed.output or Path(usual), _note))
    return 0


def _prove(parsed: argparse.Namespace) -> int:
    with _start_up():
        _prepare(Path.cwd())
        from rich.progress import track

        from grader.classroom.course_dir import CourseDir
        from grader.commands.prove.draws import with_other_draws
        from grader.commands.prove.matrix import Prover
        from grader.commands.prove.screen import as_json, screen
        from grader.engine.limits import Limits

    course_dir = CourseDir(Path.cwd())
    if parsed.answers and not parsed.answers.is_dir():
        raise GraderError(f"--answers names a folder of right answers, and {parsed.answers} is none: correct the path")
    prover = Prover(
        limits=Limits(config=course_dir.config),
        helper_packages=course_dir.helper_packages,
        answers=parsed.answers or course_dir.root / ANSWERS,
        only=parsed.exercise,
        tenth=parsed.tenth,
        jobs=parsed.jobs,
        sandbox=not parsed.no_sandbox,
    )
    cases = prover.cases([course_dir.require(name) for name in parsed.assignment or course_dir.assignments()])
    console = Console(stderr=True)
    shown = partial(track, total=len(cases), console=console, transient=True, disable=not console.is_terminal)
    matrices = list(shown(prover.matrices(cases), "proving"))
    if parsed.draws:
        matrices = list(shown(with_other_draws(prover, cases, matrices, parsed.draws), "drawing again"))
    if parsed.json:
        print(json.dumps(as_json(matrices), indent=2))
    else:
        Console().print(screen(matrices, is_sample=parsed.tenth is not None))
    return 0 if all(matrix.is_proven() for matrix in matrices) else 1


def _doctor(parsed: argparse.Namespace) -> int:
    with _start_up():
        forkserver.prepare()
        from grader.commands.doctor.examination import examine
        from grader.commands.doctor.screen import screen

    examination = examine()
    if parsed.json:
        print(json.dumps(msgspec.to_builtins(examination), indent=2))
    else:
        Console().print(screen(examination))
    return 0 if examination.grading else 1


@contextmanager
def _start_up() -> Iterator[None]:
    """End at once at Ctrl-C: nothing is there yet to clean up, and some modules swallow a KeyboardInterrupt."""

    def end(*_: object) -> None:
        print(HOW_TO_CONTINUE, file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)

    previous = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _prepare(root: Path) -> None:
    """Start the fork server, which loads torch and the helper packages while this process loads nbgrader."""
    forkserver.prepare(helper_packages(load_config(root)))


def _require_dask() -> None:
    if importlib.util.find_spec("distributed") is None:
        raise GraderError("a scheduler is reached with dask.distributed: pip install 'attention-seminar[cluster]'")


def _note(line: str) -> None:
    print(f"grader: {one_line(line)}", file=sys.stderr)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "release": _release,
    "grade": _grade,
    "worker-setup": _worker_setup,
    "report": _report,
    "check": _check,
    "serve": _serve,
    "tokens": _tokens,
    "roster": _roster,
    "import": _import,
    "export": _export,
    "prove": _prove,
    "doctor": _doctor,
}
