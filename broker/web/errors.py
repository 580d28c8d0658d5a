"""What can go wrong with the desk's server. `code` is stable, texts are not."""

from collections.abc import Mapping
from types import MappingProxyType

from broker.errors import CodedError


class DeskError(CodedError, code="desk_error"):
    """Base of the desk's errors. `typed`: what could be read of a form that was refused as a whole."""

    typed: Mapping[str, str] = MappingProxyType({})


class DeskPortTaken(DeskError, OSError, code="desk_port_taken"):
    """Something else listens on the port that the desk was to take."""


class AddressRefused(DeskError, OSError, code="desk_address_refused"):
    """The address is not one of this machine's, or this user may not listen there."""


class DeskStartFailed(DeskError, RuntimeError, code="desk_start_failed"):
    """The server has ended while it was started."""


class CertificateRefused(DeskError, ValueError, code="desk_certificate_refused"):
    """The desk's certificate or its key cannot be read, or do not belong together."""


class LoginNeeded(DeskError, PermissionError, code="login_needed", status=401):
    """Only who has logged in may see or do this."""


class NotAllowed(DeskError, PermissionError, code="not_allowed", status=403):
    """The role of who asks may not see or do this."""


class DeskReadOnly(DeskError, OSError, code="desk_read_only", status=503):
    """The scorer's disk is nearly full: what is left of it is for results."""


class SheetUnknown(DeskError, LookupError, code="sheet_unknown", status=404):
    """There is no such deal, player, team or receipt."""


class PageUnknown(DeskError, LookupError, code="page_unknown", status=404):
    """There is no page at this address."""


class HostUnknown(DeskError, ValueError, code="host_unknown", status=400):
    """The desk was asked for by a name or an address that is none of its own."""


class MethodRefused(DeskError, ValueError, code="method_refused", status=405):
    """What is at this address may be read but not sent to, or the other way round."""


class DeskFailed(DeskError, RuntimeError, code="desk_failed", status=500):
    """A fault of the desk's program, which its log tells."""


class TooManyMisses(DeskError, PermissionError, code="too_many_misses", status=429):
    """Somebody at this address has asked for too many receipts that do not exist."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many codes that are none; the next is looked at in {wait_s} seconds")
        self.wait_s = wait_s


class ExportsBusy(DeskError, RuntimeError, code="exports_busy", status=503):
    """Another export is being written: one at a time."""

    wait_s = 5

    def __init__(self) -> None:
        super().__init__(f"another export is being written; ask again in {self.wait_s} seconds")


class FormForeign(DeskError, PermissionError, code="form_foreign", status=403):
    """A form that none of our own pages of this session has sent."""


class FormMalformed(DeskError, ValueError, code="form_malformed"):
    """What was sent is no form of ours."""


class FormTooLarge(DeskError, ValueError, code="form_too_large", status=413):
    """A form with more in it than any of ours can have."""


class TablesUnreadable(DeskError, ValueError, code="tables_unreadable"):
    """Tables that are not written as numbers and ranges."""


class PairingUnknown(DeskError, LookupError, code="pairing_unknown", status=404):
    """A device has brought a code that was not given out here, or under another certificate."""


class PairingSpent(DeskError, PermissionError, code="pairing_spent", status=410):
    """A device has brought a code that another has used."""


class PairingOver(DeskError, PermissionError, code="pairing_over", status=410):
    """A device has brought a code whose time is over, or that was withdrawn."""


class PairingOutdated(DeskError, ValueError, code="pairing_outdated", status=400):
    """A device's program is older than the desk's, and draws no salt: what it sends could be looked up in a table."""


class PairingDelayed(DeskError, PermissionError, code="pairing_delayed", status=429):
    """Too many wrong codes were tried; `wait_s` says after how many seconds another is heard."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many wrong codes; the next is heard in {wait_s} s")
        self.wait_s = wait_s


class PairingBusy(DeskError, code="pairing_busy", status=503):
    """More devices ask than can be heard at once; each may ask again in a moment."""

    wait_s = 1


class TableHasDevice(DeskError, ValueError, code="table_has_device", status=409):
    """A table that is to be paired has a device that is connected."""


class UnsignedDevice(DeskError, ValueError, code="unsigned_device", status=409):
    """A device that signs nothing is to be accepted, and nobody has said that this is meant."""


class NoTableChosen(DeskError, ValueError, code="no_table_chosen"):
    """None of the tables, or too many at once, or one that does not exist."""


class NoCall(DeskError, LookupError, code="no_call", status=409):
    """An arbiter wants to go to a table that does not call, or does not any more."""


class AlertGone(DeskError, LookupError, code="alert_gone", status=409):
    """An arbiter has seen an alert that is not kept any more."""


class PinUnusable(DeskError, ValueError, code="pin_unusable"):
    """What was given is no PIN, or not the same twice."""


class NothingToPairWith(DeskError, OSError, code="nothing_to_pair_with", status=503):
    """The passwords of the tables, or the certificate of the broker's authority, cannot be read."""
