"""Sorts the files in a platform's archive: whose they are, and which notebook of the assignment each of them is.

archive --origin--> senders --People--> students --Matcher--> the latest file for each notebook

Files are read one at a time, and the notebooks of one student at a time are kept.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.classroom.student import IGNORED_FILES
from grader.commands.lms import canvas, moodle
from grader.commands.lms.archive.archive import Archive, ArchivedFile, Budget
from grader.commands.lms.archive.matching import Matcher, may_be_notebook, says_notebook
from grader.commands.lms.moodle import Worksheet
from grader.commands.lms.senders import Origin, People, Sender
from grader.commands.lms.settings import Archives
from grader.engine.supervisor.parsers import parse
from grader.errors import GraderError, UnreadableFile
from grader.text import one_line, plural

ORIGINS: dict[str, Callable[[tuple[str, ...]], Origin | None]] = {"canvas": canvas.origin, "moodle": moodle.origin}
OTHER_ARCHIVES = (".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz")


@dataclass
class Collected:
    """What one student handed in: notebooks by name, and in words what was not taken (`troubles`) and what else is odd.

    `key` is the platform's name for the sender.
    """

    student: str
    key: str
    notebooks: dict[str, bytes] = field(default_factory=dict)
    is_late: bool = False
    troubles: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Candidate:
    """A file that may be a notebook: its content, when it was uploaded and packed, and whether it is clear by whom."""

    name: str
    content: bytes
    upload: int
    packed: tuple[int, ...]
    is_clear: bool


class Collector:
    """Sorts the files in one archive; use `collect` once, and read `troubles` and `remarks` afterwards."""

    def __init__(self, archive: Path, matcher: Matcher, people: People, limits: Archives, notebook_mb: int) -> None:
        """Read the directory of the archive; raise GraderError if it cannot be read.

        Args:
            archive: the file that the platform made.
            matcher: the notebooks of the assignment.
            people: the students in the gradebook.
            limits: what the archive may cost.
            notebook_mb: how many MiB a notebook may have.
        """
        try:
            self._archive = Archive(archive, limits, limits.entries)
        except OSError as error:
            raise GraderError(f"{archive} cannot be read ({error.strerror}): correct the path") from None
        except UnreadableFile as error:
            raise GraderError(f"{archive} {error}") from None
        self._matcher, self._people, self._limits, self._notebook_mb = matcher, people, limits, notebook_mb
        self._total = Budget(limits.total_mb, "an archive (c.Archives.total_mb)")
        self.troubles = [f"{file.path} was not taken: {why}" for file, why in self._archive.refused]
        self.remarks: list[str] = []

    def collect(self, platform: str, worksheet: Worksheet | None) -> Iterator[Collected]:
        """Yield what each student handed in.

        Args:
            platform: 'canvas', 'moodle', or '' to tell by the names of the files.
            worksheet: Moodle's grading worksheet, if there is one.

        Raises:
            GraderError: no file is named as the platform names files.
        """
        files = [file for file in self._archive.files if not _is_ignored(file)]
        origins = _origins(files, platform)
        senders: dict[Sender, list[tuple[ArchivedFile, Origin]]] = defaultdict(list)
        for file, place in zip(files, origins, strict=True):
            if place is None:
                self.troubles.append(f"{file.path} was not taken: it is not named as the platform names submissions")
            else:
                place = worksheet.completed(place) if worksheet else place
                senders[place.sender].append((file, place))
        for student, sent in self._assigned(senders).items():
            yield self._collected(student, sent)

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()

    def _assigned(
        self, senders: dict[Sender, list[tuple[ArchivedFile, Origin]]]
    ) -> dict[str, list[tuple[ArchivedFile, Origin]]]:
        """The files of each student; what cannot be assigned is a trouble."""
        students: dict[str, list[tuple[ArchivedFile, Origin]]] = defaultdict(list)
        for sender, files in senders.items():
            try:
                students[self._people.find(sender)] += files
            except GraderError as error:
                self.troubles.append(f"{files[0][0].path} was not assigned ({plural(len(files), 'file')}): {error}")
        for student, files in list(students.items()):
            first = {place.key: file.path for file, place in reversed(files)}
            if len(first) > 1:
                paths = ", ".join(sorted(first.values()))
                self.troubles.append(
                    f"{len(first)} senders may be {one_line(student, 100)} ({paths}), and none was taken: give "
                    "Moodle's --worksheet, which knows addresses, or correct the gradebook"
                )
                del students[student]
        return students

    def _collected(self, student: str, files: list[tuple[ArchivedFile, Origin]]) -> Collected:
        """The notebooks of a student: of several files for one, the last one with its name.

        A file whose name can be read in two ways does not take the place of one with a clear name.
        """
        collected = Collected(student, files[0][1].key, is_late=any(place.is_late for _, place in files))
        best: dict[str, tuple[tuple[bool, bool, int, tuple[int, ...], int], _Candidate]] = {}
        for candidate in self._candidates(collected, files):
            try:
                notebook, is_named, copy = self._notebook(candidate)
            except UnreadableFile as error:
                (collected.troubles if says_notebook(candidate.name) else collected.remarks).append(
                    f"{one_line(candidate.name, 300)} was not taken: {error.why}"
                )
                continue
            rank = (candidate.is_clear, is_named, candidate.upload, candidate.packed, copy)
            if notebook not in best or rank >= best[notebook][0]:
                best[notebook], candidate = (rank, candidate), best.get(notebook, (rank, candidate))[1]
            taken = best[notebook][1]
            if candidate.content != taken.content:
                are_alike = candidate.is_clear == taken.is_clear
                (collected.remarks if are_alike else collected.troubles).append(
                    f"{one_line(taken.name, 300)} was taken for {notebook}, and not {one_line(candidate.name, 300)}"
                    + ("" if are_alike else ", which may be another student's")
                )
        collected.notebooks = {name: candidate.content for name, (_, candidate) in sorted(best.items())}
        if not collected.notebooks and not collected.troubles:
            collected.troubles.append("nothing is a notebook of this assignment")
        return collected

    def _notebook(self, candidate: _Candidate) -> tuple[str, bool, int]:
        """The notebook that a file is, whether its name says so, and the number of the copy.

        Raises:
            UnreadableFile: it is none.
        """
        named = self._matcher.by_name(candidate.name)
        if named and says_notebook(candidate.name):
            return named.notebook, True, named.copy  # grading says what is wrong with it, if anything is
        parsed = parse(candidate.content, "it")
        if named:
            return named.notebook, True, named.copy
        if notebook := self._matcher.by_cells(parsed):
            return notebook, False, 0
        raise UnreadableFile("neither its name nor its cells belong to a notebook of this assignment")

    def _candidates(self, collected: Collected, files: list[tuple[ArchivedFile, Origin]]) -> Iterator[_Candidate]:
        """The files of a student that may be notebooks, also from zip archives that the student handed in."""
        budget = Budget(self._limits.student_mb, "one student (c.Archives.student_mb)", self._total)
        left = self._limits.student_entries
        for file, place in files[:left]:
            name = place.parts[-1]
            is_archive = name.casefold().endswith(".zip")
            if not is_archive and not may_be_notebook(name):
                is_other = name.casefold().endswith(OTHER_ARCHIVES)
                why = "only zip archives are opened" if is_other else "it is no notebook"
                lines = collected.troubles if is_other else collected.remarks
                lines.append(f"{one_line(name, 300)} was left out: {why}")
                continue
            try:
                max_mb = self._limits.archive_mb if is_archive else self._notebook_mb
                content = self._archive.read(file, max_mb, budget)
                if is_archive:
                    yield from self._inner(collected, name, content, place, budget)
                else:
                    yield _Candidate(name, content, place.upload, file.info.date_time, not place.sender.doubts)
            except UnreadableFile as error:
                collected.troubles.append(f"{one_line(name, 300)} {error}")
        if len(files) > left:
            collected.troubles.append(f"of {plural(len(files), 'file')}, only {left} were looked at")

    def _inner(
        self, collected: Collected, archive_name: str, content: bytes, place: Origin, budget: Budget
    ) -> Iterator[_Candidate]:
        """The files in a zip archive that a student handed in; archives in it are not opened."""
        archive = Archive(content, self._limits, self._limits.student_entries)
        refused = [(file.path, why) for file, why in archive.refused if not _is_ignored(file)]
        for path, why in refused[:20]:
            collected.troubles.append(f"{path} in {one_line(archive_name, 300)} was not taken: {why}")
        if len(refused) > 20:
            collected.troubles.append(f"{len(refused) - 20} more entries of {one_line(archive_name, 300)} were refused")
        for file in archive.files:
            name = file.parts[-1]
            if name.casefold().endswith(".zip"):
                collected.troubles.append(f"{file.path} was not opened: it is an archive in an archive")
            if _is_ignored(file) or not may_be_notebook(name):
                continue
            try:
                inner = archive.read(file, self._notebook_mb, budget)
                yield _Candidate(name, inner, place.upload, file.info.date_time, not place.sender.doubts)
            except UnreadableFile as error:
                collected.troubles.append(f"{file.path} {error}")
        archive.close()


def _is_ignored(file: ArchivedFile) -> bool:
    """Whether a program made a file for itself; `..`, which some programs pack, is no sign of that."""
    return any(IGNORED_FILES.match(part) for part in file.parts if part != "..")


def _origins(files: list[ArchivedFile], platform: str) -> list[Origin | None]:
    """Where each file comes from, by the platform that knows the most names, also below one folder around them all."""
    tops = {file.parts[0] for file in files if len(file.parts) > 1}
    ways = [[file.parts for file in files]]
    if len(tops) == 1 and all(len(file.parts) > 1 for file in files):
        ways.append([file.parts[1:] for file in files])
    names = [platform] if platform else list(ORIGINS)
    found = [[ORIGINS[name](parts) for parts in way] for name in names for way in ways]
    best = max(found, key=lambda origins: sum(place is not None for place in origins))
    if not any(best):
        expected = " or ".join(name.capitalize() for name in names)
        raise GraderError(f"no file in the archive is named as {expected} names submissions: see docs/instructors.md")
    return best
