"""What can go wrong with the desk's server. `code` is stable, texts are not."""

from typing import ClassVar


class DeskError(Exception):
    """Base of the desk's errors."""

    code: ClassVar[str] = "desk_error"


class PortTaken(DeskError, OSError):
    """Something else listens on the port that the desk was to take."""

    code = "desk_port_taken"


class AddressRefused(DeskError, OSError):
    """The address is not one of this machine's, or this user may not listen there."""

    code = "desk_address_refused"


class StartFailed(DeskError, RuntimeError):
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


class SheetUnknown(DeskError, LookupError):
    """There is no such deal, player, team or receipt."""

    code = "sheet_unknown"
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
