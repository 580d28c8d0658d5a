"""Errors that keep a kiosk from working. Each has a stable code (docs/codes.md)."""

from collections.abc import Mapping
from typing import Final

from broker.errors import CodedError


class KioskError(CodedError, code="kiosk_error"):
    """Base of the kiosk's errors."""


class BadConfiguration(KioskError, ValueError, code="bad_configuration"):
    """The table's configuration cannot be used."""


class ScreenMissing(KioskError, OSError, code="screen_missing"):
    """There is no screen to draw on, or the given driver finds none."""


class JournalFull(KioskError, OSError, code="journal_full"):
    """No disk takes the journal's writes. Events are held in memory until one does; until then nothing new is shown."""


class JournalInUse(KioskError, OSError, code="journal_in_use"):
    """Another kiosk has this table's journal open."""


class JournalBroken(KioskError, OSError, code="journal_broken"):
    """The journal belongs to another event or table, or cannot be read."""


class JournalNewer(JournalBroken, code="journal_newer"):
    """A newer program has written events that this one does not understand: the current play starts again."""


class NotPaired(KioskError, LookupError, code="not_paired"):
    """The configuration says that this device is paired at the desk, but it has not been paired yet."""


class DeskUnreachable(KioskError, OSError, code="desk_unreachable"):
    """No desk answers at the given address."""


class DeskUnproven(KioskError, PermissionError, code="desk_unproven"):
    """The answer is not from the desk that gave the code: another certificate, or the code's seal is missing."""


class PairingRefused(KioskError, PermissionError, code="pairing_refused"):
    """The desk has refused a pairing code; the sentence ends with the desk's own code, which says why."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the desk has refused the code: {why}")
        self.why = why


class PairingAsked(KioskError, code="pairing_asked"):
    """Somebody at the table has asked to pair the device again: the pairing screen opens."""


FAULT_CODES: Final[Mapping[str, str]] = {
    "button_exchanged": "In the self-test, a press was reported by another seat's button",
    "button_silent": "A button was pressed in the self-test, and no signal came",
    "card_refuses": "The journal's disk takes no writes",
    "device_unknown": "The scorer takes nothing from this device until an arbiter has accepted it",
    "disk_low": "The journal's disk is nearly full",
    "fact_unexpected": "A report of this table does not follow from its earlier ones: the arbiter decides",
    "picture_wrong": "Whoever ran the self-test said that the camera's picture is wrong",
    "pin_guessed": "So many wrong PINs were entered at the table that the next one has to wait",
    "receipt_unproven": "A receipt was ignored because it is not signed with the event's key",
    "scan_foreign_set": "A tile was scanned that belongs to another set than the one on this table",
    "scanner_beeps": "The scanner makes a sound",
    "scanner_silent": "In the self-test, a scan was not received",
    "self_test_failed": "The self-test found a fault, and the table is used all the same",
    "self_test_skipped": "Somebody at the table skipped the hardware self-test",
    "upgrade_by_hand": "The program was not started by its unit, which alone can start another version",
    "upgrade_failed": "Another version of the program did not work here, and was abandoned",
}
"""Faults of the device, and of how people use it, that are reported but never raised as exceptions."""
