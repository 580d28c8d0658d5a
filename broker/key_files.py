"""Private keys, of devices and events: 32 bytes in hex, in a file that its owner alone can read, made when absent."""

import fcntl
import os
from pathlib import Path
from typing import Final

from broker.errors import EventKeyBroken
from broker.files import write_private
from broker.protocol import SigningKey

EVENT_KEY_FILE: Final = "event.key"
"""In an event's folder. Its key signs receipts, and tables that were paired believe no other."""


def open_key(path: Path) -> SigningKey:
    """Return the key in a file; if there is none it is made. Raises OSError; ValueError where it holds no key."""
    if not path.exists():
        _make(path)
    return SigningKey.from_bytes(bytes.fromhex(path.read_text(encoding="ascii").strip()))


def open_event_key(folder: Path) -> SigningKey:
    """Return the key of the event in a folder, made when absent. Raises EventKeyBroken."""
    try:
        return open_key(folder / EVENT_KEY_FILE)
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or "it holds no key"
        raise EventKeyBroken(f"{folder / EVENT_KEY_FILE}: {text}; put it back from a copy of the event") from None


def _make(path: Path) -> None:
    """Write a new key, unless another process has done so meanwhile: then its key is the one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not path.exists():
            write_private(path, SigningKey.new().to_bytes().hex().encode() + b"\n")
    finally:
        os.close(folder)
