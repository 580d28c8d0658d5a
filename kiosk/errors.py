"""What keeps a kiosk from working. Each has a stable code (docs/codes.md)."""


class KioskError(Exception):
    """Base of all."""

    code = "kiosk_error"


class BadConfiguration(KioskError, ValueError):
    """The table's configuration cannot be used."""

    code = "bad_configuration"


class ScreenMissing(KioskError, OSError):
    """There is no screen to draw on, or none by that driver."""

    code = "screen_missing"


class DiskLow(KioskError, OSError):
    """The journal's disk is nearly full. Told while there is time; nothing raises it."""

    code = "disk_low"


class JournalFull(KioskError, OSError):
    """The journal's disk has no room. What happens is kept in mind until there is some; nothing more is shown."""

    code = "journal_full"


class CardRefuses(KioskError, OSError):
    """The journal's disk takes no writes. The journal is kept elsewhere meanwhile; nothing raises it."""

    code = "card_refuses"


class JournalInUse(KioskError, OSError):
    """Another kiosk has this table's journal open."""

    code = "journal_in_use"


class JournalBroken(KioskError, OSError):
    """The journal is of another event or table, or cannot be read."""

    code = "journal_broken"


class NotPaired(KioskError, LookupError):
    """The configuration says that this device is paired at the desk, and it has not been yet."""

    code = "not_paired"


class DeviceUnknown(KioskError, PermissionError):
    """The scorer takes nothing from this device until an arbiter has accepted it. Told; nothing raises it."""

    code = "device_unknown"


class ReceiptUnproven(KioskError, PermissionError):
    """A receipt has come that is not signed with the event's key, and is not believed. Told; nothing raises it."""

    code = "receipt_unproven"


class FactUnexpected(KioskError):
    """What this table told does not follow from what it told before: the arbiter decides. Told; nothing raises it."""

    code = "fact_unexpected"


class DeskUnreachable(KioskError, OSError):
    """No desk answers at the address that was given."""

    code = "desk_unreachable"


class DeskUnproven(KioskError, PermissionError):
    """What answers is not the desk that gave the code: another certificate, or an answer without its seal."""

    code = "desk_unproven"


class PairingRefused(KioskError, PermissionError):
    """The desk has refused the code; `why` is the desk's own code."""

    code = "pairing_refused"

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class SelfTestFailed(KioskError):
    """The self-test has found something that does not work, and the table is used so. Told; nothing raises it."""

    code = "self_test_failed"


class SelfTestSkipped(KioskError):
    """Somebody at the table went on without the self-test of the hardware. Told; nothing raises it."""

    code = "self_test_skipped"


class PinGuessed(KioskError):
    """Wrong PINs were given at the table, so many that the next one has to wait. Told; nothing raises it."""

    code = "pin_guessed"


class ButtonSilent(KioskError):
    """A button was pressed in the self-test, and nothing came of it. Told; nothing raises it."""

    code = "button_silent"


class ButtonExchanged(KioskError):
    """In the self-test another seat's button came than the one that was pressed. Told; nothing raises it."""

    code = "button_exchanged"


class ScannerBeeps(KioskError):
    """The scanner makes a sound. Told; nothing raises it."""

    code = "scanner_beeps"


class ScannerSilent(KioskError):
    """In the self-test nothing came of a scan. Told; nothing raises it."""

    code = "scanner_silent"


class PictureWrong(KioskError):
    """Who made the self-test found the camera's picture wrong. Told; nothing raises it."""

    code = "picture_wrong"


class UpgradeFailed(KioskError):
    """Another version of the program did not become well here, and was left. Told; nothing raises it."""

    code = "upgrade_failed"


class UpgradeByHand(KioskError):
    """The program was not started by its unit, which alone can start another version. Told; nothing raises it."""

    code = "upgrade_by_hand"


class PairingAsked(KioskError):
    """Somebody at the table asks that the device be paired anew: the pairing screen comes."""

    code = "pairing_asked"
