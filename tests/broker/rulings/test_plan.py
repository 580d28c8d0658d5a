"""Withdrawn players, substitutes, and corrections of the plan."""

from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.event import Event, Origin
from broker.protocol import (
    Adjusted,
    AnyDecision,
    AwardGiven,
    Deadline,
    DealPlayed,
    LogMessage,
    PlayerCorrected,
    Refused,
    Result,
    Ruling,
    Session,
    SessionsCorrected,
    Substitute,
    TitleCorrected,
    Undo,
    Void,
    Withdrawn,
)
from broker.rulings import RulingAuthor, sitting_players
from broker.rulings.plan import with_substitutes
from broker.scorer import EventState, open_part
from tests.broker.rulings.ruled import HEAD, ORGANISER, TABLE, contents, draft, ruling, state_of
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.hall import Hall, make_hall
from tests.broker.scorer.small import event, log, result, state, steps_to, whole_event, whole_play
from tests.examples import COSTLY

GONE = "p07"
THERE = {
    one.round: (one.table, {player: seat for seat, player in one.players.items()}) for one in event().bookings_of[GONE]
}
INSTEAD = Substitute(player=GONE, name="Ada Reserve", first_round=3)
WITHDRAWN = Withdrawn(player=GONE, first_round=3)


def give(hall: Hall, decision: AnyDecision, author: RulingAuthor = HEAD) -> str:
    """Issue a ruling and return its id."""
    return hall.scorer.rulings.give(draft(hall.scorer.state, decision), author).id


def plan_at(hall: Hall, table: int) -> Any:  # noqa: ANN401 - JSON
    """Return the last assignment published to a table."""
    return hall.ear.told(f"assignment/{table}")


def names_of(hall: Hall) -> list[str]:
    """Return the assigned names in the absent player's seats, by round."""
    return [
        plan_at(hall, table)["plays"][at]["players"][seats[GONE]]["name"]
        for at, (table, seats) in enumerate(THERE.values())
    ]


def test_a_substitute_is_assigned_from_their_first_round_on_and_changes_nobodys_imps(hall: Hall) -> None:
    hall.hear(*until_round(2))
    before = contents(hall.scorer.state)
    hall.connect(up=True)
    one = give(hall, INSTEAD)
    assert names_of(hall) == ["Player 7", "Player 7", "Ada Reserve", "Ada Reserve"]
    assert contents(hall.scorer.state) == before
    give(hall, Undo(ruling=one))
    assert names_of(hall) == ["Player 7"] * 4


def test_a_returning_player_is_assigned_under_their_own_name(hall: Hall) -> None:
    hall.connect(up=True)
    give(hall, Substitute(player=GONE, name="Ada Reserve", first_round=2))
    give(hall, Substitute(player=GONE, name="Player 7", first_round=4))
    assert names_of(hall) == ["Player 7", "Ada Reserve", "Ada Reserve", "Player 7"]


def test_a_returning_player_is_no_substitute_and_follows_later_name_corrections(hall: Hall) -> None:
    hall.connect(up=True)
    give(hall, Substitute(player=GONE, name="Ada Reserve", first_round=1))
    give(hall, Substitute(player=GONE, name="player 7", first_round=2))
    seats = THERE[2][1]

    def names_shown() -> list[object]:
        room = hall.scorer.state
        sitting = sitting_players(room.event, room.book, 2, {seats[GONE]: GONE})[seats[GONE]].name
        return [*(room.snapshot().sat(GONE, round_) for round_ in (1, 2)), sitting, *names_of(hall)]

    assert names_shown() == ["Ada Reserve", None, "Player 7", "Ada Reserve", *["Player 7"] * 3]
    given = give(hall, PlayerCorrected(player=GONE, name="Zoe", country="", club="", national="", ema=""))
    assert names_shown() == ["Ada Reserve", None, "Zoe", "Ada Reserve", *["Zoe"] * 3]
    again = EventState(event())
    again.load(hall.journal.messages())
    assert again.snapshot().stand_ins == hall.scorer.state.snapshot().stand_ins
    give(hall, Substitute(player=GONE, name="Zoe", first_round=1))
    give(hall, Undo(ruling=given))
    assert names_shown() == [None, None, "Player 7", *["Player 7"] * 4]


@pytest.mark.parametrize(("own", "typed"), [("José Sá", "JOS\u00c9 S\u00c1"), ("Ma Long", "Ｍａ\u3000Ｌｏｎｇ")])
def test_names_are_compared_independently_of_their_encoding(hall: Hall, own: str, typed: str) -> None:
    decomposed = normalize("NFD", own)
    give(hall, PlayerCorrected(player=GONE, name=decomposed, country="", club="", national="", ema=""))
    give(hall, Substitute(player=GONE, name="Ada Reserve", first_round=1))
    with pytest.raises(Refused) as refused:
        give(hall, Substitute(player="p08", name="ADA\u3000RESERVE", first_round=1))
    assert refused.value.code == "sits_elsewhere"
    give(hall, Substitute(player=GONE, name=typed, first_round=2))
    assert hall.scorer.state.snapshot().sat(GONE, 2) is None
    with pytest.raises(Refused) as refused:
        give(hall, Substitute(player="p08", name=typed, first_round=2))
    assert refused.value.code == "sits_elsewhere"


def test_the_dashboard_shows_the_substitute_by_name(hall: Hall) -> None:
    table, seats = THERE[1]
    hall.hear(state(table))
    give(hall, Substitute(player=GONE, name="Ada Reserve", first_round=1))
    hall.hear(state(table, seq=1))
    shown = next(one for one in hall.scorer.feed.current.tables if one.table == table)
    assert shown.players[seats[GONE]] == "Ada Reserve"


def test_plays_of_a_withdrawn_player_are_adjusted_and_left_out_by_their_tables(hall: Hall) -> None:
    hall.hear(*until_round(2))
    hall.connect(up=True)
    one, room = give(hall, WITHDRAWN), hall.scorer.state
    for round_ in (3, 4):
        table, seats = THERE[round_]
        assert room.play((table, round_)).replacement_imps == {player: -3 if player == GONE else 3 for player in seats}
        assert plan_at(hall, table)["settled"] == [at for at, (where, _) in THERE.items() if at > 2 and where == table]
    assert room.play((THERE[2][0], 2)).rulings == ()
    give(hall, Undo(ruling=one))
    assert [plan_at(hall, table)["settled"] for table, _ in THERE.values()] == [[]] * 4
    assert contents(room) == contents(state_of(until_round(2)))


def test_a_substitute_found_later_plays_the_remaining_rounds(hall: Hall) -> None:
    hall.hear(*until_round(2))
    give(hall, WITHDRAWN)
    give(hall, Substitute(player=GONE, name="Ada Reserve", first_round=4))
    room = hall.scorer.state
    assert [room.play((THERE[round_][0], round_)).settled for round_ in (3, 4)] == [True, False]


def test_a_ruling_on_a_play_of_a_withdrawn_player_overrides_the_adjustment(hall: Hall) -> None:
    hall.hear(*until_round(2))
    give(hall, WITHDRAWN)
    table, seats = THERE[3]
    room = hall.scorer.state
    gives: dict[str, AwardGiven] = dict.fromkeys(seats, 5)
    hall.scorer.rulings.give(draft(room, Adjusted(gives=gives), (table, 3)), HEAD)
    assert room.play((table, 3)).replacement_imps == gives


def test_the_preview_of_a_withdrawal_lists_everybody_affected(hall: Hall) -> None:
    hall.hear(*until_round(2))
    room = hall.scorer.state
    effects = hall.scorer.rulings.effects(draft(room, WITHDRAWN), HEAD)
    at_tables = {player for round_ in (3, 4) for player in THERE[round_][1]}
    assert {one.name for one in effects.players if one.by} == at_tables


def test_a_result_overrides_an_earlier_withdrawal(hall: Hall) -> None:
    hall.hear(*until_round(3))
    give(hall, Withdrawn(player=GONE, first_round=4))
    hall.hear(*(one for one in whole_event() if one.fact.round == 4))
    assert contents(hall.scorer.state) == contents(state_of())


@pytest.mark.parametrize(
    ("decision", "author", "code"),
    [
        (INSTEAD, TABLE, "head_arbiter_only"),
        (WITHDRAWN, TABLE, "head_arbiter_only"),
        (Substitute(player="p99", name="Ada", first_round=3), HEAD, "nobody_of_event"),
        (Withdrawn(player=GONE, first_round=5), HEAD, "plays_nothing"),
        (Withdrawn(player=GONE, first_round=1), HEAD, "plays_nothing"),
        (Substitute(player=GONE, name="player 8", first_round=3), HEAD, "sits_elsewhere"),
    ],
)
def test_an_impossible_ruling_on_players_is_refused_with_its_code(
    hall: Hall, decision: AnyDecision, author: RulingAuthor, code: str
) -> None:
    hall.hear(*whole_event())
    with pytest.raises(Refused) as refused:
        give(hall, decision, author)
    assert refused.value.code == code


def test_a_ruling_on_players_that_was_drafted_before_another_is_refused(hall: Hall) -> None:
    seen = draft(hall.scorer.state, WITHDRAWN, id="ruling-late")
    give(hall, INSTEAD)
    with pytest.raises(Refused) as refused:
        hall.scorer.rulings.give(seen, HEAD)
    assert refused.value.code == "ruling_conflict"


def test_a_restart_gives_the_same_state(hall: Hall) -> None:
    hall.hear(*until_round(2))
    give(hall, WITHDRAWN)
    give(hall, Substitute(player="p01", name="Ada Reserve", first_round=4))
    again = EventState(event())
    again.load(hall.journal.messages())
    assert contents(again) == contents(hall.scorer.state)
    plays = event().plays_of(1)
    assert with_substitutes(again.book, plays) == with_substitutes(hall.scorer.state.book, plays)


ABSENT = st.builds(
    lambda player, round_, name: (
        Substitute(player=player, name=name, first_round=round_)
        if name
        else Withdrawn(player=player, first_round=round_)
    ),
    st.sampled_from(sorted(event().players)),
    st.integers(1, 4),
    st.sampled_from(["", "", "Ada Reserve", "Bo Reserve"]),
)


@given(st.lists(ABSENT, max_size=4), st.integers(0, 16), st.booleans())
@COSTLY
def test_the_order_of_rulings_and_results_does_not_matter(
    decisions: list[AnyDecision],
    played: int,
    undone: bool,  # noqa: FBT001 - drawn
) -> None:
    results = [one for one in whole_event() if isinstance(one.fact, Result)][:played]
    first, last, again = state_of(results), state_of([]), EventState(event())
    stored: list[Ruling] = []
    for decision in decisions:
        stored.append(ruling(first, decision))
        first.apply(stored[-1])
    if undone and stored:
        stored.append(ruling(first, Undo(ruling=stored[-1].id)))
        first.apply(stored[-1])
    everything: list[Ruling | LogMessage] = [*stored, *results]
    for one in everything:
        last.apply(one)
    again.load(everything)
    assert contents(first) == contents(last) == contents(again)


CORRECTED_PLAYER = "p07"
PLACES = {one.round: (one.table, one.players) for one in event().bookings_of[CORRECTED_PLAYER]}
CORRECTION = PlayerCorrected(
    player=CORRECTED_PLAYER, name="Zoé Öztürk", country="FRA", club="Lille", national="N7", ema="04000007"
)
NEW_SESSIONS = SessionsCorrected(sessions=(Session("Friday", 1, 4, "2026-05-01T19:30", 20),))


def correct_plan(hall: Hall, decision: AnyDecision, author: RulingAuthor = ORGANISER) -> str:
    """Issue a ruling and return its id."""
    return hall.scorer.rulings.give(draft(hall.scorer.state, decision), author).id


def assigned_names(hall: Hall) -> set[str]:
    """Return the names of this player in the last assignments of the tables."""
    return {
        hall.ear.told(f"assignment/{table}")["plays"][round_ - 1]["players"][seat]["name"]
        for round_, (table, players) in PLACES.items()
        for seat, player in players.items()
        if player == CORRECTED_PLAYER
    }


def name_in(rows: Any) -> str:  # noqa: ANN401 - standings as messages or as JSON
    """Return the player's name in standings."""
    (found,) = [row["name"] if isinstance(row, dict) else row.name for row in rows if CORRECTED_PLAYER in str(row)]
    return str(found)


def test_a_corrected_name_appears_everywhere_and_changes_nobodys_imps(hall: Hall) -> None:
    hall.connect(up=True)
    hall.hear(*until_round(2))
    before = contents(hall.scorer.state)
    given = correct_plan(hall, CORRECTION)
    assert assigned_names(hall) == {"Zoé Öztürk"}
    assert [name_in(hall.ear.told(topic)["rows"]) for topic in ("/standings", "public/places")] == ["Zoé Öztürk"] * 2
    hall.connect(up=True)
    snapshot = hall.scorer.snapshot
    assert (name_in(snapshot.standings), name_in(open_part(snapshot).standings)) == ("Zoé Öztürk", "Zoé Öztürk")
    assert name_in(hall.scorer.feed.current.standings) == "Zoé Öztürk"
    assert snapshot.event.origin_of(CORRECTED_PLAYER) == Origin("FRA", "Lille")
    assert "Zoé Öztürk" in (hall.folder / "standings.csv").read_text(encoding="utf-8")
    assert contents(hall.scorer.state) == before
    correct_plan(hall, Undo(ruling=given))
    assert (assigned_names(hall), hall.scorer.state.event.players[CORRECTED_PLAYER].name) == ({"Player 7"}, "Player 7")


def test_a_correction_of_the_plan_affects_no_player_and_no_play(hall: Hall) -> None:
    for decision in (CORRECTION, NEW_SESSIONS, TitleCorrected(title="The Right Cup")):
        effects = hall.scorer.rulings.effects(draft(hall.scorer.state, decision), ORGANISER)
        assert (effects.players, effects.teams, effects.plays) == ((), (), ())
        assert hall.scorer.state.event is event()


def test_corrected_minutes_are_assigned_to_all_tables(hall: Hall) -> None:
    hall.connect(up=True)
    correct_plan(hall, NEW_SESSIONS)
    minutes = [hall.ear.told(f"assignment/{table}")["minutes"] for table in event().tables]
    assert minutes == [{"1": 20, "2": 20, "3": 20, "4": 20}] * 4


def test_the_dashboard_shows_the_minutes_that_the_table_reports(hall: Hall) -> None:
    hall.hear(state(1), replace(state(2), minutes=40))
    correct_plan(hall, NEW_SESSIONS)
    assert [table.minutes for table in hall.scorer.feed.current.tables[:2]] == [None, 40]
    hall.hear(replace(state(2, count=2), minutes=20))
    assert hall.scorer.feed.current.tables[1].minutes == 20


def test_the_dashboard_shows_the_corrected_title(hall: Hall) -> None:
    correct_plan(hall, TitleCorrected(title="The Right Cup"))
    hall.connect(up=True)
    assert hall.scorer.feed.current.title == "The Right Cup"
    assert hall.scorer.snapshot.event.name == event().name


@pytest.mark.parametrize(
    ("decision", "author", "code"),
    [
        (CORRECTION, TABLE, "head_arbiter_only"),
        (NEW_SESSIONS, TABLE, "head_arbiter_only"),
        (Deadline(at=0), ORGANISER, "plan_only"),
        (PlayerCorrected(player="p99", name="Nobody"), ORGANISER, "nobody_of_event"),
        (PlayerCorrected(player=CORRECTED_PLAYER, name="A\u202eB"), ORGANISER, "not_printable"),
        (PlayerCorrected(player=CORRECTED_PLAYER, name="Anna", club=" x"), ORGANISER, "not_printable"),
        (TitleCorrected(title="\x07"), HEAD, "not_printable"),
        (SessionsCorrected(sessions=(Session("Friday", 1, 3),)), ORGANISER, "sessions_wrong"),
        (SessionsCorrected(sessions=(Session("Friday", 1, 5),)), ORGANISER, "sessions_wrong"),
        (SessionsCorrected(sessions=(Session("A", 1, 3), Session("B", 3, 4))), HEAD, "sessions_wrong"),
    ],
)
def test_an_impossible_correction_is_refused_with_its_code(
    hall: Hall, decision: AnyDecision, author: RulingAuthor, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        correct_plan(hall, decision, author)
    assert refused.value.code == code


def test_an_organiser_can_neither_rule_on_a_play_nor_undo_such_a_ruling(hall: Hall) -> None:
    hall.hear(*until_round(1))
    void = draft(hall.scorer.state, Void(), (1, 1))
    with pytest.raises(Refused) as refused:
        hall.scorer.rulings.give(void, ORGANISER)
    given = hall.scorer.rulings.give(void, HEAD).id
    with pytest.raises(Refused) as again:
        correct_plan(hall, Undo(ruling=given))
    assert (refused.value.code, again.value.code) == ("plan_only", "plan_only")


def test_a_table_arbiter_cannot_undo_a_correction_of_the_plan(hall: Hall) -> None:
    given = correct_plan(hall, CORRECTION)
    with pytest.raises(Refused) as refused:
        correct_plan(hall, Undo(ruling=given), TABLE)
    assert refused.value.code == "head_arbiter_only"


def test_a_correction_drafted_before_another_of_the_same_player_is_refused(hall: Hall) -> None:
    seen = draft(hall.scorer.state, CORRECTION, id="ruling-late")
    other = draft(hall.scorer.state, PlayerCorrected(player="p08", name="Somebody Else"), id="ruling-other")
    correct_plan(hall, PlayerCorrected(player=CORRECTED_PLAYER, name="Zoe"))
    with pytest.raises(Refused) as refused:
        hall.scorer.rulings.give(seen, HEAD)
    assert refused.value.code == "ruling_conflict"
    hall.scorer.rulings.give(other, HEAD)


def corrected_parts(current: Event) -> object:
    """Return everything that corrections can change."""
    plan = current.plan
    return (
        plan.title,
        plan.sessions,
        plan.players,
        current.players,
        {one: current.origin_of(one) for one in current.players},
    )


CORRECTIONS = st.one_of(
    st.builds(
        PlayerCorrected,
        player=st.sampled_from(["p01", "p02", CORRECTED_PLAYER]),
        name=st.sampled_from(["Anna", "Bea", "李"]),
        country=st.sampled_from(["", "FRA", "CN"]),
    ),
    st.builds(TitleCorrected, title=st.sampled_from(["One", "Two"])),
    st.builds(SessionsCorrected, sessions=st.sampled_from([(), NEW_SESSIONS.sessions])),
)


@given(st.lists(st.one_of(CORRECTIONS, st.integers(0, 5)), max_size=8))
def test_corrections_survive_a_restart_and_can_all_be_undone(
    steps: list[AnyDecision | int],
) -> None:
    live, journal = state_of([]), list[Ruling]()
    for step in steps:
        known = list(live.book.entries)
        if isinstance(step, int) and step >= len(known):
            continue
        decision = Undo(ruling=known[step]) if isinstance(step, int) else step
        if isinstance(decision, Undo) and not live.book.counts(decision.ruling):
            continue
        journal.append(ruling(live, decision))
        live.apply(journal[-1])
    again = EventState(event())
    again.load(journal)
    assert corrected_parts(again.event) == corrected_parts(live.event)
    for one in [one for one in live.book.entries.values() if not isinstance(one.decision, Undo)]:
        if live.book.counts(one.id):
            live.apply(ruling(live, Undo(ruling=one.id)))
    assert corrected_parts(live.event) == corrected_parts(event())


def test_previews_and_alerts_use_the_corrected_name_after_a_restart_too(hall: Hall) -> None:
    correct_plan(hall, CORRECTION)
    effects = hall.scorer.rulings.effects(
        draft(hall.scorer.state, Substitute(player=CORRECTED_PLAYER, name="Ada", first_round=2)), HEAD
    )
    assert effects.change.before
    assert effects.change.before.sitting == "Zoé Öztürk"
    (table, _), (later, _) = PLACES[1], PLACES[2]
    deal = event().bookings[later, 2].deal
    hall.scorer.rulings.give(draft(hall.scorer.state, DealPlayed(played=deal, result=None), (table, 1)), HEAD)
    first = replace(result(table, 1), deal=deal)
    messages = log(table, *steps_to(first))
    hall.hear(*messages, *whole_play(later, 2, first=6 if later == table else 1, forward=True))
    alert_lists = (hall.scorer.live.alerts, make_hall(hall.folder, hall.journal).scorer.live.alerts)
    live, restarted = ([one.text for one in alerts.newest_first()] for alerts in alert_lists)
    assert live == restarted
    assert "Zoé Öztürk" in live[0]
    assert f"already played deal {deal}" in live[0]
