"""Writes the files that Canvas and Moodle write, by their documentation and source."""

import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CANVAS_GRADEBOOK = '''\
\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,01 Small (4711),Essay (4712),Final Score
,,,,,Manual Posting,,
    Points Possible,,,,,10.0,20.0,(read only)
"Lee, Ann",101,u101,ann,"Morning and Evening",,15.0,75.0
"Oduya, Bob",102,u102,bob,Morning,3.0,,10.0
"Šimić, Žofie",103,u103,zofie@example.org,Evening,EX,12.0,60.0
"=""=SUM(1,2)""",104,u104,eve,Evening,N/A,,
"Student, Test",199,,0f3bd2,Morning,,,
'''
"""Canvas's gradebook: with a byte order mark, a row of postings, and a student who calls herself a formula."""

MOODLE_PARTICIPANTS = """\
"Email address","ID number",Surname,"First name","Last downloaded from this course"
ann@example.org,u101,Lee,Ann,1790000000
bob@example.org,u102,Oduya,Bob,1790000000
zofie@example.org,u103,Šimić,Žofie,1790000000
"""

NBGRADER_STUDENTS = """\
id,last_name,first_name,email,lms_user_id
ann,Lee,Ann,ann@example.org,101
bob,Oduya,Bob,,
"""

MOODLE_WORKSHEET = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 11","Ann Lee",ann@example.org,"Submitted for grading - ",,10.00,Yes,\
"Monday, 2 March 2026, 11:30 AM",-,
"Participant 12","Bob Oduya",bob@example.org,"Submitted for grading - ",3.00,10.00,Yes,\
"Sunday, 1 March 2026, 9:05 PM","Monday, 2 March 2026, 8:00 AM",kept
"Participant 13","Žofie Šimić",zofie@example.org,"No submission - ",,10.00,No,-,-,
"Participant 14",+1-2,stranger@example.org,"No submission - ",,10.00,Yes,-,-,
"""


@dataclass(frozen=True)
class Packed:
    """A file to put into an archive; `mode` and `flags` are those of the entry."""

    name: str
    content: bytes
    time: tuple[int, int, int, int, int, int] = (2026, 3, 2, 12, 0, 0)
    mode: int = 0o100644
    method: int = zipfile.ZIP_DEFLATED


def packed(files: Iterable[Packed]) -> bytes:
    """Return a zip archive, whatever its entries are called, and however often."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for file in files:
            info = zipfile.ZipInfo(file.name, file.time)
            info.external_attr, info.compress_type = file.mode << 16, file.method
            archive.writestr(info, file.content)
    return made.getvalue()


def write_csv(folder: Path, text: str, name: str = "file.csv") -> Path:
    """Write a CSV file and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
