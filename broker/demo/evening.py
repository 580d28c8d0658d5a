"""The riichi evening of the demo: eight players, two tables, a session each, by different rules.

How the hands end is drawn by chance: nobody plays them out. What is shown is what tables, scorer and desk make of it.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from broker.contract.plans import Player
from broker.contract.riichi import RiichiEvent, RiichiWin
from broker.contract.words import SEATS, Seat
from broker.credentials import Credentials, write_private
from broker.demo.audit import Fact, facts
from broker.demo.evening_audit import evening_problems
from broker.demo.event import NAME, PLAYERS
from broker.demo.playing import Demo, over
from broker.rules.profile_files import DEFAULT
from broker.scorer import event as folder_of
from broker.scorer.event import Plan, open_event
from broker.scorer.riichi import RiichiBooking
from broker.store.address import STORE

TABLES: Final = {1: "riichi-montreal", 2: "riichi-basic"}
"""By whose rules each plays."""

HANDS: Final = 6

VALUES: Final = (
    *[RiichiWin(han=1, fu=fu) for fu in (30, 40)],
    *[RiichiWin(han=2, fu=fu) for fu in (25, 30, 40)],
    *[RiichiWin(han=3, fu=fu) for fu in (30, 40)],
    RiichiWin(han=4, fu=30),
    *[RiichiWin(han=han) for han in (5, 6, 8)],
)
"""Hands of an evening; seven pairs are won on a discard alone here."""

RIICHI: Final = 0.3
"""How likely somebody declares it."""


def make_evening(folder: Path, *, seed: int = 0, reaction_ms: int = 700) -> int:
    """Write the evening's folder, with what the people at each table do; give how many hands there are."""
    people = [Player(id=f"p{number:02d}", name=name) for number, name in enumerate(PLAYERS[: 4 * len(TABLES)], 1)]
    booked = tuple(
        RiichiBooking(1, table, profile, {seat: people[4 * at + place].id for place, seat in enumerate(SEATS)})
        for at, (table, profile) in enumerate(TABLES.items())
    )
    plan = Plan(NAME, "Homologue demo: a riichi evening", DEFAULT, tuple(people), riichi=booked)
    folder_of.save(folder, plan, (), {})
    chance = random.Random(seed)  # noqa: S311 - a show, no secret
    credentials = Credentials.ensure(folder / "credentials.json", max(TABLES))
    for table in TABLES:
        script = {"hands": msgspec.to_builtins(told_hands(HANDS, chance)), "reaction_ms": reaction_ms}
        write_private(folder / f"table-{table}.plays.json", json.dumps(script, indent=1).encode())
        write_private(folder / f"table-{table}.password", credentials.table(table)[1].encode())
    return HANDS * len(TABLES)


def told_hands(count: int, chance: random.Random) -> tuple[RiichiEvent, ...]:
    """Draw how so many hands end."""
    return tuple(_hand(chance) for _ in range(count))


def _hand(chance: random.Random) -> RiichiEvent:
    kind = chance.choices(["ron", "two ron", "tsumo", "draw", "abort"], [10, 2, 7, 3, 1])[0]
    riichi = tuple(_riichi(chance))
    if kind == "abort":
        return RiichiEvent(kind="abort", reason="four_winds")
    if kind == "draw":
        tenpai = tuple(seat for seat in SEATS if seat in riichi or chance.random() < RIICHI)
        return RiichiEvent(kind="draw", tenpai=tenpai, riichi=riichi)
    if kind == "tsumo":
        drawn = [win for win in VALUES if win.fu != 25]  # noqa: PLR2004 - seven pairs
        return RiichiEvent(kind="tsumo", wins={chance.choice(SEATS): chance.choice(drawn)}, riichi=riichi)
    loser, *winners = chance.sample(SEATS, 3 if kind == "two ron" else 2)
    wins = {seat: chance.choice(VALUES) for seat in SEATS if seat in winners}
    return RiichiEvent(kind="ron", wins=wins, loser=loser, riichi=riichi)


def _riichi(chance: random.Random) -> Iterator[Seat]:
    yield from (seat for seat in SEATS if chance.random() < RIICHI / 2)


class Evening(Demo):
    """A riichi session at each of two tables."""

    what = "8 players, 2 tables, a riichi session each"
    tables = TABLES

    def _make(self) -> int:
        return make_evening(self._folder, seed=self._seed)

    def _follow(self, plays: int) -> dict[str, Any] | None:
        said = -1
        while not self._stop.is_set():
            view = self.view()
            told = len(self._hands())
            if told != said:
                said = told
                self.say("scorer", f"{said} entries of at most {plays} hands and {len(TABLES)} ends")
            if all(over(table) for table in view["tables"]):
                return view
            if problem := self._trouble():
                self.say("demo", problem)
                return None
            self._stop.wait(0.3)
        return None

    def _hands(self) -> list[Fact]:
        return [fact for fact in facts(self._folder / STORE) if fact["type"] == "riichi_hand"]

    def _close(self, view: dict[str, Any], plays: int) -> int:
        """Recompute everything, show the scores, and say whether all is right."""
        hands, event = self._hands(), open_event(self._folder)
        problems = [*evening_problems(hands, TABLES), *(f"alert: {one['code']}" for one in view["alerts"])]
        for booking in event.plan.riichi:
            last = max((fact for fact in hands if fact["table"] == booking.table), key=lambda fact: fact["entry"])
            click.echo(f"\nTable {booking.table}, {booking.profile}, {last['entry'] - 1} of {plays // 2} hands:")
            for seat, points in sorted(last["standing"]["scores"].items(), key=lambda row: -row[1]):
                click.echo(f"  {points:6d}  {event.name_of(booking.players[seat])}")
        for problem in problems:
            click.echo(f"WRONG: {problem}")
        if not problems:
            click.echo(f"All payments of {len(hands)} entries recomputed from the journal: they agree.")
        return 1 if problems else 0
