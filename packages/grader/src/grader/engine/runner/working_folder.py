"""Lets the runner work in the folder of an assignment for one notebook: it reads data and imports modules from there.

A runner grades notebooks of many assignments, so nothing of one stays for the next: neither the folder nor the modules.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType

from grader.engine.rpc.jobs import Job


@contextmanager
def working_folder(job: Job) -> Iterator[None]:
    """Work for a `with` block in a folder of the notebook's own, which holds the files of its assignment.

    Without it, a test would read and import whatever is where the grader was started, such as a student's files.

    Args:
        job: the notebook.
    """
    if job.here is None:  # a job of a test of the grader
        yield
        return
    before = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    path, wrote, aside = list(sys.path), sys.dont_write_bytecode, dict[str, ModuleType]()
    os.chdir(job.here)
    if job.files is not None:
        sys.dont_write_bytecode, aside = True, _set_aside(job.files.paths)
        sys.path.insert(0, str(job.files.folder))
    known = set(sys.modules)
    try:
        yield
    finally:
        folders = (str(job.here), *([str(job.files.folder)] if job.files is not None else []))
        for name in [name for name in sys.modules.keys() - known if _is_from(sys.modules[name], folders)]:
            del sys.modules[name]
        for folder in [each for each in sys.path_importer_cache if each.startswith(folders)]:
            del sys.path_importer_cache[folder]
        sys.modules |= aside
        sys.path[:], sys.dont_write_bytecode = path, wrote
        os.fchdir(before)
        os.close(before)


def _set_aside(paths: Iterable[str]) -> dict[str, ModuleType]:
    """Remove and return the modules whose names those of the assignment have, too: here the assignment's come first.

    As in a kernel, one of Python's own stays: it is loaded before the notebook runs.
    """
    own = {path.split("/")[0].removesuffix(".py") for path in paths if path.endswith(".py")} - sys.stdlib_module_names
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in own}


def _is_from(module: ModuleType | None, folders: tuple[str, ...]) -> bool:
    """Return whether a module was imported from the folders; some entries of sys.modules are no modules."""
    names = vars(module) if isinstance(module, ModuleType) else {}
    places = [names.get("__file__"), *(names.get("__path__") or ())]
    return any(isinstance(place, str) and place.startswith(folders) for place in places)
