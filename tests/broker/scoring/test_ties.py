"""What parts equal totals, one law a tie-break."""

from typing import get_args

import pytest
from msgspec import structs

from broker.rules.profile import Profile, Stated, TieBreak
from broker.rules.profile_files import load
from broker.scoring.individual import standings
from broker.scoring.ledger import Ledger
from broker.scoring.plays import Adjustment, ScoredPlay
from tests.broker.rules.variants import TURNED, seats
from tests.broker.scoring.events import made

OEDMC = load("oedmc-2020")


def with_chain(*chain: TieBreak) -> Profile:
    return structs.replace(OEDMC, ties=structs.replace(OEDMC.ties, chain=Stated(chain, TURNED)))


def places(plays: list[ScoredPlay], *chain: TieBreak, previous: dict[str, int] | None = None) -> dict[str, int]:
    ledger = Ledger.of(plays, with_chain(*chain))
    return {one.name: one.place for one in standings(ledger, previous=previous)}


def test_the_default_shares_places() -> None:
    assert OEDMC.ties.chain.value == ()


def test_direct_comparison_counts_play_against_play_among_the_tied_alone() -> None:
    # The mean is 20, so nobody has an IMP, and all are tied; against each other 1 point is nothing,
    plays = made([seats(21, 0, 0, 0), seats(20, 0, 0, 0), seats(19, 0, 0, 0)])
    found = places(plays, "direct_comparison")
    # but 21 is 2 above 19, which is worth 1 IMP, and 19 loses it.
    assert (found["p1e"], found["p2e"], found["p3e"]) == (1, 2, 12)


def test_points_are_those_of_all_tables() -> None:
    found = places(made([seats(1, 0, 0, 0), seats(0, 0, 0, 0)]), "points")
    assert (found["p1e"], found["p2e"], found["p1s"]) == (1, 2, 2)


def test_who_was_fined_less_is_ahead() -> None:
    ledger = Ledger.of([], with_chain("fewest_fines"), ["a", "b"])
    ledger = ledger.with_adjustments([Adjustment("a", 4, fine=4)])
    assert [(one.place, one.name) for one in standings(ledger)] == [(1, "b"), (2, "a")]


def test_the_session_before_decides_and_who_is_new_comes_last() -> None:
    found = places(made([seats(0, 0, 0, 0)]), "previous_standing", previous={"p1w": 1, "p1n": 2, "p1s": 2})
    assert found == {"p1w": 1, "p1n": 2, "p1s": 2, "p1e": 4}


@pytest.mark.parametrize("name", get_args(TieBreak))
def test_every_tie_break_leaves_real_equals_together(name: TieBreak) -> None:
    assert set(places(made([seats(5, 5, 5, 5)] * 2), name).values()) == {1}
