"""Defines every message between the parent and its child processes.

    parent --Job--> runner --NeedSandbox | NeedExitStatus | JobResult--> parent --SandboxExit--> runner
    parent --SandboxSettings--> sandbox, before student code runs

multiprocessing pickles them: both ends are trusted. Messages between runner and sandbox are in protocol.py.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.engine.report import Result, UnfinishedCell, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.engine.diagnosis.misconceptions import KnownMisconceptions
    from grader.engine.explanation import Ending
    from grader.engine.notebook.not_run import NotRunCell
    from grader.engine.notebook.plan import Step
    from grader.engine.notebook.source_names import SourceNames


@dataclass(frozen=True)
class FilesFolder:
    """A read-only folder with the files of an assignment beside its notebooks: their paths in it, and their digest."""

    folder: Path
    paths: tuple[str, ...]
    digest: str


@dataclass
class Job:
    """One notebook to grade, the cells of it that are not run, and what its source says about names.

    The runner works in the folder `here`, which holds links to the `files` of the assignment, if it has any. Seconds
    are wall seconds as `clock` counts them. `unsound` are the tests that our own solution fails, with the reason.
    """

    steps: "list[Step]"
    known: "KnownMisconceptions"
    not_run: "list[NotRunCell]" = field(default_factory=list)
    names: "SourceNames | None" = None
    files: FilesFolder | None = None
    here: Path | None = None
    cell_seconds: float = 10
    notebook_seconds: float = 120
    output_kb: int = 1024
    unsound: "Mapping[str, Ending]" = field(default_factory=dict)

    @property
    def all_seconds(self) -> float:
        """The seconds of all passes. Tests that run together with the student's code have as many again."""
        return self.notebook_seconds * (1 + any(step.together for step in self.steps))


@dataclass
class JobResult:
    """The runner's result: one for each test, in order, the outputs of cells by index, and unfinished cells."""

    results: list[Result]
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    unfinished: list[UnfinishedCell] = field(default_factory=list)


class NeedSandbox:
    """The runner's request for a fresh sandbox in place of its current one."""


class NeedExitStatus:
    """The runner's request for the SandboxExit of its sandbox."""


@dataclass(frozen=True)
class SandboxExit:
    """The end of a sandbox: a limit that the parent watches (a verdict and why), or an exit status."""

    verdict: Verdict | None = None
    why: str = ""
    exit_status: int | None = None


@dataclass(frozen=True)
class SandboxSettings:
    """The settings of a sandbox; it joins the cgroup `group`.

    Without a scratch folder it runs unconfined, and works in the folder `files` of the assignment, if there is one.
    """

    scratch: Path | None
    memory_mb: int
    file_mb: int
    output_kb: int
    processor: int
    helper_packages: tuple[str, ...] = ()
    readable: tuple[Path, ...] = ()
    group: Path | None = None
    files: Path | None = None
