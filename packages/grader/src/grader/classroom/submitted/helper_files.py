"""Reads the small files beside a submitted notebook that its code names: helper modules and data.

folder --entries that the notebook names, no links--> content by path, and a notice for each that is left out
"""

import re
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path

from grader.engine.code_digest import with_kernel
from grader.engine.limits import Limits
from grader.engine.notebook.folder.assignment_files import AssignmentFiles
from grader.engine.notebook.folder.submission_folder import FolderEntry, SubmissionFolder
from grader.errors import UnreadableFile

SETTINGS = "hand_in.toml"
"""The file with the address of the service and a student's token, which `hand_in()` reads."""
NEVER = {"timestamp.txt", "submission_secret.txt", SETTINGS, "nbgrader_config.py"}
"""Files of nbgrader and of the hand-in, some of which hold a secret."""
NOT_DATA = {".ipynb", ".pyc", ".so", ".pth"}


def helper_files(
    folder: SubmissionFolder,
    notebooks: Iterable[bytes],
    limits: Limits,
    helper_packages: tuple[str, ...] = (),
    ours: AssignmentFiles | None = None,
) -> tuple[dict[str, bytes], list[str]]:
    """Return the files beside notebooks that these or another such file name, and a sentence for each one left out.

    A module is named by its name, any other file by its file name. Of folders, only the files directly in them count.

    Args:
        folder: the folder with the notebooks.
        notebooks: their contents.
        limits: how many files, and how many bytes.
        helper_packages: the packages that notebooks import, which no file replaces.
        ours: the assignment's files, which no file replaces either: students have copies of them.
    """
    candidates = set[Path]()
    with suppress(OSError, UnreadableFile):  # a folder that cannot be listed
        candidates = {entry.path for entry in folder.entries() if _may_help(entry)}
    if ours is not None:
        candidates = {path for path in candidates if not ours.hides(path.as_posix())}
    files, notices, room = dict[str, bytes](), list[str](), limits.helper_kb * 1024
    texts = list(notebooks)
    for text in texts:  # which grows
        for path in sorted(path for path in candidates if _is_named(path, text)):
            candidates.remove(path)
            why = ""
            if path.suffix == ".py" and _is_installed(path.parts[0].removesuffix(".py"), helper_packages):
                why = "an installed module has this name"
            elif len(files) == limits.helper_files:
                why = f"at most {limits.helper_files} files are"
            else:
                try:
                    content = SubmissionFolder(folder.path / path.parent, folder.trusted).read(
                        path.name, limits.file_mb
                    )
                except UnreadableFile as error:
                    why = error.why
                else:
                    room -= len(content)
                    if room >= 0:
                        files[path.as_posix()] = content
                        texts += [content] if path.suffix == ".py" else []
                        continue
                    room += len(content)
                    why = f"all files together may have {limits.helper_kb} KB"
            notices.append(f"{path.as_posix()!r} is not given to the code: {why}")
    return files, notices


def _may_help(entry: FolderEntry) -> bool:
    names = entry.path.parts
    is_hidden = any(name.startswith((".", "__MACOSX", "__pycache__")) or not name.isprintable() for name in names)
    return entry.is_file and not is_hidden and entry.path.name not in NEVER and entry.path.suffix not in NOT_DATA


def _is_named(path: Path, text: bytes) -> bool:
    """Return whether a text, which may be JSON, mentions a file."""
    name = path.parts[0].removesuffix(".py") if path.suffix == ".py" else path.as_posix()
    return re.search(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)", text) is not None


def _is_installed(module: str, helper_packages: tuple[str, ...]) -> bool:
    if module in sys.stdlib_module_names or module in ("grader", *with_kernel(helper_packages)):
        return True
    paths = sysconfig.get_paths()
    return PathFinder.find_spec(module, [paths["purelib"], paths["platlib"]]) is not None
