"""Draws the charts of the report as inline SVG that is readable without colour: filled, hatched, empty and dashed.

    ClassReport --bins--> Column --svg--> a chart, beside a table of the same columns

Colours and patterns come from the style sheet of the page, so charts follow dark mode and print.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from markupsafe import Markup

from grader.commands.report.model import ClassReport, ExerciseStatistics
from grader.commands.report.page.overview import ALL, moment

WIDTH, HEIGHT = 480, 176
TOP, BOTTOM, LINE = 18, 34, 13
"""Space for numbers above the columns and labels below them, and the height of a line of labels."""
STRIP_WIDTH, STRIP_HEIGHT = 112, 32

MOST_COLUMNS = 12
STEPS = [timedelta(hours=hours) for hours in (1, 3, 6, 12)] + [timedelta(days=days) for days in (1, 2, 7, 28)]
"""Widths of a column of hand-in times. The first that needs at most MOST_COLUMNS columns is used."""


@dataclass(frozen=True)
class Column:
    """One column of a chart: its label (lines), a description, and the counts of its parts from the bottom up.

    A part's kind is a class of the style sheet: `filled`, `hatched`, `empty` or `dashed`.
    """

    label: str
    description: str
    parts: tuple[tuple[str, int], ...]

    @property
    def count(self) -> int:
        """The students in this column."""
        return sum(count for _, count in self.parts)


def point_columns(shares: Iterable[float]) -> list[Column]:
    """Return the distribution of shares of points (0 to 1) in steps of ten percent, and a column for all points."""
    bins = Counter(10 if share >= ALL else max(0, int(share * 10 + 1e-9)) for share in shares)
    below = [
        Column(f"{10 * step}–{10 * step + 9}", f"{10 * step} to {10 * step + 9}%", (("filled", bins[step]),))
        for step in range(10)
    ]
    return [*below, Column("100", "all points", (("filled", bins[10]),))]


def exercise_columns(exercise: ExerciseStatistics) -> list[Column]:
    """Return the counts of students with nothing written, no points, a part in steps of 20 percent, and all points."""
    none = sum(share <= 0 for share in exercise.shares)
    parts = Counter(min(4, int(share * 5 + 1e-9)) for share in exercise.shares if 0 < share < ALL)
    return [
        Column("", "nothing written", (("dashed", exercise.blank),)),
        Column("", "no points", (("empty", max(0, none - exercise.blank)),)),
        *(Column("", f"{20 * step} to {20 * step + 19}%", (("hatched", parts[step]),)) for step in range(5)),
        Column("", "all points", (("filled", sum(share >= ALL for share in exercise.shares)),)),
    ]


def hand_in_columns(report: ClassReport) -> list[Column]:
    """Return the histogram of hand-in times, in time and late, in steps that suit their range."""
    times = [
        (time, student.seconds_late > 0)
        for student in report.students
        if (time := moment(student.handed_in)) is not None
    ]
    if not times:
        return []
    first, last = min(times)[0], max(times)[0]
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)

    def start(step: timedelta) -> timedelta:
        return (first - midnight) // step * step

    widest = timedelta(days=(last - midnight).days // MOST_COLUMNS + 1)
    step = next((each for each in STEPS if (last - midnight - start(each)) // each < MOST_COLUMNS), widest)
    begin = midnight + start(step)
    bins = Counter(((time - begin) // step, is_late) for time, is_late in times)
    columns: list[Column] = []
    for place in range((last - begin) // step + 1):
        opens = begin + place * step
        day = f"{opens.day} {opens:%b}"
        shows_day = step >= timedelta(days=1) or not columns or opens.hour == 0
        clock = f"{opens:%H:%M}\n" if step < timedelta(days=1) else ""
        words = f"from {day} {opens:%H:%M}" if clock else f"from {day}"
        parts = (("filled", bins[place, False]), ("hatched", bins[place, True]))
        columns.append(Column(clock + (day if shows_day else ""), words, parts))
    return columns


def chart(columns: list[Column], label: str) -> Markup:
    """Return columns with their counts above and their labels below, as SVG.

    Args:
        columns: the columns, at least one.
        label: a description of the chart for screen readers.
    """
    pitch = WIDTH / len(columns)
    most = max(column.count for column in columns) or 1
    shapes = Markup()
    for place, column in enumerate(columns):
        middle, bottom = (place + 0.5) * pitch, float(HEIGHT - BOTTOM)
        for kind, count in column.parts:
            height = count / most * (HEIGHT - TOP - BOTTOM)
            bottom -= height
            shapes += _box(kind, middle - 0.39 * pitch, bottom, 0.78 * pitch, height)
        if column.count:
            shapes += _text(middle, bottom - 4, str(column.count), "count")
        for line, words in enumerate(column.label.split("\n"), 1):
            shapes += _text(middle, HEIGHT - BOTTOM + 3 + line * LINE, words)
    axis = Markup('<path class="axis" d="M0 {0}H{1}"/>').format(HEIGHT - BOTTOM, WIDTH)
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}</svg>').format(
        WIDTH, HEIGHT, label, shapes, axis
    )


def strip(columns: list[Column]) -> Markup:
    """Return small columns without text, as SVG for a table row that also holds the numbers."""
    pitch = STRIP_WIDTH / len(columns)
    most = max(column.count for column in columns) or 1
    shapes = Markup().join(
        _box(kind, place * pitch + 1.5, STRIP_HEIGHT - 1 - height, pitch - 3, height)
        for place, column in enumerate(columns)
        for kind, count in column.parts
        if (height := count and max(1.5, count / most * (STRIP_HEIGHT - 3)))
    )
    return Markup(
        '<svg class="strip" viewBox="0 0 {0} {1}" width="{0}" height="{1}" aria-hidden="true">{2}'
        '<path class="axis" d="M0 {3}H{0}"/></svg>'
    ).format(STRIP_WIDTH, STRIP_HEIGHT, shapes, STRIP_HEIGHT - 0.5)


def bar(share: float) -> Markup:
    """Return a bar that is filled to `share` (0 to 1), as SVG."""
    return Markup(
        '<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="filled" width="{:.1f}" height="10"/></svg>'
    ).format(100 * min(max(share, 0.0), 1.0))


def _box(kind: str, x: float, y: float, width: float, height: float) -> Markup:
    if not height:
        return Markup()
    return Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
        kind, x, y, width, height
    )


def _text(x: float, y: float, words: str, style: str = "label") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(style, x, y, words) if words else Markup()
