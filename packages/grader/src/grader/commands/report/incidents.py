"""Collects what went wrong apart from answers: crashes, time-outs, repairs, damaged files."""

from collections import defaultdict

from grader.classroom.student import repaired
from grader.commands.report.load import ClassData
from grader.commands.report.model import Incident, StudentIndex
from grader.engine.report import Verdict

BY_VERDICT = (Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY, Verdict.CRASHED, Verdict.OUTPUT_LIMIT)
REPAIRED, GIVEN_UP, TROUBLE, REMARK = "repaired", "not graded to the end", "could not be graded", "noted"


def incidents(data: ClassData) -> list[Incident]:
    """Return what went wrong, by kind, place and words; what happened to most students first."""
    found: dict[tuple[str, str, str], list[StudentIndex]] = defaultdict(list)
    for index, (student, records) in enumerate(zip(data.students, data.records, strict=True)):
        happened: set[tuple[str, str, str]] = {(TROUBLE, "", trouble) for trouble in student.troubles}
        # How many cells were repaired is said cell by cell below.
        below = {repaired(len(record.repairs), notebook) for notebook, record in records.items()}
        happened |= {(REMARK, "", remark) for remark in data.remarks[index] if remark not in below}
        for notebook, record in records.items():
            happened |= {(REPAIRED, notebook, repair) for repair in record.repairs}
            if record.given_up:
                happened.add((GIVEN_UP, notebook, "Grade it again with --force."))
                continue
            for test in record.tests:
                if test.verdict in BY_VERDICT:
                    happened.add((str(test.verdict), test.exercise, test.explanation.message))
        for each in happened:
            found[each].append(index)
    listed = [Incident(kind, where, words, students) for (kind, where, words), students in found.items()]
    return sorted(listed, key=lambda each: (each.kind, -len(each.students), each.place, each.detail))
