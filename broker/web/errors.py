"""The errors of the desk's server. Codes are stable, texts may change."""

from collections.abc import Mapping
from types import MappingProxyType

from broker.errors import CodedError


class DeskError(CodedError, code="desk_error"):
    """Base of the desk's errors. `typed` holds the readable fields of a form that was refused as a whole."""

    typed: Mapping[str, str] = MappingProxyType({})


class DeskPortTaken(DeskError, OSError, code="desk_port_taken"):
    """Another program already listens on the desk's port."""


class AddressRefused(DeskError, OSError, code="desk_address_refused"):
    """The address does not belong to this machine, or this user may not listen on it."""


class DeskStartFailed(DeskError, RuntimeError, code="desk_start_failed"):
    """The server ended while it was starting."""


class CertificateRefused(DeskError, ValueError, code="desk_certificate_refused"):
    """The desk's certificate or its key cannot be read, or the two do not belong together."""


class LoginNeeded(DeskError, PermissionError, code="login_needed", status=401):
    """Only a user who has logged in may see or do this."""


class NotAllowed(DeskError, PermissionError, code="not_allowed", status=403):
    """The visitor's role does not allow seeing or doing this."""


class DeskReadOnly(DeskError, OSError, code="desk_read_only", status=503):
    """The scorer's disk is nearly full, and the space left is reserved for results."""


class SheetUnknown(DeskError, LookupError, code="sheet_unknown", status=404):
    """No such deal, player, team or receipt exists."""


class PageUnknown(DeskError, LookupError, code="page_unknown", status=404):
    """No page exists at this address."""


class HostUnknown(DeskError, ValueError, code="host_unknown", status=400):
    """The desk was requested under a host name or address that is not its own."""


class MethodRefused(DeskError, ValueError, code="method_refused", status=405):
    """This address does not accept this HTTP method."""


class DeskFailed(DeskError, RuntimeError, code="desk_failed", status=500):
    """The desk's program has failed; its log has the details."""


class TooManyMisses(DeskError, PermissionError, code="too_many_misses", status=429):
    """Too many receipts that do not exist were requested from this address."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many unknown codes; try again in {wait_s} seconds")
        self.wait_s = wait_s


class ExportsBusy(DeskError, RuntimeError, code="exports_busy", status=503):
    """Another export is being written; only one runs at a time."""

    wait_s = 5

    def __init__(self) -> None:
        super().__init__(f"another export is being written; ask again in {self.wait_s} seconds")


class FormForeign(DeskError, PermissionError, code="form_foreign", status=403):
    """A form that was not sent by one of the desk's own pages in this session."""


class FormMalformed(DeskError, ValueError, code="form_malformed"):
    """The body of the request is not a valid form."""


class FormTooLarge(DeskError, ValueError, code="form_too_large", status=413):
    """A form that is larger than any form of the desk can be."""


class TablesUnreadable(DeskError, ValueError, code="tables_unreadable"):
    """Text that cannot be read as table numbers and ranges."""


class PairingUnknown(DeskError, LookupError, code="pairing_unknown", status=404):
    """A device sent a pairing code that was not issued here, or was issued under another certificate."""


class PairingSpent(DeskError, PermissionError, code="pairing_spent", status=410):
    """A device sent a pairing code that another device has used."""


class PairingOver(DeskError, PermissionError, code="pairing_over", status=410):
    """A device sent a pairing code that has expired or was withdrawn."""


class PairingOutdated(DeskError, ValueError, code="pairing_outdated", status=400):
    """A device's program is older than the desk's and uses no salt, so its proof could be precomputed."""


class PairingDelayed(DeskError, PermissionError, code="pairing_delayed", status=429):
    """Too many wrong pairing codes were tried. The next one is accepted after `wait_s` seconds."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many wrong codes; try again in {wait_s} s")
        self.wait_s = wait_s


class PairingBusy(DeskError, code="pairing_busy", status=503):
    """More devices want to pair than can be handled at once; each may retry after a second."""

    wait_s = 1


class TableHasDevice(DeskError, ValueError, code="table_has_device", status=409):
    """A table that is to be paired already has a connected device."""


class UnsignedDevice(DeskError, ValueError, code="unsigned_device", status=409):
    """A device that signs nothing was to be accepted without the extra confirmation that this needs."""


class NoTableChosen(DeskError, ValueError, code="no_table_chosen"):
    """No table was chosen, or too many at once, or one that does not exist."""


class NoCall(DeskError, LookupError, code="no_call", status=409):
    """An arbiter wants to attend a table that is not calling, or no longer is."""


class AlertGone(DeskError, LookupError, code="alert_gone", status=409):
    """An arbiter has marked an alert as seen that is no longer stored."""


class PinUnusable(DeskError, ValueError, code="pin_unusable"):
    """The text is not a valid PIN, or the two entries differ."""


class NothingToPairWith(DeskError, OSError, code="nothing_to_pair_with", status=503):
    """The tables' passwords, or the certificate of the broker's authority, cannot be read."""
