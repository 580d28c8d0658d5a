"""`homologue event sheets`: blank result sheets to print."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from broker.organiser.deals import options
from broker.organiser.paper.blank import LANGUAGES, Blank, Language, blanks, pdf
from broker.rules.errors import RuleError
from broker.scorer.event import open_event
from broker.scorer.folder import read_deals
from broker.scorer.output import deliver
from broker.scorer.stored import open_stored
from broker.store.address import started

MOST: Final = 2000
"""Sheets in one file: 1,000 pages."""


@click.command(short_help="Print blank result sheets: one a play, for when a table's device is out.")
@options.folder
@click.option("--output", type=options.FILE, help="PDF file [default: standard output].")
@click.option("--table", "tables", type=click.IntRange(1), multiple=True, help="Only this table; may be given again.")
@click.option("--round", "rounds", type=click.IntRange(1), multiple=True, help="Only this round; may be given again.")
@click.option("--language", type=click.Choice(LANGUAGES), default="en", show_default=True)
@click.option("--force", is_flag=True, help="Overwrite the file if it is there.")
def sheets(
    folder: Path,
    output: Path | None,
    tables: tuple[int, ...],
    rounds: tuple[int, ...],
    language: Language,
    *,
    force: bool,
) -> None:
    """Blank sheets with table, round, deal, seats and names, and a field for each signature; two on a page of A4.

    \b
    homologue event sheets my-cup --output sheets.pdf
    homologue event sheets my-cup --table 7 --language fr --output table-7.pdf
    """  # noqa: D301 - click reads the \b
    stored = open_stored(folder) if started(folder) else None
    event = stored.event if stored else open_event(folder)
    deals = {deal.number: deal for deal in read_deals(folder)}
    known = stored.room.moment().stand_ins if stored else ()
    made = blanks(event, deals, tables=tables, rounds=rounds, stand_ins=known)
    deliver(pdf(chosen(made), language), output, source=folder, force=force)


def chosen(made: Sequence[Blank]) -> Sequence[Blank]:
    """Give the sheets unless there are none, or too many for one file. Raises RuleError `no_plays`, `too_large`."""
    if not made:
        raise RuleError("no_plays", "no play of the plan is at these tables in these rounds")
    if len(made) > MOST:
        raise RuleError("too_large", f"{len(made)} sheets, at most {MOST} in one file: choose tables or rounds")
    return made
