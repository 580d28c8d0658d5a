"""Where a pairing is kept: its files in the folder that the configuration names, for the kiosk's own user alone.

The one that names the others is written last: after a power cut the device is paired as before, or as now.
"""

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from broker.contract.pairing import Pairing
from broker.contract.words import EventName, TableNo
from kiosk.errors import BadConfiguration, NotPaired
from kiosk.private import write_private

FILE: Final = "paired.json"


class Kept(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a device was paired with. Names of files are in the same folder."""

    event: EventName
    table: TableNo
    host: str
    port: int
    password_file: str
    ca_file: str | None
    pin_file: str | None = None
    """The hash of the event's PIN for arbiters, where the desk had one."""

    @property
    def journal(self) -> str:
        """The folder of the table's journal: another for each event and table."""
        return f"{self.event}/table-{self.table}"


def keep(folder: Path, pairing: Pairing) -> None:
    """Keep a pairing in the place of the one before. Raises BadConfiguration where it cannot be written."""
    broker, name = pairing.broker, f"{pairing.event}-table-{pairing.table}"
    ca, pin = f"{name}.crt" if broker.ca else None, f"{name}.pin" if pairing.pin else None
    kept = Kept(
        event=pairing.event,
        table=pairing.table,
        host=broker.host,
        port=broker.port,
        password_file=f"{name}.password",
        ca_file=ca,
        pin_file=pin,
    )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(folder / kept.password_file, f"{broker.password}\n".encode())
        if ca and broker.ca:
            write_private(folder / ca, broker.ca.encode("ascii"))
        if pin and pairing.pin:
            write_private(folder / pin, f"{pairing.pin}\n".encode("ascii"))
        write_private(folder / FILE, msgspec.json.encode(kept))
    except OSError as error:
        raise BadConfiguration(f"paired: what the desk has told cannot be kept in {folder}: {error.strerror}") from None


def kept_in(folder: Path) -> Kept:
    """Give what a device was paired with. Raises NotPaired, BadConfiguration where that cannot be read."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=Kept)
    except FileNotFoundError:
        raise NotPaired(f"this device is paired with no event yet: there is no {folder / FILE}") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{folder / FILE}: {error}") from None
