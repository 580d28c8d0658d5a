"""Compare scoring a very large event with the same in pandas: `python -m tests.benchmarks.scoring`.

10,000 tables play 16 deals: 160,000 plays of 40,000 players, one comparison group per deal. Both start with the same
list of plays and end with the standings; both must give the same IMPs, play by play, and the same totals.
"""

import argparse
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import median
from time import perf_counter
from typing import Final, TypeVar

import numpy as np
import pandas as pd
from msgspec import structs

from broker.protocol import SEATS, Seat
from broker.rules import Outcome, Profile, load_mcr, seat_points
from broker.scoring import Ledger, Ranking, ScoredPlay, player_standings

T = TypeVar("T")

VALUES: Final = (8, 9, 10, 12, 14, 16, 18, 24, 28, 32, 48, 64, 88)


def event(tables: int, deals: int, seed: int) -> list[ScoredPlay]:
    """Generate an event: everybody plays every deal once, at changing seats and tables."""
    chance, profile = Random(seed), load_mcr()  # no secret
    players = [f"p{number:05}" for number in range(4 * tables)]
    plays = []
    for deal in range(1, deals + 1):
        chance.shuffle(players)
        for table in range(tables):
            at_table = dict(zip(SEATS, players[4 * table : 4 * table + 4], strict=True))
            fines: dict[Seat, int] = {"south": 4} if chance.random() < 0.001 else {}
            plays.append(ScoredPlay(deal, table + 1, at_table, seat_points(_outcome(chance), profile.payments), fines))
    return plays


def _outcome(chance: Random) -> Outcome:
    first, second, third, _ = chance.sample(SEATS, 4)
    kind = chance.random()
    if kind < 0.15:
        return Outcome("draw", {})
    if kind < 0.45:
        return Outcome("self_drawn", {first: chance.choice(VALUES)})
    if kind < 0.95:
        return Outcome("discard", {first: chance.choice(VALUES)}, second)
    return Outcome("discard", {first: chance.choice(VALUES), third: chance.choice(VALUES)}, second)


def with_pandas(plays: list[ScoredPlay], profile: Profile) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score plays as one would with pandas: a row per seat, the mean by `transform`, the scale by `cut`.

    The mean is floating point, so the difference is rounded to a millionth before it is looked up. With ten thousand
    plays in a group, a difference can be close to a step of the scale without being on it, but not as close as that.
    """
    rows = [
        (play.deal, seat, play.table, play.players[seat], (play.points or {})[seat], play.fines.get(seat, 0))
        for play in plays
        for seat in SEATS
    ]
    return standings_of(pd.DataFrame(rows, columns=["deal", "seat", "table", "player", "points", "fine"]), profile)


def standings_of(frame: pd.DataFrame, profile: Profile) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the IMPs of each row, and the standings."""
    difference = (frame["points"] - frame.groupby(["deal", "seat"])["points"].transform("mean")).round(6)
    edges = [-np.inf, *(np.array(profile.imp.scale.value) - 0.5), np.inf]
    sizes = pd.cut(difference.abs(), edges, right=False, labels=False)
    frame["imp"] = (np.sign(difference) * sizes).astype("int64")
    frame["net"] = frame["imp"] - frame["fine"]
    totals = frame.groupby("player").agg(imp=("net", "sum"), fines=("fine", "sum"), plays=("net", "size")).reset_index()
    totals["place"] = totals["imp"].rank(method="min", ascending=False).astype("int64")
    return frame, totals.sort_values(["place", "player"])


def timed(work: Callable[[], T], times: int) -> tuple[T, float]:
    """Repeat a function; return the last result and the median time in seconds."""
    seconds = []
    for _ in range(times):
        began = perf_counter()
        result = work()
        seconds.append(perf_counter() - began)
    return result, median(seconds)


def main() -> None:
    """Measure, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--deals", type=int, default=16)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    profile, plays = load_mcr(), event(asked.tables, asked.deals, asked.seed)
    print(f"{len(plays)} plays of {4 * asked.tables} players, {asked.deals} deals; median of {asked.times}")

    (ledger, ranked), ours = timed(lambda: _ours(plays, profile), asked.times)
    (frame, totals), theirs = timed(lambda: with_pandas(plays, profile), max(1, asked.times // 2))
    _same(ledger, frame)
    if [structs.astuple(one) for one in ranked] != [
        *totals[["place", "player", "imp", "fines", "plays"]].itertuples(index=False, name=None)
    ]:
        raise SystemExit("pandas has other standings")
    print(f"from plays to standings: {ours:.3f} s; pandas {theirs:.3f} s; {theirs / ours:.1f} times as fast; same IMPs")

    last = structs.replace(plays[-1], table=asked.tables + 1, players={seat: f"new {seat}" for seat in SEATS})
    for name, play in (("of players who are in it", plays[-1]), ("of four new players", last)):
        before = Ledger.of([one for one in plays if one is not play], profile)
        player_standings(before)  # the state in the middle of an event
        added = partial(_with, before, play)
        _, ranking = timed(added, 4 * asked.times)
        _, written = timed(lambda: list(added()), 4 * asked.times)  # noqa: B023 - called at once
        print(f"one more play, {name}: ranked in {1000 * ranking:.1f} ms, {ours / ranking:.0f} times as fast as all;")
        print(f"  with all {4 * asked.tables} lines of the standings made: {1000 * written:.1f} ms")


def _with(before: Ledger, play: ScoredPlay) -> Ranking:
    return player_standings(before.with_play(play))


def _ours(plays: list[ScoredPlay], profile: Profile) -> tuple[Ledger, Ranking]:
    ledger = Ledger.of(plays, profile)
    return ledger, player_standings(ledger)


def _same(ledger: Ledger, frame: pd.DataFrame) -> None:
    """Compare the IMPs of every play and seat with those of pandas."""
    ordered = frame.sort_values(["deal", "table"], kind="stable")
    theirs = ordered["imp"].to_numpy().reshape(-1, len(SEATS))
    ours = np.concatenate([group.imps for group in ledger.groups])
    if not np.array_equal(ours, theirs):
        raise SystemExit("pandas has other IMPs")


if __name__ == "__main__":
    main()
