"""Sorts the files in an archive or a folder by student and notebook.

archive --entry_owner--> identities --EnrolledStudents.find--> students --Chooser--> the latest file for each notebook

It reads one file at a time, and keeps the notebooks of one student at a time.
"""

import zipfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

from grader.classroom.students.names import require_name
from grader.classroom.submitted.choice import Chooser
from grader.classroom.submitted.helper_files import NEVER
from grader.classroom.submitted.matching import OTHER_ARCHIVES, is_ignored, may_be_notebook, says_notebook
from grader.commands.lms import canvas, moodle
from grader.commands.lms.archive.archive import Archive, ArchivedFile, Budget
from grader.commands.lms.archive.folder import Folder
from grader.commands.lms.identities import ArchiveEntryOwner, EnrolledStudents, LmsIdentity
from grader.commands.lms.moodle import Worksheet
from grader.commands.lms.settings import Archives
from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from grader.engine.supervisor.parsers import parse
from grader.errors import GraderError, UnreadableFile
from grader.text import one_line, plural

OwnerOf: TypeAlias = Callable[[tuple[str, ...]], ArchiveEntryOwner | None]
PLATFORMS: dict[str, OwnerOf] = {"canvas": canvas.entry_owner, "moodle": moodle.entry_owner}
OwnedFile: TypeAlias = tuple[ArchivedFile, ArchiveEntryOwner]


def of_student(student: str, others: Collection[str] = ()) -> OwnerOf:
    """Return the rule by which all files are one student's.

    Args:
        student: the student's name.
        others: the names of other assignments, whose folders are left alone.
    """

    def owner(parts: tuple[str, ...]) -> ArchiveEntryOwner:
        is_ours = len(parts) == 1 or parts[0] not in others
        return ArchiveEntryOwner(student, LmsIdentity("", logins=(student,)), parts if is_ours else ())

    return owner


def of_folders(students: Collection[str], others: Collection[str]) -> OwnerOf:
    """Return the rule by which a file is that student's whose name its folder has.

    Args:
        students: the names of the students.
        others: the names of other assignments, whose folders are left alone.
    """

    def owner(parts: tuple[str, ...]) -> ArchiveEntryOwner | None:
        student, *rest = parts
        return of_student(student, others)(tuple(rest)) if student in students and rest else None

    return owner


@dataclass
class StudentFiles:
    """A student's notebooks by name, errors for skipped files, and other notices; `key` is the owner's key."""

    student: str
    key: str
    notebooks: dict[str, bytes] = field(default_factory=dict)
    is_late: bool = False
    errors: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Candidate:
    """A file that may be a notebook, with its upload number and time of packing.

    `is_clear`: one possible sender. `is_in_place`: its folder is the one that grading reads.
    """

    name: str
    content: bytes
    upload: int
    packed: tuple[int, ...]
    is_clear: bool
    is_in_place: bool = False


class Collector:
    """Sorts the files in one archive; use `collect` once, and read `errors` afterwards."""

    def __init__(
        self,
        archive: Path,
        chooser: Chooser,
        enrolled: EnrolledStudents,
        limits: Archives,
        notebook_mb: int,
        place: Callable[[str], SubmissionFolder],
    ) -> None:
        """Read the directory of the archive; raise GraderError if it cannot be read.

        Args:
            archive: the platform's file, a student's archive or notebook, or a folder.
            chooser: the notebooks of the assignment.
            enrolled: the students in the gradebook.
            limits: the limits of an archive.
            notebook_mb: the largest size of a notebook, in MiB.
            place: returns the folder of a student's submission, which the files may already be in.
        """
        try:
            is_packed = zipfile.is_zipfile(archive) or not (archive.is_dir() or may_be_notebook(archive.name))
            self._archive: Archive | Folder = (
                Archive(archive, limits, limits.entries) if is_packed else Folder(archive, limits.entries)
            )
        except OSError as error:
            raise GraderError(f"{archive} cannot be read ({error.strerror}): correct the path") from None
        except UnreadableFile as error:
            raise GraderError(f"{archive} {error}") from None
        self._chooser, self._enrolled, self._limits, self._notebook_mb = chooser, enrolled, limits, notebook_mb
        self._place = place
        self._total = Budget(limits.total_mb, "an archive (c.Archives.total_mb)")
        self.errors = [f"{file.path} was not imported: {why}" for file, why in self._archive.refused]

    def collect(self, rules: Sequence[OwnerOf], worksheet: Worksheet | None) -> Iterator[StudentFiles]:
        """Yield the files of each student.

        Args:
            rules: the ways to tell whose a file is, of which the one that fits most files is taken.
            worksheet: Moodle's grading worksheet, if available.

        Raises:
            GraderError: no rule fits any file.
        """
        files = [file for file in self._archive.files if not is_ignored(file.parts)]
        identities: dict[LmsIdentity, list[OwnedFile]] = defaultdict(list)
        for file, owner in zip(files, _owners(files, rules), strict=True):
            if owner is None:
                self.errors.append(f"{file.path} was not imported: its name does not say whose it is")
            elif owner.parts and owner.parts[-1] not in NEVER:
                owner = worksheet.completed(owner) if worksheet else owner
                identities[owner.identity].append((file, owner))
        for student, sent in self._assigned(identities).items():
            yield self._collected(student, sent)

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()

    def _assigned(self, identities: dict[LmsIdentity, list[OwnedFile]]) -> dict[str, list[OwnedFile]]:
        """The files of each student; a file without a certain student becomes an error."""
        students: dict[str, list[OwnedFile]] = defaultdict(list)
        for identity, files in identities.items():
            try:
                students[require_name(self._enrolled.find(identity))] += files
            except GraderError as error:
                self.errors.append(f"{files[0][0].path} was not assigned ({plural(len(files), 'file')}): {error}")
        for student, files in list(students.items()):
            first = {owner.key: file.path for file, owner in reversed(files)}
            if len(first) > 1:
                paths = ", ".join(sorted(first.values()))
                self.errors.append(
                    f"{len(first)} senders match {one_line(student, 100)} ({paths}), so none was imported: give "
                    "Moodle's --worksheet, which has addresses, or correct the gradebook"
                )
                del students[student]
        return students

    def _collected(self, student: str, files: list[OwnedFile]) -> StudentFiles:
        """The notebooks of a student: of several files for one, the latest with its name that is filled in.

        A file with an ambiguous name never replaces one with a clear name, and no copy one that is graded already.
        """
        collected = StudentFiles(student, files[0][1].key, is_late=any(owner.is_late for _, owner in files))
        found: dict[str, list[tuple[_Candidate, bool, int]]] = defaultdict(list)
        for candidate in self._candidates(collected, files):
            try:
                notebook, is_named, copy = self._notebook(candidate)
            except UnreadableFile as error:
                (collected.errors if says_notebook(candidate.name) else collected.notices).append(
                    f"{one_line(candidate.name, 300)} was not imported: {error.why}"
                )
                continue
            found[notebook].append((candidate, is_named, copy))
        for notebook, candidates in sorted(found.items()):
            *others, best = [each for _, each in sorted(self._ranked(notebook, candidates), key=itemgetter(0))]
            collected.notebooks[notebook] = best.content
            for candidate in (each for each in others if each.content != best.content):
                are_alike = candidate.is_clear == best.is_clear
                (collected.notices if are_alike else collected.errors).append(
                    f"{one_line(best.name, 300)} was used for {notebook} instead of {one_line(candidate.name, 300)}"
                    + ("" if are_alike else ", which may be another student's")
                )
        if not collected.notebooks and not collected.errors:
            collected.errors.append("no file is a notebook of this assignment")
        return collected

    def _notebook(self, candidate: _Candidate) -> tuple[str, bool, int]:
        """The notebook to which a file belongs, True if by its name, and the number of the copy.

        Raises:
            UnreadableFile: it belongs to no notebook of the assignment.
        """
        named = self._chooser.matcher.by_name(candidate.name)
        if named and says_notebook(candidate.name):
            return named.notebook, True, named.copy  # grading reports any damage
        parsed = parse(candidate.content, "it")
        if named:
            return named.notebook, True, named.copy
        if notebook := self._chooser.matcher.by_cells(parsed):
            return notebook, False, 0
        raise UnreadableFile("neither its name nor its cells belong to a notebook of this assignment")

    def _ranked(
        self, notebook: str, candidates: list[tuple[_Candidate, bool, int]]
    ) -> Iterator[tuple[tuple[Any, ...], _Candidate]]:
        """The files for one notebook, each with a value that grows with its claim; only rivals are parsed."""
        for candidate, is_named, copy in candidates:
            is_filled = len(candidates) == 1 or self._is_filled(notebook, candidate)
            claim = candidate.is_clear, is_filled, candidate.is_in_place and candidate.name == f"{notebook}.ipynb"
            yield (*claim, is_named, candidate.upload, candidate.packed, copy), candidate

    def _is_filled(self, notebook: str, candidate: _Candidate) -> bool:
        try:
            return self._chooser.content(notebook, parse(candidate.content, "it")).rank > 0
        except UnreadableFile:
            return False

    def _candidates(self, collected: StudentFiles, files: list[OwnedFile]) -> Iterator[_Candidate]:
        """The files of a student that may be notebooks, including those in submitted zip archives."""
        budget = Budget(self._limits.student_mb, "one student (c.Archives.student_mb)", self._total)
        left = self._limits.student_entries
        for file, owner in files[:left]:
            name = owner.parts[-1]
            is_archive = name.casefold().endswith(".zip")
            if not is_archive and not may_be_notebook(name):
                is_other = name.casefold().endswith(OTHER_ARCHIVES)
                why = "only zip archives are opened" if is_other else "it is not a notebook"
                lines = collected.errors if is_other else collected.notices
                lines.append(f"{one_line(name, 300)} was skipped: {why}")
                continue
            try:
                max_mb = self._limits.archive_mb if is_archive else self._notebook_mb
                content = self._archive.read(file, max_mb, budget)
                if is_archive:
                    yield from self._inner(collected, name, content, owner, budget)
                else:
                    is_clear, is_in_place = not owner.identity.ambiguous_ids, self._is_in_place(file, collected.student)
                    yield _Candidate(name, content, owner.upload, file.info.date_time, is_clear, is_in_place)
            except UnreadableFile as error:
                collected.errors.append(f"{one_line(name, 300)} {error}")
        if len(files) > left:
            collected.errors.append(f"of {plural(len(files), 'file')}, only {left} were read")

    def _is_in_place(self, file: ArchivedFile, student: str) -> bool:
        path = self._archive.path_of(file) if isinstance(self._archive, Folder) else None
        return path is not None and path.parent.resolve() == self._place(student).path.resolve()

    def _inner(
        self, collected: StudentFiles, archive_name: str, content: bytes, owner: ArchiveEntryOwner, budget: Budget
    ) -> Iterator[_Candidate]:
        """The files in a submitted zip archive; archives inside it are not opened."""
        archive = Archive(content, self._limits, self._limits.student_entries)
        refused = [(file.path, why) for file, why in archive.refused if not is_ignored(file.parts)]
        for path, why in refused[:20]:
            collected.errors.append(f"{path} in {one_line(archive_name, 300)} was not imported: {why}")
        if len(refused) > 20:
            collected.errors.append(f"{len(refused) - 20} more entries of {one_line(archive_name, 300)} were refused")
        for file in archive.files:
            name = file.parts[-1]
            if name.casefold().endswith(".zip"):
                collected.errors.append(f"{file.path} was not opened: it is an archive in an archive")
            if is_ignored(file.parts) or not may_be_notebook(name):
                continue
            try:
                inner = archive.read(file, self._notebook_mb, budget)
                yield _Candidate(name, inner, owner.upload, file.info.date_time, not owner.identity.ambiguous_ids)
            except UnreadableFile as error:
                collected.errors.append(f"{file.path} {error}")
        archive.close()


def _owners(files: list[ArchivedFile], rules: Sequence[OwnerOf]) -> list[ArchiveEntryOwner | None]:
    """The owner of each file, by the rule that fits most of them, with or without one common top folder."""
    tops = {file.parts[0] for file in files if len(file.parts) > 1}
    ways = [[file.parts for file in files]]
    if len(tops) == 1 and all(len(file.parts) > 1 for file in files):
        ways.append([file.parts[1:] for file in files])
    found = [[rule(parts) for parts in way] for rule in rules for way in ways]
    best = max(found, key=lambda owners: sum(owner is not None for owner in owners))
    if not any(best):
        raise GraderError(
            "no file there is named as Canvas or Moodle names submissions, or is in a folder with a student's name: "
            "if all are one student's, add --student NAME"
        )
    return best
