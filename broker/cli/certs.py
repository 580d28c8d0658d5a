"""`homologue certs`: create, show, renew and revoke an event's own certificates."""

import os
from pathlib import Path

import click

from broker.cli import options
from broker.cli.people import note_command
from broker.console import json_lines, json_object, say
from broker.mqtt import Certificates
from broker.people import accounts
from broker.protocol import LAST_TABLE

HOST = click.option(
    "--host", "hosts", multiple=True, help="Additional name or address of this machine; may be repeated."
)


@click.group(short_help="Show, renew and revoke an event's certificates.")
def certs() -> None:
    """Manage the certificates of an event, which are in its folder, in `tls`.

    `homologue event new` creates them, as does the scorer for an event that has none and has not begun. Broker and desk
    share the server's certificate; each table's device has one for its own key. A running scorer applies changes at
    once.
    """
    os.umask(0o077)


@certs.command("new", short_help="Create certificates for an event that has none.")
@options.event_folder_argument
@HOST
@json_lines
def certs_new(folder: Path, hosts: tuple[str, ...]) -> None:
    """Create the missing certificates of an event, such as one that began without any.

    The scorer uses them from its next start. Then pair the tables again, so that they learn the event's authority.

    \b
    homologue certs new my-cup
    """
    made = Certificates.ensure(folder, hosts)
    say(f"{made.folder}: authority {made.fingerprint}", folder=made.folder, authority=made.fingerprint)


@certs.command("show", short_help="List certificates with expiry dates and fingerprints.")
@options.folder_argument
@json_object
def certs_show(folder: Path) -> None:
    """Show the authority, the server's names and expiry date, and the devices of each table. No secret is shown.

    Compare the server's fingerprint with the one that a browser shows.

    \b
    homologue certs show my-cup
    """
    known = Certificates.of_event(folder)
    ends, names = known.server_ends.date(), known.server_names
    server = {"fingerprint": known.server_fingerprint, "names": names, "ends": ends.isoformat()}
    rows = [{"table": one.table, "device": one.device, "revoked": one.revoked} for one in known.tables()]
    lines = [f"authority  {_pairs(known.fingerprint)}", f"server     {_pairs(known.server_fingerprint)}"]
    lines.append(f"           until {ends}, for {', '.join(names)}")
    for one in known.tables():
        revoked = f"  REVOKED ({one.revoked})" if one.revoked else ""
        lines.append(f"table {one.table:4d} device {one.device}{revoked}")
    say("\n".join(lines), authority=known.fingerprint, server=server, tables=rows)


def _pairs(fingerprint: str) -> str:
    """Return a fingerprint in the form in which browsers show it."""
    return bytes.fromhex(fingerprint).hex(":").upper()


@certs.command("renew", short_help="Renew the server's certificate.")
@options.folder_argument
@HOST
@json_lines
def certs_renew(folder: Path, hosts: tuple[str, ...]) -> None:
    """Renew the server's key and certificate: for another address, or because somebody else had its key.

    Tables trust the authority and are not affected; a browser that was told to trust the old certificate asks again.
    The scorer does this by itself when it starts and the certificate ends within 30 days or lacks a name.

    \b
    homologue certs renew my-cup --host 192.0.2.7
    """
    known = Certificates.of_event(folder)
    known.renew(hosts)
    say(
        f"{known.server}: until {known.server_ends.date()}, for {', '.join(known.server_names)}",
        file=known.server,
        names=known.server_names,
        ends=known.server_ends.date(),
    )


@certs.command("revoke", short_help="Revoke the certificates of a table's devices.")
@options.folder_argument
@click.argument("table", type=click.IntRange(1, LAST_TABLE))
@click.option("--device", default="", help="Only the device whose id begins with this, as `certs show` lists it.")
@json_lines
def certs_revoke(folder: Path, table: int, device: str) -> None:
    """Revoke the certificates of a table's devices permanently. They are disconnected at once; nobody else is affected.

    To let a device connect again, pair it again.

    \b
    homologue certs revoke my-cup 5
    """
    for one in Certificates.of_event(folder).revoke(table, device):
        note_command(folder, accounts.DEVICE_REVOKED, str(one.table), one.device)
        say(f"table {one.table}: device {one.device} is revoked", table=one.table, device=one.device, revoked=True)
