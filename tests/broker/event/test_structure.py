"""Sections and finals are planned together, read as they were written, and refused if they are impossible."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from msgspec.structs import replace

from broker.event import BookedPlay, Plan, Stage, read_deals, read_part, read_plan, setup, structure, write_plan
from broker.event.deals import LAST_SET
from broker.event.deals.make import allot_sets
from broker.event.files import NO_OWN_RULES
from broker.event.movement import check_movement
from broker.event.movement.plays import sittings_of
from broker.event.movement.summary import USUAL_MINUTES, forecast_plan
from broker.event.plan import plan_problems
from broker.event.readiness import start_notes, start_problems
from broker.event.setup import EventDetails
from broker.event.stages import Section, section_plays
from broker.event.structure import (
    Format,
    Resources,
    Structure,
    forecast,
    formats,
    hall_orders,
    plan_in_halls,
    strength_share,
    structured_plan,
)
from broker.protocol import SEATS, Player
from broker.rules import RuleError
from tests.benchmarks.duplicate import share_of_columns
from tests.broker.scorer.staged import staged_deals, staged_plan


def at_once() -> Callable[[], bool]:
    """Return a `KeepSearching` that ends each search at once."""
    return lambda: False


def people(count: int, teams: int = 0) -> Plan:
    """Return a plan with so many players and, if given, teams of four."""
    players = tuple(Player(id=f"p{number:03}", name=f"Player {number}") for number in range(1, count + 1))
    members = [tuple(one.id for one in players[at : at + 4]) for at in range(0, 4 * teams, 4)]
    return Plan("cup", "Cup", "mcr", players, teams={f"Team {at}": of for at, of in enumerate(members, 1)})


def planned(wish: Structure, count: int = 32, teams: int = 0) -> Plan:
    """Return a plan with the structure."""
    return structured_plan(people(count, teams), wish, Random(1), at_once)


def problems(plan: Plan) -> list[str]:
    """Return the codes of the problems with a plan, assuming that all its deals exist."""
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
def test_a_structured_plan_breaks_no_rule_and_separates_sections_and_stages(
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


@pytest.mark.parametrize(("share", "ends"), [(1.0, 8), (0.5, 16), (0.125, 24)])
def test_a_search_gets_its_computing_time_on_a_busy_machine_within_a_limit(
    share: float, ends: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0]
    clocks = SimpleNamespace(monotonic=lambda: now[0], thread_time=lambda: share * now[0])
    monkeypatch.setattr(structure, "time", clocks)
    goes_on = structure.for_seconds(8)
    while goes_on():
        now[0] += 1
    assert now == [ends]


def test_one_stage_without_sections_is_an_ordinary_event() -> None:
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
def test_an_impossible_structure_is_refused_before_the_search(count: int, wish: Structure, code: str) -> None:
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
def test_stages_that_do_not_fit_the_movement_are_reported(stages: tuple[Stage, ...], code: str) -> None:
    assert problems(staged_plan()) == []
    assert code in problems(replace(staged_plan(), stages=stages))


@pytest.mark.parametrize(
    ("text", "part"), [("2/3", "2/3"), ("50%", "1/2"), ("66 %", "33/50"), ("0/1", "0"), ("1/1", "1")]
)
def test_a_carry_over_is_a_fraction_or_a_percentage(text: str, part: str) -> None:
    assert str(read_part(text)) == part


def late(plan: Plan) -> list[str]:
    """Return the notes on late standings."""
    return [text for code, text in start_notes(plan) if code == "standings_late"]


def test_a_final_uses_the_carriers_of_its_qualification_so_that_deals_end_early() -> None:
    with_two, alone = planned(Structure(8, 2, 16, 4, copies=2)), planned(Structure(8, 1, 16, 4))
    final = [play for play in with_two.plays if play.round in with_two.stages[1].rounds]
    assert ({Counter(one.deal for one in final)[deal] for deal in {one.deal for one in final}}, with_two.copies) == (
        {4},
        4,
    )
    assert all(len({one.round for one in final if one.deal == deal}) == 1 for deal in {one.deal for one in final})
    assert (late(with_two), late(alone)) == (
        [],
        ["Qualification: no deal is over before round 8", "Final: no deal is over before round 12"],
    )


def test_a_set_is_reused_once_its_deal_is_over() -> None:
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


def test_an_event_with_more_deals_than_set_numbers_can_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "SEARCH_S", 0.01)
    setup.take_head(tmp_path, EventDetails(name="long", title="Long", profile="oedmc-2020"))
    setup.take_players(tmp_path, "name\n" + "".join(f"Player {n}\n" for n in range(1, 9)), movement_anew=False)
    setup.take_stages(tmp_path, setup.draft_stages(tmp_path, Structure(LAST_SET + 3)))
    setup.make_deals(tmp_path)
    sets = {deal.number: deal.set for deal in read_deals(tmp_path)}
    at = Counter((play.round, sets[play.deal]) for play in read_plan(tmp_path).plays)
    assert (len(sets) > LAST_SET, max(sets.values()) <= LAST_SET, max(at.values())) == (True, True, 1)
    assert start_problems(tmp_path) == []


HALLS = [
    Resources(12, 3, 240),
    Resources(16, None, 500, 4, 4),
    Resources(16, None, 240),
    Resources(20, 4, 300),
    Resources(40, None, 300, 10),
    Resources(64, 16, 480, 24),
    Resources(64, None, 480, None, 18, 30),
    Resources(400, 100, 480),
]


@pytest.mark.parametrize("have", HALLS)
def test_each_format_fits_the_resources_and_matches_its_movement(have: Resources) -> None:
    for one in formats(have):
        sittings = sittings_of(one.order)
        at, over = dict[int, list[int]](), dict[int, int]()
        for sitting in sittings:
            for turn, deal in enumerate(sitting.deals, 1):
                at.setdefault(deal, []).append(sitting.round)
                over[deal] = max(over.get(deal, 0), (sitting.round - 1) * len(sitting.deals) + turn)
        together = max(
            sum(min(rounds) <= now <= max(rounds) for rounds in at.values()) for now in range(1, one.order.rounds + 1)
        )
        copies = max(max(rounds.count(now) for now in set(rounds)) for rounds in at.values())
        deals = one.order.deals_per_round
        assert one.forecast.minutes <= have.minutes
        assert one.order.tables <= (have.tables or have.players // 4)
        assert all(one.carriers <= count for count in (have.carriers, have.sets) if count is not None)
        assert one.carriers == together * -(-copies // deals)
        assert one.first_minutes == min(over.values()) * have.minutes_a_play
        done = [end for end in over.values() if 2 * end <= one.order.rounds * deals]
        assert one.at_half == 100 * len(done) // len(at)
        assert one.late == (min(over.values()) == max(over.values()))
        assert one.forecast.compared[0] == min(len(rounds) for rounds in at.values()) > 1


@pytest.mark.parametrize("have", HALLS)
def test_formats_with_early_standings_come_first_and_none_is_dominated(have: Resources) -> None:
    found = formats(have)
    assert [one.early for one in found] == sorted((one.early for one in found), reverse=True)
    assert found[0].early

    def merits(one: Format) -> tuple[int, ...]:
        return one.strength, one.others_met, one.at_half, -one.first_minutes, -one.carriers, -one.order.rounds

    beaten = [
        one for one in found if any(merits(o) != merits(one) and all(np.array(merits(o)) >= merits(one)) for o in found)
    ]
    assert beaten == []


@pytest.mark.parametrize(
    ("have", "code"),
    [
        (Resources(16, None, 20), "no_format"),  # no time for a play
        (Resources(4, None, 600), "no_format"),  # nobody to be compared with
        (Resources(64, 16, 480, 3), "no_format"),
        (Resources(3, None, 480), "impossible_size"),
    ],
)
def test_resources_that_fit_no_format_are_refused(have: Resources, code: str) -> None:
    with pytest.raises(RuleError) as refused:
        formats(have)
    assert refused.value.code == code


def test_the_strength_share_matches_measurements_with_simulated_players() -> None:
    measured = re.findall(
        r"\| (\d+) \| same deals, IMP, (\d+) tables .* ([\d.]+) % \|",
        Path("docs/why-duplicate.md").read_text(encoding="utf-8"),
    )
    assert len(measured) == 6
    for plays, tables, share in measured:
        assert abs(100 * strength_share(int(plays), int(tables)) - float(share)) < 3


@pytest.mark.parametrize(("plays", "tables"), [(4, 4), (16, 2), (16, 16), (64, 8)])
def test_the_strength_formula_matches_a_simulation_of_its_model(plays: int, tables: int) -> None:
    """Points are strength plus luck. The datum includes the player's own points; others vary by play."""
    chance, one, events = np.random.default_rng(1), 0.0245, 60
    strength = chance.normal(0, np.sqrt(one), 2000)
    totals = np.zeros((events, len(strength)))
    for _ in range(plays):
        own = strength + chance.normal(0, np.sqrt(1 - one), totals.shape)
        others = chance.normal(0, 1, (tables - 1, *totals.shape)).sum(axis=0)
        totals += own - (own + others) / tables
    assert abs(share_of_columns(totals) - strength_share(plays, tables)) < 0.03


@pytest.mark.parametrize(("sizes", "wish"), [((16, 9, 4), Structure(4)), ((8, 20), Structure(4, deals_per_round=2))])
def test_players_stay_in_their_hall_and_all_halls_play_the_same_deals_together(
    sizes: tuple[int, ...], wish: Structure
) -> None:
    plan = people(sum(sizes))
    names = [name for at, size in enumerate(sizes) for name in [f"Hall {at}"] * size]
    of = {one.id: name for one, name in zip(plan.players, names, strict=True)}
    made, halls = plan_in_halls(plan, wish._replace(hall_of=of), Random(1), at_once)
    at = {table: hall.title for hall in halls for table in hall.numbers}
    assert list(at) == [*range(1, sum(size // 4 for size in sizes) + 1)]
    assert all(of[player] == at[play.table] for play in made.plays for player in play.players.values())
    played = [{(play.round, play.deal) for play in made.plays if at[play.table] == hall.title} for hall in halls]
    assert all({deal for _, deal in one} == {deal for _, deal in played[0]} for one in played)
    assert check_movement(made.plays, made.copies) == []
    assert problems(made) == []
    assert forecast(plan, wish._replace(hall_of=of), USUAL_MINUTES) == forecast_plan(made)


def test_replanning_in_halls_removes_the_stages() -> None:
    plan = structured_plan(people(16), Structure(4, final=8, final_rounds=2), Random(1), at_once)
    assert [len(plan.stages), problems(plan)] == [2, []]
    of = {one.id: "Paris" if at < 8 else "Osaka" for at, one in enumerate(plan.players)}
    made, _halls = plan_in_halls(plan, Structure(4, hall_of=of), Random(1), at_once)
    assert (made.stages, problems(made)) == ((), [])


@pytest.mark.parametrize(
    ("of", "teams", "wish"),
    [({}, 0, Structure(4)), ({"p001": "A"}, 0, Structure(4)), (None, 4, Structure(4)), (None, 0, Structure(4, 2))],
)
def test_impossible_halls_are_refused(of: dict[str, str] | None, teams: int, wish: Structure) -> None:
    plan = people(16, teams)
    with pytest.raises(RuleError) as caught:
        hall_orders(plan, wish._replace(hall_of=dict.fromkeys(plan.teams, "A") if of is None else of))
    assert caught.value.code == "halls_wrong"
