"""Finds the service of a student's class, and sends it requests.

The address and the student's token come from hand_in.toml or from the environment; on a JupyterHub, the hub provides
the token. The file is in the notebook's folder, in one above it, or in ~/.config, and is ignored if anyone except the
student and root may change it. A token is sent only to the address that it was configured with.
"""

import http.client
import json
import os
import tomllib
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from grader_kernel.owners import why_not_own

SETTINGS = "hand_in.toml"
"""The settings file of a class: `url`, and `token` where there is no hub."""
REQUEST_SECONDS = 60
"""Timeout of one request."""


class Problem(Exception):
    """The notebook could not be handed in; the message gives the reason and what to do."""


class Late(Problem):
    """A hand-in would lose points because it is late, and the student has not confirmed that."""


@dataclass(frozen=True)
class Service:
    """The address of the class's service, and the student's token."""

    url: str
    token: str

    def ask(
        self, path: str, data: bytes | None = None, seconds: float = REQUEST_SECONDS, failed: str = "Not handed in"
    ) -> dict[str, Any]:
        """Return the answer to a request.

        Args:
            path: the path below the address.
            data: the body; a request with a body is a POST.
            seconds: the timeout.
            failed: what a refusal means, as the beginning of a sentence.

        Raises:
            Problem: nothing answers at the address, or something other than the service does, or the service refuses;
                the message contains the reason.
        """
        try:
            request = urllib.request.Request(f"{self.url}/{path}", data, {"Authorization": f"Bearer {self.token}"})
            with urllib.request.build_opener(_Staying).open(request, timeout=seconds) as answer:
                form = form_of(answer.read())
        except urllib.error.HTTPError as error:
            kind = Late if error.code == 409 else Problem
            raise kind(f"{failed}: {_reason(error)}.") from None
        except (ValueError, http.client.InvalidURL) as error:
            raise Problem(
                f"A request to {self.url} cannot be sent ({error}): correct the address and the token in {SETTINGS}, "
                "or ask your teacher."
            ) from None
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "reason", error)
            raise Problem(
                f"The service at {self.url} does not answer ({why}): try again, or ask your teacher."
            ) from None
        if not form.keys() & {"state", "assignments", "asked", "marks"}:
            raise Problem(
                f"The answer from {self.url} is not from the service of a class: ask your teacher for {SETTINGS}."
            )
        return form


class _Staying(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would send the token to another address."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Refuse to redirect."""


def service_of(folder: Path) -> Service | None:
    """Return the class's service with the token for it; None if no settings name a service."""
    file, settings, refused = _settings(folder)
    own = os.environ.get("HAND_IN_URL")
    url = own or settings.get("url")
    if not url and refused:
        raise Problem(f"{refused}: copy it into a folder of your own, or run chmod go-w on it.")
    if not url:
        return None
    # The hub sets HAND_IN_URL along with its token. An address in a file proves nothing: other students' servers have
    # the hub's origin too, and the file may have come with the notebooks.
    tokens = (
        (os.environ.get("HAND_IN_TOKEN"), own),
        (settings.get("token"), settings.get("url", url)),
        (os.environ.get("JUPYTERHUB_API_TOKEN"), own),
    )
    token = next((token for token, place in tokens if token and place and _origin(place) == _origin(url)), None)
    if token is None:
        elsewhere = " A token of the environment, or of the hub, goes to the address in HAND_IN_URL only."
        raise Problem(
            f'You have no token for {url}: write the line token = "…" with yours into {file or SETTINGS}.'
            f"{elsewhere if any(token for token, _ in tokens) else ''}"
        )
    return Service(_address(url), str(token))


def _settings(folder: Path) -> tuple[Path | None, dict[str, Any], str]:
    """Return the first settings file with its content, and why an earlier file is ignored, or ''."""
    refused = ""
    for place in (folder.resolve(), *folder.resolve().parents, Path.home() / ".config"):
        file = place / SETTINGS
        if not file.is_file():
            continue
        try:
            with file.open("rb") as opened:
                why = why_not_own(os.fstat(opened.fileno()))
                if not why:
                    return file, tomllib.load(opened), refused
        except ValueError as error:
            raise Problem(f"{file} cannot be read ({error}): get it again from your teacher.") from None
        except OSError as error:
            why = f"it cannot be read ({error.strerror})"
        refused = refused or f"{file} does not count, because {why}"
    return None, {}, refused


def _address(url: object) -> str:
    """Return an address without a slash at its end; raise Problem if it is not one of the web."""
    with suppress(ValueError):
        parts = urlsplit(str(url))
        if parts.scheme in ("http", "https") and parts.hostname:
            return str(url).rstrip("/")
    raise Problem(
        f"{url} is not the address of a service, which begins with https://: correct {SETTINGS} or HAND_IN_URL."
    )


def _origin(url: object) -> str:
    """Return the scheme, host and port of an address, as written."""
    return "/".join(str(url).split("/", 3)[:3]).lower()


def _reason(error: urllib.error.HTTPError) -> str:
    """Return the reason why the service refuses."""
    form: dict[str, Any] = {}
    with suppress(OSError, http.client.HTTPException):  # the connection may end in the middle of an answer
        form = form_of(error.read())
    text = form.get("error") or f"the service answered {error.code} {error.reason}"
    if 300 <= error.code < 400:
        text = f"the service is not at {error.url}, but says {error.headers.get('Location')}: ask your teacher"
    after = error.headers.get("Retry-After")
    return f"{text} (try again in {after} seconds)" if after else str(text)


def form_of(content: bytes) -> dict[str, Any]:
    """Return the JSON object in a text, or {} if it holds none."""
    try:
        form = json.loads(content)
    except ValueError:
        return {}
    return form if isinstance(form, dict) else {}
