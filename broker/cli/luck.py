"""`homologue event luck`: what an event's results tell of luck and strength."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from broker.cli import options
from broker.cli.players import player_named
from broker.console import amount, json_option
from broker.i18n import N_
from broker.rules import RuleError
from broker.scorer import Snapshot, open_part, open_stored_event
from broker.scoring import GOALS, EventStrength, Interval, event_strength


@click.command("luck", short_help="Show how much of an event's standings is strength, and how much luck.")
@options.folder_argument
@click.option("--than", metavar="PLAYER", help="Compare everybody with this player [default: with the next].")
@json_option()
def event_luck(folder: Path, *, than: str | None, as_json: bool) -> None:
    """Show how much of an event's results is strength, and how much luck. No ranking uses this.

    Only deals that all tables have played are included. Each figure has a 90 % interval. stronger: the probability that
    a player is stronger than the next in the standings, or than PLAYER.

    \b
    homologue event luck my-event
    homologue event luck my-event --than p07 --json
    """
    snapshot = open_part(open_stored_event(folder).room.snapshot())
    found = event_strength(snapshot.ledger)
    if found is None:
        text = N_(
            "too few deals have been played at all tables to tell luck from strength, "
            "or there are more than 1,000 players"
        )
        raise RuleError("too_few_plays", text)
    other = player_named(snapshot.event, than) if than else None
    if other is not None and other not in found.number:
        raise RuleError("nobody_of_event", N_("{who} is not in this event", who=other))
    told = _told(snapshot, found, other)
    click.echo(json.dumps(told, ensure_ascii=False) if as_json else "\n".join(_as_text(told)))


def _told(snapshot: Snapshot, found: EventStrength, than: str | None) -> dict[str, Any]:
    lines = [line for line in snapshot.standings if line.player in found.number]
    ahead = found.ahead([line.player for line in lines], than)
    return {
        "event": snapshot.event.name,
        "plays": found.plays,
        "deals": found.deals,
        "plays_each": found.plays_each,
        "reliability": found.reliability._asdict(),
        "plays_for": {str(round(100 * goal)): found.plays_for(goal)._asdict() for goal in GOALS},
        "shares": {part: share._asdict() for part, share in found.shares._asdict().items()},
        "players": [
            {
                "place": line.place,
                "player": line.player,
                "name": line.name,
                "imp": line.imp,
                "strength": found.strengths[line.player]._asdict(),
                "stronger": stronger,
            }
            for line, stronger in zip(lines, ahead, strict=True)
        ],
    }


def _as_text(told: Mapping[str, Any]) -> Iterator[str]:
    yield f"{amount(told['plays'], 'play')} of {amount(told['deals'], 'deal')}, {told['plays_each']:.1f} each"
    yield f"Strength in the standings: {_percent(told['reliability'])}"
    for goal, plays in told["plays_for"].items():
        counts = Interval(**{name: None if count is None else round(count) for name, count in plays.items()})
        yield f"Plays each for {goal} %: {_count(counts.estimate)} ({_count(counts.low)} to {_count(counts.high)})"
    yield "Where the points of a play come from:"
    for part, share in told["shares"].items():
        yield f"  {part:9}  {_percent(share)}"
    yield " place     IMP  strength, IMPs per play  stronger"
    for one in told["players"]:
        strength, stronger = Interval(**one["strength"]), one["stronger"]
        ahead = "-" if stronger is None else f"{100 * stronger:.0f} %"
        interval = f"{strength.estimate:+.1f} ({strength.low:+.1f} to {strength.high:+.1f})"
        yield f"{one['place']:6} {one['imp']:>7}  {interval:>23}  {ahead:>8}  {one['name']}"


def _percent(share: Mapping[str, float]) -> str:
    return f"{100 * share['estimate']:.0f} % ({100 * share['low']:.0f} to {100 * share['high']:.0f} %)"


def _count(plays: float | None) -> str:
    return "more than anybody can play" if plays is None else str(plays)
