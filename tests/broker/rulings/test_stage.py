"""Later stages are seated from the standings by the head arbiter. Sections are compared and ranked separately."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from broker.protocol import (
    Award,
    Correct,
    Deadline,
    FinalDeclared,
    FineRuled,
    LogMessage,
    PlayerCorrected,
    Refused,
    Reopen,
    Restored,
    Result,
    Ruled,
    Ruling,
    Seat,
    Seated,
    Undo,
    Void,
)
from broker.rules import RuleError
from broker.rulings.final import draft_stage, next_stage, open_matters, qualified
from broker.rulings.plan_draft import PlanWishes, draft_change, plan_cost, plan_facts
from broker.rulings.validate import planned_after
from broker.scorer import EventState, open_part, standings_table
from tests.broker.rulings.ruled import HEAD, ORGANISER, TABLE, draft, ruling
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import fact
from tests.broker.scorer.staged import STAGES, places, play_rounds, recomputed, staged_event, whole
from tests.broker.scorer.team_event import said as said_at_table
from tests.broker.scorer.team_event import team_event

A, B = (sorted(staged_event().sections[0, name]) for name in "AB")
FINAL = STAGES[1]


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    """Yield the hall of an event in stages before any play."""
    with open_journal(tmp_path) as journal:
        yield make_hall(tmp_path, journal, staged_event())


def room_after(seed: int, rounds: int = 2) -> tuple[EventState, list[LogMessage]]:
    """Return the state after the first rounds, and the messages of the tables."""
    room, last_seqs, rng = EventState(staged_event()), dict[int, int](), Random(seed)
    messages = play_rounds(room.planned, range(1, min(rounds, 2) + 1), rng, last_seqs)
    room.load(messages)
    if rounds > 2:
        room.apply(ruling(room, draft_stage(room, FINAL)))
        more = play_rounds(room.planned, range(3, rounds + 1), rng, last_seqs)
        for message in more:
            room.apply(message)
        messages += more
    return room, messages


def standing(room: EventState) -> dict[str, tuple[str, str, int, int]]:
    """Return each player's stage, section, place and IMP."""
    return {row.player: (row.stage, row.section, row.place, int(row.imp)) for row in room.snapshot().standings}


def expected(messages: list[LogMessage]) -> dict[str, tuple[str, str, int, int]]:
    """Return the same, recomputed: the best four of each section qualify and carry two thirds."""
    first, final = recomputed(messages)
    found: dict[str, tuple[str, str, int, int]] = {}
    going_on: list[str] = []
    for section, names in (("A", A), ("B", B)):
        ranked = places(first, names)
        going_on += [name for name in names if ranked[name][0] <= 4]
        found |= {name: ("Qualification", section, *ranked[name]) for name in names}
    if final:
        total = {name: final[name] + whole(first[name] * Fraction(2, 3)) for name in going_on}
        found |= {name: ("Final", "", *of) for name, of in places(total, going_on).items()}
    return found


def code_of(act: Callable[[], object]) -> str:
    """Return the code with which a call is refused, or an empty text."""
    try:
        act()
    except (Refused, RuleError) as refused:
        return refused.code
    return ""


def test_a_stage_seated_by_rank_is_not_in_the_plan_before_it_is_seated() -> None:
    room, _ = room_after(1, 1)
    assert {round_ for _, round_ in room.planned.bookings} == {1, 2}
    assert (next_stage(room), room.over, sorted(room.planned.expected)) == (FINAL, False, [1, 2])
    assert [play.round for play in room.event.plays_of(1)] == [1, 2]


def test_plays_of_a_stage_seated_by_rank_are_refused_before_it_is_seated(hall: Hall) -> None:
    last_seqs, room = dict[int, int](), hall.scorer.state
    hall.hear(*play_rounds(room.planned, [1, 2], Random(2), last_seqs))
    ranks = staged_event().later[1, 3]
    walls = Restored(round=3, deal=ranks.deal, verified=True, form=staged_event().form(ranks.deal), refusals=0)
    hall.hear(
        fact(1, last_seqs[1] + 1, walls),
        fact(1, last_seqs[1] + 2, Seated(round=3, deal=ranks.deal, players=ranks.players)),
    )
    assert [one.code for one in hall.scorer.live.intake.books[1].refused] == ["not_planned"] * 2


@pytest.mark.parametrize("seed", [0, 2, 3])
@pytest.mark.parametrize("rounds", [2, 3, 4])
def test_sections_are_ranked_separately_and_the_final_carries_two_thirds(seed: int, rounds: int) -> None:
    room, messages = room_after(seed, rounds)
    assert standing(room) == expected(messages)
    stages = [row.stage for row in room.snapshot().standings]
    assert stages == (["Final"] * 8 if rounds > 2 else []) + ["Qualification"] * (8 if rounds > 2 else 16)


def test_an_event_in_stages_has_the_same_standings_after_a_restart() -> None:
    room, messages = room_after(4, 4)
    again = EventState(staged_event())
    again.load([*messages[: len(messages) // 2], *_rulings(room), *messages[len(messages) // 2 :]])
    assert standing(again) == standing(room)
    assert [list(one.ranking) for one in again.snapshot().sections] == [
        list(one.ranking) for one in room.snapshot().sections
    ]


def _rulings(room: EventState) -> list[Ruling]:
    """Return the decisions of a state as stored rulings."""
    empty = EventState(staged_event())
    return [ruling(empty, one.decision) for one in room.book.entries.values()]


def test_qualified_players_are_ranked_by_place_and_seated_by_rank() -> None:
    room, messages = room_after(5)
    ranked = qualified(room, FINAL)
    first, _ = recomputed(messages)
    assert [one.rank for one in ranked] == list(range(1, 9))
    assert [one.place for one in ranked] == sorted(one.place for one in ranked)
    assert {(one.name, one.place, one.imp) for one in ranked} == {
        (name, *of) for names in (A, B) for name, of in places(first, names).items() if of[0] <= 4
    }
    room.apply(ruling(room, draft_stage(room, FINAL)))
    names = [one.name for one in ranked]
    for round_ in (3, 4):
        assert list(room.planned.bookings[1, round_].players.values()) == names[:4]
        assert list(room.planned.bookings[2, round_].players.values()) == names[4:]
    assert [play.round for play in room.event.plays_of(3)] == [1, 2]


def test_a_tie_at_the_cut_is_settled_by_naming_who_is_out() -> None:
    room, messages = room_after(1)
    assert code_of(lambda: draft_stage(room, FINAL)) == "cut_tied"
    first, _ = recomputed(messages)
    both = (places(first, names) for names in (A, B))
    ranked = next(one for one in both if sum(place <= 4 for place, _ in one.values()) > 4)
    last = max(place for place, _ in ranked.values() if place <= 4)
    tied = [name for name, of in ranked.items() if of[0] == last]
    out = tied[: last - 1 + len(tied) - 4]
    going_on = {one.name for one in qualified(room, FINAL, out)}
    assert not going_on & set(out)
    assert len(going_on & ranked.keys()) == 4


def test_only_the_head_arbiter_seats_a_stage_and_undoes_it_before_it_starts(
    hall: Hall,
) -> None:
    give, last_seqs, rng = hall.scorer.rulings.give, dict[int, int](), Random(2)
    room = hall.scorer.state
    hall.hear(*play_rounds(room.planned, [1], rng, last_seqs))
    assert code_of(lambda: draft_stage(room, FINAL)) == "stage_not_over"
    hall.hear(*play_rounds(room.planned, [2], rng, last_seqs))
    change = draft_stage(room, FINAL)
    before = standing(room)
    assert code_of(lambda: give(draft(room, change), ORGANISER)) == "head_arbiter_only"
    assert code_of(lambda: give(draft(room, change), TABLE)) == "head_arbiter_only"
    swapped = replace(change, plays=(replace(change.plays[0], east=change.plays[0].south), *change.plays[1:]))
    assert code_of(lambda: give(draft(room, swapped), HEAD)) == "stage_seats_wrong"
    assert code_of(lambda: give(draft(room, replace(change, stage="Other")), HEAD)) == "unknown_stage"
    hall.connect(up=True)
    entry = give(draft(room, change), HEAD)
    assert [play["round"] for play in hall.ear.told("assignment/1")["plays"]] == [1, 2, 3, 4]
    assert {row["stage"] for row in hall.ear.told("cup/standings")["rows"]} == {"Qualification", "Final"}
    assert code_of(lambda: give(draft(room, change), HEAD)) == "unknown_stage"
    assert code_of(lambda: give(draft(room, Undo(ruling=entry.id)), ORGANISER)) == "head_arbiter_only"
    give(draft(room, Undo(ruling=entry.id)), HEAD)
    assert (standing(room), [play["round"] for play in hall.ear.told("assignment/1")["plays"]]) == (before, [1, 2])
    entry = give(draft(room, draft_stage(room, FINAL)), HEAD)
    hall.hear(*play_rounds(room.planned, [3], rng, last_seqs)[:2])
    assert code_of(lambda: give(draft(room, Undo(ruling=entry.id)), HEAD)) == "plan_play_begun"


def test_a_stage_can_be_seated_again_after_an_uninformed_table_played_in_it(
    hall: Hall,
) -> None:
    give, last_seqs, rng, room = hall.scorer.rulings.give, dict[int, int](), Random(2), hall.scorer.state
    hall.hear(*play_rounds(room.planned, [1, 2], rng, last_seqs))
    change = draft_stage(room, FINAL)
    entry = give(draft(room, change), HEAD)
    late = [one for one in play_rounds(room.planned, [3], rng, last_seqs) if one.table == 1]
    give(draft(room, Undo(ruling=entry.id)), HEAD)
    hall.hear(*late)
    deal = staged_event().later[1, 3].deal
    assert ((1, 3) in room.results, room.over, room.complete(deal)) == (True, False, False)
    assert (next_stage(room), open_matters(room, NOW).stage) == (FINAL, "Final")
    give(draft(room, change), HEAD)
    assert (next_stage(room), room.planned.bookings.keys()) == (None, staged_event().places.keys())


def test_a_player_without_a_section_does_not_change_the_number_who_qualify_from_each() -> None:
    room, _ = room_after(2, 1)
    wishes = PlanWishes(enter=("Ada Lovelace",), first_round=2)
    room.apply(ruling(room, draft_change(plan_facts(room), wishes, Random(1), lambda _: lambda: False)))
    _, messages = room_after(2, 2)
    for message in messages:
        room.apply(message)
    assert [one.section for one in room.snapshot().sections] == ["A", "B", ""]
    assert [one.section for one in qualified(room, FINAL)].count("A") == FINAL.cut // 2


def test_a_fine_of_an_eliminated_player_counts_in_their_last_stage() -> None:
    room, _ = room_after(2, 4)
    name, (stage, section, _, imp) = next((who, of) for who, of in standing(room).items() if of[0] != "Final")
    room.apply(ruling(room, FineRuled(takes={name: 20})))
    assert standing(room)[name] == (stage, section, 8, imp - 20)


def test_an_undone_final_declaration_cannot_be_restored_while_something_is_open(hall: Hall) -> None:
    give, last_seqs, rng, room = hall.scorer.rulings.give, dict[int, int](), Random(3), hall.scorer.state
    hall.hear(*play_rounds(room.planned, [1, 2], rng, last_seqs))
    give(draft(room, draft_stage(room, FINAL)), HEAD)
    hall.hear(*play_rounds(room.planned, [3, 4], rng, last_seqs))
    entry = give(draft(room, FinalDeclared()), HEAD)
    undone = give(draft(room, Undo(ruling=entry.id)), HEAD)
    give(draft(room, Deadline(at=NOW + 1)), HEAD)
    assert code_of(lambda: give(draft(room, Undo(ruling=undone.id)), HEAD)) == "still_open"
    hall.clock.read = lambda: NOW + 2
    give(draft(room, Undo(ruling=undone.id)), HEAD)
    assert room.final


def test_a_void_play_with_a_team_twice_at_a_wind_does_not_keep_the_event_open() -> None:
    room = EventState(team_event())
    seats = team_event().bookings[1, 1].players
    wrong = {**seats, "east": seats["south"], "south": seats["east"]}
    messages = [one for table in range(1, 5) for round_ in range(1, 5) for one in said_at_table(table, round_)]
    for at, one in enumerate(messages):
        fact_ = one.fact
        if (one.table, fact_.round) == (1, 1) and isinstance(fact_, Seated | Result):
            fact_ = replace(fact_, players=wrong)
        messages[at] = fact(one.table, 1 + sum(before.table == one.table for before in messages[:at]), fact_)
    room.load(messages)
    assert (len(room.teams.left_out), open_matters(room, NOW).is_empty) == (1, False)
    room.apply(ruling(room, Void(), (1, 1)))
    assert (len(room.teams.left_out), open_matters(room, NOW).is_empty) == (1, True)


def test_imps_of_no_play_count_in_the_stage_in_which_they_are_given() -> None:
    room, _ = room_after(7)
    best = next(one for one in qualified(room, FINAL) if one.section == "A").name
    room.apply(ruling(room, Award(gives={best: 3})))
    before = standing(room)[best][3]
    room.apply(ruling(room, draft_stage(room, FINAL)))
    carried = whole(Fraction(before * 2, 3))
    assert standing(room)[best][3] == carried
    room.apply(ruling(room, FineRuled(takes={best: 4})))
    assert standing(room)[best][3] == carried - 4
    assert [row.carried for row in standings_table(room.snapshot()).rungs if row.player == best] == [carried]


@pytest.mark.parametrize("seed", [10, 11])
def test_bounds_hold_within_a_player_s_section_and_stage(seed: int) -> None:
    room, messages = room_after(seed, 4)
    last = standing(room)
    for rounds in (1, 3):
        early = EventState(staged_event())
        early.load([one for one in messages if one.fact.round <= min(rounds, 2)])
        if rounds > 2:
            early.apply(ruling(early, draft_stage(early, FINAL)))
            for one in messages:
                if one.fact.round == rounds:
                    early.apply(one)
        for row in standings_table(early.snapshot()).rungs:
            stage, section, place, imp = last[row.player]
            if (row.stage, row.section) == (stage, section):
                assert row.best <= place <= row.worst
                assert int(row.least) <= imp <= int(row.most)
            assert row.worst <= 8


def test_a_departure_changes_only_the_player_s_section() -> None:
    room, _ = room_after(3, 1)
    change = draft_change(
        plan_facts(room), PlanWishes(leave=(A[0],), enter=("Ada Lovelace",)), Random(1), lambda _: lambda: False
    )
    room.apply(ruling(room, change))
    assert {one.table for one in change.plays} <= {1, 2}
    seated = {who for (table, _), play in room.planned.bookings.items() if table > 2 for who in play.players.values()}
    assert seated == set(B)
    assert room.event.section_at(1, 2) == "A"
    assert "p17" in room.planned.sections[0, "A"]


def test_a_final_result_entered_at_the_desk_counts_for_its_seated_players() -> None:
    room, _ = room_after(2, 3)
    key = 1, 4
    sitting = room.planned.bookings[key].players
    assert room.play(key).players == sitting
    points: dict[Seat, int] = {"east": 44, "south": -15, "west": -15, "north": -15}
    entered = Correct(
        source="paper", replaces=None, win="self_drawn", winners={"east": 20}, discarder=None, points=points
    )
    room.apply(ruling(room, entered, key))
    assert room.play(key).players == sitting
    assert {row.player for row in room.snapshot().standings if row.stage == "Final"} == set(
        room.planned.sections[1, ""]
    )


def forty_steps(_: float) -> Callable[[], bool]:
    """Return the limit of a search as 40 steps, independent of the clock."""
    return partial(next, iter([True] * 40 + [False]))


def test_a_section_without_departures_does_not_change_although_some_sit_out() -> None:
    room, _ = room_after(3, 0)
    changed, plans = 0, [room.planned.bookings]
    for sections in ((A, B), (A,)):
        sitting = {who for (_, round_), play in plans[-1].items() if round_ == 1 for who in play.players.values()}
        wishes = PlanWishes(tuple(min(sitting & {*section}) for section in sections))
        change = draft_change(plan_facts(room), wishes, Random(1), forty_steps)
        room.apply(ruling(room, change))
        plans.append(room.planned.bookings)
        changed = len(change.plays)
    before, now = ({key: play for key, play in plan.items() if key[0] > 2} for plan in plans[-2:])
    assert (changed > 0, now) == (True, before)


def test_a_replacement_in_the_final_moves_no_other_player() -> None:
    room, _ = room_after(2, 3)
    gone = room.planned.bookings[1, 4].players["east"]
    facts = plan_facts(room)
    change = draft_change(facts, PlanWishes(replaced={gone: "Ada Lovelace"}), Random(1), lambda _: lambda: False)
    assert [(one.round, one.table, one.east) for one in change.plays] == [(4, 1, "p17")]
    cost = plan_cost(facts, planned_after(room, change))
    assert {(one.player.id, one.round) for one in cost.moved} == {(gone, 4), ("p17", 4)}
    room.apply(ruling(room, change))
    assert room.planned.sections[1, ""] >= {gone, "p17"}
    assert {row.player for row in room.snapshot().standings if row.stage == "Final"} >= {gone, "p17"}


def test_the_event_is_declared_final_only_when_nothing_is_open_and_then_blocks_rulings(
    hall: Hall,
) -> None:
    give, last_seqs, rng = hall.scorer.rulings.give, dict[int, int](), Random(3)
    room, declare = hall.scorer.state, FinalDeclared()
    hall.connect(up=True)
    hall.hear(*play_rounds(room.planned, [1, 2], rng, last_seqs))
    assert open_matters(room, NOW)[:2] == (0, "Final")
    give(draft(room, draft_stage(room, FINAL)), HEAD)
    hall.hear(*play_rounds(room.planned, [3], rng, last_seqs))
    assert open_matters(room, NOW)[:2] == (2, "")
    assert code_of(lambda: give(draft(room, declare), HEAD)) == "still_open"
    hall.hear(*play_rounds(room.planned, [4], rng, last_seqs))
    assert (room.over, room.final, hall.ear.told("cup/standings")["final"]) == (True, False, False)
    give(draft(room, Deadline(at=NOW + 1)), HEAD)
    assert code_of(lambda: give(draft(room, declare), HEAD)) == "still_open"
    hall.clock.read = lambda: NOW + 2
    assert code_of(lambda: give(draft(room, declare), TABLE)) == "head_arbiter_only"
    entry = give(draft(room, declare), HEAD)
    hall.scorer.dashboard.show()
    assert (room.final, hall.ear.told("cup/standings")["final"], hall.scorer.feed.current.final) == (True, True, True)
    assert hall.ear.told("public/places")["final"]
    assert code_of(lambda: give(draft(room, Void(), (1, 4)), HEAD)) == "declared_final"
    guest = PlayerCorrected(player="p01", name="Ada", without_standing=True)
    assert code_of(lambda: give(draft(room, guest), HEAD)) == "declared_final"
    give(draft(room, replace(guest, without_standing=False)), HEAD)
    again = EventState(staged_event())
    again.load(hall.journal.messages())
    assert (again.final, standing(again)) == (True, standing(room))
    give(draft(room, Undo(ruling=entry.id)), HEAD)
    assert (room.final, hall.ear.told("public/places")["final"]) == (False, False)
    give(draft(room, Void(), (1, 4)), HEAD)


def test_a_ruling_at_a_table_after_the_declaration_makes_standings_provisional_again() -> None:
    room, messages = room_after(2, 4)
    room.apply(ruling(room, FinalDeclared()))
    assert room.final
    last = max(one.seq for one in messages if one.table == 1)
    deal = room.planned.bookings[1, 4].deal
    reopened = Ruled(round=4, deal=deal, author="Tao", role="table_arbiter", reason="wrong hand", decision=Reopen())
    room.apply(fact(1, last + 1, reopened))
    assert (room.over, room.final, room.book.declared) == (False, False, None)


def test_public_standings_of_an_event_in_stages_count_only_complete_deals() -> None:
    room, _ = room_after(2, 1)
    assert [row.plays for row in open_part(room.snapshot()).standings] == [0] * 16
    room, _ = room_after(2, 4)
    assert list(open_part(room.snapshot()).standings) == list(room.snapshot().standings)


def test_an_undone_stage_that_a_table_has_started_can_only_be_seated_as_published(hall: Hall) -> None:
    give, last_seqs, rng, room = hall.scorer.rulings.give, dict[int, int](), Random(2), hall.scorer.state
    hall.hear(*play_rounds(room.planned, [1, 2], rng, last_seqs))
    first = draft_stage(room, FINAL)
    entry = give(draft(room, first), HEAD)
    seats = dict(room.planned.bookings)
    late = [one for one in play_rounds(room.planned, [3], rng, last_seqs) if one.table == 1]
    undone = give(draft(room, Undo(ruling=entry.id)), HEAD)
    hall.hear(*late)
    winner = next(one.name for one in qualified(room, FINAL) if one.rank == 1)
    give(draft(room, FineRuled(takes={winner: 40}, exception=True)), HEAD)
    second = draft_stage(room, FINAL)
    assert second != first
    assert code_of(lambda: give(draft(room, second), HEAD)) == "plan_play_begun"
    assert code_of(lambda: give(draft(room, Undo(ruling=undone.id)), TABLE)) == "head_arbiter_only"
    give(draft(room, Undo(ruling=undone.id)), HEAD)
    assert (next_stage(room), room.planned.bookings) == (None, seats)
    again = EventState(staged_event())
    again.load(hall.journal.messages())
    assert again.planned.bookings == seats


def test_an_undone_stage_cannot_be_restored_after_another_change_of_players(hall: Hall) -> None:
    give, last_seqs, room = hall.scorer.rulings.give, dict[int, int](), hall.scorer.state
    hall.hear(*play_rounds(room.planned, [1, 2], Random(2), last_seqs))
    undone = give(draft(room, Undo(ruling=give(draft(room, draft_stage(room, FINAL)), HEAD).id)), HEAD)
    give(draft(room, draft_stage(room, FINAL)), HEAD)
    assert code_of(lambda: give(draft(room, Undo(ruling=undone.id)), HEAD)) == "plan_changed_since"


def test_an_undone_stage_cannot_be_restored_while_an_earlier_play_is_reopened(hall: Hall) -> None:
    give, last_seqs, room = hall.scorer.rulings.give, dict[int, int](), hall.scorer.state
    hall.hear(*play_rounds(room.planned, [1, 2], Random(2), last_seqs))
    undone = give(draft(room, Undo(ruling=give(draft(room, draft_stage(room, FINAL)), HEAD).id)), HEAD)
    deal = room.planned.bookings[1, 2].deal
    reopened = Ruled(round=2, deal=deal, author="Tao", role="table_arbiter", reason="wrong hand", decision=Reopen())
    hall.hear(fact(1, last_seqs[1] + 1, reopened))
    assert code_of(lambda: give(draft(room, Undo(ruling=undone.id)), HEAD)) == "stage_not_over"
    give(draft(room, Void(), (1, 2)), HEAD)
    give(draft(room, Undo(ruling=undone.id)), HEAD)
    assert next_stage(room) is None


def test_an_undone_stage_that_a_table_has_started_can_be_restored(hall: Hall) -> None:
    give, last_seqs, rng, room = hall.scorer.rulings.give, dict[int, int](), Random(2), hall.scorer.state
    hall.hear(*play_rounds(room.planned, [1, 2], rng, last_seqs))
    change = draft_stage(room, FINAL)
    entry = give(draft(room, change), HEAD)
    begun = [one for one in play_rounds(room.planned, [3], rng, last_seqs) if one.table == 1][:2]
    undone = give(draft(room, Undo(ruling=entry.id)), HEAD)
    hall.hear(*begun)
    assert draft_stage(room, FINAL) == change
    give(draft(room, Undo(ruling=undone.id)), HEAD)
    assert next_stage(room) is None
