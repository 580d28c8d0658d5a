"""Compare engines that turn a world event's results into standings: `python -m tests.benchmarks.columns`.

A million plays (62,500 tables, 16 deals) are in a file as tables send them, one JSON object per line. Each engine reads
that file in the way that suits it best, and must give the same standings, which are compared by a hash: the scorer's
own columns (numpy), pandas, DuckDB and a real PostgreSQL. Each runs in its own process, so that its memory can be
measured.
"""

import argparse
import hashlib
import multiprocessing
import resource
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Final, NamedTuple

import msgspec
import pandas as pd
import psycopg
from msgspec import structs

from broker.protocol import SEATS
from broker.rules import load_mcr
from broker.scoring import Ledger, ScoredPlay, player_standings
from tests.benchmarks.scoring import event, standings_of
from tests.broker.store.server import OWNER, PASSWORD, Server

COLUMNS: Final = ("deal", "seat", "table_", "player", "points", "fine")
ROWS: Final = "CREATE TABLE seats (deal int, seat int, table_ int, player text, points int, fine int)"


class Line(NamedTuple):
    """One line of the standings."""

    place: int
    player: str
    imp: int
    fines: int
    plays: int


class SentResult(msgspec.Struct, gc=False):
    """The results that tables have sent, in the order of the seats."""

    deal: int
    table: int
    players: tuple[str, ...]
    points: tuple[int, ...]
    fines: tuple[int, ...]


class Measured(NamedTuple):
    """An engine's measures: elapsed and processor time (s), memory, and the hash of its standings."""

    seconds: float
    processor: float
    megabytes: float
    digest: str


def write_stream(file: Path, tables: int, deals: int, seed: int) -> int:
    """Write an event's results as tables send them; return their number."""
    encoder, count = msgspec.json.Encoder(), 0
    with file.open("wb") as stream:
        for play in event(tables, deals, seed):
            points, fines = play.points or {}, play.fines
            players = tuple(play.players[seat] for seat in SEATS)
            sent = SentResult(
                play.deal, play.table, players, tuple(points[s] for s in SEATS), tuple(fines.get(s, 0) for s in SEATS)
            )
            stream.write(encoder.encode(sent) + b"\n")
            count += 1
    return count


def results(file: Path) -> Iterator[SentResult]:
    """Yield the results in a file."""
    decoder = msgspec.json.Decoder(SentResult)
    with file.open("rb") as stream:
        yield from map(decoder.decode, stream)


def rows(file: Path) -> Iterator[tuple[int, int, int, str, int, int]]:
    """Yield one row per seat."""
    for one in results(file):
        for seat in range(len(SEATS)):
            yield one.deal, seat, one.table, one.players[seat], one.points[seat], one.fines[seat]


def with_numpy(file: Path) -> Iterable[Line]:
    """Score as the scorer does: plays, the columns of each deal, standings."""
    plays = (
        ScoredPlay(
            one.deal,
            one.table,
            dict(zip(SEATS, one.players, strict=True)),
            dict(zip(SEATS, one.points, strict=True)),
            {seat: fine for seat, fine in zip(SEATS, one.fines, strict=True) if fine},
        )
        for one in results(file)
    )
    return (Line(*structs.astuple(one)) for one in player_standings(Ledger.of(plays, load_mcr())))


def with_pandas(file: Path) -> Iterable[Line]:
    """Score with pandas: a row per seat, the mean by `transform`, the scale by `cut`."""
    frame = pd.DataFrame.from_records(list(rows(file)), columns=["deal", "seat", "table", "player", "points", "fine"])
    totals = standings_of(frame, load_mcr())[1][[*Line._fields]]
    return map(Line._make, totals.itertuples(index=False, name=None))


def query(seats: str) -> str:
    """Return SQL that ranks all players, in whole numbers so that nothing is rounded (docs/rules.md, datum)."""
    steps = " + ".join(
        f"(CASE WHEN 2 * abs(num) >= {2 * step - 1} * n THEN 1 ELSE 0 END)" for step in load_mcr().imp.scale.value
    )
    return f"""
        WITH means AS (SELECT deal, seat, count(*) AS n, sum(points) AS s FROM {seats} GROUP BY deal, seat),
        differences AS (SELECT player, fine, points * n - s AS num, n FROM {seats} JOIN means USING (deal, seat)),
        totals AS (SELECT player, CAST(sum(sign(num) * ({steps}) - fine) AS bigint) AS imp,
                   CAST(sum(fine) AS bigint) AS fines, count(*) AS plays FROM differences GROUP BY player)
        SELECT rank() OVER (ORDER BY imp DESC) AS place, player, imp, fines, plays FROM totals ORDER BY place, player
    """  # noqa: S608 - the only value is a name from this file


def with_duckdb(file: Path) -> Iterable[Line]:
    """Rank in DuckDB, which reads the file itself, one row per seat."""
    unnested = """CREATE TABLE seats AS SELECT deal, unnest(range(4)) AS seat, unnest(players) AS player,
                  unnest(points) AS points, unnest(fines) AS fine FROM read_json(?, format='newline_delimited')"""
    with import_module("duckdb").connect() as database:  # in requirements-bench.lock only
        database.execute(unnested, [str(file)])
        return [Line(*line) for line in database.execute(query("seats")).fetchall()]


def with_postgresql(file: Path, folder: str, name: str) -> Iterable[Line]:
    """Rank in PostgreSQL, with rows inserted by COPY."""
    with psycopg.connect(host=folder, user=OWNER, password=PASSWORD, dbname=name) as connection:
        connection.execute(ROWS)
        with connection.cursor().copy(f"COPY seats ({', '.join(COLUMNS)}) FROM STDIN") as copy:
            for row in rows(file):
                copy.write_row(row)
        connection.execute("ANALYZE seats")
        return [Line(*line) for line in connection.execute(query("seats")).fetchall()]


def measured(engine: Callable[[Path], Iterable[Line]], file: Path) -> Measured:
    """Run an engine, in a process of its own."""
    began, used = perf_counter(), process_time()
    digest = hashlib.sha256()
    for line in engine(file):
        digest.update(repr(tuple(line)).encode())
    seconds, processor = perf_counter() - began, process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(seconds, processor, peak, digest.hexdigest())


def main() -> None:
    """Measure the engines, compare their results, and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=62_500)
    parser.add_argument("--deals", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="homologue-columns-") as folder, closing(Server()) as server:
        file = Path(folder) / "results.jsonl"
        count = write_stream(file, asked.tables, asked.deals, asked.seed)
        print(f"{count:,} plays of {4 * asked.tables:,} players, {file.stat().st_size / 1e6:.0f} MB as sent")
        engines: dict[str, Callable[[Path], Iterable[Line]]] = {
            "numpy (the scorer's)": with_numpy,
            "pandas": with_pandas,
            "DuckDB": with_duckdb,
            "PostgreSQL": partial(with_postgresql, folder=str(server.folder), name=server.database()),
        }
        found: dict[str, Measured] = {}
        for name, engine in engines.items():
            with multiprocessing.get_context("spawn").Pool(1) as process:
                found[name] = one = process.apply(measured, (engine, file))
            ours = found["numpy (the scorer's)"]
            print(
                f"{name:22} {one.seconds:6.1f} s, {one.processor:6.1f} s of its processor, {one.megabytes:6.0f} MB; "
                f"{one.seconds / ours.seconds:.2f} of numpy's time"
            )
            if one.digest != ours.digest:
                raise SystemExit(f"{name} has other standings")
    print("the standings are the same")


if __name__ == "__main__":
    main()
