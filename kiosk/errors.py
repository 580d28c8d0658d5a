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


class JournalInUse(KioskError, OSError):
    """Another kiosk has this table's journal open."""

    code = "journal_in_use"


class JournalBroken(KioskError, OSError):
    """The journal is of another event or table, or cannot be read."""

    code = "journal_broken"
