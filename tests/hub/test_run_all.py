"""Shows in JupyterLab that running all cells and saving use no attempt, and that a fresh notebook has no red box."""

import json

import pytest
from playwright.sync_api import expect

from tests.hub.conftest import FRESH
from tests.hub.lab import Lab
from tests.hub.machine import NEEDS_A_HUB

RED = ".jp-RenderedText[data-mime-type$='.error'], .jp-RenderedText[data-mime-type$='.stderr']"

pytestmark = [pytest.mark.slow, *NEEDS_A_HUB]


@pytest.fixture(scope="module")
def bob(labs: dict[str, Lab]) -> Lab:
    """Open the notebook as a student."""
    labs["bob"].open(f"{FRESH}/fresh.ipynb")
    return labs["bob"]


def attempts(lab: Lab) -> int:
    """Return the number of attempts that the service has counted."""
    overview = json.loads(lab.visit("services/grader/")[1])
    return int(overview["assignments"][FRESH]["notebooks"]["fresh"]["attempts"])


def test_run_all_and_save_use_no_attempt(bob: Lab) -> None:
    """Twice before the first hand-in, and after it: only another answer is another attempt."""
    last = bob.page.locator(".jp-CodeCell").last
    output = last.locator(".jp-Cell-outputArea")
    for _ in range(2):
        bob.run_all()
        bob.save()
        expect(output.get_by_role("button")).to_have_text("Hand in now (2 attempts left)")
        expect(bob.page.get_by_text("○ Not written yet: one.")).to_have_count(2)
        expect(bob.page.locator(RED)).to_have_count(0)
    assert attempts(bob) == 0
    expect(bob.press(last)).to_contain_text("○ one: not written yet")
    expect(output.get_by_role("button")).to_have_text("Hand in now (1 attempt left)")
    for _ in range(2):
        bob.save()
        bob.run_all()
        bob.save()
        expect(bob.press(last)).to_contain_text("○ one: not written yet")
    assert attempts(bob) == 1
    bob.write(bob.cell("def one"), "def one(x=1):\n    return x")
    bob.run_all()
    bob.save()
    expect(bob.press(last)).to_contain_text("✓ one: right")
    expect(output.get_by_role("button")).to_have_text("Hand in now (0 attempts left)")
    assert attempts(bob) == 2
    bob.save()
    expect(bob.press(last)).to_contain_text("✓ one: right")
