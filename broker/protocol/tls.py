"""TLS as our clients speak it: whom they trust, and who they are.

An event has an authority of its own, which signs one server. So whoever has that server's certificate is the event's
server, under whatever name or address it is reached, and nothing else is trusted. Times are not looked at: a table
without a battery for its clock may be years off, and what ended is told by revocation, not by a date.
"""

import os
import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes

from broker.protocol.signing import SigningKey

NO_TIMES: Final = 0x20_0000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME, for which Python has no name."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a client is: a certificate (PEM), and its key. Without a key that is in the certificate's file."""

    certificate: Path
    key: SigningKey | None = None


def event_context(authority: str, identity: Identity | None = None) -> ssl.SSLContext:
    """Return how to speak with an event's server: `authority` (PEM) alone is trusted. Raises OSError, ValueError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN | NO_TIMES
    context.load_verify_locations(cadata=authority)
    if identity is not None:
        _show(context, identity)
    return context


def _show(context: ssl.SSLContext, identity: Identity) -> None:
    """Have a context show a certificate. OpenSSL takes keys from files: one that is in memory gets none on a disk.

    A certificate that is not for the key is not shown, and the server refuses us: a device whose key was spoilt, and
    that has made another, starts and is played at without a connection until it is paired again.
    """
    if identity.key is None:
        context.load_cert_chain(identity.certificate)
        return
    with suppress(ssl.SSLError), os.fdopen(os.memfd_create("identity"), "wb") as file:
        file.write(identity.certificate.read_bytes() + identity.key.to_pem())
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{file.fileno()}")


def fingerprint_of(certificate: str) -> str:
    """Return the SHA-256 of the first certificate of a PEM text, in hex. Raises ValueError."""
    return x509.load_pem_x509_certificate(certificate.encode("ascii")).fingerprint(hashes.SHA256()).hex()
