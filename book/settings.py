"""Reads the settings of the book, and makes the addresses that open a notebook somewhere."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlencode, urlsplit

from book.errors import BookError

SETTINGS = Path(__file__).with_name("settings.toml")


@dataclass(frozen=True)
class Launch:
    """A button that opens a notebook.

    Args:
        name: what it says.
        url: where it leads.
        needs: what a reader needs for it, in one sentence.
    """

    name: str
    url: str
    needs: str


@dataclass(frozen=True)
class Settings:
    """Where the book is published, and what its parts are called.

    Args:
        repository: the address of the repository on GitHub; '' if there is none.
        branch: its branch.
        hub: the address of a JupyterHub with nbgitpuller; '' if there is none.
        titles: folder of an assignment -> its title.
    """

    repository: str = ""
    branch: str = "main"
    hub: str = ""
    titles: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, url in (("repository", self.repository), ("hub", self.hub)):
            if url and not (urlsplit(url).scheme == "https" and urlsplit(url).netloc):
                raise BookError(f"{name}.url must be empty or begin with https://, got {url!r}: correct settings.toml")
        if self.hub and not self.repository:
            raise BookError(
                "hub.url needs repository.url, from which the hub copies the course: set it in settings.toml"
            )

    @property
    def github(self) -> str:
        """ORGANISATION/NAME of a repository on GitHub; '' for other servers."""
        parts = urlsplit(self.repository)
        return parts.path.strip("/").removesuffix(".git") if parts.netloc == "github.com" else ""

    def file_url(self, path: str, *, is_folder: bool = False) -> str:
        """Return the address of a file of the repository, as GitHub shows it; '' without a repository."""
        if not self.repository:
            return ""
        base = self.repository.rstrip("/").removesuffix(".git")
        return f"{base}/{'tree' if is_folder else 'blob'}/{quote(self.branch)}/{quote(path)}"

    def launches(self, path: str) -> Iterator[Launch]:
        """Yield the buttons for the notebook at `path`, a file of the repository."""
        if self.hub:
            name = PurePosixPath(urlsplit(self.repository).path).name.removesuffix(".git")
            query = urlencode(
                {"repo": self.repository, "branch": self.branch, "urlpath": f"lab/tree/{name}/{path}"}, quote_via=quote
            )
            url = f"{self.hub.rstrip('/')}/hub/user-redirect/git-pull?{query}"
            yield Launch("JupyterHub", url, "You need an account on the JupyterHub of your course.")
        if self.github:
            branch, tree = quote(self.branch, safe=""), urlencode({"urlpath": f"lab/tree/{path}"}, quote_via=quote)
            yield Launch(
                "Binder",
                f"https://mybinder.org/v2/gh/{self.github}/{branch}?{tree}",
                "You need no account. It takes some minutes to start, and keeps nothing: download the notebook.",
            )
            yield Launch(
                "Colab",
                f"https://colab.research.google.com/github/{self.github}/blob/{quote(self.branch)}/{quote(path)}",
                "You need a Google account. Install the course's packages in a first cell: "
                f"%pip install git+{self.repository}#subdirectory=packages/grader-kernel git+{self.repository}",
            )


def read_settings(path: Path = SETTINGS) -> Settings:
    """Return the settings in a file; raises BookError if it is not TOML or has an address that cannot be used."""
    try:
        parsed = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise BookError(f"settings must be TOML, and {path.name} is not: {error}") from error
    repository, hub = parsed.get("repository", {}), parsed.get("hub", {})
    return Settings(
        repository=repository.get("url", ""),
        branch=repository.get("branch", "main"),
        hub=hub.get("url", ""),
        titles=parsed.get("titles", {}),
    )
