"""`homologue table`: pairs a table's device, or lets it take over a dead device's journal.

With the dead device's card, this one continues where that one stopped, or sends the facts it had not sent.
"""

import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from broker.console import EXISTING, EXISTING_FILE, FILE, PromptedOption, amount, json_lines, say
from broker.logs import set_up_logs
from broker.protocol import Refused, signing
from broker.protocol.pairing import read_typed_pairing
from kiosk.config import JOURNAL_FILE, KEY_FILE, KioskSettings, open_device_key, store_pairing, unpaired_settings
from kiosk.errors import BadConfiguration, JournalBroken
from kiosk.journal import JournaledTable, TableJournal
from kiosk.journal_file import JournalOwner
from kiosk.pairing import exchange
from kiosk.supervisor import run_supervised

CONFIG = click.argument("config", type=EXISTING_FILE)


@click.group(short_help="Pair a table's device, test its hardware, replace a dead one.")
def table() -> None:
    """Maintain a table's device. CONFIG is the table's TOML file (see docs/installer.md)."""
    os.umask(0o077)


@table.command("import", short_help="Import a dead device's journal.")
@CONFIG
@click.argument("card", type=EXISTING)
@json_lines
def import_journal(config: Path, card: Path) -> None:
    """Import a dead device's journal from its CARD or a stick. The kiosk must not be running.

    CARD is the folder where the card or stick is mounted, which is searched for this table's journal, or the journal
    itself (table.sqlite). Nothing on it is changed.

    A device that has not been used yet continues where the dead one stopped. One that is in use gets what the dead one
    had not yet sent.
    """
    settings = KioskSettings(config)
    owner = JournalOwner(settings.config.event, settings.config.table)
    journal = find_journal(card, owner) if card.is_dir() else card
    taken = take_over_journal(journal, settings.journal, owner, settings.device_key())
    where = "This device continues where the dead one stopped" if taken.complete else "This device was already in use"
    say(f"{where}; {amount(taken.facts, 'fact')} will be sent.", goes_on=taken.complete, facts=taken.facts)


@table.command("run", short_help="Run one table as a service.")
@CONFIG
@click.option("--picture", type=FILE, help="Keep a PNG picture of the current screen in this file.")
def run(config: Path, picture: Path | None) -> None:
    """Run one table as a service: its kiosk is restarted whenever it ends or hangs.

    Meanwhile the screen says so, and no press of a button that is wired to pins is lost.
    """
    set_up_logs(logging.INFO)
    run_supervised(config, picture)


@table.command("pair", short_help="Pair this device with an event.")
@CONFIG
@click.argument("desk")
@click.option(
    "--code",
    cls=PromptedOption,
    prompt=True,
    hide_input=True,
    help="The eight digits that the desk shows [default: ask].",
)
@json_lines
def pair(config: Path, desk: str, code: str) -> None:
    """Pair this device with an event, as on the kiosk's screen.

    DESK is the desk's name or address, with its port if that is not 8136. CONFIG must have the setting `paired`.
    """
    offer = read_typed_pairing(desk, code)
    if offer is None:
        raise BadConfiguration("DESK is a name or an address, and a code has eight digits")
    folder = Path(unpaired_settings(config).paired)
    pairing = exchange.request_pairing(offer, open_device_key(folder / KEY_FILE))
    store_pairing(folder, pairing)
    say(
        f"Paired with {pairing.event}, table {pairing.table}. Restart a running kiosk to use it.",
        event=pairing.event,
        table=pairing.table,
    )


@table.command("key", short_help="Print the public key and the id of this table's device.")
@CONFIG
@json_lines
def key(config: Path) -> None:
    """Print the public key of this table's device, and the id that the desk shows; a device without a key gets one.

    Register a table that is not paired at the desk with `homologue event device`.
    """
    made = KioskSettings(config).device_key()
    say(f"key: {made.public}\ndevice: {made.device}", key=made.public, device=made.device)


LOG: Final = "-wal"
"""SQLite's suffix for the write-ahead log beside a file, which holds the latest writes."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """What was taken over from a dead device."""

    complete: bool
    """Whether the table continues where the dead device stopped. Otherwise it had begun, and got only the facts."""
    facts: int
    """Number of facts without a receipt from the scorer."""


def take_over_journal(card: Path, own: Path, owner: JournalOwner, key: signing.SigningKey | None = None) -> Takeover:
    """Import a dead device's journal, or only its facts if this device has begun already or cannot replay the journal.

    Raises JournalBroken, JournalInUse, JournalFull.
    """
    key = key or open_device_key(own.with_name(KEY_FILE))
    with _copied(card) as copy, closing(_opened(copy, owner, key)) as dead:
        facts = _checked(dead)
        with closing(TableJournal(own, owner, key)) as journal:
            if not (journal.empty and _is_playable(dead)):
                return Takeover(complete=False, facts=journal.add_facts(facts))
        # Our journal holds nothing but its own number. It is replaced as a whole, so an interruption does no harm.
        _put_in_place(dead, own)
        return Takeover(complete=True, facts=len(facts))


def find_journal(card: Path, owner: JournalOwner) -> Path:
    """Return the newest journal of a table found anywhere on a dead device's card. Raises JournalBroken."""
    named = (Path(folder) / JOURNAL_FILE for folder, _, files in os.walk(card) if JOURNAL_FILE in files)
    ours = [path for path in named if _belongs_to(path, owner)]
    if not ours:
        raise JournalBroken(f"{card} holds no readable journal of {owner.event}, table {owner.table}")
    return max(ours, key=_written_at)


def _written_at(journal: Path) -> float:
    """Return when a journal was last written, which may have been in its log."""
    log = journal.with_name(journal.name + LOG)
    return max(one.stat().st_mtime for one in (journal, log) if one.exists())


def _belongs_to(card: Path, owner: JournalOwner) -> bool:
    """Return whether a journal belongs to this event and table; False if it cannot be read."""
    with suppress(JournalBroken, sqlite3.DatabaseError), _copied(card) as copy, closing(sqlite3.connect(copy)) as store:
        about = dict(store.execute("SELECT key, value FROM about WHERE key IN ('event', 'table')").fetchall())
        return about == {"event": owner.event, "table": str(owner.table)}
    return False


@contextmanager
def _copied(card: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "card.sqlite"
        try:
            shutil.copyfile(card, copy)
            with suppress(FileNotFoundError):
                shutil.copyfile(card.with_name(card.name + LOG), copy.with_name(copy.name + LOG))
        except OSError as error:
            raise JournalBroken(f"{card}: {error.strerror}") from None
        yield copy


def _opened(copy: Path, owner: JournalOwner, key: signing.SigningKey) -> TableJournal:
    """Open a journal as a kiosk would, which checks its event and table."""
    with closing(sqlite3.connect(copy)) as store:
        try:
            (verdict,) = store.execute("PRAGMA quick_check(1)").fetchone()
            store.execute("SELECT count(*) FROM happened, about").fetchone()
        except sqlite3.DatabaseError as error:
            raise JournalBroken(f"the card holds no journal that can be read: {error}") from None
    if verdict != "ok":
        raise JournalBroken(f"the card is damaged: {verdict}")
    return TableJournal(copy, owner, key)


def _checked(dead: TableJournal) -> tuple[bytes, ...]:
    """Return the bytes of each fact without a receipt, after decoding all of them as a check."""
    try:
        dead.unsent()
        return dead.unsent_bodies()
    except Refused as refused:
        raise JournalBroken(f"a fact on the card cannot be read: {refused.text}") from None


def _is_playable(dead: TableJournal) -> bool:
    """Return whether this program can replay every event; a newer one may have written others."""
    with suppress(JournalBroken):
        JournaledTable(dead, wall=lambda: 0)
        return True
    return False


def _put_in_place(dead: TableJournal, own: Path) -> None:
    new = own.with_name(f".{own.name}.new")
    new.unlink(missing_ok=True)
    dead.copy_to(new)
    for beside in (LOG, "-shm"):
        own.with_name(own.name + beside).unlink(missing_ok=True)
    new.replace(own)
