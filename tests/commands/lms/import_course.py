"""A course into which the archives of platforms are imported."""

from pathlib import Path

import nbformat
import pytest

from grader.commands.cli import main
from tests.support.notebooks import answer, answered, check, notebook
from tests.support.platform_files import Packed, packed, write_csv
from tests.support.small_class import NAME, RIGHT, make_course, released

OTHER = notebook(answer("three", "def three():\n    return 3"), check("three-check", "assert three() == 3"))
STUDENTS = """\
id,first_name,last_name,email,lms_user_id
ann,Ann,Lee,ann@example.org,101
bob,Bob,Oduya,bob@example.org,102
zofie,Žofie,Šimić,zofie@example.org,103
"""


class Course:
    """A course folder with two notebooks and three students, as the working folder."""

    def __init__(self, folder: Path, printed: pytest.CaptureFixture[str]) -> None:
        self.folder, self._printed = make_course(folder), printed
        nbformat.write(OTHER, folder / "source" / NAME / "2-other.ipynb")
        write_csv(folder, STUDENTS, "students.csv")
        self.blank = released(folder)

    def work(self, who: str = "") -> bytes:
        """Return an answered notebook `small`; each student's is another one."""
        return nbformat.writes(answered(self.blank, **RIGHT | {"why": f"It is {who}."})).encode()

    def take(self, files: list[Packed] | bytes, *options: str, status: int = 0) -> str:
        """Import an archive and return what was printed."""
        (self.folder / "all.zip").write_bytes(files if isinstance(files, bytes) else packed(files))
        return self.run("all.zip", *options, status=status)

    def run(self, *words: str, status: int = 0) -> str:
        """Import something, and return what was printed."""
        done = main(["import", *words, "--assignment", NAME])
        shown = self._printed.readouterr()
        assert done == status, shown
        return shown.out + shown.err

    def submitted(self) -> dict[str, bytes]:
        """Return all files in submitted/, by their paths there."""
        folder = self.folder / "submitted"
        return {
            str(path.relative_to(folder)).replace(f"/{NAME}/", " "): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
