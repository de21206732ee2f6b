"""What only talks to the machine does nothing: one line says so, and the cell goes on, as it does in a kernel."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.waiting import HANGS
from tests.support.warm import warm_kernels

pytestmark = pytest.mark.slow

NOTE = "not run here; the grader runs no commands"
NOTED = {
    "!pip install nosuchpackage": "!pip install nosuchpackage",
    "!nosuchprogram": "!nosuchprogram",
    "!!ls": "!ls",
    "f = !ls": "!ls",
    "%sx ls": "!ls",
    "%sc f=ls": "!ls",
    "%ls": "%ls",
    "%mkdir data": "%mkdir data",
    "%pip install nosuchpackage": "%pip install nosuchpackage",
    "%uv pip install nosuchpackage": "%uv pip install nosuchpackage",
    "%cd /content": "%cd /content",
    "%pushd .": "%pushd .",
    "%bookmark here": "%bookmark here",
    "%store": "%store",
    "%notebook n.ipynb": "%notebook n.ipynb",
    "%autosave 60": "%autosave 60",
    "get_ipython().system('ls')": "!ls",
    "get_ipython().getoutput('ls')": "!ls",
    "get_ipython().run_line_magic('pip', 'list')": "%pip list",
    "import subprocess; subprocess.run(['ls', '-l'], check=True)": "ls -l",
    "import subprocess; subprocess.check_output('ls -l', shell=True)": "ls -l",
    "import subprocess; subprocess.Popen('cat', stdin=-1, stdout=-1).communicate(b'a' * 100_000)": "cat",
    "import os; os.system('ls')": "ls",
    "import os; os.popen('ls').read()": "ls",
    "exit()": "exit",
}
"""Lines by the command that the note repeats."""
SCRIPTS = ["%%bash", "%%sh", "%%script bash", "%%perl", "%%python3", "%%bash --out printed"]
LIKE_A_KERNEL = [
    *(line for line in NOTED if line not in ("%pushd .", "exit()")),
    *(f"{line}\ntrue" for line in SCRIPTS if line not in ("%%perl", "%%python3")),
    *("ls", "pwd", "cd .", "pip --version", "%pwd", "p = %pwd\np + '/a'", "%dirs", "%dhist", "%alias", "%env A=1"),
    *("%cd .\ncd .", "%nosuch", "%%nosuch\n1", "nosuch command", "%load_ext nosuch", "%load nosuch.py"),
    *("%run nosuch.py", "%load_ext autoreload", "%autoreload 2", "%timeit -n1 -r1 1", "%history", "%who", "%bash"),
    *("%%time\n1", "%%capture\n1", "%pylab inline", "%gui", "%matplotlib inline", "%config", "print?", "nosuch?"),
    *("_, __, ___", "_i, _ii, _iii, In[-1]", "Out, _oh, _ih, _dh[0]", "exit, quit", "3", "assert _ == 3 == _ + 0"),
    *("assert (_i, In[-1]) == (In[-1], _i) and max(Out) in Out", "for _ in 'ab':\n    pass", "4", "assert _ == 'b'"),
    *("import asyncio", "await asyncio.sleep(0)", "task = asyncio.create_task(asyncio.sleep(0, 7))"),
    *("assert await task == 7", "async def g():\n    yield 1", "[i async for i in g()]"),
    "async for i in g():\n    pass",
    "class C:\n    async def __aenter__(self): pass\n    async def __aexit__(self, *_): pass",
    "async with C():\n    pass",
    *("await 3", "await nosuch", "asyncio.run(asyncio.sleep(0))", "await asyncio.to_thread(int)", "next(iter([]))"),
    *("return 1", "yield 1", "raise SystemExit", "raise KeyboardInterrupt", "x =", "input()", "import nosuch"),
]  # fmt: skip


@pytest.fixture(scope="module")
def in_a_kernel(tmp_path_factory):
    """Which of the cells above go on in a real kernel, whose home is an empty folder."""
    folder, went_on = tmp_path_factory.mktemp("kernel"), []
    cells = [nbformat.v4.new_code_cell(line) for line in LIKE_A_KERNEL]

    def note(cell, cell_index, execute_reply):
        went_on.append(execute_reply["content"]["status"] == "ok")

    client = NotebookClient(
        nbformat.v4.new_notebook(cells=cells), kernel_name="python3", timeout=HANGS, allow_errors=True,
        on_cell_executed=note, resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch, warm_kernels():
        patch.setenv("HOME", str(folder))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        # The lines install nothing: pip finds no index.
        patch.setenv("PIP_NO_INDEX", "1")
        client.execute()
    return dict(zip(LIKE_A_KERNEL, went_on, strict=True))


def test_a_cell_goes_on_where_a_kernel_goes_on(in_a_kernel, student):
    """And ends with an error where it does there: unknown magics, missing extensions and files, syntax errors."""
    sandbox = student("")
    assert {line: sandbox.run(line).error is None for line in LIKE_A_KERNEL} == in_a_kernel
    assert set(in_a_kernel.values()) == {True, False}


def test_one_line_says_that_a_command_does_not_run(student):
    """It repeats the command, of which it cuts a long one, and the line below it runs."""
    sandbox = student("")
    for line, command in NOTED.items():
        done = sandbox.run(f"{line}\n'went on'")
        text, value = done.outputs
        assert done.error is None and text.text == f"{command}: {NOTE}\n"
        assert value.data["text/plain"] == "'went on'"
    for line in SCRIPTS:
        assert sandbox.run(f"{line}\ntouch made").outputs[0].text == f"{line}: {NOTE}\n"
    for long in ("x" * 1000, "x\n" * 1000):
        (text,) = sandbox.run(f"import os\nos.system({long!r});\nNone").outputs
        assert text.text.count("\n") == 1 and len(text.text) < 200 and "…" in text.text
    assert sandbox.run("import os\nprinted, os.path.exists('made')").outputs[0].data["text/plain"] == "('', False)"


def test_it_returns_what_an_empty_command_returns(student):
    """Lists with IPython's attributes, texts, an exit code of 0, and pipes at their end."""
    checks = """
f = !ls
assert f == [] and f.s == f.n == ""
!ls
assert _exit_code == 0
assert get_ipython().getoutput("ls", split=False) == ""
import os, subprocess
ended = subprocess.run(["ls"], capture_output=True, text=True, check=True)
assert (ended.stdout, ended.stderr, ended.returncode) == ("", "", 0)
assert subprocess.getstatusoutput("ls") == (0, "") and os.system("ls") == 0 and os.popen("ls").read() == ""
with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
    cat.stdin.write(b"a")
    cat.stdin.flush()
assert cat.stdout.closed and cat.wait() == cat.poll() == 0
cat.kill()
"""
    assert student("").run(checks).error is None
    wrong = student("").run("import subprocess\nsubprocess.run([1])")
    assert wrong.error.name == "TypeError"


def test_no_pipe_stays_open_and_nothing_starts(student):
    """A thousand commands use up no descriptors, of which a sandbox has 64. Without the notes, the kernel refuses."""
    sandbox = student("import importlib, os, subprocess")
    command = "subprocess.run(['ls'], stdin=subprocess.DEVNULL, capture_output=True)"
    assert sandbox.run(f"for _ in range(1000):\n    {command}").error is None
    for line in ("os.fork()", "os.posix_spawn('/bin/true', ['true'], {})", "os.execv('/bin/true', ['true'])"):
        assert sandbox.run(line).error.kind in ("PermissionError", "OSError")
    assert sandbox.run("importlib.reload(subprocess).run(['/bin/true'])").error.kind == "PermissionError"
