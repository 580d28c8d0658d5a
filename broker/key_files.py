"""Private keys, of devices and events: 32 bytes in hex, in a file that its owner alone can read, made when absent."""

from contextlib import suppress
from pathlib import Path

from broker.files import sync, write_private
from broker.protocol.signing import SigningKey


def open_key(path: Path) -> SigningKey:
    """Return the key in a file; where there is none it is made. Raises OSError; ValueError where it holds no key."""
    if not path.exists():
        _make(path)
    return SigningKey.from_bytes(bytes.fromhex(path.read_text(encoding="ascii").strip()))


def _make(path: Path) -> None:
    """Write a new key, unless another process does at this moment: then its key is the one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{SigningKey.new().device}")
    write_private(new, SigningKey.new().to_bytes().hex().encode() + b"\n")
    try:
        with suppress(FileExistsError):
            path.hardlink_to(new)
    finally:
        new.unlink()
    sync(path.parent)
