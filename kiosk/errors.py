"""What keeps a kiosk from working. Each has a stable code (docs/codes.md)."""

from broker.errors import CodedError


class KioskError(CodedError, code="kiosk_error"):
    """Base of all."""


class BadConfiguration(KioskError, ValueError, code="bad_configuration"):
    """The table's configuration cannot be used."""


class ScreenMissing(KioskError, OSError, code="screen_missing"):
    """There is no screen to draw on, or none by that driver."""


class DiskLow(KioskError, OSError, code="disk_low"):
    """The journal's disk is nearly full. Told while there is time; nothing raises it."""


class JournalFull(KioskError, OSError, code="journal_full"):
    """The journal's disk has no room. What happens is kept in mind until there is some; nothing more is shown."""


class CardRefuses(KioskError, OSError, code="card_refuses"):
    """The journal's disk takes no writes. The journal is kept elsewhere meanwhile; nothing raises it."""


class JournalInUse(KioskError, OSError, code="journal_in_use"):
    """Another kiosk has this table's journal open."""


class JournalBroken(KioskError, OSError, code="journal_broken"):
    """The journal is of another event or table, or cannot be read."""


class JournalNewer(JournalBroken, code="journal_newer"):
    """A newer program has written what this one cannot play on from: the play under way begins again."""


class NotPaired(KioskError, LookupError, code="not_paired"):
    """The configuration says that this device is paired at the desk, and it has not been yet."""


class DeviceUnknown(KioskError, PermissionError, code="device_unknown"):
    """The scorer takes nothing from this device until an arbiter has accepted it. Told; nothing raises it."""


class ReceiptUnproven(KioskError, PermissionError, code="receipt_unproven"):
    """A receipt has come that is not signed with the event's key, and is not believed. Told; nothing raises it."""


class FactUnexpected(KioskError, code="fact_unexpected"):
    """What this table told does not follow from what it told before: the arbiter decides. Told; nothing raises it."""


class DeskUnreachable(KioskError, OSError, code="desk_unreachable"):
    """No desk answers at the address that was given."""


class DeskUnproven(KioskError, PermissionError, code="desk_unproven"):
    """What answers is not the desk that gave the code: another certificate, or an answer without its seal."""


class PairingRefused(KioskError, PermissionError, code="pairing_refused"):
    """The desk has refused the code; `why` is the desk's own code."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class SelfTestFailed(KioskError, code="self_test_failed"):
    """The self-test has found something that does not work, and the table is used so. Told; nothing raises it."""


class SelfTestSkipped(KioskError, code="self_test_skipped"):
    """Somebody at the table went on without the self-test of the hardware. Told; nothing raises it."""


class PinGuessed(KioskError, code="pin_guessed"):
    """Wrong PINs were given at the table, so many that the next one has to wait. Told; nothing raises it."""


class ButtonSilent(KioskError, code="button_silent"):
    """A button was pressed in the self-test, and nothing came of it. Told; nothing raises it."""


class ButtonExchanged(KioskError, code="button_exchanged"):
    """In the self-test another seat's button came than the one that was pressed. Told; nothing raises it."""


class ScannerBeeps(KioskError, code="scanner_beeps"):
    """The scanner makes a sound. Told; nothing raises it."""


class ScannerSilent(KioskError, code="scanner_silent"):
    """In the self-test nothing came of a scan. Told; nothing raises it."""


class PictureWrong(KioskError, code="picture_wrong"):
    """Who made the self-test found the camera's picture wrong. Told; nothing raises it."""


class UpgradeFailed(KioskError, code="upgrade_failed"):
    """Another version of the program did not become well here, and was left. Told; nothing raises it."""


class UpgradeByHand(KioskError, code="upgrade_by_hand"):
    """The program was not started by its unit, which alone can start another version. Told; nothing raises it."""


class PairingAsked(KioskError, code="pairing_asked"):
    """Somebody at the table asks that the device be paired again: the pairing screen comes."""
