"""Decides which names students may have: those that folders, nbgrader, its pages and the service can all carry.

A name is the name of a folder in submitted/, and a part of nbgrader's patterns of files, of file names in its exchange,
and of addresses in the formgrader.
"""

import unicodedata

from grader.errors import GraderError
from grader.text import one_line

SIGNS = "-_.@'\u2019,()&=!~$ "
"""Characters of a name besides letters and digits: those of logins and addresses."""
MAX_CHARACTERS, MAX_BYTES = 100, 200
"""The longest name; file systems allow 255 bytes, and the exchange adds assignment and time."""
RULE = (
    "a student's name has letters and digits, and spaces and - _ . @ ' , ( ) & = ! ~ $ between them, at most "
    f"{MAX_CHARACTERS}"
)


def fault_of_name(student: str) -> str:
    """Return why a name cannot be a student's, as the end of a sentence that begins with the name; '' if it can.

    Args:
        student: the name, from a roster, a folder or a hub.
    """
    if not student:
        return "is empty"
    if len(student) > MAX_CHARACTERS or len(student.encode(errors="replace")) > MAX_BYTES:
        return "is longer"
    if "+" in student:
        return "has '+', which nbgrader puts between the parts of a submission's name"
    if strange := next((each for each in student if not _is_usual(each)), ""):
        return f"has {strange!r}"
    if not (student[0].isalnum() or student[0] == "_"):
        return f"begins with {student[0]!r}"
    if student[-1] in " .":
        return f"ends with {student[-1]!r}"
    if not unicodedata.is_normalized("NFC", student):
        return "has a letter and its accent as two characters, which most programs write as one"
    return ""


def require_name(student: str) -> str:
    """Return a student's name; raise GraderError if it cannot be one."""
    if fault := fault_of_name(student):
        raise GraderError(f"{RULE}; {one_line(student, 120)!r} {fault}: change it")
    return student


def _is_usual(character: str) -> bool:
    """Whether a character is a letter of any alphabet, a mark on one, a digit or one of the signs."""
    return character.isalnum() or character in SIGNS or unicodedata.category(character)[0] == "M"
