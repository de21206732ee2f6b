"""Identifies the sender of a request by a student's token, or through JupyterHub if the hub started the service."""

import os
import re
from pathlib import Path
from typing import Any, Protocol

from tornado.httputil import url_concat
from tornado.web import RequestHandler

from grader.classroom.students.roster import require_name
from grader.commands.serve.accounts import Accounts
from grader.commands.serve.policy import Refusal
from grader.errors import GraderError

PREFIX = "JUPYTERHUB_SERVICE_PREFIX"
BEARER = re.compile(r"(?:bearer|token) +(\S+) *", re.IGNORECASE)
MAX_TOKEN = 512
NO_TOKEN = "send your token in the header 'Authorization: Bearer TOKEN'; your instructor has it"
WRONG_TOKEN = "this token is unknown: copy all of it, or ask your instructor for a new one"


class Identity(Protocol):
    """A way to identify students."""

    async def student(self, handler: RequestHandler) -> str | None:
        """Return the student who sends a request, or None if the request is already answered.

        Raises:
            Refusal: the sender is not a student.
        """

    def handlers(self) -> list[Any]:
        """Return tornado's rules for additional pages."""


class Tokens:
    """Identifies students by their tokens. Cookies do not count, so no other site can act for a student."""

    def __init__(self, folder: Path) -> None:
        """Read the accounts of a course folder."""
        self.accounts = Accounts(folder)

    async def student(self, handler: RequestHandler) -> str | None:
        """Return the student of the token in the header."""
        match = BEARER.fullmatch(handler.request.headers.get("Authorization", ""))
        if match is None:
            raise Refusal(401, NO_TOKEN)
        student = self.accounts.student(match[1][:MAX_TOKEN])
        if student is None:
            raise Refusal(401, WRONG_TOKEN)
        return student

    def handlers(self) -> list[Any]:
        """Return no rules."""
        return []


class Hub:
    """Identifies users of JupyterHub, by the token of their server or by a cookie after OAuth."""

    def __init__(self) -> None:
        """Connect to the hub that started the service; raise GraderError if jupyterhub is not installed."""
        try:
            from jupyterhub.services.auth import HubOAuth, HubOAuthCallbackHandler
            from jupyterhub.utils import url_path_join
        except ImportError:
            raise GraderError(
                f"{PREFIX} is set, so JupyterHub started this service, and jupyterhub is not installed here: run "
                "pip install jupyterhub"
            ) from None
        self._auth = HubOAuth.instance()
        self._callback = url_path_join(self._auth.base_url, "oauth_callback"), HubOAuthCallbackHandler

    async def student(self, handler: RequestHandler) -> str | None:
        """Return the user's name. A POST with a cookie also needs the XSRF token."""
        user = await self._auth.get_user(handler, sync=False)
        if user is None:
            if handler.request.method == "GET" and "text/html" in handler.request.headers.get("Accept", ""):
                state = self._auth.set_state_cookie(handler, next_url=handler.request.uri)
                handler.redirect(url_concat(self._auth.login_url, {"state": state}))
                return None
            raise Refusal(
                401, "the hub does not know you, or the XSRF token is missing: log in, and load the page again"
            )
        if user.get("kind", "user") != "user" or not self._auth.check_scopes(self._auth.access_scopes, user):
            raise Refusal(403, "you have no access to this service: ask your instructor for it")
        try:
            return require_name(user["name"])
        except GraderError as error:
            raise Refusal(403, str(error)) from None

    def handlers(self) -> list[Any]:
        """Return the rule for the end of OAuth."""
        return [self._callback]


def identity(folder: Path) -> Identity:
    """Return the hub's identification if the hub started this process, otherwise the tokens of the course."""
    return Hub() if PREFIX in os.environ else Tokens(folder)
