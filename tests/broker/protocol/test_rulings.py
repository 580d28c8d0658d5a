"""Kinds of ruling: the scope of each and the players that it names."""

from typing import Any, get_args

import pytest

from broker.protocol import (
    DEAL_DECISIONS,
    PLAY_DECISIONS,
    Adjusted,
    AnyDecision,
    Award,
    FineRuled,
    Fouled,
    SeatsPlayed,
    TableDecision,
    Void,
    decision_kind,
    players_named,
)
from broker.protocol.rulings import EVENT_DECISIONS


def test_every_kind_of_ruling_is_classified() -> None:
    assert {*PLAY_DECISIONS, *DEAL_DECISIONS, *EVENT_DECISIONS, Award, FineRuled} == set(get_args(AnyDecision))
    assert len(PLAY_DECISIONS) + len(DEAL_DECISIONS) + len(EVENT_DECISIONS) + 2 == len(get_args(AnyDecision))


def test_rulings_made_at_a_table_concern_one_play() -> None:
    assert set(get_args(TableDecision)) <= {*PLAY_DECISIONS, FineRuled}


@pytest.mark.parametrize(
    ("decision", "kind", "players"),
    [
        (Void(), "void", []),
        (Adjusted(gives={"p01": "own", "p02": 3}), "adjusted", ["p01", "p02"]),
        (Award(gives={"p01": -3}), "award", ["p01"]),
        (FineRuled(takes={"p04": 8}), "fine", ["p04"]),
        (Fouled(groups=((1, 2), (3,))), "fouled", []),
        (SeatsPlayed(players={"east": "p02", "south": "p01"}), "seats_played", ["p02", "p01"]),
    ],
)
def test_a_ruling_has_its_kind_and_players(decision: Any, kind: str, players: list[str]) -> None:  # noqa: ANN401 - any kind
    assert (decision_kind(decision), list(players_named(decision))) == (kind, players)
