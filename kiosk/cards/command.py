"""`homologue cards`: one page each for staff, players, and players of riichi, to be printed and laminated."""

import sys
from pathlib import Path

import click

from kiosk.errors import KioskError
from kiosk.screens.texts import translator


@click.command(short_help="Print a card each for table staff and players, one page to laminate.")
@click.option(
    "--language", default="en", show_default=True, help="en, fr, zh, or another language that has a catalogue."
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Folder for the PDF files [default: current folder].",
)
def cards(language: str, output: Path) -> None:
    """Write staff-LANGUAGE.pdf, players-LANGUAGE.pdf and, for riichi tables, riichi-LANGUAGE.pdf, one A4 page each."""
    from kiosk.cards.page import CARDS, card_page  # noqa: PLC0415 - pygame and reportlab: not for --help

    try:
        _ = translator(language)
        output.mkdir(parents=True, exist_ok=True)
        for card in CARDS:
            path = output / f"{card.name}-{language}.pdf"
            path.write_bytes(card_page(card, _))
            click.echo(str(path))
    except KioskError as error:
        click.echo(f"homologue cards: {error.code}: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        raise click.FileError(str(error.filename or output), error.strerror) from None
