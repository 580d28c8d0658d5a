"""`homologue event cards`: one page each for staff, players, and players of riichi, to print and laminate."""

from pathlib import Path

import click

from broker.console import FOLDER, json_lines, progress, say
from kiosk.screens.texts import translator


@click.command(short_help="Print cards for table staff and players, one page each.")
@click.option(
    "--language", default="en", show_default=True, help="en, fr, zh, or another language that has a catalogue."
)
@click.option(
    "--output",
    type=FOLDER,
    default=Path(),
    help="Folder for the PDF files [default: current folder].",
)
@json_lines
def cards(language: str, output: Path) -> None:
    """Write staff-LANGUAGE.pdf, players-LANGUAGE.pdf and, for riichi tables, riichi-LANGUAGE.pdf, one A4 page each."""
    from kiosk.cards.page import CARDS, card_page  # noqa: PLC0415 - pygame and reportlab: not for --help

    _ = translator(language)
    output.mkdir(parents=True, exist_ok=True)
    for card in progress(CARDS, "Cards"):
        path = output / f"{card.name}-{language}.pdf"
        path.write_bytes(card_page(card, _))
        say(str(path), card=card.name, file=path)
