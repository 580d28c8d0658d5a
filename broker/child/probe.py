"""Is a broker up? It is when it lets a client with real credentials in: one MQTT CONNECT, without a client library."""

import socket
import ssl
from typing import Final

from broker.child.settings import Tls

TIMEOUT_S: Final = 5.0  # nats-server makes its streams at the first CONNECT, fsync by fsync
CLIENT_ID: Final = "homologue-probe"
CLEAN_WITH_PASSWORD: Final = 0b1100_0010
KEEP_ALIVE_S: Final = 10
DISCONNECT: Final = b"\xe0\x00"
CONNACK: Final = b"\x20\x02"
CONNACK_BYTES: Final = 4


def refusal(host: str, port: int, user: str, password: str, *, tls: Tls | None = None) -> str | None:
    """Connect, disconnect, and say why the broker did not let us in; None: it did."""
    try:
        with socket.create_connection((host, port), timeout=TIMEOUT_S) as plain:
            if tls is None:
                return _ask(plain, user, password)
            with _context(tls).wrap_socket(plain) as wrapped:
                return _ask(wrapped, user, password)
    except OSError as error:  # ssl.SSLError and TimeoutError are OSErrors
        return str(error) or type(error).__name__


def _ask(link: socket.socket, user: str, password: str) -> str | None:
    link.sendall(_connect(user, password))
    answer = b""
    while len(answer) < CONNACK_BYTES:
        received = link.recv(CONNACK_BYTES - len(answer))
        if not received:
            return "closed the connection"
        answer += received
    if answer[:2] != CONNACK:
        return "answers something that is not MQTT"
    if answer[3]:
        return f"refused the connection, MQTT return code {answer[3]}"
    link.sendall(DISCONNECT)
    return None


def _connect(user: str, password: str) -> bytes:
    body = _text("MQTT") + bytes([4, CLEAN_WITH_PASSWORD]) + KEEP_ALIVE_S.to_bytes(2, "big")
    body += _text(CLIENT_ID) + _text(user) + _text(password)
    # Names and passwords are short (credentials.py), so two bytes of length always do.
    return bytes([0x10, 0x80 | len(body) % 128, len(body) // 128]) + body


def _text(text: str) -> bytes:
    return len(text.encode()).to_bytes(2, "big") + text.encode()


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(tls.authority))
    # We ask our own child by address; the certificate has the name that kiosks use.
    context.check_hostname = False
    return context
