"""Checks that only this user and root may change a file, as ssh does for its settings."""

import os
import stat

if os.name == "posix":
    import grp
    import pwd


def why_not_own(found: os.stat_result) -> str:
    """Return why a file or folder is not this user's own; '' if only this user and root may change it.

    Args:
        found: the `stat` of the file. On Windows, where rights differ, every file counts as the user's own.
    """
    if os.name != "posix":
        return ""
    if found.st_uid not in (0, os.geteuid()):
        return "it belongs to another user"
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid)):
        return "other users may write to it"
    return ""


def _is_private(group: int) -> bool:
    """Return whether a group is the one that many systems make for each user: same name, no other member."""
    try:
        found, user = grp.getgrgid(group), pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    return found.gr_name == user and set(found.gr_mem) <= {user}
