"""The demo's event: 16 players, 4 tables, deals from a cryptographic generator, and a configuration for each table."""

import json
import random
import secrets
from pathlib import Path
from typing import Final

from broker.club.event import Hosted
from broker.contract.arbiter_pin import hash_of
from broker.contract.plans import Player
from broker.contract.words import SEATS
from broker.credentials import Credentials, write_private
from broker.demo.courses import as_script, courses
from broker.demo.hands import Said, keep, played_hands
from broker.rules.deal import new_deal, new_set
from broker.rules.movement import SIZE, Booking, sixteen_players
from broker.rules.profile_files import DEFAULT
from broker.scorer import event as folder_of
from broker.scorer.event import Plan
from broker.scorer.folder import DealRecord, Registry

NAME: Final = "demo"

PLAYERS: Final = (
    "Anne Lefèvre", "Li Xiuying 李秀英", "Jonas Bergström", "Chiara Rinaldi", "Tomasz Wójcik", "Sato Haruka 佐藤遥",
    "Miguel Ortega", "Zhang Wei 张伟", "Élodie Marchand", "Pieter de Groot", "Katarína Novotná", "Wang Fang 王芳",
    "Désirée Nørgaard", "Oliver Whitfield", "Chen Jie 陈洁", "Maximilian Oberhuber",
)  # fmt: skip

KIOSK: Final = """\
# Table {table} of the demo: everything on it is simulated.
event = "{event}"
table = {table}
folder = "table-{table}"
language = "{language}"

[broker]
host = "127.0.0.1"
port = {port}
password_file = "table-{table}.password"

[devices]
buttons = "sim://buttons?bounces=2&hold_ms=60&seed={table}"
camera = "sim://tray?seed={table}&width=1600&height=900&noise=2&blur=0.5&tilt=3"
people = "table-{table}.plays.json"

[screen]
width = 800
height = 480
driver = "dummy"
"""


def make_event(
    folder: Path, *, rounds: int = SIZE, seed: int = 0, reaction_ms: int = 1100, said: Said = lambda _: None
) -> tuple[Booking, ...]:
    """Write the event's folder, play its hands, and write what the people at the tables do; give the plays."""
    bookings = tuple(booking for booking in sixteen_players() if booking.round <= rounds)
    ids = [f"p{number:02d}" for number in range(1, len(PLAYERS) + 1)]
    plays = tuple(
        folder_of.Booking(b.round, b.table, b.deal, {seat: ids[number - 1] for seat, number in b.players.items()})
        for b in bookings
    )
    players = tuple(Player(id=id_, name=name) for id_, name in zip(ids, PLAYERS, strict=True))
    plan = Plan(NAME, "Homologue demo", DEFAULT, players, plays)
    deals, sets = _deals(sorted({booking.deal for booking in bookings}))
    folder_of.save(folder, plan, deals, sets)
    hosted = played_hands(bookings, deals, seed, said)
    keep(folder, hosted)
    _tables(folder, hosted, seed, reaction_ms)
    return bookings


def _deals(numbers: list[int]) -> tuple[list[DealRecord], Registry]:
    """One deal a carrier, one set in each carrier; which serial has which face is random and secret."""
    chance = secrets.SystemRandom()
    deals: list[DealRecord] = []
    sets: Registry = {}
    for number in numbers:
        deal = new_deal(number, SEATS[(number - 1) % 4], "east", chance)
        deals.append(DealRecord(number, number, deal.prevalent_wind, deal.dealer, dict(deal.faces)))
        sets[number] = new_set(chance)
    return deals, sets


def _tables(folder: Path, hosted: list[Hosted], seed: int, reaction_ms: int) -> None:
    plays = courses(hosted, random.Random(seed))  # noqa: S311 - staged mistakes, no secret
    credentials = Credentials.ensure(folder / "credentials.json", max(plays))
    pin = f"{secrets.randbelow(10**4):04}"
    write_private(folder / "arbiter-pin", f"{hash_of(pin)}\n".encode())
    for table, course in plays.items():
        script = json.dumps(as_script(course, reaction_ms, pin), indent=1)
        write_private(folder / f"table-{table}.plays.json", script.encode())
        write_private(folder / f"table-{table}.password", credentials.table(table)[1].encode())


def write_kiosk(folder: Path, table: int, port: int) -> Path:
    """Write one table's configuration, once it is known where the broker is."""
    path = folder / f"table-{table}.toml"
    language = ("en", "fr")[table % 2]
    path.write_text(KIOSK.format(event=NAME, table=table, port=port, language=language), encoding="utf-8")
    return path
