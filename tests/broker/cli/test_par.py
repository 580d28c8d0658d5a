"""`homologue par` plays deals that all tables have played, and continues where it stopped."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.event import PAR, read_par
from broker.protocol import SEATS
from tests.refusals import codes


def asked(*said: object) -> Result:
    return CliRunner().invoke(homologue, ["par", *map(str, said), "--jobs", "1"])


def test_par_lists_each_seat_of_each_deal_and_continues_earlier_runs(over: Path) -> None:
    told = json.loads(asked(over, "--plays", 3, "--json").stdout)
    assert [(one["deal"], one["plays"]) for one in told["deals"]] == [(deal, 3) for deal in range(1, 5)]
    assert [*told["deals"][0]["seats"]] == list(SEATS)
    first = read_par(over)
    more = json.loads(asked(over, "--plays", 5, "--deal", 2, "--json").stdout)
    second = read_par(over)
    assert [(one["deal"], one["plays"]) for one in more["deals"]] == [(2, 5)]
    assert first
    assert second
    assert second.deals[1] == first.deals[1]
    lines = asked(over, "--plays", 3).stdout.splitlines()
    assert len(lines) == 1 + 4 * 4
    assert lines[1].split()[:3] == ["1", "3", "east"]


def test_deals_still_to_be_played_are_refused_unless_early(under_way: Path) -> None:
    refused = asked(under_way, "--plays", 2)
    assert codes(refused.stderr) == ["deal_not_played"] * 4
    assert not (under_way / PAR).exists()
    assert asked(under_way, "--plays", 2, "--deal", 1, "--early").exit_code == 0
    assert (under_way / PAR).exists()


def test_an_unknown_deal_is_refused(over: Path) -> None:
    assert codes(asked(over, "--deal", 99).stderr) == ["deal_unknown"]


def test_another_seed_discards_earlier_results(over: Path) -> None:
    asked(over, "--plays", 2, "--deal", 1, "--seed", 5)
    asked(over, "--plays", 2, "--deal", 2)
    kept = read_par(over)
    assert kept
    assert (kept.seed, sorted(kept.deals)) == (5, [1, 2])
    asked(over, "--plays", 2, "--deal", 1, "--seed", 6)
    anew = read_par(over)
    assert anew
    assert (anew.seed, sorted(anew.deals)) == (6, [1])
