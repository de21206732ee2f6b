"""Maps addresses to handlers.

    POST hand-in/ASSIGNMENT/NOTEBOOK --> 202, receipt        GET / , health, metrics
    GET  hand-in/ID?wait=SECONDS --> state, report           GET hand-in/ID/feedback --> page

Names from an address are looked up in the sources and the store, and never become a path.
"""

import logging
import secrets
from typing import Any

from tornado.web import Application, RequestHandler

from grader.commands.serve.web.context import ServiceContext
from grader.commands.serve.web.pages import (
    HealthHandler,
    MetricsHandler,
    NotFound,
    OverviewHandler,
    PageHandler,
    StateHandler,
)
from grader.commands.serve.web.submit import SubmitHandler
from grader.text import one_line

log = logging.getLogger("grader.commands.serve")


def application(service: ServiceContext, prefix: str) -> Application:
    """Return tornado's application.

    Args:
        service: the context that the handlers share.
        prefix: the beginning of all addresses.
    """
    rules: list[Any] = [
        (f"{prefix}", OverviewHandler),
        (f"{prefix}health", HealthHandler),
        (f"{prefix}metrics", MetricsHandler),
        (f"{prefix}hand-in/([^/]+)", StateHandler),
        (f"{prefix}hand-in/([^/]+)/feedback", PageHandler),
        (f"{prefix}hand-in/([^/]+)/([^/]+)", SubmitHandler),
    ]
    return Application(
        [*rules, *service.identity.handlers()],
        service=service,
        default_handler_class=NotFound,
        cross_origin_protection=True,
        # Only for the hub's cookies. After a restart the hub logs a browser in again by itself.
        cookie_secret=secrets.token_bytes(32),
        log_function=_log,
    )


def _log(handler: RequestHandler) -> None:
    """Log a request without its query and headers, which may hold secrets."""
    request, status = handler.request, handler.get_status()
    handler.settings["service"].metrics.requests.labels(str(status)).inc()
    path = one_line(request.path, 200)
    log.info("%d %s %s %.0f ms", status, request.method, path, 1000 * request.request_time())
