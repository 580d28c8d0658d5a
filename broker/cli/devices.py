"""`homologue event device` and `close`: register a table's device, and revoke the access of all devices."""

import os
from contextlib import closing
from pathlib import Path

import click
import msgspec

from broker.cli import options
from broker.cli.people import COMMAND_ACTOR, note_command
from broker.cli.scorer import CREDENTIALS
from broker.console import amount, json_lines, say
from broker.errors import BrokerError, RuleError, StoreError, reason
from broker.event import Event, ListedDevice, open_event, read_devices, write_devices
from broker.mqtt import CA, OFFICES, TLS_FOLDER, Certificates, Credentials, device_user
from broker.people import accounts
from broker.protocol import LAST_TABLE, wall_clock_ms
from broker.scorer import read_journal
from broker.scorer.devices import Devices
from broker.store import open_journal
from broker.web.tables.event_pin import EventPin


@click.command("device", short_help="Register a table's device without pairing it at the desk.")
@options.event_folder_argument
@click.option("--table", "number", type=click.IntRange(1, LAST_TABLE), required=True, help="Number of the table.")
@click.option("--key", required=True, help="The device's public key, as `homologue table key` prints it.")
@click.option("--machine", default="", help="Name of the device, as the desk shows it.")
@json_lines
def event_device(folder: Path, number: int, key: str, machine: str) -> None:
    """Register a device that is not paired at the desk. The scorer accepts its messages from its next start.

    Its certificate for the broker is written into FOLDER/tls; copy it and ca.crt to the device.

    \b
    homologue event device my-cup --table 5 --key 0f3c...
    """
    os.umask(0o077)
    fields = {"table": number, "key": key, "machine": machine}
    try:
        listed = msgspec.convert(fields, ListedDevice)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", reason(error)) from None
    others = [one for one in read_devices(folder) if (one.table, one.key) != (number, key)]
    note_command(folder, accounts.DEVICE_LISTED, str(number), listed.device)
    write_devices(folder, [*others, listed])
    text, made = f"table {number}: device {listed.device}", None
    if (folder / TLS_FOLDER / CA).exists():
        certificates = Certificates.of_event(folder)
        certificates.issue(number, key)
        made = certificates.folder / f"{device_user(number, listed.device)}.crt"
        text += f"\ncertificate: {made}, with {certificates.ca}"
    say(text, table=number, device=listed.device, certificate=made)


@click.command("close", short_help="Revoke the access of all tables after an event.")
@options.folder_argument
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_lines
def event_close(*, folder: Path, yes: bool) -> None:
    """Revoke the key of every table's device, replace all table passwords, and remove the arbiters' PIN.

    Afterwards, keys and passwords on the tables' cards no longer work. Results, rulings and accounts stay. The scorer
    must not be running. To play on, pair the tables again.

    \b
    homologue event close my-cup
    """
    os.umask(0o077)
    event, passwords = open_event(folder), folder / CREDENTIALS
    if not yes:
        click.confirm(f"No table of {event.name} can play on before it is paired again. Close the event?", abort=True)
    try:
        count = _revoke_devices(folder, event)
        write_devices(folder, ())
        if passwords.exists():
            _renew_tables(passwords)
        EventPin.beside(passwords).path.unlink(missing_ok=True)
        note_command(folder, accounts.EVENT_CLOSED, "", str(count))
    except (StoreError, BrokerError, OSError) as error:
        raise RuleError(getattr(error, "code", "file_unwritable"), str(error)) from None
    text = f"{event.name} is closed: {amount(count, 'device')} revoked, other passwords for all tables, no PIN"
    say(text, event=event.name, devices=count)


def _revoke_devices(folder: Path, event: Event) -> int:
    """Revoke every device of an event, since their cards can be read after the event. Return how many there were.

    Raises ScorerError, and StoreError (also if a scorer is running).
    """
    with closing(open_journal(folder, event.name)) as journal:
        records = read_journal(journal, event).devices()
        devices = Devices(journal, event.name, records, wall_clock_ms, lambda _tables: None)
        return devices.revoke_all("the event is closed", COMMAND_ACTOR.who)


def _renew_tables(path: Path) -> None:
    """Replace the password of each table, but not those of OFFICES."""
    passwords = Credentials.load(path).passwords
    tables = {user for user in passwords if user not in OFFICES}
    fresh = Credentials.create(len(tables)).passwords
    Credentials({user: fresh[user] if user in tables else password for user, password in passwords.items()}).save(path)
