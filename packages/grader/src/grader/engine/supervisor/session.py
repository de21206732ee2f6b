"""Runs one notebook's job on a test runner, and starts, watches and replaces the sandbox beside it.

Job --> runner <--socket--> sandbox        the parent starts both, hands the socket over and watches the sandbox
"""

import os
import signal
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import send_handle
from pathlib import Path

from grader.engine.code_digest import package_paths
from grader.engine.limits import Limits
from grader.engine.notebook.folder.assignment_files import AssignmentFiles
from grader.engine.report import Verdict
from grader.engine.rpc.jobs import (
    FilesFolder,
    Job,
    JobResult,
    NeedExitStatus,
    NeedSandbox,
    SandboxExit,
    SandboxSettings,
)
from grader.engine.runner.clock import SLOWEST
from grader.engine.supervisor import forkserver
from grader.engine.supervisor.cgroups import CGroup, limited
from grader.engine.supervisor.pool import RunnerHandle, borrowed_runner
from grader.engine.supervisor.scratch import MAX_ENTRIES, Scratch, shared_folder

GRACE_SECONDS = 30
"""Seconds that the runner may take to report once the notebook's time is over."""

START_SECONDS = 60
"""Seconds that a sandbox may take to report for the first time."""

END_SECONDS = 60
"""Seconds that the kernel may take to end a sandbox."""

WATCH_SECONDS = 0.1
"""Seconds between two checks of the resources that the kernel does not limit."""


class GradingFailed(Exception):
    """The runner did not report in time."""


class RunnerDied(GradingFailed):
    """The runner ended without a report."""


def run_job(
    job: Job,
    limits: Limits,
    *,
    sandbox: bool,
    helper_packages: tuple[str, ...] = (),
    files: Mapping[str, bytes] | None = None,
    ours: AssignmentFiles | None = None,
    needs_torch: bool = True,
) -> JobResult:
    """Grade one notebook on a runner and return the result.

    If a runner dies, earlier notebooks may be the cause, so the job is tried once more on a fresh one.

    Args:
        job: the steps of the notebook and its known misconceptions; its limits are filled in here.
        limits: what the submission may use.
        sandbox: whether the kernel confines the student's process.
        helper_packages: packages that the notebook imports.
        files: the student's files in the scratch folder of each sandbox, by path; the runner does not see them.
        ours: the assignment's files, for both; they replace files of the student's.
        needs_torch: whether tests and student code must have torch.

    Raises:
        GradingFailed: no runner finished the job.
    """
    job.cell_seconds, job.notebook_seconds = limits.cell_seconds, limits.notebook_seconds
    job.output_kb = limits.output_kb
    forkserver.use(helper_packages, needs_torch=needs_torch)
    with ExitStack() as cleanup:
        if ours is not None and ours.contents:
            job.files = shared_folder(ours)
            files = {path: content for path, content in (files or {}).items() if not ours.hides(path)}
        here = Scratch(ours=job.files)
        cleanup.callback(here.remove)
        job.here = here.folder
        return _run_job(job, limits, sandbox, helper_packages, files or {})


def _run_job(
    job: Job, limits: Limits, sandbox: bool, helper_packages: tuple[str, ...], files: Mapping[str, bytes]
) -> JobResult:
    for is_fresh in (False, True):
        try:
            with (
                borrowed_runner(fresh=is_fresh) as runner,
                Sandboxes(
                    limits, sandbox, runner.processor, helper_packages, files, runner.has_torch, job.files
                ) as sandboxes,
            ):
                return _served(runner, sandboxes, job)
        except RunnerDied:
            if is_fresh:
                raise
    raise AssertionError("unreachable")


def _served(runner: RunnerHandle, sandboxes: "Sandboxes", job: Job) -> JobResult:
    """Send the job and serve the runner's requests until it reports."""
    connection = runner.connection
    try:
        connection.send(job)
        sandboxes.hand_over(runner)
        while _has_message(connection, sandboxes, SLOWEST * job.all_seconds + GRACE_SECONDS):
            match connection.recv():
                case NeedExitStatus():
                    connection.send(sandboxes.ended())
                case NeedSandbox():
                    sandboxes.replace()
                    connection.send("coming")
                    sandboxes.hand_over(runner)
                case JobResult() as result:
                    return result
    except (EOFError, OSError) as error:
        raise RunnerDied from error
    raise GradingFailed


def _has_message(connection: Connection, sandboxes: "Sandboxes", seconds: float) -> bool:
    """Wait for a message from the runner while watching the sandbox; return False when the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if connection.poll(WATCH_SECONDS):
            return True
        sandboxes.watch()
    return False


@dataclass
class _Sandbox:
    process: BaseProcess
    connection: Connection
    from_student: Connection
    scratch: Scratch | None
    group: CGroup | None
    excess: SandboxExit | None = None
    """The limit for which it was killed, if it was."""
    is_over: bool = False
    _student: int | None = None

    def student(self, wait: float = 0) -> int | None:
        """Return the pid of the process that runs student code: `process`, or its child in a process namespace.

        Return None if the process has ended, or does not start within `wait` seconds.
        """
        with suppress(EOFError, OSError):
            if self._student is None and self.from_student.poll(wait):
                self._student = self.from_student.recv()
        return self._student

    def kill(self) -> None:
        """Kill the process that runs student code; `process` waits for it and exits with the same status."""
        student = self.student()
        if student is None or self.process.exitcode is not None:
            self.process.kill()
        else:
            with suppress(ProcessLookupError):
                os.kill(student, signal.SIGKILL)

    def end(self) -> None:
        """Kill the processes and remove their files; a second call does nothing."""
        if self.is_over:
            return
        self.is_over = True
        try:
            if self.process.exitcode is None:
                self.kill()
                self.process.join(END_SECONDS)
            self.from_student.close()
            forkserver.end(self.process)
        finally:
            if self.scratch is not None:
                self.scratch.remove()
            if self.group is not None:
                self.group.remove()


@dataclass
class Sandboxes:
    """The sandbox of a notebook, replaced whenever the runner asks for a fresh one; used in a `with` block.

    Each sandbox is forked from the fork server, which never reads a submission or a test: its memory holds no secret.

    Args:
        limits: what the submission may use.
        sandbox: whether the kernel confines the student's process.
        processor: the processor on which the runner runs.
        helper_packages: packages that the notebook imports.
        files: the student's files in the scratch folder of each, by path.
        has_torch: whether the runner has torch, and so each of them; by default, as the fork server in use.
        ours: the assignment's files.
    """

    limits: Limits
    sandbox: bool
    processor: int
    helper_packages: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    has_torch: bool | None = None
    ours: FilesFolder | None = None

    def __enter__(self) -> "Sandboxes":
        self._current = self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._current.connection.close()
        self._current.end()

    def replace(self) -> None:
        """End the sandbox and start another."""
        self._current.end()
        self._current = self._start()

    def confined_pid(self) -> int:
        """Wait until the sandbox has confined itself, and return its pid."""
        self._current.connection.poll(START_SECONDS)
        student = self._current.student(START_SECONDS)
        assert student is not None
        return student

    def hand_over(self, runner: RunnerHandle) -> None:
        """Pass the parent's end of the sandbox's socket to the runner, and close it here."""
        assert runner.process.pid is not None
        send_handle(runner.connection, self._current.connection.fileno(), runner.process.pid)
        self._current.connection.close()

    def ended(self) -> SandboxExit:
        """Return how the sandbox ended: by a limit that the parent watches, or with an exit status."""
        self._current.process.join(1)
        return self._current.excess or SandboxExit(exit_status=self._current.process.exitcode)

    def watch(self) -> None:
        """End a sandbox that exceeds a limit which the kernel cannot enforce for a single process."""
        current, limits = self._current, self.limits
        student = current.student()
        if student is None:
            return  # not started yet
        try:
            # `st_nlink` counts `.` and `..` as well.
            threads = os.stat(f"/proc/{student}/task").st_nlink - 2
        except OSError:
            return  # already ended
        if threads > limits.threads:
            current.excess = SandboxExit(Verdict.CRASHED, f"it had more than {limits.threads} threads")
        elif current.scratch is not None and current.scratch.is_full(limits.scratch_mb):
            why = f"it wrote more than {limits.scratch_mb} MB of files, or more than {MAX_ENTRIES} of them"
            current.excess = SandboxExit(Verdict.OUTPUT_LIMIT, why)
        if current.excess is not None:
            current.kill()

    def _start(self) -> _Sandbox:
        scratch = Scratch(self.files, self.ours) if self.sandbox else None
        ours = None if self.ours is None else self.ours.folder
        group = limited(self.limits) if self.sandbox else None
        settings = SandboxSettings(
            scratch=None if scratch is None else scratch.folder,
            memory_mb=self.limits.memory_mb,
            file_mb=self.limits.file_mb,
            output_kb=self.limits.output_kb,
            processor=self.processor,
            helper_packages=self.helper_packages,
            readable=(*readable_paths(self.helper_packages), *([ours] if ours else [])),
            group=None if group is None else group.folder,
            files=ours,
        )
        runner_end, sandbox_end = forkserver.pipe()
        from_student, to_parent = forkserver.pipe()
        process = forkserver.start(forkserver.SANDBOX, sandbox_end, settings, to_parent, with_torch=self.has_torch)
        sandbox_end.close()
        to_parent.close()
        return _Sandbox(process, runner_end, from_student, scratch, group)


@cache
def readable_paths(helper_packages: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the folders and files of the helper packages, which a sandbox may read."""
    return tuple(path for package in helper_packages for path in package_paths(package))
