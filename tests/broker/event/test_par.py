"""`par.json`: figures for the seats of each deal."""

from pathlib import Path
from random import Random
from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.event import PAR, DealPar, EventPar, played_hash, read_par, write_par
from broker.protocol import SEATS, Seat
from broker.rules import RuleError, load_mcr, new_deal

NOTHING = DealPar("0" * 64, 0, {seat: {} for seat in SEATS})

plays = st.lists(st.integers(-64, 200), max_size=30)


def counted(points: list[int]) -> dict[Seat, dict[int, int]]:
    return {seat: {one: points.count(one) for one in points} for seat in SEATS}


@given(plays, plays, plays)
def test_the_order_in_which_plays_are_added_does_not_matter(one: list[int], two: list[int], three: list[int]) -> None:
    here = NOTHING
    for points in (one, two, three):
        here = here.plus(len(points), counted(points))
    assert here == NOTHING.plus(len(three + one), counted(three + one)).plus(len(two), counted(two))


@given(st.lists(st.integers(-64, 200), min_size=2, max_size=200))
def test_the_figures_of_a_seat_describe_its_plays(points: list[int]) -> None:
    found = NOTHING.plus(len(points), counted(points)).seats()["west"]
    assert found.mean == pytest.approx(mean(points))
    assert found.spread == pytest.approx(stdev(points))
    assert found.low <= found.mean <= found.high
    inside = sum(found.least <= one <= found.most for one in points)
    assert inside >= 0.8 * len(points) - 1e-9
    assert {found.least, found.most} <= set(points)


def test_one_play_is_too_few_for_figures() -> None:
    assert NOTHING.plus(1, counted([8])).seats() == {}


def test_par_is_read_unchanged_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    assert read_par(tmp_path) is None
    par = EventPar(1, "cup", 7, 1, {3: NOTHING.plus(2, counted([-8, 32]))})
    write_par(tmp_path, par)
    assert read_par(tmp_path) == par
    assert (tmp_path / PAR).stat().st_mode & 0o077 == 0
    (tmp_path / PAR).write_text("{}")
    with pytest.raises(RuleError) as refused:
        read_par(tmp_path)
    assert refused.value.code == "malformed"


def test_the_hash_depends_on_deal_and_payments() -> None:
    payments = load_mcr().payments
    deal, other = (new_deal(1, "east", "east", Random(seed)) for seed in (1, 2))
    fuller = replace(payments, base=replace(payments.base, value=9)) if hasattr(payments, "__struct_fields__") else None
    assert played_hash(deal, payments) == played_hash(deal, payments) != played_hash(other, payments)
    assert fuller is None or played_hash(deal, fuller) != played_hash(deal, payments)
