"""Who plays is changed while an event is on: what was begun stays, and nobody meets a deal again."""

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
from tests.broker.rulings.ruled import HEAD, ORGANISER, TABLE, draft, ruling, told
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.hall import Hall, make_hall
from tests.broker.scorer.small import event, whole_event, whole_play

GONE: Final = "p07"
EVERYBODY: Final = sorted(event().players)


def changed(room: EventState, wishes: PlanWishes, hundreds: int = 5) -> PlanChanged:
    """Return the change that a short search proposes."""
    left = iter(range(hundreds))
    return draft_change(plan_facts(room), wishes, Random(1), lambda _: lambda: next(left, None) is not None)


def give(hall: Hall, decision: PlanChanged | CheckedIn | Undo) -> str:
    """Rule; return the ruling's id."""
    return hall.scorer.rulings.give(draft(hall.scorer.state, decision), HEAD).id


def of_round(round_: int, tables: Collection[int], kinds: tuple[type, ...] = (object,)) -> list[LogMessage]:
    """Return what some tables say in a round, by the plan as it was settled."""
    return [
        one for one in whole_event() if one.fact.round == round_ and one.table in tables and isinstance(one.fact, kinds)
    ]


def seated(room: EventState) -> dict[tuple[int, int], dict[Seat, str]]:
    """Return who is to sit where, by table and round."""
    return {key: dict(play.players) for key, play in room.planned.bookings.items()}


@st.composite
def accidents(draw: st.DrawFn) -> tuple[list[LogMessage], PlanWishes]:
    """Return what the tables have said, and who comes and goes."""
    round_, some = draw(st.integers(0, 3)), draw(st.sets(st.integers(1, 4), max_size=3))
    said = [*until_round(round_), *of_round(round_ + 1, some)]
    leave = draw(st.lists(st.sampled_from(EVERYBODY), unique=True, max_size=5))
    enter = tuple(f"Late {number}" for number in range(draw(st.integers(0, 3))))
    others = [one for one in EVERYBODY if one not in leave]
    replaced = {draw(st.sampled_from(others)): "Ada Reserve"} if draw(st.booleans()) else {}
    return said, PlanWishes(tuple(leave), enter, (), replaced)


@given(accidents())
def test_no_rule_is_broken_what_was_begun_stays_and_everybody_sits_once_or_is_named_as_sitting_out(
    case: tuple[list[LogMessage], PlanWishes],
) -> None:
    said, wishes = case
    room = EventState(event())
    room.load(said)
    facts = plan_facts(room)
    try:
        change = changed(room, wishes)
    except RuleError:  # fewer than four are there, or nobody comes or goes
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
        sits = {who for (_, at), play in now.bookings.items() if at == round_ for who in play.players.values()}
        named = {one.id for one in cost.sits_out.get(round_, ())}
        assert coming - sits == named
    again = EventState(event())
    again.load([*said, ruling(again, change)])
    assert (seated(again), told(again)) == (seated(room), told(room))


def test_who_has_left_again_without_a_play_is_no_player_but_known_by_name() -> None:
    room = EventState(event())
    room.apply(ruling(room, changed(room, PlanWishes((GONE,), ("Ada Lovelace",)))))
    room.apply(ruling(room, changed(room, PlanWishes(("p17",)))))
    assert not {GONE, "p17"} & room.event.players.keys()
    assert [room.event.known[one].name for one in (GONE, "p17")] == [event().players[GONE].name, "Ada Lovelace"]


def test_who_has_left_without_a_play_stands_nowhere_once_a_fine_is_taken_back() -> None:
    room = EventState(event())
    fine = ruling(room, FineRuled(takes={GONE: 4}))
    said = [fine]
    room.apply(fine)
    for decision in (changed(room, PlanWishes((GONE,), ("Ada Lovelace",))), Undo(ruling=fine.id)):
        said.append(ruling(room, decision))
        room.apply(said[-1])
    again = EventState(event())
    again.load(said)
    assert told(room) == told(again)
    assert GONE not in {line.name for line in room.snapshot().ranking}


def test_who_sits_out_the_last_round_is_there_to_take_the_seat_of_somebody_who_leaves() -> None:
    room = EventState(event())
    room.apply(ruling(room, changed(room, PlanWishes((GONE,)))))
    last = max(round_ for _, round_ in room.planned.bookings)
    sitting = [play.players["east"] for (_, round_), play in room.planned.bookings.items() if round_ == last]
    room.apply(ruling(room, changed(room, PlanWishes((sitting[0],), first_round=last), 50)))
    assert [round_ for _, round_ in room.planned.bookings].count(last) == len(sitting)


def test_a_change_is_told_to_the_tables_survives_a_restart_and_is_taken_back(hall: Hall) -> None:
    hall.hear(*until_round(1))
    hall.connect(up=True)
    before, state = seated(hall.scorer.state), told(hall.scorer.state)
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
    assert (seated(again), told(again)) == (seated(room), told(room))
    give(hall, Undo(ruling=one))
    assert (seated(room), told(room)) == (before, state)


def test_a_play_that_a_table_has_begun_is_not_changed_and_the_code_says_so(hall: Hall) -> None:
    hall.hear(*until_round(1))
    change = changed(hall.scorer.state, PlanWishes(replaced={GONE: "Ada Reserve"}))
    table, round_ = next((one.table, one.round) for one in change.plays if one.round == 2)
    hall.hear(*of_round(round_, {table}, (Restored, Seated)))
    with pytest.raises(Refused) as refused:
        give(hall, change)
    assert refused.value.code == "plan_play_begun"


def test_a_table_that_has_not_heard_of_a_change_has_played_and_its_play_stands_in_the_plan(hall: Hall) -> None:
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
    assert (seated(again), told(again)) == (seated(room), told(room))


def test_who_has_begun_before_it_was_heard_that_the_change_is_taken_back_is_in_the_list(hall: Hall) -> None:
    hall.hear(*until_round(1))
    room = hall.scorer.state
    change = changed(room, PlanWishes(replaced={GONE: "Ada Reserve"}))
    table = next(one.table for one in change.plays if one.round == 2)
    one = give(hall, change)
    players = dict(room.planned.bookings[table, 2].players)
    give(hall, Undo(ruling=one))
    hall.hear(
        *(
            replace(said, fact=replace(said.fact, players=players)) if isinstance(said.fact, Seated | Result) else said
            for said in of_round(2, {table})
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
    assert (seated(again), told(again)) == (seated(room), told(room))


def test_what_was_ruled_on_a_play_that_is_dropped_may_be_taken_back(hall: Hall) -> None:
    room, give_head = hall.scorer.state, hall.scorer.rulings.give
    void = give_head(draft(room, Void(), (1, 3)), HEAD)
    undone = give_head(draft(room, Undo(ruling=void.id)), HEAD)
    give(hall, PlanChanged(dropped=((3, 1),)))
    give_head(draft(room, Undo(ruling=undone.id)), HEAD)
    assert (room.book.counts(void.id), (1, 3) in room.planned.bookings) == (True, False)


def test_the_history_names_who_was_planned_as_it_was_ruled(hall: Hall) -> None:
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
    told_of = {one: changes.of(room.book.entries[one]) for one in (void, undone, anew)}
    seats = {
        one: [held.play and held.play.players for held in (said.before, said.after) if held]
        for one, said in told_of.items()
    }
    assert seats == {void: [then] * 2, undone: [then] * 2, anew: [room.planned.bookings[play].players] * 2}


def test_the_history_names_who_was_planned_for_a_play_that_was_dropped_since(hall: Hall) -> None:
    room, play = hall.scorer.state, (1, 3)
    then = dict(room.planned.bookings[play].players)
    void = hall.scorer.rulings.give(draft(room, Void(), play), HEAD).id
    give(hall, Undo(ruling=void))
    give(hall, PlanChanged(dropped=((3, 1),)))
    after = RulingChanges(room.event, room).of(room.book.entries[void]).after
    assert after.play is not None
    assert after.play.players == then


def test_what_was_taken_over_counts_no_more_once_its_play_is_dropped(hall: Hall) -> None:
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
    assert (seated(again), told(again)) == (seated(room), told(room))


def test_a_scorer_starts_again_where_a_play_was_dropped_whose_seats_were_taken_over_and_left_out(hall: Hall) -> None:
    room, play = hall.scorer.state, (1, 1)
    _, sat, *_, result = of_round(1, {1})
    hall.hear(replace(sat, seq=1), replace(result, seq=2))
    (apart,) = room.apart_plays()
    taken = hall.scorer.rulings.give(draft(room, TakenOver(facts=apart.ids, replaces=None), play), HEAD)
    give(hall, Undo(ruling=taken.id))
    give(hall, PlanChanged(dropped=((1, 1),)))
    again = make_hall(hall.folder, hall.journal).scorer.state
    assert (seated(again), told(again)) == (seated(room), told(room))


def test_what_a_table_sends_of_a_dropped_play_and_does_not_follow_can_be_left_out(hall: Hall) -> None:
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


def test_what_a_change_lets_count_is_begun_where_its_effects_are_looked_at_as_where_it_is_given(hall: Hall) -> None:
    """Round 2 of table 1 is out of turn until the change has dropped round 1; then it stays as it was played."""
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
    assert (seated(tried), told(tried)) == (seated(room), told(room))
    left = before - {line.name for line in room.snapshot().ranking}
    assert {one.name for one in effects.players if one.place_after is None} == left


def test_of_two_who_change_at_once_the_second_is_told(hall: Hall) -> None:
    first = changed(hall.scorer.state, PlanWishes((GONE,)))
    second = draft(hall.scorer.state, changed(hall.scorer.state, PlanWishes(("p03",))))
    give(hall, first)
    with pytest.raises(Refused) as refused:
        hall.scorer.rulings.give(second, HEAD)
    assert refused.value.code in {"id_reused", "ruling_conflict"}


def test_who_is_checked_in_is_known_after_a_restart_and_nobodys_imps_move(hall: Hall) -> None:
    hall.hear(*until_round(1))
    before = told(hall.scorer.state)
    hall.scorer.rulings.give(draft(hall.scorer.state, CheckedIn(player="p01", present=True)), TABLE)
    hall.scorer.rulings.give(draft(hall.scorer.state, CheckedIn(player=GONE, present=False)), ORGANISER)
    hall.scorer.rulings.give(draft(hall.scorer.state, CheckedIn(player="p02", present=True)), HEAD)
    hall.scorer.rulings.give(draft(hall.scorer.state, CheckedIn(player="p02", present=None)), HEAD)
    again = EventState(event())
    again.load(hall.journal.messages())
    assert [dict(one.checked_in) for one in (hall.scorer.state, again)] == [{"p01": True, GONE: False}] * 2
    assert told(hall.scorer.state) == before


def test_what_is_taken_over_of_a_table_that_had_not_heard_of_a_change_stands_in_the_plan_until_that_is_undone(
    hall: Hall,
) -> None:
    room = hall.scorer.state
    give(hall, changed(room, PlanWishes(replaced={GONE: "Ada Reserve"})))
    before = seated(room), told(room)
    key, play = next((key, play) for key, play in event().bookings.items() if GONE in play.players.values())
    walls, *_, result = whole_play(*key)
    hall.hear(walls, replace(result, seq=2))
    taken = hall.scorer.rulings.give(draft(room, TakenOver(facts=(result.id,), replaces=None), key), HEAD)
    assert room.planned.bookings[key] == play
    assert GONE in {line.name for line in room.snapshot().ranking}
    undone = give(hall, Undo(ruling=taken.id))
    assert (seated(room), told(room)) == before
    give(hall, Undo(ruling=undone))
    again = EventState(event())
    again.load(hall.journal.messages())
    assert (seated(again), told(again)) == (seated(room), told(room))
