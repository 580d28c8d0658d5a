"""A small event with everything in it (16 players, 4 tables, 4 deals), and what its tables report."""

import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

from msgspec.structs import replace

from broker.event import BookedPlay, DealRecord, Event, ListedDevice, Plan, Registry, write_devices
from broker.event.movement import sixteen_players
from broker.protocol import (
    SEATS,
    Beat,
    Call,
    Confirmed,
    Declared,
    DeviceAdmitted,
    Fact,
    Fine,
    Lifecycle,
    LogMessage,
    Overridden,
    Player,
    Press,
    Restored,
    Result,
    Seat,
    Seated,
    SigningKey,
    TableState,
    encode,
    stored_form,
    topics,
    with_sender,
)
from broker.protocol.arbiter_session import SessionKey
from broker.rules import FULL_SET, Outcome, load_mcr, new_deal, seat_points

NAME: Final = "cup"

OTHER_FORM: Final = "f" * 64

OUTCOMES: Final = (
    Outcome("draw", {}),
    Outcome("discard", {"east": 18}, "north"),
    Outcome("self_drawn", {"south": 10}),
    Outcome("discard", {"south": 12, "north": 12}, "east"),
    Outcome("discard", {"west": 8}, "south"),
)


@cache
def plan() -> Plan:
    """Return the plan of the movement for sixteen."""
    players = tuple(Player(id=f"p{number:02}", name=f"Player {number}") for number in range(1, 17))
    plays = tuple(
        BookedPlay(b.round, b.table, b.deal, {seat: f"p{number:02}" for seat, number in b.players.items()})
        for b in sixteen_players()
    )
    return Plan(name=NAME, title="A small cup", profile="oedmc-2020", players=players, plays=plays)


@cache
def deals() -> tuple[DealRecord, ...]:
    """Return four deals, always the same."""
    made = [new_deal(number, SEATS[number - 1], SEATS[number - 1], Random(number)) for number in range(1, 5)]
    return tuple(DealRecord(d.number, d.number, d.prevalent_wind, d.dealer, dict(d.faces)) for d in made)


@cache
def registry() -> Registry:
    """Return four tile sets, each with the face of every serial."""
    return {number: dict(enumerate(Random(-number).sample(FULL_SET, 136), 1)) for number in range(1, 5)}


@cache
def event() -> Event:
    """Return the checked event."""
    return Event(plan(), deals(), registry())


KEY: Final = SigningKey.from_bytes(b"a table's key in tests, 32 bytes")
"""Signs everything that tables report."""

DEVICES: Final = ("kiosk-0001", "kiosk-0002", "kiosk-0003")
"""Devices that may serve any table."""


def signed(message: LogMessage, key: SigningKey = KEY) -> LogMessage:
    """Return a message signed by its table's device, without the hash of the fact before it."""
    return key.sign(replace(message, device=key.device, signature=None, sender=None))


def in_session(message: LogMessage, sessions: SessionKey) -> LogMessage:
    """Return a fact whose fines name the session of an arbiter, as a scorer in a process of its own requires."""
    fact = message.fact
    if not isinstance(fact, Result) or not fact.fines:
        return message
    session = sessions.order(message.table, "admit", "", "order-0001", time.time_ns() // 1_000_000)
    fines = {seat: replace(fine, session=session) for seat, fine in fact.fines.items()}
    return signed(replace(message, fact=replace(fact, fines=fines)))


def list_devices(folder: Path, tables: Iterable[int]) -> None:
    """List the key of these tests with an event, for a scorer in a process of its own."""
    write_devices(folder, (ListedDevice(table, KEY.public) for table in tables))


def fact(table: int, seq: int, said: Fact, *, id_: str | None = None, at: int = 1000) -> LogMessage:
    """Return one message of a table's log."""
    return signed(LogMessage(id=id_ or f"t{table}-fact-{seq}", event=NAME, table=table, seq=seq, at=at, fact=said))


def admissions(of: Event) -> Iterator[DeviceAdmitted]:
    """Return the records that let the devices of these tests speak for the tables of an event."""
    devices = [(KEY.device, KEY.public), *((device, None) for device in DEVICES)]
    for number, (table, (device, key)) in enumerate(product(of.tables, devices), 1):
        yield DeviceAdmitted(
            id=f"admitted-{number:04}", event=of.name, number=number, table=table, device=device, key=key, at=1000
        )


def result(
    table: int, round_: int = 1, outcome: Outcome = OUTCOMES[1], fines: Mapping[Seat, Fine] | None = None
) -> Result:
    """Return the result of a planned play."""
    booking = event().bookings[table, round_]
    return Result(
        round=round_,
        deal=booking.deal,
        profile="oedmc-2020",
        players=dict(booking.players),
        win=outcome.win,
        winners=dict(outcome.winners),
        discarder=outcome.discarder,
        points=seat_points(outcome, load_mcr("oedmc-2020").payments),
        fines=dict(fines or {}),
    )


def restored(table: int, round_: int = 1, form: str | None = None, *, verified: bool = True) -> Restored:
    """Return the fact that a planned play's trays were restored."""
    deal = event().bookings[table, round_].deal
    return Restored(round=round_, deal=deal, verified=verified, form=form or event().form(deal), refusals=0)


def steps(
    table: int,
    round_: int = 1,
    outcome: Outcome = OUTCOMES[1],
    fines: Mapping[Seat, Fine] | None = None,
    *,
    forward: bool = False,
) -> list[Fact]:
    """Return all facts of a play, from the walls to its result. `forward`: although it is not the play's turn."""
    said = steps_to(result(table, round_, outcome, fines))
    deal = said[0].deal
    turn = Overridden(round=round_, deal=deal, guards=("out_of_order",), reason="the carrier is here")
    return [turn, *said] if forward else said


def steps_to(ended: Result) -> list[Fact]:
    """Return all facts of a play with this result, from the walls on."""
    round_, deal = ended.round, ended.deal
    form, won = event().form(deal), ended.hand.wins if ended.hand else ended.winners
    said: list[Fact] = [
        Restored(round=round_, deal=deal, verified=True, form=form, refusals=0),
        Seated(round=round_, deal=deal, players=ended.players),
        Confirmed(round=round_, deal=deal),
    ]
    presses = [tuple(Press(seat=one, after_ms=at * 40) for at, one in enumerate(seats)) for seats in (ended.fines, won)]
    said.extend(Declared(round=round_, deal=deal, presses=one) for one in presses if one)
    return [*said, ended]


def five(table: int, ended: Result) -> list[LogMessage]:
    """Return all facts of a play with this result, without a false hu: five per round, so their numbers are known."""
    *said, last = steps_to(ended)
    if len(said) < 4:  # nobody has declared
        said.append(Call(round=ended.round, deal=ended.deal, open=False))
    return log(table, *said, last, first=5 * ended.round - 4)


def declared(table: int, round_: int, *seats: Seat) -> Declared:
    """Return the declaration in a planned play."""
    presses = tuple(Press(seat=seat, after_ms=at * 40) for at, seat in enumerate(seats))
    return Declared(round=round_, deal=event().bookings[table, round_].deal, presses=presses)


def begun(table: int, round_: int, *, first: int, at: int, verified: bool = True) -> list[LogMessage]:
    """Return what a table reports of a play until its tiles are confirmed, numbered from `first`."""
    _, seated, confirmed, *_ = steps(table, round_)
    return log(table, restored(table, round_, verified=verified), seated, confirmed, first=first, at=at)


def log(table: int, *said: Fact, first: int = 1, at: int = 1000) -> list[LogMessage]:
    """Return the facts of a table, one after the other."""
    return [fact(table, seq, one, at=at) for seq, one in enumerate(said, first)]


def whole_play(
    table: int,
    round_: int = 1,
    outcome: Outcome = OUTCOMES[1],
    fines: Mapping[Seat, Fine] | None = None,
    *,
    first: int = 1,
    forward: bool = False,
) -> list[LogMessage]:
    """Return what a table reports of a whole play, numbered from `first`."""
    return log(table, *steps(table, round_, outcome, fines, forward=forward), first=first)


def whole_log(table: int) -> list[LogMessage]:
    """Return everything that a table reports in the event.

    Table 3 restores a deal twice, the second time in another form.
    """
    said: list[Fact] = []
    for round_ in range(1, 5):
        deal = event().bookings[table, round_].deal
        outcome = OUTCOMES[(table + round_) % len(OUTCOMES)]
        fines: dict[Seat, Fine] = {"north": Fine(imp=4, reason="false hu")} if round_ == 3 else {}
        walls, *rest, last = steps(table, round_, outcome, fines)
        said.append(walls)
        if (table, round_) == (3, 2):
            said.append(restored(table, round_, OTHER_FORM))
        said += rest
        if round_ == table:
            said += [Call(round=round_, deal=deal, open=True), Call(round=round_, deal=deal, open=False)]
        said.append(last)
    return log(table, *said)


@cache
def _all_logs() -> tuple[LogMessage, ...]:
    return tuple(message for table in event().tables for message in whole_log(table))


def whole_event() -> list[LogMessage]:
    """Return everything that the tables report, table by table."""
    return [*_all_logs()]


def state(
    table: int,
    *,
    device: str = "kiosk-0001",
    lifecycle: Lifecycle = "ready",
    seq: int = 0,
    start: int = 1,
    count: int = 1,
    calling: bool = False,
) -> TableState:
    """Return the state of a table."""
    return TableState(
        id=f"state-{table}-{seq}-{lifecycle}",
        event=NAME,
        table=table,
        seq=seq,
        device=device,
        start=start,
        count=count,
        lifecycle=lifecycle,
        state="playing",
        round=1,
        deal=event().bookings[table, 1].deal,
        unsent=0,
        calling=calling,
        health={},
    )


def beat(table: int, *, device: str = "kiosk-0001", start: int = 1) -> Beat:
    """Return the beat that a table sends every few seconds."""
    return Beat(id=f"beat-{table}-{start}", event=NAME, table=table, device=device, start=start)


TOPIC_OF: Final = {LogMessage: topics.LOG, TableState: topics.STATE, Beat: topics.BEAT}


def sent(message: LogMessage | TableState | Beat) -> tuple[str, bytes]:
    """Return topic and payload of a table's message; a fact as sent by the device that serves the table."""
    if isinstance(message, LogMessage):
        body = with_sender(stored_form(encode(signed(message))), message.sender or DEVICES[0])
        return topics.LOG.at(message.event, table=message.table), body
    topic = TOPIC_OF[type(message)]
    return topic.at(message.event, table=message.table), encode(message)
