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
    "button_exchanged": "In the self-test another seat's button came than the one that was pressed",
    "button_silent": "A button was pressed in the self-test, and nothing came of it",
    "card_refuses": "The journal's disk takes no writes",
    "device_unknown": "The scorer takes nothing from this device until an arbiter has accepted it",
    "disk_low": "The journal's disk is nearly full",
    "fact_unexpected": "What this table told does not follow from what it told before: the arbiter decides",
    "picture_wrong": "Who made the self-test found the camera's picture wrong",
    "pin_guessed": "Wrong PINs were given at the table, so many that the next one has to wait",
    "receipt_unproven": "A receipt has come that is not signed with the event's key, and is not believed",
    "scan_foreign_set": "A tile was scanned that belongs to another set than the one on this table",
    "scanner_beeps": "The scanner makes a sound",
    "scanner_silent": "In the self-test nothing came of a scan",
    "self_test_failed": "The self-test has found something that does not work, and the table is used so",
    "self_test_skipped": "Somebody at the table went on without the self-test of the hardware",
    "upgrade_by_hand": "The program was not started by its unit, which alone can start another version",
    "upgrade_failed": "Another version of the program did not become well here, and was left",
}
"""Faults of the device, and of how people use it, that are reported but never raised as exceptions."""
