"""Holds the files of an assignment beside its notebooks: data, pictures and modules, as students have them.

source/NN-name --classroom.source.assignment_files--> AssignmentFiles --supervisor.scratch--> folders of both processes
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from grader.errors import GraderError


@dataclass(frozen=True, eq=False)
class AssignmentFiles:
    """The files that an assignment has beside its notebooks.

    Code of students reads them, so a file with a secret, such as a solution, must not be among them. For the same
    reason no test can read a file that students must not see; put its content into the test.

    Args:
        contents: the files, by their paths relative to the notebooks.

    Raises:
        GraderError: a path leaves the folder, or is one of a file and of a folder.
    """

    contents: Mapping[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.contents:
            parts = PurePosixPath(path).parts
            if "/".join(parts) != path or not parts or ".." in parts or path in self._folders:
                raise GraderError(
                    f"files of an assignment are beside or below its notebooks, and {path!r} is not: move it"
                )

    @cached_property
    def digest(self) -> str:
        """A digest of the paths and contents."""
        digest = hashlib.sha256()
        for path, content in sorted(self.contents.items()):
            digest.update(repr((path, len(content))).encode() + content)
        return digest.hexdigest()

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The text of the Python files."""
        return tuple(text.decode(errors="replace") for path, text in self.contents.items() if path.endswith(".py"))

    def hides(self, path: str) -> bool:
        """Return whether a student's file gives way: one of these has its path, is below it, or is its module.

        Args:
            path: the path of the student's file, relative to the notebook.
        """
        own = PurePosixPath(path)
        is_file_of_ours = any(str(part) in self.contents for part in (own, *own.parents))
        is_module_of_ours = own.suffix == ".py" and _module(own) in self._module_names
        return is_file_of_ours or is_module_of_ours or path in self._folders

    @cached_property
    def _folders(self) -> set[str]:
        return {str(folder) for path in self.contents for folder in PurePosixPath(path).parents}

    @cached_property
    def _module_names(self) -> set[str]:
        return {_module(PurePosixPath(path)) for path in self.contents if path.endswith(".py")}


def _module(path: PurePosixPath) -> str:
    """Return the name under which code imports a Python file or the outermost package that holds it."""
    return path.parts[0].removesuffix(".py")
