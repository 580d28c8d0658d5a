"""What can go wrong with a broker, a store, an event's folder or the scorer. `code` is stable, texts are not."""

from collections.abc import Iterable
from typing import ClassVar

from broker.rules import RuleError


class BrokerError(Exception):
    """Base of all errors of this room's brokers."""

    code: ClassVar[str] = "broker_error"


class ProgramMissing(BrokerError, FileNotFoundError):
    """A program that the broker needs is not installed."""

    code = "broker_program_missing"


class BrokerPortTaken(BrokerError, OSError):
    """Something else listens on the port that the broker was to take."""

    code = "broker_port_taken"


class StoreLocked(BrokerError, BlockingIOError):
    """Another broker runs on the same folder."""

    code = "broker_store_locked"


class BrokerStartFailed(BrokerError, RuntimeError):
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


class StoreError(Exception):
    """Base; `code` is stable and listed in docs/codes.md."""

    code = "store_error"


class StoreInUse(StoreError, OSError):
    """Another scorer has this event's store open."""

    code = "store_in_use"


class StoreBroken(StoreError, OSError):
    """The store is damaged, full, of another event or of a newer version."""

    code = "store_broken"


class StoreMissing(StoreError, FileNotFoundError):
    """Nothing has been recorded for this event."""

    code = "store_missing"


class StoreUnreachable(StoreError, ConnectionError):
    """No server answers at the store's address, or it lets us not in."""

    code = "store_unreachable"


class StoreLost(StoreError, ConnectionError):
    """A scorer that was active has lost the store: it must write no more, since another may be active by now."""

    code = "store_lost"


class ScorerReplaced(StoreLost):
    """Another scorer has become active on the event while this one was away."""

    code = "scorer_replaced"


class StoreAddressRefused(StoreError, ValueError):
    """The address of a store, or the file of its password, cannot be used."""

    code = "store_address_refused"


class StoreDiffers(StoreError, ValueError):
    """The event's journal is in another store than the one that was named."""

    code = "store_differs"


class NoEvent(StoreError, ValueError):
    """The folder is no event's."""

    code = "no_event"


class BackupFailed(StoreError, OSError):
    """A copy could not be made, or does not read back as it was written. Older copies are as they were."""

    code = "backup_failed"


class AnchorMistyped(StoreError, ValueError):
    """A text that is no anchor: a letter was read or typed wrong."""

    code = "anchor_mistyped"


class AnchorElsewhere(StoreError, ValueError):
    """An anchor of another event."""

    code = "anchor_of_another_event"


class BackupBroken(StoreError, ValueError):
    """A copy is damaged, or is none."""

    code = "backup_broken"


class BackupMissing(StoreError, FileNotFoundError):
    """There is no copy in that folder that could be restored."""

    code = "backup_missing"


class RestoreTaken(StoreError, FileExistsError):
    """Something is there already where a copy was to be restored. It was left as it is."""

    code = "restore_taken"


class ScorerError(Exception):
    """Base; `code` is stable and listed in docs/codes.md."""

    code = "scorer_error"


class BadEvent(ScorerError, ValueError):
    """The event's folder does not hold an event that can be played; `found`: each problem of its plan by itself."""

    code = "bad_event"

    def __init__(self, text: str, found: Iterable[RuleError] = ()) -> None:
        super().__init__(text)
        self.found = tuple(found)


class EventKeyBroken(ScorerError, OSError):
    """The event's key cannot be read or written."""

    code = "event_key_broken"


class NoDeviceWaits(ScorerError, LookupError):
    """A table is to be handed over, and no second device has asked to serve it."""

    code = "no_device_waits"
    status = 409


class CallAttended(ScorerError, ValueError):
    """An arbiter wants to go to a call, or not to go, and another one has said so first."""

    code = "call_attended"
    status = 409


class ScorerActive(ScorerError, BlockingIOError):
    """Another scorer is active on this event, from another folder: end it first, or stand by."""

    code = "scorer_active"


class ScorerBusy(ScorerError, TimeoutError):
    """The scorer has not answered in time; whether it did what was asked is seen when it answers again."""

    code = "scorer_busy"
    status = 503
