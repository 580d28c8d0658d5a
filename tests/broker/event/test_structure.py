"""Sections and a final are planned together, refused where they cannot be, and read again as they were written."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from broker.event import Plan, read_plan, write_plan
from broker.event.deals import LAST_SET
from broker.event.deals.make import allot_sets
from broker.event.files import NO_OWN_RULES
from broker.event.movement import check_movement
from broker.event.plan import BookedPlay, plan_problems
from broker.event.stages import Section, Stage, read_part, section_plays
from broker.event.structure import Structure, structured_plan
from broker.protocol import SEATS, Player
from broker.rules import RuleError
from tests.broker.scorer.staged import staged_deals, staged_plan


def at_once() -> Callable[[], bool]:
    """Search for nothing."""
    return lambda: False


def people(count: int, teams: int = 0) -> Plan:
    """Return the plan of so many players, in teams of four if that is asked for."""
    players = tuple(Player(id=f"p{number:03}", name=f"Player {number}") for number in range(1, count + 1))
    members = [tuple(one.id for one in players[at : at + 4]) for at in range(0, 4 * teams, 4)]
    return Plan("cup", "Cup", "mcr", players, teams={f"Team {at}": of for at, of in enumerate(members, 1)})


def planned(wish: Structure, count: int = 32, teams: int = 0) -> Plan:
    """Return what is planned."""
    return structured_plan(people(count, teams), wish, Random(1), at_once)


def problems(plan: Plan) -> list[str]:
    """Return the codes of what is wrong with a plan, its deals apart."""
    deals = dict.fromkeys({play.deal for play in plan.plays}, staged_deals()[0])
    return [one.code for one in plan_problems(plan, deals, NO_OWN_RULES)]


@pytest.mark.parametrize(
    ("count", "teams", "wish"),
    [
        (32, 0, Structure(4, 2, 8, 2, "2/3")),
        (48, 0, Structure(4, 3, 12, 3)),
        (32, 0, Structure(4, 1, 16, 4, "50%")),
        (32, 0, Structure(4, 2)),
        (32, 8, Structure(4, 2, 4, 4, "1/2")),
    ],
)
def test_what_is_planned_breaks_no_rule_and_keeps_sections_and_stages_apart(
    count: int, teams: int, wish: Structure, tmp_path: Path
) -> None:
    plan = planned(wish, count, teams)
    assert problems(plan) == []
    assert check_movement(plan.plays, plan.copies) == []
    write_plan(tmp_path, plan)
    assert read_plan(tmp_path) == plan
    sizes = [
        (stage.name, len({who for play in plays for who in play.players.values()}))
        for stage, _, plays in section_plays(plan)
    ]
    first = [("Qualification", count // wish.sections)] * wish.sections
    assert sizes == first + ([("Final", wish.final * (4 if teams else 1))] if wish.final else [])


def test_one_stage_without_sections_is_an_event_as_ever() -> None:
    plan = planned(Structure(4), 16)
    assert (plan.stages, plan.copies, len(plan.plays)) == ((), 1, 16)


@pytest.mark.parametrize(
    ("count", "wish", "code"),
    [
        (30, Structure(4, 4), "sections_uneven"),
        (32, Structure(4, 2, 9, 2), "stages_wrong"),
        (32, Structure(4, 2, 8), "stages_wrong"),
        (32, Structure(4, 1, 40, 2), "stages_wrong"),
        (32, Structure(4, 2, 8, 2, "3/2"), "part_wrong"),
        (400, Structure(4), "too_many_sets"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_searched(count: int, wish: Structure, code: str) -> None:
    def never() -> Callable[[], bool]:
        raise AssertionError(wish)

    with pytest.raises(RuleError) as refused:
        structured_plan(people(count), wish, Random(1), never)
    assert refused.value.code == code


FINAL = staged_plan().stages[1]


@pytest.mark.parametrize(
    ("stages", "code"),
    [
        ((replace(FINAL, first_round=1), FINAL), "stages_wrong"),
        ((staged_plan().stages[0],), "stages_wrong"),
        ((staged_plan().stages[0], replace(FINAL, cut=7)), "rank_wrong"),
        ((staged_plan().stages[0], replace(FINAL, cut=10)), "rank_wrong"),
        ((staged_plan().stages[0], replace(FINAL, carry_over="much")), "part_wrong"),
        ((Stage("Qualification", 1, 2, (Section("A", 1, 3), Section("B", 3, 4))), FINAL), "stages_wrong"),
        ((Stage("Qualification", 1, 2, (Section("A", 1, 2),)), FINAL), "stages_wrong"),
    ],
)
def test_stages_that_do_not_fit_the_movement_are_named(stages: tuple[Stage, ...], code: str) -> None:
    assert problems(staged_plan()) == []
    assert code in problems(replace(staged_plan(), stages=stages))


@pytest.mark.parametrize(
    ("text", "part"), [("2/3", "2/3"), ("50%", "1/2"), ("66 %", "33/50"), ("0/1", "0"), ("1/1", "1")]
)
def test_a_part_is_a_fraction_or_a_percentage(text: str, part: str) -> None:
    assert str(read_part(text)) == part


def test_a_set_is_used_again_once_its_deal_is_over() -> None:
    def play(round_: int, table: int, deal: int) -> BookedPlay:
        return BookedPlay(round_, table, deal, dict.fromkeys(SEATS, "p01"))

    few = [play(1, deal, deal) for deal in range(1, LAST_SET + 1)]
    assert allot_sets(few) == []
    more = [*few, *(play(2, table, LAST_SET + table) for table in range(1, 51))]
    found = allot_sets(more)
    for round_ in (1, 2):
        at = [found[one.deal - 1] for one in more if one.round == round_]
        assert (len(set(at)), max(at) <= LAST_SET) == (len(at), True)
    with pytest.raises(RuleError, match="deals are played at once"):
        allot_sets([*few, play(1, 100, 100)])
