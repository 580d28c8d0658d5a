"""The demo's closing words, on numbers that can be checked by hand."""

from broker.contract.words import SEATS
from broker.demo.spread import told


def test_the_spread_is_told_of_points_of_points_compared_and_of_imps() -> None:
    results = [
        {"deal": 1, "table": table, "points": dict(zip(SEATS, points, strict=True))}
        for table, points in ((1, (30, -10, -10, -10)), (2, (50, -10, -30, -10)))
    ]
    imps: dict[tuple[int, int, str], int] = {
        (1, table, seat): sign * 3 for table, sign in ((1, -1), (2, 1)) for seat in SEATS
    }
    assert list(told(results, imps)) == [
        "Luck of the deal: a seat was worth from -20 to +40 points on average.",
        "  points as scored: from -30 to +50, spread 24.5",
        "  points against the same seat at the other tables: from -10 to +10, spread 7.1",
        "  IMP: from -3 to +3, spread 3.0",
    ]


def test_without_results_nothing_is_told() -> None:
    assert list(told([], {})) == []
