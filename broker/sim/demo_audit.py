"""Recompute everything from the scorer's journal by other means: plain integers, no code of rules or scoring.

Covers points, IMPs and places of the demo's event, the payments of its riichi evening, and the luck of the deals.
"""

import csv
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Final

SEATS: Final = ("east", "south", "west", "north")

STEPS: Final = (2, 5, 9, 13, 17, 22, 27, 32, 37, 43, 50, 60, 75, 90, 110, 130, 150, 175, 200, 225, 250, 300, 350, 400)

Fact = dict[str, Any]


def facts(store: Path) -> list[Fact]:
    """Read the journal and return its facts, each with its table."""
    with closing(sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True)) as db:
        bodies = [json.loads(body) for (body,) in db.execute("SELECT body FROM journal ORDER BY height")]
    return [{**body["fact"], "table": body["table"]} for body in bodies if "fact" in body]


def audit_event(store: Path, standings: Path, view: dict[str, Any], plays: int) -> list[str]:
    """Return a description of everything that is wrong; an empty list if all is right."""
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
    """Yield deals played in more than one form. In the demo all plays of a deal are compared with each other."""
    forms = {(fact["deal"], fact["form"]) for fact in journal if fact["type"] == "restored"}
    for deal, count in Counter(deal for deal, _ in forms).items():
        if count > 1:
            yield f"deal {deal} was played in {count} forms"


def kept_problems(journal: list[Fact], table: int, script: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the camera read wrongly after a kept play. `script` is the play as its people played it.

    The direction of a river cannot be seen if all its rows are full.
    """
    kept = [fact["seats"] for fact in journal if fact["type"] == "laid" and fact["table"] == table]
    if len(kept) != 1:
        yield f"table {table} kept {len(kept)} plays, should be 1"
    for seat, laid in script["laid"].items() if kept else ():
        seen, lay = _sorted(kept[0].get(seat, {})), _sorted(laid)
        if seen != lay and seen != {**lay, "river": lay["river"][::-1]}:
            yield f"{seat} of the play that table {table} kept: {seen}, should be {lay}"


def _sorted(laid: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return what lay before a seat: the river in discard order without gaps, the rest in sorted order."""
    return {
        "river": [serial for serial in laid.get("river", ()) if serial],
        "melds": sorted(map(sorted, laid.get("melds", ()))),
        "hand": sorted(laid.get("hand") or ()),
    }


def points_of(result: Fact) -> dict[str, int]:
    """Return the points of one play by OEDMC rules 1 and 2."""
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
    """Compare each seat with its homologues: IMPs by deal, table and seat, in integers (n x points)."""
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
    """Yield differences from what the arbiter's page shows."""
    pages = {(play["deal"], play["table"]): play["seats"] for play in view["plays"]}
    for result in results:
        seats = pages.get((result["deal"], result["table"]), {})
        for seat in SEATS:
            expected = imps[result["deal"], result["table"], seat] - _fine(result, seat)
            shown = seats.get(seat, {}).get("imp")
            if shown != expected:
                yield f"page, {_where(result)}, {seat}: {shown} IMP, should be {expected}"


def _ranked(results: list[Fact], imps: dict[tuple[int, int, str], int], standings: Path) -> Iterator[str]:
    totals: dict[str, int] = defaultdict(int)
    for result in results:
        for seat, player in result["players"].items():
            totals[player] += imps[result["deal"], result["table"], seat] - _fine(result, seat)
    with standings.open(encoding="utf-8", newline="") as file:
        shown = {row["player"]: (int(row["place"]), int(row["imp"])) for row in csv.DictReader(file)}
    expected = {player: (1 + sum(other > imp for other in totals.values()), imp) for player, imp in totals.items()}
    if shown != expected:
        wrong = sorted(set(shown.items()) ^ set(expected.items()))
        yield f"standings.csv: {wrong}"


def count_endings(results: Iterable[Fact]) -> Counter[str]:
    """Count how plays ended, for the demo's closing summary."""
    found: Counter[str] = Counter()
    for result in results:
        found["two hu on one discard" if len(result["winners"]) > 1 else result["win"].replace("_", "-")] += 1
        found["false hu"] += len(result["fines"])
    return found


LIMITS: Final = ((13, 8000), (11, 6000), (8, 4000), (6, 3000), (5, 2000))
"""The least han of each limit, and its base."""

MANGAN: Final = 2000
START: Final = 25_000
STICK: Final = 1000


def evening_problems(journal: list[Fact], sessions: dict[int, str]) -> Iterator[str]:
    """Yield everything that is wrong. `sessions`: the rules of each table."""
    entries = defaultdict(list)
    for fact in journal:
        if fact["type"] == "riichi_hand":
            entries[fact["table"]].append(fact)
    for table, profile in sessions.items():
        hands = sorted(entries[table], key=lambda fact: fact["entry"])
        if not hands or hands[-1]["event"]["kind"] != "end":
            yield f"table {table} has not ended its session"
        yield from _session(table, profile, hands)


def _session(table: int, profile: str, hands: list[Fact]) -> Iterator[str]:
    scores, standing = dict.fromkeys(SEATS, START), {"dealer": "east", "counters": 0, "deposits": 0}
    for fact in hands:
        where = f"entry {fact['entry']} of table {table}"
        due = _paid(fact["event"], standing, nearest=profile == "riichi-basic")
        if fact["event"]["kind"] != "end" and fact["deltas"] != due:
            yield f"{where} pays {fact['deltas']}, should be {due}"
        scores = {seat: scores[seat] + fact["deltas"][seat] for seat in SEATS}
        standing = fact["standing"]
        if standing["scores"] != scores or sum(scores.values()) + STICK * standing["deposits"] != 4 * START:
            yield f"{where}: the scores are not what was paid"


def _paid(event: dict[str, Any], standing: dict[str, Any], *, nearest: bool) -> dict[str, int]:
    """Return what each seat wins or loses. `standing` is the state of the session before."""
    due = {seat: -STICK * (seat in event.get("riichi", ())) for seat in SEATS}
    if event["kind"] == "draw":
        tenpai = event.get("tenpai", ())
        if 0 < len(tenpai) < len(SEATS):
            for seat in SEATS:
                due[seat] += 3000 // len(tenpai) if seat in tenpai else -3000 // (len(SEATS) - len(tenpai))
        return due
    wins = event.get("wins", {})
    first = event.get("loser") or next(iter(wins), "")
    in_turn = sorted(wins, key=lambda seat: (SEATS.index(seat) - SEATS.index(first)) % len(SEATS))
    for at, winner in enumerate(in_turn[:1] if nearest else in_turn):
        counters = 0 if at else standing["counters"]
        for payer, points in _shares(wins[winner], winner, event.get("loser"), standing["dealer"], counters):
            due[payer] -= points
            due[winner] += points
    if in_turn:
        due[in_turn[0]] += STICK * (standing["deposits"] + len(event.get("riichi", ())))
    return due


def _shares(
    win: dict[str, Any], winner: str, loser: str | None, dealer: str, counters: int
) -> Iterator[tuple[str, int]]:
    """Yield who pays what for one hand."""
    base = _base(win)
    if loser is not None:
        yield loser, _rounded(base * (6 if winner == dealer else 4)) + 300 * counters
        return
    for seat in SEATS:
        if seat != winner:
            yield seat, _rounded(base * (2 if dealer in (seat, winner) else 1)) + 100 * counters


def _base(win: dict[str, Any]) -> int:
    han = win.get("han", 0)
    limit = next((base for least, base in LIMITS if han >= least), 0)
    return limit or min(MANGAN, int(win["fu"]) << (2 + han))


def _rounded(points: int) -> int:
    return (points + 99) // 100 * 100


def luck_lines(results: Iterable[Fact], imps: Mapping[tuple[int, int, str], int]) -> Iterator[str]:
    """Yield lines on the spread of points, of points compared with the same seat elsewhere, and of IMPs, if any."""
    of_seat: dict[tuple[int, str], list[int]] = {}
    for result in results:
        for seat in SEATS:
            of_seat.setdefault((result["deal"], seat), []).append(result["points"][seat])
    if not of_seat:
        return
    points = [value for scored in of_seat.values() for value in scored]
    compared = [value - fmean(scored) for scored in of_seat.values() for value in scored]
    means = [fmean(scored) for scored in of_seat.values()]
    yield f"Luck of the deal: a seat was worth from {min(means):+.0f} to {max(means):+.0f} points on average."
    yield f"  {_range('points as scored', points)}"
    yield f"  {_range('points against the same seat at the other tables', compared)}"
    yield f"  {_range('IMP', [*imps.values()])}"


def _range(name: str, values: Sequence[float]) -> str:
    return f"{name}: from {min(values):+.0f} to {max(values):+.0f}, spread {pstdev(values):.1f}"
