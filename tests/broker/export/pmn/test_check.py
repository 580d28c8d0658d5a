"""A record is checked against the referee, the fan counter and the profile; each mistake has its own code."""

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
def test_a_mistake_is_named_where_it_shows(change: str, to: str, expected: tuple[str, str, int | None]) -> None:
    assert wrong(one(example(change, to))) == expected


def test_an_empty_play_is_unfinished() -> None:
    assert wrong(replace(GOOD, steps=())) == ("play_unfinished", "Play", 1)


def test_a_wall_that_is_told_must_be_the_one_that_was_drawn() -> None:
    _, record = played(3)
    assert record.walls is not None
    first, second, *rest = record.walls["east"]
    walls = {**record.walls, "east": (second, first, *rest)}
    assert wrong(replace(record, walls=walls), "declared") == ("wall_differs", "Play", 1)


def test_told_walls_and_hands_are_a_whole_set() -> None:
    _, record = played(3)
    assert record.walls is not None
    walls = {**record.walls, "east": record.walls["south"]}
    assert wrong(replace(record, walls=walls), "declared") == ("not_a_deal", "Deal", None)


def test_more_draws_than_a_wall_has_tiles_are_no_play() -> None:
    draws = tuple(Step("T", "east", tile) for tile in KINDS[:22])
    assert wrong(replace(GOOD, steps=draws)) == ("wrong_phase", "Play", 2)


def test_a_profile_that_nobody_knows_is_told_in_its_tag() -> None:
    assert wrong(replace(GOOD, profile="home-rules")) == ("unknown_profile", "Profile", None)


def test_another_profile_may_stand_in_for_the_record_s() -> None:
    under = replace(GOOD, points=dict(zip(SEATS, (-40, 28, -16, 28), strict=True)), profile="oedmc-2020")
    assert judge_record(under, declared_judge, load_mcr("zero-sum")) is not None
    assert wrong(under) == ("wrong_points", "Result", None)


def test_one_winner_rules_refuse_a_record_with_two() -> None:
    assert wrong(replace(GOOD, profile="mcr")) == ("several_winners", "Play", 92)


def test_a_record_that_declares_nothing_of_a_winner_is_refused() -> None:
    assert wrong(replace(GOOD, fans={"south": GOOD.fans["south"]}), "declared") == ("other_winners", "Play", 92)


def test_a_declared_value_is_believed_and_a_counted_one_is_not() -> None:
    eleven = replace(
        GOOD,
        fans={"south": total_only(11), "north": (PmnFan(39, 8), PmnFan(63, 2), PmnFan(70, 1), PmnFan(77, 1))},
        points=dict(zip(SEATS, (-31, 35, -8, 36), strict=True)),
    )
    assert judge_record(eleven, declared_judge) is not None
    assert wrong(eleven) == ("wrong_hand_value", "Fan", None)


@given(st.sampled_from(examples()), st.randoms(use_true_random=False), st.integers(1, 82))
def test_whatever_fan_takes_the_place_of_a_hand_s_is_refused_unless_it_is_one_to_choose(
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


def test_walls_whose_hands_are_secret_have_no_fifth_tile_either() -> None:
    walls = dict.fromkeys(SEATS, ("1m",) * 21)
    secret = replace(GOOD, hands=None, walls=walls)
    assert one(write_record(secret)) == secret
    assert wrong(secret) == ("fifth_tile", "Walls", None)
    assert wrong(replace(secret, steps=None), "declared") == ("fifth_tile", "Walls", None)


def test_walls_whose_hands_are_secret_may_be_those_of_a_deal() -> None:
    _, record = played(3)
    assert judge_record(replace(record, hands=None), declared_judge) is None


def test_a_winner_chooses_between_pairs_of_chows_and_between_waits_and_nowhere_else() -> None:
    numbers = range(1, 83)
    taken = {
        (one, other)
        for one in numbers
        for other in numbers
        if one != other and not differs_from_count((PmnFan(one, 1),), (PmnFan(other, 1),))
    }
    assert taken == {*permutations((69, 70, 71, 72), 2), *permutations((77, 78, 79), 2)}


@pytest.mark.parametrize("fan", ["0/12/1", "0/2/1.39/8/1.62/2/1"])
def test_fan_that_are_not_told_may_be_any(fan: str) -> None:
    assert judge_record(one(example("39/8/1.62/2/1.76/1/1.77/1/1", fan)), judge_named("green-book")) is not None


def test_fan_beside_what_is_not_told_must_be_the_hand_s() -> None:
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
def test_without_a_play_there_is_one_way_of_winning(
    points: tuple[int, ...], winners: dict[Seat, int], outcome: Outcome
) -> None:
    fans = {seat: total_only(value) for seat, value in winners.items()}
    record = replace(GOOD, steps=None, points=dict(zip(SEATS, points, strict=True)), fans=fans)
    assert judge_record(record, declared_judge) is None
    assert outcome_of_points(record, RULES) == outcome


@pytest.mark.parametrize("points", [(42, -8, -8, -27), (0, 0, 0, 0), (42, -14, -14, -13)])
def test_without_a_play_points_that_no_way_of_winning_gives_are_refused(points: tuple[int, ...]) -> None:
    record = replace(
        GOOD, steps=None, hands=None, points=dict(zip(SEATS, points, strict=True)), fans={"east": total_only(18)}
    )
    assert wrong(record) == ("wrong_points", "Result", None)


WON = [{"west": 9}, {"south": 12, "north": 12}, {"west": 21}]


@pytest.mark.parametrize("how", JUDGE_NAMES)
def test_the_referee_and_both_books_find_them_right(how: JudgeName) -> None:
    plays = [judge_record(record, judge_named(how)) for record in examples()]
    assert [{win.hu.seat: win.hand_value for win in play.wins} for play in plays if play] == WON


def test_two_winners_on_one_discard_have_the_points_of_the_rule_book_s_real_record() -> None:
    record = examples()[1]
    assert (record.points, record.winners) == ({"east": -32, "south": 36, "west": -8, "north": 36}, WON[1])


def test_what_we_write_of_them_differs_in_scoring_and_fan_values_alone() -> None:
    for theirs, record in zip(EXAMPLES.split("\n\n"), examples(), strict=True):
        ours = write_record(record).splitlines()
        differing = [line for line, other in zip(ours, theirs.splitlines(), strict=True) if line != other]
        assert [line.split()[0] for line in differing] == ["[Scoring", "[Fan"]


def test_the_fan_of_a_first_release_get_the_green_book_s_values() -> None:
    assert '[Fan "None None 55/4/1.59/2/1.70/1/1.73/1/1.78/1/1 None"]' in write_record(examples()[0])


def test_hu_as_the_first_release_wrote_it_is_read() -> None:
    assert of(EXAMPLES.replace("H1H3", "M1M3")) == examples()
