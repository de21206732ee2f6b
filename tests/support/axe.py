"""Checks a page that is open in a browser against WCAG, with axe."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
"""WCAG 2.1, levels A and AA, as axe calls them."""
SCHEMES = ("light", "dark")
_OPEN = "document.querySelectorAll('details').forEach((each) => (each.open = true))"


def violations(page: Page, *, schemes: tuple[str, ...] = SCHEMES) -> list[str]:
    """Return what axe finds on a page with everything unfolded, a line for each element.

    Args:
        page: the page; it stays unfolded, and in the last scheme.
        schemes: the colour schemes to read it in, one after the other: "light", "dark".
    """
    page.evaluate(_OPEN)
    found = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for violation in Axe().run(page, options={"runOnly": RULES}).response["violations"]:
            for node in violation["nodes"]:
                why = " ".join(node["failureSummary"].split())
                found.append(f"{scheme}: {violation['id']}: {node['html']}: {why}")
    return found


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it, from 1 to 21; colours are written #rrggbb."""
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    shares = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
