"""Few classes hold the points of a cell, an exercise, a notebook or a student: a feature brings no copy of its own."""

import ast
import re
from collections.abc import Iterator

from tests.support.paths import GRADER, KERNEL

LIMIT = 19
"""Before the classes were merged, there were 38. A new feature uses one of those that there are; two were added for
marking question by question: the mark that a person gives, and the state of a group of answers; two for marks that
students have back: a notebook with the points of that moment, and an exercise of a page of which a part waits."""

POINTS = re.compile(r"(^|_)(points?|scores?|penalt(y|ies)|earned|marks?|lost|worth|gain|grades?|percent)($|_)")
"""Names of numbers that are points, whatever their type."""

OTHER = {
    "Channel": {"_deadline", "deadline", "postponed"},  # times
    "Clock": {"now"},
    "Deadline": {"moment"},
    "_Queue": {"waited"},
    "_Lease": {"until"},
    "_Kept": {"_seconds", "_values"},
    "StateHandler": {"_seconds"},
    "Dispatcher": {"_arrivals"},
    "Graders": {"batch_wait"},
    "ClusterJob": {"lost"},  # workers that were lost over it
    "Job": {"cell_seconds", "notebook_seconds", "all_seconds"},
    "Twister": {"second"},  # a normal number
    "WorkerState": {"ready_by", "started", "load"},
    "Notebook": {"when"},
    "Refusal": {"retry_after"},
    "_Search": {"end"},
    "SubmissionScore": {"seconds_late"},
    "Rates": {"_buckets"},  # requests
    "Fingerprint": {"numbers"},  # numbers of a student's code
    "_FingerprintBuilder": {"_numbers"},
    "Options": {"grade"},  # a function
    "SimilarPair": {"score"},  # how much two answers have in common
    "_Survey": {"_groups"},
    "StudentWork": {"shares"},
    # Points that tests offer, and that trivial answers would earn; no student has them.
    "ExerciseToProve": {"points"},
    "Matrix": {"points"},
    "CellCount": {"most"},
    "Progress": {"points"},  # of a question
    "ReusableComment": {"points"},  # that it is worth
    "_Given": {"points"},  # what a browser sends
    "ServiceContext": {"late_penalty"},  # the course's plug-in
    "AssignmentOutline": {"max_points"},
    "ForNothing": {"points", "out_of"},
    # Points that a test can give, and those that our own solution loses; no student has them.
    "RunTest": {"points"},
    "Fault": {"lost", "max_points"},
    "EndOfTest": {"points"},  # a number that the sandbox claims
    "Entry": {"before", "after"},  # what a change replaced by what: history, which no score is computed from
    # What a mistake costs a class, summed over students: a statistic that no other class holds.
    "UnnamedGroup": {"cost"},
    "LectureItem": {"cost"},
    "Mistake": {"cost"},
    "WrongAnswer": {"cost"},
    "ClassSummary": {"half", "half_of"},  # of the class
}
"""Other numbers with fractions, and other things with such names."""


SCORES = {"CellScore", "NotebookScore", "NotebookScores", "SubmissionScore", "PreviousScores", "Ledger"}
"""Classes by whose names a container is recognised; those of its own file are known besides."""


def numbers(definition: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The name and the type of what a class stores or computes from itself."""
    for part in definition.body:
        match part:
            case ast.AnnAssign(target=ast.Name(name), annotation=kind):
                yield name, ast.unparse(kind)
            case ast.FunctionDef(name, ast.arguments(args=[_]), returns=ast.expr() as kind):
                yield name, ast.unparse(kind)
    for part in ast.walk(definition):
        match part:
            case ast.AnnAssign(target=ast.Attribute(attr=name), annotation=kind):
                yield name, ast.unparse(kind)


def holders(source: str) -> list[str]:
    """The classes in a source that hold points. One that holds objects of another such class holds none itself."""
    classes = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.ClassDef)]
    known = {each.name for each in classes} | SCORES
    return [
        each.name
        for each in classes
        if any(
            name not in OTHER.get(each.name, ())
            and ("float" in kind or (POINTS.search(name) and not known.intersection(re.findall(r"\w+", kind))))
            for name, kind in numbers(each)
            if kind not in ("bool", "None", "str")
        )
    ]


def test_few_classes_hold_points() -> None:
    """The result of a test, its published form, a view of an exercise, a cell, a notebook, and what a report shows."""
    files = [path for package in (GRADER, KERNEL) for path in (package / "src").rglob("*.py")]
    found = sorted(f"{path.stem}.{name}" for path in files for name in holders(path.read_text()))
    assert len(files) > 150 and "report.Result" in found and "rules.CellScore" in found
    assert len(found) <= LIMIT, f"{len(found)} classes hold points: {', '.join(found)}"


def test_points_are_found_under_any_name() -> None:
    """A number with a fraction is points unless it is known to be other than that; so is a whole one of such a name."""
    assert holders("class A:\n    half: float | None = None") == ["A"]
    assert holders("class A:\n    @property\n    def top(self) -> float: ...") == ["A"]
    assert holders("class A:\n    def __init__(self):\n        self._by: dict[str, float] = {}") == ["A"]
    assert holders("class A:\n    max_points: int") == ["A"]
    assert holders("class A:\n    scores: dict[str, Any]") == ["A"]


def test_what_holds_no_points_is_not_found() -> None:
    """Such as a container, a flag, a function of something else, and a time that is listed."""
    assert holders("class A:\n    score: NotebookScore\n    has_points: bool") == []
    assert holders("class A:\n    def points(self, exercise: str) -> float: ...") == []
    assert holders("class WorkerState:\n    load: float") == [] and holders("class Other:\n    load: float") == [
        "Other"
    ]
