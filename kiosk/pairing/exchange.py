"""Asks the desk, over HTTP or HTTPS, once. What comes back is bounded, proven and validated, or refused."""

import http.client
import re
import socket
import ssl
from contextlib import closing
from typing import Final

import msgspec

from broker.protocol import Code
from broker.protocol.pairing import (
    LARGEST_ANSWER,
    PATH,
    Pairing,
    PairingAnswer,
    PairingKeys,
    PairingOffer,
    PairingRequest,
    certificate_fingerprint,
    derive_keys,
    new_salt,
)
from broker.protocol.signing import SigningKey
from kiosk.errors import DeskUnproven, DeskUnreachable, PairingRefused

PATIENCE_S: Final = 10.0
GIVEN: Final = 200

NO_NAME: Final = "unnamed"


class _Refusal(msgspec.Struct):
    code: Code


class _Refused(msgspec.Struct):
    error: _Refusal


def request_pairing(offer: PairingOffer, key: SigningKey, machine: str = "") -> Pairing:
    """Bring the code and the device's public key to the desk and give what it says.

    Raises DeskUnreachable, DeskUnproven, PairingRefused.
    """
    try:
        with closing(_connected(offer)) as connection:
            salt = new_salt()
            keys = derive_keys(offer.code, _seen(connection, offer), salt)
            asked = PairingRequest(
                proof=keys.proof,
                machine=_named(machine or socket.gethostname()),
                salt=salt,
                key=key.public,
                key_seal=keys.seal(key.public),
            )
            connection.request("POST", PATH, msgspec.json.encode(asked), {"Content-Type": "application/json"})
            with connection.getresponse() as answer:
                status, body = answer.status, answer.read(LARGEST_ANSWER + 1)
    except DeskUnproven:  # which is an OSError too
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: a host that no name can be
        raise DeskUnreachable(f"no desk answers at {offer.host}:{offer.port}: {error}") from None
    if status != GIVEN:
        raise PairingRefused(_why(body))
    return _opened(keys, body)


def _connected(offer: PairingOffer) -> http.client.HTTPConnection:
    """Connect with TLS, or where the desk speaks none without: the keys differ, so nobody gains by hindering TLS."""
    # No authority vouches for a desk. Its certificate is a part of the keys, and only who has the code makes the same.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    secured = http.client.HTTPSConnection(offer.host, offer.port, timeout=PATIENCE_S, context=context)
    try:
        secured.connect()
    except ssl.SSLError:
        secured.close()
        plain = http.client.HTTPConnection(offer.host, offer.port, timeout=PATIENCE_S)
        plain.connect()
        return plain
    return secured


def _seen(connection: http.client.HTTPConnection, offer: PairingOffer) -> str:
    """Return the fingerprint by which the desk is seen; "" without TLS. Raises DeskUnproven where it is another's."""
    line = connection.sock
    certificate = line.getpeercert(binary_form=True) if isinstance(line, ssl.SSLSocket) else None
    seen = certificate_fingerprint(certificate) if certificate else ""
    if not seen.startswith(offer.fingerprint):
        raise DeskUnproven(f"what answers at {offer.host}:{offer.port} has another certificate than the desk")
    return seen


def _opened(keys: PairingKeys, body: bytes) -> Pairing:
    try:
        sealed = msgspec.json.decode(body, type=PairingAnswer)
        if keys.opens(sealed):
            return msgspec.json.decode(sealed.pairing, type=Pairing)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    raise DeskUnproven("the answer is not from the desk that gave the code")


def _why(body: bytes) -> str:
    """Return the code of a refusal; what answers otherwise is no desk of ours."""
    try:
        return msgspec.json.decode(body, type=_Refused).error.code
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "no_answer"


def _named(machine: str) -> str:
    """Return a machine's name as it may be told."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", machine)[:64] or NO_NAME
