"""Changes of the players during an event: started plays stay, and nobody meets a deal twice."""

from collections.abc import Collection
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.event.movement import check_movement
from broker.protocol import (
    CheckedIn,
    Discarded,
    FineRuled,
    LogMessage,
    PlanChanged,
    Player,
    Refused,
    Restored,
    Result,
    Seat,
    Seated,
    SeatedAnew,
    TakenOver,
    Undo,
    Void,
)
from broker.rules import RuleError
from broker.rulings import result_of
from broker.rulings.plan_draft import PlanWishes, draft_change, plan_cost, plan_facts
from broker.rulings.preview import RulingChanges
from broker.scorer import EventState
from tests.broker.rulings.ruled import HEAD, ORGANISER, TABLE, contents, draft, ruling
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.hall import Hall, make_hall
from tests.broker.scorer.small import event, whole_event, whole_play

GONE: Final = "p07"
EVERYBODY: Final = sorted(event().players)


def changed(room: EventState, wishes: PlanWishes, steps: int = 5) -> PlanChanged:
    """Return the change that a short search proposes."""
    left = iter(range(steps))
    return draft_change(plan_facts(room), wishes, Random(1), lambda _: lambda: next(left, None) is not None)


def give(hall: Hall, decision: PlanChanged | CheckedIn | Undo) -> str:
    """Issue a ruling and return its id."""
    return hall.scorer.rulings.give(draft(hall.scorer.state, decision), HEAD).id


def of_round(round_: int, tables: Collection[int], kinds: tuple[type, ...] = (object,)) -> list[LogMessage]:
    """Return the messages of some tables in a round of the original plan."""
    return [
        one for one in whole_event() if one.fact.round == round_ and one.table in tables and isinstance(one.fact, kinds)
    ]


def seated(room: EventState) -> dict[tuple[int, int], dict[Seat, str]]:
    """Return the planned players by table and round."""
    return {key: dict(play.players) for key, play in room.planned.bookings.items()}


@st.composite
def changes_during_event(draw: st.DrawFn) -> tuple[list[LogMessage], PlanWishes]:
    """Draw the messages so far and the players who come and leave."""
    round_, tables = draw(st.integers(0, 3)), draw(st.sets(st.integers(1, 4), max_size=3))
    messages = [*until_round(round_), *of_round(round_ + 1, tables)]
    leave = draw(st.lists(st.sampled_from(EVERYBODY), unique=True, max_size=5))
    enter = tuple(f"Late {number}" for number in range(draw(st.integers(0, 3))))
    others = [one for one in EVERYBODY if one not in leave]
    replaced = {draw(st.sampled_from(others)): "Ada Reserve"} if draw(st.booleans()) else {}
    return messages, PlanWishes(tuple(leave), enter, (), replaced)


@given(changes_during_event())
def test_changes_keep_started_plays_and_everybody_sits_once_or_is_listed_as_sitting_out(
    case: tuple[list[LogMessage], PlanWishes],
) -> None:
    messages, wishes = case
    room = EventState(event())
    room.load(messages)
    facts = plan_facts(room)
    try:
        change = changed(room, wishes)
    except RuleError:  # fewer than four players are left, or nobody comes or leaves
        return
    room.apply(ruling(room, change))
    now = room.planned
    assert {key: now.bookings[key] for key in facts.kept_keys} == {
        key: event().bookings[key] for key in facts.kept_keys
    }
    assert check_movement(now.plan.plays, copies=4) == []
    gone = {*wishes.leave, *wishes.replaced}
    coming = {who for key, play in now.bookings.items() if key not in facts.kept_keys for who in play.players.values()}
    assert not gone & coming
    cost = plan_cost(facts, room.event)
    for round_ in {one for _, one in now.bookings if one >= facts.first_round}:
        sitting = {who for (_, at), play in now.bookings.items() if at == round_ for who in play.players.values()}
        listed = {one.id for one in cost.sits_out.get(round_, ())}
        assert coming - sitting == listed
    again = EventState(event())
    again.load([*messages, ruling(again, change)])
    assert (seated(again), contents(again)) == (seated(room), contents(room))


def test_a_player_who_left_without_a_play_is_not_a_player_but_still_known_by_name() -> None:
    room = EventState(event())
    room.apply(ruling(room, changed(room, PlanWishes((GONE,), ("Ada Lovelace",)))))
    room.apply(ruling(room, changed(room, PlanWishes(("p17",)))))
    assert not {GONE, "p17"} & room.event.players.keys()
    assert [room.event.known[one].name for one in (GONE, "p17")] == [event().players[GONE].name, "Ada Lovelace"]


def test_a_player_who_left_without_a_play_is_not_ranked_once_their_fine_is_undone() -> None:
    room = EventState(event())
    fine = ruling(room, FineRuled(takes={GONE: 4}))
    stored = [fine]
    room.apply(fine)
    for decision in (changed(room, PlanWishes((GONE,), ("Ada Lovelace",))), Undo(ruling=fine.id)):
        stored.append(ruling(room, decision))
        room.apply(stored[-1])
    again = EventState(event())
    again.load(stored)
    assert contents(room) == contents(again)
    assert GONE not in {line.name for line in room.snapshot().ranking}


def test_a_player_sitting_out_the_last_round_can_take_a_vacated_seat() -> None:
    room = EventState(event())
    room.apply(ruling(room, changed(room, PlanWishes((GONE,)))))
    last = max(round_ for _, round_ in room.planned.bookings)
    sitting = [play.players["east"] for (_, round_), play in room.planned.bookings.items() if round_ == last]
    room.apply(ruling(room, changed(room, PlanWishes((sitting[0],), first_round=last), 50)))
    assert [round_ for _, round_ in room.planned.bookings].count(last) == len(sitting)


def test_a_change_is_assigned_to_the_tables_survives_a_restart_and_can_be_undone(hall: Hall) -> None:
    hall.hear(*until_round(1))
    hall.connect(up=True)
    before, state = seated(hall.scorer.state), contents(hall.scorer.state)
    one = give(hall, changed(hall.scorer.state, PlanWishes((GONE,), ("Ada Lovelace",))))
    room = hall.scorer.state
    entered = next(player.id for player in room.event.players.values() if player.name == "Ada Lovelace")
    assert (entered, room.event.version.number if room.event.version else 0) == ("p17", 2)
    for table in room.original.tables:
        plays = hall.ear.told(f"assignment/{table}")["plays"]
        assert [{seat: who["id"] for seat, who in one["players"].items()} for one in plays] == [
            seated(room)[table, one["round"]] for one in plays
        ]
    again = EventState(event())
    again.load(hall.journal.messages())
    assert (seated(again), contents(again)) == (seated(room), contents(room))
    give(hall, Undo(ruling=one))
    assert (seated(room), contents(room)) == (before, state)


def test_a_change_of_a_started_play_is_refused(hall: Hall) -> None:
    hall.hear(*until_round(1))
    change = changed(hall.scorer.state, PlanWishes(replaced={GONE: "Ada Reserve"}))
    table, round_ = next((one.table, one.round) for one in change.plays if one.round == 2)
    hall.hear(*of_round(round_, {table}, (Restored, Seated)))
    with pytest.raises(Refused) as refused:
        give(hall, change)
    assert refused.value.code == "plan_play_begun"


def test_a_play_by_the_old_plan_at_an_uninformed_table_counts(hall: Hall) -> None:
    hall.hear(*until_round(1))
    change = changed(hall.scorer.state, PlanWishes(replaced={GONE: "Ada Reserve"}))
    table = next(one.table for one in change.plays if one.round == 2)
    give(hall, change)
    hall.hear(*of_round(2, {table}))
    room, settled = hall.scorer.state, event().bookings[table, 2]
    assert (room.planned.bookings[table, 2], (table, 2) in room.results) == (settled, True)
    assert hall.scorer.live.intake.books[table].refused == []
    again = EventState(event())
    again.load(hall.journal.messages())
    assert (seated(again), contents(again)) == (seated(room), contents(room))


def test_an_entered_player_who_played_before_the_undo_arrived_is_ranked(hall: Hall) -> None:
    hall.hear(*until_round(1))
    room = hall.scorer.state
    change = changed(room, PlanWishes(replaced={GONE: "Ada Reserve"}))
    table = next(one.table for one in change.plays if one.round == 2)
    one = give(hall, change)
    players = dict(room.planned.bookings[table, 2].players)
    give(hall, Undo(ruling=one))
    hall.hear(
        *(
            replace(message, fact=replace(message.fact, players=players))
            if isinstance(message.fact, Seated | Result)
            else message
            for message in of_round(2, {table})
        )
    )
    assert "Ada Reserve" in {row.name for row in room.snapshot().standings}
    other = changed(room, PlanWishes(replaced={"p08": "Bob Stand-in"}))
    assert other.entered[0].id != change.entered[0].id
    with pytest.raises(Refused) as refused:
        give(hall, replace(other, entered=(Player(id=change.entered[0].id, name="Bob Stand-in"),)))
    assert refused.value.code == "player_listed_twice"
    again = EventState(event())
    again.load(hall.journal.messages())
    assert (seated(again), contents(again)) == (seated(room), contents(room))


def test_a_ruling_on_a_dropped_play_can_be_undone(hall: Hall) -> None:
    room, give_head = hall.scorer.state, hall.scorer.rulings.give
    void = give_head(draft(room, Void(), (1, 3)), HEAD)
    undone = give_head(draft(room, Undo(ruling=void.id)), HEAD)
    give(hall, PlanChanged(dropped=((3, 1),)))
    give_head(draft(room, Undo(ruling=undone.id)), HEAD)
    assert (room.book.counts(void.id), (1, 3) in room.planned.bookings) == (True, False)


def test_the_history_names_the_players_planned_at_the_time_of_the_ruling(hall: Hall) -> None:
    room, play = hall.scorer.state, (1, 3)
    then = dict(room.planned.bookings[play].players)
    void = hall.scorer.rulings.give(draft(room, Void(), play), HEAD).id
    undone = give(hall, Undo(ruling=void))
    give(
        hall,
        PlanChanged(plays=(SeatedAnew(round=3, table=1, **dict(zip(then, reversed(then.values()), strict=True))),)),
    )
    anew = hall.scorer.rulings.give(draft(room, Void(), play), HEAD).id
    changes = RulingChanges(room.event, room)
    changes_of = {one: changes.of(room.book.entries[one]) for one in (void, undone, anew)}
    seats = {
        one: [state.play and state.play.players for state in (change.before, change.after) if state]
        for one, change in changes_of.items()
    }
    assert seats == {void: [then] * 2, undone: [then] * 2, anew: [room.planned.bookings[play].players] * 2}


def test_the_history_names_the_players_of_a_play_dropped_later(hall: Hall) -> None:
    room, play = hall.scorer.state, (1, 3)
    then = dict(room.planned.bookings[play].players)
    void = hall.scorer.rulings.give(draft(room, Void(), play), HEAD).id
    give(hall, Undo(ruling=void))
    give(hall, PlanChanged(dropped=((3, 1),)))
    after = RulingChanges(room.event, room).of(room.book.entries[void]).after
    assert after.play is not None
    assert after.play.players == then


def test_a_taken_over_result_of_a_dropped_play_cannot_be_restored(hall: Hall) -> None:
    room, play = hall.scorer.state, (1, 1)
    walls, *_, result = of_round(1, {1})
    hall.hear(walls, replace(result, seq=walls.seq + 1))
    taken = hall.scorer.rulings.give(draft(room, TakenOver(facts=(result.id,), replaces=None), play), HEAD)
    undone = give(hall, Undo(ruling=taken.id))
    give(hall, PlanChanged(dropped=((1, 1),)))
    with pytest.raises(Refused) as refused:
        give(hall, Undo(ruling=undone))
    assert (refused.value.code, len(room.results)) == ("unknown_play", 0)
    again = EventState(event())
    again.load(hall.journal.messages())
    assert (seated(again), contents(again)) == (seated(room), contents(room))


def test_a_restart_works_after_taken_over_seats_of_a_dropped_play_were_undone(hall: Hall) -> None:
    room, play = hall.scorer.state, (1, 1)
    _, sat, *_, result = of_round(1, {1})
    hall.hear(replace(sat, seq=1), replace(result, seq=2))
    (apart,) = room.apart_plays()
    taken = hall.scorer.rulings.give(draft(room, TakenOver(facts=apart.ids, replaces=None), play), HEAD)
    give(hall, Undo(ruling=taken.id))
    give(hall, PlanChanged(dropped=((1, 1),)))
    again = make_hall(hall.folder, hall.journal).scorer.state
    assert (seated(again), contents(again)) == (seated(room), contents(room))


def test_out_of_order_messages_of_a_dropped_play_can_be_discarded(hall: Hall) -> None:
    hall.hear(*until_round(1))
    room = hall.scorer.state
    dropped = give(hall, PlanChanged(dropped=((2, 1),)))
    first, *_, last = of_round(2, {1})
    hall.hear(replace(last, seq=first.seq))
    (apart,) = room.apart_plays()
    assert apart.result is not None
    assert room.play_as_sent(apart.result).points == result_of(apart.result).points
    where = {"play": (1, 2), "after": None}
    with pytest.raises(Refused) as refused:
        hall.scorer.rulings.give(draft(room, TakenOver(facts=apart.ids, replaces=None), **where), HEAD)
    assert refused.value.code == "unknown_play"
    hall.scorer.rulings.give(draft(room, Discarded(facts=apart.ids), **where), HEAD)
    assert room.apart_plays() == []
    give(hall, Undo(ruling=dropped))
    assert not room.play((1, 2)).settled


def test_a_preview_treats_plays_that_the_change_lets_count_as_started(hall: Hall) -> None:
    """Round 2 of table 1 is out of order until the change drops round 1, after which it stays as played."""
    hall.hear(*whole_play(1, 2))
    room, gone = hall.scorer.state, event().bookings[1, 2].players["east"]
    change = PlanChanged(
        entered=(Player(id="p17", name="Ada Reserve"),),
        left=(gone,),
        dropped=((1, 1),),
        plays=tuple(
            SeatedAnew(play.round, play.table, *("p17" if who == gone else who for who in play.players.values()))
            for key, play in event().bookings.items()
            if gone in play.players.values() and key != (1, 1)
        ),
    )
    assert room.play((1, 2)).points is None
    tried = room.fork()
    tried.apply(ruling(tried, change))
    effects = hall.scorer.rulings.effects(draft(room, change), HEAD)
    before = {line.name for line in room.snapshot().ranking}
    give(hall, change)
    assert room.planned.bookings[1, 2] == event().bookings[1, 2]
    assert (seated(tried), contents(tried)) == (seated(room), contents(room))
    left = before - {line.name for line in room.snapshot().ranking}
    assert {one.name for one in effects.players if one.place_after is None} == left


def test_the_second_of_two_simultaneous_changes_is_refused(hall: Hall) -> None:
    first = changed(hall.scorer.state, PlanWishes((GONE,)))
    second = draft(hall.scorer.state, changed(hall.scorer.state, PlanWishes(("p03",))))
    give(hall, first)
    with pytest.raises(Refused) as refused:
        hall.scorer.rulings.give(second, HEAD)
    assert refused.value.code in {"id_reused", "ruling_conflict"}


def test_check_ins_survive_a_restart_and_change_nobodys_imps(hall: Hall) -> None:
    hall.hear(*until_round(1))
    before = contents(hall.scorer.state)
    hall.scorer.rulings.give(draft(hall.scorer.state, CheckedIn(player="p01", present=True)), TABLE)
    hall.scorer.rulings.give(draft(hall.scorer.state, CheckedIn(player=GONE, present=False)), ORGANISER)
    hall.scorer.rulings.give(draft(hall.scorer.state, CheckedIn(player="p02", present=True)), HEAD)
    hall.scorer.rulings.give(draft(hall.scorer.state, CheckedIn(player="p02", present=None)), HEAD)
    again = EventState(event())
    again.load(hall.journal.messages())
    assert [dict(one.checked_in) for one in (hall.scorer.state, again)] == [{"p01": True, GONE: False}] * 2
    assert contents(hall.scorer.state) == before


def test_a_result_taken_over_from_an_uninformed_table_counts_until_that_is_undone(
    hall: Hall,
) -> None:
    room = hall.scorer.state
    give(hall, changed(room, PlanWishes(replaced={GONE: "Ada Reserve"})))
    before = seated(room), contents(room)
    key, play = next((key, play) for key, play in event().bookings.items() if GONE in play.players.values())
    walls, *_, result = whole_play(*key)
    hall.hear(walls, replace(result, seq=2))
    taken = hall.scorer.rulings.give(draft(room, TakenOver(facts=(result.id,), replaces=None), key), HEAD)
    assert room.planned.bookings[key] == play
    assert GONE in {line.name for line in room.snapshot().ranking}
    undone = give(hall, Undo(ruling=taken.id))
    assert (seated(room), contents(room)) == before
    give(hall, Undo(ruling=undone))
    again = EventState(event())
    again.load(hall.journal.messages())
    assert (seated(again), contents(again)) == (seated(room), contents(room))
