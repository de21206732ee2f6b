"""Identifies the users of a JupyterHub that started this process as one of its services."""

from typing import Any

from tornado.httputil import url_concat
from tornado.web import RequestHandler

from grader.classroom.students.names import require_name
from grader.classroom.web.refusal import Refusal
from grader.errors import GraderError

PREFIX = "JUPYTERHUB_SERVICE_PREFIX"
"""The variable with the beginning of all addresses of a service."""
HUB_URL = "JUPYTERHUB_SERVICE_URL"
"""The variable with the address at which a service listens."""

PUBLIC_URL = "JUPYTERHUB_PUBLIC_URL"
"""The variable with the address of a service for browsers, if the hub knows it."""


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

    async def user(self, handler: RequestHandler) -> str | None:
        """Return the name of the user who sends a request, or None if the request is already answered.

        A POST with a cookie also needs the XSRF token.

        Args:
            handler: the handler of the request.

        Raises:
            Refusal: the sender is not a user with access to this service.
        """
        user = await self._auth.get_user(handler, sync=False)
        if user is None:
            if handler.request.method == "GET" and "text/html" in handler.request.headers.get("Accept", ""):
                state = self._auth.set_state_cookie(handler, next_url=handler.request.uri)
                handler.redirect(url_concat(self._auth.login_url, {"state": state}))
                return None
            raise Refusal(401, "the hub does not know you, or the XSRF token is missing: log in, and reload the page")
        if user.get("kind", "user") != "user" or not self._auth.check_scopes(self._auth.access_scopes, user):
            raise Refusal(403, "you have no access to this service: ask your teacher for it")
        try:
            return require_name(user["name"])
        except GraderError as error:
            raise Refusal(403, str(error)) from None

    def handlers(self) -> list[Any]:
        """Return tornado's rule for the end of OAuth."""
        return [self._callback]
