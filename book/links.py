"""Checks the built pages: each link leads somewhere, and nothing is loaded from a foreign host."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from book.errors import BookError

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src",
           "embed": "src", "object": "data", "link": "href"}  # fmt: skip
"""Elements that load a file, with the attribute that names it."""
CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


@dataclass
class Page(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect the addresses of an element."""
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif values.get(LOADING.get(tag, "")):
            self.loaded.append(values[LOADING[tag]])
        self.loaded += [each.split()[0] for each in values.get("srcset", "").split(",") if each.strip()]
        self.loaded += css_addresses(values.get("style", ""))


def css_addresses(text: str) -> list[str]:
    """Return what a style sheet loads."""
    return [first or second for first, second in CSS_URL.findall(text)]


def read_page(path: Path) -> Page:
    """Return the addresses and anchors of a page."""
    page = Page()
    text = path.read_text()
    page.feed(text)
    page.loaded += [
        url for style in re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL) for url in css_addresses(style)
    ]
    return page


def check_links(html: Path) -> None:
    """Raise BookError with each link that is broken, and each file that is missing or on a foreign host."""
    found = list(complaints(html))
    if found:
        raise BookError(
            "each link must lead to a page and each page must load only files of the book:\n" + "\n".join(found)
        )


def complaints(html: Path) -> Iterator[str]:
    """Yield a line for each link and each file that pages and style sheets of a folder name in vain."""
    pages = {path: read_page(path) for path in sorted(html.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(html)
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{name}: {link} leads to no file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: {link} leads to no anchor"
        yield from _loads(name, path.parent, page.loaded)
    for path in sorted(html.rglob("*.css")):
        yield from _loads(path.relative_to(html), path.parent, css_addresses(path.read_text()))


def _loads(name: Path, folder: Path, addresses: list[str]) -> Iterator[str]:
    for address in dict.fromkeys(addresses):
        parts = urlsplit(address)
        if parts.scheme == "data" or not parts.path:
            continue
        if parts.scheme or parts.netloc:
            yield f"{name}: {address} is loaded from a foreign host"
        elif not (folder / unquote(parts.path)).is_file():
            yield f"{name}: {address} is loaded and does not exist"
