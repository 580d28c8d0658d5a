"""Desks with all their pages, each with an event at a different stage, for tests in a browser and over HTTP."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from itertools import count, cycle
from pathlib import Path
from random import Random
from typing import Final

import pytest
from msgspec.structs import replace

from broker.cli.desk import empty_view_feed
from broker.event import PLAYERS as PLAYERS_CSV
from broker.event import Earlier, ListedPlayer, Plan, RiichiBooking, open_event, players_csv, read_deals
from broker.event.earlier import EarlierPlace
from broker.mqtt.access import Credentials
from broker.people import ROLES, Actor, Authentication
from broker.protocol import (
    SEATS,
    AnyDecision,
    Appealed,
    Call,
    Deadline,
    Fact,
    FinalDeclared,
    FineRuled,
    LetIn,
    LogMessage,
    Paused,
    PinWrong,
    Player,
    Session,
    Substitute,
    TableState,
    TimeAdded,
    Void,
)
from broker.protocol.arbiter_session import pin_mark
from broker.protocol.link import LinkChanged
from broker.rulings import PlayKey
from broker.scorer import DashboardView
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal
from broker.web.server import DeskServer
from broker.web.services import Services
from broker.web.tables.event_pin import EventPin
from broker.web.tables.orders import OrderDesk, OrderGiven
from broker.web.tables.pairing import BrokerForTables, PairingService
from broker.web.tables.pairing_codes import PairingCodes
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.rulings.ruled import HEAD, correct, draft
from tests.broker.scorer import small, team_event
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.hall import admitting, put
from tests.broker.scorer.riichi_deals import riichi_plan, whole_riichi_event
from tests.broker.scorer.staged import play_rounds, staged_event, staged_plan
from tests.broker.web import sample
from tests.broker.web.results.test_sessions import evening, forged
from tests.broker.web.tables.test_dashboard import hall as many_tables
from tests.broker.web.tables.test_orders import Ear

NOW: Final = sample.NOON + 5_400_000
"""The clock of all desks: half past one in Paris, on the event's first day."""

MINUTE: Final = 60_000

PLAYERS: Final = tuple(replace(one, name=sample.NAMES[one.id]) for one in small.plan().players)
STRANGE: Final = {"p02": "محمد العلي", "p09": "สมชาย ใจดี"}
UNPRINTABLE: Final = tuple(replace(one, name=STRANGE.get(one.id, one.name)) for one in PLAYERS)
"""Players, some with names that printed pages have no letters for."""
TITLE: Final = "Tournoi international de Lille 2026"
SESSIONS: Final = (
    Session("Saturday morning", 1, 2, "2020-10-31T11:00"),
    Session("Saturday afternoon", 3, 4, play_minutes=15),
)
PUBLIC: Final = "https://results.mahjong-lille.example.org"
FROM: Final = (("FR", "Les Quatre Vents de Strasbourg"), ("CHN", "北京大学麻将队"), ("DK", ""), ("", "Mahjong Club"))
"""Countries and clubs, assigned to the players in turn."""

INSTEAD: Final = Substitute(player="p07", name="Wilhelmina von Reserve-Hohenstein", first_round=2)
APPEALED: Final = "ruling-0002"
"""The ruling that is appealed against in the completed event (`over`)."""
PEOPLE: Final = ("Hélène Roy", "Tao Lin", "Inès Moreau", "Screen in the hall")


Write = Callable[[Path, Iterable[LogMessage], Plan], object]


def heard_that_day(folder: Path, said: Iterable[LogMessage], of: Plan) -> None:
    """Write an event's folder whose messages arrived twenty minutes ago."""
    event_folder(folder, said, of, heard_at=NOW - 20 * MINUTE)


class Whole:
    """A scorer in its own thread, and its desk with all pages."""

    def __init__(self, folder: Path, of: Plan, said: Sequence[LogMessage], write: Write) -> None:
        write(folder, timed(said), of)
        listed = [ListedPlayer(one, (*origin, "", "")) for one, origin in zip(of.players, cycle(FROM), strict=False)]
        (folder / PLAYERS_CSV).write_text(players_csv(listed), encoding="utf-8")
        event = open_event(folder)
        self.auth, self.journal = _auth(folder), SqliteJournal(folder / STORE, event.name)
        self.scorer = admitting(Scorer(event, self.journal, folder, lambda: NOW), event)
        self.orders = OrderDesk(event.name, self.auth, Ear())
        Credentials.ensure(folder / "credentials.json", max(event.tables))
        broker = BrokerForTables(event.name, folder / "credentials.json", 1883, "10.0.0.2")
        self.services = Services(
            lambda: self.scorer.snapshot,
            self.scorer.wire,
            lambda: NOW,
            scorer=self.scorer,
            folder=folder,
            deals=read_deals(folder),
            orders=self.orders,
            pairing=PairingService(broker, PairingCodes("")),
        )
        self.server = DeskServer(self.scorer.feed, port=0, auth=self.auth, services=self.services)

    def hear(self, *messages: LogMessage | TableState) -> None:
        """Let messages arrive, and wait until the scorer has processed them."""
        put(self.scorer, *messages)
        self.scorer.ask(lambda: None)


def timed(said: Iterable[LogMessage]) -> list[LogMessage]:
    """Return messages with timestamps at which a round takes twenty minutes."""
    return [replace(one, at=sample.NOON + ((one.fact.round - 1) * 20 + one.table + one.seq) * MINUTE) for one in said]


def _auth(folder: Path) -> Authentication:
    auth = Authentication(folder, lambda: NOW)
    for role, full in zip(ROLES, PEOPLE, strict=True):
        auth.accounts.add(role, full, role, PASSWORD, Actor("installation"))
    return auth


@contextmanager
def whole(
    folder: Path,
    of: Plan,
    said: Sequence[LogMessage] = (),
    *,
    connected: bool = True,
    write: Write = heard_that_day,
) -> Iterator[Whole]:
    """Serve an event with these messages. `connected`: to its broker; `write` writes its folder."""
    made, stop = Whole(folder, of, said, write), threading.Event()
    thread = threading.Thread(target=made.scorer.run, args=(stop,))
    thread.start()
    try:
        if connected:
            made.scorer._inbox.put(LinkChanged(up=True))
        with made.server:
            yield made
    finally:
        stop.set()
        thread.join()
        made.journal.close()
        made.auth.close()


@cache
def cup() -> Plan:
    """Return the plan of the small event, with long names."""
    return replace(small.plan(), title=TITLE, players=PLAYERS, sessions=SESSIONS, public_address=PUBLIC)


def at_the_table(deal: int) -> tuple[Fact, ...]:
    """Return the facts of an arbiter's visit to a table in the third round."""
    who, why = "arbiter at the table", "tiles misplaced"
    return (
        PinWrong(round=3, deal=deal, tries=1),
        LetIn(round=3, deal=deal, author=who, by="pin"),
        TimeAdded(round=3, deal=deal, minutes=7, author=who, reason=why),
        Paused(round=3, deal=deal, begin=True, author=who, reason=why),
    )


@contextmanager
def busy(folder: Path) -> Iterator[DeskServer]:
    """Serve an event in its third round, with calls, faults, rulings, orders, overtime and a refused message."""
    said = until_round(2)
    last = {one.table: one.seq for one in said}
    with whole(folder, cup(), said) as made:
        seq, pin = count(last[3] + 1), EventPin(folder / "arbiter-pin")
        pin.set("2468", "2468")
        has = pin_mark(pin.hashed() or "")
        third = {table: small.event().bookings[table, 3].deal for table in small.event().tables}
        here = [replace(small.state(table), round=3, deal=third[table], minutes=15) for table in third]
        made.hear(
            replace(
                here[0], health={"scanner": "device_forbidden"}, pin=has, stood_ms=0, extra_min=5, arbiter=PEOPLE[1]
            ),
            replace(here[1], state="accepting", calling=True, unsent=1, pin="0" * 16, stood_ms=0),
            replace(here[2], state="restoring", calling=True, paused=True, arbiter="", extra_min=7, pin=has),
            replace(here[3], lifecycle="lost", unsent=2, paused=True, stood_ms=0, played_ms=7 * MINUTE),
            *small.begun(2, 3, first=last[2] + 1, at=NOW - 16 * MINUTE),
            small.fact(2, last[2] + 4, Call(round=3, deal=third[2], open=True), at=NOW - 4 * MINUTE),
            *(small.fact(3, next(seq), one, at=NOW - 9 * MINUTE) for one in at_the_table(third[3])),
            small.fact(3, next(seq), Call(round=3, deal=third[3], open=True), at=NOW - 1 * MINUTE),
            *small.begun(4, 3, first=last[4] + 1, at=NOW - 14 * MINUTE),
            small.fact(4, last[4] + 4, small.result(4, 4), at=NOW - 2 * MINUTE),
            *small.begun(1, 3, first=last[1] + 1, at=NOW - 12 * MINUTE, verified=False),
            small.fact(1, last[1] + 4, replace(small.result(1, 3), profile="mcr"), at=NOW),
        )
        room, give = made.scorer.rulings.room, made.scorer.rulings.give
        correction = correct(small.OUTCOMES[2], None)
        for ruling in (
            lambda: give(draft(room, Deadline(at=NOW + 30 * MINUTE)), HEAD),
            lambda: give(draft(room, INSTEAD), HEAD),
            lambda: give(draft(room, Void(), (4, 1), reason="A tile lay face up"), HEAD),
            lambda: give(draft(room, replace(correction, replaces=room.play((3, 2)).source), (3, 2)), HEAD),
        ):
            made.scorer.ask(ruling)
        attended, now = made.scorer.live.attendance, made.scorer.feed.current
        made.scorer.ask(lambda: attended.attend(2, now.tables[1].calling_since, 0, "table_arbiter", PEOPLE[1]))
        unverified = next(one for one in now.alerts if one.code == "unverified")
        made.scorer.ask(lambda: attended.mark_seen(unverified, "head_arbiter", PEOPLE[0]))
        who = made.auth.accounts.get("head_arbiter")
        for given in (
            OrderGiven((2,), "extra_time", 5, "A player was late", who.full),
            OrderGiven((1, 2, 3), "pause", 0, "Fire alarm", who.full),
        ):
            made.orders.give(given, who, "127.0.0.1", made.scorer.feed.current.tables)
        yield made.server


@contextmanager
def late(folder: Path) -> Iterator[DeskServer]:
    """Serve an event before its last round, with a guest, an earlier event, and likely places."""
    guests = tuple(replace(one, without_standing=one.id == "p01") for one in PLAYERS)
    before = Earlier("Qualification de Lille", "2/3", (EarlierPlace("p02", 1, 30), EarlierPlace("p03", 2, -8)))
    with whole(folder, replace(cup(), players=guests, earlier=before), until_round(3)) as made:
        yield made.server


@contextmanager
def empty(folder: Path) -> Iterator[DeskServer]:
    """Serve an event without messages and without a connection to the broker."""
    with whole(folder, cup(), connected=False) as made:
        yield made.server


@contextmanager
def over(folder: Path) -> Iterator[DeskServer]:
    """Serve an event with all results, a warning, a fine, and an appeal against the fine."""
    with whole(folder, cup(), small.whole_event()) as made:
        room, who = made.scorer.rulings.room, small.event().bookings[1, 2].players["west"]
        warned = FineRuled(takes={who: 0}, measure="warning", infraction="sound")
        fined = FineRuled(takes={who: 4}, infraction="sound")

        def give(decision: AnyDecision, play: PlayKey | None) -> None:
            given = draft(room, decision, play, reason="Said “hu” aloud before the window had closed")
            made.scorer.rulings.give(given, HEAD)

        for decision, play in (
            (INSTEAD, None),
            (warned, (1, 2)),
            (fined, (1, 2)),
            (Appealed(ruling=APPEALED, players=(who,)), None),
        ):
            made.scorer.ask(partial(give, decision, play))
        yield made.server


@contextmanager
def teams(folder: Path) -> Iterator[DeskServer]:
    """Serve a completed team event."""
    names = ("Les Quatre Vents de Strasbourg", "北京大学麻将队", "Københavns Mahjongklub", "Équipe D")
    plan = replace(
        team_event.team_event().plan,
        title=TITLE,
        players=PLAYERS,
        teams=dict(zip(names, team_event.TEAMS.values(), strict=True)),
    )
    said = [one for table in range(1, 5) for round_ in range(1, 5) for one in team_event.said(table, round_)]
    with whole(folder, plan, said) as made:
        yield made.server


@contextmanager
def stages(folder: Path) -> Iterator[DeskServer]:
    """Serve an event in stages whose final has yet to be seated."""
    plan = replace(staged_plan(), title=TITLE, players=PLAYERS, prizes=("Coupe de la ville de Lille", "奖牌"))
    with whole(folder, plan, play_rounds(staged_event(), [1, 2], Random(0), {})) as made:
        yield made.server


@contextmanager
def ended(folder: Path) -> Iterator[DeskServer]:
    """Serve an event with final standings, and with names that printed pages have no letters for."""
    plan = replace(cup(), prizes=("Coupe de la ville de Lille", "奖牌"), players=UNPRINTABLE)
    with whole(folder, plan, small.whole_event()) as made:
        made.scorer.ask(lambda: made.scorer.rulings.give(draft(made.scorer.rulings.room, FinalDeclared()), HEAD))
        yield made.server


@contextmanager
def riichi(folder: Path) -> Iterator[DeskServer]:
    """Serve a completed riichi event."""
    with whole(folder, replace(riichi_plan(), title=TITLE, players=PLAYERS), whole_riichi_event()) as made:
        yield made.server


@contextmanager
def sessions(folder: Path, players: tuple[Player, ...] = PLAYERS) -> Iterator[DeskServer]:
    """Serve three riichi sessions: one correct, one with a wrong entry, one not begun."""
    booked = tuple(
        RiichiBooking(1, table, "riichi-montreal", dict(zip(SEATS, ids, strict=True)))
        for table, ids in (
            (7, ("p01", "p02", "p03", "p04")),
            (8, ("p05", "p06", "p07", "p08")),
            (9, ("p09", "p10", "p11", "p12")),
        )
    )
    plan = Plan(name=small.NAME, title="Riichi evening", profile="oedmc-2020", players=players, riichi=booked)
    told = evening()
    said = [small.fact(7, seq, one) for seq, one in enumerate(told.facts, 1)]
    said += [small.fact(8, seq, one) for seq, one in enumerate(forged(told), 1)]  # type: ignore[arg-type]  # facts still
    with whole(folder, plan, said) as made:
        yield made.server


def unspelled(folder: Path) -> AbstractContextManager[DeskServer]:
    """Serve riichi sessions with some names that cannot be printed."""
    return sessions(folder, UNPRINTABLE)


@contextmanager
def _room(folder: Path, view: DashboardView) -> Iterator[DeskServer]:
    folder.mkdir()
    auth = _auth(folder)
    with DeskServer(sample.feed(view), port=0, auth=auth) as server:
        yield server
    auth.close()


def hall(folder: Path) -> AbstractContextManager[DeskServer]:
    """Serve a hall with more tables than fit on one page of cards."""
    return _room(folder, many_tables())


def centre(folder: Path) -> AbstractContextManager[DeskServer]:
    """Serve the centre of an event in many halls."""
    return _room(folder, sample.centre())


def in_hall(folder: Path) -> AbstractContextManager[DeskServer]:
    """Serve a hall that has lost its connection to the centre."""
    return _room(folder, sample.in_hall())


def _new(folder: Path, auth: Authentication) -> DeskServer:
    return DeskServer(empty_view_feed(), port=0, auth=auth, services=Services(folder=folder))


@contextmanager
def new(folder: Path) -> Iterator[DeskServer]:
    """Serve the set-up pages before an event exists."""
    folder.mkdir()
    auth = _auth(folder)
    with _new(folder, auth) as server:
        yield server
    auth.close()


DESKS: Final[dict[str, Callable[[Path], AbstractContextManager[DeskServer]]]] = {
    one.__name__: one
    for one in (busy, late, empty, over, teams, stages, ended, riichi, sessions, unspelled, hall, centre, in_hall, new)
}


@contextmanager
def quickly() -> Iterator[None]:
    """Hash passwords quickly, at a low cost."""
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        yield


@contextmanager
def served(folder: Path, names: Iterable[str] = DESKS) -> Iterator[dict[str, DeskServer]]:
    """Serve these desks."""
    with ExitStack() as running, quickly():
        yield {name: running.enter_context(DESKS[name](folder / name)) for name in sorted(set(names))}
