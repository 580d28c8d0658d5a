"""What can be wrong with an event's store, or with a copy of it."""


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


class BackupBroken(StoreError, ValueError):
    """A copy is damaged, or is none."""

    code = "backup_broken"


class BackupMissing(StoreError, FileNotFoundError):
    """There is no copy in that folder that could be restored."""

    code = "backup_missing"


class RestoreTaken(StoreError, FileExistsError):
    """Something is there already where a copy was to be restored. It was left as it is."""

    code = "restore_taken"
