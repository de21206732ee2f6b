"""Prepares the fork server before preload.py fills it with libraries: now it is small, and forks are quick."""

from grader.engine.sandbox.confinement import can_be_unprivileged
from grader.engine.sandbox.namespaces import own_process_namespace
from grader.engine.supervisor.forkserver import skip_slow_imports

skip_slow_imports()
own_process_namespace()
can_be_unprivileged()
