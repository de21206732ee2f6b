"""Each file in an archive of Canvas belongs to its sender or to no one, whatever students call themselves."""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode

from grader.classroom.students.roster import EnrolledStudent
from grader.classroom.submitted.choice import Chooser
from grader.commands.lms.archive.collect import Collector
from grader.commands.lms.canvas import entry_owner
from grader.commands.lms.identities import EnrolledStudents, name_key
from grader.commands.lms.settings import Archives
from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from tests.support.platform_files import Packed, packed
from tests.support.small_class import SOURCE

NUMBERS = ("101", "102", "103", "999")
"""Canvas's numbers of the students who hand in."""
PIECE = st.one_of(
    st.text("aAéŽ刘0123456789_- ", min_size=1, max_size=4),
    st.sampled_from(NUMBERS).map("_-{}_-9_x".format),  # how a number gets past Canvas
    st.sampled_from(NUMBERS).map("__{}___9__x".format),
)
NAME = st.lists(PIECE, min_size=1, max_size=4).map("".join)
TITLE = st.one_of(
    st.sampled_from(["small.ipynb", "Small (1).ipynb", "small_1_2_3.ipynb"]),
    st.sampled_from(NUMBERS).map("small_{}_9_2.ipynb".format),
)


@dataclass(frozen=True)
class Student:
    """A student of Canvas; `name` is the sortable one, and the gradebook does not have everyone."""

    number: str
    name: str
    title: str
    is_known: bool

    @property
    def file(self) -> str:
        """The name of the file that the student handed in, as lib/content_zipper.rb makes it."""
        name = re.sub(r"_(\d+)_", r"\1", self.name).lower()
        who = re.sub(r"\W", "", f"{name}_{self.number}")
        return f"{who}_7{self.number}_{self.title}"

    @property
    def work(self) -> bytes:
        """What is in the file: a notebook whose cells alone say which one it is."""
        return nbformat.writes(NotebookNode(SOURCE, metadata={"author": self.number})).encode()

    def bears_the_name_of(self, other: "Student") -> bool:
        """Whether the name begins with the other one's whole name."""
        return name_key(self.name).startswith(name_key(other.name))


STUDENTS = st.tuples(
    *(st.builds(Student, st.just(number), NAME, TITLE, st.just(number != "999")) for number in NUMBERS)
)


def taken(students: tuple[Student, ...], folder: Path) -> dict[str, Student]:
    """Return whose file is taken for each student of the gradebook, by their numbers."""
    enrolled = EnrolledStudents(
        EnrolledStudent(each.number, each.name, "", "", each.number) for each in students if each.is_known
    )
    archive = folder / "all.zip"
    archive.write_bytes(packed(Packed(each.file, each.work) for each in students))
    collector = Collector(
        archive,
        Chooser({"small": SOURCE}, {"small": SOURCE}),
        enrolled,
        Archives(),
        20,
        lambda name: SubmissionFolder(folder / name, folder),
    )
    found = {each.student: each.notebooks for each in collector.collect([entry_owner], None)}
    collector.close()
    senders = {each.work: each for each in students}
    return {student: senders[content] for student, notebooks in found.items() for content in notebooks.values()}


@pytest.mark.slow
@given(STUDENTS)
@settings(
    derandomize=True, database=None, deadline=None, max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)  # fmt: skip
def test_a_file_belongs_to_its_sender_or_to_no_one(tmp_path: Path, students: tuple[Student, ...]) -> None:
    """Names have digits, underscores, accents and the numbers of others; one of the senders is a stranger."""
    assume(not any(one is not other and one.bears_the_name_of(other) for one in students for other in students))
    assert all(sender.number == student for student, sender in taken(students, tmp_path).items())


@pytest.mark.parametrize("number", ["_-101_-99999_x", "__101___99999__x"])
@pytest.mark.parametrize("title", ["small.ipynb", "small_102_9_2.ipynb"])
def test_a_clear_name_counts_before_a_stolen_one(tmp_path: Path, number: str, title: str) -> None:
    """A stranger who bears the whole name of a student, and the number, does not replace what the student handed in."""
    first = Student("101", "Lee, Ann", "homework.ipynb", is_known=True)
    stranger = Student("999", f"Lee, Ann{number}", title, is_known=False)
    assert taken((first, stranger), tmp_path) == taken((stranger, first), tmp_path) == {"101": first}


def test_honest_names_and_titles_come_in(tmp_path: Path) -> None:
    """Digits and underscores cost no one anything; a title with numbers is the student's if the name is, too."""
    students = (
        Student("101", "Lee, Ann", "small_1_2_3.ipynb", is_known=True),
        Student("102", "O'Duya 2, Bób", "small.ipynb", is_known=True),
        Student("103", "7 agent", "Small (1).ipynb", is_known=True),
    )
    assert {student: sender.number for student, sender in taken(students, tmp_path).items()} == {
        number: number for number in NUMBERS[:3]
    }
