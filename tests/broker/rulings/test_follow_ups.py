"""A deal that counts twice for a player is listed until an arbiter rules on it, and prevents a final result."""

import pytest

from broker.protocol import SEATS, Adjusted, AnyDecision, Award, DealPlayed, FinalDeclared, Fouled, Undo, Void
from broker.rulings.follow_ups import follow_ups, missed_deals
from broker.scorer import EventState, open_part
from tests.broker.rulings.ruled import ruling, state_of
from tests.broker.scorer.small import event, whole_event

EARLY = (1, 1)
HERE = set(event().bookings[EARLY].players.values())
DEAL = event().bookings[1, 2].deal
AGAIN = {key: HERE & set(event().bookings[key].players.values()) for key in event().plays_with(DEAL)}
LATER = sorted((key for key, players in AGAIN.items() if players), key=lambda key: (key[1], key[0]))


def played(*, until: int) -> EventState:
    """Return a state in which a table has played in round 1 a deal that its players meet later."""
    room = state_of([one for one in whole_event() if one.fact.round <= until])
    room.apply(ruling(room, DealPlayed(played=DEAL, result=room.results[EARLY].id), EARLY))
    return room


def listed(room: EventState) -> list[tuple[tuple[int, int], int, bool]]:
    return [((one.table, one.round), one.deal, one.played) for one in follow_ups(event(), room)]


def test_repeated_deals_stay_listed_after_they_are_played_and_prevent_a_final_result() -> None:
    assert listed(played(until=1)) == [(key, DEAL, False) for key in LATER]
    room = played(until=4)
    assert listed(room) == [(key, DEAL, True) for key in LATER]
    assert [set(one.again) for one in follow_ups(event(), room)] == [AGAIN[key] for key in LATER]
    room.apply(ruling(room, FinalDeclared()))
    snapshot = room.snapshot()
    assert (room.over, room.final, snapshot.final, open_part(snapshot).final) == (True, *[False] * 3)


@pytest.mark.parametrize("awarded", [False, True])
def test_a_ruling_on_a_repeated_deal_removes_it_from_the_list_until_undone(*, awarded: bool) -> None:
    room = played(until=4)
    for key in LATER:
        players = event().bookings[key].players
        decision = Award(gives={players[seat]: 0 for seat in SEATS}) if awarded else Void()
        room.apply(ruling(room, decision, key))
    room.apply(ruling(room, FinalDeclared()))
    assert (listed(room), room.final, open_part(room.snapshot()).final) == ([], True, True)
    room.apply(ruling(room, Undo(ruling=list(room.book.entries)[-2])))
    assert (listed(room), room.final) == ([(LATER[-1], DEAL, True)], False)


def test_missed_deals_are_in_the_same_order_after_a_restart() -> None:
    room, stored = state_of([]), []
    stored.append(ruling(room, Fouled(groups=((1,), (2, 3, 4))), deal=event().bookings[EARLY].deal))
    room.apply(stored[0])
    for key in ((2, 2), EARLY):
        other = event().bookings[key].deal % 4 + 1
        stored.append(ruling(room, DealPlayed(played=other, result=None), key))
        room.apply(stored[-1])
    again = EventState(event())
    again.load(stored)
    assert missed_deals(again) == missed_deals(room)


@pytest.mark.parametrize("decision", [Void(), Adjusted(gives=dict.fromkeys(HERE, "nobody"))])
def test_players_of_a_play_that_does_not_count_still_know_its_deal(decision: AnyDecision) -> None:
    for until in (1, 4):
        room = played(until=until)
        room.apply(ruling(room, decision, EARLY))
        assert listed(room) == [(key, DEAL, until == 4) for key in LATER]
        assert not room.final


def test_players_adjusted_for_an_unplayed_play_do_not_know_its_deal() -> None:
    for until in (0, 4):
        room = state_of([one for one in whole_event() if EARLY[1] < one.fact.round <= until])
        room.apply(ruling(room, DealPlayed(played=DEAL, result=None), EARLY))
        room.apply(ruling(room, Adjusted(gives=dict.fromkeys(HERE, "nobody")), EARLY))
        assert listed(room) == []
