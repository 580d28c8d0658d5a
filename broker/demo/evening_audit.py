"""Recomputes a riichi evening from the scorer's journal, by other means: plain integers, no code of the rules.

RIICHI-POINTS for what a hand pays; MONTREAL for counters and for two ron, of which RIICHI-PLAY keeps the nearest.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from broker.demo.audit import SEATS, Fact

LIMITS: Final = ((13, 8000), (11, 6000), (8, 4000), (6, 3000), (5, 2000))
"""Han from which on the base is this."""

MANGAN: Final = 2000
START: Final = 25_000
STICK: Final = 1000


def evening_problems(journal: list[Fact], sessions: dict[int, str]) -> Iterator[str]:
    """Name everything that is off. `sessions`: by whose rules each table plays."""
    entries = defaultdict(list)
    for fact in journal:
        if fact["type"] == "riichi_hand":
            entries[fact["table"]].append(fact)
    for table, profile in sessions.items():
        told = sorted(entries[table], key=lambda fact: fact["entry"])
        if not told or told[-1]["event"]["kind"] != "end":
            yield f"table {table} has not ended its session"
        yield from _session(table, profile, told)


def _session(table: int, profile: str, told: list[Fact]) -> Iterator[str]:
    scores, stands = dict.fromkeys(SEATS, START), {"dealer": "east", "counters": 0, "deposits": 0}
    for fact in told:
        where = f"entry {fact['entry']} of table {table}"
        due = _paid(fact["event"], stands, nearest=profile == "riichi-basic")
        if fact["event"]["kind"] != "end" and fact["deltas"] != due:
            yield f"{where} pays {fact['deltas']}, should be {due}"
        scores = {seat: scores[seat] + fact["deltas"][seat] for seat in SEATS}
        stands = fact["standing"]
        if stands["scores"] != scores or sum(scores.values()) + STICK * stands["deposits"] != 4 * START:
            yield f"{where}: the scores are not what was paid"


def _paid(event: dict[str, Any], stands: dict[str, Any], *, nearest: bool) -> dict[str, int]:
    """Give what each wins or loses; `stands` is where the session stood before."""
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
        counters = 0 if at else stands["counters"]
        for payer, points in _shares(wins[winner], winner, event.get("loser"), stands["dealer"], counters):
            due[payer] -= points
            due[winner] += points
    if in_turn:
        due[in_turn[0]] += STICK * (stands["deposits"] + len(event.get("riichi", ())))
    return due


def _shares(
    win: dict[str, Any], winner: str, loser: str | None, dealer: str, counters: int
) -> Iterator[tuple[str, int]]:
    """Give who pays what for one hand."""
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
