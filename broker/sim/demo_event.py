"""The demo's event: 16 players, 4 tables, plays that simulated players have played in advance, one script per table.

Deals come from a cryptographic generator. Declarations, discarders and hand values are those of the hands played. Two
things are staged: at every other table a tray is first laid wrongly, and a player declares a false hu.
"""

import random
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from broker.event import (
    BookedPlay,
    DealRecord,
    Event,
    HandRecord,
    ListedDevice,
    Plan,
    Registry,
    SetFaces,
    open_event,
    save_event,
    write_devices,
    write_hands,
)
from broker.event.deals import LAST_SET
from broker.event.movement import SIZE, NumberedPlay, sixteen_players
from broker.files import write_private
from broker.mqtt import CA, TLS_FOLDER, Certificates, Credentials, device_user
from broker.protocol import SEATS, LaidSeat, Player, Script, ScriptedPlay, Seat, TrayMistake, open_event_key, open_key
from broker.protocol.arbiter_session import hash_pin
from broker.rules import DEFAULT_MCR, Outcome, load_mcr, new_deal, new_set
from broker.sim.laid import laid_play
from broker.sim.table import EventPlay, play_event

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
event_key = "{event_key}"

[broker]
host = "127.0.0.1"
port = {port}
{trust}

[devices]
buttons = "sim://buttons?bounces=2&hold_ms=60&seed={table}"
camera = "sim://tray?seed={table}&width=1600&height=900&noise=2&blur=0.5&tilt=3"
people = "table-{table}.plays.json"

[screen]
width = 800
height = 480
driver = "dummy"
"""

Report = Callable[[str], None]

REACTION_MS: Final = 1100


def make_event(
    folder: Path, *, rounds: int = SIZE, seed: int = 0, report: Report = lambda _: None
) -> tuple[NumberedPlay, ...]:
    """Write the event's folder, play its hands, and write the scripts of the people at the tables."""
    bookings = tuple(booking for booking in sixteen_players() if booking.round <= rounds)
    ids = [f"p{number:02d}" for number in range(1, len(PLAYERS) + 1)]
    plays = tuple(
        BookedPlay(b.round, b.table, b.deal, {seat: ids[number - 1] for seat, number in b.players.items()})
        for b in bookings
    )
    players = tuple(Player(id=id_, name=name) for id_, name in zip(ids, PLAYERS, strict=True))
    plan = Plan(NAME, "Homologue demo", DEFAULT_MCR, players, plays, keep_plays=True)
    deals, sets = new_deals(sorted({booking.deal for booking in bookings}))
    save_event(folder, plan, deals, sets)
    event_plays = played_hands(bookings, deals, seed, report)
    save_hands(folder, event_plays)
    staged = stage_plays(event_plays, random.Random(seed))  # noqa: S311 - staged mistakes, no secret
    scripts = staged[KEEPING_TABLE]
    scripts[0] = msgspec.structs.replace(scripts[0], laid=_laid(open_event(folder), event_plays, seed))
    write_people(folder, staged)
    return bookings


KEEPING_TABLE: Final = 2
"""The table whose people keep the tiles of their first play, and show all rivers and hands to the camera."""


def _laid(event: Event, event_plays: Iterable[EventPlay], seed: int) -> dict[Seat, LaidSeat]:
    """Return what lies on that table after its first play."""
    booking, played = next(one for one in event_plays if one.booking.table == KEEPING_TABLE)
    deal, order = event.open_deal(booking.deal), event.order(booking.deal)
    return laid_play(deal, played.actions, played.outcome, seed, order=order, gaps=True).laid


def new_deals(numbers: Iterable[int]) -> tuple[list[DealRecord], Registry]:
    """Create one deal for each carrier, and a set for each carrier while there are enough set numbers.

    Which serial has which face is random and secret.
    """
    rng = secrets.SystemRandom()
    deals: list[DealRecord] = []
    sets: dict[int, SetFaces] = {}
    for number in numbers:
        deal = new_deal(number, SEATS[(number - 1) % 4], "east", rng)
        set_ = (number - 1) % LAST_SET + 1
        deals.append(DealRecord(number, set_, deal.prevalent_wind, deal.dealer, dict(deal.faces)))
        if set_ not in sets:
            sets[set_] = new_set(rng)
    return deals, sets


def people_file(table: int) -> str:
    """Return the name of the file with the script of the people at a table."""
    return f"table-{table}.plays.json"


def write_people(folder: Path, plays: Mapping[int, Sequence[ScriptedPlay]], reaction_ms: int = REACTION_MS) -> None:
    """Write the scripts of the people at each table, and what their tables and arbiters need."""
    Credentials.ensure(folder / "credentials.json", max(plays))
    pin = f"{secrets.randbelow(10**4):04}"
    write_private(folder / "arbiter-pin", f"{hash_pin(pin)}\n".encode())
    list_devices(folder, plays)
    for table, scripted in plays.items():
        script = msgspec.json.encode(Script(plays=tuple(scripted), reaction_ms=reaction_ms, pin=pin))
        write_private(folder / people_file(table), msgspec.json.format(script, indent=1))


def list_devices(folder: Path, tables: Iterable[int]) -> None:
    """Create the keys of simulated tables, list them with the event, and issue their certificates."""
    listed, certificates = [listed_device(folder, table) for table in tables], Certificates.ensure(folder)
    write_devices(folder, listed)
    for one in listed:
        certificates.issue(one.table, one.key)


def listed_device(folder: Path, table: int) -> ListedDevice:
    """Return a table's line of the device list. Its key is created in the folder of its devices if missing."""
    return ListedDevice(table, open_key(folder / f"table-{table}" / "device.key").public, f"sim-{table}")


def write_kiosk(
    folder: Path, table: int, port: int, event: Path | None = None, *, plain: bool = False, name: str = NAME
) -> Path:
    """Write a table's configuration, once the broker's port is known. `event`: the event's folder, if it is another.

    The table trusts the event's authority and presents a certificate for its key. With `plain` it uses a password,
    without TLS.
    """
    path = folder / f"table-{table}.toml"
    language = ("en", "fr")[table % 2]
    event_key = open_event_key(event or folder).public
    certificates = (event or folder).absolute() / TLS_FOLDER
    device = device_user(table, listed_device(folder, table).device)
    trust = f'ca_file = "{certificates / CA}"\ncertificate_file = "{certificates / device}.crt"'
    if plain:
        trust = f'password_file = "table-{table}.password"\nplain = true'
    text = KIOSK.format(event=name, table=table, port=port, language=language, event_key=event_key, trust=trust)
    path.write_text(text, encoding="utf-8")
    return path


WEAKEST: Final = 0.0
"""The strength of the weakest demo player; the strongest has 1. The range is wide so that some plays are drawn."""


def played_hands(
    bookings: Sequence[NumberedPlay], deals: Iterable[DealRecord], seed: int, report: Report
) -> list[EventPlay]:
    """Play all bookings, reporting how each ended."""
    by_number = {record.number: record.deal() for record in deals}
    event_plays = []
    for one in play_event(
        bookings,
        lambda booking: by_number[booking.deal],
        player_strengths(seed),
        load_mcr(DEFAULT_MCR).payments,
        lambda words: Random(f"{seed} {words}"),  # noqa: S311 - simulated players, no secret
    ):
        event_plays.append(one)
        report(f"round {one.booking.round}, table {one.booking.table}, deal {one.booking.deal}: {_describe(one)}")
    return event_plays


def player_strengths(seed: int) -> dict[int, float]:
    """Return the strengths of the 16 players, in equal steps and random order."""
    numbers = Random(f"{seed} strengths").sample(range(1, 17), 16)  # noqa: S311 - simulated players, no secret
    return {number: 1 - (1 - WEAKEST) * at / 15 for at, number in enumerate(numbers)}


def _describe(event_play: EventPlay) -> str:
    """Return a description of how a play ended."""
    outcome: Outcome = event_play.played.outcome
    if outcome.win == "draw":
        return "a draw"
    won = " and ".join(f"{seat} wins with {value}" for seat, value in outcome.winners.items())
    return f"{won}, self-drawn" if outcome.discarder is None else f"{won} on {outcome.discarder}'s discard"


def save_hands(folder: Path, event_plays: Iterable[EventPlay]) -> None:
    """Write the actions of each play beside its deal."""
    write_hands(
        folder,
        (HandRecord(booking.round, booking.table, booking.deal, played.actions) for booking, played in event_plays),
    )


FALSE_HU: Final = 2
"""The number of false hu, if there were hands that tempted players."""

FINES: Final = (4, 8)
"""IMPs for a false hu, of which the arbiter chooses (OEDMC)."""


def stage_plays(event_plays: Iterable[EventPlay], rng: random.Random) -> dict[int, list[ScriptedPlay]]:
    """Return all plays by table. In the first play of every other table a tray is first laid wrongly."""
    plays = list(event_plays)
    false_hu = _false_hu(plays, rng)
    by_table: dict[int, list[ScriptedPlay]] = {}
    for at, (booking, played) in enumerate(plays):
        mistakes = (swapped_tiles(rng),) if booking.round == 1 and booking.table % 2 else ()
        outcome = played.outcome
        script = ScriptedPlay(
            booking.round, outcome.win, dict(outcome.winners), outcome.discarder, false_hu.get(at, {}), mistakes
        )
        by_table.setdefault(booking.table, []).append(script)
    return by_table


def _false_hu(plays: list[EventPlay], rng: random.Random) -> dict[int, dict[Seat, int]]:
    """Choose who declares falsely, by play: a loser who once held a complete hand below the minimum.

    If there was none, a loser of the first play declares without one.
    """
    found: dict[int, Seat] = {}
    for at, (_, played) in enumerate(plays):
        losers = [seat for seat in played.tempted if seat not in played.outcome.winners]
        if losers and len(found) < FALSE_HU:
            found[at] = losers[0]
    if not found:
        found[0] = next(seat for seat in SEATS if seat not in plays[0].played.outcome.winners)
    return {at: {seat: rng.choice(FINES)} for at, seat in found.items()}


def swapped_tiles(rng: random.Random) -> TrayMistake:
    """Draw a mistake in laying a tray."""
    row = rng.randrange(3)
    one, other = rng.sample(range(10), 2)
    return TrayMistake(rng.choice(SEATS), (row, one), (row, other))
