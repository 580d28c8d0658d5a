"""One play to be, and how plays make up a player's stay at a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from broker.contract.words import SEATS, Seat


class Play(Protocol):
    """A planned play, whoever wrote it: a round, a table, a deal, and players (numbers or ids) by seat.

    Several deals of one table in one round are played in the order in which they are listed.
    """

    @property
    def round(self) -> int:
        """From 1."""

    @property
    def table(self) -> int:
        """From 1."""

    @property
    def deal(self) -> int:
        """From 1."""

    @property
    def players(self) -> Mapping[Seat, int | str]:
        """By seat."""


@dataclass(frozen=True, slots=True)
class Booking:
    """One play to be: a round, a table, a deal, and the players by seat (numbers from 1)."""

    round: int
    table: int
    deal: int
    players: Mapping[Seat, int]


@dataclass(frozen=True, slots=True)
class Sitting:
    """A table's round without its players: its deals, in the order of play."""

    round: int
    table: int
    deals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NamedPlay:
    """One play to be, its players by whatever they are called."""

    round: int
    table: int
    deal: int
    players: Mapping[Seat, int | str]


def moments(plays: Sequence[Play]) -> list[tuple[int, int]]:
    """Give for each play when it is: its round, and the how-manieth play (from 0) of its table in that round.

    Tables that keep time are in the same moment at the same time; that is where a carrier can be missing.
    """
    count: dict[tuple[int, int], int] = {}
    found: list[tuple[int, int]] = []
    for play in plays:
        at = count.get((play.round, play.table), 0)
        count[play.round, play.table] = at + 1
        found.append((play.round, at))
    return found


def sittings(plays: Iterable[Play]) -> dict[Sitting, Mapping[Seat, int | str]]:
    """Give the sittings, by round and table, each with the players of its first play."""
    grouped: dict[tuple[int, int], list[Play]] = {}
    for play in plays:
        grouped.setdefault((play.round, play.table), []).append(play)
    return {
        Sitting(round_, table, tuple(play.deal for play in group)): group[0].players
        for (round_, table), group in sorted(grouped.items())
    }


def bookings(seated: Iterable[tuple[Sitting, Sequence[int]]]) -> tuple[Booking, ...]:
    """Write sittings out, a play a deal, the four players in the order of the seats."""
    return tuple(
        Booking(sitting.round, sitting.table, deal, dict(zip(SEATS, four, strict=True)))
        for sitting, four in seated
        for deal in sitting.deals
    )


def named(plays: Iterable[Booking], names: Sequence[int | str]) -> tuple[NamedPlay, ...]:
    """Call player 1 by the first name, and so on."""
    return tuple(
        NamedPlay(play.round, play.table, play.deal, {seat: names[who - 1] for seat, who in play.players.items()})
        for play in plays
    )
