"""Loads everything that children of the fork server need, once and in the fork server, so no submission waits for it.

forkserver.prepare --imports--> this module: libraries, helper packages, a warm-up notebook --forks--> children
"""

# ruff: noqa: E402

from grader.engine.sandbox.isolation import confinement
from grader.engine.sandbox.isolation.namespaces import own_process_namespace
from grader.engine.supervisor.forkserver import skip_slow_imports


def before_libraries() -> None:
    """Set up the imports, and everything that forks, while this process is small and forks are quick."""
    skip_slow_imports()
    own_process_namespace()
    confinement.can_be_unprivileged()


before_libraries()

import gc
import importlib
import json
import multiprocessing.popen_forkserver  # a child unpickles its task with it
import os
import sys
from contextlib import suppress

import matplotlib.figure
import safetensors

import grader.engine.parser.main
import grader.engine.runner.main
import grader.engine.sandbox.main
import grader.engine.sandbox.shell
from grader.engine.supervisor import warmup
from grader.engine.supervisor.forkserver import HELPER_PACKAGES
from grader.engine.torch_if_used import USES_TORCH, torch

if USES_TORCH:
    import safetensors.torch
    import torch._dynamo  # the first step of an optimiser imports it, which takes a second

__all__ = ["matplotlib", "multiprocessing", "safetensors"]


def _import_helper_packages() -> None:
    """Import the modules that the environment names, from the folders that it names."""
    for folders, modules in json.loads(os.environ.pop(HELPER_PACKAGES, "[]")):
        sys.path.extend(folder for folder in folders if folder not in sys.path)
        for module in modules:
            # A notebook that imports a broken module raises its error where a student sees it.
            with suppress(Exception, SystemExit):
                importlib.import_module(module)


if USES_TORCH:
    # One thread only: a process that has run torch in parallel must not fork.
    torch.set_num_threads(1)
    # Functions marked for torch.compile run uncompiled: a confined process cannot start a compiler.
    torch.compiler.set_stance("force_eager")
    _import_helper_packages()
    torch.set_num_threads(1)  # a helper package may have asked for more
else:
    # A module of grader_kernel that needs torch is not loaded now, but where a notebook uses it.
    sys.modules["torch"] = None  # type: ignore[assignment]
    _import_helper_packages()
    del sys.modules["torch"]
grader.engine.sandbox.shell.prepare()
warmup.play()
confinement.prepare()
# Garbage collections are rare: a test cell leaves little behind, and each collection takes time.
gc.set_threshold(10_000, 20, 20)
# Loaded modules are never garbage: a collection in a child would touch, and so copy, every page of them.
gc.collect()
gc.freeze()
