"""`homologue table`: what is done with a table's device besides running it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from broker.contract.pairing import read_typed
from kiosk import pin as pins
from kiosk.config import Settings
from kiosk.errors import BadConfiguration, KioskError
from kiosk.journal import Whose
from kiosk.own import own_settings
from kiosk.pairing import exchange
from kiosk.pairing.keep import keep
from kiosk.replacing import NAME, found_on, take_over

CONFIG = click.argument("config", type=click.Path(dir_okay=False, path_type=Path))


@click.group(short_help="Look after a table's device: pairing, the arbiters' PIN, replacing a dead one.")
def table() -> None:
    """Look after a table's device. CONFIG is the table's TOML file (see docs/installer.md)."""
    os.umask(0o077)


@table.command()
@CONFIG
@click.password_option("--pin", prompt="PIN", help="4 to 12 digits; asked for where it is not given.")
def pin(config: Path, pin: str) -> None:
    """Set the PIN by which arbiters are let in at this table. Only its hash is kept."""
    with _told():
        settings = Settings(config)
        pins.write(settings.beside(settings.config.arbiter_pin_file), pin)
    click.echo("The PIN is set. A kiosk that runs reads it when it starts again.")


@table.command("import")
@CONFIG
@click.argument("card", type=click.Path(path_type=Path))
def import_(config: Path, card: Path) -> None:
    """Take a dead device's journal into this one, from its CARD or a stick. The kiosk must not run meanwhile.

    CARD is the folder where the card or stick is to be seen, which is looked through for this table's journal, or the
    journal itself (table.sqlite). Nothing on it is changed.

    A device that has done nothing yet goes on where the dead one stood. One that has begun gets what the dead one had
    still to send.
    """
    with _told():
        settings = Settings(config)
        whose = Whose(settings.config.event, settings.config.table)
        journal = found_on(card, whose) if card.is_dir() else card
        taken = take_over(journal, settings.folder / NAME, whose)
    where = "This device goes on where the dead one stood" if taken.whole else "This device had begun already"
    click.echo(f"{where}; {taken.facts} facts will be sent.")


@table.command("pair")
@CONFIG
@click.argument("desk")
@click.option(
    "--code", prompt=True, hide_input=True, help="The eight digits that the desk shows; asked for if left out."
)
def pair(config: Path, desk: str, code: str) -> None:
    """Pair this device with an event, as the kiosk's own screen does.

    DESK is the desk's name or address, with a port where it is not 8136; CONFIG is one with the setting `paired`.
    """
    with _told():
        offer = read_typed(desk, code)
        if offer is None:
            raise BadConfiguration("DESK is a name or an address, and a code has eight digits")
        pairing = exchange.pair(offer)
        keep(own_settings(config).paired, pairing)
    click.echo(f"Paired with {pairing.event}, table {pairing.table}. A kiosk that runs takes it when it starts again.")


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except KioskError as error:
        click.echo(f"homologue table: {error.code}: {error}", err=True)
        sys.exit(1)
