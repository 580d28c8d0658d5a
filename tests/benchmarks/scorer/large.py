"""A large event and what its tables say: in each round every table plays another deal; players stay where they are."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from random import Random

from msgspec.structs import replace

from broker.event import BookedPlay, DealRecord, Event, ListedDevice, Plan, Registry, write_devices
from broker.protocol import (
    SEATS,
    Call,
    Confirmed,
    Declared,
    Fact,
    LogMessage,
    Player,
    Press,
    Restored,
    Result,
    Seated,
    encode,
)
from broker.protocol.signing import SigningKey, fact_hash
from broker.rules import FULL_SET, Outcome, load_mcr, new_deal, seat_points

NAME = "bench"

OUTCOMES = (Outcome("discard", {"east": 18}, "north"), Outcome("self_drawn", {"south": 10}), Outcome("draw", {}))


CALLS_A_ROUND = 100
"""As many as a table may well tell (broker/scorer/quotas.py)."""

KEY = SigningKey.from_bytes(b"a key of tables in benchmarks 32")
"""All tables' here."""


class Chains:
    """Signs what tables say, each fact after its table's fact before it."""

    def __init__(self) -> None:
        self._last: dict[int, str] = {}

    def signed(self, message: LogMessage) -> LogMessage:
        """Return a message as its table sends it."""
        before = self._last.get(message.table)
        made = KEY.sign(replace(message, device=KEY.device, before=before, signature=None))
        self._last[message.table] = fact_hash(encode(made))
        return made


def list_devices(folder: Path, event: Event) -> None:
    """Let all tables speak."""
    write_devices(folder, (ListedDevice(table, KEY.public) for table in event.tables))


def large_folder(tables: int, rounds: int) -> tuple[Plan, list[DealRecord], Registry]:
    """Return what an event's folder holds: tables x rounds plays, with as many deals as tables."""
    plays = tuple(
        BookedPlay(round_, table, (table + round_) % tables + 1, {seat: f"p{table}-{seat}" for seat in SEATS})
        for round_ in range(1, rounds + 1)
        for table in range(1, tables + 1)
    )
    players = tuple(Player(id=player, name=player) for play in plays[:tables] for player in play.players.values())
    made = new_deal(1, "east", "east", Random(1))
    deals = [DealRecord(number, 1, "east", "east", dict(made.faces)) for number in range(1, tables + 1)]
    registry = {1: dict(enumerate(Random(1).sample(FULL_SET, 136), 1))}
    return Plan(NAME, "Benchmark", "oedmc-2020", players, plays), deals, registry


def large_event(tables: int, rounds: int) -> Event:
    """Return the same, checked. Raises BadEvent."""
    return Event(*large_folder(tables, rounds))


def plays(event: Event, *, whole: bool = True) -> Iterator[LogMessage]:
    """Return what tables say of all plays, round by round; not `whole`: only of the walls and the result."""
    payments = load_mcr("oedmc-2020").payments
    outcomes = [(outcome, seat_points(outcome, payments)) for outcome in OUTCOMES]
    for number, play in enumerate(event.plan.plays):
        outcome, scored = outcomes[number % len(outcomes)]
        restored = Restored(round=play.round, deal=play.deal, verified=True, form=event.form(play.deal), refusals=0)
        result = Result(
            round=play.round,
            deal=play.deal,
            profile="oedmc-2020",
            players=dict(play.players),
            win=outcome.win,
            winners=dict(outcome.winners),
            discarder=outcome.discarder,
            points=scored,
            fines={},
        )
        begun: list[Fact] = [restored]
        if whole:
            begun.append(Seated(round=play.round, deal=play.deal, players=dict(play.players)))
            begun.append(Confirmed(round=play.round, deal=play.deal))
            presses = tuple(Press(seat=seat, after_ms=0) for seat in outcome.winners)
            none = Call(round=play.round, deal=play.deal, open=False)
            begun.append(Declared(round=play.round, deal=play.deal, presses=presses) if presses else none)
        before = (play.round - 1) * (len(begun) + 1)
        for seq, fact in enumerate((*begun, result), before + 1):
            yield _said(play.table, seq, fact)


def calls(event: Event, table: int, count: int) -> Iterator[LogMessage]:
    """Return facts of one table that are about nothing but being stored."""
    for seq in range(1, count + 1):
        round_ = (seq - 1) // CALLS_A_ROUND + 1
        yield _said(table, seq, Call(round=round_, deal=event.bookings[table, round_].deal, open=seq % 2 == 1))


def _said(table: int, seq: int, fact: Fact) -> LogMessage:
    return LogMessage(id=uuid.uuid4().hex, event=NAME, table=table, seq=seq, at=1000, fact=fact)
