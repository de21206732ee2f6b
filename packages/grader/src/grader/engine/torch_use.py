"""Decides which notebooks are graded with torch, from texts alone: the parent loads none.

sources, helper packages --needs_torch--> fork server with or without torch --uses_torch--> torch_if_used
"""

import importlib.metadata
import importlib.util
import os
import re
import sys
from collections.abc import Iterable
from functools import cache, lru_cache

from grader.engine.code_digest import KERNEL, module_files

WITHOUT_TORCH = "GRADER_WITHOUT_TORCH"
"""Environment variable of a fork server whose children grade without torch."""
TORCH = "torch"
IMPORTS = re.compile(r"^.*\bimport\b.*$", re.MULTILINE)
WORDS = re.compile(r"[^\W\d]\w*")


@cache
def is_installed() -> bool:
    """Return whether torch can be imported."""
    return importlib.util.find_spec(TORCH) is not None


def uses_torch() -> bool:
    """Return whether this process grades with torch."""
    return WITHOUT_TORCH not in os.environ and is_installed()


def needs_torch(texts: Iterable[str], helper_packages: tuple[str, ...] = ()) -> bool:
    """Return whether code is to run with torch: it or a helper package mentions torch, or imports what requires torch.

    Students' code does not count. In doubt the answer is yes, which only takes more time.

    Args:
        texts: the code of the instructor, in cells or whole files.
        helper_packages: packages that it imports; `grader_kernel` loads torch only where it is used.
    """
    return any(_package_needs(name) for name in helper_packages if name != KERNEL) or any(map(_text_needs, texts))


@cache
def _package_needs(package: str) -> bool:
    return any(_text_needs(path.read_text(errors="replace")) for path in module_files(package))


@lru_cache(maxsize=4096)
def _text_needs(text: str) -> bool:
    if TORCH in text:
        return True
    words = {word for line in IMPORTS.findall(text) for word in WORDS.findall(line)}
    return any(map(_requires_torch, words - sys.stdlib_module_names))


@cache
def _requires_torch(module: str) -> bool:
    """Return whether the distribution with the name of a module names torch among what it requires or can use."""
    try:
        requirements = importlib.metadata.requires(module) or ()
    except importlib.metadata.PackageNotFoundError:
        return False
    return any(requirement.startswith(TORCH) for requirement in requirements)
