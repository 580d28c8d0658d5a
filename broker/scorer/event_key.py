"""The event's key, in the event's folder: it signs receipts, and tables that were paired believe no other."""

from pathlib import Path
from typing import Final

from broker.errors import EventKeyBroken
from broker.key_files import open_key
from broker.protocol.signing import SigningKey

KEY_FILE: Final = "event.key"


def open_event_key(folder: Path) -> SigningKey:
    """Return the key of the event in a folder, made when absent. Raises EventKeyBroken."""
    try:
        return open_key(folder / KEY_FILE)
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or "it holds no key"
        raise EventKeyBroken(f"{folder / KEY_FILE}: {text}; put it back from a copy of the event") from None
