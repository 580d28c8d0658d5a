"""What must hold after a run, recomputed from the journal without the product's own rules."""

import csv
import json
import sqlite3
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from broker.sim.demo_audit import SEATS, Fact, imps_of, points_of
from tests.chaos.arbiter import DoneRuling
from tests.chaos.event import KIOSK, ChaosEvent, expected
from tests.chaos.ledger import LedgerReader, Play
from tests.chaos.watching import Shown

Ranks = dict[str, tuple[int, int]]
"""Place and IMP, by player."""

NEVER: Final = 1 << 63


@dataclass(slots=True)
class Verdict:
    """What is wrong, by kind, as sentences."""

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
        """All sentences."""
        return [*self.lost, *self.doubled, *self.altered, *self.early, *self.others]


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """The content of the scorer's store."""

    results: list[Fact]
    rulings: list[Fact]
    refused: Counter[str]
    """Number of messages that were set aside, by code."""


def read_store(path: Path) -> StoredEvent:
    """Read all results, each with its table, and all rulings; skip rows that were altered after they were written."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        refused = Counter(code for (code,) in db.execute("SELECT code FROM refused"))
        rows = db.execute("SELECT height, received_at, body, link FROM journal ORDER BY height").fetchall()
    links = [bytes(32), *(link for *_, link in rows)]
    bodies = [
        json.loads(body)
        for before, (height, received_at, body, link) in zip(links, rows, strict=False)
        if sha256(before + f"{height} {received_at} ".encode() + body).digest() == link
    ]
    results = [
        {**body["fact"], **{name: body.get(name) for name in ("table", "seq", "id", "at", "device")}}
        for body in bodies
        if body.get("fact", {}).get("type") == "result"
    ]
    results.sort(key=lambda result: int(result["seq"]))
    rulings = sorted((body for body in bodies if "decision" in body), key=lambda ruling: ruling["number"])
    return StoredEvent(results, rulings, refused)


def judge(
    event: ChaosEvent,
    stored: StoredEvent,
    ledger: LedgerReader,
    done: Iterable[DoneRuling],
    shown: Iterable[Shown],
    said: Mapping[str, Ranks],
) -> Verdict:
    """Judge a finished run by what people did and saw. `said`: the standings, by where they are shown."""
    verdict = Verdict()
    ledger.take_kiosk(result for result in stored.results if result["table"] == KIOSK)
    _plays(event, ledger, stored, verdict)
    judge_rulings(done, stored, verdict)
    verdict.early.extend(Embargo(event, ledger).broken(shown))
    if not verdict.problems:
        right = Recount(event, stored).ranks()
        for where, ranks in said.items():
            if wrong := sorted(set(ranks.items()) ^ set(right.items())):
                verdict.others.append(f"{where}: the standings are not those recomputed: {wrong[:6]}")
    return verdict


def _plays(event: ChaosEvent, ledger: LedgerReader, stored: StoredEvent, verdict: Verdict) -> None:
    """Check that every planned play is stored once, as scripted, including all that four players saw as recorded.

    A device that takes over a card without the last facts (the first device could not write them) plays that play
    again. Its results are set aside and do not count (`Recount`).
    """
    found: dict[Play, list[Fact]] = defaultdict(list)
    for result in stored.results:
        found[result["table"], result["round"]].append(result)
    for play in event.deals:
        results, where = found.pop(play, []), f"table {play[0]}, round {play[1]}"
        if not results:
            seen = "recorded" if play in ledger.recorded else "never recorded"
            verdict.lost.append(f"{where}: no result is stored; at the table it was {seen}")
        elif any(other["device"] == results[0]["device"] for other in results[1:]):
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


def judge_rulings(done: Iterable[DoneRuling], stored: StoredEvent, verdict: Verdict) -> None:
    """Check that every ruling which the desk confirmed is stored once."""
    there = Counter(ruling["id"] for ruling in stored.rulings)
    for one in done:
        if there[one.id] != 1:
            verdict.lost.append(f"ruling {one.id} ({one.kind}) was called done, and is stored {there[one.id]} times")


class Embargo:
    """When each deal may be public: not before the last of its tables began to accept its result."""

    def __init__(self, event: ChaosEvent, ledger: LedgerReader) -> None:
        ready: dict[int, int] = defaultdict(int)
        for play, deal in event.deals.items():
            ready[deal] = max(ready[deal], ledger.accepting.get(play, NEVER))
        self._ready = ready
        self._of_player: dict[str, list[int]] = defaultdict(list)
        for (table, _), deal in event.deals.items():
            for player in event.players(table).values():
                self._of_player[player].append(ready[deal])
        for times in self._of_player.values():
            times.sort()

    def broken(self, shown: Iterable[Shown]) -> Iterator[str]:
        """Report plays that were public too early."""
        for one in shown:
            if one.plays and (one.deal is None or one.at < self._ready[one.deal]):
                yield f"{one.where}: {one.plays} of deal {one.deal} were public too early"
            for player, count in one.counts.items():
                open_ = bisect_right(self._of_player[player], one.at)
                if count > open_:
                    yield f"{one.where}: {count} plays of {player} counted where {open_} were open"


class Recount:
    """The standings, from the stored results and rulings."""

    def __init__(self, event: ChaosEvent, stored: StoredEvent) -> None:
        self._event = event
        self._results = {(one["table"], one["round"]): one for one in reversed(stored.results)}  # the first counts
        self._void = set[Play]()
        self._beside: dict[str, int] = defaultdict(int)
        """Adjusted IMPs, which do not enter a datum."""
        for result in stored.results:
            for seat, fine in result["fines"].items():
                self._beside[result["players"][seat]] -= int(fine["imp"])
        for ruling in _counting(stored.rulings):
            self._lay(ruling["decision"], (ruling.get("table") or 0, ruling.get("round") or 0))

    def _lay(self, decision: Fact, play: Play) -> None:
        match decision["kind"]:
            case "fine":
                self._add(-1, decision["takes"])
            case "award":
                self._add(1, decision["gives"])
            case "void":
                self._void.add(play)
            case "correct":
                self._void.discard(play)  # undoes any earlier ruling
                outcome = {name: decision[name] for name in ("win", "winners", "discarder")}
                result = self._results[play] | outcome
                self._results[play] = result | {"points": points_of(result)}
            case kind:
                raise AssertionError(f"nobody has ruled {kind}")

    def _add(self, sign: int, imps: Mapping[str, int]) -> None:
        for player, imp in imps.items():
            self._beside[player] += sign * imp

    def ranks(self) -> Ranks:
        """Score deal by deal; return place and IMP by player."""
        by_deal: dict[int, list[Fact]] = defaultdict(list)
        for play, result in self._results.items():
            if play not in self._void:
                by_deal[result["deal"]].append(result)
        everybody = [one for table in range(1, self._event.tables + 1) for one in self._event.players(table).values()]
        totals = {player: self._beside[player] for player in everybody}
        for of_deal in by_deal.values():
            imps = imps_of(of_deal)
            for result in of_deal:
                for seat in SEATS:
                    totals[result["players"][seat]] += imps[result["deal"], result["table"], seat]
        return {player: (1 + sum(other > imp for other in totals.values()), imp) for player, imp in totals.items()}


def _counting(rulings: list[Fact]) -> list[Fact]:
    """Return the rulings that count, oldest first: those that no counting ruling has undone."""
    undone = set[str]()
    for ruling in reversed(rulings):
        if ruling["decision"]["kind"] == "undo" and ruling["id"] not in undone:
            undone.add(ruling["decision"]["ruling"])
    return [one for one in rulings if one["id"] not in undone and one["decision"]["kind"] != "undo"]


def ranks_of_view(view: dict[str, Any]) -> Ranks:
    """Return the standings in the desk's view."""
    return {row["player"]: (row["place"], row["imp"]) for row in view["standings"]}


def ranks_of_file(path: Path) -> Ranks:
    """Return the standings in the file that the scorer writes."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["player"]: (int(row["place"]), int(row["imp"])) for row in csv.DictReader(file)}
