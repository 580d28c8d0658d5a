"""Somebody leaves: another sits down and plays for them, or their plays are adjusted; the tables are told."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.facts import Result
from broker.contract.messages import LogMessage, Ruling
from broker.contract.rulings import Adjusted, AnyDecision, Given, PlayerCorrected, Substitute, Undo, Withdrawn
from broker.contract.wire import Refused
from broker.scorer.room import Room
from broker.scorer.rulings.absences import sitting, with_substitutes
from broker.scorer.rulings.entry import Author
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.hall import Hall
from tests.broker.scorer.rulings.ruled import HEAD, TABLE, draft, room_of, ruling, told
from tests.broker.scorer.small import event, state, whole_event
from tests.examples import COSTLY

GONE = "p07"
THERE = {
    one.round: (one.table, {player: seat for seat, player in one.players.items()}) for one in event().bookings_of[GONE]
}
INSTEAD = Substitute(player=GONE, name="Ada Reserve", first_round=3)
WITHDRAWN = Withdrawn(player=GONE, first_round=3)


def give(hall: Hall, decision: AnyDecision, author: Author = HEAD) -> str:
    """Rule; give the ruling's id."""
    return hall.scorer.rulings.give(draft(hall.scorer._room, decision), author).id


def plan_at(hall: Hall, table: int) -> Any:  # noqa: ANN401 - JSON
    """Give what a table was told last that it is to do."""
    return hall.ear.told(f"assignment/{table}")


def names_of(hall: Hall) -> list[str]:
    """Give who is to sit in the seats of who is gone, round by round, as their tables were told."""
    return [
        plan_at(hall, table)["plays"][at]["players"][seats[GONE]]["name"]
        for at, (table, seats) in enumerate(THERE.values())
    ]


def test_the_tables_are_told_who_sits_in_the_seats_from_that_round_on_and_nobodys_imps_move(hall: Hall) -> None:
    hall.hear(*until_round(2))
    before = told(hall.scorer._room)
    hall.connect(up=True)
    one = give(hall, INSTEAD)
    assert names_of(hall) == ["Player 7", "Player 7", "Ada Reserve", "Ada Reserve"]
    assert told(hall.scorer._room) == before
    give(hall, Undo(ruling=one))
    assert names_of(hall) == ["Player 7"] * 4


def test_who_comes_back_sits_under_the_own_name_again(hall: Hall) -> None:
    hall.connect(up=True)
    give(hall, Substitute(player=GONE, name="Ada Reserve", first_round=2))
    give(hall, Substitute(player=GONE, name="Player 7", first_round=4))
    assert names_of(hall) == ["Player 7", "Ada Reserve", "Ada Reserve", "Player 7"]


def test_who_is_back_is_nobodys_substitute_and_goes_by_the_name_that_is_corrected_later(hall: Hall) -> None:
    hall.connect(up=True)
    give(hall, Substitute(player=GONE, name="Ada Reserve", first_round=1))
    give(hall, Substitute(player=GONE, name="player 7", first_round=2))
    seats = THERE[2][1]

    def shown() -> list[object]:
        room = hall.scorer._room
        sits = sitting(room.event, room.book, 2, {seats[GONE]: GONE})[seats[GONE]].name
        return [*(room.moment().sat(GONE, round_) for round_ in (1, 2)), sits, *names_of(hall)]

    assert shown() == ["Ada Reserve", None, "Player 7", "Ada Reserve", *["Player 7"] * 3]
    given = give(hall, PlayerCorrected(player=GONE, name="Zoe", country="", club="", national="", ema=""))
    assert shown() == ["Ada Reserve", None, "Zoe", "Ada Reserve", *["Zoe"] * 3]
    again = Room(event())
    again.load(hall.journal.messages())
    assert again.moment().stand_ins == hall.scorer._room.moment().stand_ins
    give(hall, Substitute(player=GONE, name="Zoe", first_round=1))
    give(hall, Undo(ruling=given))
    assert shown() == [None, None, "Player 7", *["Player 7"] * 4]


def test_a_table_that_the_substitute_sits_at_is_shown_with_that_name(hall: Hall) -> None:
    table, seats = THERE[1]
    hall.hear(state(table))
    give(hall, Substitute(player=GONE, name="Ada Reserve", first_round=1))
    hall.hear(state(table, seq=1))
    shown = next(one for one in hall.scorer.feed.current.tables if one.table == table)
    assert shown.players[seats[GONE]] == "Ada Reserve"


def test_plays_of_who_has_withdrawn_are_adjusted_for_all_four_and_their_tables_leave_them_out(hall: Hall) -> None:
    hall.hear(*until_round(2))
    hall.connect(up=True)
    one, room = give(hall, WITHDRAWN), hall.scorer._room
    for round_ in (3, 4):
        table, seats = THERE[round_]
        assert room.play((table, round_)).instead == {player: -3 if player == GONE else 3 for player in seats}
        assert plan_at(hall, table)["settled"] == [at for at, (where, _) in THERE.items() if at > 2 and where == table]
    assert room.play((THERE[2][0], 2)).rulings == ()
    give(hall, Undo(ruling=one))
    assert [plan_at(hall, table)["settled"] for table, _ in THERE.values()] == [[]] * 4
    assert told(room) == told(room_of(until_round(2)))


def test_a_substitute_who_is_found_later_plays_what_is_left(hall: Hall) -> None:
    hall.hear(*until_round(2))
    give(hall, WITHDRAWN)
    give(hall, Substitute(player=GONE, name="Ada Reserve", first_round=4))
    room = hall.scorer._room
    assert [room.play((THERE[round_][0], round_)).settled for round_ in (3, 4)] == [True, False]


def test_what_an_arbiter_rules_on_such_a_play_holds_before_what_follows_from_the_withdrawal(hall: Hall) -> None:
    hall.hear(*until_round(2))
    give(hall, WITHDRAWN)
    table, seats = THERE[3]
    room = hall.scorer._room
    gives: dict[str, Given] = dict.fromkeys(seats, 5)
    hall.scorer.rulings.give(draft(room, Adjusted(gives=gives), (table, 3)), HEAD)
    assert room.play((table, 3)).instead == gives


def test_before_a_withdrawal_is_published_everybody_whom_it_moves_is_shown(hall: Hall) -> None:
    hall.hear(*until_round(2))
    room = hall.scorer._room
    effects = hall.scorer.rulings.effects(draft(room, WITHDRAWN), HEAD)
    at_tables = {player for round_ in (3, 4) for player in THERE[round_][1]}
    assert {one.name for one in effects.players if one.by} == at_tables


def test_a_result_says_that_they_played_whatever_was_ruled_before(hall: Hall) -> None:
    hall.hear(*until_round(3))
    give(hall, Withdrawn(player=GONE, first_round=4))
    hall.hear(*(one for one in whole_event() if one.fact.round == 4))
    assert told(hall.scorer._room) == told(room_of())


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
def test_what_cannot_be_is_refused_by_code(hall: Hall, decision: AnyDecision, author: Author, code: str) -> None:
    hall.hear(*whole_event())
    with pytest.raises(Refused) as refused:
        give(hall, decision, author)
    assert refused.value.code == code


def test_over_what_another_has_just_ruled_on_who_plays_nobody_rules_unseen(hall: Hall) -> None:
    seen = draft(hall.scorer._room, WITHDRAWN, id="ruling-late")
    give(hall, INSTEAD)
    with pytest.raises(Refused) as refused:
        hall.scorer.rulings.give(seen, HEAD)
    assert refused.value.code == "ruling_conflict"


def test_a_restart_comes_to_the_same(hall: Hall) -> None:
    hall.hear(*until_round(2))
    give(hall, WITHDRAWN)
    give(hall, Substitute(player="p01", name="Ada Reserve", first_round=4))
    again = Room(event())
    again.load(hall.journal.messages())
    assert told(again) == told(hall.scorer._room)
    plays = event().plays_of(1)
    assert with_substitutes(again.book, plays) == with_substitutes(hall.scorer._room.book, plays)


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
def test_whether_a_ruling_or_a_result_is_heard_first_the_room_comes_to_the_same(
    said: list[AnyDecision],
    played: int,
    undone: bool,  # noqa: FBT001 - drawn
) -> None:
    results = [one for one in whole_event() if isinstance(one.fact, Result)][:played]
    first, last, again = room_of(results), room_of([]), Room(event())
    stored: list[Ruling] = []
    for decision in said:
        stored.append(ruling(first, decision))
        first.apply(stored[-1])
    if undone and stored:
        stored.append(ruling(first, Undo(ruling=stored[-1].id)))
        first.apply(stored[-1])
    everything: list[Ruling | LogMessage] = [*stored, *results]
    for one in everything:
        last.apply(one)
    again.load(everything)
    assert told(first) == told(last) == told(again)
