"""Reads a course's configuration as nbgrader's own commands do, without loading nbgrader.

jupyter_config.py, nbgrader_config.py (or .json) of the machine, the user and the course --> Config --> Grader
"""

import traceback
from pathlib import Path

from jupyter_core.paths import jupyter_config_path
from traitlets import Bool, List, Unicode
from traitlets.config import Config, Configurable
from traitlets.config.loader import ConfigFileNotFound, JSONFileConfigLoader, PyFileConfigLoader

from grader.classroom.course_root import CONFIG_FILE
from grader.engine.code_digest import package_paths, with_kernel
from grader.engine.torch_use import needs_torch
from grader.errors import GraderError

SOURCES = (".ipynb", ".py")
"""Suffixes of files below the folder of sources that hold code."""


class Grader(Configurable):
    """The grader's settings for a whole course; `limits.Limits` has those for one submission."""

    helper_packages = List(
        Unicode(),
        help="Packages that notebooks import besides the libraries of the Python installation. They are loaded before "
        "the first submission and can be read in the sandbox, and all students are graded again when one changes.",
    ).tag(config=True)
    allow_broken_tests = Bool(
        False,
        help="Whether to release and grade although our own solution fails a test, as --anyway does for one command. A "
        "student who fails such a test reads that it cannot be graded.",
    ).tag(config=True)
    right_answers = Unicode(
        "right_answers",
        help="Folder below the course folder with right answers in other styles, which `grader prove` expects to keep "
        "every point: ASSIGNMENT/EXERCISE/right-STYLE.py.",
    ).tag(config=True)


def load_config(root: Path) -> Config:
    """Return the configuration that applies to the course folder `root`.

    Raises:
        GraderError: `root` is not a course folder, or a configuration file cannot be read.
    """
    if not (root / CONFIG_FILE).exists():
        raise GraderError(f"a course folder contains {CONFIG_FILE}, and {root} has none: change to your course folder")
    config = Config()
    for folder in (*reversed(jupyter_config_path()), str(root)):
        for base in ("jupyter_config", "nbgrader_config"):
            for loader in (PyFileConfigLoader(f"{base}.py", folder), JSONFileConfigLoader(f"{base}.json", folder)):
                try:
                    config.merge(loader.load_config())
                except ConfigFileNotFound:
                    continue
                except Exception as error:
                    # People edit these files, which are Python, so they can raise any exception.
                    message = traceback.format_exception_only(error)
                    reason = str(error) if isinstance(error, GraderError) else "".join(message)
                    raise GraderError(
                        f"{loader.full_filename} cannot be read: {reason.strip().splitlines()[-1]}"
                    ) from error
    return config


def helper_packages(config: Config) -> tuple[str, ...]:
    """Return the packages that notebooks import: `grader_kernel`, and those that `config` names.

    Raises:
        GraderError: a package cannot be found.
        TraitError: the setting has a wrong type.
    """
    names = with_kernel(tuple(Grader(config=config).helper_packages))
    for name in names:
        package_paths(name)
    return names


def course_needs_torch(root: Path, config: Config) -> bool:
    """Return whether a source or a helper package of a course needs torch; all of the course is then graded with it.

    Args:
        root: the course folder.
        config: its configuration.

    Raises:
        GraderError: a helper package cannot be found.
    """
    folder = root / str(config.CourseDirectory.get("source_directory", "source"))
    files = (path for path in folder.rglob("*") if path.suffix in SOURCES and path.is_file())
    return needs_torch((path.read_text(errors="replace") for path in files), helper_packages(config))


def allows_broken_tests(config: Config) -> bool:
    """Return whether the course goes on although our own solution fails a test; raise TraitError for a wrong type."""
    return Grader(config=config).allow_broken_tests
