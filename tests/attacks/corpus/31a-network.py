"""Opens sockets of every kind to send home what it knows: TCP, UDP, raw, netlink, local ones.

No socket can be made, and the existing one leads to the runner and cannot be connected to anything else.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    families = ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK")
    kinds = ("SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW")
    return instead(
        released,
        trying(
            *(f"socket.socket(socket.{family}, socket.{kind})" for family in families for kind in kinds),
            "socket.socketpair()",
            "socket.create_connection(('127.0.0.1', 22))",
            "socket.socket(fileno=3).connect('/run/dbus/system_bus_socket')",
            "socket.socket(fileno=3).bind('here')",
            "import urllib.request; urllib.request.urlopen('http://127.0.0.1/')",
            setup="import socket",
        ),
    )
