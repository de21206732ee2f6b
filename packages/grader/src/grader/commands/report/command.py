"""Makes the report on a class: `grader report ASSIGNMENT` loads the results of grading and writes a page and files.

load --> item analysis, mistakes, groups, lecture, similar work, incidents --> ClassReport --> page, JSON, CSV
"""

import hashlib
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from grader.classroom.course_dir import CourseDir
from grader.classroom.source.assignment_files import assignment_files
from grader.classroom.source.inputs import outdated_sentence
from grader.classroom.source.sources import read_sources
from grader.classroom.student import kept_text, repaired
from grader.commands.prove.prover import Prover
from grader.commands.report.draft.draft import behaves_like, draft, known_mistake
from grader.commands.report.files import write_files
from grader.commands.report.item_analysis import analysed_tests, exercises
from grader.commands.report.load import ClassData, load_class
from grader.commands.report.mistakes import (
    BehaviourGroup,
    behaviour_groups,
    known_mistakes,
    lecture,
    unnamed_groups,
    wrong_answers,
)
from grader.commands.report.model import ClassReport, Incident, SimilarPair, StudentIndex
from grader.commands.report.similar import StudentWork, similar
from grader.commands.shared import REPORTS
from grader.engine.diagnosis.misconceptions import Misconception, load
from grader.engine.limits import Limits
from grader.engine.notebook.outline import Outline
from grader.engine.report import Verdict
from grader.errors import GraderError
from grader.text import plural

LOOK_SECONDS = 2.0
"""Seconds between two checks for new results."""
REFRESH_SECONDS = 10
"""Seconds after which a page that follows arrivals reloads itself."""
INCIDENT_VERDICTS = (Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY, Verdict.CRASHED, Verdict.OUTPUT_LIMIT)
REPAIRED, GIVEN_UP, TROUBLE, REMARK = "repaired", "not graded to the end", "could not be graded", "noted"
DOES_NOT_RUN = "does not run"


@dataclass(frozen=True)
class ReportOptions:
    """Options of a report: omit names, rewrite it when new results arrive, and write to a different folder."""

    anonymous: bool = False
    follow: bool = False
    output: Path | None = None


def report(
    course_dir: CourseDir, assignment: str, options: ReportOptions, note: Callable[[str], None] = lambda line: None
) -> Iterator[Path]:
    """Write the report on a class, once or whenever new results arrive; yield the page each time.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        options: how to write it.
        note: shows a sentence on students whose points are older than the course.

    Raises:
        GraderError: there is no such assignment, nothing of it has been graded, or its source is not that of the
            gradebook's cells.
    """
    folder = options.output or course_dir.root / REPORTS / assignment
    while True:
        seen = _latest(course_dir, assignment)
        made = class_report(course_dir, assignment, is_anonymous=options.anonymous)
        made.refresh = REFRESH_SECONDS if options.follow else 0
        if older := [student for student in made.students if student.outdated]:
            changed = {part for student in older for part in student.outdated}
            note(outdated_sentence(assignment, [student.name for student in older], changed))
        yield write_files(made, folder, _labels(course_dir, assignment))
        if not options.follow:
            return
        while _latest(course_dir, assignment) == seen:
            time.sleep(LOOK_SECONDS)


def _labels(course_dir: CourseDir, assignment: str) -> dict[str, str]:
    sources = read_sources(
        course_dir.require(assignment), Limits(config=course_dir.config).notebook_mb, course_dir.config
    )
    return {name: label for source in sources.values() for name, label in Outline(source).labels.items()}


def class_report(course_dir: CourseDir, assignment: str, *, is_anonymous: bool = False) -> ClassReport:
    """Return the report on a class.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        is_anonymous: whether to replace names by numbers, in an order that reveals nothing about names.

    Raises:
        GraderError: there is no such assignment, or nothing of it has been graded.
    """
    data = load_class(course_dir, assignment)
    if not data.students:
        raise GraderError(f"nothing of '{assignment}' has been graded: run 'grader grade {assignment}' first")
    if is_anonymous:
        data = _without_names(data, assignment)
    misconceptions = load(course_dir.folder("source", assignment))
    groups = behaviour_groups(wrong_answers(data))
    mistakes, unnamed = known_mistakes(data, groups, misconceptions), unnamed_groups(data, groups)
    return ClassReport(
        assignment=assignment,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        due=data.due.isoformat(timespec="seconds") if data.due else "",
        students=data.students,
        missing=data.missing,
        ungraded=data.ungraded,
        exercises=exercises(data),
        tests=analysed_tests(data),
        mistakes=mistakes,
        groups=unnamed,
        lecture=lecture(data.outline.sources, mistakes, unnamed),
        pairs=_similar_work(data, groups, misconceptions),
        incidents=incidents(data),
        is_anonymous=is_anonymous,
    )


def draft_mistake(course_dir: CourseDir, assignment: str, key: str) -> str:
    """Return an entry for misconceptions/ that behaves like an unnamed group, after a comment with the file's path.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        key: the group's key in the report.

    Raises:
        GraderError: no group has this key, its answers do not run, or its example now behaves like our solution or like
            a known mistake.
        SandboxUnavailable: the kernel cannot confine student code.
    """
    data = load_class(course_dir, assignment)
    wrong = wrong_answers(data)
    found = {each.key: each for each in unnamed_groups(data, behaviour_groups(wrong))}
    if key not in found:
        exercise, _, _ = key.rpartition("-")
        if broken := sum(each.does_not_run and exercise == each.exercise for each in wrong):
            raise GraderError(
                f"no unnamed group has the key {key!r}, and {plural(broken, 'answer')} to {exercise} "
                f"{'does' if broken == 1 else 'do'} not run, which is no mistake to name: the report has them under "
                "Incidents"
            )
        keys = ", ".join(found) or "none"
        raise GraderError(f"no unnamed group of '{assignment}' has the key {key!r}; the report lists them: {keys}")
    group = found[key]
    limits = Limits(config=course_dir.config)
    files = assignment_files(course_dir.require(assignment), course_dir.directory.ignore, limits)
    prover = Prover(limits=limits, helper_packages=course_dir.helper_packages, files={group.exercise: files})
    source, answer = data.outline.sources[group.notebook], group.example.source
    is_alike = behaves_like(source, group.exercise, answer, prover)
    reference = Outline(source).reference(group.exercise)
    misconceptions = load(course_dir.folder("source", assignment))
    known = known_mistake(reference, (each for each in misconceptions if each.exercise == group.exercise), is_alike)
    if known is not None:
        raise GraderError(
            f"the answers of {key} are a known mistake, '{known.name}', that was not named when they were graded: "
            "grade the class again with --force"
        )
    made = draft(reference, group.exercise, answer, is_alike)
    if made is None:
        raise GraderError(f"the answers of {key} behave like our solution today: grade the class again")
    place = course_dir.folder("source", assignment) / "misconceptions" / f"{group.exercise}.toml"
    doubt = "" if group.is_certain else "# Numbers could not be compared, because parameters were drawn differently.\n"
    return f"# {os.path.relpath(place, course_dir.root)}: write the name and the hint\n{doubt}{made.toml}"


def _similar_work(
    data: ClassData, groups: Iterable[BehaviourGroup], misconceptions: Sequence[Misconception]
) -> list[SimilarPair]:
    """The pairs of students whose work is worth a look; `groups` are the wrong answers, grouped by behaviour."""
    behaviours: list[dict[str, str]] = [{} for _ in data.students]
    known: list[set[str]] = [set() for _ in data.students]
    for number, group in enumerate(groups):
        for wrong in group.members:
            behaviours[wrong.index][wrong.exercise] = str(number)
            if group.causes:
                known[wrong.index].add(wrong.exercise)
    questions = {name for name, each in data.outline.exercises.items() if each.is_question}
    works = []
    for index, (student, records) in enumerate(zip(data.students, data.records, strict=True)):
        written = {each.exercise for each in student.exercises if each.is_written} - questions
        answers = {
            name: source for record in records.values() for name, source in record.answers.items() if name in written
        }
        shares = {each.exercise: (each.points or 0.0) / (each.max_points or 1.0) for each in student.exercises}
        works.append(StudentWork(index, answers, shares, behaviours[index], known[index]))
    # Students share the reference solutions, which include the released cells, without suspicion. So do students with
    # the same known mistake share what it changes in them.
    outlines = map(Outline, data.outline.sources.values())
    given = {exercise: [each.reference(exercise)] for each in outlines for exercise in each.coded}
    for mistake in misconceptions:
        with suppress(GraderError):  # an edit that does not fit the reference
            if mistake.exercise in given:
                given[mistake.exercise].append(mistake.apply(given[mistake.exercise][0]))
    return similar(works, given)


def incidents(data: ClassData) -> list[Incident]:
    """Return the technical problems by kind, the most frequent of a kind first."""
    found: dict[tuple[str, str, str], list[StudentIndex]] = defaultdict(list)
    for index, (student, records) in enumerate(zip(data.students, data.records, strict=True)):
        happened: set[tuple[str, str, str]] = {(TROUBLE, "", trouble) for trouble in student.troubles}
        # Repairs are listed cell by cell below, so skip the remarks that sum them up.
        below = {repaired(len(record.repairs), notebook) for notebook, record in records.items()}
        below |= {kept_text(notebook) for notebook in records}
        happened |= {(REMARK, "", remark) for remark in data.remarks[index] if remark not in below}
        for notebook, record in records.items():
            happened |= {(REPAIRED, notebook, repair) for repair in record.repairs}
            if record.given_up:
                happened.add((GIVEN_UP, notebook, "Grade it again with --force."))
                continue
            for test in record.tests:
                if test.ending is not None:
                    line = f", line {test.ending.line}" if test.ending.line else ""
                    happened.add((str(test.verdict), test.exercise, f"{test.name}{line}: {test.ending.reason}"))
                elif test.verdict in INCIDENT_VERDICTS:
                    happened.add((str(test.verdict), test.exercise, test.explanation.message))
        for each in happened:
            found[each].append(index)
    for wrong in wrong_answers(data):
        if wrong.does_not_run:
            found[DOES_NOT_RUN, wrong.exercise, wrong.first.explanation.message].append(wrong.index)
    listed = [Incident(kind, where, words, students) for (kind, where, words), students in found.items()]
    return sorted(listed, key=lambda each: (each.kind, -len(each.students), each.place, each.detail))


def _without_names(data: ClassData, assignment: str) -> ClassData:
    """Replace names by numbers, in an order that their names do not reveal but that is the same in each report."""

    def mixed(index: int) -> str:
        return hashlib.sha256(f"{assignment} {data.students[index].name}".encode()).hexdigest()

    order = sorted(range(len(data.students)), key=mixed)
    students = [data.students[index] for index in order]
    for number, student in enumerate(students, 1):
        student.name = f"student {number}"
    return replace(
        data,
        students=students,
        records=[data.records[index] for index in order],
        remarks=[data.remarks[index] for index in order],
        by_person=[data.by_person[index] for index in order],
        missing=_numbers(data.missing),
        ungraded=_numbers(data.ungraded),
    )


def _numbers(names: list[str]) -> list[str]:
    return [f"another {number}" for number, _ in enumerate(names, 1)]


def _latest(course_dir: CourseDir, assignment: str) -> tuple[int, float]:
    """The number of students with results, and the time of the latest."""
    folders = course_dir.folder("autograded", assignment, "x").parent.parent.glob(f"*/{assignment}")
    times = [folder.stat().st_mtime for folder in folders]
    return len(times), max(times, default=0.0)
