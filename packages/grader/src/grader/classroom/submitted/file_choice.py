"""Finds the file to grade for each notebook of an assignment in a student's folder, and names the files left out.

    folder --list, read--> files --parse, choose--> contents by notebook, errors and notices

A folder that holds each notebook under its own name and nothing else that may be one is not parsed here.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from nbformat import NotebookNode

from grader.classroom.course_dir import CourseDir, folder_of_students
from grader.classroom.submitted.choice import Choice, Chooser
from grader.classroom.submitted.helper_files import NEVER
from grader.classroom.submitted.matching import OTHER_ARCHIVES, Matcher, is_ignored, may_be_notebook, says_notebook
from grader.engine.notebook.folder.submission_folder import MAX_ENTRIES, SubmissionFolder
from grader.engine.supervisor.parsers import parse
from grader.errors import UnreadableFile
from grader.text import command_line

DEPTH = 4
"""Folders in each other that are looked into: an archive unpacks into folders."""
MAX_FILES, MAX_MB = 20, 100
"""Files besides the expected ones that are read, and their size together in MiB."""
MAX_NAMES = 3
"""Number of files that a sentence names."""
ARCHIVES = (".zip", *OTHER_ARCHIVES)
UNPACK = "unpack the notebooks"


@dataclass
class FoundFiles:
    """The files to grade, with what an instructor should know about the others.

    Args:
        notebooks: the content of the file for each notebook that has one.
        places: the path of the file for each notebook that was found under another name.
        why: for each of these, what is wrong with the file of the expected name: "was not handed in".
        unread: what a student should know about a file of the expected name that cannot be read, by notebook.
        errors: reasons why answers may not have been graded, though a file is there.
        notices: other remarks.
        ignored: files of another kind: data and modules, which notebooks may use, and anything else.
        digest: identifies everything above.
    """

    notebooks: dict[str, bytes] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    digest: str = ""


def find_files(
    chooser: Chooser, handed_in: SubmissionFolder, max_mb: int, opens: Callable[[str], str] = lambda path: UNPACK
) -> FoundFiles:
    """Return the files to grade in the folder of a submission.

    Args:
        chooser: the notebooks of the assignment.
        handed_in: the folder.
        max_mb: the largest size of a notebook, in MiB.
        opens: returns what to do with a zip archive, by its path in the folder.

    Raises:
        OSError: the folder cannot be listed.
    """
    try:
        files = _read(chooser, handed_in, max_mb)
    except UnreadableFile as error:
        return FoundFiles(errors=[str(error)], digest=_digest([("", str(error).encode())]))
    found = _chosen(chooser, files, opens)
    unread = ((path, str(error).encode()) for path, error in files.unread.items())
    others = ((path, b"") for path in (*files.others, *found.ignored))
    found.digest = _digest([*files.contents.items(), *unread, *others])
    return found


class _NearFolders:
    """The folders that are looked into."""

    def __contains__(self, path: object) -> bool:
        return isinstance(path, PurePath) and len(path.parts) < DEPTH and not is_ignored(path.parts)


def misplaced_files(course_dir: CourseDir, assignment: str, chooser: Chooser) -> dict[str, str]:
    """Return an error for each student whose files of an assignment are outside of its folder.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        chooser: its notebooks.
    """
    parent = folder_of_students(course_dir.directory, assignment)
    own = course_dir.folder("submitted", assignment, "x")
    if own.relative_to(parent).parts != ("x", assignment):
        return {}  # the course has another order of folders
    folders = _Folders(course_dir.assignments(), assignment)
    errors = {}
    for student in course_dir.known_students(assignment):
        handed_in = SubmissionFolder(parent / student, parent)
        try:
            entries = handed_in.entries(into=folders)
        except NotADirectoryError:
            entries = []
            found = [student] if says_notebook(student) or _is_archive(student) else []
        except (UnreadableFile, OSError):
            continue  # a link or a locked folder, which the results of a submission explain
        else:
            files = sorted(entry.path for entry in entries if entry.is_file and not is_ignored(entry.path.parts))
            has_folder = any(entry.path == PurePath(assignment) for entry in entries)
            found = [
                str(path)
                for path in files
                if path.parts[0] not in folders.known and _is_misplaced(path, handed_in, folders, chooser, has_folder)
            ]
            found = found and _without_copies(found, handed_in, assignment, chooser)
        if found:
            place = os.path.relpath(course_dir.folder("submitted", assignment, student), course_dir.root)
            whose = [] if entries else ["--student", "NAME"]
            folder = os.path.relpath(parent / student, course_dir.root)
            to_do = f"run {command_line(['grader', 'import', folder, '--assignment', assignment, *whose])}"
            errors[student] = f"not graded, because it is outside of {place}/: {listed(found)}; {to_do}"
    return errors


def _without_copies(found: list[str], handed_in: SubmissionFolder, assignment: str, chooser: Chooser) -> list[str]:
    """Return those files that are not in the folder of the assignment already; `grader import` copies them there."""
    own = {_content(handed_in, f"{assignment}/{name}") for name in chooser.expected.values()} - {None}
    return [path for path in found if _content(handed_in, path) not in own]


def _content(handed_in: SubmissionFolder, path: str) -> bytes | None:
    where = handed_in.path / path
    try:
        return SubmissionFolder(where.parent, handed_in.trusted).read(where.name, MAX_MB)
    except UnreadableFile:
        return None


class _Folders(_NearFolders):
    """The folders of a student that may hold an assignment under another name; `known` are those of assignments."""

    def __init__(self, known: Iterable[str], assignment: str) -> None:
        self.known = set(known)
        self._matcher = Matcher({assignment: NotebookNode(cells=[])})

    def __contains__(self, path: object) -> bool:
        return super().__contains__(path) and isinstance(path, PurePath) and path.parts[0] not in self.known

    def are_meant(self, path: PurePath) -> bool:
        """Return whether the first folder of a path has almost the name of the assignment."""
        return len(path.parts) > 1 and self._matcher.by_name(path.parts[0]) is not None


def _is_misplaced(
    path: PurePath, handed_in: SubmissionFolder, folders: _Folders, chooser: Chooser, has_folder: bool
) -> bool:
    """Whether a file outside of the folders of all assignments belongs to this one, or may do so."""
    if _is_archive(path.name):
        return not has_folder or folders.are_meant(path.with_suffix("") / path.name)
    if not may_be_notebook(path.name):
        return False
    if chooser.matcher.by_name(path.name) or (folders.are_meant(path) and ".ipynb" in path.name.casefold()):
        return True
    if len(path.parts) > 1 or not says_notebook(path.name):
        return False
    try:
        notebook = parse(handed_in.read(path.name, MAX_MB), path.name)
    except UnreadableFile:
        return False
    return chooser.matcher.by_cells(notebook) is not None


def _is_archive(file: str) -> bool:
    return file.casefold().endswith(ARCHIVES)


@dataclass
class _Files:
    """The files of a submission by their paths in it: those that were read, and errors for notebooks that were not.

    `others` are archives, and files of another kind with the name of a notebook; `ignored` are those of any other name.
    """

    contents: dict[str, bytes] = field(default_factory=dict)
    unread: dict[str, UnreadableFile] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def _read(chooser: Chooser, handed_in: SubmissionFolder, max_mb: int) -> _Files:
    """Read the expected files, and others that may be notebooks up to a number and a size."""
    entries = handed_in.entries(into=_NearFolders())
    present = {str(entry.path) for entry in entries}
    # A list of very many entries is not complete.
    expected = [file for file in chooser.expected.values() if file in present or handed_in.has(file)]
    files, room = _Files(), MAX_MB * 2**20
    for file in expected:
        try:
            files.contents[file] = handed_in.read(file, max_mb)
        except UnreadableFile as error:
            files.unread[file] = error
    more = [entry for entry in entries if not entry.is_folder and not is_ignored(entry.path.parts)]
    others = [str(entry.path) for entry in more if str(entry.path) not in expected]
    for path in sorted(others, key=lambda path: (not _says_notebook(chooser, path), path)):
        folder, name = (handed_in.path / path).parent, PurePath(path).name
        if not may_be_notebook(name):
            if _is_archive(name) or chooser.matcher.by_name(PurePath(name).stem):
                files.others.append(path)
            elif name not in NEVER:
                files.ignored.append(path)
            continue
        try:
            if not room or len(files.contents) >= len(expected) + MAX_FILES:
                raise UnreadableFile(f"{path!r} was not looked at: there are too many files", "ask for the notebooks")
            files.contents[path] = SubmissionFolder(folder, handed_in.trusted).read(name, max_mb)
            room = max(0, room - len(files.contents[path]))
        except UnreadableFile as error:
            if _says_notebook(chooser, path):
                files.unread[path] = error
            else:
                files.ignored.append(path)
    for entry in entries:
        if entry.is_folder and len(entry.path.parts) == DEPTH and not is_ignored(entry.path.parts):
            folder_name = repr(str(entry.path))
            files.unread[str(entry.path)] = UnreadableFile(
                f"the folder {folder_name} is too deep and was not looked into", "move the notebooks up"
            )
    if len(entries) >= MAX_ENTRIES:
        files.unread[""] = UnreadableFile(f"only {MAX_ENTRIES} files were looked at", "ask for the notebooks alone")
    return files


def _chosen(chooser: Chooser, files: _Files, opens: Callable[[str], str]) -> FoundFiles:
    found, expected = FoundFiles(), set(chooser.expected.values())
    parsed: dict[str, NotebookNode] = {}
    if not _are_as_named(chooser, files):
        for path, content in files.contents.items():
            try:
                parsed[path] = parse(content, repr(path))
            except UnreadableFile as error:
                if path not in expected and _says_notebook(chooser, path):  # grading reports the expected ones
                    files.unread[path] = error
    choices, owners = chooser.choose(parsed)
    missing, blank = list[str](), list[str]()
    for name, file in chooser.expected.items():
        choice = choices[name]
        taken = choice.file or (file if file in files.contents and file not in owners else "")
        if taken:
            found.notebooks[name] = files.contents[taken]
            blank += [name] if taken in parsed and not choice.rank else []
        else:
            missing.append(name)
        _explain(name, file, taken, choice, owners, files, found)
    others = [path for path in files.contents if path not in owners and path not in expected]
    found.ignored = sorted([*files.ignored, *(path for path in others if not _says_notebook(chooser, path))])
    _name_the_rest(chooser, files, [path for path in parsed if path not in owners], missing, blank, found, opens)
    return found


def _are_as_named(chooser: Chooser, files: _Files) -> bool:
    """Whether there are only files with the expected names, and each has cells of its notebook."""
    names = {file: name for name, file in chooser.expected.items()}
    return not files.others and all(
        path in names and chooser.matcher.seems_to_be(names[path], content) for path, content in files.contents.items()
    )


def _explain(
    name: str, file: str, taken: str, choice: Choice, owners: Mapping[str, str], files: _Files, found: FoundFiles
) -> None:
    """Add remarks about the files of one notebook: the one that was taken, if it is not the usual, and the others."""
    if file in owners and owners[file] != name:
        state = f"has the cells of {owners[file]}"
    elif file in files.unread or (file in files.contents and file not in owners):
        state = "cannot be read"
    elif file not in files.contents:
        state = "was not handed in"
    else:
        state = "has no answers" if file in choice.different else "is as released"
    if not choice.is_certain:
        rivals = listed(choice.different)
        found.errors.append(f"{file} {state}, and {rivals} have different answers: remove all but the right one")
    elif taken and taken != file:
        found.places[name], found.why[name] = taken, state
    elif not taken and file in files.unread:
        found.errors.append(str(files.unread[file]))
        found.unread[name] = files.unread[file].to_student
    elif not taken:
        found.notices.append(f"{file} {state}")
    graded = file if taken == file else repr(taken)
    reasons = [(choice.same, f"the same answers as in {graded}"), (choice.blank, "as released")]
    if choice.is_certain:
        reasons.append((choice.different, f"not the same answers as in {graded}"))
    for paths, reason in reasons:
        if others := [path for path in paths if path != file]:
            found.notices.append(f"left out: {listed(others)} ({reason})")


def _name_the_rest(
    chooser: Chooser, files: _Files, unknown: Sequence[str], missing: list[str], blank: list[str], found: FoundFiles,
    opens: Callable[[str], str],
) -> None:  # fmt: skip
    """Add remarks about files that were taken for no notebook: errors if answers may be in them."""
    if strangers := [path for path in unknown if _says_notebook(chooser, path)]:
        verb = "belongs" if len(strangers) == 1 else "belong"
        line = f"{listed(strangers)} {verb} to no notebook of this assignment"
        (found.errors if missing else found.notices).append(line + (": rename the right file" if missing else ""))
    lines = found.errors if missing or blank else found.notices
    unread = [path for path in files.unread if path not in chooser.expected.values()]
    lines += [str(files.unread[path]) for path in unread[:MAX_NAMES]]
    if len(unread) > MAX_NAMES:
        lines.append(f"{len(unread) - MAX_NAMES} more files cannot be read")
    archives = [path for path in files.others if _is_archive(path)]
    if archives and lines is found.errors:
        what = "is an archive" if len(archives) == 1 else "are archives"
        to_do = opens(archives[0]) if archives[0].casefold().endswith(".zip") else UNPACK
        lines.append(f"{listed(archives)} {what}: {to_do}, and grade again")
    elif archives:
        lines.append(f"left out: {listed(archives)} (not opened, as all notebooks are there)")
    others = [path for path in files.others if not _is_archive(path)]
    if others and lines is found.errors:
        lines.append(f"{listed(others)} cannot be graded: ask the student for the notebook")
    else:
        found.ignored += others


def _says_notebook(chooser: Chooser, path: str) -> bool:
    """Whether the name of a file claims that it is a notebook: data and helper modules are not mentioned."""
    name = PurePath(path).name
    return ".ipynb" in name.casefold() or chooser.matcher.by_name(name) is not None


def listed(paths: Sequence[str], most: int = MAX_NAMES) -> str:
    """Return the names of files as Python literals, because a student chose them.

    Args:
        paths: the files.
        most: how many are named; of the others their number.
    """
    names = [repr(path) for path in paths[:most]]
    if len(paths) > most:
        return f"{', '.join(names)} and {len(paths) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _digest(parts: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for path, content in parts:
        digest.update(f"{path!r} {len(content)} ".encode() + content)
    return digest.hexdigest()
