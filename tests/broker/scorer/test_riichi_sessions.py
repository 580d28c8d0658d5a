"""Riichi sessions: planned for a table, recorded entry by entry, and published to the table that plays them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.errors import BadEvent
from broker.event import Event, Plan, RiichiBooking, save_event
from broker.protocol import SEATS, Fact, FinalDeclared, LogMessage, Refused, Undo, Void
from broker.rulings.final import open_matters
from broker.store import SqliteJournal
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import NAME, event
from tests.kiosk.riichi_tables import RiichiSitting

PLAYERS = event().plan.players
BOOKING = RiichiBooking(
    round=1,
    table=9,
    profile="riichi-montreal",
    players={seat: player.id for seat, player in zip(SEATS, PLAYERS, strict=False)},
)
PLAN = Plan(name=NAME, title="Club", profile="oedmc-2020", players=PLAYERS, riichi=(BOOKING,))


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Hall]:
    """A scorer of an event with one riichi table."""
    with open_journal(tmp_path) as journal:
        yield make_hall(tmp_path, journal, Event(PLAN, (), {}))


def told(*facts: Fact) -> list[LogMessage]:
    """Return messages with a table's facts."""
    return [
        LogMessage(id=f"riichi-{seq:04}", event=NAME, table=9, seq=seq, at=seq, fact=fact)
        for seq, fact in enumerate(facts, 1)
    ]


def two_hands() -> RiichiSitting:
    """Play two hands, with a minor fault between them."""
    table = RiichiSitting()
    table.begin()
    table.ron("south", "west")
    table.record()
    table.next_deal()
    table.tell("minor_fault", offenders=["north"])
    table.hold("east")
    table.drawn("south")
    table.record()
    return table


def test_a_table_gets_its_session_and_the_standing_after_each_hand(club: Hall) -> None:
    club.connect(up=True)
    plan = club.ear.told("assignment/9")
    assert (plan["profile"], plan["plays"], plan["session"]["standing"]) == ("riichi-montreal", [], None)
    table = two_hands()
    club.hear(*told(*table.facts))
    session = club.ear.told("assignment/9")["session"]
    assert (session["entries"], session["standing"]["hand"]) == (3, 3)
    assert tuple(session["standing"]["scores"][seat] for seat in SEATS) == tuple(table.session.state.scores)
    assert club.alerts() == []


def test_facts_in_another_order_give_the_same_session(club: Hall) -> None:
    messages = told(*two_hands().facts)
    club.hear(*reversed(messages))
    assert [fact.entry for fact in club.scorer.state.tables.sessions.entries((9, 1))] == [1, 2, 3]


def test_an_entry_that_does_not_follow_makes_an_alert(club: Hall) -> None:
    facts = two_hands().facts
    forged = [
        msgspec.structs.replace(fact, deltas=dict.fromkeys(SEATS, 0)) if getattr(fact, "entry", 0) == 1 else fact
        for fact in facts
    ]
    club.hear(*told(*forged))
    assert club.alerts() == [("session_differs", 9)]


def test_facts_of_another_kind_or_profile_are_refused(club: Hall) -> None:
    hand = next(fact for fact in two_hands().facts if hasattr(fact, "entry"))
    (message,) = told(msgspec.structs.replace(hand, profile="riichi-basic"))
    club.hear(message)
    assert club.alerts() == [("wrong_profile", 9)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"profile": "riichi-nowhere"}, "no riichi profile"),
        ({"players": {"east": "p01"}}, "four players"),
        ({"players": {**BOOKING.players, "east": "p99"}}, "p99 is not in the player list"),
    ],
)
def test_a_session_that_cannot_be_played_is_reported_before_the_event(change: dict[str, object], says: str) -> None:
    booking = msgspec.structs.replace(BOOKING, **change)
    with pytest.raises(BadEvent, match=says):
        Event(msgspec.structs.replace(PLAN, riichi=(booking,)), (), {})


def test_the_sheet_of_a_session_is_made_from_the_store(tmp_path: Path) -> None:
    save_event(tmp_path, PLAN, (), {})
    with closing(SqliteJournal(tmp_path / "scorer.sqlite", NAME)) as journal:
        make_hall(tmp_path, journal, Event(PLAN, (), {})).hear(*told(*two_hands().facts))
    ran = CliRunner().invoke(homologue, ["rules", "sheet", "--event", str(tmp_path), "--table", "9"])
    assert ran.exit_code == 0, ran.output
    assert PLAYERS[0].name in ran.output
    assert "28900" in ran.output.replace(" ", "").replace("\N{NO-BREAK SPACE}", "")
    ran = CliRunner().invoke(homologue, ["rules", "sheet", "--event", str(tmp_path), "--table", "8"])
    assert "no_such_session" in ran.output


def test_a_session_without_a_hand_is_open_until_it_is_ruled_not_to_take_place(club: Hall) -> None:
    give, room = club.scorer.rulings.give, club.scorer.state
    assert open_matters(room, NOW).sessions == ((9, 1),)
    with pytest.raises(Refused, match="still open"):
        give(draft(room, FinalDeclared()), HEAD)
    entry = give(draft(room, Void(), (9, 1)), HEAD)
    assert open_matters(room, NOW).is_empty
    give(draft(room, Undo(ruling=entry.id)), HEAD)
    assert open_matters(room, NOW).sessions == ((9, 1),)
    club.hear(*told(*two_hands().facts))
    assert open_matters(room, NOW).is_empty
    with pytest.raises(Refused, match="hands of this session"):
        give(draft(room, Void(), (9, 1)), HEAD)
    give(draft(room, FinalDeclared()), HEAD)
    assert room.final
