"""What can go wrong with the desk's server. `code` is stable, texts are not."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar


class DeskError(Exception):
    """Base of the desk's errors. `typed`: what could be read of a form that was refused as a whole."""

    code: ClassVar[str] = "desk_error"
    typed: Mapping[str, str] = MappingProxyType({})


class DeskPortTaken(DeskError, OSError):
    """Something else listens on the port that the desk was to take."""

    code = "desk_port_taken"


class AddressRefused(DeskError, OSError):
    """The address is not one of this machine's, or this user may not listen there."""

    code = "desk_address_refused"


class DeskStartFailed(DeskError, RuntimeError):
    """The server did not come up in time."""

    code = "desk_start_failed"


class CertificateRefused(DeskError, ValueError):
    """The desk's certificate or its key cannot be read, or do not belong together."""

    code = "desk_certificate_refused"


class LoginNeeded(DeskError, PermissionError):
    """Only who has logged in may see or do this."""

    code = "login_needed"
    status = 401


class NotAllowed(DeskError, PermissionError):
    """The role of who asks may not see or do this."""

    code = "not_allowed"
    status = 403


class DeskReadOnly(DeskError, OSError):
    """The scorer's disk is nearly full: what is left of it is for results."""

    code = "desk_read_only"
    status = 503


class SheetUnknown(DeskError, LookupError):
    """There is no such deal, player, team or receipt."""

    code = "sheet_unknown"
    status = 404


class PageUnknown(DeskError, LookupError):
    """There is no page at this address."""

    code = "page_unknown"
    status = 404


class TooManyMisses(DeskError, PermissionError):
    """Somebody at this address has asked for too many receipts that do not exist."""

    code = "too_many_misses"
    status = 429

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many codes that are none; the next is looked at in {wait_s} seconds")
        self.wait_s = wait_s


class ExportsBusy(DeskError, RuntimeError):
    """Another export is being written: one at a time."""

    code = "exports_busy"
    status = 503
    wait_s = 5

    def __init__(self) -> None:
        super().__init__(f"another export is being written; ask again in {self.wait_s} seconds")


class FormForeign(DeskError, PermissionError):
    """A form that none of our own pages of this session has sent."""

    code = "form_foreign"
    status = 403


class FormMalformed(DeskError, ValueError):
    """What was sent is no form of ours."""

    code = "form_malformed"


class FormTooLarge(DeskError, ValueError):
    """A form with more in it than any of ours can have."""

    code = "form_too_large"
    status = 413


class TablesUnreadable(DeskError, ValueError):
    """Tables that are not written as numbers and ranges."""

    code = "tables_unreadable"


class PairingUnknown(DeskError, LookupError):
    """A device has brought a code that was not given out here, or under another certificate."""

    code = "pairing_unknown"
    status = 404


class PairingSpent(DeskError, PermissionError):
    """A device has brought a code that another has used."""

    code = "pairing_spent"
    status = 410


class PairingOver(DeskError, PermissionError):
    """A device has brought a code whose time is over, or that was withdrawn."""

    code = "pairing_over"
    status = 410


class PairingOutdated(DeskError, ValueError):
    """A device's program is older than the desk's, and draws no salt: what it sends could be looked up in a table."""

    code = "pairing_outdated"
    status = 400


class PairingDelayed(DeskError, PermissionError):
    """Too many wrong codes were tried; `wait_s` says after how many seconds another is heard."""

    code = "pairing_delayed"
    status = 429

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many wrong codes; the next is heard in {wait_s} s")
        self.wait_s = wait_s


class PairingBusy(DeskError):
    """More devices ask than can be heard at once; each may ask again in a moment."""

    code = "pairing_busy"
    status = 503
    wait_s = 1


class TableHasDevice(DeskError, ValueError):
    """A table that is to be paired has a device that is connected."""

    code = "table_has_device"
    status = 409


class UnsignedDevice(DeskError, ValueError):
    """A device that signs nothing is to be accepted, and nobody has said that this is meant."""

    code = "unsigned_device"
    status = 409


class NoTableChosen(DeskError, ValueError):
    """None of the tables, or too many at once, or one that there is not."""

    code = "no_table_chosen"


class NoCall(DeskError, LookupError):
    """An arbiter wants to go to a table that does not call, or does not any more."""

    code = "no_call"
    status = 409


class AlertGone(DeskError, LookupError):
    """An arbiter has seen an alert that is not kept any more."""

    code = "alert_gone"
    status = 409


class PinUnusable(DeskError, ValueError):
    """What was given is no PIN, or not the same twice."""

    code = "pin_unusable"


class NothingToPairWith(DeskError, OSError):
    """The passwords of the tables, or the certificate of the broker's authority, cannot be read."""

    code = "nothing_to_pair_with"
    status = 503
