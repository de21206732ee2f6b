"""What one submission may use. Instructors set these in nbgrader_config.py: c.Limits.cell_seconds = 20."""

from typing import Any

from traitlets import Integer, TraitError
from traitlets.config import Configurable


class Limits(Configurable):
    """The limits of one submitted notebook. Raises TraitError where a setting has a wrong value or a wrong name."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        known = self.trait_names(config=True)
        # traitlets itself says nothing of a misspelt name, and the limit would stay as it was.
        for name in self.config.get("Limits", ()):
            if name not in known:
                raise TraitError(f"there is no c.Limits.{name}; there are {', '.join(sorted(known))}")

    cell_seconds = Integer(
        10, min=1,
        help="Wall seconds that one cell may take, without those in which other programs had its processor. At the "
        "limit the cell is timed out, and so are the other tests of its exercise; the rest of the notebook goes on."
    ).tag(config=True)  # fmt: skip
    notebook_seconds = Integer(
        120, min=1,
        help="Wall seconds, counted likewise, that one notebook may take, a third of them in each of its rounds. At "
        "the limit the tests that have not run fail as timed out."
    ).tag(config=True)  # fmt: skip
    memory_mb = Integer(
        2048, min=1,
        help="Mebibytes of address space beyond what torch takes. At the limit an allocation fails, and the "
        "test that it happened in fails as out of memory."
    ).tag(config=True)  # fmt: skip
    output_kb = Integer(
        1024, min=1,
        help="Kibibytes of text and pictures that a notebook may print and show, and a hundred times as much that it "
        "may print while tests call it, which nobody is shown. At the limit the cell or test fails with the verdict "
        "output limit."
    ).tag(config=True)  # fmt: skip
    file_mb = Integer(
        16, min=1,
        help="Mebibytes that a file in the private scratch folder may hold. At the limit writing to it fails."
    ).tag(config=True)  # fmt: skip
    scratch_mb = Integer(
        64, min=1,
        help="Mebibytes that all files in the scratch folder may hold together. Soon after the limit its "
        "process is ended, and its exercise fails with the verdict output limit."
    ).tag(config=True)  # fmt: skip
    threads = Integer(
        64, min=1,
        help="Threads that student code may have. Soon after the limit its process is ended, and its "
        "exercise fails as crashed."
    ).tag(config=True)  # fmt: skip
    notebook_mb = Integer(
        20, min=1,
        help="Mebibytes that a submitted notebook file may have. A larger one is reported unread."
    ).tag(config=True)  # fmt: skip
