"""Duplicate riichi, by our own definition: each hand is scored alone, in hundreds, and compared."""

from hypothesis import given

from broker.protocol import SEATS
from broker.rules import RuleError, load_riichi, score_alone
from broker.rules.riichi import Abort, ExhaustiveDraw, SessionEvent, SessionWin, Tsumo
from tests.broker.cli.asking import ask
from tests.broker.rules.riichi.test_session import EVENTS

MONTREAL = load_riichi("montreal")


def test_the_dealer_pays_double_for_a_self_drawn_hand_at_any_seat() -> None:
    drawn = Tsumo(win=SessionWin(1, 3, 50), riichi=(0, 1))
    assert score_alone(drawn, "east", MONTREAL) == {"east": -32, "south": 64, "west": -16, "north": -16}
    assert score_alone(drawn, "south", MONTREAL) == {"east": -32, "south": 96, "west": -32, "north": -32}


def test_a_draw_pays_tenpai_players_and_an_aborted_hand_pays_nobody() -> None:
    assert score_alone(ExhaustiveDraw(tenpai=(2,)), "east", MONTREAL) == {
        "east": -10,
        "south": -10,
        "west": 30,
        "north": -10,
    }
    assert set(score_alone(Abort(reason="four_riichi", riichi=(0, 1, 2, 3)), "east", MONTREAL).values()) == {0}


@given(EVENTS)
def test_a_hand_scored_alone_is_zero_sum_and_within_the_bound(event: SessionEvent) -> None:
    try:
        points = score_alone(event, "west", MONTREAL)
    except RuleError:
        return
    assert sum(points.values()) == 0
    assert max(map(abs, points.values())) <= MONTREAL.most_points


def test_plays_of_one_deal_are_compared_by_datum_and_imp() -> None:
    seen = [(-32, 64, -16, -16), (0, 39, -39, 0), (10, -30, 10, 10)]
    plays = [
        {
            "deal": 1,
            "table": table,
            "players": {seat: f"{seat}{table}" for seat in SEATS},
            "points": dict(zip(SEATS, points, strict=True)),
        }
        for table, points in enumerate(seen, 1)
    ]
    (answer,) = ask("score", *plays, options=("--profile", "riichi-montreal"))
    (group,) = answer["travellers"][0]["groups"]
    assert group["datum"] == {"east": "-22/3", "south": "73/3", "west": "-15", "north": "-2"}
    assert [play["imp"]["south"] for play in group["plays"]] == [9, 4, -11]
    assert ask("imp", {"difference": "80"}, options=("--profile", "riichi-montreal")) == [{"imp": 13}]


def test_bounds_are_reported_while_plays_are_missing() -> None:
    play = {"deal": 1, "table": 1, "players": {seat: seat for seat in SEATS}, "points": dict.fromkeys(SEATS, 0)}
    later = {"deal": 2, "table": 1, "players": {seat: seat for seat in SEATS}}
    (answer,) = ask("score", play, later, options=("--profile", "riichi-montreal"))
    assert [one["bounds"]["imp"] for one in answer["standings"]] == [[-24, 24]] * 4
