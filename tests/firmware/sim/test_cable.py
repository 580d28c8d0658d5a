"""A bad line follows its settings, reproducibly for each seed."""

import pytest

from firmware.presses import MS
from firmware.sim.cable import LineFaults, LineNoise

PIECES = [bytes([at]) * 40 for at in range(200)]


def carried(faults: LineFaults, seed: int = 1) -> list[tuple[int, bytes]]:
    """Send pieces a millisecond apart; return what arrives."""
    noise = LineNoise(faults, seed)
    return sorted(one for at, piece in enumerate(PIECES) for one in noise.carry(piece, at * MS))


def test_a_good_line_changes_nothing() -> None:
    assert carried(LineFaults()) == [(at * MS, piece) for at, piece in enumerate(PIECES)]


def test_a_line_that_loses_bytes_adds_none() -> None:
    pieces = [piece for _, piece in carried(LineFaults(lost=100))]
    assert 0.8 < sum(map(len, pieces)) / sum(map(len, PIECES)) < 0.95
    assert [set(piece) for piece in pieces] == [set(piece) for piece in PIECES]


def test_a_line_that_garbles_keeps_the_number_of_bytes() -> None:
    pieces = [piece for _, piece in carried(LineFaults(garbled=100))]
    assert [len(piece) for piece in pieces] == [40] * 200
    assert pieces != PIECES


def test_garbage_precedes_whole_pieces() -> None:
    pieces = [piece for _, piece in carried(LineFaults(garbage=300))]
    assert [piece[-40:] for piece in pieces] == PIECES
    assert 30 < sum(len(piece) > 40 for piece in pieces) < 90


def test_a_delayed_line_keeps_the_order_and_the_longest_delay() -> None:
    arrived = carried(LineFaults(delay_ms=9))
    assert [piece for _, piece in arrived] == PIECES
    late = [at - sent * MS for sent, (at, _) in enumerate(arrived)]
    assert 5 * MS < max(late) <= 9 * MS


def test_a_line_that_reorders_loses_nothing() -> None:
    pieces = [piece for _, piece in carried(LineFaults(reordered=100))]
    assert pieces != PIECES
    assert sorted(pieces) == PIECES


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_seed_gives_the_same_faults(seed: int) -> None:
    faults = LineFaults(delay_ms=5, lost=5, garbled=5, garbage=50, reordered=50)
    assert carried(faults, seed) == carried(faults, seed)
    assert carried(faults, 1) != carried(faults, 2)
