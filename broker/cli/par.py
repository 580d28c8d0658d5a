"""`homologue par`: the results that simulated players achieve with an event's deals."""

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click

from broker.cli import options
from broker.cli.people import note_faces_shown
from broker.console import json_object, progress, say
from broker.event import Event, EventPar, open_event, read_par, write_par
from broker.export.revealed_deals import refuse_unplayed, select_deals
from broker.protocol import SEATS
from broker.rules import McrPaymentRules, RiichiProfile, RuleError
from broker.sim.par import PLAYERS, play_par, still_to_play

PLAYS: Final = 1000
MOST_PLAYS: Final = 100_000


@click.command("par", short_help="Let simulated players play the deals of an event, as analysis.")
@options.folder_argument
@options.deals_option
@click.option(
    "--plays", default=PLAYS, show_default=True, type=click.IntRange(2, MOST_PLAYS), help="Plays of each deal."
)
@click.option("--seed", type=int, help="Random seed [default: that of the plays in par.json, or 1].")
@click.option("--jobs", type=click.IntRange(1, 64), help="Number of processes [default: one for each processor].")
@click.option(
    "--early", is_flag=True, help="Include deals that some tables have not played yet; keep the result secret."
)
@json_object
def event_par(
    folder: Path,
    numbers: tuple[int, ...],
    *,
    plays: int,
    seed: int | None,
    jobs: int | None,
    early: bool,
) -> None:
    """Let simulated players play each deal many times, and show what each seat was worth to them.

    Shows the expected points with a 90 % interval, and the range in which 8 of 10 plays ended. This is analysis and
    changes no result. Once the standings are final, the desk shows it on the page of each deal.

    Plays are kept in par.json, which is as secret as deals.json. The command may be stopped at any time and continues
    from there. The same seed gives the same counts.

    \b
    homologue par my-event
    homologue par my-event --deal 3 --plays 5000
    """
    event = open_event(folder)
    payments = _payments(event)
    chosen = sorted(
        {record.number for record in select_deals(folder, numbers)} & (set(numbers) or event.expected.keys())
    )
    if not early:
        refuse_unplayed(folder, chosen)
    known = read_par(folder)
    if known is None or seed not in (None, known.seed):
        known = EventPar(1, event.name, 1 if seed is None else seed, PLAYERS, {})
    if early:
        note_faces_shown(folder, "par")
    par, stretches = still_to_play(known, [event.open_deal(deal) for deal in chosen], payments, plays)
    for counted in progress(play_par(par, stretches, jobs or os.cpu_count() or 1), "Playing deals", len(stretches)):
        par = counted
        write_par(folder, par)
    answer = _answer(par, chosen)
    say("\n".join(_as_text(answer)), **answer)


def _payments(event: Event) -> McrPaymentRules:
    """Return the event's rules of payment. Raises RuleError `no_riichi_record`, `no_compared_plays`."""
    if not event.plan.plays:
        raise RuleError("no_compared_plays", "this event has only riichi sessions, and so no par")
    if isinstance(event.profile, RiichiProfile):
        raise RuleError("no_riichi_record", "this event is played under riichi rules, and so has no par")
    return event.profile.payments


def _answer(par: EventPar, deals: Collection[int]) -> dict[str, Any]:
    return {
        "event": par.event,
        "seed": par.seed,
        "deals": [
            {
                "deal": deal,
                "plays": par.deals[deal].plays,
                "seats": {seat: found._asdict() for seat, found in par.deals[deal].seats().items()},
            }
            for deal in deals
        ],
    }


def _as_text(answer: dict[str, Any]) -> Iterator[str]:
    deals: Sequence[dict[str, Any]] = answer["deals"]
    yield " deal  plays  seat   points   9 of 10 cases  8 of 10 plays  spread"
    for one in deals:
        for seat in SEATS:
            found = one["seats"][seat]
            sure, usual = f"{found['low']:+.1f} to {found['high']:+.1f}", f"{found['least']:+d} to {found['most']:+d}"
            head = f"{one['deal']:5} {one['plays']:6}" if seat == SEATS[0] else " " * 12
            yield f"{head}  {seat:5}  {found['mean']:+6.1f}  {sure:>14}  {usual:>13}  {found['spread']:6.1f}"
