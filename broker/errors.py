"""What can go wrong with a broker, its credentials or its settings. `code` is stable, texts are not."""

from typing import ClassVar


class BrokerError(Exception):
    """Base of all errors of this room's brokers."""

    code: ClassVar[str] = "broker_error"


class ProgramMissing(BrokerError, FileNotFoundError):
    """A program that the broker needs is not installed."""

    code = "broker_program_missing"


class PortTaken(BrokerError, OSError):
    """Something else listens on the port that the broker was to take."""

    code = "broker_port_taken"


class StoreLocked(BrokerError, BlockingIOError):
    """Another broker runs on the same folder."""

    code = "broker_store_locked"


class StartFailed(BrokerError, RuntimeError):
    """The broker ended by itself before it was ready; the text has the last lines of its log."""

    code = "broker_start_failed"


class BrokerDied(BrokerError, RuntimeError):
    """The broker ended while it was needed."""

    code = "broker_died"


class NotReady(BrokerError, TimeoutError):
    """The broker runs but takes no connection within the time; the text has the last lines of its log."""

    code = "broker_not_ready"


class SettingRefused(BrokerError, ValueError):
    """An event name, a number of tables or a path cannot be used."""

    code = "broker_setting_refused"


class CredentialsMalformed(BrokerError, ValueError):
    """The file of credentials is not what `Credentials.save` writes."""

    code = "broker_credentials_malformed"


class CredentialsMissing(BrokerError, FileNotFoundError):
    """There is no file of credentials that we may read."""

    code = "broker_credentials_missing"


class CredentialsExposed(BrokerError, PermissionError):
    """Others than the owner may read the file of credentials."""

    code = "broker_credentials_exposed"


class UserUnknown(BrokerError, LookupError):
    """Nobody of that name has credentials."""

    code = "broker_user_unknown"
