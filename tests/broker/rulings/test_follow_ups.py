"""A deal that counts twice for a player is named until an arbiter has ruled on it, and nothing is final before."""

import pytest

from broker.protocol import SEATS, Adjusted, AnyDecision, Award, DealPlayed, FinalDeclared, Fouled, Undo, Void
from broker.rulings.follow_ups import follow_ups, missed_deals
from broker.scorer import EventState, open_part
from tests.broker.rulings.ruled import room_of, ruling
from tests.broker.scorer.small import event, whole_event

EARLY = (1, 1)
HERE = set(event().bookings[EARLY].players.values())
DEAL = event().bookings[1, 2].deal
AGAIN = {key: HERE & set(event().bookings[key].players.values()) for key in event().plays_with(DEAL)}
LATER = sorted((key for key, players in AGAIN.items() if players), key=lambda key: (key[1], key[0]))


def played(*, until: int) -> EventState:
    """Return a room in which a table has played in round 1 a deal that its players meet later."""
    room = room_of([one for one in whole_event() if one.fact.round <= until])
    room.apply(ruling(room, DealPlayed(played=DEAL, result=room.results[EARLY].id), EARLY))
    return room


def named(room: EventState) -> list[tuple[tuple[int, int], int, bool]]:
    return [((one.table, one.round), one.deal, one.played) for one in follow_ups(event(), room)]


def test_what_follows_stays_named_when_the_deal_is_played_nevertheless_and_nothing_is_final() -> None:
    assert named(played(until=1)) == [(key, DEAL, False) for key in LATER]
    room = played(until=4)
    assert named(room) == [(key, DEAL, True) for key in LATER]
    assert [set(one.again) for one in follow_ups(event(), room)] == [AGAIN[key] for key in LATER]
    room.apply(ruling(room, FinalDeclared()))
    moment = room.snapshot()
    assert (room.over, room.final, moment.final, open_part(moment).final) == (True, *[False] * 3)


@pytest.mark.parametrize("stands", [False, True])
def test_once_it_is_ruled_it_is_named_no_longer_and_taken_back_it_is_named_again(*, stands: bool) -> None:
    room = played(until=4)
    for key in LATER:
        players = event().bookings[key].players
        decision = Award(gives={players[seat]: 0 for seat in SEATS}) if stands else Void()
        room.apply(ruling(room, decision, key))
    room.apply(ruling(room, FinalDeclared()))
    assert (named(room), room.final, open_part(room.snapshot()).final) == ([], True, True)
    room.apply(ruling(room, Undo(ruling=list(room.book.entries)[-2])))
    assert (named(room), room.final) == ([(LATER[-1], DEAL, True)], False)


def test_what_was_missed_is_named_in_the_same_order_after_a_restart() -> None:
    room, said = room_of([]), []
    said.append(ruling(room, Fouled(groups=((1,), (2, 3, 4))), deal=event().bookings[EARLY].deal))
    room.apply(said[0])
    for key in ((2, 2), EARLY):
        other = event().bookings[key].deal % 4 + 1
        said.append(ruling(room, DealPlayed(played=other, result=None), key))
        room.apply(said[-1])
    again = EventState(event())
    again.load(said)
    assert missed_deals(again) == missed_deals(room)


@pytest.mark.parametrize("decision", [Void(), Adjusted(gives=dict.fromkeys(HERE, "nobody"))])
def test_who_has_played_the_deal_knows_it_though_that_play_counts_no_longer(decision: AnyDecision) -> None:
    for until in (1, 4):
        room = played(until=until)
        room.apply(ruling(room, decision, EARLY))
        assert named(room) == [(key, DEAL, until == 4) for key in LATER]
        assert not room.final


def test_who_was_awarded_something_for_a_play_that_was_not_played_does_not_know_the_deal() -> None:
    for until in (0, 4):
        room = room_of([one for one in whole_event() if EARLY[1] < one.fact.round <= until])
        room.apply(ruling(room, DealPlayed(played=DEAL, result=None), EARLY))
        room.apply(ruling(room, Adjusted(gives=dict.fromkeys(HERE, "nobody")), EARLY))
        assert named(room) == []
