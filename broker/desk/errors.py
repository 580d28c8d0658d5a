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
