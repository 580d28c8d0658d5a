"""Days of a hall and its centre in fast motion: the memory that their scorers use, day by day.

Two halls and a centre in one process, without a network: `... soak [--days N]`. Their event is played on the first day.
After that nothing more is stored, but every ten minutes all tables report their states, arbiters are called or not,
faults come and go, halls and centre exchange messages, and the desks' pages are rendered; sometimes a line is lost or a
row refused. Garbage is collected as in `homologue scorer`, where objects that survive a full collection are seldom
examined again.
"""

import argparse
import gc
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from broker.cli.scorer_process import _freeze_survivors
from broker.protocol import topics
from broker.protocol.link import Incoming
from broker.web.i18n import choose_translator
from broker.web.tables.dashboard import DashboardRenderer
from tests.broker.halls.places import Places, places
from tests.broker.halls.test_link import said_in
from tests.broker.scorer.small import beat, state

STEP_S: Final = 600
DAY: Final = 24 * 3600 // STEP_S
"""Steps."""

LINE_LOST, REFUSED = 12, 3
"""Steps between two of these."""


def days(folder: Path, count: int) -> Iterator[tuple[int, int]]:
    """Yield for each day the least and the most memory in use (bytes); the most includes garbage not yet collected."""
    gc.callbacks.append(_freeze_survivors)
    tracemalloc.start()
    try:
        with places(folder) as made:
            drawn = {name: DashboardRenderer(sheets=True) for name in ("centre", *made.halls)}
            for name, hall in made.halls.items():
                hall.hear(*said_in(name))
            made.carry()
            for day in range(count):
                seen = list[int]()
                for step in range(day * DAY, (day + 1) * DAY):
                    go_on(made, step, drawn)
                    seen.append(tracemalloc.get_traced_memory()[0])
                yield min(seen), max(seen)
    finally:
        tracemalloc.stop()
        gc.callbacks.remove(_freeze_survivors)


def go_on(made: Places, step: int, drawn: dict[str, DashboardRenderer]) -> None:
    """Let ten minutes pass everywhere."""
    made.clock[0] += STEP_S
    for name, hall in made.halls.items():
        if step % LINE_LOST == 0:
            hall.cut()
        for table in hall.scorer.state.planned.tables:
            said = state(table, count=step + 2, calling=bool(step % 2))
            health = {"scanner": "lost"} if step % 3 == 0 else {}
            hall.hear(replace(said, id=f"state-{table}-{step}", health=health), beat(table))
        if step % LINE_LOST == 1:
            hall.heal()
        made.carry_down(name)
        made.carry_up(name)
        hall.ear.forget()
    if step % REFUSED == 0:
        topic = topics.HALL_ROW.at("cup", hall="paris")
        made.centre.scorer._inbox.put(Incoming(topic, b"no row %d" % step, lambda: None))
    made.centre.step()
    made.centre.ear.forget()
    language = choose_translator(("en", "fr", "zh")[step % 3], "")
    for name, place in (("centre", made.centre), *made.halls.items()):
        drawn[name].rendering(place.scorer.feed.current, language)


def main() -> None:
    """Print the memory in use on each day."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=7)
    with tempfile.TemporaryDirectory(prefix="homologue-soak-") as base:
        for day, (least, most) in enumerate(days(Path(base), parser.parse_args().days), 1):
            print(f"| day {day} | {least / 1e6:.2f} to {most / 1e6:.2f} MB |", flush=True)


if __name__ == "__main__":
    main()
