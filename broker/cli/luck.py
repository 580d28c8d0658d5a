"""`homologue event luck` and `event rating`: luck and strength in the results of an event or a season."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from broker.cli import options
from broker.cli.players import player_named
from broker.console import EXISTING, FILE, amount, json_object, language_option, say, working
from broker.export.document import read_document, restore_event
from broker.files import write_export
from broker.i18n import N_, name_key
from broker.rules import RuleError
from broker.scorer import Snapshot, open_part, open_stored_event
from broker.scoring import GOALS, EventStrength, Interval, Ledger, event_strength, joint_strength
from broker.web.i18n import translators
from broker.web.results.luck import RatedPlayer, rating_page


@click.command("luck", short_help="Show how much of an event's standings is strength, and how much luck.")
@options.folder_argument
@click.option("--than", metavar="PLAYER", help="Compare everybody with this player [default: with the next].")
@json_object
def event_luck(folder: Path, *, than: str | None) -> None:
    """Show how much of an event's results is strength, and how much luck. No ranking uses this.

    Only deals that all tables have played are included. Each figure has a 90 % interval. stronger: the probability that
    a player is stronger than the next in the standings, or than PLAYER.

    \b
    homologue event luck my-event
    homologue event luck my-event --than p07 --json
    """
    snapshot = open_part(open_stored_event(folder).state.snapshot())
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
    answer = _luck_answer(snapshot, found, other)
    say("\n".join(_luck_lines(answer)), **answer)


def _luck_answer(snapshot: Snapshot, found: EventStrength, than: str | None) -> dict[str, Any]:
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


def _luck_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"{amount(answer['plays'], 'play')} of {amount(answer['deals'], 'deal')}, {answer['plays_each']:.1f} each"
    yield f"Strength in the standings: {_percent(answer['reliability'])}"
    for goal, plays in answer["plays_for"].items():
        counts = Interval(**{name: None if count is None else round(count) for name, count in plays.items()})
        yield f"Plays each for {goal} %: {_count(counts.estimate)} ({_count(counts.low)} to {_count(counts.high)})"
    yield "Where the points of a play come from:"
    for part, share in answer["shares"].items():
        yield f"  {part:9}  {_percent(share)}"
    yield " place     IMP  strength, IMPs per play  stronger"
    for one in answer["players"]:
        strength, stronger = Interval(**one["strength"]), one["stronger"]
        ahead = "-" if stronger is None else f"{100 * stronger:.0f} %"
        interval = f"{strength.estimate:+.1f} ({strength.low:+.1f} to {strength.high:+.1f})"
        yield f"{one['place']:6} {one['imp']:>7}  {interval:>23}  {ahead:>8}  {one['name']}"


def _percent(share: Mapping[str, float]) -> str:
    return f"{100 * share['estimate']:.0f} % ({100 * share['low']:.0f} to {100 * share['high']:.0f} %)"


def _count(plays: float | None) -> str:
    return "more than anybody can play" if plays is None else str(plays)


class RatedEvent(NamedTuple):
    """An event in a rating. `names` has, by id, the keys by which its players are recognised across events."""

    name: str
    title: str
    ledger: Ledger
    names: Mapping[str, str]
    written: Mapping[str, str]
    """Names as the event writes them, by these keys."""


@click.command("rating", short_help="Rate players over several events, with the uncertainty that luck leaves.")
@click.argument("events", metavar="EVENT...", type=EXISTING, nargs=-1, required=True)
@click.option("--page", type=FILE, help="Write an HTML page instead.")
@language_option("the page")
@options.force_option
@json_object
def event_rating(events: tuple[Path, ...], *, page: Path | None, language: str, force: bool) -> None:
    """Rate players over several events: folders, or documents written by `homologue export json --whole`.

    Players are compared only with those who held the same tiles. Each strength, in IMPs per play against average
    opponents, has a 90 % interval. stronger: the probability that a player is stronger than the next in the list.
    Players are identified by name, ignoring case. No standings use this.

    \b
    homologue event rating autumn winter spring
    homologue event rating season/*.json --page rating.html --language fr
    """
    with working("Reading events"):
        rated = [_rated(path) for path in events]
    _refuse_unlike(rated)
    found = joint_strength([(one.ledger, one.names.__getitem__) for one in rated])
    if found is None:
        raise RuleError("too_few_plays", N_("too few deals have been played at all tables to rate anybody"))
    rows, names = _rated_players(rated, found), [one.name for one in rated]
    if page is not None:
        titles = [one.title for one in rated]
        write_export(rating_page(translators()[language], titles, found, rows), page, source=None, force=force)
    else:
        say("\n".join(_rating_lines(len(names), found, rows)), **_rating_answer(names, found, rows))


def _rated(path: Path) -> RatedEvent:
    """Read an event. Raises RuleError `not_whole`, `same_name` or about its files; ScorerError, StoreError."""
    with _folder(path) as folder:
        snapshot = open_part(open_stored_event(folder).state.snapshot())
    event = snapshot.event
    written = {player: event.name_of(player) for player in snapshot.ledger.entries.names}
    names = {player: name_key(name) for player, name in written.items()}
    for name, times in Counter(names.values()).items():
        if times > 1:
            text = N_("{event}: {count} players are called {name}", event=event.name, count=times, name=name)
            raise RuleError("same_name", text)
    return RatedEvent(
        event.name, event.plan.title, snapshot.ledger, names, {names[player]: written[player] for player in names}
    )


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """Return an event's folder; for a document, a temporary one is made."""
    if path.is_dir():
        yield path
        return
    with TemporaryDirectory() as made:
        restore_event(read_document(path), Path(made))
        yield Path(made)


def _refuse_unlike(rated: Sequence[RatedEvent]) -> None:
    """Raise RuleError if events cannot be rated together: `event_twice`, `not_linked`, `other_imps`."""
    first, *others = rated
    for name, times in Counter(one.name for one in rated).items():
        if times > 1:
            raise RuleError("event_twice", N_("{event} is listed {count} times", event=name, count=times))
    linked, left = set(first.written), others
    while near := [one for one in left if not linked.isdisjoint(one.written)]:
        linked.update(*(one.written for one in near))
        left = [one for one in left if one not in near]
    if left:
        raise RuleError("not_linked", N_("{event}: none of its players has played in the others", event=left[0].name))
    for one in others:
        if one.ledger.profile.imp != first.ledger.profile.imp:
            text = N_("{event} has another IMP scale than {other}", event=one.name, other=first.name)
            raise RuleError("other_imps", text)


def _rated_players(rated: Sequence[RatedEvent], found: EventStrength) -> list[RatedPlayer]:
    """Return all players, the strongest first."""
    written: dict[str, str] = {}
    for one in rated:
        written.update(one.written)
    names = sorted(found.names, key=lambda name: (-(found.strengths[name].estimate or 0.0), name))
    return [
        RatedPlayer(written[name], found.played[found.number[name]], found.strengths[name], stronger)
        for name, stronger in zip(names, found.ahead(names), strict=True)
    ]


def _rating_answer(events: Sequence[str], found: EventStrength, rows: Iterable[RatedPlayer]) -> dict[str, Any]:
    return {
        "events": events,
        "plays": found.plays,
        "deals": found.deals,
        "reliability": found.reliability._asdict(),
        "players": [{**row._asdict(), "strength": row.strength._asdict()} for row in rows],
    }


def _rating_lines(events: int, found: EventStrength, rows: Iterable[RatedPlayer]) -> Iterator[str]:
    yield f"{amount(events, 'event')}, {amount(found.plays, 'play')} of {amount(found.deals, 'deal')}"
    share, low, high = (f"{100 * (part or 0):.0f}" for part in found.reliability)
    yield f"Strength in these results: {share} % ({low} to {high} %)"
    yield "  plays  strength, IMPs per play  stronger"
    for row in rows:
        ahead = "-" if row.stronger is None else f"{100 * row.stronger:.0f} %"
        interval = f"{row.strength.estimate:+.2f} ({row.strength.low:+.2f} to {row.strength.high:+.2f})"
        yield f"{row.plays:7}  {interval:>23}  {ahead:>8}  {row.name}"
