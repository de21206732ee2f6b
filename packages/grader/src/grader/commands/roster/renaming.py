"""Gives a student or an assignment another name everywhere, and removes a student; all or nothing, even at kill -9.

    checks --> .grader-unfinished.json --> folders, hand-ins, accounts, record, gradebook --> the file is removed

Each step does nothing if it is done already. So the same command, run again after a kill, finishes what it began, and
until then no other command works on a course of which a half has the old name.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment
from sqlalchemy import delete, insert, select, update

from grader.classroom.course_dir import CourseDir
from grader.classroom.record.catch_up import catch_up
from grader.classroom.record.entry import Entry, Kind, account
from grader.classroom.record.record import RECORD
from grader.classroom.record.unfinished import Unfinished, read_unfinished, write_unfinished
from grader.classroom.students.names import require_name
from grader.commands.roster.moves import Move, assignment_moves, removal_moves, student_moves
from grader.commands.serve.accounts import has_account, rename_account
from grader.commands.serve.store import Store, store_of
from grader.commands.shared import MARK_LOCK, SERVE_LOCK
from grader.errors import GraderError
from grader.files import locked
from grader.text import one_line


def rename_student(root: Path, before: str, after: str) -> str:
    """Give a student another name, with all files, marks, comments, hand-ins, the token and the history.

    Args:
        root: the course folder.
        before: the current name, which may be one that no student may have.
        after: the new name.

    Raises:
        GraderError: there is no such student, the new name is taken or cannot be one, or a service is running.
    """
    entry = Entry(kind=Kind.RENAME, who=account(), student=require_name(after), before=before, after=after)
    with _exclusive(root) as course_dir:
        if not _continues(root, entry):
            moves = student_moves(course_dir, before, after)
            _require_student(course_dir, before, moves)
            taken = student_moves(course_dir, after, after)
            if before == after or taken or _is_known(course_dir, after):
                place = f" ({taken[0][0]})" if taken else ""
                raise GraderError(f"there is already a student {_quoted(after)}{place}: choose another name")
            _begin(course_dir, Unfinished(entry, _texts(moves)))
        _finish(course_dir)
    return f"{one_line(before, 100)} is {after} now, with all files, marks, hand-ins, token and history"


def remove_student(root: Path, student: str) -> str:
    """Take a student out of the gradebook and the service, and move the files into `removed/`.

    Args:
        root: the course folder.
        student: the student's name.

    Raises:
        GraderError: there is no such student, or a service is running.
    """
    entry = Entry(kind=Kind.REMOVAL, who=account(), student=student)
    with _exclusive(root) as course_dir:
        if not _continues(root, entry):
            moves = removal_moves(course_dir, student)
            _require_student(course_dir, student, moves, with_hand_ins=False)  # which stay
            _begin(course_dir, Unfinished(entry, _texts(moves)))
        moves = _finish(course_dir)
    kept = f"; the files are in {_kept(course_dir, moves)}" if moves else ""
    return f"{one_line(student, 100)} is removed, and the marks are in {RECORD}{kept}"


def rename_assignment(root: Path, before: str, after: str) -> Iterator[str]:
    """Give an assignment another name, and yield lines that say so and what is left to do.

    Args:
        root: the course folder.
        before: the current name.
        after: the new name.

    Raises:
        GraderError: there is no such assignment, the new name is taken or cannot be one, or a service is running.
    """
    entry = Entry(
        kind=Kind.RENAME, who=account(), assignment=_require_assignment_name(after), before=before, after=after
    )
    with _exclusive(root) as course_dir:
        if not _continues(root, entry):
            known = {*course_dir.assignments(), *_gradebook_assignments(course_dir)}
            if before not in known:
                names = ", ".join(sorted(known)) or "none yet"
                raise GraderError(
                    f"there is no assignment {_quoted(before)}; the course has {names} (for a student, use "
                    "grader roster --rename)"
                )
            if after in known or assignment_moves(course_dir, after, after):
                raise GraderError(f"there is already an assignment {_quoted(after)}: choose another name")
            _begin(course_dir, Unfinished(entry, _texts(assignment_moves(course_dir, before, after))))
        _finish(course_dir)
    yield f"{before} is {after} now, with all files, marks, hand-ins and history"
    config = root / "nbgrader_config.py"
    if before in config.read_text(encoding="utf-8", errors="replace"):
        yield f"change the name in {config.name} as well: it has '{before}'"
    yield f"students need the new name, too: run 'grader release {after}' and give them the folder, or release it again"


@contextmanager
def _exclusive(root: Path) -> Iterator[CourseDir]:
    """Yield the course folder while neither the service nor `grader mark` runs."""
    course_dir = CourseDir(root, finishing=True)
    with _stopped(root / SERVE_LOCK, "grader serve"), _stopped(root / MARK_LOCK, "grader mark"):
        yield course_dir


@contextmanager
def _stopped(lock: Path, program: str) -> Iterator[None]:
    try:
        with locked(lock):
            yield
    except BlockingIOError:
        raise GraderError(f"'{program}' is running, and works with the old names: stop it first") from None


def _continues(root: Path, entry: Entry) -> bool:
    """Return whether this very change was interrupted; raise GraderError if another one was."""
    change = read_unfinished(root)
    if change is None:
        return False
    if change.command != Unfinished(entry, []).command:
        raise GraderError(f"another change was interrupted: run {change.command} again first, which finishes it")
    return True


def _begin(course_dir: CourseDir, change: Unfinished) -> None:
    catch_up(course_dir)  # the record has all marks before the names change
    write_unfinished(course_dir.root, change)


def _finish(course_dir: CourseDir) -> list[Move]:
    """Make all steps that are not made yet, and return the moves."""
    root, change = course_dir.root, read_unfinished(course_dir.root)
    assert change is not None and course_dir.record is not None
    entry, moves = change.entry, [(Path(old), Path(new)) for old, new in change.moves]
    for old, new in moves:
        if old.is_symlink() or old.exists():
            _move(old, new)
    if (store := store_of(course_dir)) is not None:
        _change_hand_ins(store, entry)
        store.close()
    if entry.student:
        before = entry.student if entry.kind is Kind.REMOVAL else str(entry.before)
        rename_account(root, before, None if entry.kind is Kind.REMOVAL else entry.student)
    with course_dir.record.locked() as append:
        if all(each.id != entry.id for each in course_dir.record.entries()):
            append([entry])
        if course_dir.has_gradebook():
            with course_dir.gradebook() as gradebook:
                _change_gradebook(gradebook, entry)
    write_unfinished(root, None)
    return moves


def _move(old: Path, new: Path) -> None:
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
    except OSError as error:
        raise GraderError(
            f"{one_line(old)} cannot be moved to {one_line(new)} ({error.strerror}): correct that, and run this again"
        ) from error


def _change_hand_ins(store: Store, entry: Entry) -> None:
    if entry.kind is Kind.REMOVAL:
        store.withdraw(entry.student)
    elif entry.student:
        store.rename("student", str(entry.before), str(entry.after))
    else:
        store.rename("assignment", str(entry.before), str(entry.after))


def _change_gradebook(gradebook: Gradebook, entry: Entry) -> None:
    """Change the names in one transaction; do nothing if it is done."""
    database, before, after = gradebook.db, str(entry.before), str(entry.after)
    if entry.kind is Kind.REMOVAL:
        if database.get(Student, entry.student) is not None:
            gradebook.remove_student(entry.student)
        return
    if not entry.student:
        database.execute(update(Assignment).where(Assignment.name == before).values(name=after))
        database.commit()
        return
    # The id is the key to which submissions refer, so a second row takes them over.
    table = Student.__table__
    row = database.execute(select(table).where(table.c.id == before)).mappings().first()
    if row is not None:
        submitted = SubmittedAssignment.__table__
        database.execute(insert(table).values({**row, "id": after}))
        database.execute(update(submitted).where(submitted.c.student_id == before).values(student_id=after))
        database.execute(delete(table).where(table.c.id == before))
        database.commit()


def _require_student(course_dir: CourseDir, student: str, moves: list[Move], *, with_hand_ins: bool = True) -> None:
    is_name = student and "/" not in student and not student.startswith(".")  # of a folder that a student may have
    if not is_name or not (moves or _is_known(course_dir, student, with_hand_ins=with_hand_ins)):
        raise GraderError(
            f"there is no student {_quoted(student)}, neither in the gradebook nor in submitted/: correct the name"
        )


def _is_known(course_dir: CourseDir, student: str, *, with_hand_ins: bool = True) -> bool:
    """Return whether the gradebook, the accounts or the table of hand-ins know a student."""
    if has_account(course_dir.root, student):
        return True
    if course_dir.has_gradebook():
        with course_dir.gradebook() as gradebook:
            if gradebook.db.get(Student, student) is not None:
                return True
    if not with_hand_ins or (store := store_of(course_dir)) is None:
        return False
    try:
        return store.knows(student)
    finally:
        store.close()


def _gradebook_assignments(course_dir: CourseDir) -> list[str]:
    if not course_dir.has_gradebook():
        return []
    with course_dir.gradebook() as gradebook:
        return list(gradebook.db.scalars(select(Assignment.name)))


def _kept(course_dir: CourseDir, moves: list[Move]) -> str:
    """Return the folder into which the files of a removed student moved."""
    root = Path(course_dir.directory.root).resolve()
    return f"{'/'.join(moves[0][1].relative_to(root).parts[:2])}/"


def _require_assignment_name(name: str) -> str:
    try:
        return require_name(name)
    except GraderError:
        raise GraderError(
            f"{_quoted(name)} cannot be an assignment's name, which has letters and digits, and spaces and - _ . "
            "between them: choose another one"
        ) from None


def _texts(moves: list[Move]) -> list[tuple[str, str]]:
    return [(str(old), str(new)) for old, new in moves]


def _quoted(name: str) -> str:
    return f"'{one_line(name, 100)}'"
