"""`homologue rules what-if`: recalculates an event under other rules, and shows who would move. It writes nothing."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from broker.cli.rules_input import FILE, load_either_profile
from broker.console import EXISTING_FOLDER, json_object, say
from broker.rules import RiichiProfile, RuleError, Rules, load_of_same_book
from broker.rulings.preview import CHOICES, StandingChange, WhatIf, changed_rules, what_if
from broker.scorer import StoredEvent, open_stored_event

COLUMNS: Final = "{:>6} {:>6} {:>9} {:>9} {:>9}  {}"
NOTHING: Final = "-"


def _choice(name: str, about: str) -> click.Option:
    option = f"--{name.replace('_', '-')}"
    return click.Option([option, name], type=click.Choice(CHOICES[name]), help=f"{about} [default: the profile's].")


@click.command(
    "what-if",
    short_help="Recalculate an event under other rules.",
    params=[
        click.Argument(["folder"], metavar="EVENT_FOLDER", type=EXISTING_FOLDER),
        click.Option(["--profile"], help="Rule profile, by id or as a .toml file [default: the event's]."),
        _choice("method", "Compare with the datum or with every other play"),
        _choice("own_score", "Whether a player's own score is part of the datum"),
        _choice("gap", "Where a step of the IMP scale begins between two integers"),
        _choice("rounding", "Rounding of the datum"),
    ],
)
@json_object
def what_if_command(folder: Path, profile: str | None, **choices: str | None) -> None:
    """Recalculate an event under other rules, and show who would change place, as the desk's page *What if* does.

    The event is only read, and its scorer may be running. If the profile allows fewer winners at once, the nearest in
    turn order win; a win below the profile's minimum becomes a draw.

    \b
    homologue rules what-if my-event --profile mcr
    homologue rules what-if my-event --method cross --own-score excluded --json
    """
    stored = open_stored_event(folder)
    base = _profile_to_try(stored.event.profile, profile) if profile else stored.event.profile
    changes = {name: value for name, value in choices.items() if value is not None}
    if not stored.state.over:
        plays = f"{stored.state.plays_in} of {len(stored.event.plan.plays)}"
        click.echo(f"provisional: {plays} plays have their result", err=True)
    found = what_if(stored.state.fork(), changed_rules(base, changes))
    names = {player.id: player.name for player in stored.event.players.values()}
    say("\n".join(_as_text(stored, found, changes, names)), **_answer(stored, found, changes, names))


def _profile_to_try(now: Rules, written: str) -> Rules:
    """Return a profile. Raises RuleError if it is of another rule book, by which these plays cannot be counted."""
    if written == now.id:
        return now
    if written.endswith(FILE):
        other = load_either_profile(written)
        if isinstance(other, RiichiProfile) is not isinstance(now, RiichiProfile):
            raise RuleError("other_rule_book", f"{other.id} is of another rule book than {now.id}")
        return other
    return load_of_same_book(now, written)


def _answer(stored: StoredEvent, found: WhatIf, changes: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    players = [{"player": one.name, **msgspec.to_builtins(one), "name": names[one.name]} for one in found.players]
    return {
        "event": stored.event.name,
        "profile": found.profile.id,
        "changed": dict(changes),
        "of": found.player_count,
        "players": players,
        "teams": msgspec.to_builtins(found.teams),
    }


def _as_text(stored: StoredEvent, found: WhatIf, changes: Mapping[str, str], names: Mapping[str, str]) -> Iterator[str]:
    rules = ", ".join([found.profile.id, *(f"{name.replace('_', ' ')} {value}" for name, value in changes.items())])
    yield f"{stored.event.plan.title}: {stored.event.profile.id} now, counted by {rules}"
    yield f"Players who would move: {len(found.players)} of {found.player_count}"
    yield from _table(found.players, names)
    if stored.event.plan.teams:
        yield f"Teams that would move: {len(found.teams)} of {len(stored.event.plan.teams)}"
        yield from _table(found.teams, {})


def _table(moved: Iterable[StandingChange], names: Mapping[str, str]) -> Iterator[str]:
    """Return a table of those who would move, a line each, by their new place."""
    listed = list(moved)
    if listed:
        yield COLUMNS.format("place", "then", "IMP", "then", "by", "")
    for one in listed:
        cells = (one.place_before, one.place_after, one.imp_before, one.imp_after, one.by)
        yield COLUMNS.format(*(NOTHING if value is None else value for value in cells), names.get(one.name, one.name))
