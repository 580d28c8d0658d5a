"""The event that is played in many halls: its plan, the folders, and how each play is to end."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker.cli.halls import hall
from broker.event import BookedPlay, Event, Hall, ListedDevice, Plan, open_event, save_event, write_devices, write_halls
from broker.mqtt.access import Credentials
from broker.protocol import SEATS, Player, ScriptedPlay, SigningKey
from broker.rules import DEFAULT_MCR
from broker.sim.demo_event import NAME, new_deals
from tests.chaos.event import ChaosEvent, add_arbiter

HALLS: Final = ("paris", "osaka", "lima")

LATE: Final = HALLS[-1]
"""The hall that joins late."""


@dataclass(frozen=True, slots=True)
class World:
    """The event, and where everything of it lies."""

    chaos: ChaosEvent
    halls: dict[str, Path]
    restored: str
    """The hall that is restored from an older copy: rulings that only it had would be lost, so that it has none."""
    tables: dict[str, range]
    keys: dict[int, SigningKey] = field(repr=False)

    @property
    def centre(self) -> Path:
        """The folder of the centre."""
        return self.chaos.folder

    def open(self) -> Event:
        """Return the checked event."""
        return open_event(self.centre)


def make_world(folder: Path, tables: int, rounds: int, ports: dict[str, list[int]], chance: random.Random) -> World:
    """Write the folders of the centre and of the halls, each with so many tables. `ports`: by which a hall finds it.

    One of the halls that do not join late, drawn by chance, has no arbiter: it is the one that is restored.
    """
    of = {name: range(1 + at * tables, 1 + (at + 1) * tables) for at, name in enumerate(HALLS)}
    deals = max(tables, rounds)
    booked = tuple(
        BookedPlay(round_, table, (table + round_) % deals + 1, {seat: f"p{table}-{seat}" for seat in SEATS})
        for name in HALLS
        for table in of[name]
        for round_ in range(1, rounds + 1)
    )
    players = tuple(
        Player(id=f"p{table}-{seat}", name=f"{seat} of {table}")
        for name in HALLS
        for table in of[name]
        for seat in SEATS
    )
    centre = folder / "centre"
    plan = Plan(NAME, "World cup", DEFAULT_MCR, players, booked, copies=2 * len(HALLS))
    save_event(centre, plan, *new_deals(sorted({play.deal for play in booked})))
    write_halls(centre, [Hall(name, name.title(), f"{of[name][0]}-{of[name][-1]}") for name in HALLS])
    for name in HALLS:
        addresses = [part for port in ports[name] for part in ("--address", f"127.0.0.1:{port}")]
        split = ["split", str(centre), "--to", str(folder / "halls"), "--only", name, *addresses]
        hall.main(split, standalone_mode=False)
    keys = {table: SigningKey.new() for name in HALLS for table in of[name]}
    halls, restored = {name: folder / "halls" / name for name in HALLS}, chance.choice(HALLS[:-1])
    for name in HALLS:
        write_devices(halls[name], (ListedDevice(table, keys[table].public) for table in of[name]))
        Credentials.ensure(halls[name] / "credentials.json", of[name][-1])
        if name != restored:
            add_arbiter(halls[name])
    scripts: dict[int, list[ScriptedPlay]] = {table: [] for table in keys}
    for play in booked:
        scripts[play.table].append(_draw(play.round, chance))
    planned = {(play.table, play.round): play.deal for play in booked}
    return World(ChaosEvent(centre, len(keys), scripts, planned), halls, restored, of, keys)


def _draw(round_: int, chance: random.Random) -> ScriptedPlay:
    one, other, third, _ = chance.sample(SEATS, 4)
    match chance.choices(("discard", "two", "self_drawn", "draw"), (60, 10, 20, 10))[0]:
        case "discard":
            return ScriptedPlay(round_, "discard", {one: chance.randint(8, 88)}, other, {})
        case "two":
            winners = {one: chance.randint(8, 88), third: chance.randint(8, 88)}
            return ScriptedPlay(round_, "discard", winners, other, {})
        case "self_drawn":
            return ScriptedPlay(round_, "self_drawn", {one: chance.randint(8, 88)}, None, {})
    return ScriptedPlay(round_, "draw", {}, None, {})


def plays_of_deal(world: World, deal: int) -> Iterator[tuple[int, int]]:
    """Return table and round of all plays of a deal."""
    return (play for play, of in world.chaos.deals.items() if of == deal)
