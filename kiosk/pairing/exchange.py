"""The request to the desk, over HTTP or HTTPS. Its answer is bounded, verified and validated, or else refused."""

import http.client
import re
import socket
import ssl
from contextlib import closing
from typing import Final

import msgspec

from broker.protocol import Code, signing, tls
from broker.protocol.pairing import (
    AUTHORITY_PATH,
    LARGEST_ANSWER,
    PATH,
    Certificates,
    Pairing,
    PairingAnswer,
    PairingKeys,
    PairingOffer,
    PairingRequest,
    derive_keys,
    new_salt,
)
from kiosk.errors import DeskUnproven, DeskUnreachable, PairingRefused

TIMEOUT_S: Final = 10.0
HTTP_OK: Final = 200

NO_NAME: Final = "unnamed"


class _Refusal(msgspec.Struct):
    code: Code


class _Refused(msgspec.Struct):
    error: _Refusal


def request_pairing(offer: PairingOffer, key: signing.SigningKey, machine: str = "") -> Pairing:
    """Send the code and the device's public key to the desk, and return its answer.

    Raises DeskUnreachable, DeskUnproven, PairingRefused.
    """
    try:
        anchor = _anchor(offer)
        with closing(_connected(offer, anchor)) as connection:
            salt = new_salt()
            keys = derive_keys(offer.code, tls.fingerprint_of(anchor) if anchor else "", salt)
            request = PairingRequest(
                proof=keys.proof,
                machine=_sanitized(machine or socket.gethostname()),
                salt=salt,
                key=key.public,
                key_seal=keys.seal(key.public),
            )
            connection.request("POST", PATH, msgspec.json.encode(request), {"Content-Type": "application/json"})
            with connection.getresponse() as answer:
                status, body = answer.status, answer.read(LARGEST_ANSWER + 1)
    except DeskUnproven:  # it is an OSError too
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: an impossible host name
        raise DeskUnreachable(f"no desk answers at {offer.host}:{offer.port}: {error}") from None
    if status != HTTP_OK:
        raise PairingRefused(_refusal_code(body))
    return _opened(keys, body)


def _anchor(offer: PairingOffer) -> str:
    """Ask the desk for the certificate that vouches for it, and return it (PEM); "" for a desk without TLS.

    Anybody may answer: the certificate is part of the keys, and only somebody with the code can derive the same ones.
    Blocking TLS gains nothing either, as the keys differ without it. Raises DeskUnproven if a QR code has named another
    certificate; OSError and HTTPException.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with closing(http.client.HTTPSConnection(offer.host, offer.port, timeout=TIMEOUT_S, context=context)) as line:
            line.request("GET", AUTHORITY_PATH)
            with line.getresponse() as answer:
                text = answer.read(LARGEST_ANSWER).decode("ascii") if answer.status == HTTP_OK else ""
        found = tls.fingerprint_of(msgspec.convert(text, Certificates))
    except ssl.SSLError:
        if offer.fingerprint:
            raise DeskUnproven(f"{offer.host}:{offer.port} is not a desk with TLS") from None
        return ""
    if not found.startswith(offer.fingerprint):
        raise DeskUnproven(f"the certificate of {offer.host}:{offer.port} is not the one that the QR code names")
    return text


def _connected(offer: PairingOffer, anchor: str) -> http.client.HTTPConnection:
    """Connect to a desk for which the certificate vouches, and to no other. Raises DeskUnproven, OSError."""
    if not anchor:
        return http.client.HTTPConnection(offer.host, offer.port, timeout=TIMEOUT_S)
    context = tls.event_context(anchor)
    line = http.client.HTTPSConnection(offer.host, offer.port, timeout=TIMEOUT_S, context=context)
    try:
        line.connect()
    except ssl.SSLError as error:
        line.close()
        raise DeskUnproven(f"the certificate at {offer.host}:{offer.port} is not trusted: {error.reason}") from None
    return line


def _opened(keys: PairingKeys, body: bytes) -> Pairing:
    try:
        sealed = msgspec.json.decode(body, type=PairingAnswer)
        if keys.verifies(sealed):
            return msgspec.json.decode(sealed.pairing, type=Pairing)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    raise DeskUnproven("the answer is not from the desk that gave the code")


def _refusal_code(body: bytes) -> str:
    """Return the code of a refusal, or `no_answer` if the answer is not a desk's."""
    try:
        return msgspec.json.decode(body, type=_Refused).error.code
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "no_answer"


def _sanitized(machine: str) -> str:
    """Return a machine's name in the characters that a request allows."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", machine)[:64] or NO_NAME
