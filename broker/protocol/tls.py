"""TLS contexts of our clients: whom they trust, and how they identify themselves.

Each event has its own certificate authority, which certifies a single server. Whoever holds that certificate is the
event's server under any name or address, and nothing else is trusted. Validity periods are ignored: a table without a
battery-backed clock may be years off, and certificates are ended by revocation, not by date.
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
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which Python's `ssl` does not define."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A client's certificate (PEM) and key. Without `key`, the certificate's file contains it."""

    certificate: Path
    key: SigningKey | None = None


def event_context(authority: str, identity: Identity | None = None) -> ssl.SSLContext:
    """Return a context for an event's server that trusts only `authority` (PEM). Raises OSError, ValueError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN | NO_TIMES
    context.load_verify_locations(cadata=authority)
    if identity is not None:
        _load_client_certificate(context, identity)
    return context


def _load_client_certificate(context: ssl.SSLContext, identity: Identity) -> None:
    """Load a client certificate. OpenSSL reads keys from files only, so a key in memory never reaches a disk.

    A certificate that does not match the key is left out, and the server will refuse the connection: a device whose key
    was corrupted and replaced starts, and can be played at offline, until it is paired again.
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
