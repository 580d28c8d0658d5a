"""Which play comes next, and who sits where: confirmed by the players, and reported with every play."""

from dataclasses import replace

import msgspec
import pytest
from msgspec import structs

from broker.protocol import SEATS, Assignment, Call, PlannedPlay, Player, Result, Seat, Seated
from broker.rules import Profile, mcr_folder
from kiosk.table import (
    PREPARING,
    Phase,
    Table,
    handle,
)
from kiosk.table.events import (
    Assigned,
    ButtonPressed,
    CallToggled,
    NextDealCalled,
    SeatsSwapped,
)
from kiosk.table.state import FinishedPlay
from tests.kiosk.tables import Sitting, plan, play, sitting_in

BREAKS_OFF = (Phase.WAITING, Phase.RESTORING, Phase.RECORDED, Phase.FINISHED)


def begun(assignment: Assignment, first: int = 0) -> Table:
    table, facts = handle(Table(), Assigned(at=1, assignment=assignment, first=first))
    assert facts == ()
    return table


def test_a_plan_begins_with_the_first_play_without_a_result() -> None:
    table = begun(plan(play(1), play(2), play(3)), first=1)
    assert table.play == play(2)
    assert table.phase is Phase.RESTORING


@pytest.mark.parametrize("first", [1, 2, 200])
def test_a_fully_played_plan_is_finished(first: int) -> None:
    table = begun(plan(play(1)), first=first)
    assert (table.phase, table.play) == (Phase.FINISHED, None)


def test_the_next_deal_inherits_nothing_from_the_one_before() -> None:
    """Except who sits here, and the plays that the table has finished."""
    sitting = sitting_in(Phase.RECORDED)
    sitting.next_deal()
    expected = Table(
        phase=Phase.RESTORING,
        assignment=sitting.table.assignment,
        index=1,
        since=sitting.now,
        calling=False,
        played=(FinishedPlay(1, 1, frozenset({"p01", "p02", "p03", "p04"})),),
        arrived=frozenset(SEATS),
    )
    assert sitting.table == expected


def test_an_open_call_stays_open_after_the_end_of_a_play() -> None:
    sitting = sitting_in(Phase.RECORDED)
    sitting.take(CallToggled(at=sitting.wait(), open=True))
    sitting.next_deal()
    assert sitting.table.calling


def test_after_the_last_play_the_table_is_finished() -> None:
    sitting = sitting_in(Phase.FINISHED)
    assert sitting.table.play is None
    assert sitting.refusal(NextDealCalled(at=sitting.wait())) == "not_now"


def test_a_plan_renewed_between_plays_gives_the_next_one() -> None:
    sitting = sitting_in(Phase.RECORDED)
    recorded = sitting.table
    sitting.take(Assigned(at=sitting.wait(), assignment=plan(play(1), play(2, deal=8), play(3))))
    assert (sitting.table.phase, sitting.table.outcome) == (Phase.RECORDED, recorded.outcome)
    sitting.next_deal()
    assert sitting.table.play == play(2, deal=8)


def test_a_plan_extended_after_the_end_continues() -> None:
    sitting = sitting_in(Phase.FINISHED)
    sitting.take(Assigned(at=sitting.wait(), assignment=plan(play(1), play(2), play(3))))
    assert (sitting.table.phase, sitting.table.play) == (Phase.RESTORING, play(3))


def renamed(*plays: PlannedPlay) -> Assignment:
    """Return the same plan with a substitute at North."""
    north = Player(id=play(1).players["north"].id, name="Ada Reserve")
    return plan(*(structs.replace(one, players={**one.players, "north": north}) for one in plays))


def test_a_plan_may_rename_players_who_have_played_here() -> None:
    sitting = sitting_in(Phase.RECORDED)
    sitting.take(Assigned(at=sitting.wait(), assignment=renamed(play(1), play(2))))
    sitting.next_deal()
    assert sitting.table.players["north"].name == "Ada Reserve"


def test_a_substitute_sits_down_while_trays_are_laid_and_no_tray_is_lost() -> None:
    sitting = Sitting(play(1), play(2))
    sitting.press(*SEATS)
    before = sitting.table
    sitting.take(Assigned(at=sitting.wait(), assignment=renamed(play(1), play(2))))
    assert (sitting.table.players["north"].name, sitting.table.arrived) == ("Ada Reserve", before.arrived - {"north"})
    same = replace(sitting.table, assignment=before.assignment, arrived=before.arrived)
    assert same == before


def test_other_time_limits_are_accepted_while_trays_are_laid_and_no_tray_is_lost() -> None:
    sitting = Sitting(play(1), play(2))
    sitting.press(*SEATS)
    before, limited = sitting.table, structs.replace(plan(play(1), play(2)), minutes={1: 17, 2: 17})
    sitting.take(Assigned(at=sitting.wait(), assignment=limited))
    assert sitting.table == replace(before, assignment=limited)


def test_a_plan_that_rewrites_plays_finished_here_is_refused() -> None:
    sitting = sitting_in(Phase.RECORDED)
    rewritten = Assigned(at=sitting.wait(), assignment=plan(play(1, deal=9), play(2)))
    assert sitting.refusal(rewritten) == "plan_rewrites_past"


def reseated(one: PlannedPlay) -> PlannedPlay:
    """Return the same plan with somebody else at East."""
    return structs.replace(one, players={**one.players, "east": Player(id="p99", name="Late Comer")})


@pytest.mark.parametrize("phase", PREPARING)
def test_a_late_player_sits_down_at_laid_trays_and_only_that_seat_checks_in_again(phase: Phase) -> None:
    sitting = sitting_in(phase)
    before = sitting.table
    sitting.take(Assigned(at=sitting.wait(), assignment=plan(reseated(play(1)), reseated(play(2)))))
    after = sitting.table
    assert (after.phase, after.players["east"].name, after.arrived) == (phase, "Late Comer", before.arrived - {"east"})
    assert replace(after, assignment=before.assignment, arrived=before.arrived) == before


@pytest.mark.parametrize("phase", PREPARING)
def test_a_play_removed_from_the_plan_gives_way_to_the_next(phase: Phase) -> None:
    sitting = sitting_in(phase)
    sitting.take(Assigned(at=sitting.wait(), assignment=plan(play(2))))
    assert (sitting.table.phase, sitting.table.play) == (Phase.RESTORING, play(2))


@pytest.mark.parametrize(
    "phase", [phase for phase in Phase if phase not in (Phase.WAITING, Phase.RECORDED, Phase.FINISHED, *PREPARING)]
)
def test_a_play_in_progress_keeps_its_plan(phase: Phase) -> None:
    sitting = sitting_in(phase)
    assert sitting.refusal(Assigned(at=sitting.wait(), assignment=plan(play(1), play(3)))) == "not_now"


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in (*BREAKS_OFF, Phase.SEATING)])
def test_a_play_in_progress_is_finished_even_if_arbiters_have_settled_it(phase: Phase) -> None:
    sitting = sitting_in(phase)
    settled = structs.replace(plan(play(1), play(2), recorded=(1,)), settled=(1,))
    assert sitting.refusal(Assigned(at=sitting.wait(), assignment=settled)) == "not_now"


def other_store(*plays: PlannedPlay, first: int, at: int = 10**12) -> Assigned:
    return Assigned(at=at, assignment=plan(*plays, store="another-store"), first=first)


def test_a_table_on_the_plan_of_a_rehearsal_takes_the_real_one() -> None:
    """Whether its trays are being laid, or all plays seem to be finished."""
    for phase in (Phase.RESTORING, Phase.FINISHED):
        sitting = sitting_in(phase)
        sitting.take(other_store(play(1, deal=5), play(2, deal=6), first=0))
        assert (sitting.table.phase, sitting.table.play) == (Phase.RESTORING, play(1, deal=5))


def test_correct_trays_stay_if_another_store_plans_the_same() -> None:
    sitting = sitting_in(Phase.RESTORING)
    sitting.restore(["east"])
    sitting.take(other_store(play(1), play(2), first=0))
    assert sitting.table.verified == {"east"}


def test_a_recorded_play_waits_for_staff_under_another_store_too() -> None:
    sitting = sitting_in(Phase.RECORDED)
    sitting.take(other_store(play(1), play(2), first=1))
    assert sitting.table.phase is Phase.RECORDED
    sitting.next_deal()
    assert sitting.table.play == play(2)


@pytest.mark.parametrize("phase", [one for one in Phase if one not in BREAKS_OFF])
def test_another_store_cannot_interrupt_a_play(phase: Phase) -> None:
    assert sitting_in(phase).refusal(other_store(play(1), first=0)) == "not_now"


def test_a_plan_with_unknown_rules_is_refused_before_the_journal_stores_it() -> None:
    strange = Assigned(at=1, assignment=plan(play(1), profile="nobody-knows-it"))
    waiting = sitting_in(Phase.WAITING)
    assert waiting.refusal(strange) == "unknown_profile"


def test_recorded_results_are_not_put_under_other_rules() -> None:
    other = Assigned(at=10**12, assignment=plan(play(1), play(2), profile="mcr"))
    assert sitting_in(Phase.RECORDED).refusal(other) == "plan_rewrites_past"
    assert sitting_in(Phase.WAITING).refusal(other) == ""


def own_rules(profile_id: str = "our-club") -> str:
    return (mcr_folder() / "mcr.toml").read_text(encoding="utf-8").replace('id = "mcr"', f'id = "{profile_id}"')


def brought(profile_id: str, rules: str) -> Assigned:
    return Assigned(at=10**12, assignment=structs.replace(plan(play(1), play(2), profile=profile_id), rules=rules))


def test_a_plan_can_bring_its_own_rules() -> None:
    table, _ = handle(Table(), brought("our-club", own_rules()))
    assert isinstance(table.profile, Profile)
    assert (table.profile.id, table.profile.payments.self_drawn.value) == ("our-club", "full")


@pytest.mark.parametrize("rules", ["?", own_rules("another")])
def test_invalid_or_misnamed_rules_are_refused(rules: str) -> None:
    assert sitting_in(Phase.WAITING).refusal(brought("our-club", rules)) == "bad_profile"


def test_recorded_results_are_not_put_under_changed_rules_of_the_same_name() -> None:
    sitting = sitting_in(Phase.RECORDED)
    assert sitting.refusal(brought("oedmc-2020", own_rules("oedmc-2020"))) == "plan_rewrites_past"


def test_a_call_is_reported_when_it_opens_and_when_it_is_cleared() -> None:
    sitting = Sitting()
    assert sitting.take(CallToggled(at=sitting.wait(), open=True)) == (Call(round=1, deal=1, open=True),)
    assert sitting.take(CallToggled(at=sitting.wait(), open=True)) == ()
    assert sitting.take(CallToggled(at=sitting.wait(), open=False)) == (Call(round=1, deal=1, open=False),)
    assert not sitting.table.calling


@pytest.mark.parametrize("phase", [Phase.WAITING, Phase.FINISHED])
def test_without_a_play_nobody_can_be_called(phase: Phase) -> None:
    sitting = sitting_in(phase)
    assert sitting.refusal(CallToggled(at=sitting.wait(), open=True)) == "no_play"


PLANNED: dict[Seat, str] = {"east": "p01", "south": "p02", "west": "p03", "north": "p04"}


def for_others(round_: int) -> PlannedPlay:
    """Plan a play in which one player is another."""
    players = {**play(round_).players, "north": Player(id="p09", name="Ada Holm")}
    return msgspec.structs.replace(play(round_), players=players)


def moved_round(round_: int) -> PlannedPlay:
    """Plan a play with the same four, each one seat further."""
    had = [*play(round_).players.values()]
    return msgspec.structs.replace(play(round_), players=dict(zip(SEATS, [*had[1:], had[0]], strict=True)))


def seats_told(sitting: Sitting) -> list[dict[Seat, str]]:
    return [fact.players for fact in sitting.facts if isinstance(fact, Seated)]


def played_to_next(*plays: PlannedPlay) -> Sitting:
    sitting = Sitting(*plays)
    sitting.begin()
    sitting.draw()
    sitting.press(*SEATS)
    sitting.next_deal()
    return sitting


def test_tiles_are_confirmed_only_after_all_four_have_checked_in() -> None:
    sitting = sitting_in(Phase.SEATING)
    sitting.press("east", "west", "north")
    assert sitting.table.arrived == {"east", "west", "north"}
    assert (sitting.table.phase, seats_told(sitting)) == (Phase.SEATING, [])
    sitting.press("south")
    assert sitting.table.phase is Phase.CONFIRMING
    assert seats_told(sitting) == [PLANNED]


def test_players_may_check_in_while_trays_are_still_laid() -> None:
    sitting = Sitting()
    sitting.press(*SEATS)
    assert (sitting.table.phase, seats_told(sitting)) == (Phase.RESTORING, [])
    sitting.lay()
    assert sitting.table.phase is Phase.CONFIRMING
    assert seats_told(sitting) == [PLANNED]


def test_a_seat_does_not_check_in_twice() -> None:
    sitting = sitting_in(Phase.SEATING)
    sitting.press("east")
    assert sitting.refusal(ButtonPressed(at=sitting.wait(), seat="east")) == "press_before_play"


def test_players_who_stay_seated_check_in_once_and_are_reported_with_each_play() -> None:
    sitting = played_to_next(play(1), play(2))
    sitting.lay()
    assert sitting.table.phase is Phase.CONFIRMING
    assert seats_told(sitting) == [PLANNED, PLANNED]


def test_a_substitute_checks_in_even_at_a_seat_that_was_checked_in() -> None:
    left = play(2).players["north"]
    players = {**play(2).players, "north": Player(id=left.id, name="Ada Reserve")}
    sitting = played_to_next(play(1), msgspec.structs.replace(play(2), players=players))
    assert sitting.table.arrived == frozenset()


@pytest.mark.parametrize("coming", [for_others, moved_round])
def test_other_players_or_the_same_in_other_seats_check_in_again(coming: type) -> None:
    sitting = played_to_next(play(1), coming(2))
    sitting.lay()
    assert (sitting.table.phase, sitting.table.arrived) == (Phase.SEATING, frozenset())
    sitting.check_in()
    assert seats_told(sitting)[-1] == {seat: one.id for seat, one in coming(2).players.items()}


def swap(sitting: Sitting, one: Seat = "east", other: Seat = "west") -> None:
    sitting.admit()
    sitting.take(SeatsSwapped(at=sitting.wait(), one=one, other=other, reason="sat down so"))


@pytest.mark.parametrize("phase", [Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING])
def test_players_in_swapped_seats_are_reported_and_scored_where_they_sit(phase: Phase) -> None:
    sitting = sitting_in(phase)
    swap(sitting)
    sitting.lay(sitting.table.unverified)
    sitting.check_in()
    really = {**PLANNED, "east": "p03", "west": "p01"}
    assert seats_told(sitting)[-1] == really
    sitting.press(*SEATS)
    sitting.draw()
    sitting.press(*SEATS)
    results = [fact.players for fact in sitting.facts if isinstance(fact, Result)]
    assert results == [really]


def test_swapped_players_check_in_again_and_everybody_confirms_again() -> None:
    sitting = sitting_in(Phase.CONFIRMING)
    sitting.press("north")
    swap(sitting)
    assert sitting.table.arrived == {"south", "north"}
    assert sitting.table.agreed == frozenset()


def test_swapping_seats_twice_restores_the_plan() -> None:
    sitting = Sitting()
    sitting.admit()
    before = sitting.table
    swap(sitting)
    swap(sitting)
    assert replace(sitting.table, since=before.since) == before


def test_a_player_from_a_swapped_seat_checks_in_again_for_the_next_play() -> None:
    sitting = Sitting(play(1), play(2))
    swap(sitting)
    sitting.begin()
    sitting.draw()
    sitting.press(*SEATS)
    sitting.next_deal()
    assert (sitting.table.arrived, sitting.table.seating) == (frozenset(), {})


def test_a_seat_cannot_be_swapped_with_itself_or_once_the_play_has_begun() -> None:
    same = SeatsSwapped(at=10**12, one="east", other="east", reason="?")
    seating = sitting_in(Phase.SEATING)
    assert seating.refusal(same) == "arbiter_needed"
    seating.admit()
    assert seating.refusal(same) == "not_two_seats"
    assert sitting_in(Phase.PLAYING).refusal(msgspec.structs.replace(same, other="west")) == "not_now"


def test_an_emptied_plan_seats_nobody() -> None:
    sitting = sitting_in(Phase.RECORDED)
    sitting.take(Assigned(at=sitting.wait(), assignment=plan(play(1))))
    sitting.next_deal()
    assert (sitting.table.phase, sitting.table.players) == (Phase.FINISHED, {})
