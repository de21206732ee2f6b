"""Maps addresses to handlers.

    POST hand-in/ASSIGNMENT/NOTEBOOK --> 202, receipt        GET / , health, metrics
    GET  hand-in/ID?wait=SECONDS --> state, report           GET hand-in/ID/feedback --> page

Names in an address are looked up among the sources and in the store; none becomes a path.
"""

import logging
import secrets
from typing import Any

from tornado.web import Application, RequestHandler

from grader.commands.serve.web.accept import Accept
from grader.commands.serve.web.pages import Health, Nothing, Numbers, Overview, Page, State
from grader.commands.serve.web.shared import Service
from grader.text import one_line

log = logging.getLogger("grader.commands.serve")


def application(service: Service, prefix: str) -> Application:
    """Return tornado's application.

    Args:
        service: what the handlers share.
        prefix: how all addresses begin.
    """
    rules: list[Any] = [
        (f"{prefix}", Overview),
        (f"{prefix}health", Health),
        (f"{prefix}metrics", Numbers),
        (f"{prefix}hand-in/([^/]+)", State),
        (f"{prefix}hand-in/([^/]+)/feedback", Page),
        (f"{prefix}hand-in/([^/]+)/([^/]+)", Accept),
    ]
    return Application(
        [*rules, *service.identity.handlers()],
        service=service,
        default_handler_class=Nothing,
        cross_origin_protection=True,
        # For the hub's cookies only. After a restart a browser logs in again, which the hub does by itself.
        cookie_secret=secrets.token_bytes(32),
        log_function=_log,
    )


def _log(handler: RequestHandler) -> None:
    """Log a request without its query and headers, which may hold secrets."""
    request, status = handler.request, handler.get_status()
    handler.settings["service"].metrics.requests.labels(str(status)).inc()
    path = one_line(request.path, 200)
    log.info("%d %s %s %.0f ms", status, request.method, path, 1000 * request.request_time())
