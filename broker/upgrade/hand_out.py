"""How a table asks the desk for a bundle: where, and by which signature. Both ends read it here."""

from typing import Final

from broker.protocol.signing import SigningKey, has_signed

MANIFEST_PATH: Final = "/upgrade/manifest"
PART_PATH: Final = "/upgrade/part/{sha256}"

SCHEME: Final = "Homologue"


def _asked(event: str, table: int, path: str) -> bytes:
    return f"homologue upgrade 1 asked\n{event} {table} {path}".encode()


def asked_by(key: SigningKey, event: str, table: int, path: str) -> str:
    """Return the header `Authorization` of a device: which one it is, and its signature over what it asks for."""
    return f"{SCHEME} {table} {key.device} {key.sign_bytes(_asked(event, table, path))}"


def who_asks(header: str) -> tuple[int, str, str] | None:
    """Read such a header: table, device and signature, none of which is proven yet."""
    words = header.split(" ")
    if len(words) != 4 or words[0] != SCHEME or not words[1].isdecimal() or len(words[1]) > 4:  # noqa: PLR2004 - as written above
        return None
    return int(words[1]), words[2], words[3]


def is_proven(public: str, event: str, table: int, path: str, signature: str) -> bool:
    """Return whether the device with this key has asked for this."""
    return has_signed(public, _asked(event, table, path), signature)
