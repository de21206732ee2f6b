"""Says whether others than this user and root may change a file, as ssh asks before it uses its settings."""

import os
import stat

if os.name == "posix":
    import grp
    import pwd


def why_not_own(found: os.stat_result) -> str:
    """Return in words why a file or folder is not this user's own; '' if no one but this user and root may change it.

    Args:
        found: the state of the file. On Windows, which keeps rights in another form, every file counts as one's own.
    """
    if os.name != "posix":
        return ""
    if found.st_uid not in (0, os.geteuid()):
        return "it belongs to another user"
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid)):
        return "other users may write to it"
    return ""


def _is_private(group: int) -> bool:
    """Whether a group is the one that many systems make for each user, with its name and no one else in it."""
    try:
        found, user = grp.getgrgid(group), pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    return found.gr_name == user and set(found.gr_mem) <= {user}
