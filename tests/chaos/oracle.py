"""What must hold after a run, recomputed from the journal by other means than the product's: no code of its rules."""

import csv
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker.sim.demo_audit import SEATS, Fact, imps_of, points_of
from tests.chaos.arbiter import DoneRuling
from tests.chaos.event import KIOSK, ChaosEvent, expected
from tests.chaos.ledger import LedgerReader, Play
from tests.chaos.watching import Shown


@dataclass(slots=True)
class Verdict:
    """What is wrong, by kind, in words."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    altered: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """Everything that is wrong."""
        return [*self.lost, *self.doubled, *self.altered, *self.early, *self.others]


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """What the scorer's store holds."""

    results: list[Fact]
    rulings: list[Fact]


def read_store(path: Path) -> StoredEvent:
    """Read all results, each with its table, and all rulings."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        bodies = [json.loads(body) for (body,) in db.execute("SELECT body FROM journal ORDER BY height")]
    results = [
        {**body["fact"], "table": body["table"], "id": body["id"], "at": body["at"]}
        for body in bodies
        if body.get("fact", {}).get("type") == "result"
    ]
    return StoredEvent(results, [body for body in bodies if "decision" in body])


def judge(
    event: ChaosEvent,
    ledger: LedgerReader,
    done: Iterable[DoneRuling],
    shown: Iterable[Shown],
    view: dict[str, Any],
) -> Verdict:
    """Judge a run that is over: the store, the pages and the file of standings against what people did and saw."""
    stored, verdict = read_store(event.folder / "scorer.sqlite"), Verdict()
    ledger.take_kiosk(result for result in stored.results if result["table"] == KIOSK)
    _plays(event, ledger, stored, verdict)
    _rulings(done, stored, verdict)
    verdict.early.extend(_early(event, ledger, shown))
    verdict.others.extend(_standings(event, stored, view))
    return verdict


def _plays(event: ChaosEvent, ledger: LedgerReader, stored: StoredEvent, verdict: Verdict) -> None:
    """Every play is there once, as its people meant it; whatever four players saw as recorded is among them."""
    found: dict[Play, list[Fact]] = defaultdict(list)
    for result in stored.results:
        found[result["table"], result["round"]].append(result)
    for play in event.deals:
        results, where = found.pop(play, []), f"table {play[0]}, round {play[1]}"
        if not results:
            seen = "recorded" if play in ledger.recorded else "never recorded"
            verdict.lost.append(f"{where}: no result is stored; at the table it was {seen}")
        elif len(results) > 1:
            verdict.doubled.append(f"{where}: {len(results)} results are stored")
        else:
            verdict.altered.extend(_altered(where, results[0], expected(event, play)))
    verdict.doubled.extend(f"table {table}, round {round_} was never planned" for table, round_ in found)


def _altered(where: str, result: Fact, meant: dict[str, Any]) -> Iterator[str]:
    said = {name: result[name] for name in meant} | {
        "fines": {seat: fine["imp"] for seat, fine in result["fines"].items()}
    }
    for name, value in meant.items():
        if said[name] != value:
            yield f"{where}: {name} is {said[name]}, and was {value}"
    if result["points"] != points_of(result):
        yield f"{where}: points are {result['points']}, should be {points_of(result)}"


def _rulings(done: Iterable[DoneRuling], stored: StoredEvent, verdict: Verdict) -> None:
    """Every ruling that the desk has called done is stored once."""
    there = Counter(ruling["id"] for ruling in stored.rulings)
    for one in done:
        if there[one.id] != 1:
            verdict.lost.append(f"ruling {one.id} ({one.kind}) was called done, and is stored {there[one.id]} times")


def _early(event: ChaosEvent, ledger: LedgerReader, shown: Iterable[Shown]) -> Iterator[str]:
    """Nothing of a deal was public before the last of its tables began to accept its result."""
    by_deal: dict[int, list[Play]] = defaultdict(list)
    for play, deal in event.deals.items():
        by_deal[deal].append(play)
    never = 1 << 63
    ready = {deal: max(ledger.accepting.get(play, never) for play in plays) for deal, plays in by_deal.items()}
    deals_of: dict[str, list[int]] = defaultdict(list)
    for (table, _), deal in event.deals.items():
        for player in event.players(table).values():
            deals_of[player].append(ready[deal])
    for one in shown:
        for play in one.plays:
            if one.deal is None or one.at < ready[one.deal]:
                yield f"{one.where}: {play} of deal {one.deal} was public {(ready[one.deal or 0] - one.at) / 1e9:.1f} s early"
        for player, count in one.counts.items():
            open_ = sum(at <= one.at for at in deals_of[player])
            if count > open_:
                yield f"{one.where}: {count} plays of {player} counted where {open_} were open"


def _standings(event: ChaosEvent, stored: StoredEvent, view: dict[str, Any]) -> Iterator[str]:
    """The standings are those of the stored results with the stored rulings laid over them."""
    counts = _counting(stored.rulings)
    results = {(one["table"], one["round"]): one for one in stored.results}
    beside: dict[str, int] = defaultdict(int)
    for key, result in results.items():
        for seat, fine in result["fines"].items():
            beside[result["players"][seat]] -= int(fine["imp"])
        assert event.deals[key] == result["deal"]
    out = set[Play]()
    for ruling in counts:
        decision, key = ruling["decision"], (ruling.get("table"), ruling.get("round"))
        match decision["kind"]:
            case "fine":
                for player, imp in decision["takes"].items():
                    beside[player] -= imp
            case "award":
                for player, imp in decision["gives"].items():
                    beside[player] += imp
            case "void":
                out.add(key)
            case "correct":
                said = {name: decision[name] for name in ("win", "winners", "discarder")}
                results[key] = results[key] | said | {"points": points_of(results[key] | said)}
    right = _totals(event, [one for key, one in results.items() if key not in out], beside)
    rows = {row["player"]: (row["place"], row["imp"]) for row in view["standings"]}
    with (event.folder / "standings.csv").open(encoding="utf-8", newline="") as file:
        written = {row["player"]: (int(row["place"]), int(row["imp"])) for row in csv.DictReader(file)}
    for where, said_there in (("page", rows), ("standings.csv", written)):
        wrong = sorted(set(said_there.items()) ^ set(right.items()))
        if wrong:
            yield f"{where}: the standings are not those recomputed: {wrong[:6]}"


def _counting(rulings: list[Fact]) -> list[Fact]:
    """Return the rulings that count, oldest first: those that none which counts has undone."""
    undone = set[str]()
    for ruling in reversed(rulings):
        if ruling["decision"]["kind"] == "undo" and ruling["id"] not in undone:
            undone.add(ruling["decision"]["ruling"])
    return [one for one in rulings if one["id"] not in undone and one["decision"]["kind"] != "undo"]


def _totals(event: ChaosEvent, results: list[Fact], beside: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Add up IMPs, deal by deal; return place and IMP by player."""
    by_deal: dict[int, list[Fact]] = defaultdict(list)
    for result in results:
        by_deal[result["deal"]].append(result)
    totals = {
        player: beside[player] for table in range(1, event.tables + 1) for player in event.players(table).values()
    }
    for of_deal in by_deal.values():
        imps = imps_of(of_deal)
        for result in of_deal:
            for seat in SEATS:
                totals[result["players"][seat]] += imps[result["deal"], result["table"], seat]
    return {player: (1 + sum(other > imp for other in totals.values()), imp) for player, imp in totals.items()}
