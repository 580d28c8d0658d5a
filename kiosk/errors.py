"""What keeps a kiosk from working. Each has a stable code (docs/codes.md)."""

from collections.abc import Mapping
from typing import Final

from broker.errors import CodedError


class KioskError(CodedError, code="kiosk_error"):
    """Base of all."""


class BadConfiguration(KioskError, ValueError, code="bad_configuration"):
    """The table's configuration cannot be used."""


class ScreenMissing(KioskError, OSError, code="screen_missing"):
    """There is no screen to draw on, or none by that driver."""


class JournalFull(KioskError, OSError, code="journal_full"):
    """The journal's disk has no room. What happens is kept in mind until there is some; nothing more is shown."""


class JournalInUse(KioskError, OSError, code="journal_in_use"):
    """Another kiosk has this table's journal open."""


class JournalBroken(KioskError, OSError, code="journal_broken"):
    """The journal is of another event or table, or cannot be read."""


class JournalNewer(JournalBroken, code="journal_newer"):
    """A newer program has written what this one cannot play on from: the play under way begins again."""


class NotPaired(KioskError, LookupError, code="not_paired"):
    """The configuration says that this device is paired at the desk, and it has not been yet."""


class DeskUnreachable(KioskError, OSError, code="desk_unreachable"):
    """No desk answers at the address that was given."""


class DeskUnproven(KioskError, PermissionError, code="desk_unproven"):
    """What answers is not the desk that gave the code: another certificate, or an answer without its seal."""


class PairingRefused(KioskError, PermissionError, code="pairing_refused"):
    """The desk has refused a pairing code; the sentence ends with its own code, which says why."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the desk has refused the code: {why}")
        self.why = why


class PairingAsked(KioskError, code="pairing_asked"):
    """Somebody at the table asks that the device be paired again: the pairing screen comes."""


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
"""What is told of the device and of what people do with it, and what it means: nothing raises it."""
