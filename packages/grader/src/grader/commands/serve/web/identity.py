"""Identifies the sender of a request by a student's token, or through JupyterHub if the hub started the service."""

import os
import re
from pathlib import Path
from typing import Any, Protocol

from tornado.web import RequestHandler

from grader.classroom.web.hub import PREFIX, PUBLIC_URL, Hub
from grader.classroom.web.refusal import Refusal
from grader.commands.serve.accounts import Accounts

BEARER = re.compile(r"(?:bearer|token) +(\S+) *", re.IGNORECASE)
MAX_TOKEN = 512
NO_TOKEN = "send your token in the header 'Authorization: Bearer TOKEN'; your teacher has it"
WRONG_TOKEN = "this token is unknown: copy all of it, or ask your teacher for a new one"


class Identity(Protocol):
    """A way to identify students.

    `public` is the beginning of the addresses that browsers open, as far as the service knows it: a whole address, a
    path of the host at which the student's notebooks are, or '' if it is the address that the student's programs use.
    """

    public: str

    async def student(self, handler: RequestHandler) -> str | None:
        """Return the student who sends a request, or None if the request is already answered.

        Raises:
            Refusal: the sender is not a student.
        """

    def handlers(self) -> list[Any]:
        """Return tornado's rules for additional pages."""


class Tokens:
    """Identifies students by their tokens. Cookies do not count, so no other site can act for a student."""

    public = ""

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


class HubUsers:
    """Identifies students as users of JupyterHub."""

    def __init__(self) -> None:
        """Connect to the hub; raise GraderError if jupyterhub is not installed."""
        self._hub = Hub()
        # The address at which students' servers reach the service is not the one of their browsers.
        self.public = os.environ.get(PUBLIC_URL) or os.environ[PREFIX]

    async def student(self, handler: RequestHandler) -> str | None:
        """Return the user's name. A POST with a cookie also needs the XSRF token."""
        return await self._hub.user(handler)

    def handlers(self) -> list[Any]:
        """Return the rule for the end of OAuth."""
        return self._hub.handlers()


def identity(folder: Path) -> Identity:
    """Return the hub's identification if the hub started this process, otherwise the tokens of the course."""
    return HubUsers() if PREFIX in os.environ else Tokens(folder)
