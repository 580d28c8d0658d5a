"""`homologue deal wall`: a deal as riichi plays it, for who may know its faces."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click
import msgspec

from broker.contract.words import SEATS
from broker.organiser.deals import options
from broker.organiser.deals.revealed import chosen
from broker.rules.deal import Deal
from broker.rules.riichi.wall import CommonWall, common_wall, wall_of

A_LINE: Final = 21
"""Tiles of one tray's wall."""


@click.command(short_help="A deal's common wall as riichi plays it: faces, secret.")
@options.folder
@options.deals
@click.option("--json", "as_lines", is_flag=True, help="One JSON line a deal.")
def wall(folder: Path, numbers: tuple[int, ...], *, as_lines: bool) -> None:
    """Tell hands, live wall, replacement tiles and indicators of deals that are played under riichi rules.

    It shows faces: whoever sees it knows the deal, so an arbiter looks only at what has been played.

    \b
    homologue deal wall my-cup --deal 3
    """  # noqa: D301 - click reads the \b
    for record in chosen(folder, numbers):
        deal = record.deal()
        found = common_wall(deal)
        if as_lines:
            click.echo(msgspec.json.encode({"deal": deal.number, "dealer": deal.dealer, **asdict(found)}).decode())
        else:
            click.echo("\n".join(_lines(deal, found)))


def _lines(deal: Deal, found: CommonWall) -> Iterator[str]:
    yield f"deal {deal.number}, prevalent wind {deal.prevalent_wind}, dealer {deal.dealer}"
    for seat in SEATS:
        yield _line(f"hand {seat}", found.hands[seat])
    for at, seat in enumerate(wall_of(deal.dealer)):
        tiles = found.live[at * A_LINE : (at + 1) * A_LINE]
        yield _line(f"{at * A_LINE + 1}-{at * A_LINE + len(tiles)} {seat}", tiles)
    yield _line("replacements", found.replacements)
    yield _line("indicators", found.indicators)
    yield _line("under them", found.under)


def _line(name: str, tiles: tuple[str, ...]) -> str:
    return f"  {name:<13}  {' '.join(tiles)}"
