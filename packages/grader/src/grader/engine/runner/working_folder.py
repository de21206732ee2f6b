"""Lets the runner work in the folder of an assignment for one notebook: it reads data and imports modules from there.

A runner grades notebooks of many assignments, so nothing of one stays for the next: neither the folder nor the modules.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from grader.engine.rpc.jobs import Job


@contextmanager
def working_folder(job: Job) -> Iterator[None]:
    """Work for a `with` block where the files of the assignment are; do nothing if it has none.

    Args:
        job: the notebook.
    """
    if job.files is None or job.here is None:
        yield
        return
    before, path = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), str(job.files.folder)
    wrote, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    aside = _set_aside(job.files.paths)
    os.chdir(job.here)
    sys.path.insert(0, path)
    try:
        yield
    finally:
        sys.path[:] = [each for each in sys.path if each != path]
        sys.path_importer_cache.pop(path, None)
        for name in [name for name, module in sys.modules.items() if _is_from(module, job.files.folder)]:
            del sys.modules[name]
        sys.modules |= aside
        sys.dont_write_bytecode = wrote
        os.fchdir(before)
        os.close(before)


def _set_aside(paths: Iterable[str]) -> dict[str, ModuleType]:
    """Remove and return the modules whose names those of the assignment have, too: here the assignment's come first.

    As in a kernel, one of Python's own stays: it is loaded before the notebook runs.
    """
    own = {path.split("/")[0].removesuffix(".py") for path in paths if path.endswith(".py")} - sys.stdlib_module_names
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in own}


def _is_from(module: ModuleType | None, folder: Path) -> bool:
    """Return whether a module was imported from the folder; some entries of sys.modules are no modules."""
    names = vars(module) if isinstance(module, ModuleType) else {}
    places = [names.get("__file__"), *(names.get("__path__") or ())]
    return any(isinstance(place, str) and place.startswith(f"{folder}/") for place in places)
