"""Shares a service among the tests of a module."""

from collections.abc import Iterator

import pytest

from tests.commands.serve.serving import Server, make_served_course


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with the module's SETTINGS and the assignments in its MORE, which ends well."""
    settings, more = (getattr(request.module, name, "") for name in ("SETTINGS", "MORE"))
    server = Server(make_served_course(tmp_path_factory.mktemp("served") / "course", settings, more))
    yield server
    assert server.stop() == 0
