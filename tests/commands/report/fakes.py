"""Makes reports on classes of any size, with everything a report can hold, the same for the same seed."""

import random
from datetime import UTC, datetime, timedelta

from grader.commands.report.model import (
    ClassReport,
    Example,
    ExercisePoints,
    ExerciseStatistics,
    Incident,
    LectureItem,
    Mistake,
    Passage,
    SimilarPair,
    Student,
    TestStatistics,
    UnnamedGroup,
)

DONE = [
    "leaves out the tanh",
    "overwrites the query with fc_align(query)",
    "uses `eval()` and not the width of a head, so that a word sees the next one",
]
SOURCE = '''class VanillaAttention(nn.Module):
    """Scores each key with the query, and sums the keys by weight."""

    def __init__(self, dim):
        super().__init__()
        self.fc_align = nn.Linear(dim, dim)
        self.fc_query = nn.Linear(dim, dim)
        self.fc_value = nn.Linear(dim, dim)

    def forward(self, query, key):  # (B, D), (B, L, D)
        score = (self.fc_align(key) * query.unsqueeze(1)).sum(-1)  # (B, L)
        att = score.softmax({place})
        context = (att.unsqueeze(-1) * key).sum(1)
        return self.fc_query(query) + self.fc_value(context)
'''
MESSAGE = "The example by hand gives [[3, 1], [3, -1]]; yours is [[3, 2], [3, 1]]: look at the sign of `stride`."
EXAMPLE = """### A sentence of two words

The weights of *river* and *bank* add up to one:

```python
score = torch.tensor([[2.0, 1.0]])
print(score.softmax(1))  # tensor([[0.7311, 0.2689]])
print(score.softmax(0))  # tensor([[1., 1.]])
```

Each row has its own weights, $\\alpha_{ij} = e^{s_{ij}} / \\sum_k e^{s_{ik}}$."""
HINT = "Your weights add up to 1 over the batch. The formula sums over the words of one sentence, which is `dim=1`."


def fake_report(
    students: int = 300,
    *,
    tests: int = 60,
    exercises: int = 12,
    mistakes: int = 40,
    groups: int = 30,
    pairs: int = 50,
    seed: int = 0,
    refresh: int = 0,
    is_anonymous: bool = False,
) -> ClassReport:
    """Return a report with so many of each thing; a class without students has made no mistakes."""
    draw = random.Random(seed)
    names = [f"exercise-{place}" for place in range(exercises)]
    points = [float(draw.choice((3, 5, 6, 8, 10))) for _ in names]
    people = [_student(place, names, points, draw, is_anonymous=is_anonymous) for place in range(students)]

    def some(most: int) -> list[int]:
        return sorted(draw.sample(range(students), min(students, draw.randint(1, most))))

    def where(place: int) -> tuple[str, str]:
        return names[place % exercises], f"{1 + place % exercises // 4}-notebook"

    has_answers = bool(students and exercises)
    return ClassReport(
        assignment="04-attention",
        made="2026-03-09T08:15:00+00:00",
        due="2026-03-06T22:59:00+00:00",
        students=people,
        missing=[f"missing {place}" for place in range(students // 25)],
        ungraded=["ungraded one"] if students else [],
        exercises=[
            ExerciseStatistics(
                name,
                f"{1 + place // 4}-notebook",
                points[place],
                [
                    each.exercises[place].points / points[place]
                    for each in people
                    if each.exercises[place].points is not None
                ],
                blank=sum(not each.exercises[place].is_written for each in people),
                is_question=place == exercises - 1,
                handed_in=students,
                waiting=sum(each.exercises[place].points is None for each in people),
            )
            for place, name in enumerate(names)
        ],
        tests=[_test(place, *where(place), students, draw) for place in range(tests if exercises else 0)],
        mistakes=[
            Mistake(
                *where(place),
                [DONE[place % len(DONE)]] if place % 9 else [DONE[0], DONE[1]],
                HINT,
                some(max(1, students // 8)),
                draw.randint(1, 160) / 2,
                Example(SOURCE.format(place=place), MESSAGE),
            )
            for place in sorted(range(mistakes), key=lambda each: each % max(1, exercises))
            if has_answers
        ],
        groups=[
            UnnamedGroup(
                f"{where(place)[0]}-{place}a7",
                *where(place),
                some(max(1, students // 15)),
                [f"{where(place)[0]}-test-values", f"{where(place)[0]}-test-gradients"][: 1 + place % 2],
                draw.randint(1, 60) / 2,
                Example(SOURCE.format(place=place), MESSAGE),
                is_certain=place % 4 != 0,
            )
            for place in range(groups)
            if has_answers
        ],
        lecture=[
            LectureItem(DONE[place], *where(place), 30 - place, 51.5 - place, HINT + " " + HINT, EXAMPLE)
            for place in range(3)
            if has_answers
        ],
        pairs=[_pair(place, students, where(place)[0], draw) for place in range(pairs) if students > 1 and exercises],
        incidents=[
            Incident(kind, place, detail, some(9))
            for kind, place, detail in (
                ("timed out", "1-notebook", "It was stopped after 60 s: the cell `dropout` never ended."),
                ("timed out", "2-notebook", "The time for the whole notebook was used up."),
                ("repaired", "1-notebook", "The test `linear-check` was changed and has been restored."),
                ("damaged", "3-notebook", "It is not a notebook: it ends in the middle of a line."),
            )
            if students
        ],
        is_anonymous=is_anonymous,
        refresh=refresh,
    )


def _student(place: int, names: list[str], points: list[float], draw: random.Random, *, is_anonymous: bool) -> Student:
    skill = draw.betavariate(4, 1.6)
    answers = []
    for name, most in zip(names, points, strict=True):
        is_written = draw.random() < 0.6 + skill / 2
        part = 1.0 if draw.random() < skill else draw.choice((0.0, 0.25, 0.5, 0.75))
        answers.append(ExercisePoints(name, part * most if is_written else 0.0, most, is_written))
    waits = bool(answers) and answers[-1].is_written and place % 7 == 0
    if waits:
        answers[-1].points, answers[-1].waiting = None, answers[-1].max_points
    due = datetime(2026, 3, 6, 22, 59, tzinfo=UTC)
    early = timedelta(hours=draw.expovariate(1 / 30) - 6)
    return Student(
        f"student {place + 1}" if is_anonymous else f"chloé müller {place}",
        sum(each.points or 0.0 for each in answers),
        sum(points),
        (due - early).isoformat(),
        max(0.0, -early.total_seconds()),
        1.0 if early < timedelta(0) else 0.0,
        int(waits),
        answers,
        ["2-notebook could not be read"] if place % 40 == 3 else [],
        waiting_max_points=answers[-1].waiting if answers else 0.0,
    )


def _test(place: int, exercise: str, notebook: str, students: int, draw: random.Random) -> TestStatistics:
    passed = draw.randint(0, students)
    discrimination = draw.uniform(-0.2, 0.8) if 0 < passed < students else None
    notes = []
    if passed == students:
        notes.append("All students pass it.")
    if passed == 0:
        notes.append("No student passes it.")
    if discrimination is not None and discrimination < -0.05:
        notes.append("Good students fail it more often than weak ones.")
    kind = ("values", "shape", "gradients", "mask", "state")[place // 12 % 5]
    return TestStatistics(
        f"{exercise}-test-{kind}",
        exercise,
        notebook,
        2.0,
        students,
        passed,
        discrimination,
        2.0 * (students - passed),
        notes,
    )


def _pair(place: int, students: int, exercise: str, draw: random.Random) -> SimilarPair:
    left, right = draw.sample(range(students), 2)
    one = SOURCE.format(place=1).splitlines()
    other = [line.replace("score", "s").replace("context", "summed") for line in one]
    other[3:3] = ["    # my own layer", ""]
    same = [(line, line + (2 if line >= 3 else 0)) for line in range(len(one)) if one[line] and line not in (1, 11)]
    reasons = [
        f"Both answers to `{exercise}` behave alike, and wrong in a way that 2 of {students} students share.",
        f"91% of the text of `{exercise}` is the same after renaming.",
    ]
    passages = [Passage(exercise, one, other, same)] * (1 + place % 3)
    return SimilarPair(left, right, 100.0 - place, reasons, passages)
