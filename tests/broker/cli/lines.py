"""Input lines for `homologue score`: two plays of one deal, and the teams of their players."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from broker.protocol import SEATS, Seat
from tests.broker.rules.variants import seats


def play(table: int, points: Mapping[Seat, int], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    players = {seat: f"p{table}{seat[0]}" for seat in SEATS}
    return {"deal": 1, "table": table, "players": players, "points": dict(points)} | more


TWO = [play(1, seats(42, -8, -8, -26), fines={"south": 4}), play(2, seats(-11, 33, -11, -11))]


TEAM_OF = {f"p{t}{seat[0]}": f"team {(t + at) % 2}" for t in (1, 2) for at, seat in enumerate(SEATS)}


def teams_file(folder: Path, team_of: Mapping[str, str]) -> Path:
    teams: dict[str, list[str]] = {}
    for player, name in team_of.items():
        teams.setdefault(name, []).append(player)
    path = folder / "teams.json"
    path.write_text(json.dumps(teams))
    return path


def imp_of(answer: dict[str, Any]) -> dict[str, Any]:
    return {row["player"]: row["imp"] for row in answer["standings"]}
