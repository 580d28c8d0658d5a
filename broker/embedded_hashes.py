"""The hashes by which the embedded broker knows passwords, kept between its starts: a thousand take a second to make.

They lie beside the configuration, which has the same ones. Each is kept under a digest of its user and password, so
that a hash of another password is never taken; SHA-256 is enough for 192 random bits.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

import bcrypt
import msgspec

from broker.credentials import write_private

HASHES: Final = "hashes.json"

Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Hash = Annotated[str, msgspec.Meta(pattern=r"^\$2b\$04\$[./A-Za-z0-9]{53}$")]


def hashes(folder: Path, passwords: Mapping[str, str]) -> dict[str, str]:
    """Give the hash of each user's password; make, and keep in the broker's folder, those that are not there yet."""
    path = folder / HASHES
    digests = {user: sha256(f"{user} {password}".encode()).hexdigest() for user, password in passwords.items()}
    kept = _kept(path)
    known = {digest: kept.get(digest) or _hashed(passwords[user]) for user, digest in digests.items()}
    if known != kept:
        write_private(path, msgspec.json.encode(known))
    return {user: known[digest] for user, digest in digests.items()}


def _kept(path: Path) -> dict[str, str]:
    """Read what was kept; what cannot be read is made anew."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[Digest, Hash])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def _hashed(password: str) -> str:
    """Hash at the least cost: 192 random bits need no stretching, and every connection costs the server one hash."""
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds=4)).decode()
