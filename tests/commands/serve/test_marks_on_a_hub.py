"""On a JupyterHub, the link below the cell leads to the hub's own address, and needs no further login."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import expect

from grader.classroom.record.record import Record
from grader.classroom.record.requests import open_requests
from tests.commands.mark.marker import chromium, needs_browser
from tests.commands.serve.request_form import ask_on
from tests.commands.serve.serving import make_served_course, written
from tests.support.service_hub import ServiceHub, needs_proxy, service_hub
from tests.support.small_class import NAME
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, needs_browser, needs_proxy]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceHub]:
    """A hub that starts the service of a course."""
    course = make_served_course(tmp_path_factory.mktemp("hub") / "course")
    with service_hub(course, "serve", tmp_path_factory.mktemp("jupyterhub"), "health") as hub:
        yield hub


def test_a_user_opens_the_page_and_asks(hub: ServiceHub) -> None:
    """The server's token makes the link inside the hub; a browser opens it through the proxy, and sends the form."""
    token = hub.token("ann")

    def ask(path: str, data: bytes | None = None) -> Any:
        request = urllib.request.Request(hub.inside + path, data, {"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())

    key = ask(f"hand-in/{NAME}/small", written(hub.course))["id"]
    until(lambda: ask(f"hand-in/{key}?wait=10")["state"] == "graded", "the report")
    link = ask(f"feedback/{NAME}/small", b"")["link"]
    assert link.startswith("/services/course/open/")
    with chromium() as browser:
        page = browser.new_page()
        page.goto(urljoin(hub.address, link))
        expect(page.get_by_role("heading", name="small")).to_be_visible()
        assert page.url.startswith(f"{hub.address}page/")
        ask_on(page, "two", "Please look.")
        expect(page.get_by_text("You asked about two")).to_be_visible()
        page.goto(urljoin(hub.address, link))
        expect(page.get_by_text("A link works once")).to_be_visible()
    assert [each.student for each in open_requests(Record(hub.course))] == ["ann"]
