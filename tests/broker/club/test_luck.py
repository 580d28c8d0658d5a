"""The experiment's report, from sessions that are known."""

from broker.club.luck import PLAYERS, Session, report, session, strengths


def test_the_strengths_go_down_in_equal_steps_from_1() -> None:
    assert strengths(0.25)[:2] == [1.0, 0.95]
    assert strengths(0.25)[-1] == 0.25


def test_who_is_always_first_is_told_so() -> None:
    falling = [PLAYERS - at for at in range(PLAYERS)]
    rising = falling[::-1]
    one = Session(rising, falling, falling, [[at for at in range(16)] for _ in range(4)])
    lines = list(report([one, one]))
    assert lines[2:] == [
        "| 4 | own deals, points | 2 | 0.0 | -1.00 | 0 % |",
        "| 4 | same deals, points | 2 | 0.0 | 1.00 | 100 % |",
        "| 4 | same deals, IMP | 2 | 0.0 | 1.00 | 100 % |",
        "\nOf the variance of points in one play 100 % lies in the deal and the seat.",
    ]


def test_a_session_has_every_player_and_every_seat() -> None:
    one = session(1, 0.5, 0)
    assert [len(one.own_points), len(one.same_points), len(one.same_imps)] == [PLAYERS] * 3
    assert [len(row) for row in one.by_seat] == [16] * 4
    assert sum(map(sum, one.by_seat)) == sum(one.same_points)
