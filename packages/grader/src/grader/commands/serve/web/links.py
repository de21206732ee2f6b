"""Keeps the one-time links to feedback pages, and the pages that they opened, in memory.

POST feedback --offer--> link --open, once--> OpenPage: a cookie for this page alone --> the page, and requests from it

A restart forgets them: running the cell again gives a new link.
"""

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

LINK_SECONDS = 15 * 60
"""Seconds after which an unused link is void."""
PAGE_SECONDS = 4 * 3600
"""Seconds for which an opened page can be loaded again."""
KEPT = 20
"""Links and open pages of one student; a further one makes the oldest void."""
Value = TypeVar("Value", bound="_OfStudent")


@dataclass(frozen=True)
class _OfStudent:
    student: str


@dataclass(frozen=True)
class View(_OfStudent):
    """What a link shows: a student's notebook; `hand_in` is the id of one hand-in, or '' for the one that counts."""

    assignment: str
    notebook: str
    hand_in: str = ""


@dataclass(frozen=True)
class OpenPage(_OfStudent):
    """A page that a link opened. The browser's cookie has `cookie`; a form on the page sends `form`."""

    view: View
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    form: str = field(default_factory=lambda: secrets.token_urlsafe(32))


class Links:
    """The links and open pages of all students."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without any.

        Args:
            clock: returns the time in seconds.
        """
        self._links: _Kept[View] = _Kept(LINK_SECONDS, clock)
        self._pages: _Kept[OpenPage] = _Kept(PAGE_SECONDS, clock)

    def offer(self, view: View) -> str:
        """Return the secret of a new link."""
        return self._links.add(view)

    def open(self, secret: str) -> tuple[str, OpenPage] | None:
        """Use up a link, and return the page that it opens with its key; None if it is void or was used."""
        view = self._links.take(secret)
        if view is None:
            return None
        page = OpenPage(view.student, view)
        return self._pages.add(page), page

    def page(self, key: str, cookie: str) -> OpenPage | None:
        """Return an open page; None if it is closed or the cookie is not that of its browser."""
        page = self._pages.get(key)
        is_theirs = page is not None and hmac.compare_digest(page.cookie.encode(), cookie.encode())
        return page if is_theirs else None


class _Kept(Generic[Value]):
    """Values by secret keys, for some seconds and a bounded number of each student, the oldest first."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds, self._clock = seconds, clock
        self._values: dict[str, tuple[float, Value]] = {}

    def add(self, value: Value) -> str:
        self._forget()
        own = [key for key, (_, each) in self._values.items() if each.student == value.student]
        for key in own[: max(0, len(own) - KEPT + 1)]:
            del self._values[key]
        key = secrets.token_urlsafe(32)
        self._values[key] = self._clock() + self._seconds, value
        return key

    def get(self, key: str) -> Value | None:
        self._forget()
        return self._values[key][1] if key in self._values else None

    def take(self, key: str) -> Value | None:
        value = self.get(key)
        self._values.pop(key, None)
        return value

    def _forget(self) -> None:
        now = self._clock()
        for key in [key for key, (end, _) in self._values.items() if end <= now]:
            del self._values[key]
