"""Defines the table of hand-ins.

waiting --> grading --> graded
   |           \\--> refused, if it is not a notebook
   \\--> superseded, by a newer one of the same notebook
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Boolean, Column, DateTime, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

from grader.commands.serve.fair_queue import Ticket

WAITING, GRADING, GRADED, REFUSED, SUPERSEDED = "waiting", "grading", "graded", "refused", "superseded"

metadata = MetaData()
hand_in = Table(
    "hand_in",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), unique=True, nullable=False),
    Column("student", String(128), nullable=False),
    Column("assignment", String(128), nullable=False),
    Column("notebook", String(128), nullable=False),
    Column("received", DateTime, nullable=False),  # UTC
    Column("sha256", String(64), nullable=False),
    Column("content", LargeBinary),  # None if it can never be graded or its student's later ones need the space
    Column("attempt", Integer, nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("superseded_by", String(32)),
    Column("problem", Text),  # the reason for a refusal
    Column("report", Text),  # JSON
    Column("points", Float),
    Column(
        "is_free", Boolean, nullable=False, default=False
    ),  # always false; tables of earlier versions require a value
    Column("counts", Boolean, nullable=False, default=False),
    Column("page", LargeBinary),  # compressed HTML; kept of the newest and of the counting one
    Column("graded_at", DateTime),
    Index("hand_in_work", "student", "assignment", "notebook"),
)
shown_columns = [column for column in hand_in.columns if column.name not in ("content", "is_free", "page")]


@dataclass(frozen=True)
class SubmissionRow:
    """A hand-in without its bytes."""

    number: int
    id: str
    student: str
    assignment: str
    notebook: str
    received: datetime
    sha256: str
    attempt: int
    state: str
    superseded_by: str | None
    problem: str | None
    report: str | None
    points: float | None
    counts: bool
    graded_at: datetime | None

    @property
    def ticket(self) -> Ticket:
        """The hand-in's ticket for the queue."""
        return Ticket(self.id, self.student, self.assignment, self.notebook)
