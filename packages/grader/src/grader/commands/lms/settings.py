"""Defines the limits for an archive of submissions, which nbgrader_config.py may set: c.Archives.ratio = 90."""

from traitlets import Integer

from grader.engine.limits import Settings


class Archives(Settings):
    """The limits of `grader import`; `c.Limits.notebook_mb` limits a notebook."""

    entries = Integer(
        20_000, min=1,
        help="Files and folders in a platform's archive. A larger archive is refused."
    ).tag(config=True)  # fmt: skip
    student_entries = Integer(
        1_000, min=1,
        help="Files and folders of one student, and in a zip archive that a student handed in. The rest is "
        "skipped and reported."
    ).tag(config=True)  # fmt: skip
    total_mb = Integer(
        8192, min=1,
        help="Mebibytes of all files of an archive together, unpacked. Files beyond the limit are reported."
    ).tag(config=True)  # fmt: skip
    student_mb = Integer(
        200, min=1,
        help="Mebibytes of the files of one student together, unpacked. Files beyond the limit are reported."
    ).tag(config=True)  # fmt: skip
    archive_mb = Integer(
        100, min=1,
        help="Mebibytes of a student's zip archive. A larger one is reported and not opened."
    ).tag(config=True)  # fmt: skip
    ratio = Integer(
        200, min=1,
        help="Largest ratio of unpacked to packed size of a file above 1 MiB. A file beyond the limit is reported and "
        "not unpacked; notebooks stay below 50."
    ).tag(config=True)  # fmt: skip
