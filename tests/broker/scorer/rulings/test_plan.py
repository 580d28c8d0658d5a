"""What the plan has wrong of players, title and clocks is corrected while the event goes on; who plays what stays."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.messages import Ruling
from broker.contract.rulings import (
    AnyDecision,
    Deadline,
    DealPlayed,
    PlayerCorrected,
    SessionsCorrected,
    Substitute,
    TitleCorrected,
    Undo,
    Void,
)
from broker.contract.sessions import Session
from broker.contract.wire import Refused
from broker.scorer.event import Event
from broker.scorer.moment import open_part
from broker.scorer.origins import Origin
from broker.scorer.room import Room
from broker.scorer.rulings.entry import Author
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.hall import Hall, make_hall
from tests.broker.scorer.rulings.ruled import HEAD, ORGANISER, TABLE, draft, room_of, ruling, told
from tests.broker.scorer.small import event, fact, result, state

WHO = "p07"
PLACES = {one.round: (one.table, one.players) for one in event().bookings_of[WHO]}
RIGHT = PlayerCorrected(player=WHO, name="Zoé Öztürk", country="FRA", club="Lille", national="N7", ema="04000007")
CLOCKS = SessionsCorrected(sessions=(Session("Friday", 1, 4, "2026-05-01T19:30", 20),))


def give(hall: Hall, decision: AnyDecision, author: Author = ORGANISER) -> str:
    """Rule; give the ruling's id."""
    return hall.scorer.rulings.give(draft(hall.scorer._room, decision), author).id


def names_told(hall: Hall) -> set[str]:
    """Give how the tables were told last that this player is called."""
    return {
        hall.ear.told(f"assignment/{table}")["plays"][round_ - 1]["players"][seat]["name"]
        for round_, (table, players) in PLACES.items()
        for seat, player in players.items()
        if player == WHO
    }


def name_in(rows: Any) -> str:  # noqa: ANN401 - standings as messages or as JSON
    """Give the player's name in standings."""
    (found,) = [row["name"] if isinstance(row, dict) else row.name for row in rows if WHO in str(row)]
    return str(found)


def test_a_name_is_right_everywhere_at_once_and_nobodys_imps_move(hall: Hall) -> None:
    hall.connect(up=True)
    hall.hear(*until_round(2))
    before = told(hall.scorer._room)
    given = give(hall, RIGHT)
    assert names_told(hall) == {"Zoé Öztürk"}
    assert [name_in(hall.ear.told(topic)["rows"]) for topic in ("/standings", "public/places")] == ["Zoé Öztürk"] * 2
    hall.connect(up=True)
    moment = hall.scorer.moment
    assert (name_in(moment.standings), name_in(open_part(moment).standings)) == ("Zoé Öztürk", "Zoé Öztürk")
    assert name_in(hall.scorer.feed.current.standings) == "Zoé Öztürk"
    assert moment.event.origin_of(WHO) == Origin("FRA", "Lille")
    assert "Zoé Öztürk" in (hall.folder / "standings.csv").read_text(encoding="utf-8")
    assert told(hall.scorer._room) == before
    give(hall, Undo(ruling=given))
    assert (names_told(hall), hall.scorer._room.event.players[WHO].name) == ({"Player 7"}, "Player 7")


def test_a_correction_moves_no_player_and_no_play(hall: Hall) -> None:
    for decision in (RIGHT, CLOCKS, TitleCorrected(title="The Right Cup")):
        effects = hall.scorer.rulings.effects(draft(hall.scorer._room, decision), ORGANISER)
        assert (effects.players, effects.teams, effects.plays) == ((), (), ())
        assert hall.scorer._room.event is event()


def test_all_tables_are_told_of_other_minutes(hall: Hall) -> None:
    hall.connect(up=True)
    give(hall, CLOCKS)
    told_ = [hall.ear.told(f"assignment/{table}")["minutes"] for table in event().tables]
    assert told_ == [{"1": 20, "2": 20, "3": 20, "4": 20}] * 4


def test_a_play_that_goes_on_keeps_on_the_desk_the_minutes_that_its_table_goes_by(hall: Hall) -> None:
    hall.hear(state(1), replace(state(2), minutes=40))
    give(hall, CLOCKS)
    assert [table.minutes for table in hall.scorer.feed.current.tables[:2]] == [None, 40]
    hall.hear(replace(state(2, count=2), minutes=20))
    assert hall.scorer.feed.current.tables[1].minutes == 20


def test_the_title_is_what_the_desk_shows(hall: Hall) -> None:
    give(hall, TitleCorrected(title="The Right Cup"))
    hall.connect(up=True)
    assert hall.scorer.feed.current.title == "The Right Cup"
    assert hall.scorer.moment.event.name == event().name


@pytest.mark.parametrize(
    ("decision", "author", "code"),
    [
        (RIGHT, TABLE, "head_arbiter_only"),
        (CLOCKS, TABLE, "head_arbiter_only"),
        (Deadline(at=0), ORGANISER, "plan_only"),
        (PlayerCorrected(player="p99", name="Nobody"), ORGANISER, "nobody_of_event"),
        (PlayerCorrected(player=WHO, name="A\u202eB"), ORGANISER, "not_printable"),
        (PlayerCorrected(player=WHO, name="Anna", club=" x"), ORGANISER, "not_printable"),
        (TitleCorrected(title="\x07"), HEAD, "not_printable"),
        (SessionsCorrected(sessions=(Session("Friday", 1, 3),)), ORGANISER, "sessions_wrong"),
        (SessionsCorrected(sessions=(Session("Friday", 1, 5),)), ORGANISER, "sessions_wrong"),
        (SessionsCorrected(sessions=(Session("A", 1, 3), Session("B", 3, 4))), HEAD, "sessions_wrong"),
    ],
)
def test_what_cannot_be_is_refused_by_code(hall: Hall, decision: AnyDecision, author: Author, code: str) -> None:
    with pytest.raises(Refused) as refused:
        give(hall, decision, author)
    assert refused.value.code == code


def test_an_organiser_rules_on_no_play_and_takes_no_ruling_on_one_back(hall: Hall) -> None:
    hall.hear(*until_round(1))
    void = draft(hall.scorer._room, Void(), (1, 1))
    with pytest.raises(Refused) as refused:
        hall.scorer.rulings.give(void, ORGANISER)
    given = hall.scorer.rulings.give(void, HEAD).id
    with pytest.raises(Refused) as again:
        give(hall, Undo(ruling=given))
    assert (refused.value.code, again.value.code) == ("plan_only", "plan_only")


def test_a_table_arbiter_takes_no_correction_of_the_plan_back(hall: Hall) -> None:
    given = give(hall, RIGHT)
    with pytest.raises(Refused) as refused:
        give(hall, Undo(ruling=given), TABLE)
    assert refused.value.code == "head_arbiter_only"


def test_over_what_another_has_just_corrected_nobody_corrects_unseen_but_of_another_player(hall: Hall) -> None:
    seen = draft(hall.scorer._room, RIGHT, id="ruling-late")
    other = draft(hall.scorer._room, PlayerCorrected(player="p08", name="Somebody Else"), id="ruling-other")
    give(hall, PlayerCorrected(player=WHO, name="Zoe"))
    with pytest.raises(Refused) as refused:
        hall.scorer.rulings.give(seen, HEAD)
    assert refused.value.code == "ruling_conflict"
    hall.scorer.rulings.give(other, HEAD)


def said(of: Event) -> object:
    """Give everything that corrections change."""
    plan = of.plan
    return plan.title, plan.sessions, plan.players, of.players, {one: of.origin_of(one) for one in of.players}


CORRECTIONS = st.one_of(
    st.builds(
        PlayerCorrected,
        player=st.sampled_from(["p01", "p02", WHO]),
        name=st.sampled_from(["Anna", "Bea", "李"]),
        country=st.sampled_from(["", "FRA", "CN"]),
    ),
    st.builds(TitleCorrected, title=st.sampled_from(["One", "Two"])),
    st.builds(SessionsCorrected, sessions=st.sampled_from([(), CLOCKS.sessions])),
)


@given(st.lists(st.one_of(CORRECTIONS, st.integers(0, 5)), max_size=8))
def test_read_again_the_event_is_as_it_was_and_without_corrections_as_it_was_planned(
    steps: list[AnyDecision | int],
) -> None:
    live, journal = room_of([]), list[Ruling]()
    for step in steps:
        known = list(live.book.entries)
        if isinstance(step, int) and step >= len(known):
            continue
        decision = Undo(ruling=known[step]) if isinstance(step, int) else step
        if isinstance(decision, Undo) and not live.book.counts(decision.ruling):
            continue
        journal.append(ruling(live, decision))
        live.apply(journal[-1])
    again = Room(event())
    again.load(journal)
    assert said(again.event) == said(live.event)
    for one in [one for one in live.book.entries.values() if not isinstance(one.decision, Undo)]:
        if live.book.counts(one.id):
            live.apply(ruling(live, Undo(ruling=one.id)))
    assert said(live.event) == said(event())


def test_what_is_looked_at_and_what_is_told_after_a_restart_have_the_corrected_name(hall: Hall) -> None:
    give(hall, RIGHT)
    effects = hall.scorer.rulings.effects(
        draft(hall.scorer._room, Substitute(player=WHO, name="Ada", first_round=2)), HEAD
    )
    assert effects.change.before
    assert effects.change.before.sits == "Zoé Öztürk"
    (table, _), (later, _) = PLACES[1], PLACES[2]
    deal = event().bookings[later, 2].deal
    hall.scorer.rulings.give(draft(hall.scorer._room, DealPlayed(played=deal, result=None), (table, 1)), HEAD)
    first, again = replace(result(table, 1), deal=deal), result(later, 2)
    hall.hear(fact(table, 1, first), fact(later, 1 + (later == table), again))
    kept = (hall.scorer._alerts, make_hall(hall.folder, hall.journal).scorer._alerts)
    live, restarted = ([one.text for one in alerts.newest_first()] for alerts in kept)
    assert live == restarted
    assert "Zoé Öztürk" in live[0]
    assert f"had deal {deal} before" in live[0]
