"""A large event and its tables' messages: in each round every table plays another deal, with the same players."""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from random import Random

from msgspec.structs import replace

from broker.event import BookedPlay, DealRecord, Event, ListedDevice, Plan, Registry, write_devices
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import TLS_FOLDER, Certificates, device_user
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
    Seat,
    Seated,
    SigningKey,
    encode,
    fact_hash,
)
from broker.protocol.link import Address
from broker.protocol.tls import Identity
from broker.rules import FULL_SET, Outcome, load_mcr, new_deal, seat_points

NAME = "bench"

OUTCOMES = (Outcome("discard", {"east": 18}, "north"), Outcome("self_drawn", {"south": 10}), Outcome("draw", {}))


CALLS_A_ROUND = 100
"""Most facts that a table may send in a play (broker/scorer/intake.py)."""


@cache
def key_of(table: int) -> SigningKey:
    """Return the key of a table's device."""
    return SigningKey.from_bytes(b"a key of tables in benchmark%4d" % table)


class Chains:
    """Signs messages, each fact linked to its table's previous one."""

    def __init__(self) -> None:
        self._last: dict[int, str] = {}

    def signed(self, message: LogMessage) -> LogMessage:
        """Return a message as its table sends it."""
        key, before = key_of(message.table), self._last.get(message.table)
        made = key.sign(replace(message, device=key.device, before=before, signature=None))
        self._last[message.table] = fact_hash(encode(made))
        return made


def list_devices(folder: Path, event: Event) -> None:
    """Register all tables' devices, so that their messages are accepted."""
    write_devices(folder, (ListedDevice(table, key_of(table).public) for table in event.tables))


def certify(folder: Path, tables: Iterable[int]) -> Certificates:
    """Issue certificates to the event and these tables, before any program runs."""
    made = Certificates.ensure(folder)
    for table in tables:
        made.issue(table, key_of(table).public)
    return made


def table_address(folder: Path, port: int, table: int) -> Address:
    """Return the broker's address for a table, with its certificate or, without one, its password."""
    if not (folder / TLS_FOLDER).exists():
        return Address("127.0.0.1", port, *Credentials.load(folder / "credentials.json").table(table))
    known, key = Certificates.of_event(folder), key_of(table)
    identity = Identity(known.folder / f"{device_user(table, key.device)}.crt", key)
    return Address("127.0.0.1", port, "", "", known.ca, identity=identity)


def large_folder(tables: int, rounds: int, deals: int = 0) -> tuple[Plan, list[DealRecord], Registry]:
    """Return an event's folder: tables x rounds plays, by default with as many deals as tables."""
    deals = deals or tables
    plays = tuple(
        BookedPlay(round_, table, (table + round_) % deals + 1, {seat: f"p{table}-{seat}" for seat in SEATS})
        for round_ in range(1, rounds + 1)
        for table in range(1, tables + 1)
    )
    players = tuple(Player(id=player, name=player) for play in plays[:tables] for player in play.players.values())
    made = new_deal(1, "east", "east", Random(1))
    records = [DealRecord(number, 1, "east", "east", dict(made.faces)) for number in range(1, deals + 1)]
    registry = {1: dict(enumerate(Random(1).sample(FULL_SET, 136), 1))}
    plan = Plan(NAME, "Benchmark", "oedmc-2020", players, plays, copies=-(-tables // deals))
    return plan, records, registry


def large_event(tables: int, rounds: int) -> Event:
    """Return the event, validated. Raises BadEvent."""
    return Event(*large_folder(tables, rounds))


def plays(event: Event) -> Iterator[LogMessage]:
    """Return the tables' messages of all plays, round by round, each complete play as the scorer accepts it."""
    payments = load_mcr("oedmc-2020").payments
    outcomes = [(outcome, seat_points(outcome, payments)) for outcome in OUTCOMES]
    last = Counter[int]()
    for number, play in enumerate(event.plan.plays):
        outcome, scored = outcomes[number % len(outcomes)]
        for fact in _whole_play(event, play, outcome, scored):
            last[play.table] += 1
            yield _said(play.table, last[play.table], fact)


def _whole_play(event: Event, play: BookedPlay, outcome: Outcome, scored: dict[Seat, int]) -> Iterator[Fact]:
    round_, deal = play.round, play.deal
    yield Restored(round=round_, deal=deal, verified=True, form=event.form(deal), refusals=0)
    yield Seated(round=round_, deal=deal, players=dict(play.players))
    yield Confirmed(round=round_, deal=deal)
    if outcome.winners:
        presses = tuple(Press(seat=seat, after_ms=0) for seat in outcome.winners)
        yield Declared(round=round_, deal=deal, presses=presses)
    yield Result(
        round=round_,
        deal=deal,
        profile="oedmc-2020",
        players=dict(play.players),
        win=outcome.win,
        winners=dict(outcome.winners),
        discarder=outcome.discarder,
        points=scored,
        fines={},
    )


def calls(event: Event, table: int, count: int) -> Iterator[LogMessage]:
    """Return facts of one table that only have to be stored."""
    for seq in range(1, count + 1):
        round_ = (seq - 1) // CALLS_A_ROUND + 1
        yield _said(table, seq, Call(round=round_, deal=event.bookings[table, round_].deal, open=seq % 2 == 1))


def _said(table: int, seq: int, fact: Fact) -> LogMessage:
    return LogMessage(id=uuid.uuid4().hex, event=NAME, table=table, seq=seq, at=1000, fact=fact)
