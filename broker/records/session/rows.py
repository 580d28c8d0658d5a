"""What stands on the sheet of a session, row by row; how it is drawn is for others."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

from broker.rules.riichi.session.events import (
    Abort,
    Chombo,
    DeadHand,
    Event,
    ExhaustiveDraw,
    Hand,
    MinorFault,
    Ron,
    Tsumo,
)
from broker.rules.riichi.session.record import Entry
from broker.rules.riichi.session.state import State

Language = Literal["en", "fr", "zh"]

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

Words = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the sheet: the hand, its counters, what happened, and for each player what changed and the score."""

    hand: str
    counters: int
    what: str
    deltas: tuple[int, ...]
    scores: tuple[int, ...]
    table: int
    """Deposits on the table afterwards."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that a sheet says. `places` is empty while the session goes on, and then `next_hand` says with what."""

    title: str
    players: tuple[str, ...]
    start: tuple[int, ...]
    rows: tuple[Row, ...]
    places: tuple[int, ...]
    next_hand: str
    words: Words


@cache
def words_of(language: Language) -> Words:
    """Read `words.toml`."""
    tables = tomllib.loads((files("broker.records.session") / "words.toml").read_text(encoding="utf-8"))
    words: Words = tables[language]
    return words


def sheet(title: str, start: State, entries: Sequence[Entry], players: Sequence[str], language: Language) -> Sheet:
    """Put a session's events into rows."""
    words = words_of(language)
    last = entries[-1].settled if entries else None
    state = start if last is None else last.state
    ahead = "" if state.over else _hand(state, words)
    rows = tuple(_row(entry, players, words) for entry in entries)
    places = () if last is None or last.places is None else last.places
    return Sheet(title, tuple(players), start.scores, rows, places, ahead, words)


def _row(entry: Entry, players: Sequence[str], words: Words) -> Row:
    before, settled = entry.before, entry.settled
    what = ", ".join((*_told(entry.event, players, words), *_riichi(entry.event, players, words)))
    return Row(
        _hand(before, words), before.counters, what, settled.deltas, settled.state.scores, settled.state.deposits
    )


def _hand(state: State, words: Words) -> str:
    return words["hand_name"].format(wind=words[f"wind_{state.round_wind}"], number=state.dealer + 1)


def _named(those: Iterable[int], players: Sequence[str]) -> str:
    return " + ".join(players[one] for one in those)


def _riichi(event: Event, players: Sequence[str], words: Words) -> Iterator[str]:
    if isinstance(event, Hand) and event.riichi:
        yield f"{words['riichi']}: {_named(event.riichi, players)}"


def _told(event: Event, players: Sequence[str], words: Words) -> Iterator[str]:
    match event:
        case Ron(loser=loser, wins=wins):
            yield f"{words['ron']} {_named((win.winner for win in wins), players)} {words['from']} {players[loser]}"
        case Tsumo(win=win):
            yield f"{words['tsumo']} {players[win.winner]}"
        case ExhaustiveDraw(tenpai=tenpai, nagashi=nagashi):
            yield f"{words['draw']}, {words['tenpai']}: {_named(tenpai, players) or words['nobody']}"
            if nagashi:
                yield f"{words['nagashi']}: {_named(nagashi, players)}"
        case Abort(reason=reason):
            yield f"{words['abort']} ({words.get(reason, reason)})"
        case Chombo(offenders=offenders) | MinorFault(offenders=offenders) | DeadHand(offenders=offenders):
            yield f"{words[FAULTS[type(event)]]}: {_named(offenders, players)}"
        case _:
            yield words["session_end"]


FAULTS: Final[Mapping[type, str]] = {Chombo: "chombo", MinorFault: "minor_fault", DeadHand: "dead_hand"}
