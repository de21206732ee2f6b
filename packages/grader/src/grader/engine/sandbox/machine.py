"""Replaces what talks only to the machine: programs, folders, the notebook's session. Each use writes one line instead.

In a notebook, a command that fails raises nothing, and the cell goes on; so does a cell here, as if the command were
empty. This convinces honest code. The kernel keeps all code from starting a program (system_calls.py).
"""

import os
import shlex
import subprocess
from typing import Any

from IPython.core.alias import Alias
from IPython.core.autocall import ExitAutocall
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magics.script import ScriptMagics
from IPython.utils.process import arg_split
from IPython.utils.text import LSString, SList

LINE_MAGICS = """
    pip conda mamba micromamba uv man less more qtconsole rehashx
    cd pushd popd bookmark
    store notebook edit ed pastebin autosave clear connect_info subshell
""".split()
"""Line magics that only talk to the machine, some of which only a kernel has."""
SCRIPT_MAGICS = "script bash sh perl ruby pypy python python2 python3".split()
MAX_SHOWN = 80
"""Characters of a command that a note repeats."""
PIPES = slice(9, 15)
"""Where Popen passes both ends of the pipes to stdin, stdout and stderr, behind its command; -1 stands for none."""

NO_PROCESS = 2**22 + 1
"""The number of a process that cannot exist: Linux stops at 2**22."""


def skip(command: str) -> None:
    """Print that a command does not run here.

    Args:
        command: the command as the student wrote it; only its first line is shown.
    """
    first, *more = command.strip().splitlines() or [""]
    shown = f"{first[:MAX_SHOWN]}…" if more or len(first) > MAX_SHOWN else first
    print(f"{shown}: not run here; the grader runs no commands")


def replace_in_ipython(shell: InteractiveShell) -> None:
    """Replace IPython's shell lines and magics, its `exit`, and its database, which is in the home folder."""

    def system(command: str) -> None:
        skip(f"!{command}")
        shell.user_ns["_exit_code"] = 0

    def getoutput(command: str, split: bool = True, depth: int = 0) -> Any:
        skip(f"!{command}")
        return SList() if split else LSString()

    def script(name: str, line: str) -> None:
        # `%%bash --out NAME` binds what the program printed.
        arguments, _ = ScriptMagics.shebang.parser.parse_known_args(arg_split(line))
        skip(f"%%{name} {line}")
        shell.user_ns.update({bound: "" for bound in (arguments.out, arguments.err) if bound})

    setattr(shell, "enable_gui", lambda gui=None: None)  # noqa: B010  # a window would never show
    for method in ("system", "system_piped", "system_raw"):
        setattr(shell, method, system)
    setattr(shell, "getoutput", getoutput)  # noqa: B010  # mypy refuses to assign to a method
    register = shell.magics_manager.register_function
    for name in LINE_MAGICS:
        register(lambda line, name=name: skip(f"%{name} {line}"), magic_name=name)
    for name in SCRIPT_MAGICS:
        register(lambda line, cell, name=name: script(name, line), "cell", name)
    # %ls, %cat and their like, and those that a student adds.
    setattr(Alias, "__call__", lambda alias, line="": skip(f"%{alias.name} {line}"))  # noqa: B010
    shell.exiter = _Exit()
    shell.db = {}


def replace_in_python() -> None:
    """Replace the start of programs by subprocess, and so by os.popen and asyncio, and by os.system."""
    setattr(subprocess.Popen, "_execute_child", _end_at_once)  # noqa: B010  # the same
    os.system = _system


def _end_at_once(process: Any, args: Any, *rest: Any) -> None:
    """Be a program that reads everything and prints nothing; takes the arguments of Popen._execute_child."""
    skip(shlex.join(map(os.fsdecode, args)) if isinstance(args, list | tuple) else os.fsdecode(args))
    pipes = rest[PIPES]
    if (our_end := pipes[1]) != -1:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), our_end, inheritable=False)
    process._close_pipe_fds(*pipes)
    process.pid, process.returncode, process._child_created = NO_PROCESS, 0, True


def _system(command: Any) -> int:
    skip(os.fsdecode(command))
    return 0


class _Exit(ExitAutocall):
    """`exit` and `quit`: in a notebook, too, a cell that calls them runs to its end."""

    def __call__(self, keep_kernel: bool = False) -> None:
        skip("exit")
