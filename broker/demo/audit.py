"""Recomputes everything from the scorer's journal, by other means: plain integers, no code of the rules or scoring.

Rules: OEDMC 1-2 for points, the mean of a seat for the datum, the assumed scale, fines after conversion.
"""

import csv
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

SEATS: Final = ("east", "south", "west", "north")

STEPS: Final = (2, 5, 9, 13, 17, 22, 27, 32, 37, 43, 50, 60, 75, 90, 110, 130, 150, 175, 200, 225, 250, 300, 350, 400)

Fact = dict[str, Any]


def facts(store: Path) -> list[Fact]:
    """Read the journal: every fact with its table."""
    with closing(sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True)) as db:
        bodies = [json.loads(body) for (body,) in db.execute("SELECT body FROM journal ORDER BY height")]
    return [{**body["fact"], "table": body["table"]} for body in bodies]


def audit(store: Path, standings: Path, view: dict[str, Any], plays: int) -> list[str]:
    """Give everything that is off, in words; nothing where all is right."""
    journal = facts(store)
    results = [fact for fact in journal if fact["type"] == "result"]
    problems = [*_counts(journal, results, plays), *_fouled(journal)]
    problems.extend(
        f"points of {_where(result)}: {result['points']}, should be {points_of(result)}"
        for result in results
        if result["points"] != points_of(result)
    )
    imps = imps_of(results)
    problems.extend(_shown(results, imps, view))
    problems.extend(_ranked(results, imps, standings))
    return problems


def _where(result: Fact) -> str:
    return f"deal {result['deal']} at table {result['table']}"


def _counts(journal: list[Fact], results: list[Fact], plays: int) -> Iterator[str]:
    times = Counter((result["table"], result["round"]) for result in results)
    if len(times) != plays or any(count != 1 for count in times.values()):
        yield f"{len(results)} results of {len(times)} plays, should be one each of {plays}"
    for kind in ("restored", "confirmed"):
        found = {(fact["table"], fact["round"]) for fact in journal if fact["type"] == kind}
        if found != set(times):
            yield f"not every play was {kind}"


def _fouled(journal: list[Fact]) -> Iterator[str]:
    """Name deals that lay in several forms: here all plays of a deal are compared with each other."""
    forms = {(fact["deal"], fact["form"]) for fact in journal if fact["type"] == "restored"}
    for deal, count in Counter(deal for deal, _ in forms).items():
        if count > 1:
            yield f"deal {deal} was played in {count} forms"


def points_of(result: Fact) -> dict[str, int]:
    """Score one play as OEDMC rules 1 and 2 say."""
    winners, discarder = result["winners"], result["discarder"]
    scored = {}
    for seat in SEATS:
        if result["win"] == "draw":
            scored[seat] = 0
        elif seat in winners:
            scored[seat] = winners[seat] + 24
        elif result["win"] == "self_drawn":
            (value,) = winners.values()
            scored[seat] = -8 - (value + 2) // 3
        else:
            scored[seat] = -8 - (sum(winners.values()) if seat == discarder else 0)
    return scored


def imps_of(results: list[Fact]) -> dict[tuple[int, int, str], int]:
    """Compare each seat with its homologues: IMP by deal, table and seat, in integers of n times the points."""
    imps = {}
    for result in results:
        same = [other for other in results if other["deal"] == result["deal"]]
        for seat in SEATS:
            scaled = len(same) * result["points"][seat] - sum(other["points"][seat] for other in same)
            size = sum(2 * abs(scaled) >= len(same) * (2 * step - 1) for step in STEPS)
            imps[result["deal"], result["table"], seat] = size if scaled > 0 else -size
    return imps


def _fine(result: Fact, seat: str) -> int:
    return int(result["fines"].get(seat, {"imp": 0})["imp"])


def _shown(results: list[Fact], imps: dict[tuple[int, int, str], int], view: dict[str, Any]) -> Iterator[str]:
    """Hold what the arbiter's page shows against it."""
    pages = {(play["deal"], play["table"]): play["seats"] for play in view["plays"]}
    for result in results:
        seats = pages.get((result["deal"], result["table"]), {})
        for seat in SEATS:
            right = imps[result["deal"], result["table"], seat] - _fine(result, seat)
            said = seats.get(seat, {}).get("imp")
            if said != right:
                yield f"page, {_where(result)}, {seat}: {said} IMP, should be {right}"


def _ranked(results: list[Fact], imps: dict[tuple[int, int, str], int], standings: Path) -> Iterator[str]:
    totals: dict[str, int] = defaultdict(int)
    for result in results:
        for seat, player in result["players"].items():
            totals[player] += imps[result["deal"], result["table"], seat] - _fine(result, seat)
    with standings.open(encoding="utf-8", newline="") as file:
        said = {row["player"]: (int(row["place"]), int(row["imp"])) for row in csv.DictReader(file)}
    right = {player: (1 + sum(other > imp for other in totals.values()), imp) for player, imp in totals.items()}
    if said != right:
        wrong = sorted(set(said.items()) ^ set(right.items()))
        yield f"standings.csv: {wrong}"


def kinds(results: Iterable[Fact]) -> Counter[str]:
    """Count how plays ended, for the demo's closing words."""
    found: Counter[str] = Counter()
    for result in results:
        found["two hu on one discard" if len(result["winners"]) > 1 else result["win"].replace("_", "-")] += 1
        found["false hu"] += len(result["fines"])
    return found
