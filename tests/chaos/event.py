"""The event to play: a plan, and for each table a script of what its players do, all drawn from one seed."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from broker.event import BookedPlay, Plan, save_event
from broker.files import write_private
from broker.mqtt.access import Credentials
from broker.people import Actor, Authentication
from broker.protocol import SEATS, Player, Script, ScriptedPlay, Seat
from broker.protocol.arbiter_session import hash_pin
from broker.rules import DEFAULT_MCR
from broker.sim.demo_event import NAME, new_deals
from tests.chaos.ledger import Play

KIOSK: Final = 1
"""The table that is a complete `homologue kiosk`, with screen and camera. It is slow, so it plays few deals."""

PIN: Final = "2468"
ARBITER: Final = "anne"
PASSWORD: Final = "four winds and a dragon"
"""Password of an account that exists during a run only."""

FALSE_HU: Final = 0.03
"""Share of plays with a false declaration, for which an arbiter is let in at the table."""

MOST_ROUNDS: Final = 200
"""Most plays in a plan that a table is sent (protocol/messages.py)."""

FINES: Final = (4, 8)


@dataclass(frozen=True, slots=True)
class ChaosEvent:
    """What is to be played, and how each play is to end."""

    folder: Path
    tables: int
    scripts: dict[int, list[ScriptedPlay]]
    deals: dict[Play, int]
    """The deal of each play (table and round)."""

    @property
    def plays(self) -> dict[Play, ScriptedPlay]:
        """How each play is to end."""
        return {(table, play.round): play for table, script in self.scripts.items() for play in script}

    def players(self, table: int) -> dict[Seat, str]:
        """Return who sits at a table."""
        return {seat: f"p{table}-{seat}" for seat in SEATS}

    def tables_of(self, deal: int) -> Iterator[Play]:
        """Return the plays of a deal."""
        return (play for play, of in self.deals.items() if of == deal)


def make_chaos_event(folder: Path, tables: int, plays: int, chance: random.Random) -> ChaosEvent:
    """Write an event's folder, with an account for an arbiter. The kiosk plays one round for every 20 of the others."""
    numbers = range(1, tables + 1)
    short = max(1, plays // (20 * tables))
    rounds = max(short, -(-(plays - short) // (tables - 1)))
    if rounds > MOST_ROUNDS:
        raise ValueError(f"{rounds} rounds: a table is told of at most {MOST_ROUNDS} plays, so take more tables")
    deals = max(tables, rounds)
    booked = tuple(
        BookedPlay(round_, table, (table + round_) % deals + 1, {seat: f"p{table}-{seat}" for seat in SEATS})
        for round_ in range(1, rounds + 1)
        for table in numbers
        if table != KIOSK or round_ <= short
    )[:plays]
    players = tuple(Player(id=f"p{table}-{seat}", name=f"{seat} of {table}") for table in numbers for seat in SEATS)
    plan = Plan(NAME, "Chaos", DEFAULT_MCR, players, booked)
    save_event(folder, plan, *new_deals(sorted({play.deal for play in booked})))
    Credentials.ensure(folder / "credentials.json", tables)
    add_arbiter(folder)
    scripts: dict[int, list[ScriptedPlay]] = {table: [] for table in numbers}
    for play in booked:
        scripts[play.table].append(_draw(play.round, chance))
    return ChaosEvent(folder, tables, scripts, {(play.table, play.round): play.deal for play in booked})


def add_arbiter(folder: Path) -> None:
    """Create the arbiter's account in the folder of an event."""
    auth = Authentication(folder)
    auth.accounts.add(ARBITER, "Anne Arbiter", "head_arbiter", PASSWORD, Actor("chaos"))
    auth.close()


def _draw(round_: int, chance: random.Random) -> ScriptedPlay:
    """Draw how a play ends, and whether there is a false declaration before."""
    one, other, third, fourth = chance.sample(SEATS, 4)
    false_hu: dict[Seat, int] = {fourth: chance.choice(FINES)} if chance.random() < FALSE_HU else {}
    value = chance.randint(8, 88)
    match chance.choices(("discard", "two", "self_drawn", "draw"), (60, 6, 24, 10))[0]:
        case "discard":
            return ScriptedPlay(round_, "discard", {one: value}, other, false_hu)
        case "two":
            return ScriptedPlay(round_, "discard", {one: value, third: chance.randint(8, 88)}, other, false_hu)
        case "self_drawn":
            return ScriptedPlay(round_, "self_drawn", {one: value}, None, false_hu)
    return ScriptedPlay(round_, "draw", {}, None, false_hu)


def write_device(event: ChaosEvent, device: Path, tables: Iterable[int], reaction_ms: int) -> None:
    """Write configuration, script and password for the device of each table, and the arbiters' PIN for the event."""
    device.mkdir(parents=True, exist_ok=True)
    known = Credentials.load(event.folder / "credentials.json")
    write_private(event.folder / "arbiter-pin", f"{hash_pin(PIN)}\n".encode())
    for table in tables:
        script = Script(plays=tuple(event.scripts[table]), reaction_ms=reaction_ms, pin=PIN)
        write_private(device / f"table-{table}.plays.json", msgspec.json.encode(script))
        write_private(device / f"table-{table}.password", known.table(table)[1].encode())


def expected(event: ChaosEvent, play: Play) -> dict[str, object]:
    """Return what a play's result must say according to the script."""
    meant = event.plays[play]
    return {
        "round": play[1],
        "deal": event.deals[play],
        "players": event.players(play[0]),
        "win": meant.win,
        "winners": meant.winners,
        "discarder": meant.discarder,
        "fines": meant.false_hu,
    }
