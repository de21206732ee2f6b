"""Marks the answers to one assignment: groups of identical answers, what each was given, by whom, and what changed.

    answers (autograded/) + rows (gradebook) --> Group --version--> a person --give(version)--> gradebook + record
                                                   |
                                                   +--> GroupState, with the number of the change that made it

Everything here runs in one thread. A mark is given over what the person saw, or not at all: the version of a group is a
digest of its members' rows, and the gradebook compares the rows once more while it writes them.
"""

import math
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.marks import CellName, MarkBook, MarkChanged, NewMark, StudentMark
from grader.classroom.record.catch_up import catch_up
from grader.classroom.record.entry import Entry, Kind, new_id, now
from grader.classroom.record.record import UNDONE, Append, Record
from grader.classroom.record.requests import answer, open_requests, points_before
from grader.commands.mark.answers import ClassAnswers, Rendered
from grader.commands.mark.comments import CommentStore
from grader.commands.mark.groups import Group, GroupState, OpenRequest, state_of
from grader.commands.mark.questions import Question, read_questions
from grader.engine.notebook.cells import CellType
from grader.errors import GraderError
from grader.text import printable

MAX_UNDO = 500
THE_STUDENT = "the student"
"""`who` of a student's own entries, because names are hidden."""
MAX_COMMENT = 10_000
"""Longest comment on an answer, in characters."""


class Stale(Exception):
    """The group is no longer as the person saw it; `state` is how it is now."""

    def __init__(self, state: GroupState) -> None:
        super().__init__(state.group)
        self.state = state


@dataclass(frozen=True)
class Progress:
    """How far the marking of a question is, in students, and how many requests for a regrade are open."""

    question: Question
    students: int
    waiting: int
    points: float
    requests: int


@dataclass(frozen=True)
class Undone:
    """A mark that was taken back: where it was."""

    question: Question
    state: GroupState


@dataclass
class _View:
    """What is known of a question: its groups, their states, and the numbers of the changes that made them."""

    groups: dict[str, Group] = field(default_factory=dict)
    states: dict[str, GroupState] = field(default_factory=dict)
    changed_at: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    revision: int = field(default_factory=lambda: time.time_ns() // 10**6)
    """Larger than any of an earlier server, whose pages may still be open on a hub."""


@dataclass(frozen=True)
class _Action:
    question: Question
    group: str
    changes: tuple[tuple[str, NewMark, NewMark], ...]
    """Students, what they had, and what they were given."""


class Marking:
    """The marking of one assignment; use it from one thread."""

    def __init__(self, course_dir: CourseDir, assignment: str) -> None:
        """Read the questions of an assignment.

        Args:
            course_dir: the course folder.
            assignment: the assignment's name.

        Raises:
            GraderError: there is no such assignment, it was not graded yet, or a file of it is damaged.
        """
        source = read_questions(course_dir, assignment)
        self.assignment, self.questions = assignment, source.questions
        self.comments = CommentStore(course_dir.root, assignment)
        self._book = MarkBook(course_dir, assignment)
        self._answers = ClassAnswers(course_dir, assignment, source)
        self._course_dir, self._record = course_dir, course_dir.record or Record(course_dir.root)
        catch_up(course_dir)
        self._views: defaultdict[CellName, _View] = defaultdict(_View)
        self._done: defaultdict[str, deque[_Action]] = defaultdict(lambda: deque(maxlen=MAX_UNDO))

    def close(self) -> None:
        """Close the gradebook."""
        self._book.close()

    def progress(self) -> list[Progress]:
        """Return the questions that there is something to mark of, in order: a test only if a person set one."""
        counts, open_now, found = self._book.counts(), self.requests(), []
        for question in self.questions.values():
            count = counts.get(question.name)
            asked = sum(_is_about(each, question) for each in open_now)
            if count and (question.kind is not CellType.TEST or count.waiting or count.given or asked):
                found.append(Progress(question, count.students, count.waiting, count.most, asked))
        return found

    def requests(self) -> list[Entry]:
        """Return the open requests for a regrade, the oldest first."""
        return open_requests(self._record, self.assignment)

    def answer_request(self, question: Question, group: str, key: str, text: str, marker: str) -> GroupState:
        """Answer a request for a regrade with a text and the points that now count, and return the group's new state.

        Args:
            question: the question.
            group: the group with the student who asked.
            key: the id of the request.
            text: what the student will read.
            marker: the person.

        Raises:
            GraderError: there is no such request, the text is empty or too long, or the record cannot be written.
        """
        self.refresh(question)
        if not any(each.id == key for each in self._views[question.name].states[group].requests):
            raise GraderError("this request has already been answered, or its student has another answer now")
        rows = self._book.read(question.name, question.comment_on)

        def points(asked: Entry) -> tuple[float | None, float | None]:
            now = rows[asked.student].score.points
            return points_before(self._record.entries(), asked, now), now

        answer(self._record, key, marker, text, points)
        self.refresh(question)
        return self._views[question.name].states[group]

    def refresh(self, question: Question) -> int:
        """Read what other programs changed, and return the number of the last change of a question."""
        rows = self._book.read(question.name, question.comment_on)
        members, blanks = defaultdict[str, list[StudentMark]](list), dict[str, bool]()
        for student in sorted(rows):
            answer = self._answers.of(student, question)
            members[answer.digest].append(rows[student])
            blanks[answer.digest] = answer.is_blank
        asked = defaultdict[str, list[OpenRequest]](list)
        for entry in self.requests():
            if _is_about(entry, question):
                asked[entry.student].append(OpenRequest(entry.id, entry.why))
        groups = {
            key: Group(key, blanks[key], tuple(own), tuple(one for each in own for one in asked.get(each.student, ())))
            for key, own in members.items()
        }
        view = self._views[question.name]
        # The largest groups first, blank ones last; the digest hides the order of the names. Numbers never change.
        for key in sorted(groups, key=lambda key: (blanks[key], -len(members[key]), key)):
            view.numbers.setdefault(key, len(view.numbers) + 1)
        changed = [key for key, group in groups.items() if view.groups.get(key) != group]
        gone = [key for key, group in view.groups.items() if group.members and key not in groups]
        if changed or gone:
            view.revision += 1
            authors = self._authors(question)
            for key in changed:
                view.states[key] = state_of(groups[key], view.numbers[key], authors)
            for key in gone:
                view.states[key] = GroupState(key, view.numbers[key], 0)
                groups[key] = Group(key, False, ())
            for key in (*changed, *gone):
                view.changed_at[key] = view.revision
            view.groups = groups | {key: group for key, group in view.groups.items() if key not in groups}
        return view.revision

    def touch(self, question: Question, groups: Iterable[str]) -> int:
        """Count a change of groups that is not in the gradebook, and return its number."""
        view = self._views[question.name]
        view.revision += 1
        view.changed_at |= dict.fromkeys(groups, view.revision)
        return view.revision

    def states(self, question: Question, after: int = 0) -> list[GroupState]:
        """Return the states of the groups that changed after a change, in the order of the page."""
        view = self._views[question.name]
        found = [state for key, state in view.states.items() if view.changed_at[key] > after]
        return sorted(found, key=lambda state: state.number)

    def revision(self, question: Question) -> int:
        """Return the number of the last known change of a question."""
        return self._views[question.name].revision

    def students(self, question: Question, group: str) -> list[str]:
        """Return the names of the students of a group."""
        return [each.student for each in self._views[question.name].groups[group].members]

    def rendered(self, question: Question, group: str) -> Rendered:
        """Return the answer of a group as HTML."""
        (student, *_) = self.students(question, group) or ("",)
        return self._answers.rendered(student, question) if student else Rendered(("",))

    def picture(self, question: Question, group: str, number: int) -> tuple[str, bytes] | None:
        """Return the MIME type and the bytes of a picture in an answer; None if there is none."""
        known = self._views[question.name].groups.get(group)
        return self._answers.picture(known.members[0].student, question, number) if known and known.members else None

    def give(
        self, question: Question, group: str, version: str, points: float | None, comment: str, marker: str
    ) -> GroupState:
        """Give all students of a group a mark, and return the group's new state once the gradebook has it.

        Args:
            question: the question.
            group: the group.
            version: the version that the person saw.
            points: the points; None for those of the grader, or for none yet.
            comment: the comment; '' for none.
            marker: the person.

        Raises:
            Stale: the group is no longer as the person saw it; nothing was written.
            GraderError: the mark is not possible, or the gradebook or the record cannot be written.
        """
        current = self._current(question, group, version)
        most = current.members[0].score.max_points
        if points is not None and not (math.isfinite(points) and 0 <= points <= most):
            raise GraderError(f"give from 0 to {most:g} points")
        if len(comment) > MAX_COMMENT:
            raise GraderError(f"a comment has at most {MAX_COMMENT} characters: write a shorter one")
        said = printable(comment, MAX_COMMENT).strip() or None
        changes = [
            (each, NewMark(points, said, points is None and each.score.auto is None)) for each in current.members
        ]
        count = len(changes)
        why = f"the mark of {count} identical answers" if count > 1 else ""
        self._write(question, group, changes, marker, why)
        self._done[marker].append(
            _Action(question, group, tuple((each.student, each.given, mark) for each, mark in changes))
        )
        return self._views[question.name].states[group]

    def undo(self, marker: str) -> Undone:
        """Take the last mark of a person back.

        Raises:
            Stale: it was changed since; it stays, and is not the last one any more.
            GraderError: there is none, or the gradebook or the record cannot be written.
        """
        if not self._done[marker]:
            raise GraderError("there is no mark of yours to undo since `grader mark` was started")
        action = self._done[marker].pop()
        rows = self._book.read(action.question.name, action.question.comment_on)
        changes = []
        for student, before, after in action.changes:
            if student not in rows or rows[student].given != after:
                self.refresh(action.question)
                raise Stale(self._views[action.question.name].states[action.group])
            changes.append((rows[student], before))
        self._write(action.question, action.group, changes, marker, "undone")
        return Undone(action.question, self._views[action.question.name].states[action.group])

    def history(self, question: Question, group: str) -> list[Entry]:
        """Return the entries about a question and the first student of a group, the newest first, without a name."""
        catch_up(self._course_dir)
        (student, *_) = self.students(question, group) or ("",)
        found = [each for each in self._entries(question) if each.student == student]
        return [replace(each, student="", who=THE_STUDENT if each.who == student else each.who) for each in found[::-1]]

    def _current(self, question: Question, group: str, version: str) -> Group:
        """Return a group as it is in the gradebook and in the files now, if that is what the person saw."""
        self.refresh(question)
        view = self._views[question.name]
        if group not in view.states:
            raise GraderError("there is no such answer any more: reload the page")
        current = view.groups[group]
        if not current.members or current.version != version:
            raise Stale(view.states[group])
        return current

    def _write(
        self, question: Question, group: str, changes: Sequence[tuple[StudentMark, NewMark]], marker: str, why: str
    ) -> None:
        entries = [
            self._entry(question, before, mark, marker, why)
            for before, mark in changes
        ]  # fmt: skip
        appended = False
        with self._record.locked() as append:

            def record() -> None:
                nonlocal appended
                append(entries)
                appended = True

            try:
                self._book.write(changes, record)
            except MarkChanged:
                self.refresh(question)
                raise Stale(self._views[question.name].states[group]) from None
            except GraderError:
                if appended:
                    _take_back(append, entries)
                raise
        self.refresh(question)

    def _entry(self, question: Question, before: StudentMark, mark: NewMark, marker: str, why: str) -> Entry:
        kind = Kind.OVERRIDE if question.kind is CellType.TEST else Kind.MARK
        reason = "; ".join(filter(None, (why, mark.comment)))
        return Entry(
            kind=kind, who=marker, student=before.student, assignment=self.assignment, notebook=question.notebook,
            cell=question.cell, before=before.score.manual, after=mark.points, why=reason,
        )  # fmt: skip

    def _entries(self, question: Question) -> list[Entry]:
        place = self.assignment, question.notebook, question.cell
        return [each for each in self._record.entries() if (each.assignment, each.notebook, each.cell) == place]

    def _authors(self, question: Question) -> dict[str, Entry]:
        """Return the last mark in the record by student."""
        return {each.student: each for each in self._entries(question) if each.kind in (Kind.MARK, Kind.OVERRIDE)}


def _is_about(asked: Entry, question: Question) -> bool:
    """Return whether a request for a regrade is about a question; one about a whole notebook is about none."""
    return (
        asked.notebook == question.notebook and asked.cell in (question.cell, question.comment_on) and asked.cell != ""
    )


def _take_back(append: Append, entries: Iterable[Entry]) -> None:
    """Append the way back of entries whose marks the gradebook did not take."""
    append(replace(each, before=each.after, after=each.before, why=UNDONE, time=now(), id=new_id()) for each in entries)
