"""Decides who may mark: people with a link from the terminal on this machine, or users of the hub that are markers.

    link with a one-time token --> cookie of a session --every change--> token of the page in a header
    cookie of the hub          --> user, if c.Marking.markers has them --> the hub's XSRF token

A cookie alone changes nothing: another site, or another server on this machine, can make a browser send it.
"""

import hmac
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

from tornado.httputil import url_concat
from tornado.web import RequestHandler

from grader.classroom.web.hub import Hub
from grader.classroom.web.refusal import Refusal
from grader.commands.shared import LOCAL
from grader.errors import GraderError

TOKEN = "token"
"""The name of the argument with a one-time token."""
HEADER = "X-XSRFToken"
"""The header in which a page sends its token; the hub's name for it."""
NO_SESSION = "open the link that `grader mark` printed in the terminal"
USED = "this link has already been used: `grader mark` printed a new one in its terminal"


@dataclass(frozen=True)
class Session:
    """A person who marks, and the token that their page sends with every change."""

    marker: str
    token: str


class Access(Protocol):
    """A way to identify markers."""

    async def session(self, handler: RequestHandler) -> Session | None:
        """Return the session of a request, or None if the request is already answered; raise Refusal for others."""

    def handlers(self) -> list[Any]:
        """Return tornado's rules for additional pages."""


class Links:
    """Identifies markers on this machine by one-time links."""

    def __init__(self, address: str, tell: Callable[[str, str], None]) -> None:
        """Begin without a link.

        Args:
            address: the address of the first page.
            tell: shows a marker's new link to whoever started the command.
        """
        self._address, self._tell = address, tell
        self._links: dict[str, str] = {}
        self._used: dict[str, str] = {}
        self._sessions: dict[str, Session] = {}
        # Cookies do not know ports: another `grader mark` on this machine must have another name.
        self._cookie = f"grader-mark-{address.rpartition(':')[2].strip('/')}"

    def make(self, marker: str) -> str:
        """Make a link for a marker, show it, and return it."""
        token = secrets.token_urlsafe(32)
        self._links[token] = marker
        link = url_concat(self._address, {TOKEN: token})
        self._tell(marker, link)
        return link

    async def session(self, handler: RequestHandler) -> Session | None:
        """Return the session of a request; a link begins one, and is used up by that."""
        if handler.request.host_name.lower() not in LOCAL:
            # A site that an attacker points to 127.0.0.1 sends its own name.
            raise Refusal(403, "this page is at 127.0.0.1 or localhost: use the address that `grader mark` printed")
        known = self._sessions.get(handler.get_cookie(self._cookie) or "")
        if token := handler.get_query_argument(TOKEN, ""):
            if known is None and handler.request.method == "GET":
                self._begin(handler, token)
            handler.redirect(handler.request.path)
            return None
        if known is None:
            raise Refusal(401, NO_SESSION)
        sent = handler.request.headers.get(HEADER, "")
        if handler.request.method != "GET" and not hmac.compare_digest(sent.encode(), known.token.encode()):
            raise Refusal(403, "this request does not come from the page: reload the page")
        return known

    def handlers(self) -> list[Any]:
        """Return no rules."""
        return []

    def _begin(self, handler: RequestHandler, token: str) -> None:
        marker = self._links.pop(token, None)
        if marker is None:
            if (late := self._used.pop(token, None)) is not None:
                self.make(late)
                raise Refusal(401, USED)
            raise Refusal(401, NO_SESSION)
        self._used[token] = marker
        key = secrets.token_urlsafe(32)
        self._sessions[key] = Session(marker, secrets.token_urlsafe(32))
        # Not "Strict": a browser would not send it when it follows the link from another program.
        handler.set_cookie(self._cookie, key, httponly=True, samesite="Lax", path="/")


class HubMarkers:
    """Identifies markers as users of JupyterHub; the hub checks its own XSRF token."""

    def __init__(self, markers: Collection[str]) -> None:
        """Connect to the hub.

        Args:
            markers: the users who may mark.

        Raises:
            GraderError: jupyterhub is not installed, or there are no markers: on a hub, students are users, too.
        """
        if not markers:
            raise GraderError(
                'on a JupyterHub, the users who may mark must be named: set c.Marking.markers = ["NAME"] in '
                "nbgrader_config.py"
            )
        self._markers = frozenset(markers)
        self._hub = Hub()

    async def session(self, handler: RequestHandler) -> Session | None:
        """Return the session of a user who may mark."""
        user = await self._hub.user(handler)
        if user is None:
            return None
        if user not in self._markers:
            raise Refusal(403, "you are not among the markers of this course: its instructor sets c.Marking.markers")
        token = handler.xsrf_token
        return Session(user, token.decode() if isinstance(token, bytes) else token)

    def handlers(self) -> list[Any]:
        """Return the rule for the end of OAuth."""
        return self._hub.handlers()
