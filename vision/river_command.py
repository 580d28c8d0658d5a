"""The command `homologue record laid`: pictures of what lies on the table at the end of a play, as one JSON object."""

import json
from pathlib import Path
from typing import Any, Final

import click

from broker.console import ANY, EXISTING_FILE, progress
from vision.enrolled.file import read_complete
from vision.picture import load_picture
from vision.reader import read_picture
from vision.rivers import read_hand, read_river

SEAT_NAMES: Final = ("east", "south", "west", "north")

PICTURE: Final = (click.Choice(SEAT_NAMES), ANY)


@click.command("laid", short_help="Read rivers, melds and hands from pictures.")
@click.option("--river", "rivers", type=PICTURE, multiple=True, metavar="SEAT PICTURE", help="The seat's river.")
@click.option(
    "--hand", "hands", type=PICTURE, multiple=True, metavar="SEAT PICTURE", help="The seat's hand, then its melds."
)
@click.option(
    "--gaps/--no-gaps", default=True, show_default=True, help="Whether claimed tiles have left gaps in the rivers."
)
@click.option(
    "--set",
    "enrolled_file",
    type=EXISTING_FILE,
    help="File of the set's own pictures (`homologue set enrol`): each serial is checked against that tile's picture.",
)
def laid(
    rivers: tuple[tuple[str, Path], ...],
    hands: tuple[tuple[str, Path], ...],
    enrolled_file: Path | None,
    *,
    gaps: bool,
) -> None:
    """Read pictures of rivers and of hands with their melds, all tiles face down, for `homologue record rivers`.

    A river lies in its rows of six, turned over tile by tile where it lay. In the picture of a hand the concealed tiles
    lie first, then each meld apart, last a winning tile. Where the last row is full, either end may be the first. See
    docs/play.md.

    \b
    homologue record laid --river east east.jpg --river south south.jpg --hand east east-hand.jpg >laid.json
    """
    enrolled = read_complete(enrolled_file) if enrolled_file else None
    seats: dict[str, dict[str, Any]] = {}
    found: dict[str, Any] = {"seats": seats}
    for seat, picture in progress(rivers, "Reading rivers"):
        seen = load_picture(picture)
        river = read_river(seen, read_picture(seen, close=False, enrolled=enrolled).reads)
        seats.setdefault(seat, {}).update(river=river.serials, gaps=gaps and river.gaps, either_end=river.either_end)
    for seat, picture in progress(hands, "Reading hands"):
        seen = load_picture(picture)
        hand = read_hand(seen, read_picture(seen, close=False, enrolled=enrolled).reads)
        seats.setdefault(seat, {}).update(hand=hand.hand, melds=hand.melds)
        if hand.winning is not None:
            found["winning"] = hand.winning
    click.echo(json.dumps(found))
