"""Runs a command in a network of its own, finds every socket on which it listens, and tries each as a second user."""

import ctypes
import os
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.support.waiting import HANGS

SECOND_USER = 65534
CLONE_NEWNET = 0x40000000
NETWORK = """
import fcntl, socket, struct, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 1))
print("up", flush=True)
sys.stdin.read()
"""
"""Switches the loopback interface on, and keeps the network until its standard input ends."""
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
WANTS_CERTIFICATE = {"SSLV3_ALERT_HANDSHAKE_FAILURE", "TLSV13_ALERT_CERTIFICATE_REQUIRED"}


class Listener(NamedTuple):
    """A socket to which others may connect or send.

    `kind` is tcp, tcp6, udp, udp6 or unix. `address` is a host, a path, or the name of an abstract socket, which begins
    with @.
    """

    kind: str
    address: str
    port: int = 0


class Network:
    """A network in which a command runs; all sockets in it are those of the command and its children.

    A unix socket belongs to the network of the process that made it, too.
    """

    def __init__(self) -> None:
        command = ["unshare", "--net", sys.executable, "-c", NETWORK]
        self._keeper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._keeper.stdout is not None and self._keeper.stdout.readline() == "up\n"
        self._space = os.open(f"/proc/{self._keeper.pid}/ns/net", os.O_RDONLY)

    def close(self) -> None:
        """Give up the network."""
        os.close(self._space)
        self._keeper.communicate()

    def start(self, command: list[str], folder: Path, log: Path, environment: Mapping[str, str]) -> subprocess.Popen:
        """Start a command in a folder; its output goes to a log."""
        inside = ["nsenter", f"--net=/proc/{self._keeper.pid}/ns/net", *command]
        with log.open("w") as output:
            return subprocess.Popen(
                inside, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    def listeners(self) -> set[Listener]:
        """Return the sockets that exist now."""
        found = set()
        for kind in ("tcp", "tcp6", "udp", "udp6"):
            for local, remote, state in self._rows(kind, (1, 2, 3)):
                # A UDP socket has no state in which it listens. One that has a partner hears that partner only.
                if state == "0A" if kind.startswith("tcp") else remote.strip("0:") == "":
                    host, _, port = local.partition(":")
                    found.add(Listener(kind, _host(host), int(port, 16)))
        for flags, form, inode, *path in self._rows("unix", (3, 4, 6, 7)):
            is_open = int(flags, 16) & 0x10000 or form == "0002"  # it accepts, or takes datagrams
            if is_open and path:
                found.add(Listener("unix", path[0] if path[0].startswith("@") else _real_path(path[0], inode)))
        return found

    def tried(self, listener: Listener) -> str:
        """Return what a second user gets from a socket.

        Returns:
            "refused" by the kernel, "certificate" if TLS demands one, "status N" of HTTP, "silence" if it was connected
            and heard nothing, "gone" if the socket was closed meanwhile, or else "an answer".
        """
        answer, result = os.pipe()
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                assert ctypes.CDLL(None).setns(self._space, CLONE_NEWNET) == 0
                os.setgroups([])
                os.setresgid(SECOND_USER, SECOND_USER, SECOND_USER)
                os.setresuid(SECOND_USER, SECOND_USER, SECOND_USER)
                os.write(result, _tried(listener).encode())
            os._exit(0)
        os.close(result)
        os.waitpid(child, 0)
        with open(answer) as text:
            return text.read()

    def _rows(self, table: str, columns: tuple[int, ...]) -> list[list[str]]:
        lines = Path(f"/proc/{self._keeper.pid}/net/{table}").read_text().splitlines()[1:]
        rows = [line.split() for line in lines]
        return [[row[column] for column in columns if column < len(row)] for row in rows]


def _host(digits: str) -> str:
    """An address as people write it; the kernel writes words of four bytes, the lowest byte first."""
    words = [bytes.fromhex(digits[start : start + 8])[::-1] for start in range(0, len(digits), 8)]
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, b"".join(words))


def _real_path(path: str, inode: str) -> str:
    """The path of a socket for other processes; its owner may have named it relative to itself."""
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if os.readlink(descriptor) == f"socket:[{inode}]":
                owner = descriptor.parents[1]
                path = re.sub("^/proc/self", str(owner), path)
                return os.path.realpath(owner / "cwd" / path)
    return path


def _connected(listener: Listener) -> socket.socket:
    if listener.kind != "unix":
        return socket.create_connection((listener.address, listener.port), timeout=HANGS)
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(HANGS)
    line.connect("\0" + listener.address[1:] if listener.address.startswith("@") else listener.address)
    return line


def _tried(listener: Listener) -> str:
    if listener.kind.startswith("udp"):
        return "an answer"  # no kind of proof is known
    answer = b""
    try:
        with _connected(listener) as line, suppress(ConnectionError):
            with suppress(ConnectionError):  # what was sent before it was closed can still be read
                line.sendall(REQUEST)
            answer = line.recv(4096)
    except PermissionError:
        return "refused"
    except OSError:
        return "gone"
    if answer.startswith(b"HTTP/"):
        return f"status {answer.split()[1].decode()}"
    if answer and not answer.startswith(b"\x15\x03"):  # an alert of TLS
        return "an answer"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    # In this version the server asks for the certificate before it says that the connection is made.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        with _connected(listener) as line:
            context.wrap_socket(line).close()
    except ssl.SSLError as error:
        return "certificate" if error.reason in WANTS_CERTIFICATE else "an answer"
    except (ConnectionRefusedError, FileNotFoundError):
        return "silence"
    except OSError:
        return "an answer"
    return "an answer"
