"""`homologue event rating`: how strong players are, by all events of a season together."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from broker.console import EXISTING, json_option, working
from broker.export.document import read_document, restore_event
from broker.i18n import N_
from broker.rules import RuleError
from broker.scorer.snapshot import open_part
from broker.scorer.stored_event import open_stored_event
from broker.scoring import EventStrength, Interval, Ledger, joint_strength


class RatedEvent(NamedTuple):
    """An event of a rating. `names` are its players' by id, as they are told from those of other events."""

    name: str
    ledger: Ledger
    names: Mapping[str, str]
    written: Mapping[str, str]
    """By such a name, as the event writes it."""


@click.command("rating", short_help="Rate players over several events, with what luck leaves open.")
@click.argument("events", metavar="EVENT...", type=EXISTING, nargs=-1, required=True)
@json_option()
def event_rating(events: tuple[Path, ...], *, as_json: bool) -> None:
    """Rate players over several events: folders, or documents written by `homologue export json --whole`.

    Players are compared only with those who held the same tiles. Each strength, in IMPs a play against average
    opponents, has the interval in which the truth lies in 9 of 10 cases. stronger: the probability that a player is
    stronger than the next in the list. A player is known by the name, whatever its case. No standings take it up.

    \b
    homologue event rating autumn winter spring
    homologue event rating season/*.json --json
    """
    with working("Reading events"):
        rated = [_rated(path) for path in events]
    _refuse_unlike(rated)
    found = joint_strength([(one.ledger, one.names.__getitem__) for one in rated])
    if found is None:
        raise RuleError("too_few_plays", N_("too little has been played by all tables to rate anybody"))
    told = _told(rated, found)
    click.echo(json.dumps(told, ensure_ascii=False) if as_json else "\n".join(_as_text(told)))


def _rated(path: Path) -> RatedEvent:
    """Read an event. Raises RuleError `not_whole`, `same_name`, and of its files; ScorerError, StoreError."""
    with _folder(path) as folder:
        snapshot = open_part(open_stored_event(folder).room.snapshot())
    event = snapshot.event
    written = {player: event.name_of(player) for player in snapshot.ledger.entries.names}
    names = {player: " ".join(name.split()).casefold() for player, name in written.items()}
    for name, times in Counter(names.values()).items():
        if times > 1:
            text = N_("{event}: {count} players are called {name}", event=event.name, count=times, name=name)
            raise RuleError("same_name", text)
    return RatedEvent(event.name, snapshot.ledger, names, {names[player]: written[player] for player in names})


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """Return an event's folder; that of a document is made for a moment."""
    if path.is_dir():
        yield path
        return
    with TemporaryDirectory() as made:
        restore_event(read_document(path), Path(made))
        yield Path(made)


def _refuse_unlike(rated: Sequence[RatedEvent]) -> None:
    """Raise RuleError where events cannot be taken together: `event_twice`, `not_linked`, `other_imps`."""
    first, *others = rated
    for name, times in Counter(one.name for one in rated).items():
        if times > 1:
            raise RuleError("event_twice", N_("{event} is named {count} times", event=name, count=times))
    linked, left = set(first.written), others
    while near := [one for one in left if not linked.isdisjoint(one.written)]:
        linked.update(*(one.written for one in near))
        left = [one for one in left if one not in near]
    if left:
        raise RuleError("not_linked", N_("{event}: none of its players has played in the others", event=left[0].name))
    for one in others:
        if one.ledger.profile.imp != first.ledger.profile.imp:
            text = N_("{event}: its IMPs are not those of {other}", event=one.name, other=first.name)
            raise RuleError("other_imps", text)


def _told(rated: Sequence[RatedEvent], found: EventStrength) -> dict[str, Any]:
    written: dict[str, str] = {}
    for one in rated:
        written.update(one.written)
    names = sorted(found.names, key=lambda name: (-(found.strengths[name].estimate or 0.0), name))
    return {
        "events": [one.name for one in rated],
        "plays": found.plays,
        "deals": found.deals,
        "reliability": found.reliability._asdict(),
        "players": [
            {
                "name": written[name],
                "plays": found.played[found.number[name]],
                "strength": found.strengths[name]._asdict(),
                "stronger": stronger,
            }
            for name, stronger in zip(names, found.ahead(names), strict=True)
        ],
    }


def _as_text(told: Mapping[str, Any]) -> Iterator[str]:
    yield f"{len(told['events'])} events, {told['plays']} plays of {told['deals']} deals"
    reliability = {name: f"{100 * part:.0f}" for name, part in told["reliability"].items()}
    yield "Strength in these results: {estimate} % ({low} to {high} %)".format(**reliability)
    yield "  plays  strength, IMPs per play  stronger"
    for one in told["players"]:
        strength = Interval(**one["strength"])
        ahead = "-" if one["stronger"] is None else f"{100 * one['stronger']:.0f} %"
        interval = f"{strength.estimate:+.2f} ({strength.low:+.2f} to {strength.high:+.2f})"
        yield f"{one['plays']:7}  {interval:>23}  {ahead:>8}  {one['name']}"
