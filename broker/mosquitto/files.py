"""The files that Mosquitto reads: who may what (ACL), and the passwords' hashes."""

import base64
import hashlib
import secrets
from typing import Final

from broker.credentials import Credentials
from broker.permissions import Permissions

ROUNDS: Final = 101  # mosquitto_passwd's own number; passwords here are 192 random bits, rounds add nothing
SALT_BYTES: Final = 12


def acl(rights: dict[str, Permissions]) -> bytes:
    """Give the ACL file: a paragraph a user. What is not in it is forbidden."""
    return "\n".join(_paragraph(user, may) for user, may in rights.items()).encode()


def passwords(credentials: Credentials, users: dict[str, Permissions]) -> bytes:
    """Give the password file: PBKDF2 with SHA-512, as mosquitto_passwd writes it. Raises UserUnknown."""
    return "".join(f"{user}:{_hashed(credentials.password(user))}\n" for user in users).encode()


def _paragraph(user: str, may: Permissions) -> str:
    lines = [f"user {user}"]
    lines += [f"topic write {topic}" for topic in may.publish]
    lines += [f"topic read {topic}" for topic in may.subscribe]
    return "\n".join(lines) + "\n"


def _hashed(password: str) -> str:
    salt = secrets.token_bytes(SALT_BYTES)
    key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, ROUNDS)
    return f"$7${ROUNDS}${base64.b64encode(salt).decode()}${base64.b64encode(key).decode()}"
