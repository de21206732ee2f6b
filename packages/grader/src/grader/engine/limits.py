"""Defines the limits of one submission. Instructors set them in nbgrader_config.py: c.Limits.cell_seconds = 20."""

from collections.abc import Iterable
from typing import Any

from traitlets import Integer, TraitError
from traitlets.config import Configurable

MAX_NOTEBOOK_MB = 20


class Settings(Configurable):
    """Settings that reject misspelt names: traitlets would only warn, and the setting would keep its default."""

    def __init__(self, **traits: Any) -> None:
        """Read the settings from the configuration.

        Raises:
            TraitError: a setting has a wrong value or a misspelt name.
        """
        super().__init__(**traits)
        self.require_known(self.config.get(type(self).__name__, ()))

    def require_known(self, names: Iterable[str]) -> None:
        """Raise TraitError if one of the names is not a setting."""
        known = self.trait_names(config=True)
        for name in names:
            if name not in known:
                raise TraitError(f"there is no c.{type(self).__name__}.{name}: use one of {', '.join(sorted(known))}")


class Limits(Settings):
    """The limits of one submitted notebook."""

    cell_seconds = Integer(
        10, min=1,
        help="Wall seconds that one cell may take, not counting time in which other programs held its processor. At "
        "the limit the cell is timed out, and so are the other tests of its exercise; the rest of the notebook goes on."
    ).tag(config=True)  # fmt: skip
    notebook_seconds = Integer(
        120, min=1,
        help="Wall seconds, counted in the same way, that one notebook may take, a quarter of them in each of its four "
        "passes; tests that run together with the student's code have as many seconds again. At the limit the tests "
        "that have not run fail as timed out."
    ).tag(config=True)  # fmt: skip
    memory_mb = Integer(
        2048, min=1,
        help="Mebibytes of address space beyond what torch takes. At the limit an allocation fails, and the test in "
        "which it happened fails as out of memory."
    ).tag(config=True)  # fmt: skip
    output_kb = Integer(
        1024, min=1,
        help="Kibibytes of text and pictures that a notebook may print and display. While tests call its code, it may "
        "print a hundred times as much, which is not shown. At the limit the cell or test fails with the verdict "
        "output limit."
    ).tag(config=True)  # fmt: skip
    file_mb = Integer(
        16, min=1,
        help="Mebibytes that one file in the private scratch folder may hold. At the limit, writing to it fails."
    ).tag(config=True)  # fmt: skip
    scratch_mb = Integer(
        64, min=1,
        help="Mebibytes that all files in the scratch folder may hold together. Soon after the limit is reached, the "
        "process is killed, and its exercise fails with the verdict output limit."
    ).tag(config=True)  # fmt: skip
    helper_files = Integer(
        20, min=0,
        help="Files beside a notebook, such as helper modules and small data, that its code gets if it names them. "
        "Further ones are left out, which a notice says; 0 gives none."
    ).tag(config=True)  # fmt: skip
    helper_kb = Integer(
        1024, min=0,
        help="Kibibytes that these files may have together. A file that does not fit is left out, which a notice says."
    ).tag(config=True)  # fmt: skip
    assignment_files = Integer(
        500, min=0,
        help="Files that an assignment may have beside its notebooks in source/, which tests and student code get. At "
        "the limit an error names the file."
    ).tag(config=True)  # fmt: skip
    assignment_mb = Integer(
        100, min=0,
        help="Mebibytes that these files may have together. At the limit an error names the file."
    ).tag(config=True)  # fmt: skip
    threads = Integer(
        64, min=1,
        help="Threads that student code may have. Soon after the limit is reached, the process is killed, and its "
        "exercise fails as crashed."
    ).tag(config=True)  # fmt: skip
    notebook_mb = Integer(
        MAX_NOTEBOOK_MB, min=1,
        help="Mebibytes that a submitted notebook file may have. A larger file is not read, and is reported."
    ).tag(config=True)  # fmt: skip
