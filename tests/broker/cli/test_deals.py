"""`homologue deal wall` prints a deal's common wall for people and for programs."""

import json
from pathlib import Path

from click.testing import CliRunner

from broker.cli.main import homologue
from broker.rules.riichi import common_wall
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import deals


def told(folder: Path, *options: str) -> tuple[int, str]:
    """Run the command; return its exit code and output."""
    ran = CliRunner().invoke(homologue, ["deal", "wall", str(folder), *options])
    return ran.exit_code, ran.output


def test_a_deals_wall_is_printed_in_drawing_order(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", [])
    deal = next(one for one in deals() if one.number == 2)
    code, said = told(folder, "--deal", "2", "--json")
    wall = common_wall(deal.deal())
    assert (code, json.loads(said)) == (
        0,
        {
            "deal": 2,
            "dealer": deal.dealer,
            "hands": {seat: [*tiles] for seat, tiles in wall.hands.items()},
            "live": [*wall.live],
            "replacements": [*wall.replacements],
            "indicators": [*wall.indicators],
            "under": [*wall.under],
        },
    )
    _, said = told(folder, "--deal", "2")
    assert said.split("indicators")[1].split("under them")[0].split() == [*wall.indicators]
    assert [line.split()[0] for line in said.splitlines()[5:9]] == ["1-21", "22-42", "43-63", "64-70"]


def test_an_unknown_deal_is_refused(tmp_path: Path) -> None:
    code, said = told(event_folder(tmp_path / "cup", []), "--deal", "99")
    assert (code, "deal_unknown" in said) == (1, True)
