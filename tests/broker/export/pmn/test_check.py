"""Records are checked by the referee, the fan counter and the profile; each mistake has its own code."""

from itertools import permutations
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.export.pmn.check import JUDGE_NAMES, JudgeName, declared_judge, judge_named, judge_record, outcome_of_points
from broker.export.pmn.notation import write_record
from broker.export.pmn.record import PmnFan, PmnRecord, RecordError, Step, differs_from_count, total_only
from broker.protocol import SEATS, Seat
from broker.rules import KINDS, Outcome, load_mcr
from tests.broker.export.pmn.plays import RULES, example, examples, of, one, played
from tests.broker.export.pmn.public import EXAMPLES

GOOD: Final = examples()[1]


def wrong(record: PmnRecord, how: JudgeName = "green-book") -> tuple[str, str | None, int | None]:
    with pytest.raises(RecordError) as problem:
        judge_record(record, judge_named(how))
    return problem.value.code, problem.value.tag, problem.value.step


@pytest.mark.parametrize(
    ("change", "to", "expected"),
    [
        ("T0r2D0r1", "T0r2D0c9", ("tiles_missing", "Play", 2)),
        ("T0r2D0r1T1b6", "T0r2D0r1T2b6", ("not_your_turn", "Play", 3)),
        ("D1w3P2w3", "D1w3C2w3", ("tiles_missing", "Play", 5)),
        ("D1w3P2w3", "D1w3P0w3", ("tiles_missing", "Play", 5)),
        ("D1w3P2w3", "D1w3Z2w3", ("tiles_missing", "Play", 5)),
        ("T0r2", "T0r2A0c7", ("tiles_missing", "Play", 2)),
        ("T0r2", "T0r2B0c7", ("tiles_missing", "Play", 2)),
        ("T0r2", "T0r2H0", ("not_winning", "Play", 2)),
        ("T0r2", "T0r2H1", ("not_your_turn", "Play", 2)),
        ("T0r2", "T0r2T0r3", ("wrong_phase", "Play", 2)),
        ("H1H3", "H1H3T1c1", ("play_over", "Play", 93)),
        ("H1H3", "H0", ("discarder_wins", "Play", 91)),
        ("H1H3", "H2H3", ("not_winning", "Play", 91)),
        ("H1H3", "H1H2", ("not_winning", "Play", 92)),
        ("H1H3", "H1H0", ("discarder_wins", "Play", 92)),
        ("H1H3", "H1H1", ("winner_twice", "Play", 92)),
        ("H1H3", "H2H1H3", ("not_winning", "Play", 91)),
        ("H1H3", "H1H2H3", ("not_winning", "Play", 92)),
        ("H1H3", "H1H3H2", ("not_winning", "Play", 93)),
        ("H1H3", "", ("play_unfinished", "Play", 90)),
        ("H1H3", "N0", ("play_unfinished", "Play", 91)),
        ("H1H3", "H1", ("other_winners", "Fan", None)),
        ("T0r2", "T0d7", ("fifth_tile", "Play", 59)),
        ("-32 36 -8 36", "-32 36 -8 35", ("wrong_points", "Result", None)),
        ("39/8/1", "39/9/1", ("wrong_hand_value", "Fan", None)),
        ("39/8/1", "1/8/1", ("other_fan", "Fan", None)),
        ("39/8/1.62/2/1", "62/2/5", ("other_fan", "Fan", None)),
        ("77/1/1", "80/1/1", ("other_fan", "Fan", None)),
        ('Penalty "0 0 0 0', 'Penalty "0 0 0 -5', ("fine_not_in_profile", "Penalty", None)),
        ("c7d345677b3689w2r1f", "d11111447b36789f", ("fifth_tile", "Deal", None)),
    ],
)
def test_a_mistake_is_reported_at_its_place(change: str, to: str, expected: tuple[str, str, int | None]) -> None:
    assert wrong(one(example(change, to))) == expected


def test_an_empty_play_is_unfinished() -> None:
    assert wrong(replace(GOOD, steps=())) == ("play_unfinished", "Play", 1)


def test_recorded_walls_must_match_the_draws() -> None:
    _, record = played(3)
    assert record.walls is not None
    first, second, *rest = record.walls["east"]
    walls = {**record.walls, "east": (second, first, *rest)}
    assert wrong(replace(record, walls=walls), "declared") == ("wall_differs", "Play", 1)


def test_recorded_walls_and_hands_must_make_up_a_whole_set() -> None:
    _, record = played(3)
    assert record.walls is not None
    walls = {**record.walls, "east": record.walls["south"]}
    assert wrong(replace(record, walls=walls), "declared") == ("not_a_deal", "Deal", None)


def test_a_play_cannot_have_more_draws_than_a_wall_has_tiles() -> None:
    draws = tuple(Step("T", "east", tile) for tile in KINDS[:22])
    assert wrong(replace(GOOD, steps=draws)) == ("wrong_phase", "Play", 2)


def test_an_unknown_profile_is_reported_with_its_tag() -> None:
    assert wrong(replace(GOOD, profile="home-rules")) == ("unknown_profile", "Profile", None)


def test_a_given_profile_replaces_that_of_the_record() -> None:
    under = replace(GOOD, points=dict(zip(SEATS, (-40, 28, -16, 28), strict=True)), profile="oedmc-2020")
    assert judge_record(under, declared_judge, load_mcr("zero-sum")) is not None
    assert wrong(under) == ("wrong_points", "Result", None)


def test_rules_with_one_winner_refuse_a_record_with_two() -> None:
    assert wrong(replace(GOOD, profile="mcr")) == ("several_winners", "Play", 92)


def test_a_record_without_the_value_of_a_winner_is_refused() -> None:
    assert wrong(replace(GOOD, fans={"south": GOOD.fans["south"]}), "declared") == ("other_winners", "Play", 92)


def test_the_declared_judge_trusts_a_value_that_counting_refutes() -> None:
    eleven = replace(
        GOOD,
        fans={"south": total_only(11), "north": (PmnFan(39, 8), PmnFan(63, 2), PmnFan(70, 1), PmnFan(77, 1))},
        points=dict(zip(SEATS, (-31, 35, -8, 36), strict=True)),
    )
    assert judge_record(eleven, declared_judge) is not None
    assert wrong(eleven) == ("wrong_hand_value", "Fan", None)


@given(st.sampled_from(examples()), st.randoms(use_true_random=False), st.integers(1, 82))
def test_a_wrong_fan_is_refused_unless_the_winner_could_choose_it(
    record: PmnRecord, chance: Random, number: int
) -> None:
    seat = chance.choice(list(record.winners))
    fans = list(record.fans[seat])
    at = chance.randrange(len(fans))
    before, fans[at] = fans[at].number, PmnFan(number, fans[at].fan, fans[at].times)
    other = replace(record, fans={**record.fans, seat: tuple(fans)})
    assert judge_record(other, declared_judge) is not None
    if number == before or any({number, before} <= set(kind) for kind in (range(69, 73), range(77, 80))):
        assert judge_record(other, judge_named("green-book")) is not None
    else:
        assert wrong(other) == ("other_fan", "Fan", None)


def test_walls_without_hands_are_checked_for_a_fifth_tile() -> None:
    walls = dict.fromkeys(SEATS, ("1m",) * 21)
    secret = replace(GOOD, hands=None, walls=walls)
    assert one(write_record(secret)) == secret
    assert wrong(secret) == ("fifth_tile", "Walls", None)
    assert wrong(replace(secret, steps=None), "declared") == ("fifth_tile", "Walls", None)


def test_walls_without_hands_are_accepted_if_they_come_from_a_deal() -> None:
    _, record = played(3)
    assert judge_record(replace(record, hands=None), declared_judge) is None


def test_only_pairs_of_chows_and_waits_are_interchangeable() -> None:
    numbers = range(1, 83)
    taken = {
        (one, other)
        for one in numbers
        for other in numbers
        if one != other and not differs_from_count((PmnFan(one, 1),), (PmnFan(other, 1),))
    }
    assert taken == {*permutations((69, 70, 71, 72), 2), *permutations((77, 78, 79), 2)}


@pytest.mark.parametrize("fan", ["0/12/1", "0/2/1.39/8/1.62/2/1"])
def test_unknown_fan_of_the_right_total_are_accepted(fan: str) -> None:
    assert judge_record(one(example("39/8/1.62/2/1.76/1/1.77/1/1", fan)), judge_named("green-book")) is not None


def test_fan_named_beside_unknown_ones_must_be_in_the_hand() -> None:
    assert wrong(one(example("39/8/1.62/2/1.76/1/1.77/1/1", "0/2/1.1/8/1.62/2/1"))) == ("other_fan", "Fan", None)


@pytest.mark.parametrize(
    ("points", "winners", "outcome"),
    [
        ((0, 0, 0, 0), {}, Outcome("draw", {})),
        ((42, -8, -8, -26), {"east": 18}, Outcome("discard", {"east": 18}, "north")),
        ((34, -12, -12, -12), {"east": 10}, Outcome("self_drawn", {"east": 10})),
        (
            (-44, 32, 36, 40),
            {"south": 8, "west": 12, "north": 16},
            Outcome("discard", {"south": 8, "west": 12, "north": 16}, "east"),
        ),
    ],
)
def test_without_steps_the_outcome_is_derived_from_the_points(
    points: tuple[int, ...], winners: dict[Seat, int], outcome: Outcome
) -> None:
    fans = {seat: total_only(value) for seat, value in winners.items()}
    record = replace(GOOD, steps=None, points=dict(zip(SEATS, points, strict=True)), fans=fans)
    assert judge_record(record, declared_judge) is None
    assert outcome_of_points(record, RULES) == outcome


@pytest.mark.parametrize("points", [(42, -8, -8, -27), (0, 0, 0, 0), (42, -14, -14, -13)])
def test_without_steps_impossible_points_are_refused(points: tuple[int, ...]) -> None:
    record = replace(
        GOOD, steps=None, hands=None, points=dict(zip(SEATS, points, strict=True)), fans={"east": total_only(18)}
    )
    assert wrong(record) == ("wrong_points", "Result", None)


WON = [{"west": 9}, {"south": 12, "north": 12}, {"west": 21}]


@pytest.mark.parametrize("how", JUDGE_NAMES)
def test_the_public_examples_pass_under_every_judge(how: JudgeName) -> None:
    plays = [judge_record(record, judge_named(how)) for record in examples()]
    assert [{win.hu.seat: win.hand_value for win in play.wins} for play in plays if play] == WON


def test_the_public_example_with_two_winners_has_the_recorded_points() -> None:
    record = examples()[1]
    assert (record.points, record.winners) == ({"east": -32, "south": 36, "west": -8, "north": 36}, WON[1])


def test_rewritten_examples_differ_only_in_scoring_and_fan_values() -> None:
    for theirs, record in zip(EXAMPLES.split("\n\n"), examples(), strict=True):
        ours = write_record(record).splitlines()
        differing = [line for line, other in zip(ours, theirs.splitlines(), strict=True) if line != other]
        assert [line.split()[0] for line in differing] == ["[Scoring", "[Fan"]


def test_fan_without_a_value_get_the_green_books() -> None:
    assert '[Fan "None None 55/4/1.59/2/1.70/1/1.73/1/1.78/1/1 None"]' in write_record(examples()[0])


def test_the_first_releases_letter_for_hu_is_accepted() -> None:
    assert of(EXAMPLES.replace("H1H3", "M1M3")) == examples()
