"""`grader serve --scheduler`: hand-ins are graded by the workers of a cluster, each once."""

from pathlib import Path

import pytest

from tests.commands.cluster.dask_cluster import dask_cluster
from tests.commands.serve.serving import Server, make_served_course, written
from tests.support.small_class import NAME, SCORES, grade_class, ledger

pytestmark = pytest.mark.slow


def test_a_cluster_grades_what_is_handed_in(tmp_path: Path) -> None:
    """With the page that a class run makes; a broken file is explained; a lost cluster delays and loses nothing."""
    folder = make_served_course(
        tmp_path / "course", "c.SubmissionPolicy.cooldown = 0\nc.Cluster.reconnect_seconds = 5\n"
    )
    with dask_cluster(tmp_path / "cluster") as cluster:
        server = Server(folder, "--no-sandbox", f"--scheduler={cluster.address}")
        try:
            assert server.graded("ann", written(folder))["report"]["points"] == SCORES["ann"]
            page = feedback(folder, "ann")
            broken = server.hand_in("bob", b'{"cells": 1}')
            assert broken.status == 400 and "save it once more in JupyterLab" in str(broken.json)
            cluster.scheduler.kill()  # type: ignore[union-attr]
            cluster.scheduler.wait()  # type: ignore[union-attr]
            key = server.hand_in("cat", written(folder)).json["id"]
            cluster.start_scheduler()
            cluster.workers = [cluster.add_worker()]
            assert server.report("cat", key)["state"] == "graded"
        finally:
            assert server.stop() == 0
    assert {student: entry["score"] for student, entry in ledger(folder).items()} == {"ann": 8.0, "cat": 8.0}
    assert grade_class(folder, force=True) == ["ann", "cat"]
    assert feedback(folder, "ann") == page


def feedback(folder: Path, student: str) -> str:
    """The feedback page of a student."""
    return (folder / "feedback" / student / NAME / "small.html").read_text()
