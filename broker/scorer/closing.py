"""What ends with an event: from then on no device speaks for a table, whatever its card holds.

Cards go home, and are read there. So each device's key is revoked, tables get other passwords, and the arbiters' PIN
goes. Results, rulings and accounts stay as they are; a table is paired again if it is to play on.
"""

import uuid
from contextlib import closing
from pathlib import Path
from typing import Final

from broker.event import open_event, write_devices
from broker.mqtt.access import OFFICES, Credentials
from broker.protocol import DeviceRevoked
from broker.scorer.admissions import Admissions
from broker.scorer.stored_event import read_journal
from broker.store import open_journal

REASON: Final = "the event is closed"


def close_tables(folder: Path, passwords: Path, pin: Path, author: str, now: int) -> int:
    """Revoke every device of an event, and return how many there were. `now`: ms since 1970.

    Raises ScorerError, StoreError (also if a scorer is at work), BrokerError, OSError.
    """
    event = open_event(folder)
    with closing(open_journal(folder, event.name)) as journal:
        admissions = Admissions(read_journal(journal, event).devices())
        revoked = admissions.all()
        with journal.commit():
            for number, one in enumerate(revoked, admissions.number + 1):
                record = DeviceRevoked(
                    id=uuid.uuid4().hex,
                    event=event.name,
                    number=number,
                    table=one.table,
                    device=one.device,
                    author=author,
                    account="",
                    reason=REASON,
                    at=now,
                )
                journal.append(record, now)
    write_devices(folder, ())
    if passwords.exists():
        _renew_tables(passwords)
    pin.unlink(missing_ok=True)
    return len(revoked)


def _renew_tables(path: Path) -> None:
    """Replace each table's password; the offices keep theirs."""
    known = Credentials.load(path).passwords
    tables = {user for user in known if user not in OFFICES}
    fresh = Credentials.create(len(tables)).passwords
    Credentials({user: fresh[user] if user in tables else password for user, password in known.items()}).save(path)
