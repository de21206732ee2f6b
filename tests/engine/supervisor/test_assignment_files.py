"""Tests and student code read the files of the assignment, which no code can change, and which win over a student's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.notebook.folder.assignment_files import AssignmentFiles
from grader.engine.report import Report
from grader.engine.supervisor.scratch import shared_folder
from grader.errors import GraderError
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook

OURS = AssignmentFiles(
    {
        "data.csv": b"a,b\n1,2\n3,4\n",
        "numbers/more.txt": b"5 6\n",
        "tests.py": b"from helper import LIMIT\n\ndef check(total):\n    assert total() == LIMIT, 'not the sum'\n",
        "helper.py": b"LIMIT = 10\nSEEN = []\n",
        "pack/__init__.py": b"from pack.inner import two\n",
        "pack/inner.py": b"def two():\n    return 2\n",
    }
)
TOTAL = """
def total():
    lines = open('data.csv').read().split()[1:]
    return sum(int(number) for line in lines for number in line.split(','))
"""
IMPORTS = """
import numpy as np
from helper import LIMIT

def rows():
    return len(open('data.csv').readlines())
"""
MORE = """
from pack import two

def more():
    return [two(), *np.loadtxt('numbers/more.txt').tolist()]
"""
SOURCE = notebook(
    helpers("imports", IMPORTS),
    answer("total", TOTAL),
    check("total-check", "from tests import check\ncheck(total)\nassert rows() == 3 and LIMIT == 10"),
    hidden("total-test-more", "It is that of the file.", "assert open('data.csv').read()[0] == 'a' and total() == 10"),
    answer("more", MORE),
    check(
        "more-check", "import os, pack\nassert more() == [pack.two(), 5, 6] and os.listdir('numbers') == ['more.txt']"
    ),
)


def graded(submission=SOURCE, files: dict[str, bytes] | None = None, ours: AssignmentFiles = OURS) -> Report:
    """The report on a submission with files of its own."""
    return grade(SOURCE, submission, Limits(cell_seconds=5), files=files, assignment_files=ours)


def lost(report: Report) -> list[str]:
    """The tests that lost points."""
    return [result.name for result in report.results if result.points < result.max_points]


@pytest.mark.slow
def test_answers_tests_and_read_only_cells_read_them():
    """By open, by libraries and by import, also without a sandbox; without the files, what needs them loses points."""
    assert lost(graded()) == []
    assert lost(grade(SOURCE, SOURCE, sandbox=False, assignment_files=OURS)) == []
    assert lost(graded(ours=AssignmentFiles())) == ["total-check", "total-test-more", "more-check"]
    assert lost(graded(answered(SOURCE, total="def total():\n    return 11"))) == ["total-check", "total-test-more"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "files",
    [
        {"tests.py": b"def check(total):\n    pass\n"},
        {"tests/__init__.py": b"def check(total):\n    pass\n"},
        {"data.csv": b"a,b\n11,0\n", "helper.py": b"LIMIT = 11\n"},
        {"numbers": b"a file", "data.csv/more": b"", "pack/extra.py": b"", "pack.py": b"def two():\n    return 3\n"},
    ],
)
def test_no_file_of_a_student_replaces_one(files):
    """A changed copy changes nothing, neither for a right answer nor for a wrong one."""
    assert lost(graded(files=files)) == []
    wrong = answered(SOURCE, total="def total():\n    return 11")
    assert lost(graded(wrong, files)) == ["total-check", "total-test-more"]


def test_a_students_own_file_is_there_too():
    """In the sandbox only: the runner sees none of it."""
    files = {"mine.py": b"def own():\n    return 10\n", "numbers/mine.txt": b"1"}
    own = "import mine\n\ndef total():\n    assert open('numbers/mine.txt')\n    return mine.own()"
    assert lost(graded(answered(SOURCE, total=own), files)) == []
    source = notebook(answer("f", "def f():\n    return 1"), check("f-check", "import mine\nassert f() == 1"))
    report = grade(source, source, files=files, assignment_files=OURS)
    assert report.points == 0 and "No module named 'mine'" in report.results[0].message


WRITES = """
import os
refused = []
for act in (
    lambda: open('data.csv', 'w'),
    lambda: open('data.csv', 'a'),
    lambda: open(os.path.realpath('data.csv'), 'r+'),
    lambda: os.truncate('data.csv', 0),
    lambda: os.remove('data.csv'),
    lambda: os.rename('data.csv', 'other.csv'),
    lambda: os.chmod(os.path.realpath('data.csv'), 0o666) or open('data.csv', 'w'),
    lambda: open(os.path.dirname(os.path.realpath('data.csv')) + '/new.py', 'w'),
    lambda: os.symlink('/etc/passwd', 'data.csv'),
):
    try:
        act()
    except OSError:
        refused.append(True)
open('result.csv', 'w').write('mine')
os.mkdir('helper')
open('helper/__init__.py', 'w').write('LIMIT = 99')
"""


@pytest.mark.slow
def test_no_code_writes_to_them():
    """Neither student code, which may write other files, nor what it leaves behind changes what the next one reads."""
    submission = answered(SOURCE, total=f"{WRITES}\n\ndef total():\n    return len(refused)")
    for _ in range(2):
        report = graded(submission)
        assert lost(report) == ["total-check", "total-test-more"]
        assert "'not the sum'" not in report.results[0].message
    counts = notebook(answer("n", WRITES), check("n-check", "assert len(refused) == 9, len(refused)"))
    assert grade(counts, counts, assignment_files=OURS).results[0].message == ""
    assert lost(graded()) == []


@pytest.mark.slow
def test_nothing_of_an_assignment_stays_in_a_runner():
    """Another assignment finds its own module of the same name, none that only the first has, and no file of a test.

    The cache of answers knows which files the tests read.
    """
    source = notebook(
        answer("f", "def f():\n    return 1"),
        check("f-check", "import helper\nhelper.SEEN.append(1)\nassert f() == len(helper.SEEN)"),
        check(
            "h-check", "import os\nassert not os.path.exists('x.txt')\nopen('x.txt', 'w').write('1')\nassert f() == 1"
        ),
        check("g-check", "import sys\nassert 'pack' not in sys.modules and str(sys.path).count('/files') == 1"),
    )
    first = notebook(
        answer("f", "f = 1"), check("f-check", "import helper, pack\nassert f == 1 and helper.LIMIT == 10")
    )
    other = AssignmentFiles({"helper.py": b"SEEN = []\n"})
    assert grade(first, first, assignment_files=OURS).points == 1
    for _ in range(2):
        assert grade(source, source, assignment_files=other).points == 3
    assert grade(first, first, assignment_files=other).points == 0
    assert grade(first, first).points == 0
    for limit in (10, 11, 10):
        changed = AssignmentFiles({**OURS.contents, "helper.py": f"LIMIT = {limit}\n".encode()})
        assert ("total-check" in lost(graded(ours=changed))) is (limit == 11)


@pytest.mark.parametrize(
    "adds", ["sys.path.append('lib')", "sys.path.insert(0, './lib')", "sys.path.insert(0, os.path.abspath('lib'))"]
)
def test_a_folder_of_modules_may_be_added_to_the_path(adds):
    """By a cell of any kind, and only for this notebook."""
    ours = AssignmentFiles({"lib/deep.py": b"def three():\n    return 3\n"})
    first = f"import os, sys\n{adds}\nfrom deep import three"
    cells = answer("f", "def f():\n    return three()"), check("f-check", "assert f() == three() == 3")
    for source in (notebook(helpers("first", first), *cells), notebook(code(first), *cells)):
        if "abspath" in adds and source.cells[0].metadata == {}:
            continue  # only a path that is written out is found without running the cell
        assert grade(source, source, assignment_files=ours).points == 1
    own = notebook(answer("f", "f = 1"), check("f-check", "import deep\nassert f == 1"))
    assert grade(own, own).points == 0


def test_a_test_reads_nothing_from_where_the_grader_was_started(tmp_path, monkeypatch):
    """There may be a student's files, which a path in the source must not make a module of the runner's."""
    (tmp_path / "theirs.py").write_text("ONE = 1")
    monkeypatch.chdir(tmp_path)
    first = helpers("first", "import sys\nsys.path += ['.', '']\nsys.path.insert(0, '')")
    test = "import os\nassert f() == 1 and os.listdir('.') == []\nimport theirs"
    source = notebook(first, answer("f", "def f():\n    return 1"), check("f-check", test))
    [result] = grade(source, source).results
    assert result.points == 0 and "No module named 'theirs'" in result.message


def test_a_path_stays_below_the_notebooks():
    """Nothing is written outside of the folder, and no path is a file and a folder."""
    for path in ("../x", "/etc/x", "a/../../x", "", ".", "a//b", "./a", "data"):
        with pytest.raises(GraderError, match="below its notebooks"):
            AssignmentFiles({path: b"", "data/x.csv": b""})


def test_the_folder_ends_with_its_process():
    """It is made once, cannot be written to, and is removed."""
    program = (
        "from grader.engine.notebook.folder.assignment_files import AssignmentFiles\n"
        "from grader.engine.supervisor.scratch import shared_folder\n"
        "print(shared_folder(AssignmentFiles({'a/b.txt': b'x'})).folder)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() and not Path(done.stdout.strip()).parent.exists()
    first, second = shared_folder(OURS), shared_folder(AssignmentFiles(dict(OURS.contents)))
    assert first is second and (first.folder / "data.csv").read_bytes() == OURS.contents["data.csv"]
    for folder, _, files in os.walk(first.folder):
        assert not os.stat(folder).st_mode & 0o222
        assert not any(os.stat(os.path.join(folder, file)).st_mode & 0o222 for file in files)
