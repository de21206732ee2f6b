"""Defines what an archive of submissions may cost. Instructors set it in nbgrader_config.py: c.Archives.ratio = 90."""

from traitlets import Integer

from grader.engine.limits import Settings


class Archives(Settings):
    """The limits of `grader import`. What a notebook may have is `c.Limits.notebook_mb`."""

    entries = Integer(
        20_000, min=1,
        help="Files and folders in the archive of a platform. An archive with more is refused."
    ).tag(config=True)  # fmt: skip
    student_entries = Integer(
        1_000, min=1,
        help="Files and folders of one student, and in a zip archive that a student handed in. What is beyond the "
        "limit is not looked at, and is reported."
    ).tag(config=True)  # fmt: skip
    total_mb = Integer(
        8192, min=1,
        help="Mebibytes that all files of an archive may have together, unpacked. Files beyond the limit are reported."
    ).tag(config=True)  # fmt: skip
    student_mb = Integer(
        200, min=1,
        help="Mebibytes that the files of one student may have together, unpacked. Files beyond the limit are reported."
    ).tag(config=True)  # fmt: skip
    archive_mb = Integer(
        100, min=1,
        help="Mebibytes that a zip archive of one student may have. A larger one is not opened, and is reported."
    ).tag(config=True)  # fmt: skip
    ratio = Integer(
        200, min=1,
        help="How many times larger than in the archive a file of more than 1 MiB may be. A file beyond the limit is "
        "not unpacked, and is reported: notebooks stay below 50."
    ).tag(config=True)  # fmt: skip
