"""The table that a device was paired with, as it is kept beside the device's own settings."""

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from broker.coded_error import reason
from broker.files import PRIVATE_FOLDER, make_folder, write_private
from broker.protocol import EventName, TableNo
from broker.protocol.pairing import Pairing
from kiosk.errors import BadConfiguration, NotPaired

PAIRING_FILE: Final = "paired.json"


class StoredPairing(Struct, frozen=True, kw_only=True):
    """What a device was paired with. Names of files are in the same folder; a newer program may have kept more."""

    event: EventName
    table: TableNo
    host: str
    port: int
    password_file: str
    ca_file: str | None
    event_key: str | None = None
    """The event's public key: no receipts but those that are signed with it are believed."""
    certificate_file: str | None = None
    """The device's certificate, for its own key; without it the device has its password alone."""
    pin_file: str | None = None
    """Where older desks had the hash of the arbiters' PIN kept: it goes."""

    @property
    def journal(self) -> str:
        """The folder of the table's journal: another for each event and table."""
        return f"{self.event}/table-{self.table}"


def store_pairing(folder: Path, pairing: Pairing) -> None:
    """Keep a pairing in place of the one before. Raises BadConfiguration if it cannot be written."""
    broker, name = pairing.broker, f"{pairing.event}-table-{pairing.table}"
    ca = f"{name}.crt" if broker.ca else None
    certificate = f"{name}.device.crt" if pairing.certificate else None
    kept = StoredPairing(
        event=pairing.event,
        table=pairing.table,
        host=broker.host,
        port=broker.port,
        password_file=f"{name}.password",
        ca_file=ca,
        event_key=pairing.event_key,
        certificate_file=certificate,
    )
    try:
        make_folder(folder, PRIVATE_FOLDER)
        write_private(folder / kept.password_file, f"{broker.password}\n".encode())
        if ca and broker.ca:
            write_private(folder / ca, broker.ca.encode("ascii"))
        if certificate and pairing.certificate:
            write_private(folder / certificate, pairing.certificate.encode("ascii"))
        write_private(folder / PAIRING_FILE, msgspec.json.encode(kept))
    except OSError as error:
        raise BadConfiguration(f"paired: what the desk has told cannot be kept in {folder}: {error.strerror}") from None


def stored_pairing(folder: Path) -> StoredPairing:
    """Return what a device was paired with. Raises NotPaired, BadConfiguration if that cannot be read."""
    try:
        return msgspec.json.decode((folder / PAIRING_FILE).read_bytes(), type=StoredPairing)
    except FileNotFoundError:
        raise NotPaired(f"this device is paired with no event yet: there is no {folder / PAIRING_FILE}") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConfiguration(f"{folder / PAIRING_FILE}: {reason(error)}") from None
